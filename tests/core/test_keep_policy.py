"""What a memory is worth and which ones go: pure decisions."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ltm_core.keep.policy import NOT_REPLACED, REPLACED_STAYS, SAID_STAYS, SUPPORTS, Outcome, Policy, decide
from ltm_core.keep.value import FIRST, Held, value

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def turn(item: int, days: float = 0, **fields: Any) -> Held:
    values: dict[str, Any] = {"kind": "message", "importance": "low", "at": NOW - timedelta(days=days)}
    values["recorded_at"] = values["at"]
    return Held(owner="message", item=item, **{**values, **fields})


def fact(item: int, days: float = 0, **fields: Any) -> Held:
    values: dict[str, Any] = {"kind": "fact", "importance": "medium", "at": NOW - timedelta(days=days)}
    values["recorded_at"] = values["at"]
    return Held(owner="fact", item=item, id=f"f{item}", **{**values, **fields})


def policy(*rules: Any, **fields: Any) -> Policy:
    values: dict[str, Any] = {"half_life_days": 30.0, "floor": 0.1, "below": 0.1, "capacity": 0, "ttl_days": {}}
    return Policy(rules=frozenset(rules), **{**values, **fields})


def gone(found: Outcome) -> dict[int, str]:
    return {c.held.item: c.reason for c in found.going}


def worth(held: Held, half_life: float = 30.0, floor: float = 0.1) -> float:
    return value(held, now=NOW, half_life_days=half_life, floor=floor)


# value --------------------------------------------------------------------------------------------------
def test_half_of_what_fades_is_left_after_the_half_life() -> None:
    assert worth(turn(1, 30, importance="high"), floor=0.0) == pytest.approx(0.5)
    assert worth(turn(1, 30, importance="high")) == pytest.approx(0.1 + 0.9 / 2)
    assert worth(turn(1, 60, importance="low"), floor=0.0) == pytest.approx(FIRST["low"] / 4)


def test_a_use_begins_the_time_anew_and_slows_it() -> None:
    idle, used = turn(1, 90), turn(1, 90, uses=1, used_at=NOW - timedelta(days=30))
    assert worth(used, floor=0.0) == pytest.approx(FIRST["low"] * 0.5**0.5)
    assert worth(used) > worth(idle)


def test_what_no_longer_holds_is_worth_half() -> None:
    assert worth(fact(1, 10, past=True)) == pytest.approx(worth(fact(1, 10)) / 2)


def test_without_a_half_life_nothing_fades() -> None:
    assert worth(turn(1, 9999, importance="high"), half_life=0.0) == 1.0


days = st.floats(0, 20_000)
levels = st.sampled_from(["low", "medium", "high"])


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(days, days, levels, st.integers(0, 1000), st.floats(0, 1), st.floats(0.1, 10_000))
def test_value_falls_with_time_rises_with_use_and_keeps_its_floor(
    one: float, other: float, level: Any, uses: int, floor: float, half_life: float
) -> None:
    def of(age: float, n: int) -> float:
        return worth(turn(1, age, importance=level, uses=n), half_life, floor)

    early, late = sorted((one, other))
    assert FIRST[level] >= of(early, uses) >= of(late, uses) >= FIRST[level] * floor - 1e-12
    assert of(late, uses + 1) >= of(late, uses)


# decisions ----------------------------------------------------------------------------------------------
def test_no_policy_drops_nothing() -> None:
    assert decide([turn(1, 9999)], policy(ttl_days={"message": 1}, capacity=1), now=NOW) == Outcome()


def test_decay_takes_by_importance() -> None:
    held = [turn(1, 59), turn(2, 57), turn(3, 114, importance="medium"), turn(4, 112, importance="medium")]
    held += [turn(5, 36_500, importance="high")]
    assert gone(decide(held, policy("decay"), now=NOW)) == {1: "decay", 3: "decay"}


def test_ttl_takes_by_kind_even_what_a_fact_rests_on() -> None:
    held = [turn(1, 91, supports=(2,)), fact(2, 91), fact(3, 31, kind="status"), turn(4, 89)]
    found = decide(held, policy("ttl", ttl_days={"message": 90, "status": 30}), now=NOW)
    assert gone(found) == {1: "ttl", 3: "ttl"}


def test_capacity_takes_the_least_valuable_first() -> None:
    held = [turn(1, 5), turn(2, 9), fact(3, 1), turn(4, 1, importance="high"), turn(5, 7, uses=20)]
    assert gone(decide(held, policy("capacity", capacity=3), now=NOW)) == {1: "capacity", 2: "capacity"}


def test_what_is_protected_stays_and_is_told() -> None:
    held = [turn(1, 999, protected="anchored"), turn(2, 999), turn(3, 999)]
    found = decide(held, policy("decay", "capacity", capacity=1), now=NOW, unreplaced=[3])
    assert gone(found) == {2: "decay"}
    assert found.spared == {"anchored": 1, NOT_REPLACED: 1}


def test_capacity_looks_on_while_the_first_ones_are_protected() -> None:
    held = [turn(n, 500, protected="anchored") for n in range(1, 200)] + [turn(n, 1) for n in range(200, 300)]
    found = decide(held, policy("capacity", capacity=249), now=NOW)
    assert len(found.going) == 50 and all(c.held.item >= 200 for c in found.going)


def test_capacity_takes_nothing_in_the_place_of_what_goes_soon() -> None:
    window = [turn(n, 1, protected="in the window", for_now=True) for n in range(1, 10)]
    better = [fact(n, 1, importance="high") for n in range(10, 14)]
    assert gone(decide([*window, *better], policy("capacity", capacity=8), now=NOW)) == {}
    closed = [replace(h, protected="", for_now=False) for h in window]
    assert len(gone(decide([*closed, *better], policy("capacity", capacity=8), now=NOW))) == 5
    waiting = decide([*closed, *better], policy("capacity", capacity=2), now=NOW, unreplaced=range(1, 10))
    assert gone(waiting) == {10: "capacity", 11: "capacity"} and waiting.spared == {NOT_REPLACED: 9}


def test_of_a_hundred_tellings_the_first_and_the_last_stay() -> None:
    said = [turn(n, 999 - n, supports=(200,)) for n in range(1, 101)]
    found = decide([*said, fact(200, 1)], policy("decay"), now=NOW)
    assert {h.item for h in said} - set(gone(found)) == {1, 100} and 200 not in gone(found)
    # What a past value rests on goes with it, or it would look like the present.
    past = fact(200, 999, past=True, superseded_by="f201")
    found = decide([*said, past, fact(201, 1)], policy("decay"), now=NOW)
    assert gone(found).keys() == {h.item for h in said} | {200}


def test_the_first_that_stays_is_not_one_whose_time_is_over() -> None:
    said = [
        turn(1, 99, supports=(9,)),
        turn(2, 30, supports=(9,)),
        turn(3, 20, supports=(9,)),
        turn(4, 1, supports=(9,)),
    ]
    rule = policy("ttl", "capacity", capacity=1, ttl_days={"message": 90})
    assert gone(decide([*said, fact(9, 1, protected="anchored")], rule, now=NOW)) == {1: "ttl", 3: "capacity"}


def test_a_turn_stays_for_a_fact_and_goes_with_it() -> None:
    kept = [turn(1, 999, supports=(2,)), fact(2, 999, importance="high")]
    found = decide(kept, policy("decay"), now=NOW)
    assert gone(found) == {} and found.spared == {SUPPORTS: 1}
    assert gone(decide([turn(1, 999, supports=(2,)), fact(2, 999)], policy("decay"), now=NOW)).keys() == {1, 2}
    assert gone(decide([turn(1, 999, supports=(7,))], policy("decay"), now=NOW)).keys() == {1}


def test_a_past_value_goes_only_with_the_turns_that_say_it_and_before_its_successor() -> None:
    old, new = fact(2, 999, past=True, superseded_by="f3"), fact(3, 999)
    said = turn(1, 999, importance="high", supports=(2,))
    found = decide([said, old, new], policy("decay"), now=NOW)
    assert gone(found) == {} and found.spared == {SAID_STAYS: 1, REPLACED_STAYS: 1}
    found = decide([turn(1, 999, supports=(2,)), old, new], policy("decay"), now=NOW)
    assert [c.held.item for c in found.going] == [1, 2, 3]


@st.composite
def memories(draw: Any) -> list[Held]:
    count = draw(st.integers(1, 25))
    found: list[Held] = []
    for item in range(1, count + 1):
        fields: dict[str, Any] = {
            "importance": draw(levels),
            "uses": draw(st.integers(0, 3)),
            "protected": draw(st.sampled_from(["", "", "", "anchored"])),
            "for_now": draw(st.booleans()),
        }
        age = draw(st.floats(0, 1000))
        facts = [h for h in found if h.owner == "fact"]
        if draw(st.booleans()):
            supports = tuple({draw(st.sampled_from(facts)).item} if facts and draw(st.booleans()) else ())
            found.append(turn(item, age, supports=supports, **fields))
        else:
            later = draw(st.integers(item + 1, count + 2)) if draw(st.booleans()) else None
            found.append(fact(item, age, past=later is not None, superseded_by=later and f"f{later}", **fields))
    return found


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(memories(), st.integers(0, 20), st.sets(st.sampled_from(["decay", "capacity", "ttl"])), st.integers(1, 30))
def test_nothing_goes_that_another_memory_needs(held: list[Held], capacity: int, rules: set[Any], ttl: int) -> None:
    rule = policy(*rules, capacity=capacity, ttl_days={"message": ttl})
    found = decide(held, rule, now=NOW)
    going = gone(found)
    assert not any(c.held.protected for c in found.going)
    for h in held:
        if h.owner == "message" and going.get(h.item) in ("decay", "capacity"):
            for f in {f for f in h.supports if f in {x.item for x in held}} - set(going):
                others = [x for x in held if f in x.supports and x.item not in going]
                assert any(x.at <= h.at for x in others) and any(x.at >= h.at for x in others)
        if h.owner == "fact" and h.item in going and h.past:
            assert all(m.item in going for m in held if h.item in m.supports)
        if h.owner == "fact" and h.item in going:
            assert all(o.item in going for o in held if o.superseded_by == h.id)
    free = [h for h in held if not h.protected]
    untied = not any(h.supports or h.superseded_by for h in held)
    if "capacity" in rules and capacity and untied:
        soon = [h for h in held if h.for_now]
        assert len(held) - len(going) <= max(capacity, len(held) - len(free)) + len(soon)
    left = [h for h in held if h.item not in going]
    assert decide(left, rule, now=NOW).going == () or not untied
