"""A copy of an open store that is whole or not there, and the lists of erasures beside copies."""

from __future__ import annotations

import glob
import hashlib
import json
import logging
import os
import secrets
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ltm_core.errors import BusyError, ConflictError, CorruptError, UnavailableError
from ltm_core.store.base import Job
from ltm_core.store.rows import Copied
from ltm_core.store.sql.lists import PREFIX, lists
from ltm_core.store.sqlite.faults import translated
from ltm_core.store.sqlite.files import ARCHIVE, DATABASE, KEY, KEY_BYTES, sizes, sync_directory, write_new
from ltm_core.store.sqlite.locks import WriteLock
from ltm_core.store.vault import is_sealed

if TYPE_CHECKING:
    from ltm_core.store.sqlite.store import SqliteStore

log = logging.getLogger("ltm")
LIST_FORMAT = "ltm-core erasures"
_DRAFT_LOCK = "draft.lock"
_RETRY = timedelta(minutes=1)


# copies -----------------------------------------------------------------------------------------------
def back_up(store: SqliteStore, target: Path, *, archive: bool) -> Copied:
    """The directory ``target`` is a store with all that was committed when the copy began, and with the files of
    turns that it lists, when they are in the store's own ``archive``.

    Writers go on meanwhile. ConflictError when something is there already; on any other error, or when the process
    dies, nothing is at ``target``.
    """
    from ltm_core.store.sqlite.key_copies import set_keys_apart

    target = target.absolute()
    absent(target)
    with drafted(target) as draft:
        with store.connection() as conn:
            copy_database(conn, draft / DATABASE)
            there, left = _copy_archive(store, conn, draft, archive=archive)
        set_keys_apart(store, draft / DATABASE, target.parent)
        copy_key(store.directory / KEY, draft / KEY)
        size = sizes(draft)
        publish(draft, target)
    return Copied(bytes=size, cold_files=there, cold_files_left=left)


def _copy_archive(store: SqliteStore, conn: sqlite3.Connection, draft: Path, *, archive: bool) -> tuple[int, int]:
    """The files that the draft lists are in it, as far as they are whole; (how many are, how many are not)."""
    with reading(draft / DATABASE) as copy:
        rows = copy.execute(
            "SELECT c.user_no, u.user_id, c.id, c.body FROM cold_files c JOIN users u ON u.user_no = c.user_no "
            "ORDER BY c.id"
        ).fetchall()
    there = 0
    for user_no, user, id, sealed in rows if archive else ():
        try:
            body = store.core.codec(conn, user_no).decode(sealed, ("cold_files", id))
            folder = store.mac(store.core.user_id(user))
        except CorruptError:
            # The user's key was destroyed meanwhile, and the files with it.
            continue
        try:
            data = (store.directory / ARCHIVE / folder / body["name"]).read_bytes()
        except FileNotFoundError:
            continue
        if hashlib.sha256(data).hexdigest() == body["digest"]:
            (draft / ARCHIVE / folder).mkdir(mode=0o700, parents=True, exist_ok=True)
            write_new(draft / ARCHIVE / folder / body["name"], data)
            there += 1
    return there, len(rows) - there


def absent(target: Path) -> None:
    """ConflictError when there is anything but an empty directory."""
    if target.is_symlink() or (target.exists() and (not target.is_dir() or any(target.iterdir()))):
        raise ConflictError(f"{target} exists already; name a new directory")


@contextmanager
def drafted(target: Path) -> Iterator[Path]:
    """An empty directory (0700) beside ``target`` that is gone after the block unless it was renamed; what dead
    processes left of such ones is gone too."""
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        sweep(target)
        draft = target.with_name(f".{target.name}.draft-{os.getpid()}-{secrets.token_hex(4)}")
        draft.mkdir(mode=0o700)
    except OSError as e:
        raise UnavailableError(f"{target} cannot be written: {e.strerror}") from e
    lock = WriteLock(draft / _DRAFT_LOCK, 1.0)
    try:
        with lock:
            yield draft
    except OSError as e:
        raise UnavailableError(f"{target} cannot be written: {e.strerror}") from e
    finally:
        lock.close()
        shutil.rmtree(draft, ignore_errors=True)


def sweep(target: Path) -> None:
    """What dead processes left of drafts of ``target`` is gone; those of living ones are not touched."""
    for stale in target.parent.glob(f".{glob.escape(target.name)}.draft-*"):
        lock = WriteLock(stale / _DRAFT_LOCK, 0.05)
        try:
            lock.acquire()
        except (BusyError, UnavailableError):
            continue
        shutil.rmtree(stale, ignore_errors=True)
        lock.release()
        lock.close()


def copy_database(source: sqlite3.Connection, target: Path) -> None:
    """The file (0600) holds the source as of one moment, is whole, and is on the disk."""
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with translated(str(target)), closing(sqlite3.connect(target)) as copy:
        source.backup(copy)
        verdict = copy.execute("PRAGMA quick_check(1)").fetchone()[0]
    if verdict != "ok":
        raise CorruptError(f"the copy in {target.parent} does not pass its check; so does not the store itself")
    _sync_file(target)


