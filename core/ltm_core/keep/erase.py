"""Forgetting: facts with their sources, turns, sessions, users. Each returns what went and proves it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ltm_core.documents.units import fill
from ltm_core.errors import NotFoundError
from ltm_core.keep import later
from ltm_core.keep.archive.files import clear_away
from ltm_core.keep.archive.forget import Wanted, forget_cold, forget_user_files, has_or_gets_files, named
from ltm_core.keep.archive.forget import holding as cold_holding
from ltm_core.keep.asked import delete_facts
from ltm_core.keep.audit import note
from ltm_core.keep.consolidate.retire import bring_back
from ltm_core.keep.documents import holding
from ltm_core.keep.matching import facts_named, turns_with
from ltm_core.keep.proof import READ, needles_of, owe, pay, prove
from ltm_core.keep.redaction import patterns_of
from ltm_core.keep.sources import (
    NOTHING,
    Sources,
    Trace,
    clean_facts,
    forget_turns,
    never_again,
    overwrite_sources,
    phrases_of,
    trace,
)
from ltm_core.store.lookup import facts_by_item
from ltm_core.text.normalize import fold
from ltm_core.types import Fact, ForgetPreview, Receipt, Scope
from ltm_core.write.incoming.index import day_of, meaning_of, summary_units

if TYPE_CHECKING:
    from ltm_core.config import Config
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import MessageRow, OwnerKind, Reader, Writer


_AT_ONCE = 1000
"""Units that get their vectors at once after an erasure; `maintain` sees to the rest."""


def settle(runtime: Runtime, user_id: str) -> None:
    """After words were overwritten in the chat: the rest is indexed again and the freed bytes are gone, or
    ``maintain`` sees to it."""
    fill_vectors(runtime, user_id)
    fill(runtime, user_id, limit=_AT_ONCE)
    pay(runtime, wait_seconds=runtime.config.erase_wait_seconds)


def forget(runtime: Runtime, user_id: str, memory_id: str, *, sources: Sources, actor: str | None) -> Receipt:
    """A fact (every version with the same value) or a turn is gone, with its sources."""

    cold: list[int] = []

    def find(reader: Reader) -> _Found:
        if cold:  # what files held went first, and is not found any more
            return _Found()
        fact = reader.fact(memory_id)
        if fact is not None:
            facts = _versions(reader, fact)
            return _Found(facts=facts, traced=trace(reader, phrases_of(facts) if sources != "keep" else ()))
        row = reader.message(memory_id)
        if row is None:
            cold.extend(t.item for t in reader.cold_turns(ids=[memory_id]))
            if cold:
                return _Found(cold=cold)
        if row is None:
            raise NotFoundError(f"no fact or message {memory_id[:80]!r} for this user")
        return _Found(rows=[row])

    return _forget(runtime, user_id, find, what="memory", sources=sources, actor=actor)


def forget_matching(
    runtime: Runtime, user_id: str, text: str, *, dry_run: bool, sources: Sources, actor: str | None
) -> Receipt | ForgetPreview:
    """Facts that hold ``text`` are gone, and the words wherever they stand; with ``dry_run`` they are only
    listed."""

    def find(reader: Reader) -> _Found:
        facts = facts_named(reader.facts(), text)
        return _Found(facts=facts, traced=trace(reader, (text.strip(), *phrases_of(facts))))

    if dry_run:
        with runtime.store.read(user_id) as reader:
            found = find(reader)
            items = sorted(found.traced.items)
            rows = turns_with(reader.messages(items=items) if items else [], text)
            cold = cold_holding(runtime, reader, found.traced.phrases) if reader.cold_files() else []
            documents = tuple((d.namespace, d.key) for d in holding(reader, patterns_of(found.traced.phrases)))
        ids = {m.id for m in rows} | set(cold) | {e.message_id for f in found.facts for e in f.evidence}
        return ForgetPreview(facts=tuple(found.facts), messages=tuple(sorted(ids)), documents=documents)
    return _forget(runtime, user_id, find, what="matching", sources=sources, actor=actor)


def forget_session(runtime: Runtime, user_id: str, session_id: str, *, actor: str | None) -> Receipt:
    """Nothing of the session is left: its turns, its slots, its row, and the facts that only it supported.
    What was said in it before, or was on its way, is refused when it comes."""

    def find(reader: Reader) -> _Found:
        if reader.session(session_id) is None:
            raise NotFoundError(f"no session {session_id[:80]!r} for this user")
        return _Found(rows=reader.messages(session_id=session_id))

    return _forget(runtime, user_id, find, what="session", sources="delete", actor=actor, session_id=session_id)


def forget_messages(runtime: Runtime, scope: Scope, ids: Sequence[str], *, actor: str | None) -> int:
    """These turns of the session are gone, with the facts that only they supported; unknown ids are ignored."""
    with runtime.store.read(scope.user_id) as reader:
        if not ids:
            return 0
        cold = reader.cold_turns(session_id=scope.session_id, ids=ids)
        if not cold and not reader.messages(session_id=scope.session_id, ids=ids):
            return 0

    def find(reader: Reader) -> _Found:
        return _Found(
            rows=reader.messages(session_id=scope.session_id, ids=ids),
            cold=[t.item for t in reader.cold_turns(session_id=scope.session_id, ids=ids)],
        )

    receipt = _forget(runtime, scope.user_id, find, what="messages", sources="delete", actor=actor)
    return receipt.counts.get("messages_deleted", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What is to be forgotten, as of one moment of the store."""

    facts: Sequence[Fact] = ()
    rows: Sequence[MessageRow] = ()
    traced: Trace = NOTHING
    cold: Sequence[int] = ()
    """Items of turns that files outside the store hold."""


