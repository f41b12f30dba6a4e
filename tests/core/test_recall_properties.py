"""What holds for every context, whatever is stored, asked and counted."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from zlib import crc32

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ltm_core.config import Config
from ltm_core.recall.excerpt import excerpt
from ltm_core.recall.question import analyse_question
from ltm_core.recall.render import FORMATS, Format
from ltm_core.recall.service import RecallRequest, recall_context
from ltm_core.testing.fake_reader import FakeReader
from ltm_core.types import Context, Scope

NOW = datetime(2025, 4, 20, 9, tzinfo=UTC)
THEN = datetime(2025, 3, 5, 9, tzinfo=UTC)
MARK = "7f3a9c21"
QUICK = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])

COUNTERS: dict[str, Callable[[str], int]] = {
    "characters": len,
    "third": lambda text: (len(text) + 2) // 3,
    "bytes": lambda text: len(text.encode("utf-8", "surrogatepass")),
    "words": lambda text: len(text.split()),
    "always one": lambda text: 1,
    "too much": lambda text: 10**9,
    "nothing": lambda text: 0,
    "negative": lambda text: -len(text),
    "erratic": lambda text: crc32(text.encode("utf-8", "surrogatepass")) % 500,
}
WORDS = st.sampled_from(
    [
        *(
            "kayak",
            "blue",
            "Lisbon",
            "1,200",
            "yesterday",
            "ORD-2024-77",
            "budget",
            "user:",
            "system:",
            "[previously]",
        ),
        *("搬家", "上海", "预算", "三月", "不喜欢", "系统：", "？", "。", "会議", "明日"),
        *("</memory>", "<memory", "7f3a9c21>", "\n", "#", "🙂", "\u202e", "\x00"),
    ]
)
TEXTS = st.lists(WORDS | st.text(max_size=8), min_size=1, max_size=14).map(" ".join)
TALKS = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), TEXTS), min_size=1, max_size=6)


def context(
    talk: list[tuple[str, str]],
    query: str,
    *,
    max_tokens: int,
    count: Callable[[str], int],
    format: Format = "text",
) -> Context:
    reader = FakeReader()
    for i, (role, text) in enumerate(talk):
        session = "old" if i % 2 else "now"
        reader.say(text, role=role, at=THEN + timedelta(minutes=i), session_id=session)  # type: ignore[arg-type]
    return recall_context(
        reader,  # type: ignore[arg-type]
        RecallRequest(scope=Scope(user_id="ana", session_id="now"), query=query, now=NOW),
        max_tokens=max_tokens,
        token_counter=count,
        format=format,
        config=Config(),
        query_vector=None,
        embedder_name="test",
        fence_mark=MARK,
    )


@pytest.mark.parametrize("name", COUNTERS)
@QUICK
@given(talk=TALKS, query=TEXTS, budget=st.integers(0, 400), format=st.sampled_from(FORMATS))
def test_no_counter_ever_reads_more_than_the_budget(
    name: str, talk: list[tuple[str, str]], query: str, budget: int, format: Format
) -> None:
    count = COUNTERS[name]
    got = context(talk, query, max_tokens=budget, count=count, format=format)
    assert count(got.text) <= budget or not got.text
    assert got.token_count <= budget
    if format == "messages":
        assert sum(max(0, count(m.content)) for m in got.messages) <= budget


@QUICK
@given(talk=TALKS, query=TEXTS, name=st.sampled_from(sorted(COUNTERS)), format=st.sampled_from(FORMATS))
def test_a_budget_of_nothing_gives_no_text(
    talk: list[tuple[str, str]], query: str, name: str, format: Format
) -> None:
    got = context(talk, query, max_tokens=0, count=COUNTERS[name], format=format)
    assert got.text == ""
    assert not got.messages
    assert not got.items


@QUICK
@given(talk=TALKS, query=TEXTS, format=st.sampled_from(["text", "compact"]))
def test_no_text_forms_a_fence_or_speaks_as_a_role(talk: list[tuple[str, str]], query: str, format: Format) -> None:
    text = context(talk, query, max_tokens=4000, count=COUNTERS["third"], format=format).text
    if not text:
        return
    lines = text.split("\n")
    assert lines[0] == f"<memory {MARK}>"
    assert lines[-1] == f"</memory {MARK}>"
    inside = "\n".join(lines[1:-1])
    assert MARK not in inside
    assert not re.search(r"<\s*/?\s*memory", inside)
    assert not re.search(r"^[\s>*#`\-\"'<\[|]*(system|系统)\s*[:：]", inside, re.IGNORECASE | re.MULTILINE)
    assert not set(inside) & {"\u202e", "\x00", "\r"}


@QUICK
@given(talk=TALKS, query=TEXTS, more=st.integers(1, 5000))
def test_where_all_fits_a_larger_budget_changes_nothing(talk: list[tuple[str, str]], query: str, more: int) -> None:
    small = context(talk, query, max_tokens=4000, count=COUNTERS["third"])
    large = context(talk, query, max_tokens=4000 + more, count=COUNTERS["third"])
    assert small.text == large.text


@QUICK
@given(text=TEXTS, start=st.integers(0, 200), length=st.integers(0, 80), limit=st.integers(0, 60))
@pytest.mark.parametrize("name", ["characters", "third", "bytes", "words", "erratic", "too much"])
def test_an_excerpt_stays_within_its_limit(name: str, text: str, start: int, length: int, limit: int) -> None:
    count = COUNTERS[name]
    piece = excerpt(text, (start, start + length), limit=limit, count=count)
    assert not piece or count(piece) <= limit
    assert not piece.strip("…") or piece.strip("…") in text


@QUICK
@given(text=st.text(max_size=300) | TEXTS)
def test_any_question_reads_the_same_twice(text: str) -> None:
    first = analyse_question(text, now=NOW)
    assert first == analyse_question(text, now=NOW)
    assert all(t.since < t.until for t in first.times)
