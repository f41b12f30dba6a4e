"""Whatever was said and taken away, in whatever order: summaries stand for turns that are there."""

from __future__ import annotations

import re
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ltm_core import LongTermMemory, LTMError
from ltm_core.testing.clock import Clock

T0 = datetime(2026, 3, 2, 9, tzinfo=UTC)
SAID = (
    "I went to the climbing gym with Marta again.", "The bouldering wall has 14 new purple routes.",
    "My order ORD-2024-00817 is still on its way.", "I love Zanzibar coffee.", "I live in Lisbon near the gym.",
    "What shoes are best for climbing?", "We cooked ramen for twelve hours. The broth was worth it!",
    "今天和小林去了攀岩馆。", "抱石墙换了 14 条紫色的新线路。", "我喜欢喝桂花乌龙茶。", "我住在苏州。",
    "拉面汤要炖十二个小时。", "ok", "好的", "\U0001f600 e\u0301 \u202e",
)  # fmt: skip
DAYS = st.integers(0, 3)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.lists(st.sampled_from(SAID), min_size=2, max_size=9), DAYS),
        st.tuples(st.just("maintain"), st.integers(4, 60)),
        st.tuples(st.just("forget"), st.integers(0, 5)),
        st.tuples(st.just("delete"), st.integers(0, 20)),
        st.tuples(st.just("edit"), st.integers(0, 20), st.sampled_from(SAID)),
        st.tuples(st.just("suppress"), st.integers(0, 5)),
        st.tuples(st.just("session"), DAYS),
    ),
    min_size=2,
    max_size=7,
)
_EXACT = re.compile(r"\w*\d[\w.,:/-]*\w|\d|(?<=\s)[A-Z]\w+")


def _one(memory: LongTermMemory, verb: str, args: list[Any], count: int) -> None:
    if verb == "say":
        for n, text in enumerate(args[0]):
            at = T0 + timedelta(days=args[1], minutes=n)
            memory.observe(user_id="ana", session_id=f"s{args[1]}", user=text, message_id=f"{count}.{n}", at=at)
    elif verb == "maintain":
        memory.maintain(T0 + timedelta(days=args[0]))
    elif verb in ("forget", "suppress"):
        facts = memory.facts(user_id="ana", include_superseded=True).items
        if args[0] < len(facts):
            getattr(memory, verb)(facts[args[0]].id, user_id="ana")
    elif verb == "session":
        memory.forget_session(f"s{args[0]}", user_id="ana")
    else:
        turns = memory.messages(user_id="ana").items
        if args[0] < len(turns):
            turn, session = turns[args[0]], turns[args[0]].session_id
            if verb == "delete":
                memory.delete_messages([turn.id], user_id="ana", session_id=session)
            else:
                memory.observe(
                    user_id="ana", session_id=turn.session_id, user=args[1], message_id=turn.id, at=turn.at
                )


def _check(memory: LongTermMemory) -> None:
    with memory._runtime.store.read("ana") as reader:
        rows = {m.item: m for m in reader.messages()}
        stands: set[int] = set()
        for summary in reader.summaries():
            for line in summary.lines:
                sources = [rows[summary.sources[i].item] for i in line.sources]
                assert any(line.text in m.content for m in sources), "a sentence is its turn's own"
                for exact in _EXACT.findall(line.text):
                    assert any(exact in m.content for m in sources)
            assert {s.item for s in summary.sources} <= rows.keys()
            if summary.recallable_at is not None:
                stands |= {s.item for s in summary.sources}
        assert {i for i, m in rows.items() if m.retired_at is not None} <= stands
        assert reader.retired_alone(limit=1) == []
    assert memory.doctor().healthy


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
def test_summaries_stand_for_what_is_there(steps: list[Any]) -> None:
    with LongTermMemory.open(
        ":memory:",
        embedder="none",
        timezone="UTC",
        clock=Clock(T0 + timedelta(days=4)),
        consolidate_after_days=0,
        consolidate_weekly_after_days=7,
        consolidate_min_turns=2,
        consolidate_topic_turns=2,
        retire_sources=True,
    ) as memory:
        for count, (verb, *args) in enumerate(steps):
            try:
                _one(memory, verb, args, count)
            except LTMError:
                continue
            _check(memory)
        memory.maintain(T0 + timedelta(days=61))
        _check(memory)


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.sampled_from(SAID), min_size=3, max_size=9),
    st.sampled_from((("I love Zanzibar coffee.", "Zanzibar coffee"), ("我喜欢喝桂花乌龙茶。", "桂花乌龙茶"))),
    st.integers(0, 9),
)
def test_a_forgotten_object_is_in_no_summary_and_no_file(said: list[str], loved: tuple[str, str], place: int) -> None:
    text, object = loved
    with tempfile.TemporaryDirectory() as directory:
        store = Path(directory) / "store"
        with LongTermMemory.open(
            store,
            embedder="none",
            timezone="UTC",
            clock=Clock(T0 + timedelta(days=4)),
            consolidate_after_days=0,
            consolidate_min_turns=2,
            consolidate_topic_turns=2,
            retire_sources=True,
        ) as memory:
            _one(memory, "say", [[*said[:place], text, *said[place:], text], 0], 0)
            memory.maintain(T0 + timedelta(days=5))
            fact = next(f for f in memory.facts(user_id="ana") if object in f.text)
            assert memory.forget(fact.id, user_id="ana").bytes_clean
            _check(memory)
            assert memory.maintain(T0 + timedelta(days=6)).jobs_done == 0
            _check(memory)
            with memory._runtime.store.read("ana") as reader:
                assert not any(object in s.text + s.topic for s in reader.summaries())
        for file in store.rglob("*"):
            assert not file.is_file() or object.encode() not in file.read_bytes()
