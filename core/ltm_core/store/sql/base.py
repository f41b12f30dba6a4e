"""What every view of one user shares: the connection, the user's row, the row ranges, the codec."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ltm_core.errors import ConflictError, CorruptError, InvalidScopeError, MasterKeyError
from ltm_core.store.base import UserState
from ltm_core.store.keyed import Keyed
from ltm_core.store.sql.codec import PLAIN_CODEC, Codec
from ltm_core.store.sql.engine import Connection
from ltm_core.store.sql.kept import Kept
from ltm_core.store.sql.layout import MAX_ITEM, row_range
from ltm_core.store.times import from_us

if TYPE_CHECKING:
    from ltm_core.store.external import VectorIndex
    from ltm_core.store.sql.snapshot import SnapshotCache
    from ltm_core.store.vault import UserSecrets, Vault

log = logging.getLogger("ltm")
USER_ROW = (
    "SELECT s.embedder, s.dimension, s.outbox, u.user_no, u.revision, u.shrunk_at, u.next_n, u.chunk_count, "
    "u.term_total, u.timezone, u.paused_at, u.created_at, u.reset_at, u.retention, u.consolidated_at, "
    "s.encryption, k.master, k.wrapped, s.generation "
    "FROM state s LEFT JOIN users u ON u.user_id = ? LEFT JOIN user_keys k ON k.user_no = u.user_no WHERE s.id = 1"
)


LISTED, MIRRORED = 1, 2
"""Bits of ``state.outbox``: who is told of vectors in the transaction that writes them, the list for an external
index, or the tables of pgvector beside them."""


class Serving:
    """Which set of vectors the embedder of this process made: a switch in another process makes it a foreign one."""

    __slots__ = ("_told", "generation")

    def __init__(self) -> None:
        self.generation: int | None = None
        """None while no embedder is in use here."""
        self._told: int | None = None

    def differs(self, generation: int) -> bool:
        """Whether the vectors of this generation are another embedder's than this process has."""
        if self.generation in (None, generation):
            return False
        if self._told != generation:
            self._told = generation
            log.warning("the store's embedder was changed while it was open: keywords only until it is opened again")
        return True


class Attached:
    """The external index of the vectors, when there is one."""

    __slots__ = ("index",)

    def __init__(self) -> None:
        self.index: VectorIndex | None = None


@dataclass(frozen=True, slots=True)
class Core:
    """What all readers and writers of one store share."""

    path: str
    keyed: Keyed
    clock: Callable[[], datetime]
    reading: Callable[[str], AbstractContextManager[Connection]]
    """A read transaction in which this user is seen."""
    snapshots: Callable[[], SnapshotCache]
    vault: Vault | None = None
    """None in a plain store."""
    name: str = ""
    """Hash that stands for the store and every copy of it."""
    names_are_bytes: bool = False
    """Whether ``users.user_id`` is a column of bytes: the text of an engine may lack a character."""
    asks_ahead: bool = False
    """Whether a statement is sent without waiting for the answers of those before it."""
    feed_lock: int = 0
    """The number of the lock that a write holds while it has numbers of the feed; 0 where there is one writer."""
    serving: Serving = field(default_factory=Serving)
    attached: Attached = field(default_factory=Attached)
    kept: Kept = field(default_factory=Kept)

    def codec(self, conn: Connection, user_no: int | None) -> Codec:
        """How the content of this user is written and read; of the store's own rows for none."""
        if self.vault is None:
            return PLAIN_CODEC
        from ltm_core.store.sql.envelopes import StoreCodec

        if not user_no:
            return StoreCodec(self.vault)
        row = conn.execute("SELECT master, wrapped FROM user_keys WHERE user_no = ?", (user_no,)).fetchone()
        return PLAIN_CODEC if row is None else self.user_codec(self.vault.user(*row))

    def user_codec(self, secrets: UserSecrets | None) -> Codec:
        """The codec of a user whose key exists, if only by name."""
        from ltm_core.store.sql.envelopes import LOST_CODEC, UserCodec

        return LOST_CODEC if secrets is None else UserCodec(secrets)

    def stored_name(self, user_id: str) -> str | bytes:
        """What ``users.user_id`` holds."""
        name = user_id if self.vault is None else self.vault.name(user_id)
        return name.encode() if self.names_are_bytes else name

    def user_id(self, stored: str | bytes) -> str:
        """The id again."""
        name = stored.decode() if isinstance(stored, bytes) else stored
        return name if self.vault is None else self.vault.user_id(name)


class _Ended:
    """Takes the place of the connection when the block has ended."""

    def execute(self, *_: object) -> Any:
        raise ConflictError("a reader or writer was used after its block ended")

    executemany = execute


def checked_user(user_id: str) -> str:
    """The id itself; InvalidScopeError when it is blank, not text, or cannot be written as UTF-8."""
    if not isinstance(user_id, str) or not user_id.strip():
        raise InvalidScopeError("user_id must be text that is not blank")
    try:
        user_id.encode()
    except UnicodeEncodeError:
        raise InvalidScopeError("user_id holds half of a surrogate pair") from None
    return user_id