def _versions(reader: Reader, fact: Fact) -> list[Fact]:
    """All rows that say the same: same subject, relation and value, current or past."""
    same = reader.facts(slots=[(fact.subject, fact.relation)])
    value = fold(fact.object)
    return [f for f in same if f.id == fact.id or fold(f.object) == value]


def _forget(
    runtime: Runtime,
    user_id: str,
    find: Callable[[Reader], _Found],
    *,
    what: str,
    sources: Sources,
    actor: str | None,
    session_id: str | None = None,
) -> Receipt:
    started, receipt = time.perf_counter(), runtime.new_id()
    with runtime.store.read(user_id) as reader:
        early, state = find(reader), reader.user()
        files = reader.cold_files()
    # Files first: a call that ends between them and the store is made again, as it gave no receipt.
    from_files: dict[str, int] = {}
    if files:
        from_files = _forget_cold(runtime, user_id, early, sources=sources, session_id=session_id)
        with runtime.store.read(user_id) as reader:
            files = reader.cold_files()
    with runtime.store.write(user_id) as writer:
        present = writer.user()
        same = state is not None and present is not None and state.revision == present.revision
        # The long look is outside the transaction; it counts only if nothing was written since.
        found = early if same else find(writer)
        now = runtime.now()
        traced, rows = found.traced, found.rows
        counts = overwrite_sources(writer, found.facts, traced, sources=sources, config=runtime.config, now=now)
        orphans, others = supported_by(writer, rows) if rows else ([], [])
        if rows:
            counts["messages_deleted"] = counts.get("messages_deleted", 0) + forget_turns(writer, rows, now=now)
        gone = list({f.id: f for f in [*found.facts, *orphans]}.values())
        if gone:
            delete_facts(writer, gone, reason=f"forget {what}", now=now)
            counts["facts"] = len(gone)
        if sources != "keep":
            clean_facts(writer, traced)
        for name, count in from_files.items():
            counts[name] = counts.get(name, 0) + count
        if session_id is not None:
            writer.delete_session(session_id)
            writer.add_tombstones([("session", session_id)], now=now)
            unlabel(writer, others, session_id)
        bring_back(writer, config=runtime.config)
        note(writer, f"forget_{what}", now=now, actor=actor, target=receipt, counts=counts)
        moved = {f.name for f in writer.cold_files()} - {f.name for f in files}
        owe(writer, now=now, receipt=receipt)
    if moved:
        # What was moved to a file meanwhile was in neither place when it was looked for.
        _forget_cold(runtime, user_id, found, sources=sources, session_id=session_id)
    fill_vectors(runtime, user_id)
    fill(runtime, user_id, limit=_AT_ONCE)
    needles = needles_of(found.facts if sources != "keep" else (), rows, traced.phrases)
    return prove(runtime, user_id, receipt, what=what, counts=counts, needles=needles, started=started, now=now)


def _forget_cold(
    runtime: Runtime, user_id: str, found: _Found, *, sources: Sources, session_id: str | None
) -> dict[str, int]:
    def find(reader: Reader) -> Wanted:
        items = set(found.cold) | (named(reader, session_id=session_id) if session_id is not None else set())
        # No fact rests on a turn in a file: what stands there are repeats, which are overwritten.
        return Wanted(items=items, phrases=found.traced.phrases if sources != "keep" else ())

    return forget_cold(runtime, user_id, find)


