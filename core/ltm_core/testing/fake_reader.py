"""A `Reader` over lists, for tests and benchmarks of recall without a store."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from ltm_core.config import Config
from ltm_core.recall.currency import state
from ltm_core.store.base import (
    ACT_CODES,
    IMPORTANCE_CODES,
    OWNER_CODES,
    ROLE_CODES,
    MessageRow,
    Rows,
    SlotRow,
)
from ltm_core.store.times import to_us
from ltm_core.text.language import detect_language
from ltm_core.text.normalize import fold
from ltm_core.text.sentences import sentences
from ltm_core.types import Fact, Role, Session
from ltm_core.write.incoming.index import fact_unit, message_units

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEVER = np.iinfo(np.int64).max
Embed = Callable[[Sequence[str]], "NDArray[np.float32]"]


@dataclass(slots=True, kw_only=True)
class FakeSnapshot:
    """Rows, postings and vectors in memory."""

    rows: Rows
    index: Mapping[str, tuple[NDArray[np.int64], NDArray[np.int32]]]
    vectors: NDArray[np.float32] | None = None
    revision: int = 1

    @property
    def average_length(self) -> float:
        return float(self.rows.length.mean()) if len(self.rows.length) else 0.0

    def cosine(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        if self.vectors is None:
            return np.full(len(self.rows.item), np.nan, dtype=np.float32)
        return np.asarray(self.vectors @ query, dtype=np.float32)

    def postings(self, wanted: Sequence[str]) -> list[tuple[NDArray[np.int64], NDArray[np.int32]]]:
        nothing = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32))
        return [self.index.get(t, nothing) for t in wanted]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chunk:
    owner: int
    kind: int
    at: datetime
    session: str | None
    agent: str | None
    task: str | None
    app: str | None
    role: Role
    act: int
    importance: int
    start: int
    end: int
    terms: Mapping[str, int]
    embed: str
    expires: datetime | None


def _only_asks(content: str) -> bool:
    """A rough stand-in for the write path: short, and every sentence ends with a question mark."""
    spoken = [s.of(content).rstrip(' )）"”') for s in sentences(content)]
    return bool(spoken) and len(content) < 120 and all(s.endswith(("?", "？", "吗")) for s in spoken)


@dataclass(slots=True)
class FakeReader:
    """Grows by `say` and `know`; indexes itself at the first `snapshot` after a change."""

    user_id: str = "ana"
    embed: Embed | None = None
    config: Config = field(default_factory=Config)
    _messages: list[MessageRow] = field(default_factory=list)
    _facts: list[tuple[int, Fact]] = field(default_factory=list)
    _slots: list[tuple[str, SlotRow]] = field(default_factory=list)
    _next: int = 1
    _snapshot: FakeSnapshot | None = None

    def say(
        self, content: str, *, at: datetime, session_id: str = "s1", role: Role = "user", **more: Any
    ) -> MessageRow:
        """One more stored turn."""
        number = self._next
        self._next += 1
        more.setdefault("id", f"m{number}")
        more.setdefault("act", "question" if _only_asks(content) else "statement")
        row = MessageRow(
            item=number,
            session_id=session_id,
            sequence=number,
            role=role,
            content=content,
            at=at,
            recorded_at=at,
            language=detect_language(content),
            **more,
        )
        self._messages.append(row)
        self._snapshot = None
        return row

    def know(self, text: str, *, at: datetime, relation: str = "is", object: str = "", **more: Any) -> Fact:
        """One more stored fact."""
        number = self._next
        self._next += 1
        values: dict[str, Any] = {
            "id": f"f{number}",
            "user_id": self.user_id,
            "subject": "user",
            "object_normalized": fold(object),
            "valid_from": at,
            "recorded_at": at,
            "last_seen_at": at,
            **more,
        }
        fact = Fact(text=text, relation=relation, object=object, **values)
        self._facts.append((number, fact))
        self._snapshot = None
        return fact

    def change(self, fact: Fact, **more: Any) -> Fact:
        """The fact with other values."""
        changed = replace(fact, **more)
        self._facts = [(n, changed if f.id == fact.id else f) for n, f in self._facts]
        return changed

    def set_slot(self, session_id: str, slot: SlotRow) -> None:
        self._slots.append((session_id, slot))

    # Reader -------------------------------------------------------------------------------------------
    def label(self, value: str | None) -> int:
        if value is None:
            return 0
        return int.from_bytes(hashlib.blake2b(value.encode(), digest_size=8).digest(), "big") >> 1 or 1

    def messages(
        self,
        *,
        session_id: str | None = None,
        items: Sequence[int] | None = None,
        ids: Sequence[str] | None = None,
        roles: Sequence[Role] | None = None,
        in_window: bool | None = None,
        newest_first: bool = False,
        limit: int | None = None,
    ) -> list[MessageRow]:
        by_item = set(items) if items is not None else None
        by_id = set(ids) if ids is not None else None
        found = [
            m
            for m in self._messages
            if (session_id is None or m.session_id == session_id)
            and (by_item is None or m.item in by_item)
            and (by_id is None or m.id in by_id)
            and (roles is None or m.role in roles)
            and (in_window is None or m.in_window == in_window)
        ]
        found.sort(key=lambda m: (m.at, m.sequence), reverse=newest_first)
        return found[:limit]

    def slots(self, session_id: str, *, now: datetime) -> list[SlotRow]:
        return [s for sid, s in self._slots if sid == session_id and (s.expires_at is None or s.expires_at > now)]

    def session(self, session_id: str) -> Session | None:
        return None

    def facts(
        self,
        *,
        items: Sequence[int] | None = None,
        ids: Sequence[str] | None = None,
        subject: str | None = None,
        subjects: Sequence[str] | None = None,
        relation: str | None = None,
        slots: Sequence[tuple[str, str]] | None = None,
        objects: Sequence[str] | None = None,
        current_at: datetime | None = None,
        past_at: datetime | None = None,
        evidence_of: Sequence[str] | None = None,
        newest_first: bool = False,
        limit: int | None = None,
    ) -> list[Fact]:
        by_item = set(items) if items is not None else None
        sources = set(evidence_of) if evidence_of is not None else None
        found = [
            f
            for number, f in self._facts
            if (by_item is None or number in by_item)
            and (ids is None or f.id in ids)
            and (subject is None or f.subject == subject)
            and (subjects is None or f.subject in subjects)
            and (relation is None or f.relation == relation)
            and (slots is None or (f.subject, f.relation) in slots)
            and (objects is None or f.object_normalized in objects)
            and (current_at is None or state(f, current_at) == "current")
            and (past_at is None or state(f, past_at) != "current")
            and (sources is None or sources & set(f.source_message_ids))
        ]
        return (found[::-1] if newest_first else found)[:limit]

    def fact_vectors(self, ids: Sequence[str]) -> dict[str, Any]:
        return {}

    def fact_item(self, id: str) -> int | None:
        return next((n for n, f in self._facts if f.id == id), None)

    def predecessors(self, ids: Sequence[str]) -> dict[str, list[Fact]]:
        return {i: [f for _, f in self._facts if f.superseded_by == i] for i in ids}

    def snapshot(self) -> FakeSnapshot:
        if self._snapshot is None:
            self._snapshot = self._index()
        return self._snapshot

    def _index(self) -> FakeSnapshot:
        chunks = [c for m in self._messages for c in self._of_message(m)]
        chunks += [self._of_fact(n, f) for n, f in self._facts]
        chunks.sort(key=lambda c: (c.owner, c.start))
        postings: dict[str, tuple[list[int], list[int]]] = {}
        for i, c in enumerate(chunks):
            for term, tf in c.terms.items():
                where, counts = postings.setdefault(term, ([], []))
                where.append(i)
                counts.append(tf)
        index = {t: (np.array(w, dtype=np.int64), np.array(n, dtype=np.int32)) for t, (w, n) in postings.items()}
        vectors = self.embed([c.embed for c in chunks]) if self.embed is not None and chunks else None
        return FakeSnapshot(rows=self._rows(chunks), index=index, vectors=vectors)

    def _rows(self, chunks: Sequence[_Chunk]) -> Rows:
        def column(kind: Any, of: Callable[[_Chunk], Any]) -> NDArray[Any]:
            return np.array([of(c) for c in chunks], dtype=kind)

        return Rows(
            item=np.arange(1, len(chunks) + 1, dtype=np.int64),
            owner=column(np.int64, lambda c: c.owner),
            kind=column(np.int8, lambda c: c.kind),
            at=column(np.int64, lambda c: to_us(c.at)),
            session=column(np.int64, lambda c: self.label(c.session)),
            agent=column(np.int64, lambda c: self.label(c.agent)),
            task=column(np.int64, lambda c: self.label(c.task)),
            app=column(np.int64, lambda c: self.label(c.app)),
            role=column(np.int8, lambda c: ROLE_CODES[c.role]),
            act=column(np.int8, lambda c: c.act),
            importance=column(np.int8, lambda c: c.importance),
            start=column(np.int32, lambda c: c.start),
            end=column(np.int32, lambda c: c.end),
            length=column(np.float32, lambda c: sum(c.terms.values())),
            expires=column(np.int64, lambda c: NEVER if c.expires is None else to_us(c.expires)),
        )

    def _of_message(self, m: MessageRow) -> list[_Chunk]:
        units = message_units(
            m.content, speaker=m.name or m.role, on=m.at.date(), named=m.name is not None, config=self.config
        )
        return [
            _Chunk(
                owner=m.item,
                kind=OWNER_CODES["message"],
                at=m.at,
                session=m.session_id,
                agent=m.agent_id,
                task=m.task_id,
                app=m.app_id,
                role=m.role,
                act=ACT_CODES[m.act],
                importance=IMPORTANCE_CODES[m.importance],
                start=u.start,
                end=u.end,
                terms=u.terms,
                embed=u.embed,
                expires=m.expires_at,
            )
            for u in units
        ]

    def _of_fact(self, number: int, f: Fact) -> _Chunk:
        unit = fact_unit(f.text, extra=f.object)
        return _Chunk(
            owner=number,
            kind=OWNER_CODES["fact"],
            at=f.valid_from,
            session=f.session_id,
            agent=f.agent_id,
            task=f.task_id,
            app=f.app_id,
            role="user",
            act=ACT_CODES["statement"],
            importance=IMPORTANCE_CODES[f.importance],
            start=0,
            end=len(f.text),
            terms=unit.terms,
            embed=unit.embed,
            expires=f.expires_at,
        )


__all__ = ["FakeReader", "FakeSnapshot"]
