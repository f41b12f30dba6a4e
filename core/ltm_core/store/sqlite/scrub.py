"""Look for bytes in the files of a store, without disturbing SQLite's locks.

POSIX drops every lock a process has on a file as soon as it closes any handle of that file. So the handles by
which the database's own files are read are kept open for the life of the process, one per file.

Every file is read to its end. Of the database and its log only what belongs to no row is searched (`pages`): what
stands in a row the rows tell, and a search through all of them would take many times as long.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ltm_core.forklock import ForkSafeLock
from ltm_core.store.needles import Needles
from ltm_core.store.sqlite.files import ARCHIVE, DATABASE
from ltm_core.store.sqlite.pages import Layout, free_pages, layout_of, loose

_PIECE = 4 * 1024 * 1024
_PAGES = 8 * 1024 * 1024
"""Bytes of a database that a thread looks through at once. Each page costs less in larger pieces (a sixth less in 16
MB), but what was taken for them stays with the process."""
_THREADS = 4
_ROWS = 2000
_LOG_HEAD, _FRAME_HEAD = 32, 24
"""Bytes before the first page of a log, and before each page of it."""
_guard = threading.Lock()
_kept: dict[tuple[int, int], int] = {}
_reading, _listing = ForkSafeLock(), ForkSafeLock()
_waiting: dict[Path, list[_Wanted]] = {}


class _Wanted:
    """Strings that one thread waits to hear of."""

    __slots__ = ("answer", "strings")

    def __init__(self, strings: Sequence[bytes]) -> None:
        self.strings = strings
        self.answer: tuple[set[bytes], int] | None = None


def scan(directory: Path, strings: Sequence[bytes]) -> tuple[set[bytes], int]:
    """(which of the strings stand in some file outside the rows of the database, files read). Files that vanish
    meanwhile are not counted.

    A process reads the files once at a time, for all threads that asked before the reading began: each reading takes
    tens of megabytes, and the more erasures wait, the longer each of its own would take.
    """
    mine = _Wanted(strings)
    with _listing:
        _waiting.setdefault(directory, []).append(mine)
    with _reading:
        if mine.answer is None:
            with _listing:
                asked = _waiting.pop(directory, [])
            found, files = _scan(directory, [s for one in asked for s in one.strings])
            for one in asked:
                one.answer = found & set(one.strings), files
    # A reading that failed told nobody; who waited for it reads by itself.
    return mine.answer or _scan(directory, strings)


def _scan(directory: Path, strings: Sequence[bytes]) -> tuple[set[bytes], int]:
    needles = Needles(strings)
    found: set[bytes] = set()
    files = 0
    for path in sorted(directory.rglob("*")):
        # Files of the archive belong to one user each; those of the erased one are looked at by themselves.
        if not path.is_file() or (directory / ARCHIVE) in path.parents:
            continue
        try:
            found |= _in_file(directory, path, needles)
        except FileNotFoundError:
            continue
        files += 1
    return found, files


def _in_file(directory: Path, path: Path, needles: Needles) -> set[bytes]:
    if path.name.startswith(DATABASE):
        fd = _kept_handle(path)
        layout = layout_of(os.pread(_kept_handle(directory / DATABASE), 100, 0))
        if layout is not None and path.parent == directory:
            if path.name == DATABASE:
                return _in_pages(fd, needles, layout)
            if path.name == f"{DATABASE}-wal":
                return _in_log(fd, needles, layout)
        return _found(fd, needles)
    fd = os.open(path, os.O_RDONLY)
    try:
        return _found(fd, needles)
    finally:
        os.close(fd)


def _found(fd: int, needles: Needles) -> set[bytes]:
    found: set[bytes] = set()
    offset = 0
    while piece := os.pread(fd, _PIECE + needles.longest, offset):
        found |= needles.found_in(piece)
        offset += _PIECE
    return found


def _in_pages(fd: int, needles: Needles, layout: Layout) -> set[bytes]:
    """In what belongs to no row of the database."""

    free = free_pages(lambda number: os.pread(fd, layout.page, number * layout.page), layout)

    size = os.fstat(fd).st_size
    workers = min(_THREADS, os.cpu_count() or 1, -(-size // _PAGES))

    def part(number: int) -> set[bytes]:
        # One buffer for all pieces of a thread: fresh memory costs as much as the reading.
        buffer, found = memoryview(bytearray(_PAGES)), set[bytes]()
        for offset in range(number * _PAGES, size, workers * _PAGES):
            data = buffer[: os.preadv(fd, [buffer], offset)]
            found |= _in_loose(data, needles, layout, offset // layout.page, free)
        return found

    if workers < 2:
        return part(0)
    with ThreadPoolExecutor(workers, thread_name_prefix="ltm-scan") as pool:
        return set[bytes]().union(*pool.map(part, range(workers)))


def _in_log(fd: int, needles: Needles, layout: Layout) -> set[bytes]:
    """In what belongs to no row of the pages that a log holds."""
    found: set[bytes] = set()
    frame = _FRAME_HEAD + layout.page
    offset = _LOG_HEAD
    while data := os.pread(fd, _PAGES // frame * frame, offset):
        pages = b"".join(data[at + _FRAME_HEAD : at + frame] for at in range(0, len(data), frame))
        found |= _in_loose(pages, needles, layout, None)
        offset += len(data)
    return found


def _in_loose(
    data: memoryview | bytes, needles: Needles, layout: Layout, first: int | None, free: Collection[int] = frozenset()
) -> set[bytes]:
    if not len(data):
        # Of a log that another process is just writing there may be no more than the head of a page.
        return set()
    # A page that was cut off is filled up with zeros, of which nothing is found.
    missing = -len(data) % layout.page
    found = loose(b"".join((data, bytes(missing))) if missing else data, layout, first=first, free=free)
    return needles.found_in(b"\0".join(found.free)) | needles.found_in(b"\0".join(found.whole))


def _kept_handle(path: Path) -> int:
    with _guard:
        # A file without a name is nobody's database any more; its handle may go.
        for key in [k for k, fd in _kept.items() if os.fstat(fd).st_nlink == 0]:
            os.close(_kept.pop(key))
        info = path.stat()
        key = (info.st_dev, info.st_ino)
        if key not in _kept:
            _kept[key] = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        return _kept[key]


def held(conn: sqlite3.Connection, columns: Sequence[str], strings: Iterable[bytes]) -> set[bytes]:
    """Which of the strings stand in the values of these columns, each given as a query; stops when all were seen."""
    missing = set(strings)
    found: set[bytes] = set()
    for sql in columns:
        cursor = conn.execute(sql)
        while missing and (batch := cursor.fetchmany(_ROWS)):
            seen = Needles(tuple(missing)).found_in(b"\0".join(v for (v,) in batch if v))
            found |= seen
            missing -= seen
    return found


__all__ = ["held", "scan"]
