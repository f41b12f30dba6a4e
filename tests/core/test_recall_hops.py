"""A question that asks for several things at once is looked up for each of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from ltm_core.config import Config
from ltm_core.recall.question import analyse_question
from ltm_core.recall.service import RecallRequest, recall_search
from ltm_core.testing.fake_reader import FakeReader
from ltm_core.types import Scope

NOW = datetime(2025, 4, 20, 9, tzinfo=UTC)


def parts(question: str) -> list[set[str]]:
    return [set(p) for p in analyse_question(question, now=NOW).hops]


@pytest.mark.parametrize(
    ("question", "first", "second"),
    [
        ("How long was it between the harbour tour and renewing my passport?", "harbour", "passport"),
        ("What did I pay for the wooden fence and for the apple trees?", "fenc", "appl"),
        ("How does the kayak price compare to the tent budget?", "kayak", "tent"),
        ("港口游览和护照续签隔了多少天？", "港口", "护照"),
        ("阳台防水以及书房吊灯分别花了多少？", "防水", "吊灯"),
    ],
)
def test_each_thing_that_is_asked_for_is_a_part(question: str, first: str, second: str) -> None:
    found = parts(question)
    assert len(found) == 2
    assert first in found[0]
    assert first not in found[1]
    assert second in found[1]
    assert second not in found[0]


@pytest.mark.parametrize(
    "question",
    [
        "What is my cat called?",
        "When did my wife and I move?",
        "我的猫叫什么？",
        "和",
        "and, and",
        "",
        "我和妻子什么时候搬家的？",
    ],
)
def test_one_thing_is_not_split(question: str) -> None:
    assert parts(question) == []


def test_the_terms_of_the_parts_are_terms_of_the_topic() -> None:
    question = analyse_question("How long between the harbour tour and the passport renewal?", now=NOW)
    assert {t for p in question.hops for t in p} <= set(question.content)


def test_both_things_are_found_among_much_about_the_first() -> None:
    reader = FakeReader()
    start = NOW - timedelta(days=60)
    for i in range(12):
        text = f"The harbour tour number {i} went past the harbour lights and the old harbour crane."
        reader.say(text, at=start + timedelta(days=i), session_id=f"s{i}")
    reader.say("My passport was renewed at the town hall.", at=start + timedelta(days=30), session_id="p")
    request = RecallRequest(
        scope=Scope(user_id="ana"),
        query="How many days were between the harbour lights tour and my renewed passport at the town hall?",
        now=NOW,
        top_k=2,
    )
    hits = recall_search(
        reader,  # type: ignore[arg-type]
        request,
        config=Config(),
        query_vector=None,
        embedder_name="test",
    )
    assert "m13" in {i for h in hits for i in h.source_message_ids}
