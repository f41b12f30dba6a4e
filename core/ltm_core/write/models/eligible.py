"""Which clauses a language model may read: the user's plain words that the gate let through or left in doubt.

A clause that a veto closed (question, condition, quotation, fiction, order, …), that tells of a stranger, or that
the gate believes to be no lasting statement is never shown to a model and never supports what a model says.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ltm_core.write.incoming.redact import redact
from ltm_core.write.incoming.vectors import Vectors as TurnVectors
from ltm_core.write.plan import Utterance
from ltm_core.write.read.clauses import plain_form, split
from ltm_core.write.read.neighbours import Vectors
from ltm_core.write.read.scopes import Read, read
from ltm_core.write.read.walk import Spoken, walk
from ltm_core.write.requests.forget_requests import find_requests
from ltm_core.write.words.lexicon import Lexicon

if TYPE_CHECKING:
    from ltm_core.runtime import Runtime

_HEARD = ("question", "conditional", "quotation", "fiction_open", "body_open", "one_off", "injection", "role_play")
"""Cues that close a clause of a language without rules, should one of the known languages' words stand in it."""
_NEEDS_MORE = ("plan", "command", "mood", "ephemeral", "third_person", "general", "after_command")
"""Cues with which doubt is not enough: the gate must have let the clause through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Eligible:
    """A clause that may support a fact."""

    utterance: Utterance
    spoken: Spoken
    probability: float
    """The gate's; 0.5 for a language that it does not know."""
    sure: bool
    """The gate let it through; False means doubt."""
    topic: tuple[str, float] = ("other", 0.0)
    """The gate's guess of what the clause is about; see `Gate.slot`."""


def gated(runtime: Runtime, utterance: Utterance, vectors: TurnVectors) -> tuple[Eligible, ...]:
    """What a model may read of the utterance under the settings in force."""
    config = runtime.config
    return eligible(
        utterance,
        lexicon=runtime.lexicon,
        fact_threshold=config.fact_threshold,
        doubt_threshold=config.doubt_threshold,
        clause_vectors=vectors.for_gate,
        masked=config.redact_pii,
    )


def eligible(
    utterance: Utterance,
    *,
    lexicon: Lexicon,
    fact_threshold: float,
    doubt_threshold: float,
    clause_vectors: Vectors | None = None,
    masked: bool = False,
) -> tuple[Eligible, ...]:
    """The clauses of the utterance that a model may read, in order. Only a user's own words are.

    With ``masked``, a clause that still holds personal data is left out.
    """
    if utterance.role != "user":
        return ()
    reads = read(
        split(utterance.content, lexicon, plain=plain_form(utterance.content)), lexicon, before=utterance.before
    )
    asked = find_requests(utterance, reads, lexicon).clauses
    open_ = [s for s in map(_opened, walk(utterance, reads, lexicon)) if _is_open(s, asked)]
    if masked:
        open_ = [s for s in open_ if not redact(s.read.clause.text)[1]]
    vectors = clause_vectors([s.read.clause.text for s in open_]) if clause_vectors is not None and open_ else None
    found: list[Eligible] = []
    for n, spoken in enumerate(open_):
        r = spoken.read
        vector = vectors[n] if vectors is not None else None
        if r.clause.language == "other":
            found.append(Eligible(utterance=utterance, spoken=spoken, probability=0.5, sure=False))
            continue
        probability = lexicon.gate.probability(r.clause.norm, r.clause.language, r.flags, vector)
        floor = fact_threshold if any(r[cue] for cue in _NEEDS_MORE) else doubt_threshold
        if probability >= min(floor, fact_threshold):
            found.append(
                Eligible(
                    utterance=utterance,
                    spoken=spoken,
                    probability=probability,
                    sure=probability >= fact_threshold,
                    topic=lexicon.gate.slot(vector),
                )
            )
    return tuple(found)


def _opened(spoken: Spoken) -> Spoken:
    """A clause of a language without rules is in doubt, not closed, unless its marks say more."""
    r = spoken.read
    if r.veto != "language" or "?" in r.clause.norm or any(r[cue] for cue in _HEARD):
        return spoken
    return replace(spoken, read=Read(r.clause, r.flags))


def _is_open(spoken: Spoken, asked: frozenset[int]) -> bool:
    r, subject = spoken.read, spoken.subject
    if r.veto or r.clause.start in asked or not subject.key or subject.kind == "stranger":
        return False
    return not (r["second_person"] and subject.kind == "dropped")
