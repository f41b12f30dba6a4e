"""The small parts under the stores: instants, keyed hashes, envelopes, the integer layout."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_core.errors import CorruptError, InvalidTimeError
from ltm_core.store.keyed import Keyed, slot_form
from ltm_core.store.sql.codec import PLAIN_CODEC
from ltm_core.store.sql.layout import MAX_ITEM, MAX_USER, batches, key_range, row_range
from ltm_core.store.times import from_us, to_us

KEYED = Keyed(bytes(32))


@given(st.datetimes(timezones=st.just(UTC)))
def test_instants_round_trip_to_the_microsecond(moment: datetime) -> None:
    assert from_us(to_us(moment)) == moment


@given(st.integers(-(2**50), 2**50), st.integers(-720, 840))
def test_instants_are_the_same_in_any_zone(us: int, minutes: int) -> None:
    local = from_us(us).astimezone(timezone(timedelta(minutes=minutes)))
    assert to_us(local) == us
    assert from_us(to_us(local)) == local


def test_naive_instants_are_refused() -> None:
    with pytest.raises(InvalidTimeError):
        to_us(datetime(2026, 1, 1))  # noqa: DTZ001
    assert to_us(None) is None and from_us(None) is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(json_values)
def test_envelopes_round_trip(value: object) -> None:
    blob = PLAIN_CODEC.encode(value)
    assert blob[0] == 1 and PLAIN_CODEC.decode(blob) == value


def test_envelopes_stay_readable_and_survive_half_pairs() -> None:
    assert PLAIN_CODEC.encode({"text": "双簧管"}) == b'\x01{"text":"\xe5\x8f\x8c\xe7\xb0\xa7\xe7\xae\xa1"}'
    for text in ("\ud83d", "a\udc00\ud800b", "\0"):
        assert PLAIN_CODEC.decode(PLAIN_CODEC.encode(text)) == text
    for blob in (b"", b"\x02{}", b"\x01{secret", b"\x01\xff\xfe"):
        with pytest.raises(CorruptError) as caught:
            PLAIN_CODEC.decode(blob)
        assert "secret" not in str(caught.value) and caught.value.__cause__ is None


@given(st.text(), st.text())
def test_hashes_tell_values_and_purposes_apart(a: str, b: str) -> None:
    assert 0 < KEYED.label(a) < 2**63
    assert (KEYED.label(a) == KEYED.label(b)) == (a == b)
    assert (KEYED.mac(a) == KEYED.mac(b)) == (a == b)
    assert KEYED.mac(a) != KEYED.content(a)
    assert 0 <= KEYED.terms(7)(a) < 2**40
    assert Keyed(b"k" * 32).label(a) != KEYED.label(a)


def test_terms_of_two_users_differ() -> None:
    assert KEYED.terms(1)("oboe") != KEYED.terms(2)("oboe")
    assert KEYED.terms(1)("oboe") == KEYED.terms(1)("oboe")


def test_slots_are_compared_folded_and_never_run_together() -> None:
    assert KEYED.pair(" User", "Lives_In ") == KEYED.pair("user", "lives_in")
    assert KEYED.pair("ab", "c") != KEYED.pair("a", "bc")
    assert slot_form("Ｓister\u3000 of  me") == "sister of me"


def test_ranges_of_neighbouring_users_do_not_touch() -> None:
    for make in (row_range, key_range):
        for user in (1, 2, MAX_USER - 1):
            assert make(user)[1] == make(user + 1)[0]
        assert make(MAX_USER)[0] > 0 and make(MAX_USER)[1] - 1 <= 2**63 - 1
    low, high = row_range(5)
    assert low < low + MAX_ITEM < high
    assert MAX_USER == 8_388_607 and MAX_ITEM == 4_294_967_295


@given(st.lists(st.integers(), max_size=1500))
def test_batches_hold_every_value_in_few_sizes(values: list[int]) -> None:
    seen: list[int] = []
    for marks, part in batches(values):
        assert marks.count("?") == len(part) in (1, 8, 64, 512)
        seen += part
    assert set(seen) == set(values)
