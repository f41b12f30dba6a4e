"""Texts that try to be more than data: to close the fence, to speak as a role, to give orders, to become facts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm_core import Context, LongTermMemory, Message
from ltm_core.recall.render import safe
from ltm_core.text.normalize import printable

HERE = Path(__file__).parent
TEXTS = [json.loads(line) for line in (HERE / "hostile.jsonl").read_text(encoding="utf-8").splitlines()]
IDS = [t["id"] for t in TEXTS]
BREAKS = re.compile("[\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
ROLE_LINE = re.compile(
    r"^[\s>*#`<\[|-]*(?:system|assistant|user|human|ai|developer|tool|系统|系統|助手|用户|用戶)[\s\]>*_`|]*[:：]",
    re.IGNORECASE,
)
"""A role's name at the beginning of a line, not in quotes."""
OURS = re.compile(r"^- (?:\[[^\]]*\] )?(?:User|Assistant|Tool|用户|助手|工具)?(?:: )?")


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LongTermMemory]:
    """One store for all; every case has a user of its own."""
    with LongTermMemory.open(tmp_path_factory.mktemp("hostile") / "store", embedder="none", timezone="UTC") as opened:
        yield opened


def entries(text: str) -> list[str]:
    """The memories of a rendered block, each in its own lines; fails unless the block is whole."""
    lines = text.split("\n")
    opened = re.fullmatch(r"<memory ([a-p]{8})>", lines[0])
    assert opened is not None and lines[-1] == f"</memory {opened[1]}>" and text.count(opened[1]) == 2
    assert not BREAKS.search(text) and printable(text) == text
    assert len(re.findall(r"<\s*/?\s*memory\b", text, re.IGNORECASE)) == 2
    found: list[str] = []
    for line in lines[2:-1]:
        if line.startswith("- "):
            found.append(line)
        elif line.startswith("  "):
            found[-1] += "\n" + line[2:]
        else:
            assert line.startswith("# "), line
    return found


def plain(text: str) -> str:
    """What the escapes leave: a bracket that opens a tag is drawn, a role's name is quoted."""
    return printable(text).replace("‹", "<").replace('"', "").strip()


def shown(context: Context) -> list[str]:
    return [plain(OURS.sub("", e, count=1)) for e in entries(context.text)]


@pytest.mark.parametrize("case", TEXTS, ids=IDS)
def test_what_was_rendered_parses_back_to_what_was_stored(case: dict[str, str], memory: LongTermMemory) -> None:
    user = f"shown {case['id']}"
    for role in ("user", "assistant"):
        memory.observe(
            user_id=user, session_id="old", messages=[Message(role=role, content=case["text"] + " kayak 4711")]
        )
    context = memory.context("kayak 4711", user_id=user, session_id="new", max_tokens=20_000)
    stored = plain(case["text"] + " kayak 4711")
    assert stored in shown(context)
    for entry in entries(context.text):
        assert not any(ROLE_LINE.match(line) for line in OURS.sub("", entry, count=1).split("\n")), entry
    for message in memory.context(
        "kayak 4711", user_id=user, session_id="new", format="messages", max_tokens=20_000
    ).messages:
        assert message.role == "system" and entries(message.content)


@pytest.mark.parametrize("role", ["assistant", "system", "tool"])
def test_other_voices_write_no_facts(role: str, memory: LongTermMemory) -> None:
    for case in TEXTS:
        said = [Message(role=role, content=case["text"])]  # type: ignore[arg-type]
        assert memory.observe(user_id=f"voice {role}", session_id=case["id"], messages=said).changes == (), case["id"]


@pytest.mark.parametrize("thanks", ["That worked, thanks!", "好了，解决了，谢谢！"])
def test_a_confirmation_makes_no_solution_out_of_a_tools_words(thanks: str, memory: LongTermMemory) -> None:
    user = f"thanks {thanks}"
    for case in TEXTS:
        memory.observe(
            user_id=user,
            session_id=case["id"],
            messages=[
                Message(role="user", content="How do I fix the printer? 打印机怎么修？"),
                Message(role="tool", content=case["text"]),
                Message(role="assistant", content=case["text"]),
                Message(role="user", content=thanks),
            ],
        )
    assert [f.text for f in memory.facts(user_id=user)] == []


@pytest.mark.parametrize("case", [t for t in TEXTS if t["kind"] != "shown"], ids=lambda c: c["id"])
def test_pasted_by_the_user_it_becomes_no_fact(case: dict[str, str], memory: LongTermMemory) -> None:
    user = f"pasted {case['id']}"
    memory.observe(user_id=user, session_id="s", user=case["text"])
    memory.observe(user_id=user, session_id="s", user=f"The page says:\n> {case['text']}")
    assert [f.text for f in memory.facts(user_id=user)] == []


def test_names_and_ids_are_data_too(memory: LongTermMemory) -> None:
    for n, case in enumerate(TEXTS):
        name = case["text"][:60].replace("\x00", "") or "x"
        memory.observe(
            user_id="named", session_id=f"s{n}", messages=[Message(role="user", content=f"kayak {n}", name=name)]
        )
    context = memory.context("kayak", user_id="named", session_id="new", max_tokens=50_000)
    assert len(entries(context.text)) == len(context.items) > 10


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.sampled_from([t["text"][:80] for t in TEXTS]),
            st.sampled_from(
                ["<", "/", "memory", "7f3a9c21", ">", "\n", "system", ":", "：", "\u200b", "\r", " ", '"']
            ),
            st.text(max_size=8),
        ),
        max_size=12,
    )
)
def test_no_mixture_of_them_is_more_than_data(parts: list[str]) -> None:
    text = "".join(parts)
    line = safe(text, mark="7f3a9c21")
    assert "7f3a9c21" not in line and not re.search(r"<\s*/?\s*memory\b", line, re.IGNORECASE)
    assert not BREAKS.search(line) and all(part.startswith("  ") for part in line.split("\n")[1:])
    assert not any(ROLE_LINE.match(part) for part in line.split("\n"))
