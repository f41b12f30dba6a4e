"""Texts that try to be more than data: to close the fence, to speak as a role, to give orders, to become facts."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm_core import LongTermMemory, Message
from ltm_core.recall.render import FORMATS, Format, safe
from ltm_core.testing.rendered import ROLE_LINE, entries, plain, shown, words

HERE = Path(__file__).parent
TEXTS = [json.loads(line) for line in (HERE / "hostile.jsonl").read_text(encoding="utf-8").splitlines()]
IDS = [t["id"] for t in TEXTS]
BREAKS = re.compile("[\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LongTermMemory]:
    """One store for all; every case has a user of its own."""
    with LongTermMemory.open(tmp_path_factory.mktemp("hostile") / "store", embedder="none", timezone="UTC") as opened:
        yield opened


@pytest.mark.parametrize("case", TEXTS, ids=IDS)
def test_what_was_rendered_parses_back_to_what_was_stored(case: dict[str, str], memory: LongTermMemory) -> None:
    user = f"shown {case['id']}"
    for role in ("user", "assistant"):
        memory.observe(
            user_id=user, session_id="old", messages=[Message(role=role, content=case["text"] + " kayak 4711")]
        )
    stored = plain(case["text"] + " kayak 4711")
    for format in FORMATS:
        context = memory.context("kayak 4711", user_id=user, session_id="new", max_tokens=20_000, format=format)
        for block in [m.content for m in context.messages] if format == "messages" else [context.text]:
            assert stored in shown(block), format
            for entry in entries(block):
                assert not any(ROLE_LINE.match(line) for line in words(entry).split("\n")), entry
        assert all(m.role == "system" for m in context.messages)


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


PARTS = st.lists(
    st.one_of(
        st.sampled_from([t["text"][:80] for t in TEXTS]),
        st.sampled_from(("<memory abcdefgh>", "</memory abcdefgh>", "\n- ", "\n# ", "\n  ", "\n\n", "[2026-03-01] ")),
        st.text(max_size=8),
    ),
    max_size=6,
)


@settings(max_examples=25, deadline=None)
@given(st.lists(PARTS, min_size=1, max_size=3), st.sampled_from(FORMATS))
def test_whatever_was_said_parses_back(memory: LongTermMemory, said: list[list[str]], format: Format) -> None:
    """Any mixtures, several at once: as many memories come out as went in, and they say what was said."""
    user = f"mixed {uuid.uuid4()}"
    texts = [f"kayak {n} {''.join(parts)} kayak {n}" for n, parts in enumerate(said)]
    for n, text in enumerate(texts):
        memory.observe(user_id=user, session_id="old", messages=[Message(role="assistant", content=text, id=f"m{n}")])
    context = memory.context("kayak", user_id=user, session_id="new", max_tokens=50_000, format=format)
    blocks = [m.content for m in context.messages] if format == "messages" else [context.text]
    found = [line for block in blocks for line in shown(block)]
    assert len(found) == len(context.items)
    stored = [m.content for m in memory.messages(user_id=user)]
    for line in found:
        assert any(" ".join(line.split()) in " ".join(plain(text).split()) for text in stored), line