def supported_by(writer: Writer, rows: Sequence[MessageRow]) -> tuple[list[Fact], list[Fact]]:
    """The facts that no turn supports when these are gone, and those that other turns support too.

    Evidence names a turn by its id, which turns of other sessions may have too: the one of the fact's own
    session is meant when it is among these.
    """
    going = {m.item for m in rows}
    here = {(m.session_id, m.id) for m in rows}
    facts = writer.facts(evidence_of=sorted({m.id for m in rows}))
    sources = sorted({i for f in facts for i in f.source_message_ids})
    left = {m.id for m in (writer.messages(ids=sources) if sources else ()) if m.item not in going}
    lost: list[Fact] = []
    kept: list[Fact] = []
    for f in facts:
        alive = any(i in left and (f.session_id, i) not in here for i in f.source_message_ids)
        (kept if alive else lost).append(f)
    return lost, kept


def unlabel(writer: Writer, facts: Sequence[Fact], session_id: str) -> None:
    """Facts that other sessions support too no longer name the forgotten one."""
    for fact in writer.facts(ids=[f.id for f in facts if f.session_id == session_id]):
        rest = writer.messages(ids=fact.source_message_ids, newest_first=True, limit=1)
        writer.update_fact(replace(fact, session_id=rest[0].session_id if rest else None))


def forget_user(runtime: Runtime, user_id: str, *, actor: str | None) -> Receipt:
    """Nothing of the user is left in any table or file; what was said before, or is on its way, is refused when
    it comes."""
    started, receipt = time.perf_counter(), runtime.new_id()
    later.drop(runtime, user_id)
    files = has_or_gets_files(runtime, user_id)
    with runtime.store.write(user_id) as writer:
        now = runtime.now()
        rows = writer.messages()
        needles = needles_of(
            writer.facts(newest_first=True, limit=READ),
            rows,
            [s.id for s in writer.sessions()],
            writer.documents(limit=READ),
        )
        needles = replace(needles, keys=(writer.sealed_key(),))
        never_again(writer, rows, now=now, neighbours=False)
        writer.add_ghosts(rows)
        writer.set_erased_before(now)
        files = files or bool(writer.cold_files())
        if files:
            forget_user_files(runtime, writer, now=now)
        counts = writer.erase_user(now=now)
        note(writer, "forget_user", now=now, actor=actor, target=receipt, counts=counts)
        owe(writer, now=now, receipt=receipt)
    if files:
        clear_away(runtime, now=now)
    return prove(runtime, user_id, receipt, what="user", counts=counts, needles=needles, started=started, now=now)


def fill_vectors(runtime: Runtime, user_id: str, *, limit: int = 1000) -> int:
    """Up to ``limit`` indexed units of the user that had no vector have one; returns how many."""
    if not runtime.has_vectors:
        return 0
    with runtime.store.write(user_id) as writer:
        waiting = writer.chunks_without_vector(limit=limit)
        texts = texts_of_chunks(writer, waiting, config=runtime.config)
    matrix = runtime.embed(list(texts.values()))
    if matrix is None:
        return 0
    with runtime.store.write(user_id) as writer:
        still = {w[0] for w in writer.chunks_without_vector(limit=limit)}
        vectors = {chunk: matrix[i] for i, chunk in enumerate(texts) if chunk in still}
        writer.set_vectors(vectors)
    return len(vectors)


def texts_of_chunks(
    reader: Reader, chunks: Sequence[tuple[int, OwnerKind, int, int, int]], *, config: Config
) -> dict[int, str]:
    """What the embedder reads of each (chunk item, owner kind, owner item, start, end); nothing of one whose owner is
    gone."""
    from ltm_core.text.chunks import embedded_text

    if not chunks:
        return {}
    turns = {m.item: m for m in reader.messages(items=[c[2] for c in chunks if c[1] == "message"])}
    facts = facts_by_item(reader, [c[2] for c in chunks if c[1] == "fact"])
    told = reader.summaries(items=[c[2] for c in chunks if c[1] == "summary"])
    summaries = {s.item: {(u.start, u.end): u.embed for u in summary_units(s, config=config)} for s in told}
    texts: dict[int, str] = {}
    for chunk, kind, owner, start, end in chunks:
        if kind == "fact" and owner in facts:
            texts[chunk] = meaning_of(facts[owner])
        elif kind == "summary" and (start, end) in summaries.get(owner, {}):
            texts[chunk] = summaries[owner][start, end]
        elif kind == "message" and owner in turns:
            row = turns[owner]
            texts[chunk] = embedded_text(row.content[start:end], at=day_of(row), speaker=row.name or row.role)
    return texts
