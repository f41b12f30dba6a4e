"""Which memory stands above which: facts and the messages they rest on, what was overtaken and what took its place,
the parts of a question."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ltm_core.config import Config
from ltm_core.recall.entry import Entry
from ltm_core.recall.select import in_context
from ltm_core.recall.service import RecallRequest, recall_search
from ltm_core.recall.succession import below_successors
from ltm_core.testing.fake_reader import FakeReader
from ltm_core.types import ContextItem, Scope, Tier

NOW = datetime(2025, 4, 20, 9, tzinfo=UTC)
SCORES = st.floats(0, 1, allow_nan=False)


def entry(name: str, score: float, *, sources: tuple[str, ...] = (), day: int = 0) -> Entry:
    tier: Tier = "semantic" if sources else "episodic"
    item = ContextItem(
        text=name,
        tier=tier,
        at=NOW + timedelta(days=day),
        score=score,
        source_id=name,
        source_message_ids=sources or (name,),
    )
    return Entry(item=item, unit=name)


def scores(entries: list[Entry]) -> dict[str, float]:
    return {e.item.source_id: e.item.score for e in entries}


@given(own=SCORES, best=SCORES, other=SCORES)
def test_a_fact_never_stands_above_the_best_message_it_rests_on(own: float, best: float, other: float) -> None:
    messages = [entry("a", best), entry("b", other)]
    (fact,) = in_context([entry("fact", own, sources=("a", "b"))], messages)
    assert fact.item.score <= max(best, other)


def test_a_fact_scores_with_its_messages() -> None:
    messages = [entry("near", 0.9), entry("far", 0.2)]
    near, far = in_context([entry("f", 0.5, sources=("near",)), entry("g", 0.5, sources=("far",))], messages)
    assert 0.5 < near.item.score < 0.9
    assert far.item.score == 0.2


def test_a_fact_whose_messages_were_not_found_counts_as_the_least_found() -> None:
    (fact,) = in_context([entry("fact", 0.8, sources=("unfound",))], [entry("a", 0.9), entry("b", 0.2)])
    assert 0.2 < fact.item.score < 0.5


def test_what_took_the_place_of_a_message_takes_it_in_the_order_too() -> None:
    found = scores(below_successors([entry("old", 0.9), entry("new", 0.3, day=1)], {"old": ("new",)}))
    assert found["new"] == 0.9
    assert found["old"] < found["new"]


def test_an_overtaken_message_is_not_pressed_below_what_barely_bears_on_the_question() -> None:
    entries = [entry("old", 0.8), entry("new", 0.7, day=1), entry("aside", 0.05, day=2), entry("unrelated", 0.3)]
    found = scores(below_successors(entries, {"old": ("aside", "new")}))
    assert found["new"] > found["old"] > found["unrelated"] > found["aside"]


@given(st.lists(SCORES, min_size=2, max_size=6))
def test_along_a_chain_of_changes_each_stands_below_the_next_and_is_not_lost(given: list[float]) -> None:
    names = [str(n) for n in range(len(given))]
    entries = [entry(n, s, day=i) for i, (n, s) in enumerate(zip(names, given, strict=True))]
    found = scores(below_successors(entries, {a: (b,) for a, b in pairwise(names)}))
    for old, new in pairwise(names):
        assert found[old] <= found[new]
    assert found[names[-1]] == max(given)


def test_successors_that_were_not_found_change_nothing() -> None:
    entries = [entry("old", 0.9), entry("other", 0.3)]
    assert below_successors(entries, {"old": ("unfound",)}) == entries


def test_two_words_for_one_thing_do_not_push_out_what_is_about_both() -> None:
    reader = FakeReader()
    start = NOW - timedelta(days=60)
    for i in range(9):
        reader.say(f"Bright kitchen colours, tile {i}.", at=start + timedelta(days=i), session_id=f"c{i}")
    wanted = [
        "The pottery project took its patterns from the reef she dived at.",
        "Her pottery project was meant to calm her after the flood.",
    ]
    for i, text in enumerate(wanted):
        reader.say(text, at=start + timedelta(days=20 + i), session_id=f"w{i}")
    request = RecallRequest(
        scope=Scope(user_id="ana"),
        query="Why did she use bright kitchen colours and patterns in her pottery project?",
        now=NOW,
        top_k=3,
    )
    hits = recall_search(
        reader,  # type: ignore[arg-type]
        request,
        config=Config(),
        query_vector=None,
        embedder_name="test",
    )
    assert set(wanted) < {h.text for h in hits}
