"""Where a host's history stops repeating what is stored."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ltm_core.write.incoming.align import align, repeated

TURNS = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.sampled_from(["好的", "a", "b"])), max_size=12)


def test_full_history_window_and_repetition() -> None:
    u, a = ("user", "好的"), ("assistant", "x")
    assert align([u, a], [u, a, u]) == 2
    assert align([u, a, u], [a, u, a]) == 2
    assert align([], [u]) == 0
    assert align([u], [a]) == 0
    assert align([u], [u, u]) == 1


@given(TURNS, TURNS)
def test_appending_to_the_whole_history(stored: list[tuple[str, str]], new: list[tuple[str, str]]) -> None:
    first = align(stored, [*stored, *new])
    assert first >= len(stored)
    assert stored[len(stored) - first :] == [*stored, *new][:first] if first <= len(stored) else True


@given(TURNS, TURNS)
def test_what_is_taken_as_known_is_the_longest_overlap(
    stored: list[tuple[str, str]], given_: list[tuple[str, str]]
) -> None:
    first = align(stored, given_)
    fits = [n for n in range(min(len(stored), len(given_)) + 1) if n == 0 or stored[-n:] == given_[:n]]
    assert first == max(fits)


def test_what_a_list_repeats() -> None:
    stored = list("abcd")
    assert repeated(stored, list("abcde")) == [0, 1, 2, 3]
    assert repeated(stored, list("cde")) == [2, 3]
    assert repeated(stored, list("abc")) == [0, 1, 2] and repeated(stored, list("bc")) == [1, 2]
    assert repeated(stored, list("abx")) == [0, 1] and repeated(stored, list("ax")) == [0]
    assert repeated(stored, list("acd")) == [0, 2, 3]
    assert repeated(stored, ["d"]) == [3] and repeated(stored, ["a"]) == [] and repeated(stored, list("xy")) == []
    assert repeated(list("aba"), list("ab")) == [2], "a second a that is answered now is no repetition"


CONVERSATIONS = st.lists(st.sampled_from("abcd"), max_size=9).map(
    lambda said: [("user" if i % 2 == 0 else "assistant", words) for i, words in enumerate(said)]
)
DIFFERENT = st.lists(st.integers(0, 50), max_size=10, unique=True)


@given(CONVERSATIONS, CONVERSATIONS)
def test_a_list_given_twice_adds_nothing_the_second_time(
    stored: list[tuple[str, str]], given_: list[tuple[str, str]]
) -> None:
    known = repeated(stored, given_)
    assert [stored[i] for i in known] == given_[: len(known)] and known == sorted(set(known))
    after = [*stored, *given_[len(known) :]]
    assert len(repeated(after, given_)) == len(given_)


@given(TURNS, TURNS)
def test_a_history_that_grew_adds_what_grew(stored: list[tuple[str, str]], new: list[tuple[str, str]]) -> None:
    assert not stored or repeated(stored, [*stored, *new]) == list(range(len(stored)))


@given(DIFFERENT, st.integers(1, 10), st.lists(st.integers(100, 150), max_size=4))
def test_a_window_adds_what_is_behind_it(stored: list[int], width: int, new: list[int]) -> None:
    window = stored[-width:]
    assert len(repeated(stored, [*window, *new])) == len(window)


@given(DIFFERENT, st.integers(0, 9), st.integers(0, 10))
def test_a_part_of_the_history_adds_nothing(stored: list[int], start: int, end: int) -> None:
    part = stored[start:end]
    assert len(part) < 2 or len(repeated(stored, part)) == len(part)


@given(
    DIFFERENT.filter(lambda d: len(d) > 2),
    st.integers(0, 9),
    st.sampled_from(["change", "drop", "insert", "end"]),
)
def test_one_edit_adds_at_most_what_follows_it(stored: list[int], where: int, how: str) -> None:
    i = where % len(stored)
    edited = {
        "change": [*stored[:i], 99, *stored[i + 1 :]],
        "drop": [*stored[:i], *stored[i + 1 :]],
        "insert": [*stored[:i], 99, *stored[i:]],
        "end": [*stored[:i], 99],
    }[how]
    assert len(edited) - len(repeated(stored, edited)) <= len(edited) - i
