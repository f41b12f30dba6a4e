"""Looking for many byte strings at once finds what looking for each one finds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_core.config import Config
from ltm_core.store.needles import Needles
from ltm_core.store.sqlite import open_store

small = st.binary(max_size=300).map(lambda b: bytes(x % 3 for x in b))


@given(
    data=small,
    strings=st.lists(st.binary(min_size=1, max_size=20).map(lambda b: bytes(x % 3 for x in b)), max_size=8),
)
def test_it_agrees_with_plain_search(data: bytes, strings: list[bytes]) -> None:
    assert Needles(strings).found_in(data) == {s for s in strings if s in data}


def test_words_at_both_ends_and_odd_places() -> None:
    words = ["我对芒果过敏很严重".encode(), b"I play the theorbo"]
    for place in range(9):
        data = b"x" * place + words[0] + b"y" * place + words[1]
        assert Needles(words).found_in(data) == set(words)


@pytest.mark.parametrize("form", ["utf-8", "utf-16-le", "utf-16-be", "unicode_escape"])
def test_words_left_in_any_file_are_found(tmp_path: Path, form: str) -> None:
    store = open_store(tmp_path / "s", config=Config())
    try:
        operations = store.operations()
        assert operations.scrub(needles=["芒果过敏很严重".encode()], wait_seconds=1) == (True, 5)
        (tmp_path / "s" / "stray.tmp").write_bytes(b"..." + "芒果过敏很严重".encode(form))
        assert operations.scrub(needles=["芒果过敏很严重".encode()], wait_seconds=1) == (False, 6)
    finally:
        store.close()
