"""Whatever was said, in whatever order, an export comes back as it was."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ltm_core import LongTermMemory, LTMError
from ltm_core.keep.belief import NEEDS_TRUST, UNSUPPORTED
from ltm_core.testing.clock import Clock

T0 = datetime(2026, 3, 1, 9, tzinfo=UTC)
SAID = (
    "I live in Lisbon.", "I moved to Porto.", "I love tea.", "I don't love tea any more.",
    "My order is ORD-2024-00817.",
    "我住在上海。", "我搬到杭州了。", "我对花生过敏。", "不对，我住在苏州。", "我不喜欢香菜。",
    "Please forget that I live in Porto.",
    "请忘掉我对花生过敏。", "好的", "ok", "\U0001f600 e\u0301 \u202e", "I'm in Berlin this week.",
)  # fmt: skip
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
META = st.dictionaries(st.text(max_size=4), JSON, max_size=2)
TEXT = st.sampled_from(SAID) | st.text(min_size=1, max_size=30)
IDS = st.none() | st.sampled_from(("m1", "m2", "é\u0301", "a/b"))
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("user"), TEXT, st.sampled_from(("s1", "s2")), IDS, st.integers(-3, 3), META),
        st.tuples(st.just("assistant"), TEXT, st.sampled_from(("s1", "s2"))),
        st.tuples(st.just("remember"), TEXT),
        st.tuples(st.just("status"), st.sampled_from(("open", "shut"))),
        st.tuples(st.just("slot"), JSON),
        st.tuples(st.sampled_from(("suppress", "unsuppress", "restore", "forget")), st.integers(0, 5)),
        st.tuples(st.just("end"), st.sampled_from(("s1", "s2"))),
        st.tuples(st.just("maintain"), st.integers(0, 10**6)),
    ),
    max_size=8,
)  # fmt: skip


def play(memory: LongTermMemory, steps: list[Any]) -> None:
    """The steps, as far as the memory takes them."""
    for verb, *args in steps:
        try:
            _one(memory, verb, args)
        except LTMError:
            continue


def _one(memory: LongTermMemory, verb: str, args: list[Any]) -> None:
    if verb == "user":
        text, session, id_, hours, meta = args
        at = None if hours == 0 else T0 + timedelta(hours=hours)
        memory.observe(user_id="ana", session_id=session, user=text, message_id=id_, at=at, metadata=meta)
    elif verb == "assistant":
        memory.observe(user_id="ana", session_id=args[1], assistant=args[0])
    elif verb == "remember":
        memory.remember(args[0], user_id="ana")
    elif verb == "status":
        memory.assert_fact("order:ORD-2024-00817", "status", args[0], user_id="ana", source="erp")
    elif verb == "slot":
        memory.set_slot("x", args[0], user_id="ana", session_id="s1")
    elif verb == "end":
        memory.end_session(args[0], user_id="ana")
    elif verb == "maintain":
        memory.maintain(T0 + timedelta(seconds=args[0]))
    else:
        facts = memory.facts(user_id="ana", include_superseded=True).items
        if args[0] < len(facts):
            getattr(memory, verb)(facts[args[0]].id, user_id="ana")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS, st.integers(1, 60), st.booleans())
def test_an_export_comes_back_as_it_was(steps: list[Any], cut: int, crawling: bool) -> None:
    with tempfile.TemporaryDirectory() as place:
        step = timedelta(0) if crawling else timedelta(milliseconds=1)
        one = LongTermMemory.open(f"{place}/1", embedder="none", timezone="UTC", clock=Clock(T0, step))
        with one:
            play(one, steps)
            clock = Clock(one._runtime.clock())
            file = list(one.export_user("ana"))
            with LongTermMemory.open(f"{place}/2", embedder="none", timezone="UTC", clock=clock) as two:
                two.import_user(file[:cut], user_id="bob", trust=True)
                done = two.import_user(file, user_id="bob", trust=True)
                assert done.complete and not done.refused
                assert list(two.export_user("bob"))[1:] == file[1:]
                assert not two.import_user(file, user_id="bob", trust=True).imported
                facts = [(f.id, f.is_current) for f in one.facts(user_id="ana")]
                assert facts == [(f.id, f.is_current) for f in two.facts(user_id="bob")]
                believed = two.import_user(file, user_id="cy")
                assert set(believed.refused) <= {NEEDS_TRUST, UNSUPPORTED}
                assert {f.asserted_by for f in two.facts(user_id="cy", include_superseded=True)} <= {"user"}
