"""A wrong belief is taken back, and what is right instead meets what is known like any other statement."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from ltm_core.errors import ConflictError, InvalidInputError, NotFoundError
from ltm_core.keep.audit import note
from ltm_core.keep.matching import facts_named
from ltm_core.text.normalize import clean, fold
from ltm_core.types import Fact, FactChange, Scope
from ltm_core.write.analyse import analyse
from ltm_core.write.apply import apply_decisions
from ltm_core.write.incoming.index import embed_texts
from ltm_core.write.incoming.redact import redact
from ltm_core.write.incoming.vectors import Vectors
from ltm_core.write.known.match import same_subject
from ltm_core.write.known.rows import new_fact, reinforced, retracted
from ltm_core.write.learn import current_in_reach
from ltm_core.write.plan import Candidate, Decision, Utterance, any_name
from ltm_core.write.resolve.beside import beside_current
from ltm_core.write.resolve.resolve import resolve

if TYPE_CHECKING:
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import Reader, Writer

_REASON = "corrected through the API"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """One call of ``correct``, checked."""

    wrong: str | None
    fact_id: str | None
    words: str
    when: datetime
    now: datetime


def correct(
    runtime: Runtime,
    scope: Scope,
    *,
    wrong: str | None,
    fact_id: str | None,
    right: str,
    at: datetime | None,
    actor: str | None,
) -> FactChange:
    """The wrong belief is retracted and ``right`` is believed instead; ``previous`` is the retracted row.

    ``right`` may be a sentence or a bare value ("Porto"); a bare value takes the wrong fact's relation. It holds
    for the time of the wrong belief: in the place of a past value it is past too. A value that is known already
    is reinforced, other values of a single-valued slot are closed, and the same call again changes nothing: it
    returns the earlier outcome, with ``op`` "skip".
    """
    if (wrong is None) == (fact_id is None):
        raise InvalidInputError("give exactly one of wrong= and fact_id=")
    words = clean(right).strip()
    if not words:
        raise InvalidInputError("right must not be blank")
    if runtime.config.redact_pii:
        words = redact(words)[0]
    now = runtime.now()
    with runtime.store.read(scope.user_id) as reader:
        state = reader.user()
        zone = runtime.zone(None, state.timezone if state else None)
        call = _Call(wrong=wrong, fact_id=fact_id, words=words, when=(at or now).astimezone(zone), now=now)
        false, truth = _meant(runtime, reader, call)
        earlier = _outcome(reader, false, truth, now=now)
    if earlier is not None:
        return earlier
    vectors = embed_texts(runtime, [truth.text])
    with runtime.store.write(scope.user_id) as writer:
        present = writer.fact(false.id)
        if present is None:
            raise NotFoundError(f"fact {false.id} is gone")
        # Another caller may have corrected it since.
        earlier = _outcome(writer, present, truth, now=now)
        if earlier is not None:
            return earlier
        decisions = _decided(runtime, writer, scope, present, truth, now=now)
        changes = apply_decisions(writer, decisions, now=now, vectors=vectors)
        first = changes[0]
        _relink(writer, present, first.fact)
        note(writer, "correct", now=now, actor=actor, target=first.fact.id)
    return first if first.op == "supersede" else replace(first, previous=changes[-1].fact)


def _meant(runtime: Runtime, reader: Reader, call: _Call) -> tuple[Fact, Candidate]:
    """The fact that is wrong, current or corrected by the same call before, and what is right instead."""
    if call.fact_id is not None:
        fact = reader.fact(call.fact_id)
        if fact is None:
            raise NotFoundError(f"no fact {call.fact_id[:80]!r} for this user")
        return fact, _truth(runtime, fact, call)
    wrong = call.wrong or ""
    found = facts_named(reader.facts(current_at=call.now), wrong)
    if len(found) > 1:
        ids = [f.id for f in found]
        raise ConflictError(f"{len(found)} current facts match; name one by fact_id: {', '.join(ids[:10])}", ids)
    if found:
        return found[0], _truth(runtime, found[0], call)
    for fact in facts_named(reader.facts(past_at=call.now, newest_first=True), wrong):
        if fact.retracted_at is not None:
            truth = _truth(runtime, fact, call)
            if _outcome(reader, fact, truth, now=call.now) is not None:
                return fact, truth
    raise NotFoundError("no current fact of this user matches the words given as wrong=")


def _outcome(reader: Reader, false: Fact, truth: Candidate, *, now: datetime) -> FactChange | None:
    """What the same correction did before."""
    told, wrong = None, None
    if _says(false, truth) and false.retracted_at is None:
        told = false
        wrong = next((f for f in reader.predecessors([false.id])[false.id] if f.retracted_at is not None), None)
    elif false.retracted_at is not None and false.superseded_by is not None:
        told, wrong = reader.fact(false.superseded_by), false
    if told is None or told.retracted_at is not None or not _says(told, truth):
        return None
    return FactChange(op="skip", fact=told, previous=wrong, reason="corrected already", at=now)


def _says(fact: Fact, truth: Candidate) -> bool:
    return (
        same_subject(fact, truth)
        and fact.relation == truth.relation
        and fact.is_positive == truth.is_positive
        and fact.object_normalized == truth.object_normalized
    )


def _truth(runtime: Runtime, false: Fact, call: _Call) -> Candidate:
    analysis = analyse(
        Utterance(message_id="", role="user", content=call.words, at=call.when, told_of=any_name),
        lexicon=runtime.lexicon,
        fact_threshold=runtime.config.fact_threshold,
        clause_vectors=Vectors(runtime).for_gate,
    )
    stated = next(
        (c for c in analysis.candidates if c.relation == false.relation),
        analysis.candidates[0] if analysis.candidates else None,
    )
    if stated is None:
        stated = _bare(false, call)
    same = stated.relation == false.relation and fold(stated.subject) == fold(false.subject)
    live = false.expires_at is not None and false.expires_at > call.now
    return replace(
        stated,
        speaker=false.speaker,
        asserted_by=false.asserted_by,
        single_valued=runtime.lexicon.is_single_valued(stated.relation),
        move="cease" if stated.move == "cease" else "state",
        wrong_object=None,
        relation_confidence=1.0 if same else stated.relation_confidence,
        importance=false.importance if same else stated.importance,
        # What was true all along began when the wrong belief began; of one taken back before, others know since.
        valid_from=false.valid_from if same and false.retracted_at is None else stated.valid_from,
        said_at=call.when,
        expires_at=false.expires_at if same and live else stated.expires_at,
        evidence=(),
        tags=false.tags if same else (),
        rule="correct",
    )


def _bare(false: Fact, call: _Call) -> Candidate:
    """A bare value, said in the words of the old statement, so that it reads by itself."""
    words = call.words
    told = false.text.replace(false.object, words, 1) if false.object and false.object in false.text else words
    return Candidate(
        subject=false.subject,
        relation=false.relation,
        object=words,
        object_normalized=fold(words),
        text=told,
        kind=false.kind,
        is_positive=false.is_positive,
        is_about_user=false.is_about_user,
        modality=false.modality,
        confidence=false.confidence,
        valid_from=call.when if false.retracted_at is not None else false.valid_from,
        valid_to=false.valid_to if false.modality in ("past", "temporary") else None,
    )


def _decided(
    runtime: Runtime, writer: Writer, scope: Scope, false: Fact, truth: Candidate, *, now: datetime
) -> list[Decision]:
    """The truth first, the retracted belief with it or last."""
    same = truth.relation == false.relation and fold(truth.subject) == fold(false.subject)
    owner: Fact | Scope = false if same else scope
    labels = Scope(
        user_id=scope.user_id,
        session_id=owner.session_id,
        agent_id=owner.agent_id,
        task_id=owner.task_id,
        app_id=owner.app_id,
    )
    if same and false.retracted_at is None and false.superseded_by is not None and not false.is_current:
        made = _in_its_place(runtime, writer, labels, false, truth, now=now)
    else:
        made = _resolved(runtime, writer, labels, false, truth, now=now)
    main = next((d for d in made if d.op in ("add", "supersede", "reinforce", "skip")), None)
    if main is None:
        return [*made, _taken_back(false, by=None, now=now)]
    others = [d for d in made if d is not main]
    if main.op in ("reinforce", "skip"):
        return [main, *others, _taken_back(false, by=main.fact.id, now=now)]
    fact = main.fact
    if same:
        fact = replace(fact, doc_type=false.doc_type, metadata=false.metadata)
    if main.previous is not None:
        others.insert(0, Decision(op="close", fact=main.previous, previous=main.previous, reason=_REASON))
    gone = _taken_back(false, by=fact.id, now=now).fact
    return [Decision(op="supersede", fact=fact, previous=gone, reason=_REASON), *others]


def _taken_back(false: Fact, *, by: str | None, now: datetime) -> Decision:
    gone = retracted(false, at=false.retracted_at or now, by=by)
    return Decision(op="retract", fact=gone, previous=false, reason=_REASON)


def _relink(writer: Writer, false: Fact, true: Fact) -> None:
    """What the wrong belief had replaced was replaced by the right one: it holds again when that one expires."""
    if (true.subject, true.relation) != (false.subject, false.relation):
        return
    for before in writer.predecessors([false.id])[false.id]:
        if before.id != true.id and before.retracted_at is None and before.valid_to is not None:
            writer.update_fact(replace(before, superseded_by=true.id))


def _in_its_place(
    runtime: Runtime, writer: Writer, labels: Scope, false: Fact, truth: Candidate, *, now: datetime
) -> list[Decision]:
    """The wrong belief was replaced since: the truth takes its interval and its successor."""
    after = writer.fact(false.superseded_by or "")
    if after is not None and after.retracted_at is None and _says(after, truth):
        longer = replace(reinforced(after, truth), valid_from=min(after.valid_from, false.valid_from))
        return [Decision(op="reinforce", fact=longer, previous=after, reason=_REASON)]
    fact = new_fact(replace(truth, valid_to=false.valid_to), labels, id=runtime.new_id(), now=now)
    return [Decision(op="add", fact=replace(fact, superseded_by=false.superseded_by, is_current=False))]


def _resolved(
    runtime: Runtime, writer: Writer, labels: Scope, false: Fact, truth: Candidate, *, now: datetime
) -> list[Decision]:
    current = [f for f in current_in_reach(writer, [truth], now=now) if f.id != false.id]
    beside = [f for f in beside_current(writer, [truth], current, now=now) if f.id != false.id]
    decisions = resolve(
        [truth],
        current,
        beside=beside,
        user_id=labels.user_id,
        session_id=labels.session_id,
        agent_id=labels.agent_id,
        task_id=labels.task_id,
        app_id=labels.app_id,
        now=now,
        new_id=runtime.new_id,
        lexicon=runtime.lexicon,
        relation_threshold=runtime.config.relation_threshold,
    )
    return list(decisions)
