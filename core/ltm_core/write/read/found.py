"""What one message was found to ask of memory, while its clauses are read."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from ltm_core.types import Anchor, Evidence, FactChange, Importance
from ltm_core.write.plan import Candidate, Utterance
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.norm import trim

_TOLD = 0.7
"""Share of the words that tell of a change which anchors must cover for it to need none of its own."""


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

    def clauses_read(self, reads: Sequence[Read], message_id: str) -> list[int]:
        """Places of the clauses from whose words something was read, so that `leave_out` may change something."""
        starts = [r.clause.start for r in reads]
        told = (*self.candidates, *self.endings, *self.news)
        evidence = {*(e for c in told for e in c.evidence), *(a.evidence for a in self.anchors)}
        found = {
            i
            for e in evidence
            if e.message_id == message_id
            for i in range(max(0, bisect_right(starts, e.start) - 1), bisect_left(starts, e.end))
        }
        return sorted(found)

    def leave_out(self, place: Evidence) -> None:
        """Forget what was read from the clause that stands there, and what mostly rests on it."""

        def stays(c: Candidate) -> bool:
            return not any(_mostly(e, place) for e in c.evidence)

        self.candidates = [c for c in self.candidates if stays(c)]
        self.endings = [c for c in self.endings if stays(c)]
        self.news = [c for c in self.news if stays(c)]
        self.anchors = [a for a in self.anchors if a.kind != "stated_fact" or not _mostly(a.evidence, place)]


def stated(r: Read, new: Sequence[Candidate], utterance: Utterance, *, start: int) -> Anchor:
    """The anchor of what a clause states, from ``start`` on."""
    return statement(
        new, r.clause.told or r.clause.text[start:], r.evidence(utterance.message_id), reason=new[0].rule
    )


def statement(new: Sequence[Candidate], words: str, evidence: Evidence, *, reason: str) -> Anchor:
    """The anchor of what some words state; it matters as much as the most important of it."""
    best: Importance = "high" if any(c.importance == "high" for c in new) else "medium"
    return Anchor(kind="stated_fact", text=trim(words), evidence=evidence, reason=reason, importance=best)


def changed(
    changes: Sequence[FactChange],
    given: Sequence[Anchor],
    rules: Sequence[str],
    said: str,
    *,
    added: Sequence[str] = (),
) -> Iterator[Anchor]:
    """The anchors of the words that were found beside the store to change or end something known, by one of the
    ``rules``, where the clauses alone gave none. ``said``: the message. ``added``: rules of words that go on about
    something known without ending it."""
    renewed = {c.fact.superseded_by for c in changes if c.op == "close"}
    for c in changes:
        again = c.op == "reinforce" and c.fact.id in renewed  # what is so again, in place of another
        told = c.fact.rule in rules if c.op == "supersede" else c.op == "add" and c.fact.rule in added
        if not (again or told) or not c.fact.evidence:
            continue
        words = c.fact.evidence[-1 if again else 0]
        if not _is_told(words, [a.evidence for a in given if a.kind == "stated_fact"]):
            yield Anchor(
                kind="stated_fact",
                text=trim(said[words.start : words.end]) if again else c.fact.text,
                evidence=words,
                reason=f"{c.fact.rule}: {c.reason}",
                importance=c.fact.importance,
            )


def _is_told(words: Evidence, given: Sequence[Evidence]) -> bool:
    """Whether most of the words have anchors already: of "师傅来过了，工单已完结" the first clause is no news."""
    places = {i for e in given if _overlap(e, words) for i in range(max(e.start, words.start), min(e.end, words.end))}
    return len(places) > _TOLD * (words.end - words.start)


def inside(candidate: Candidate, evidence: Evidence) -> bool:
    """Whether the candidate is read from words of the same place."""
    return overlap(candidate.evidence, (evidence,))


def overlap(some: Sequence[Evidence], others: Sequence[Evidence]) -> bool:
    """Whether some of these words stand where some of the others do."""
    return any(_overlap(a, b) for a in some for b in others)


def is_asked(evidence: Evidence, asked: Collection[int]) -> bool:
    """Whether a clause that asks something of memory, by its place in ``asked``, begins in these words."""
    return any(evidence.start <= at < evidence.end for at in asked)


def _overlap(one: Evidence, other: Evidence) -> bool:
    return one.message_id == other.message_id and one.start < other.end and other.start < one.end


def _mostly(one: Evidence, place: Evidence) -> bool:
    """Whether more than half of ``one`` stands at ``place``."""
    shared = min(one.end, place.end) - max(one.start, place.start)
    return one.message_id == place.message_id and shared * 2 > one.end - one.start
