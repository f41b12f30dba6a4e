"""What a sentence ends and what takes its place, as decisions. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from ltm_core.types import Fact, Scope
from ltm_core.write.endings.given_up import left_of
from ltm_core.write.endings.known_stages import as_stage
from ltm_core.write.endings.stages import RULE as STAGE
from ltm_core.write.endings.worded import without, worded
from ltm_core.write.known.known import Known
from ltm_core.write.known.narrow import remainder
from ltm_core.write.known.rows import closed, new_fact, retracted
from ltm_core.write.plan import Candidate, Decision
from ltm_core.write.read.found import overlap
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold

_LONGEST_NAME = 4
"""Characters of a Chinese name or thing with which a sentence begins."""


def instead(
    c: Candidate,
    over: Sequence[Fact],
    values: Sequence[Fact],
    decisions: list[Decision],
    known: Known,
    *,
    why: str,
    sure: bool,
    lexicon: Lexicon,
    labels: Scope,
    now: datetime,
    new_id: Callable[[], str],
) -> list[Decision]:
    """The decisions of a message, with the end of what a sentence of it makes over.

    The first of ``values``, what the rules kept of the sentence, takes the place of what ends; without one the
    sentence itself does, as a statement or, when it only ends something, as a denial. ``sure``: the words are known
    to make it over.
    """
    made: list[Decision] = []
    if values and (c.is_positive or values[0].rule == STAGE):
        by = values[0]
        told = without(by.text, over[0])
        if by.object in told and told != by.text:
            by = replace(by, text=told)
            known.put(by)
            decisions = [replace(d, fact=by) if d.fact.id == by.id else d for d in decisions]
    else:
        here = [d for d in decisions if overlap(d.fact.evidence, c.evidence)]
        gone = {d.fact.id for d in here if d.fact.rule == "open"}
        for i in gone:
            known.drop(i)
        decisions = [d for d in decisions if d.fact.id not in gone]
        told_as = as_stage(c if sure else worded(c, over[0], lexicon), over, lexicon)
        by = new_fact(told_as, labels, id=new_id(), now=now)
        known.put(by)
        made.append(Decision(op="add", fact=by, reason=why))
    for f in over:
        known.drop(f.id)
        wrong = c.move == "correct" and c.is_positive
        row = retracted(f, at=now, by=by.id) if wrong else closed(f, at=c.valid_from, by=by.id)
        if made and made[0].op == "add":
            made[0] = Decision(op="supersede", fact=by, previous=row, reason=why)
        else:
            made.append(Decision(op="retract" if wrong else "close", fact=row, previous=f, reason=why))
        left = _left(f, c, lexicon) if sure or not c.is_positive else None
        if left is not None:  # of "a lesson on Mondays and a class on Fridays" the one that goes on
            kept = replace(left, id=new_id(), recorded_at=now)
            known.put(kept)
            made.append(Decision(op="add", fact=kept, reason="what is left of it"))
    return [*decisions, *made]


def _left(fact: Fact, c: Candidate, lexicon: Lexicon) -> Fact | None:
    """What a fact of several things still says when the sentence begins with the one that is over."""
    if fact.text.isascii():
        return remainder(fact, c.text, lexicon)
    begins = [c.text[:n] for n in range(_LONGEST_NAME, 1, -1)]
    words = left_of(fact, begins, lexicon)
    return replace(fact, object=words, object_normalized=fold(words), text=words) if words else None


__all__ = ["instead"]
