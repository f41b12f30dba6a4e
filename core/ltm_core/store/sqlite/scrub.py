"""Look for bytes in the files of a store, without disturbing SQLite's locks.

POSIX drops every lock a process has on a file as soon as it closes any handle of that file. So the handles by
which the database's own files are read are kept open for the life of the process, one per file.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path

from ltm_core.store.needles import Needles
from ltm_core.store.sqlite.files import ARCHIVE, DATABASE

_PIECE = 4 * 1024 * 1024
_guard = threading.Lock()
_kept: dict[tuple[int, int], int] = {}


def scan(directory: Path, strings: Sequence[bytes]) -> tuple[set[bytes], int]:
    """(which of the strings some file holds, files read). Files that vanish meanwhile are not counted."""
    needles = Needles(strings)
    found: set[bytes] = set()
    files = 0
    for path in sorted(directory.rglob("*")):
        # Files of the archive belong to one user each; those of the erased one are looked at by themselves.
        if not path.is_file() or (directory / ARCHIVE) in path.parents:
            continue
        try:
            found |= _in_file(path, needles)
        except FileNotFoundError:
            continue
        files += 1
    return found, files


def _in_file(path: Path, needles: Needles) -> set[bytes]:
    if path.name.startswith(DATABASE):
        return _found(_kept_handle(path), needles)
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
