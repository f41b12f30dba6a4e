"""Facts that do not come from a conversation: what the user asked to remember, what the application knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ltm_core.errors import InvalidInputError
from ltm_core.keep.audit import note
from ltm_core.keep.later import flush_of
from ltm_core.text.normalize import clean, fold
from ltm_core.types import FactChange, FactKind, Importance, Observation, Scope
from ltm_core.write.analyse import analyse
from ltm_core.write.endings.returns import RULE as RETURNS
from ltm_core.write.incoming.batch import Batch
from ltm_core.write.incoming.index import embed_texts
from ltm_core.write.incoming.pause import not_paused
from ltm_core.write.incoming.redact import redact, redact_value
from ltm_core.write.incoming.statuses import refuse_overtaken
from ltm_core.write.incoming.vectors import Vectors
from ltm_core.write.learn import learn, vectors_in_reach
from ltm_core.write.plan import Analysis, Candidate, Utterance, any_name

if TYPE_CHECKING:
    from ltm_core.runtime import Runtime

_COVERED = 0.6
"""Share of the text that its facts must quote; below it the whole text is kept as a note too."""


def remember(
    runtime: Runtime,
    scope: Scope,
    text: str,
    *,
    kind: FactKind | None,
    importance: Importance | None,
    expires_at: datetime | None,
    at: datetime | None,
    timezone: str | None,
    metadata: Mapping[str, Any],
    tags: Sequence[str],
    actor: str | None,
) -> Observation:
    """What the text states is known from now on, because the user asked: its facts, or the text as a note.

    ConflictError while the user is paused, and when what it says was erased while the call was under way.
    """
    words = clean(text).strip()
    if not words:
        raise InvalidInputError("text to remember must not be blank")
    if len(words) > runtime.config.max_message_characters:
        raise InvalidInputError(f"text has {len(words)} characters, at most {runtime.config.max_message_characters}")
    if runtime.config.redact_pii:
        words, metadata = redact(words)[0], redact_value(metadata)
        tags = [redact(t)[0] for t in tags]
    now = runtime.now()
    with runtime.store.read(scope.user_id) as reader:
        state = reader.user()
        zone = runtime.zone(timezone, state.timezone if state else None)
    when = (at or now).astimezone(zone)
    analysis = analyse(
        Utterance(message_id="", role="user", content=words, at=when, told_of=any_name),
        lexicon=runtime.lexicon,
        fact_threshold=runtime.config.fact_threshold,
        identifier_patterns=runtime.config.identifier_patterns,
        clause_vectors=Vectors(runtime).for_gate,
    )
    candidates = [c for c in analysis.candidates if c.rule != RETURNS]
    covered = sum(e.end - e.start for c in candidates for e in c.evidence)
    if covered < _COVERED * len(words):
        candidates.append(_note(words, at=when))
    asked = [
        replace(
            c,
            kind=kind or c.kind,
            importance=importance or "high",
            evidence=(),
            expires_at=expires_at or c.expires_at,
            tags=(*c.tags, *tags),
            rule=f"remember/{c.rule}",
        )
        for c in candidates
    ]
    changes = told(
        runtime, scope, asked, metadata=metadata, timezone=timezone, now=now, actor=actor, action="remember"
    )
    return Observation(changes=changes)


def _note(words: str, *, at: datetime) -> Candidate:
    return Candidate(
        subject="user",
        relation="note",
        object=words,
        object_normalized=fold(words),
        text=words,
        is_about_user=False,
        relation_confidence=0.0,
        valid_from=at,
        rule="note",
    )


def assert_fact(
    runtime: Runtime,
    scope: Scope,
    subject: str,
    relation: str,
    object: str,
    *,
    source: str,
    at: datetime | None,
    doc_type: str | None,
    metadata: Mapping[str, Any],
    text: str | None,
    actor: str | None,
) -> FactChange:
    """The application's fact holds from ``at``; an older value of a single-valued relation is closed.

    ConflictError while the user is paused, and when what it says was erased while the call was under way.
    """
    parts = {"subject": subject, "relation": relation, "object": object, "source": source}
    for name, value in parts.items():
        if not isinstance(value, str) or not value.strip():
            raise InvalidInputError(f"{name} must be non-blank text")
    now = runtime.now()
    subject, relation, object = clean(subject).strip(), clean(relation).strip(), clean(object).strip()
    words = clean(text).strip() if text else ""
    if runtime.config.redact_pii:
        subject, object, words, source = (redact(part)[0] for part in (subject, object, words, source))
        metadata = redact_value(metadata)
    candidate = Candidate(
        subject=subject,
        relation=relation,
        object=object,
        object_normalized=fold(object),
        text=words or f"{subject} {relation}: {object}",
        kind="status" if relation == "status" else "fact",
        is_about_user=subject == "user",
        asserted_by="app",
        single_valued=runtime.lexicon.is_single_valued(relation),
        valid_from=at or now,
        rule=f"app/{source.strip()[:80]}",
    )
    changes = told(
        runtime,
        scope,
        [candidate],
        metadata={**metadata, "source": source},
        timezone=None,
        now=now,
        actor=actor,
        action="assert_fact",
        doc_type=doc_type,
    )
    return changes[0]


def told(
    runtime: Runtime,
    scope: Scope,
    candidates: Sequence[Candidate],
    *,
    metadata: Mapping[str, Any],
    actor: str | None,
    action: str,
    timezone: str | None = None,
    now: datetime | None = None,
    doc_type: str | None = None,
    also: Sequence[str] = (),
) -> tuple[FactChange, ...]:
    """The candidates are known from now on. ``also``: further texts whose vectors are wanted.

    ConflictError while the user is paused, and when what they say was erased while the call was under way.
    """
    now = now or runtime.now()
    with runtime.store.read(scope.user_id) as reader:
        not_paused(reader.user())
        erasures = reader.erasures()[0]
        stored = vectors_in_reach(reader, candidates, now=now)
    vectors = embed_texts(runtime, [*(c.text for c in candidates), *also]) | stored
    batch = Batch(scope=scope, messages=(), metadata=metadata, doc_type=doc_type)
    analysis = Analysis(act="statement", language="other", candidates=tuple(candidates))
    with runtime.store.write(scope.user_id) as writer:
        not_paused(writer.user())
        refuse_overtaken(writer, scope.session_id, [c.text for c in candidates], now=now, since=erasures)
        writer.ensure_user(now=now, timezone=timezone)
        changes = learn(runtime, writer, analysis, batch=batch, vectors=vectors, now=now)
        note(writer, action, now=now, actor=actor, counts={"changes": len(changes)})
        flush_of(runtime, writer)
    return changes
