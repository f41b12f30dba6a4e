"""Disks that are full and files that rot: faults to put a store into, each undone at the end of its block."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def pages_limited(pages: int) -> Iterator[None]:
    """Databases that are opened inside the block grow to ``pages`` pages at most: SQLITE_FULL."""
    connect = sqlite3.connect

    def limited(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **options)
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    sqlite3.connect = limited  # type: ignore[assignment]
    try:
        yield
    finally:
        sqlite3.connect = connect


@contextmanager
def files_limited(most: int) -> Iterator[None]:
    """No file of this process grows beyond ``most`` bytes: EFBIG in the middle of a write."""
    import resource

    # CPython ignores SIGXFSZ, so the write fails instead of the process.
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def small_disk(place: Path, size: int) -> Iterator[bool]:
    """``place`` is a file system of ``size`` bytes of its own: ENOSPC. Yields False where none may be mounted."""
    place.mkdir(parents=True, exist_ok=True)
    mount = shutil.which("mount")
    command = [mount or "", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
    mounted = mount is not None and subprocess.run(command, capture_output=True, check=False).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(place)], check=True)


@contextmanager
def without_rights(*places: Path) -> Iterator[None]:
    """The process may read the places and all below, and write none of them, even if it is the superuser."""
    paths = [p for place in places for p in ([place, *place.rglob("*")] if place.is_dir() else [place])]
    modes = {p: p.stat().st_mode & 0o7777 for p in paths}
    for p in paths:
        p.chmod(0o555 if p.is_dir() else 0o444)
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    above = [p for p in places[0].absolute().parents if p.stat().st_mode & 0o055 != 0o055] if root else []
    opened = {p: p.stat().st_mode & 0o7777 for p in above}
    for p in above:
        p.chmod(opened[p] | 0o055)
    if root:
        os.setresuid(_NOBODY, _NOBODY, 0)
    try:
        yield
    finally:
        if root:
            os.setresuid(0, 0, 0)
        for p, mode in {**modes, **opened}.items():
            p.chmod(mode)


_NOBODY = 65534


def spoil_page(database: Path, page: int, *, size: int = 4096, seed: int = 0) -> None:
    """Page ``page`` (from 0) of the file is noise."""
    with database.open("r+b") as file:
        file.seek(page * size)
        file.write(random.Random(f"{seed}/{page}").randbytes(size))


def flip_byte(file: Path, offset: int, mask: int) -> None:
    """The bits of ``mask`` in the byte at ``offset`` are turned over."""
    with file.open("r+b") as opened:
        opened.seek(offset)
        byte = opened.read(1)[0]
        opened.seek(offset)
        opened.write(bytes([byte ^ mask]))


__all__ = ["files_limited", "flip_byte", "pages_limited", "small_disk", "spoil_page", "without_rights"]
