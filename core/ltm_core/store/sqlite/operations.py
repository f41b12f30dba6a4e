"""What SQLite does with its files: emptying the log, finding bytes, checking, copying."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ltm_core.errors import BusyError
from ltm_core.store.needles import variants
from ltm_core.store.rows import Copied
from ltm_core.store.sql.lists import KEY_JOB, LIST_JOB
from ltm_core.store.sql.operations import SqlOperations
from ltm_core.store.sql.tables import BODIES
from ltm_core.store.sqlite.backup import back_up, keep_list, sweep, write_lists
from ltm_core.store.sqlite.files import sizes
from ltm_core.store.sqlite.key_copies import destroy_copies
from ltm_core.store.sqlite.migrations import SCHEMA_VERSION
from ltm_core.store.sqlite.scrub import held, scan

if TYPE_CHECKING:
    from ltm_core.store.sqlite.store import SqliteStore

_CHECKPOINT_TRY_MS = 50
"""Writers wait at most about this long for one try at truncating the log."""
_CHECKPOINT_PAUSE = 0.02
_SAID = (
    *(f"SELECT {column} FROM {table}" for table, column in BODIES),
    # A word may also be the name of a table or column of ours.
    "SELECT CAST(sql AS BLOB) FROM sqlite_master",
)
"""Where words stand by right."""
_OWN = (
    "SELECT body FROM jobs",
    "SELECT body FROM audit WHERE user_no IS NULL",
    "SELECT CAST(value AS BLOB) FROM meta",
    "SELECT CAST(identity AS BLOB) FROM embedders",
)
"""What the store writes of itself, where no word of a user may stand."""


class SqliteOperations(SqlOperations):
    """Across users, on one SQLite file."""

    _store: SqliteStore

    @property
    def erases_at_once(self) -> bool:
        return True

    # bytes --------------------------------------------------------------------------------------------
    def scrub(self, *, needles: Sequence[bytes] = (), wait_seconds: float) -> tuple[bool, int]:
        self.erase_external()
        # A restore that was killed left a copy of the store beside it.
        sweep(self._store.directory)
        truncated = self._truncate(time.monotonic() + wait_seconds)
        if not any(needles):
            return truncated, 0
        left, files = self._left(needles)
        if left and truncated:
            # A row that moved may leave a copy in the unused part of a page, which secure_delete does not reach.
            truncated = self._rebuild() and self._truncate(time.monotonic() + wait_seconds)
            left, files = self._left(needles)
        return truncated and not left, files

    def _left(self, needles: Sequence[bytes]) -> tuple[set[bytes], int]:
        """(the needles that some file holds though no user's row says them, files read)."""
        forms = {form: needle for needle in needles for form in variants([needle])}
        found, files = scan(self._store.directory, tuple(forms))
        with self._store.connection() as conn:
            found |= held(conn, _OWN, needles)
            # What another row still says is there by right; it proves nothing about the erased one.
            found -= held(conn, _SAID, found)
        return {forms[f] for f in found}, files

    def _rebuild(self) -> bool:
        """Whether every page was written anew, without anything between its rows."""
        try:
            with self._store.exclusive(self._store.busy_ms / 1000) as conn:
                conn.execute("VACUUM")
        except BusyError:
            return False
        return True

    def _truncate(self, deadline: float) -> bool:
        """Whether the log is empty now; readers and writers are waited for until the deadline."""
        while True:
            left = deadline - time.monotonic()
            try:
                with self._store.exclusive(max(left, 0.0)) as conn:
                    # Short tries, so that writers do not stand behind one slow reader.
                    conn.execute(f"PRAGMA busy_timeout = {_CHECKPOINT_TRY_MS}")
                    try:
                        busy = conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
                    finally:
                        conn.execute(f"PRAGMA busy_timeout = {self._store.busy_ms}")
            except BusyError:
                busy = 1
            if not busy:
                return True
            if time.monotonic() >= deadline:
                return False
            time.sleep(_CHECKPOINT_PAUSE)

    def check_file(self) -> list[str]:
        with self._store.connection() as conn:
            found = [r[0] for r in conn.execute("PRAGMA integrity_check(20)").fetchall()]
            return [] if found == ["ok"] else found

    # backups ------------------------------------------------------------------------------------------
    def back_up(self, directory: Path, *, archive: bool = True) -> Copied:
        keep_list(self._store, directory.absolute().parent)
        return back_up(self._store, directory, archive=archive)

    def list_erasures(self, *, now: datetime, limit: int = 1000) -> int:
        jobs = self.due_jobs(now=now, kinds=(LIST_JOB,), limit=limit)
        keys = self.due_jobs(now=now, kinds=(KEY_JOB,), limit=limit)
        destroy_copies(self._store, keys, now=now)
        return write_lists(self._store, jobs, now=now)

    # size ---------------------------------------------------------------------------------------------
    def bytes_on_disk(self) -> int:
        return sizes(self._store.directory)

    @property
    def schema_version(self) -> int:
        return SCHEMA_VERSION
