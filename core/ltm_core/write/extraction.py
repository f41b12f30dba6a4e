"""Extraction by a model: a job written with the turn, run later outside of any transaction, checked, learnt.

The model reads only gated clauses of the user's turns. What it answers is written in one transaction together with
the end of the job, and only if nothing that it was read from was erased or changed meanwhile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ltm_core.errors import ExtractionError, LTMError
from ltm_core.protocols import ExtractedFact, ExtractionRequest, GatedClause
from ltm_core.store.base import Job
from ltm_core.types import Anchor, Fact, Scope
from ltm_core.when import stored_zone
from ltm_core.write.apply import apply_decisions
from ltm_core.write.incoming.batch import Batch
from ltm_core.write.incoming.index import embed_texts
from ltm_core.write.incoming.statuses import fact_key
from ltm_core.write.incoming.vectors import Vectors
from ltm_core.write.known.rows import retracted
from ltm_core.write.learn import MOST_COMPARED, learn, vectors_in_reach
from ltm_core.write.models.eligible import Eligible, gated
from ltm_core.write.models.refine import fresh
from ltm_core.write.models.supported import supported
from ltm_core.write.plan import Analysis, Candidate, Decision, Utterance, any_name
from ltm_core.write.prepare import BEFORE, known_entities, turns_of
from ltm_core.write.read.people import speaker_key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ltm_core.runtime import Runtime
    from ltm_core.store.base import MessageRow, Reader, Writer

EXTRACT_JOB = "extract"
TURNS_PER_JOB = 8
"""Turns of one call of ``observe`` that one request covers: an imported history costs an eighth of the calls."""
MOST_CLAUSES = 48
"""Clauses of one request, the likeliest ones: about 1,500 tokens, which models with a window of 4,096 take."""
_MOST_PEOPLE = 200


class OvertakenError(LTMError):
    """What the model read was erased, edited or claimed by another meanwhile; nothing was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one job."""

    changes: Mapping[str, int]
    rejected: Mapping[str, int]


def jobs_for(user_id: str, turns: Sequence[tuple[int, bool]], *, now: datetime) -> list[Job]:
    """The jobs for stored turns, given by item and whether another than the account's owner speaks."""
    jobs = []
    for start in range(0, len(turns), TURNS_PER_JOB):
        part = turns[start : start + TURNS_PER_JOB]
        payload = {"items": [i for i, _ in part], "others": [i for i, other in part if other]}
        jobs.append(Job(kind=EXTRACT_JOB, user_id=user_id, payload=payload, run_after=now))
    return jobs


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """What one job is about, as of one moment of the store."""

    rows: tuple[MessageRow, ...]
    clauses: Mapping[str, Eligible]
    row_of: Mapping[str, MessageRow]
    people: tuple[str, ...]
    erasures: int

    @property
    def request(self) -> ExtractionRequest:
        return ExtractionRequest(clauses=tuple(_shown(i, e) for i, e in self.clauses.items()), people=self.people)


def run(runtime: Runtime, job: Job) -> Outcome:
    """The job is done and what the model found is known, or an error says why not and nothing was written.

    Raises OvertakenError; UnavailableError and ExtractionError of the extractor; ExtractionError, which names the
    class alone, for anything else that the extractor raises; StoreError.
    """
    read = _read(runtime, job)
    given = _ask(runtime, read) if read.clauses else ()
    rejected: Counter[str] = Counter()
    found = _candidates(runtime, given, read, rejected)
    texts = [c.text for c, _ in found]
    with runtime.store.read(job.user_id or "") as reader:
        near = vectors_in_reach(reader, [c for c, _ in found], now=runtime.now(), most=MOST_COMPARED)
    vectors = embed_texts(runtime, texts) | near
    changes: Counter[str] = Counter()
    with runtime.store.write(job.user_id or "") as writer:
        _still_there(writer, read)
        if not writer.finish_claimed(job.id, attempts=job.attempts):
            raise OvertakenError(f"job {job.id} was claimed by another or erased")
        now = runtime.now()
        for row in read.rows:
            mine = [c for c, r in found if r.item == row.item]
            changes.update(_learn(runtime, writer, row, mine, rejected, vectors=vectors, now=now))
        if found or rejected:
            counts = {**changes, **{f"rejected_{k}": n for k, n in rejected.items()}}
            writer.audit(EXTRACT_JOB, now=now, actor=_source(runtime), target=str(job.id), counts=counts)
    return Outcome(changes=dict(changes), rejected=dict(rejected))


