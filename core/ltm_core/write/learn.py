"""Candidates meet what the store knows at this moment, and the outcome is stored."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ltm_core.types import Fact, FactChange
from ltm_core.write.apply import apply_decisions
from ltm_core.write.corrections.restated import OF_ASSISTANT
from ltm_core.write.corrections.restated import RULE as RESTATED
from ltm_core.write.endings.ended import begins_named
from ltm_core.write.endings.likely_news import RULE as OVERTAKES
from ltm_core.write.endings.meant_fact import MOST_MEANT
from ltm_core.write.endings.returns import settled
from ltm_core.write.endings.weighed import MOST_WEIGHED
from ltm_core.write.endings.weighed import RULE as WEIGHED
from ltm_core.write.incoming.batch import Batch
from ltm_core.write.incoming.vectors import cut_of
from ltm_core.write.known.judged import Judge
from ltm_core.write.known.news import load_news
from ltm_core.write.known.rows import ending
from ltm_core.write.plan import Analysis, Candidate, Decision
from ltm_core.write.resolve.beside import beside_current
from ltm_core.write.resolve.resolve import resolve
from ltm_core.write.words.load import default_lexicon

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ltm_core.runtime import Runtime
    from ltm_core.store.base import Reader, Writer

MOST_COMPARED = 32
"""Current facts whose meaning is compared with a new one's: the newest of those in reach."""


@dataclass(frozen=True, slots=True)
class Reached:
    """The current facts that some candidates may touch, oldest first, and what was looked for."""

    wanted: Hashable
    facts: tuple[Fact, ...]


def reached(reader: Reader, candidates: Sequence[Candidate], *, now: datetime) -> Reached:
    """What `current_in_reach` finds, to be used again for the same candidates as long as nobody writes."""
    return Reached(_wanted(candidates), tuple(current_in_reach(reader, candidates, now=now)))


def _wanted(candidates: Sequence[Candidate]) -> Hashable:
    return tuple((c.subject, c.relation, c.object_normalized, c.single_valued, _reaches_far(c)) for c in candidates)


def vectors_in_reach(
    reader: Reader, candidates: Sequence[Candidate], *, now: datetime, most: int | None = None
) -> dict[str, NDArray[np.float32]]:
    """Vectors of the current facts that the candidates may meet, by their text, as the store holds them; of the
    ``most`` newest when it is given."""
    return vectors_of(reader, current_in_reach(reader, candidates, now=now), most=most)


def most_compared(candidates: Sequence[Candidate]) -> int:
    """How many facts the candidates are compared with by meaning: more when one is news of an unknown sort."""
    if any(c.rule == OVERTAKES for c in candidates):
        return MOST_MEANT
    return MOST_WEIGHED if any(c.rule == WEIGHED for c in candidates) else MOST_COMPARED


def vectors_of(reader: Reader, facts: Sequence[Fact], *, most: int | None = None) -> dict[str, NDArray[np.float32]]:
    """Vectors of the facts, given oldest first, by their text; of the ``most`` newest when it is given."""
    near = facts if most is None else facts[-most:]
    by_id = reader.fact_vectors([f.id for f in near])
    return {f.text: by_id[f.id] for f in near if f.id in by_id}


