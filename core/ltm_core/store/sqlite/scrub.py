"""Look for bytes in the files of a store, without disturbing SQLite's locks.

POSIX drops every lock a process has on a file as soon as it closes any handle of that file. So the handles by
which the database's own files are read are kept open for the life of the process, one per file.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Sequence
from pathlib import Path

from ltm_core.store.sqlite.files import ARCHIVE, DATABASE
from ltm_core.store.sqlite.needles import Needles

_PIECE = 4 * 1024 * 1024
_ESCAPE = re.compile(r"\\u[0-9a-f]{4}")
_guard = threading.Lock()
_kept: dict[tuple[int, int], int] = {}


def variants(needles: Sequence[bytes]) -> list[bytes]:
    """The needles and their lower and upper case, each as UTF-8, UTF-16 of both orders and JSON-escaped."""
    found: dict[bytes, None] = {}
    for needle in needles:
        if not needle:
            continue
        found[needle] = None
        try:
            text = needle.decode()
        except UnicodeDecodeError:
            continue
        for form in (text, text.lower(), text.upper()):
            escaped = json.dumps(form)[1:-1]
            for data in (
                form.encode(),
                form.encode("utf-16-le"),
                form.encode("utf-16-be"),
                escaped.encode(),
                _ESCAPE.sub(lambda m: "\\u" + m[0][2:].upper(), escaped).encode(),
            ):
                found[data] = None
    return list(found)


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
