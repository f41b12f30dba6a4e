"""What one message was found to ask of memory, while its clauses are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ltm_core.types import Anchor, Evidence, Importance
from ltm_core.write.norm import trim
from ltm_core.write.plan import Candidate, Utterance
from ltm_core.write.scopes import Read


@dataclass(slots=True)
class Found:
    """Anchors and candidates so far, and why clauses were passed over."""

    anchors: list[Anchor] = field(default_factory=list)
    candidates: list[Candidate] = field(default_factory=list)
    endings: list[Candidate] = field(default_factory=list)
    """What may end known facts, if there are any that it names."""
    news: list[Candidate] = field(default_factory=list)
    """Sentences that may end known facts, by what was learned."""
    skipped: list[str] = field(default_factory=list)


def stated(r: Read, new: Sequence[Candidate], utterance: Utterance, *, start: int) -> Anchor:
    """The anchor of what a clause states, from ``start`` on."""
    best: Importance = "high" if any(c.importance == "high" for c in new) else "medium"
    return Anchor(
        kind="stated_fact",
        text=trim(r.clause.text[start:]),
        evidence=r.evidence(utterance.message_id),
        reason=new[0].rule,
        importance=best,
    )


def inside(candidate: Candidate, evidence: Evidence) -> bool:
    """Whether the candidate is read from words of the same place."""
    return any(
        e.message_id == evidence.message_id and e.start < evidence.end and evidence.start < e.end
        for e in candidate.evidence
    )