class View:
    """One user at one moment of one connection. ``no`` is 0 for an unknown user, whose ranges hold nothing."""

    index_changed = False
    """True once this transaction changed chunks or vectors: its snapshot is then nobody else's."""
    index_reset = False
    """True once this transaction replaced a vector in place."""
    erased = False
    """True once this transaction erased the user."""
    has_changed = False
    """True once this transaction changed anything: what it sees is then nobody else's."""
    live = True
    """False after `end`."""

    def __init__(self, core: Core, conn: Connection, user_id: str) -> None:
        self._core = core
        self._conn = conn
        self._user_id = checked_user(user_id)
        self._load()

    def _load(self) -> None:
        core = self._core
        row = self._conn.execute(USER_ROW, (core.stored_name(self._user_id),)).fetchone()
        if row is None:
            raise CorruptError(f"{core.path}: the state row is missing")
        if row[15] and core.vault is None:
            raise MasterKeyError(f"{core.path} was encrypted while it was open: open it again with the master key")
        self.embedder: int = row[0]
        self.dimension: int = row[1]
        self._listed = bool(row[2] & LISTED)
        self.mirrored = bool(row[2] & MIRRORED)
        self.no: int = row[3] or 0
        self.revision: int = row[4] or 0
        self.shrunk_at: int = row[5] or 0
        self.next_n: int = row[6] or 1
        self._chunk_count: int = row[7] or 0
        self._term_total: int = row[8] or 0
        self._timezone: str | None = row[9]
        self._paused_at: int | None = row[10]
        self._created_at: int = row[11] or 0
        self.reset_at: int = row[12] or 0
        self.generation: int = row[18]
        self.foreign = core.serving.differs(self.generation)
        """True when the vectors are not those of this process's embedder: none is then written or compared."""
        self.low, self.high = row_range(self.no)
        self.encryption: str = row[15]
        self.wrapped: bytes = row[17] or b""
        self._secrets: UserSecrets | None = None
        self._codec: Codec = PLAIN_CODEC
        if self.wrapped and core.vault is not None:
            self._secrets = core.vault.user(row[16], self.wrapped)
            self._codec = core.user_codec(self._secrets)
        self._keyed = core.keyed if self._secrets is None else self._secrets.keyed
        self._retention: str | None = row[13]
        self._consolidated_at: int | None = row[14]
        if not self.no:
            core.kept.drop(self._user_id)

    def end(self) -> None:
        """Later calls raise ConflictError."""
        self.live = False
        self._conn = _Ended()

    @property
    def user_id(self) -> str:
        return self._user_id

    @property
    def conn(self) -> Connection:
        return self._conn

    @property
    def core(self) -> Core:
        return self._core

    def user(self) -> UserState | None:
        if not self.no:
            return None
        return UserState(
            user_id=self._user_id,
            revision=self.revision,
            timezone=self._timezone,
            paused_at=from_us(self._paused_at),
            retention=self._retention,
            consolidated_at=from_us(self._consolidated_at),
            created_at=from_us(self._created_at),
        )

    @property
    def lean(self) -> bool:
        """True when an external index covers the user, so that the vectors need not be in memory."""
        index = self._core.attached.index
        return index is not None and bool(self.no) and not self.foreign and index.covers(self)

    @property
    def chunk_count(self) -> int:
        """Chunks of the user."""
        return self._chunk_count

    @property
    def keyed(self) -> Keyed:
        """The hashes by which this user's rows are found."""
        return self._keyed

    @property
    def sealed(self) -> bool:
        """Whether the user's content is under a data key."""
        return self._secrets is not None

    def sealed_vector(self, id: int, plain: bytes) -> tuple[int, bytes]:
        """(codec, bytes to store) of the vector of a row."""
        return (0, plain) if self._secrets is None else (1, self._secrets.seal_vector(id, plain))

    def opened_vector(self, id: int, codec: int, stored: bytes) -> bytes:
        """The float16 values of the vector of a row; empty, with a warning, when it was changed or is another
        row's: that one is then missing, and `doctor` makes it again."""
        if codec == 0 and self._secrets is None:
            return stored
        plain = None if self._secrets is None else self._secrets.open_vector(id, stored)
        if plain is None:
            log.warning("the vector of item %d cannot be opened: ltm doctor --repair makes it again", id & MAX_ITEM)
            return b""
        return plain

    def label(self, value: str | None) -> int:
        return self._keyed.label(value)

    def row_ids(self, items: Iterable[int]) -> list[int]:
        """The row ids of these items, each once; what no item of this user can be has none."""
        return [self.low + i for i in dict.fromkeys(items) if 0 < i <= MAX_ITEM]

    def _rows(self, sql: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        return self._conn.execute(sql, values).fetchall()

    def all(self, statements: Sequence[tuple[str, tuple[Any, ...]]]) -> list[list[tuple[Any, ...]]]:
        """The rows of each statement; where that saves waiting, all are sent before the first answer is read."""
        if not self._core.asks_ahead:
            return [self._rows(sql, values) for sql, values in statements]
        sent = [self._conn.execute(sql, values) for sql, values in statements]
        return [answer.fetchall() for answer in sent]

    def _one(self, sql: str, values: tuple[Any, ...]) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._conn.execute(sql, values).fetchone()
        return row
