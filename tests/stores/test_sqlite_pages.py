"""What belongs to no row of a SQLite file is found, and nothing of a row is."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ltm_core.store.sqlite import pages
from ltm_core.store.sqlite.pages import Layout, free_pages, layout_of, loose

SIZES = (512, 4096, 65536)
MARK = b"zqt"


@pytest.fixture(autouse=True, params=[0, 128], ids=["all at once", "one by one"])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Freed blocks are followed on all pages at once, or on each page by itself."""
    monkeypatch.setattr(pages, "_FEW", request.param)


def made(path: Path, size: int, *, secure: bool) -> tuple[bytes, list[bytes]]:
    """(a database with rows that came, grew and went, the words of those that went)."""
    chance = random.Random(1)
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        conn.execute("PRAGMA synchronous = OFF")
        conn.execute(f"PRAGMA page_size = {size}")
        conn.execute(f"PRAGMA secure_delete = {'ON' if secure else 'OFF'}")
        conn.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, body BLOB)")
        conn.execute("CREATE TABLE w (a INTEGER, b INTEGER, body BLOB, PRIMARY KEY (a, b)) WITHOUT ROWID")
        for i in chance.sample(range(600), 600):
            rest = b"." * chance.choice((3, 40, 200, min(3 * size, 5000)))
            conn.execute("INSERT INTO t VALUES (?, ?)", (i, b"zqt%03dzz" % i + rest))
            conn.execute("INSERT INTO w VALUES (?, ?, ?)", (i % 7, i, b"zqw%03dzz" % i + rest))
        for i in range(0, 600, 3):
            conn.execute("UPDATE t SET body = body || CAST(body AS TEXT) WHERE id = ?", (i,))
            conn.execute("DELETE FROM t WHERE id = ?", (i + 1,))
            conn.execute("DELETE FROM w WHERE b = ?", (i + 2,))
    gone = [b"zqt%03dzz" % i for i in range(1, 600, 3)] + [b"zqw%03dzz" % i for i in range(2, 600, 3)]
    return path.read_bytes(), gone


def looked_at(data: bytes, size: int, at_once: int) -> tuple[bytes, bytes]:
    layout = layout_of(data)
    assert layout == Layout(size, size)
    unused = free_pages(lambda n: data[n * size : (n + 1) * size], layout)
    free, whole = [], []
    for at in range(0, len(data), at_once * size):
        found = loose(data[at : at + at_once * size], layout, first=at // size, free=unused)
        free += found.free
        whole += found.whole
    return b"\0".join(sorted(free)), b"\0".join(whole)


@pytest.mark.parametrize("size", SIZES)
def test_rows_that_went_are_found_where_they_were_not_overwritten(tmp_path: Path, size: int) -> None:
    data, gone = made(tmp_path / "d", size, secure=False)
    free, whole = looked_at(data, size, 64)
    left = [g for g in gone if g in data]
    assert len(left) > 50
    assert [g for g in left if g not in free and g not in whole] == []


@pytest.mark.parametrize("size", SIZES)
def test_a_row_that_is_there_is_no_loose_end(tmp_path: Path, size: int) -> None:
    """The pages of a vacuumed file hold nothing but rows, and their free parts nothing but zeros."""
    path = tmp_path / "d"
    made(path, size, secure=True)
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("DELETE FROM t WHERE length(body) > 100")
        conn.execute("DELETE FROM w WHERE length(body) > 100")
        conn.commit()
        conn.execute("VACUUM")
    data = path.read_bytes()
    free, whole = looked_at(data, size, 64)
    assert MARK in data and MARK not in free and MARK not in whole[size:]


def test_any_number_of_pages_at_once_finds_the_same(tmp_path: Path) -> None:
    data, _ = made(tmp_path / "d", 1024, secure=False)
    assert len({looked_at(data, 1024, n) for n in (1, 7, 64, 10_000)}) == 1


def test_a_list_of_free_pages_that_goes_round_ends() -> None:
    layout = Layout(512, 512)
    pages = [bytearray(512) for _ in range(4)]
    pages[0][32:36] = (2).to_bytes(4, "big")
    pages[1][:12] = b"".join(n.to_bytes(4, "big") for n in (3, 1, 4))
    pages[2][:4] = (2).to_bytes(4, "big")
    assert free_pages(lambda n: bytes(pages[n]), layout) == {1, 2, 3}


def test_noise_is_taken_as_a_whole() -> None:
    layout, chance = Layout(1024, 1024), random.Random(3)
    for kind in (2, 5, 10, 13):
        for _ in range(200):
            page = bytes([kind]) + chance.randbytes(1023)
            found = loose(page, layout, first=None)
            assert sum(map(len, found.free)) <= 1024 and all(w == page for w in found.whole)
    assert loose(bytes(4096), layout, first=0).whole == []


def test_what_is_no_database_has_no_layout() -> None:
    assert layout_of(b"") is None and layout_of(b"x" * 200) is None
    assert layout_of(b"SQLite format 3\0" + b"\0\x03" + bytes(90)) is None