def current_in_reach(reader: Reader, candidates: Sequence[Candidate], *, now: datetime) -> list[Fact]:
    """The current facts these candidates may touch, oldest first.

    A plain statement meets its slot, the newest of its family of relations, and what is known of the same
    thing; words that end or correct something meet everything known of their subject.
    """
    found: dict[str, Fact] = {}
    weighed = any(c.rule == WEIGHED for c in candidates)
    candidates = [c for c in candidates if c.rule != WEIGHED]
    plain = [c for c in candidates if not _reaches_far(c)]
    subjects = dict.fromkeys(c.subject for c in candidates if _reaches_far(c))
    for subject in subjects:
        found.update((f.id, f) for f in reader.facts(subject=subject, current_at=now))
    circle = any(_reaches_others(c) for c in candidates)
    if circle or weighed:
        most = MOST_MEANT if circle else MOST_WEIGHED
        found.update((f.id, f) for f in reader.facts(current_at=now, newest_first=True, limit=most))
    single = [(c.subject, c.relation) for c in plain if c.single_valued and c.subject not in subjects]
    if single:
        found.update((f.id, f) for f in reader.facts(slots=single, current_at=now))
    lexicon = default_lexicon()
    for c in plain:
        if c.subject in subjects:
            continue
        slots = [(c.subject, r) for r in lexicon.family_of(c.relation)]
        near = reader.facts(slots=slots, current_at=now, newest_first=True, limit=MOST_COMPARED)
        near += reader.facts(subject=c.subject, objects=[c.object_normalized], current_at=now)
        found.update((f.id, f) for f in near)
    return sorted(found.values(), key=lambda f: (f.recorded_at, f.id))


def _reaches_others(c: Candidate) -> bool:
    """Whether the words may end or correct what is known of somebody else than they tell of."""
    return c.rule in (RESTATED, OF_ASSISTANT) or c.reach == "circle" or bool(begins_named(c, default_lexicon()))


def _reaches_far(c: Candidate) -> bool:
    """Whether the words may end or correct a fact that only its content tells."""
    return (
        c.reach != "slot"
        or bool(c.wrong_object)
        or not c.is_positive
        or c.move in ("cease", "revert", "correct", "change")
    )


def similarity_of(vectors: Mapping[str, NDArray[np.float32]]) -> Any:
    """Cosine of two texts that were embedded together; 0 where a vector is missing."""

    def similarity(a: str, b: str) -> float:
        left, right = vectors.get(a), vectors.get(b)
        return 0.0 if left is None or right is None else max(0.0, float(left @ right))

    return similarity


def learn(
    runtime: Runtime,
    writer: Writer,
    analysis: Analysis,
    *,
    batch: Batch,
    vectors: Mapping[str, NDArray[np.float32]],
    now: datetime,
    known: Reached | None = None,
) -> tuple[FactChange, ...]:
    """The candidates meet what is known at this moment, and the outcome is stored; ``known`` was found before, with
    nothing written since."""
    stated = (*analysis.candidates, *analysis.news)
    if not stated:
        return ()
    scope = batch.scope
    candidates = [ending(c, None if batch.ttl is None else now + batch.ttl) for c in stated]
    pieces = cut_of(runtime)
    candidates = settled(
        writer, candidates, now=now, lexicon=runtime.lexicon,
        took_place=lambda later, earlier: Judge(load_news(), pieces).took_its_place(later, earlier, vectors),
    )  # fmt: skip
    if known is not None and known.wanted == _wanted(candidates):
        current = list(known.facts)
    else:
        current = current_in_reach(writer, candidates, now=now)
    decisions = resolve(
        candidates,
        current,
        beside=beside_current(writer, candidates, current, now=now),
        user_id=scope.user_id,
        session_id=scope.session_id,
        agent_id=scope.agent_id,
        task_id=scope.task_id,
        app_id=scope.app_id,
        now=now,
        new_id=runtime.new_id,
        lexicon=runtime.lexicon,
        similarity=similarity_of(vectors),
        vectors=vectors if pieces is not None else None,
        pieces=pieces,
        relation_threshold=runtime.config.relation_threshold,
        duplicate_similarity=runtime.config.duplicate_similarity,
    )
    extra = {"metadata": dict(batch.metadata)} if batch.metadata else {}
    decisions = tuple(
        _labelled(d, doc_type=batch.doc_type, **extra) if d.op in ("add", "supersede") else d for d in decisions
    )
    return apply_decisions(writer, decisions, now=now, vectors=vectors)


def _labelled(decision: Decision, *, doc_type: str | None, **extra: Any) -> Decision:
    fact = decision.fact
    return replace(decision, fact=replace(fact, doc_type=doc_type or fact.doc_type, **extra))