# reading ------------------------------------------------------------------------------------------------
def _read(runtime: Runtime, job: Job) -> _Read:
    now = runtime.now()
    others = set(job.payload.get("others", ()))
    found: list[tuple[Eligible, MessageRow]] = []
    with runtime.store.read(job.user_id or "") as reader:
        erasures = reader.erasures()[0]
        rows = [
            r
            for r in reader.messages(items=list(job.payload.get("items", ())))
            if r.role == "user" and (r.expires_at is None or r.expires_at > now)
        ]
        vectors = Vectors(runtime)
        for row in rows:
            utterance = _utterance(reader, row, other=row.item in others)
            found += [(e, row) for e in gated(runtime, utterance, vectors)]
        people = _people(reader, now=now) if found else ()
    if len(found) > MOST_CLAUSES:
        least = sorted((e.probability for e, _ in found), reverse=True)[MOST_CLAUSES - 1]
        found = [f for f in found if f[0].probability >= least][:MOST_CLAUSES]
    named = {f"c{n}": f for n, f in enumerate(found, 1)}
    return _Read(
        rows=tuple(rows),
        clauses={i: e for i, (e, _) in named.items()},
        row_of={i: r for i, (_, r) in named.items()},
        people=people,
        erasures=erasures,
    )


def _utterance(reader: Reader, row: MessageRow, *, other: bool) -> Utterance:
    before = reader.neighbours(row.item, before=BEFORE, after=0)
    known = known_entities(reader, row.session_id)
    return Utterance(
        message_id=row.id,
        role=row.role,
        content=row.content,
        at=row.at.astimezone(stored_zone(row.timezone)),
        name=row.name,
        me=f"not {row.name}" if other else row.name,
        doc_type=row.doc_type,
        before=tuple(turns_of(before)),
        known_entities=known.elsewhere,
        known_kinds=known.kinds,
        told_of=any_name,
    )


def _people(reader: Reader, *, now: datetime) -> tuple[str, ...]:
    """Relatives and animals of whom something is known, the newest first."""
    facts = reader.facts(current_at=now, newest_first=True, limit=_MOST_PEOPLE)
    return tuple(dict.fromkeys(f.subject for f in facts if ":" in f.subject and not f.subject.startswith("speaker:")
                               and f.kind != "status"))  # fmt: skip


def _shown(id: str, e: Eligible) -> GatedClause:
    clause = e.spoken.read.clause
    return GatedClause(
        id=id,
        text=clause.text,
        message_id=e.utterance.message_id,
        speaker=speaker_key(e.utterance)[1] or "user",
        on=e.utterance.at.date(),
        language=clause.language,
    )


# asking -------------------------------------------------------------------------------------------------
def _ask(runtime: Runtime, read: _Read) -> tuple[ExtractedFact, ...]:
    extractor = runtime.extractor
    if extractor is None:
        raise ExtractionError("this memory was opened without an extractor")
    try:
        return tuple(f for f in extractor.extract(read.request) if isinstance(f, ExtractedFact))
    except LTMError:
        raise
    except Exception as e:  # noqa: BLE001  a host's model may raise anything, with words of the turn in it
        raise ExtractionError(f"the extractor raised {type(e).__name__}") from None


def _source(runtime: Runtime) -> str:
    return runtime.extractor.name if runtime.extractor is not None else ""


