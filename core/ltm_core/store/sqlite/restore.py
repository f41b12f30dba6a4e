"""A backup takes the place of a store, or of one that is lost, and resurrects nobody."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ltm_core.config import Config
from ltm_core.errors import ConflictError, UnavailableError
from ltm_core.store.rows import News
from ltm_core.store.sql.lists import LIST_JOB
from ltm_core.store.sql.read_rows import audit_body
from ltm_core.store.sqlite.backup import absent, copy_database, drafted, publish, reading
from ltm_core.store.sqlite.encrypting import encrypt_users, seal_key_file
from ltm_core.store.sqlite.files import DATABASE, KEY, load_key, load_keys, write_new
from ltm_core.store.sqlite.giving_way import Files, Old, Redo, has_files
from ltm_core.store.sqlite.key_copies import copy_path, fill_keys, require_keys, sealed_copy
from ltm_core.store.sqlite.known_erasures import Known, Source, known_of
from ltm_core.store.sqlite.store import SqliteStore
from ltm_core.store.times import from_us, to_us
from ltm_core.store.vault import StoreKeys, is_sealed, sealed_name

if TYPE_CHECKING:
    from ltm_core.store.keys import KeyProvider

_PAGE = 500
_NUMBERED = ("users", "changes", "jobs", "audit", "embedders", "outbox")
"""Tables whose numbers are never used twice, also after a restore."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What a restore did."""

    source: Source
    users: int
    counts: Mapping[str, int]


def restore(
    backup: Path,
    location: Path,
    *,
    config: Config,
    now: datetime,
    redo: Redo,
    files: Files,
    erasures: Path | Literal["none"] | None = None,
    keys: KeyProvider | None = None,
    key_file: Path | None = None,
    actor: str | None = None,
    reason: str | None = None,
) -> Restored:
    """``location`` holds what the backup held, without what was erased since.

    A store that is there gives way in one transaction: other processes see the old one or the new one, and after
    an error or a kill the old one is as it was. Writers wait meanwhile. Without a store the erasures come from
    the list beside the backup, or ``erasures`` names it; "none" does without. ``redo`` erases anew, user by user,
    what the copy holds and the news name; ``files`` are asked when the copy lists files of turns, or the store that
    gives way does. ``keys`` opens an encrypted backup, whose data keys are those of the store that gives way or of
    the key file beside it (or at ``key_file``).
    """
    backup, location = backup.absolute(), location.absolute()
    if not (backup / DATABASE).is_file():
        raise UnavailableError(f"{backup} holds no backup")
    live = (location / DATABASE).is_file()
    if not live:
        absent(location)
    key, copy = _key_of(backup, location if live else None, key_file)
    with ExitStack() as stack:
        draft = stack.enter_context(drafted(location))
        with reading(backup / DATABASE) as conn:
            copy_database(conn, draft / DATABASE)
        write_new(draft / KEY, key)
        if keys is not None and not live:
            # A plain backup that is restored with a master key becomes an encrypted store.
            seal_key_file(draft, keys, wait_seconds=config.busy_timeout_seconds)
        _adopt(draft, keys)
        old = stack.enter_context(Old.of(location, config, keys)) if live else None
        staged = SqliteStore(draft, config=config, clock=lambda: now, keys=keys)
        try:
            fill_keys(staged, copy, None if old is None else old.conn)
            source, known = known_of(staged, backup, None if old is None else old.conn, erasures)
            counts = _reapply(staged, known, old, redo)
            require_keys(staged)
            sealed = encrypt_users(staged) if staged.core.vault is not None else 0
            if carries := has_files(staged, old):
                files.settle(staged, draft, sealed_now=sealed > 0)
            users = _settle(staged, old, source, counts, now=now, actor=actor, reason=reason)
            clean, _ = staged.operations().scrub(wait_seconds=config.busy_timeout_seconds)
            if not clean:
                raise UnavailableError(f"{draft}: the log of the copy cannot be emptied")
            if old is not None:
                if carries:
                    files.publish(draft)
                with staged.connection() as conn:
                    old.take(conn)
        finally:
            staged.close()
        if old is None:
            publish(draft, location)
    return Restored(source=source, users=users, counts=dict(counts))


