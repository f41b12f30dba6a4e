"""A whole store into another place: everybody's rows and files, what outlives users, and a proof that all is there.

The rows go over as they lie (`ltm_core.store.sql.carrying`). A user is one transaction of the target, in which it is
also written down, so that a copy that was stopped goes on behind the last whole user. At the end one moment of the
source decides: who changed since is carried again, who was erased is gone.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ltm_core.errors import ConflictError, UnavailableError
from ltm_core.keep.audit import note
from ltm_core.store.sql.carrying import COPIED, COPY, Carrier
from ltm_core.types import CopyReport

if TYPE_CHECKING:
    from ltm_core.keep.copy_files import CopiedFiles
    from ltm_core.store.base import Store
    from ltm_core.store.sql.engine import Connection
    from ltm_core.store.sql.store import SqlStore

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done for the target to hold the users of the source, by their numbers."""

    drop: tuple[int, ...]
    """Whom the source has no more, or no longer as they were carried."""
    carry: tuple[int, ...]


def plan(source: Mapping[int, int], target: Mapping[int, int]) -> Plan:
    """From the revision of each user, by number. Who is in the target at the source's revision is done."""
    return Plan(
        drop=tuple(no for no, revision in target.items() if source.get(no) != revision),
        carry=tuple(no for no, revision in source.items() if target.get(no) != revision),
    )


def refuse_half(store: Store) -> None:
    """UnavailableError for a copy that is not whole yet."""
    value = store.operations().setting(COPY)
    if value is not None and not json.loads(value)["whole"]:
        raise UnavailableError(
            f"{store.location} is half a copy: run ltm copy again, it goes on where it was stopped"
        )


class Copying:
    """One run of a copy from ``source`` to ``target``."""

    def __init__(self, source: SqlStore, target: SqlStore, files: CopiedFiles, progress: Progress | None) -> None:
        self._source, self._target, self._files = source, target, files
        self._tell = progress or (lambda done, total: None)
        self._carried = self._dropped = self._rows = 0

    def run(self, *, now: Callable[[], datetime]) -> CopyReport:
        """The target is the source, or the report says in what it is not. ConflictError before anything is written
        when it holds something else."""
        started = time.perf_counter()
        # Nobody keeps an external index of a store that is not whole, so its lock keeps a second run away.
        with closing(self._target.index_lock()) as alone:
            alone.acquire(0)
            try:
                differences = self._run(now)
            finally:
                alone.release()
        with self._target.connection() as here:
            users = len(_revisions(here))
        return CopyReport(
            source=self._source.location,
            target=self._target.location,
            users=users,
            carried=self._carried,
            dropped=self._dropped,
            rows=self._rows,
            cold_files=self._files.copied,
            cold_files_left=self._files.left,
            differences=differences,
            seconds=time.perf_counter() - started,
        )

    def _run(self, now: Callable[[], datetime]) -> tuple[str, ...]:
        self._begin()
        self._carrier = Carrier(self._source, self._target)
        with self._source.connection() as there:
            wanted = _revisions(there)
        with self._target.connection() as here:
            first = plan(wanted, _revisions(here))
        self._drop(first.drop)
        for done, user_no in enumerate(first.carry, len(wanted) - len(first.carry) + 1):
            with self._source.connection() as there:
                self._carry(there, user_no)
            self._tell(done, len(wanted))
        store = self._at_one_moment()
        differences = self._differences(store)
        if not differences:
            self._finish(now())
        return differences

    # the beginning, and the end -----------------------------------------------------------------------
    def _begin(self) -> None:
        """The target says that it is half a copy, or an error says why it cannot become one."""
        where = self._target.location
        if self._source.name != self._target.name:
            raise ConflictError(
                f"{where} is a store of its own, with another key: name a new place, or move single users with "
                "export and import"
            )
        with self._target.connection(write=True) as here:
            row = here.execute("SELECT value FROM meta WHERE name = ?", (COPY,)).fetchone()
            state = None if row is None else json.loads(row[0])
            if state is None and (_revisions(here) or _acts(here)):
                raise ConflictError(
                    f"{where} holds data that no copy brought there: name a new place, or move single users with "
                    "export and import"
                )
            if state is not None and state["whole"] and _acts(here) != state["acts"]:
                raise ConflictError(f"{where} was used since it was copied: it is a store of its own now")
            here.execute("DELETE FROM audit WHERE user_no IS NULL")
            _keep(here, COPY, {"whole": False})

    def _finish(self, now: datetime) -> None:
        """The target is a store that may be opened."""
        note(self._target.operations(), "copy", now=now, counts={"users": self._carried, "rows": self._rows})
        with self._target.connection(write=True) as here:
            here.execute(f"DELETE FROM meta WHERE name >= '{COPIED}' AND name < '{COPIED[:-1]}!'")
            _keep(here, COPY, {"whole": True, "acts": _acts(here)})

    # users --------------------------------------------------------------------------------------------
    def _carry(self, there: Connection, user_no: int) -> None:
        """The user is in the target as of the moment of the connection, and written down there."""
        row = there.execute("SELECT user_id FROM users WHERE user_no = ?", (user_no,)).fetchone()
        if row is None:
            return
        self._files.carry(self._source.core.user_id(row[0]))
        with self._target.connection(write=True) as here:
            digest = self._carrier.carry_user(there, here, user_no)
            _keep(here, f"{COPIED}{user_no}", str(digest))
        self._carried += 1

    def _drop(self, numbers: tuple[int, ...]) -> None:
        for user_no in numbers:
            with self._target.connection(write=True) as here:
                self._carrier.drop_user(here, user_no)
                here.execute("DELETE FROM meta WHERE name = ?", (f"{COPIED}{user_no}",))
            self._dropped += 1

    def _at_one_moment(self) -> str:
        """The target is the source as of one moment; what was carried of what is no user's."""
        with self._source.connection() as there:
            with self._target.connection() as here:
                last = plan(_revisions(there), _revisions(here))
            self._drop(last.drop)
            for user_no in last.carry:
                self._carry(there, user_no)
            with self._target.connection(write=True) as here:
                return str(self._carrier.carry_store(there, here))

    def _differences(self, store: str) -> tuple[str, ...]:
        """The ids of users of whom the target does not hold what was carried; "" for what is no user's."""
        with self._target.connection() as here:
            numbers = list(_revisions(here))
            found = [] if str(self._carrier.found_store(here)) == store else [""]
        for done, user_no in enumerate(numbers, 1):
            with self._target.connection() as here:
                name = f"{COPIED}{user_no}"
                noted = here.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
                digest = self._carrier.found_user(here, user_no)
                stored = here.execute("SELECT user_id FROM users WHERE user_no = ?", (user_no,)).fetchone()[0]
            user_id = self._target.core.user_id(stored)
            self._rows += digest.rows
            # Without a note the user came with an earlier run, which was proved.
            if (noted is not None and json.loads(noted[0]) != str(digest)) or self._files.missing(user_id):
                found.append(user_id)
                # The next run carries it again.
                self._drop((user_no,))
            self._tell(done, len(numbers))
        return tuple(found)


def _revisions(conn: Connection) -> dict[int, int]:
    return dict(conn.execute("SELECT user_no, revision FROM users ORDER BY user_no").fetchall())


def _acts(conn: Connection) -> int:
    """The number of the last act in the audit log: every write is one."""
    return int(conn.execute("SELECT coalesce(max(id), 0) FROM audit").fetchone()[0])


def _keep(conn: Connection, name: str, value: Any) -> None:
    conn.execute(
        "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (name, json.dumps(value)),
    )


__all__ = ["Copying", "Plan", "plan", "refuse_half"]