def copy_key(source: Path, target: Path) -> None:
    """The key file (0600) beside its database."""
    try:
        key = source.read_bytes()
    except OSError as e:
        raise UnavailableError(f"{source} cannot be read: {e.strerror}") from e
    if len(key) != KEY_BYTES and not is_sealed(key):
        raise CorruptError(f"{source} has {len(key)} bytes instead of {KEY_BYTES}")
    write_new(target, key)


def publish(draft: Path, target: Path) -> None:
    """The draft is at ``target``, whole; ConflictError when somebody was faster."""
    (draft / _DRAFT_LOCK).unlink(missing_ok=True)
    sync_directory(draft)
    try:
        # Over an empty directory only, and in one step.
        draft.rename(target)
    except OSError as e:
        absent(target)
        raise UnavailableError(f"{target} cannot be written: {e.strerror}") from e
    sync_directory(target.parent)


def _sync_file(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


@contextmanager
def reading(database: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a database that nobody else changes, opened for reading."""
    uri = f"file:{quote(str(database))}?mode=ro"
    log_file = database.with_name(database.name + "-wal")
    if not (log_file.exists() and log_file.stat().st_size):
        # Without a log the file is all there is, and reading it must not make one.
        uri += "&immutable=1"
    with translated(str(database)), closing(sqlite3.connect(uri, uri=True)) as conn:
        yield conn


# lists ------------------------------------------------------------------------------------------------
def list_path(store: SqliteStore, directory: Path) -> Path:
    """Where the erasures of this store are listed beside backups in ``directory``."""
    return directory.absolute() / f"erasures-{store.mac('erasure list')[:12]}.jsonl"


def keep_list(store: SqliteStore, directory: Path) -> Path:
    """From now on every erasure is listed in ``directory``; keyed hashes only. Made before the copy, so that none
    falls between the two."""
    path = list_path(store, directory)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            _append(path, {"format": LIST_FORMAT, "version": 1})
    except OSError as e:
        raise UnavailableError(f"{path} cannot be written: {e.strerror}") from e
    with store.connection(write=True) as conn:
        conn.execute(
            "INSERT INTO meta (name, value) VALUES (?, '') ON CONFLICT (name) DO NOTHING", (f"{PREFIX}{path}",)
        )
    return path


def write_lists(store: SqliteStore, jobs: list[Job], *, now: datetime) -> int:
    """These erasures are in every list; a list that cannot be reached keeps its job. Returns how many are done."""
    done = 0
    operations = store.operations()
    for job in jobs:
        with store.connection() as conn:
            paths = lists(conn)
            entry = _entry(store, conn, bytes.fromhex(job.payload["user"]), job.payload["since"])
        try:
            for path in paths:
                _append(path, entry)
        except OSError as e:
            log.warning(
                "an erasure is not in the list beside the backups yet (%s); maintain() tries again", e.strerror
            )
            operations.fail_job(job.id, error="the list cannot be written", retry_at=now + _RETRY)
            continue
        operations.finish_job(job.id)
        done += 1
    return done


def _entry(store: SqliteStore, conn: sqlite3.Connection, user: bytes, since: int) -> dict[str, Any]:
    """What one user erased from ``since`` on, by keyed hashes."""
    tombstones = conn.execute(
        "SELECT kind, mac, at FROM tombstones WHERE user_mac = ? AND at >= ?", (user, since)
    ).fetchall()
    said = {mac for kind, mac, _ in tombstones if kind == "content"}
    ghosts = conn.execute(
        "SELECT session, at, sequence, role, caller_id, content_mac FROM ghosts WHERE user_mac = ?", (user,)
    ).fetchall()
    row = conn.execute("SELECT erased_before, count, last_at FROM erasures WHERE user_mac = ?", (user,)).fetchone()
    keyed = store.core.keyed
    return {
        "user": user.hex(),
        "erasures": list(row) if row else None,
        "tombstones": [[kind, mac.hex(), at] for kind, mac, at in tombstones],
        "ghosts": [[*g[:5], g[5].hex()] for g in ghosts if keyed.mac(g[5].hex()) in said],
    }


def _append(path: Path, value: dict[str, Any]) -> None:
    first = "format" in value
    # A line that a dead process cut off must not swallow this one.
    line = (b"" if first else b"\n") + json.dumps(value, separators=(",", ":")).encode() + b"\n"
    # A list that was lost is not begun anew in silence: without its beginning it would promise too much.
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | (os.O_CREAT if first else 0), 0o600)
    try:
        written = os.write(fd, line)
        if written != len(line):
            raise OSError(28, "no space left on device")
        os.fsync(fd)
    finally:
        os.close(fd)
