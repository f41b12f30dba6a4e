"""Who sees what: docs/scopes.md is the data of this test, cell by cell."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from ltm_core import InvalidScopeError, LongTermMemory

DOCS = Path(__file__).parents[2] / "docs" / "scopes.md"
LABELS = {"session": "session_id", "agent": "agent_id", "task": "task_id", "app": "app_id"}


def table() -> tuple[list[str], dict[str, list[str]]]:
    """The column heads and, per row head, the cells of the first table of the page."""
    lines = [line for line in DOCS.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    end = next((i for i, line in enumerate(lines[2:], 2) if line.startswith("|---") or "call" in line[:8]), 0)
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in lines[:end]]
    return cells[0][1:], {row[0]: row[1:] for row in cells[2:]}


COLUMNS, ROWS = table()


def scope(words: str) -> dict[str, str]:
    """``user, agent a1`` as keyword arguments."""
    if words == "another user":
        return {"user_id": "ben"}
    found = {"user_id": "ana"}
    for part in words.split(",")[1:]:
        label, value = part.split()
        found[LABELS[label]] = value
    return found


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LongTermMemory]:
    """Every row of the table is written once, each with a word of its own; ben has something too."""
    place = tmp_path_factory.mktemp("scopes") / "store"
    with LongTermMemory.open(place, embedder="none", timezone="UTC") as opened:
        for word, row in zip(words(), ROWS, strict=False):
            opened.observe(user=f"They served soup at {word}.", **scope(row))  # type: ignore[arg-type]
        opened.observe(user_id="ben", session_id="s1", user="The canteen is closed today.")
        yield opened


def words() -> Iterator[str]:
    return (f"Zanzibar{'abcdefghijk'[n]}" for n in count())


def test_the_table_is_whole() -> None:
    assert len(ROWS) >= 6 and len(COLUMNS) >= 12
    assert all(len(cells) == len(COLUMNS) for cells in ROWS.values())
    assert {cell for cells in ROWS.values() for cell in cells} == {"yes", "no"}


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("row", list(ROWS))
def test_context_sees_what_the_table_says(memory: LongTermMemory, row: str, column: str) -> None:
    word = dict(zip(ROWS, words(), strict=False))[row]
    found = memory.context(
        f"Where is {word}?",
        tiers=("semantic", "episodic"),
        **scope(column),  # type: ignore[arg-type]
    )
    seen = any(word in item.text for item in found.items)
    assert seen is (ROWS[row][COLUMNS.index(column)] == "yes")


@pytest.mark.parametrize("column", [c for c in COLUMNS if "session" not in c])
@pytest.mark.parametrize("row", list(ROWS))
def test_search_agrees(memory: LongTermMemory, row: str, column: str) -> None:
    word = dict(zip(ROWS, words(), strict=False))[row]
    found = memory.search(f"Where is {word}?", top_k=50, **scope(column))  # type: ignore[arg-type]
    assert any(word in item.text for item in found) is (ROWS[row][COLUMNS.index(column)] == "yes")


@pytest.mark.parametrize("row", list(ROWS))
def test_what_is_written_is_found_with_its_own_scope(memory: LongTermMemory, row: str) -> None:
    word = dict(zip(ROWS, words(), strict=False))[row]
    found = memory.context(f"Where is {word}?", **scope(row))  # type: ignore[arg-type]
    assert word in found.text


def test_search_keeps_one_session_by_a_filter(memory: LongTermMemory) -> None:
    word = next(words())
    inside = memory.search(word, user_id="ana", filters={"session_id": "s1"})
    outside = memory.search(word, user_id="ana", filters={"session_id": "s2"})
    assert inside and not outside


def test_turns_and_slots_are_of_one_session(memory: LongTermMemory) -> None:
    assert len(list(memory.messages(user_id="ana", session_id="s1"))) == len(ROWS)
    assert not memory.messages(user_id="ana", session_id="s2")
    memory.set_slot("city", "Lima", user_id="ana", session_id="s1")
    assert memory.get_slot("city", user_id="ana", session_id="s1") == "Lima"
    assert memory.get_slot("city", user_id="ana", session_id="s2") is None
    assert memory.get_slot("city", user_id="ben", session_id="s1") is None


@pytest.mark.parametrize("pair", [("a/b", "a b"), ("A", "a"), ("é", "e"), ("a.b", "a_b"), ("a\u200b", "a")])
def test_ids_are_kept_not_cleaned(tmp_path: Path, pair: tuple[str, str]) -> None:
    with LongTermMemory.open(tmp_path / "store", embedder="none", timezone="UTC") as memory:
        memory.observe(user_id=pair[0], session_id="s", user="The code word is Quokka.")
        assert memory.search("Quokka", user_id=pair[0])
        assert not memory.search("Quokka", user_id=pair[1])


def test_a_number_is_its_digits(tmp_path: Path) -> None:
    with LongTermMemory.open(tmp_path / "store", embedder="none", timezone="UTC") as memory:
        memory.observe(user_id=7, session_id=1, user="The code word is Quokka.")
        assert memory.search("Quokka", user_id="7")


@pytest.mark.parametrize("bad", ["", " ", "\n", None, 1.5, True, "x" * 600, "a\0b", "\ud800"])
def test_bad_ids_are_refused_everywhere(memory: LongTermMemory, bad: object) -> None:
    before = memory.stats()
    for call in (
        lambda: memory.observe(user_id=bad, session_id="s", user="hi"),  # type: ignore[arg-type]
        lambda: memory.observe(user_id="ana", session_id=bad, user="hi"),  # type: ignore[arg-type]
        lambda: memory.context("hi", user_id=bad),  # type: ignore[arg-type]
        lambda: memory.search("hi", user_id=bad),  # type: ignore[arg-type]
        lambda: memory.facts(user_id=bad),  # type: ignore[arg-type]
        lambda: memory.forget_user(bad),  # type: ignore[arg-type]
    ):
        with pytest.raises(InvalidScopeError):
            call()
    assert memory.stats() == before
