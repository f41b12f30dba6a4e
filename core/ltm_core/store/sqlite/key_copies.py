"""The key file beside backups: one for all of them, from which a destroyed key is taken out.

A backup holds the name of each user's data key and not the key. The wrapped keys lie in one small database beside
the backups, brought up to date by every backup, erasure and change of keys. So `forget_user` makes a user
unreadable in every backup at once, however many copies of them there are, as long as the key file itself is kept
in one place.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from ltm_core.errors import CorruptError, StoreError, UnavailableError
from ltm_core.store.base import Job
from ltm_core.store.sql.lists import lists
from ltm_core.store.sqlite.faults import translated
from ltm_core.store.vault import ID_BYTES, StoreKeys, Vault, sealed_name

if TYPE_CHECKING:
    from ltm_core.store.sqlite.store import SqliteStore

log = logging.getLogger("ltm")
_RETRY = timedelta(minutes=1)
_APPLICATION_ID = 0x4C544D4B
_TABLES = """
    CREATE TABLE IF NOT EXISTS sealed (one INTEGER PRIMARY KEY CHECK (one = 1), data BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS keys (id BLOB PRIMARY KEY, master TEXT NOT NULL, wrapped BLOB NOT NULL) WITHOUT ROWID;
"""


def copy_path(directory: Path, store_name: str) -> Path:
    """Where the keys of the backups in ``directory`` are."""
    return directory.absolute() / f"keys-{store_name[:12]}.sqlite3"


@contextmanager
def _opened(path: Path, *, create: bool = False) -> Iterator[sqlite3.Connection]:
    """The key file in one write transaction; what it deletes is overwritten."""
    if create and not path.exists():
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
        except OSError as e:
            raise UnavailableError(f"{path} cannot be written: {e.strerror}") from e
    with translated(str(path)), closing(sqlite3.connect(f"file:{path}?mode=rw", uri=True, timeout=30)) as conn:
        conn.isolation_level = None
        conn.execute("PRAGMA secure_delete = ON")
        conn.execute("PRAGMA synchronous = FULL")
        conn.execute("BEGIN IMMEDIATE")
        known = conn.execute("PRAGMA application_id").fetchone()[0]
        if known == 0 and create:
            for statement in _TABLES.strip().split(";\n"):
                conn.execute(statement)
            conn.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        elif known != _APPLICATION_ID:
            raise CorruptError(f"{path} is no key file of backups")
        yield conn
        conn.execute("COMMIT")


# backing up -------------------------------------------------------------------------------------------
def set_keys_apart(store: SqliteStore, draft: Path, directory: Path) -> None:
    """The draft of a backup names its keys only; they are in the key file in ``directory``, except those that were
    destroyed since the draft was made. A plain store has none."""
    if store.core.vault is None:
        return
    with closing(sqlite3.connect(draft)) as copy:
        copy.execute("PRAGMA secure_delete = ON")
        taken = copy.execute("SELECT master, wrapped FROM user_keys").fetchall()
        copy.execute(f"UPDATE user_keys SET master = '', wrapped = substr(wrapped, 1, {ID_BYTES})")
        copy.commit()
    path = copy_path(directory, store.name)
    # Inside a write of the store, so that no erasure passes between the look and the copy.
    with store.connection(write=True) as conn, _opened(path, create=True) as file:
        alive = {w[:ID_BYTES] for (w,) in conn.execute("SELECT wrapped FROM user_keys")}
        _put(file, store.sealed_key(), [(w[:ID_BYTES], m, w) for m, w in taken if w[:ID_BYTES] in alive])


def _put(file: sqlite3.Connection, sealed: bytes, rows: list[tuple[bytes, str, bytes]]) -> None:
    file.execute(
        "INSERT INTO sealed (one, data) VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET data = excluded.data", (sealed,)
    )
    file.executemany(
        "INSERT INTO keys (id, master, wrapped) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE "
        "SET master = excluded.master, wrapped = excluded.wrapped",
        rows,
    )


# destroying -------------------------------------------------------------------------------------------
def destroy_copies(store: SqliteStore, jobs: list[Job], *, now: datetime) -> int:
    """The keys that the jobs name are in no key file; one that cannot be reached keeps its job. Returns how many
    are done."""
    operations = store.operations()
    done = 0
    for job in jobs:
        with store.connection() as conn:
            paths = [copy_path(p.parent, store.name) for p in lists(conn)]
        try:
            for path in paths:
                _destroy(path, bytes.fromhex(job.payload["key"]))
        except StoreError as e:
            log.warning("a destroyed key is still in the key file beside the backups (%s); maintain() tries again", e)
            operations.fail_job(job.id, error="the key file cannot be written", retry_at=now + _RETRY)
            continue
        operations.finish_job(job.id)
        done += 1
    return done


def _destroy(path: Path, key: bytes) -> None:
    if not path.exists():
        if path.parent.is_dir():
            return
        raise UnavailableError(f"{path.parent} is not there")
    with _opened(path) as file:
        file.execute("DELETE FROM keys WHERE id = ?", (key,))


# changing keys ----------------------------------------------------------------------------------------
def rewrap_copies(store: SqliteStore, keys: StoreKeys, sealed: bytes) -> list[Path]:
    """Every key file beside backups is under the present keys; returns those that could not be reached."""
    vault = Vault(keys)
    with store.connection() as conn:
        paths = [copy_path(p.parent, store.name) for p in lists(conn)]
    missed = []
    for path in paths:
        if not path.exists() and path.parent.is_dir():
            continue
        try:
            with _opened(path) as file:
                rows = file.execute("SELECT id, master, wrapped FROM keys WHERE master <> ?", (vault.present,))
                _put(file, sealed, [(i, vault.present, vault.rewrapped(m, w)) for i, m, w in rows.fetchall()])
        except StoreError as e:
            log.warning("the key file beside the backups still has the former master key: %s", e)
            missed.append(path)
    return missed


# restoring --------------------------------------------------------------------------------------------
def sealed_copy(path: Path, store_name: str) -> bytes:
    """The sealed store key of a key file; errors when it is missing or another store's."""
    if not path.exists():
        raise UnavailableError(
            f"{path} is missing: an encrypted backup is read with the key file that was beside it; name it with keys="
        )
    with _opened(path) as file:
        row = file.execute("SELECT data FROM sealed").fetchone()
    if row is None or sealed_name(row[0])[0] != store_name:
        raise CorruptError(f"{path} is not the key file of this backup")
    return bytes(row[0])


def fill_keys(staged: SqliteStore, copy: Path | None, old: sqlite3.Connection | None) -> None:
    """The staged copy has every data key that the store that gives way or the key file still has."""
    vault = staged.core.vault
    if vault is None:
        return
    found: dict[bytes, tuple[str, bytes]] = {}
    if copy is not None and copy.exists():
        with _opened(copy) as file:
            found |= {i: (m, w) for i, m, w in file.execute("SELECT id, master, wrapped FROM keys")}
    if old is not None:
        rows = old.execute("SELECT master, wrapped FROM user_keys").fetchall()
        found |= {w[:ID_BYTES]: (m, w) for m, w in rows if len(w) > ID_BYTES}
    with staged.connection(write=True) as conn:
        lacking = conn.execute(
            f"SELECT user_no, wrapped FROM user_keys WHERE length(wrapped) <= {ID_BYTES}"
        ).fetchall()
        filled = [(*found[w], no) for no, w in lacking if w in found]
        conn.executemany("UPDATE user_keys SET master = ?, wrapped = ? WHERE user_no = ?", filled)


def require_keys(staged: SqliteStore) -> None:
    """CorruptError when users are left whose key is nowhere."""
    with staged.connection() as conn:
        (lost,) = conn.execute(f"SELECT count(*) FROM user_keys WHERE length(wrapped) <= {ID_BYTES}").fetchone()
    if lost:
        raise CorruptError(
            f"the data keys of {lost} users of the backup are in no key file: restore the key file that was beside it"
        )


__all__ = [
    "copy_path",
    "destroy_copies",
    "fill_keys",
    "require_keys",
    "rewrap_copies",
    "sealed_copy",
    "set_keys_apart",
]
