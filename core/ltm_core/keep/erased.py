"""Whether a row of a file, or of a backup, is something that was erased since."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ltm_core.write.incoming.forgotten import PHRASE_WORDS, holds_forgotten
from ltm_core.write.incoming.statuses import DOCUMENT, DOCUMENT_TEXT, content_key, document_key, is_refused

if TYPE_CHECKING:
    from ltm_core.store.base import DocumentRow, MessageRow, Reader, SlotRow
    from ltm_core.store.rows import FactRow, SessionRow, SummaryRow
    from ltm_core.types import FactChange


class Erased:
    """What one user erased, asked row by row. A row counts as said when it was recorded, or at its own date when
    that is earlier; what was said after the erasure is a new statement."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._phrases = _Phrases(reader)
        self._any = reader.erasures()[0] > 0
        self._before = reader.erased_before()

    def message(self, row: MessageRow) -> bool:
        """By the watermark, its session, its id, its words, or a phrase in them that was to be forgotten."""
        if not self._any:
            return False
        reader, said = self._reader, min(row.at, row.recorded_at)
        if self._gone(said, row.session_id):
            return True
        if row.has_caller_id and is_refused(reader, row.session_id, row.id):
            return True
        mac = row.content_mac or reader.content_mac(row.content)
        if self._since(said)(reader.is_tombstoned("content", content_key(mac))):
            return True
        return self._holds([row.content, row.name or "", *texts_in(row.metadata)], said)

    def fact(self, row: FactRow) -> bool:
        """By the watermark, its session, its id, or a forgotten phrase in what it says."""
        if not self._any:
            return False
        fact = row.fact
        said = min(fact.recorded_at, fact.last_seen_at)
        if self._gone(said, fact.session_id) or self._reader.is_tombstoned("fact", fact.id):
            return True
        return self._holds([fact.object, fact.text, *fact.tags, *texts_in(fact.metadata)], said)

    def session(self, row: SessionRow) -> bool:
        """By the watermark or its id, unless something was said in it since."""
        return self._any and self._gone(row.session.last_at, row.session.id)

    def slot(self, session_id: str, slot: SlotRow) -> bool:
        """By the watermark, its session, or a forgotten phrase."""
        if not self._any:
            return False
        said = slot.set_at
        return self._gone(said, session_id) or self._holds([slot.name, *texts_in(slot.value)], said)

    def document(self, row: DocumentRow) -> bool:
        """By the watermark, its place, a text of it that was overwritten, or a forgotten phrase."""
        if not self._any:
            return False
        told = self._since(row.updated_at)
        gone, texts = self._reader.is_tombstoned, texts_in(row.value)
        return (
            self._gone(row.updated_at, None)
            or told(gone(DOCUMENT, document_key(row.namespace, row.key)))
            or any(told(gone(DOCUMENT_TEXT, t)) for t in texts if t)
            or self._holds([row.key, *texts], row.updated_at)
        )

    def summary(self, row: SummaryRow) -> bool:
        """By the watermark, or a forgotten phrase in what it says; its turns are asked by themselves."""
        if not self._any:
            return False
        said = min(row.said_at, row.recorded_at)
        return self._gone(said, None) or self._holds([row.text, row.topic], said)

    def change(self, change: FactChange) -> bool:
        """By the watermark, or because its fact was forgotten."""
        if not self._any:
            return False
        return self._gone(change.at, None) or bool(self._reader.is_tombstoned("fact", change.fact.id))

    def user(self, created_at: datetime) -> bool:
        """Whether the user's settings are from before everything was erased."""
        return self._any and self._gone(created_at, None)

    def _gone(self, said: datetime, session_id: str | None) -> bool:
        limits = [self._before]
        if session_id is not None:
            limits.append(self._reader.is_tombstoned("session", session_id))
        return any(t is not None and said <= t for t in limits)

    def _since(self, said: datetime) -> Callable[[datetime | None], bool]:
        return lambda erased: erased is not None and said <= erased

    def _holds(self, texts: Iterable[str], said: datetime) -> bool:
        return any(holds_forgotten(self._phrases, t, self._since(said)) for t in texts if t)


class _Phrases:
    """The reader's tombstones; how long phrases are is asked once, not for every text."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._lengths: dict[str, datetime | None] = {}

    def is_tombstoned(self, kind: str, value: str) -> datetime | None:
        if kind != PHRASE_WORDS:
            return self._reader.is_tombstoned(kind, value)
        if value not in self._lengths:
            self._lengths[value] = self._reader.is_tombstoned(kind, value)
        return self._lengths[value]


def texts_in(value: Any) -> list[str]:
    """All texts of JSON data, keys among them."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [t for k, v in value.items() for t in (str(k), *texts_in(v))]
    if isinstance(value, Sequence):
        return [t for v in value for t in texts_in(v)]
    return []
