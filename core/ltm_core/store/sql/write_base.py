"""What every change needs: the user's row, the counter, the marks that raise the revision."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from ltm_core.errors import MasterKeyError, UnavailableError
from ltm_core.store.base import UserState
from ltm_core.store.sql.base import Core
from ltm_core.store.sql.codec import Codec
from ltm_core.store.sql.engine import Connection
from ltm_core.store.sql.layout import MAX_ITEM, MAX_USER
from ltm_core.store.sql.reader import SqlReader
from ltm_core.store.times import to_us
from ltm_core.types import FactChange


class WriteBase(SqlReader):
    """A reader that owns the write transaction of its connection."""

    def __init__(self, core: Core, conn: Connection, user_id: str) -> None:
        super().__init__(core, conn, user_id)
        self._changed = False
        self._shrunk = False
        self._first_new = self.next_n
        """Items from this number on were made by this transaction, unless the user is another one since."""
        self._now: datetime | None = None
        self.logged: list[FactChange] = []

    def ensure_user(self, *, now: datetime, timezone: str | None = None) -> UserState:
        self._now = now
        if not self.no:
            mac = self._keyed.mac(self._user_id)
            row = self._one("SELECT revision FROM erasures WHERE user_mac = ?", (mac,))
            user_no = self._insert_user(
                (self._core.stored_name(self._user_id), timezone, to_us(now), row[0] if row else 0)
            )
            if user_no > MAX_USER:
                raise UnavailableError(f"{self._core.path} has had {MAX_USER} users, the most one store can number")
            self._give_key(user_no, to_us(now))
            self._load()
            self._changed = True
        elif timezone is not None and timezone != self._timezone:
            self.set_user(timezone=timezone)
        state = self.user()
        assert state is not None
        return state

    def _insert_user(self, values: tuple[Any, ...]) -> int:
        """The number of the new user; values of user_id, timezone, created_at, revision."""
        row = self._one(
            "INSERT INTO users (user_id, timezone, created_at, revision) VALUES (?, ?, ?, ?) RETURNING user_no",
            values,
        )
        assert row is not None
        return int(row[0])

    def _give_key(self, user_no: int, moment: int) -> None:
        vault = self._core.vault
        if vault is None:
            return
        if vault.present != self.encryption:
            # A key wrapped as before would be unreadable once the change of keys is through.
            raise MasterKeyError(f"{self._core.path}: the keys were changed while it was open: open it again")
        self._conn.execute(
            "INSERT INTO user_keys (user_no, master, wrapped, created_at) VALUES (?, ?, ?, ?)",
            (user_no, vault.present, vault.new_key(), moment),
        )

    def set_user(
        self,
        *,
        timezone: str | None = None,
        paused_at: datetime | Literal["keep"] | None = "keep",
        retention: str | None = None,
    ) -> None:
        self._require()
        if retention is not None:
            self._retention = retention or None
        if timezone is not None:
            self._timezone = timezone
        if paused_at != "keep":
            self._paused_at = to_us(paused_at)
        self._conn.execute(
            "UPDATE users SET timezone = ?, paused_at = ?, retention = ? WHERE user_no = ?",
            (self._timezone, self._paused_at, self._retention, self.no),
        )
        self._changed = True

    @property
    def has_changed(self) -> bool:  # type: ignore[override]
        return self._changed

    @property
    def has_removed(self) -> bool:
        """Whether something that could be found is gone, or stands there in other words."""
        return self._shrunk

    def finish(self) -> None:
        """The user's row shows the changes of this transaction; called once, before the commit."""
        if not self._changed or not self.no:
            return
        self.revision += 1
        if self._shrunk:
            self.shrunk_at = self.revision
        if self.index_reset:
            self.reset_at = self.revision
        self._conn.execute(
            "UPDATE users SET revision = ?, shrunk_at = ?, reset_at = ?, next_n = ?, "
            "chunk_count = ?, term_total = ? WHERE user_no = ?",
            (
                self.revision,
                self.shrunk_at,
                self.reset_at,
                self.next_n,
                self._chunk_count,
                self._term_total,
                self.no,
            ),
        )

    def _require(self) -> int:
        """The user's number; the user is created when there is none yet."""
        if not self.no:
            self.ensure_user(now=self._now or self._core.clock())
        return self.no

    def _next(self) -> int:
        """The row id of a new item."""
        self._require()
        n = self.next_n
        if n > MAX_ITEM:
            raise UnavailableError(f"a user has had {MAX_ITEM} items, the most one user can number")
        self.next_n = n + 1
        self._changed = True
        return self.low + n

    def _require_codec(self) -> Codec:
        self._require()
        return self._codec

    def _moment(self, now: datetime | None = None) -> datetime:
        return now or self._now or self._core.clock()
