"""Where a host's history stops repeating what is stored."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ltm_core.write.align import align

TURNS = st.lists(
    st.tuples(st.sampled_from(["user", "assistant"]), st.sampled_from(["好的", "a", "b"])), max_size=12
)


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