def _key_of(backup: Path, live: Path | None, key_file: Path | None) -> tuple[bytes, Path | None]:
    """(content of the key file of the restored store, the key file of the backups when there is one)."""
    theirs = load_key(backup, read_only=True)
    name = _name_of(theirs)
    copy = key_file or copy_path(backup.parent, name)
    if live is not None:
        ours = load_key(live, read_only=True)
        if _name_of(ours) != name:
            raise ConflictError(f"{live} holds another store than the backup is of; restore to a new directory")
        if is_sealed(theirs) and not is_sealed(ours):
            raise ConflictError(f"{live} is not encrypted, the backup is: run `ltm encrypt` on the store first")
        return ours, copy if copy.exists() else None
    return (sealed_copy(copy, name), copy) if is_sealed(theirs) else (theirs, None)


def _name_of(key: bytes) -> str:
    return sealed_name(key)[0] if is_sealed(key) else StoreKeys(key, {}).name


def _adopt(draft: Path, keys: KeyProvider | None) -> None:
    """The copy says that new data keys are wrapped as in its key file, which may be newer than itself."""
    held = load_keys(draft, read_only=True, provider=keys)
    if not held.encrypted:
        return
    with closing(sqlite3.connect(draft / DATABASE)) as conn:
        if "encryption" in {c[1] for c in conn.execute("PRAGMA table_info(state)")}:
            conn.execute("UPDATE state SET encryption = ? WHERE encryption <> ''", (list(held.wrapping)[-1],))
            conn.commit()


# the copy ---------------------------------------------------------------------------------------------
def _reapply(staged: SqliteStore, known: Known, old: Old | None, redo: Redo) -> Counter[str]:
    done: Counter[str] = Counter()
    operations = staged.operations()
    last: str | None = None
    while users := operations.users(after=last, limit=_PAGE):
        for user_id in users:
            news = _news(staged, known, staged.mac(user_id))
            if news is None:
                continue
            with staged.write(user_id) as writer:
                done += redo(writer, news, staged, None if old is None else old.reader(user_id), staged.directory)
        last = users[-1]
    _remember(staged, known)
    return done


def _news(staged: SqliteStore, known: Known, user: str) -> News | None:
    """What is known and the copy does not know; None when there is nothing."""
    mac = bytes.fromhex(user)
    with staged.connection() as conn:
        row = conn.execute("SELECT erased_before FROM erasures WHERE user_mac = ?", (mac,)).fetchone()
        had = {
            (kind, m.hex()): at
            for kind, m, at in conn.execute("SELECT kind, mac, at FROM tombstones WHERE user_mac = ?", (mac,))
        }
        places = set(conn.execute("SELECT session, at, sequence FROM ghosts WHERE user_mac = ?", (mac,)).fetchall())
    before = known.erasures.get(user, (None, 0, None))[0]
    news = News(everything=before is not None and (row is None or row[0] is None or row[0] < before))
    for (kind, value), at in known.tombstones.get(user, {}).items():
        if had.get((kind, value), at - 1) < at:
            news.macs.setdefault(kind, set()).add(value)
    for session, at, sequence, _, _, said in known.ghosts.get(user, ()):
        if (session, at, sequence) not in places:
            news.deleted[session, from_us(at), sequence] = bytes.fromhex(said)
    return news if news.everything or news.macs or news.deleted else None