def _candidates(
    runtime: Runtime, given: Iterable[ExtractedFact], read: _Read, rejected: Counter[str]
) -> list[tuple[Candidate, MessageRow]]:
    """The supported facts with the turn that supports each; the others are counted by reason."""
    rows = {r.id: r for r in read.row_of.values()}
    found: dict[tuple[object, ...], tuple[Candidate, MessageRow]] = {}
    for fact in given:
        made = supported(fact, read.clauses, lexicon=runtime.lexicon, source=_source(runtime), people=read.people)
        if isinstance(made, str):
            rejected[made] += 1
            continue
        for c in made:
            key = (c.subject, c.speaker, c.relation, c.object_normalized, c.is_positive, c.evidence)
            found.setdefault(key, (c, rows[c.evidence[0].message_id]))
    return list(found.values())


# writing ------------------------------------------------------------------------------------------------
def _still_there(writer: Writer, read: _Read) -> None:
    """What was read is what is stored; OvertakenError when anything was erased, edited or paused meanwhile."""
    state = writer.user()
    paused = state is not None and state.paused_at is not None
    now = {r.item: r.content for r in writer.messages(items=[r.item for r in read.rows])} if read.rows else {}
    if paused or writer.erasures()[0] != read.erasures or any(now.get(r.item) != r.content for r in read.rows):
        raise OvertakenError("what the model read was erased, edited or paused meanwhile")


def _learn(
    runtime: Runtime,
    writer: Writer,
    row: MessageRow,
    found: Sequence[Candidate],
    rejected: Counter[str],
    *,
    vectors: Mapping[str, NDArray[np.float32]],
    now: datetime,
) -> Counter[str]:
    """What the turn states beyond the rules is known; returns the changes by kind."""
    counts: Counter[str] = Counter()
    scope = Scope(
        user_id=writer.user_id,
        session_id=row.session_id,
        agent_id=row.agent_id,
        task_id=row.task_id,
        app_id=row.app_id,
    )
    ttl = None if row.expires_at is None else max(row.expires_at - now, timedelta(microseconds=1))
    batch = Batch(scope=scope, messages=(), ttl=ttl, doc_type=row.doc_type, metadata=row.metadata)
    for c in found:
        gone = writer.is_tombstoned("said", fact_key(c.subject, c.object_normalized))
        if gone is not None and row.recorded_at <= gone:
            rejected["forgotten"] += 1
            continue
        beside = [f for f in writer.facts(evidence_of=[row.id]) if f.session_id in (None, row.session_id)]
        beside += writer.facts(subject=c.subject, objects=[c.object_normalized])
        verdict = fresh(c, {f.id: f for f in beside}.values(), runtime.lexicon)
        if isinstance(verdict, str):
            rejected[verdict] += 1
            continue
        analysis = Analysis(act="statement", language="other", candidates=(c,))
        made = learn(runtime, writer, analysis, batch=batch, vectors=vectors, now=now)
        counts.update(change.op for change in made)
        kept = next((m.fact for m in made if m.op in ("add", "supersede", "reinforce")), None)
        if kept is None:
            continue
        counts.update(_replace(writer, verdict.replaces, kept, vectors=vectors, now=now))
        _anchor(writer, c, row)
    return counts


def _replace(
    writer: Writer,
    open_: Sequence[Fact],
    kept: Fact,
    *,
    vectors: Mapping[str, NDArray[np.float32]],
    now: datetime,
) -> list[str]:
    """The facts in the user's own words give way to the one with a relation that holds the same."""
    decisions = [
        Decision(op="retract", fact=retracted(f, at=now, by=kept.id), previous=f, reason="read more exactly")
        for f in open_
        if f.id != kept.id
    ]
    return [c.op for c in apply_decisions(writer, decisions, now=now, vectors=vectors)]


def _anchor(writer: Writer, c: Candidate, row: MessageRow) -> None:
    """The clause is an anchor, once."""
    evidence = c.evidence[0]
    for a in writer.anchors([row.id]):
        if a.kind == "stated_fact" and a.evidence == evidence:
            return
    text = row.content[evidence.start : evidence.end]
    anchor = Anchor(kind="stated_fact", text=text, evidence=evidence, reason=c.rule, importance=c.importance)
    writer.add_anchor(anchor, session_id=row.session_id, at=row.at)


__all__ = ["EXTRACT_JOB", "Outcome", "OvertakenError", "jobs_for", "run"]
