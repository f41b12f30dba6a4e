"""Forgetting: facts with their sources, turns, sessions, users. Each returns what went and proves it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ltm_core.errors import ErasurePendingError, NotFoundError
from ltm_core.keep.matching import facts_named, turns_with
from ltm_core.keep.sources import (
    Sources,
    Trace,
    forget_turns,
    never_again,
    overwrite_sources,
    phrases_of,
    trace,
)
from ltm_core.store.base import Job
from ltm_core.text.normalize import fold
from ltm_core.types import Fact, FactChange, ForgetPreview, Receipt, Scope

if TYPE_CHECKING:
    from ltm_core.config import Config
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import MessageRow, Reader, Writer
    from ltm_core.write.plan import ForgetRequest

SCRUB_JOB = "scrub"
_NEEDLES = 24
"""Strings looked for in the files after an erasure; each costs one pass over them."""
_NEEDLE_CHARACTERS = 60
_SHORTEST_NEEDLE = 12
"""Bytes: shorter strings stand in any file by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What one request of the user names, found before the transaction."""

    request: ForgetRequest
    facts: tuple[Fact, ...]
    traced: Trace


def targets_of(reader: Reader, requests: Iterable[ForgetRequest]) -> tuple[Target, ...]:
    """What the requests name, in this moment of the store."""
    found = []
    for request in requests:
        facts = tuple(facts_named(reader.facts(), request.target, relations=request.relations))
        phrases = phrases_of(facts) if facts else ()
        found.append(Target(request=request, facts=facts, traced=trace(reader, phrases)))
    return tuple(found)


def fulfil_requests(
    writer: Writer, targets: Iterable[Target], *, config: Config, now: datetime
) -> tuple[FactChange, ...]:
    """What the user asked in the chat to be forgotten is gone with its sources; what is not to be brought up
    again is suppressed. Nothing else changes."""
    changes = []
    for target in targets:
        present = [f for f in (writer.fact(f.id) for f in target.facts) if f is not None]
        if target.request.mode == "suppress":
            for fact in present:
                if fact.suppressed_at is None:
                    quiet = replace(fact, suppressed_at=now, is_current=False)
                    writer.update_fact(quiet)
                    changes.append(
                        writer.log_change(
                            FactChange(
                                op="suppress", fact=quiet, previous=fact, reason="asked in the chat", at=now
                            )
                        )
                    )
            continue
        overwrite_sources(writer, present, target.traced, sources="redact", config=config, now=now)
        changes += _delete_facts(writer, present, reason="asked in the chat", now=now)
    return tuple(changes)


def settle(runtime: Runtime, user_id: str) -> None:
    """After words were overwritten in the chat: the rest is indexed again and the freed bytes are gone, or
    ``maintain`` sees to it."""
    fill_vectors(runtime, user_id)
    operations = runtime.store.operations()
    clean, _ = operations.scrub(wait_seconds=runtime.config.erase_wait_seconds)
    if not clean:
        operations.add_job(Job(kind=SCRUB_JOB, run_after=runtime.now()))


def _delete_facts(writer: Writer, facts: Sequence[Fact], *, reason: str, now: datetime) -> list[FactChange]:
    """The rows are gone; the feed says that something went, not what."""
    writer.delete_facts([f.id for f in facts])
    return [writer.log_change(FactChange(op="erase", fact=blanked(f), reason=reason, at=now)) for f in facts]


def blanked(fact: Fact) -> Fact:
    """The fact without anything it said."""
    return replace(
        fact,
        subject="",
        relation="",
        object="",
        object_normalized="",
        text="",
        speaker=None,
        evidence=(),
        source_message_ids=(),
        tags=(),
        metadata={},
        is_current=False,
    )


def forget(runtime: Runtime, user_id: str, memory_id: str, *, sources: Sources, actor: str | None) -> Receipt:
    """A fact (every version with the same value) or a turn is gone, with its sources."""
    with runtime.store.read(user_id) as reader:
        fact = reader.fact(memory_id)
        if fact is not None:
            facts = _versions(reader, fact)
            traced = trace(reader, phrases_of(facts))
            rows: list[MessageRow] = []
        else:
            rows = [m for m in (reader.message(memory_id),) if m is not None]
            if not rows:
                raise NotFoundError(f"no fact or message {memory_id[:80]!r} for this user")
            facts, traced = [], Trace(phrases=(), items=frozenset(), seen_to=0)
    return _forget(runtime, user_id, facts, rows, traced, what="memory", sources=sources, actor=actor)


def forget_matching(
    runtime: Runtime, user_id: str, text: str, *, dry_run: bool, sources: Sources, actor: str | None
) -> Receipt | ForgetPreview:
    """Facts and turns that hold ``text`` are gone; with ``dry_run`` they are only listed."""
    with runtime.store.read(user_id) as reader:
        facts = list(facts_named(reader.facts(), text))
        traced = trace(reader, (text.strip(), *phrases_of(facts)))
        if dry_run:
            rows = turns_with(reader.messages(items=sorted(traced.items)) if traced.items else [], text)
            ids = {m.id for m in rows} | {e.message_id for f in facts for e in f.evidence}
            return ForgetPreview(facts=tuple(facts), messages=tuple(sorted(ids)))
    return _forget(runtime, user_id, facts, [], traced, what="matching", sources=sources, actor=actor)


def forget_session(runtime: Runtime, user_id: str, session_id: str, *, actor: str | None) -> Receipt:
    """Every turn and slot of the session is gone, with the facts that only it supported."""
    with runtime.store.read(user_id) as reader:
        if reader.session(session_id) is None:
            raise NotFoundError(f"no session {session_id[:80]!r} for this user")
        rows = reader.messages(session_id=session_id)
    nothing = Trace(phrases=(), items=frozenset(), seen_to=0)
    return _forget(
        runtime, user_id, [], rows, nothing, what="session", sources="delete", actor=actor, session_id=session_id
    )


def forget_messages(runtime: Runtime, scope: Scope, ids: Sequence[str], *, actor: str | None) -> int:
    """These turns of the session are gone, with the facts that only they supported; unknown ids are ignored."""
    with runtime.store.read(scope.user_id) as reader:
        rows = reader.messages(session_id=scope.session_id, ids=ids) if ids else []
    if not rows:
        return 0
    nothing = Trace(phrases=(), items=frozenset(), seen_to=0)
    _forget(runtime, scope.user_id, [], rows, nothing, what="messages", sources="delete", actor=actor)
    return len(rows)


def _versions(reader: Reader, fact: Fact) -> list[Fact]:
    """All rows that say the same: same subject, relation and value, current or past."""
    same = reader.facts(slots=[(fact.subject, fact.relation)])
    value = fold(fact.object)
    return [f for f in same if f.id == fact.id or fold(f.object) == value]


def _forget(
    runtime: Runtime,
    user_id: str,
    facts: Sequence[Fact],
    rows: Sequence[MessageRow],
    traced: Trace,
    *,
    what: str,
    sources: Sources,
    actor: str | None,
    session_id: str | None = None,
) -> Receipt:
    started = time.perf_counter()
    now = runtime.now()
    needles = _needles(facts if sources != "keep" else (), rows)
    with runtime.store.write(user_id) as writer:
        counts: dict[str, int] = overwrite_sources(
            writer, facts, traced, sources=sources, config=runtime.config, now=now
        )
        orphans = [] if not rows else _only_supported_by(writer, rows)
        if rows:
            counts["messages_deleted"] = counts.get("messages_deleted", 0) + forget_turns(writer, rows, now=now)
        if session_id is not None:
            writer.end_session(session_id, now=now)
        gone = list({f.id: f for f in [*facts, *orphans]}.values())
        if gone:
            _delete_facts(writer, gone, reason=f"forget {what}", now=now)
            counts["facts"] = len(gone)
        writer.audit(f"forget_{what}", now=now, actor=actor, counts=counts)
    fill_vectors(runtime, user_id)
    return _prove(runtime, user_id, what=what, counts=counts, needles=needles, started=started, now=now)


def _only_supported_by(writer: Writer, rows: Sequence[MessageRow]) -> list[Fact]:
    ids = {(m.session_id if m.has_caller_id else None, m.id) for m in rows}
    going = {m.id for m in rows}
    lost = []
    for fact in writer.facts(evidence_of=sorted(going)):
        named = {(fact.session_id, fact_id) for fact_id in fact.source_message_ids}
        if all(i in going and ((s, i) in ids or (None, i) in ids) for s, i in named):
            lost.append(fact)
    return lost


def forget_user(runtime: Runtime, user_id: str, *, actor: str | None) -> Receipt:
    """Nothing of the user is left in any table or file; what was said before is refused when it comes again."""
    started = time.perf_counter()
    now = runtime.now()
    with runtime.store.read(user_id) as reader:
        needles = _needles(reader.facts(limit=_NEEDLES), reader.messages(newest_first=True, limit=_NEEDLES))
    with runtime.store.write(user_id) as writer:
        never_again(writer, writer.messages(), now=now)
        writer.set_erased_before(now)
        counts = writer.erase_user(now=now)
    return _prove(runtime, user_id, what="user", counts=counts, needles=needles, started=started, now=now)


def _needles(facts: Iterable[Fact], rows: Iterable[MessageRow]) -> list[bytes]:
    texts = [*(f.id for f in facts), *(f.text for f in facts), *(m.content for m in rows)]
    parts = (t.replace("\n", " ").strip()[:_NEEDLE_CHARACTERS].encode("utf-8", "ignore") for t in texts)
    return list(dict.fromkeys(p for p in parts if len(p) >= _SHORTEST_NEEDLE))[: 2 * _NEEDLES]


def _prove(
    runtime: Runtime,
    user_id: str,
    *,
    what: str,
    counts: Mapping[str, int],
    needles: Sequence[bytes],
    started: float,
    now: datetime,
) -> Receipt:
    operations = runtime.store.operations()
    clean, files = operations.scrub(needles=needles, wait_seconds=runtime.config.erase_wait_seconds)
    receipt = Receipt(
        id=runtime.new_id(),
        user_id_hmac=runtime.store.mac(user_id),
        what=what,
        at=now,
        counts=dict(counts),
        bytes_clean=clean,
        files_scanned=files,
        seconds=time.perf_counter() - started,
    )
    operations.record_receipt(receipt)
    if not clean:
        operations.add_job(Job(kind=SCRUB_JOB, payload={"receipt": receipt.id}, run_after=now))
        raise ErasurePendingError(
            f"receipt {receipt.id}: hidden at once, but other readers keep old pages of the file alive; "
            "maintain() overwrites them when they are done",
            receipt,
        )
    return receipt


def fill_vectors(runtime: Runtime, user_id: str, *, limit: int = 1000) -> int:
    """Up to ``limit`` indexed units of the user that had no vector have one; returns how many."""
    from ltm_core.text.chunks import embedded_text

    if not runtime.has_vectors:
        return 0
    with runtime.store.write(user_id) as writer:
        waiting = writer.chunks_without_vector(limit=limit)
        turns: dict[int, Any] = {}
        facts: dict[int, Fact] = {}
        if waiting:
            turns = {m.item: m for m in writer.messages(items=[w[2] for w in waiting if w[1] == "message"])}
            wanted = [w[2] for w in waiting if w[1] == "fact"]
            found = writer.facts(items=wanted) if wanted else []
            facts = {item: f for f in found if (item := writer.fact_item(f.id)) is not None}
    texts: dict[int, str] = {}
    for chunk, kind, owner, start, end in waiting:
        if kind == "fact" and owner in facts:
            texts[chunk] = facts[owner].text
        elif kind == "message" and owner in turns:
            row = turns[owner]
            texts[chunk] = embedded_text(row.content[start:end], at=row.at.date(), speaker=row.name or row.role)
    matrix = runtime.embed(list(texts.values()))
    if matrix is None:
        return 0
    with runtime.store.write(user_id) as writer:
        still = {w[0] for w in writer.chunks_without_vector(limit=limit)}
        vectors = {chunk: matrix[i] for i, chunk in enumerate(texts) if chunk in still}
        writer.set_vectors(vectors)
    return len(vectors)