def _remember(staged: SqliteStore, known: Known) -> None:
    """The copy refuses what the other refused."""
    with staged.connection(write=True) as conn:
        conn.executemany(
            "INSERT INTO tombstones (user_mac, kind, mac, at) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (user_mac, kind, mac) DO UPDATE SET at = max(at, excluded.at)",
            (
                (bytes.fromhex(user), kind, bytes.fromhex(mac), at)
                for user, entries in known.tombstones.items()
                for (kind, mac), at in entries.items()
            ),
        )
        conn.executemany(
            "INSERT INTO ghosts (user_mac, session, at, sequence, role, caller_id, content_mac) "
            "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (
                (bytes.fromhex(user), *g[:5], bytes.fromhex(g[5]))
                for user, ghosts in known.ghosts.items()
                for g in ghosts
            ),
        )
        conn.executemany(
            # One argument of max() that is NULL would make the result NULL.
            "INSERT INTO erasures (user_mac, erased_before, count, last_at) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (user_mac) DO UPDATE SET count = max(count, excluded.count), "
            "erased_before = coalesce(max(erased_before, excluded.erased_before), erased_before, "
            "excluded.erased_before), last_at = coalesce(max(last_at, excluded.last_at), last_at, excluded.last_at)",
            ((bytes.fromhex(user), *values) for user, values in known.erasures.items()),
        )


def _settle(
    staged: SqliteStore,
    old: Old | None,
    source: Source,
    counts: Mapping[str, int],
    *,
    now: datetime,
    actor: str | None,
    reason: str | None,
) -> int:
    """No number of the store that gives way is used again, its log of who did what goes on, and no cache can take
    the new rows for the old ones. Returns the number of users."""
    floor = 0
    with staged.connection(write=True) as conn:
        if old is not None:
            floor = _highest(old.conn)
            _carry_on(old.conn, conn)
        floor = max(floor, _highest(conn)) + 1
        conn.execute("UPDATE users SET revision = ?, shrunk_at = ?, reset_at = ?", (floor, floor, floor))
        conn.execute("UPDATE erasures SET revision = max(revision, ?)", (floor,))
        # An external index knows another state: it is made again.
        conn.execute("DELETE FROM external_vectors")
        conn.execute("DELETE FROM outbox")
        body = audit_body(actor=actor, target=source, counts=counts, reason=reason)
        conn.execute(
            "INSERT INTO audit (user_no, user_mac, at, action, body) VALUES (NULL, x'', ?, 'restore', ?)",
            (to_us(now), staged.core.codec(conn, None).encode(body, ("audit", to_us(now)))),
        )
        return int(conn.execute("SELECT count(*) FROM users").fetchone()[0])


def _highest(conn: sqlite3.Connection) -> int:
    found = conn.execute(
        "SELECT max(ifnull((SELECT max(revision) FROM users), 0), ifnull((SELECT max(revision) FROM erasures), 0))"
    ).fetchone()
    return int(found[0])


def _carry_on(old: sqlite3.Connection, new: sqlite3.Connection) -> None:
    for receipt in old.execute("SELECT * FROM receipts"):
        new.execute(f"INSERT INTO receipts VALUES ({','.join('?' * len(receipt))}) ON CONFLICT DO NOTHING", receipt)
    (known,) = new.execute("SELECT ifnull(max(id), 0) FROM audit").fetchone()
    users = dict(new.execute("SELECT user_no, user_id FROM users").fetchall())
    rows = old.execute(
        "SELECT a.id, a.user_no, a.user_mac, a.at, a.action, a.body, u.user_id FROM audit a "
        "LEFT JOIN users u ON u.user_no = a.user_no WHERE a.id > ? ORDER BY a.id",
        (known,),
    )
    for *row, user_id in rows:
        # A user who came after the backup is not in it, and such rows go with their user.
        if row[1] is None or users.get(row[1]) == user_id:
            new.execute("INSERT INTO audit (id, user_no, user_mac, at, action, body) VALUES (?, ?, ?, ?, ?, ?)", row)
    for row in old.execute("SELECT kind, status, run_after, attempts, body FROM jobs WHERE kind = ?", (LIST_JOB,)):
        new.execute("INSERT INTO jobs (kind, status, run_after, attempts, body) VALUES (?, ?, ?, ?, ?)", row)
    for name, value in old.execute("SELECT name, value FROM meta"):
        new.execute("INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING", (name, value))
    for table in _NUMBERED:
        row = old.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
        if row is None:
            continue
        if not new.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (row[0], table)).rowcount:
            new.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, row[0]))


__all__ = ["Restored", "restore"]
