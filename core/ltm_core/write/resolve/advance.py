"""A matter goes on to its next stage: the one known before is over, and the sentence is what is known of it. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from ltm_core.types import Scope
from ltm_core.write.endings.known_stages import (
    as_next,
    begun_of,
    stages_over,
    tells_stage,
    tells_waiting,
    told_beside,
)
from ltm_core.write.endings.stages import RELATION, is_named
from ltm_core.write.known.known import Known
from ltm_core.write.known.rows import closed, new_fact
from ltm_core.write.plan import Candidate, Decision
from ltm_core.write.read.found import overlap
from ltm_core.write.words.lexicon import Lexicon

_NUMBER = "identifier"
"""How the names of the rules begin that read the number of a matter."""


def advance(
    c: Candidate,
    decisions: list[Decision],
    known: Known,
    *,
    lexicon: Lexicon,
    labels: Scope,
    now: datetime,
    new_id: Callable[[], str],
) -> list[Decision]:
    """The decisions of a message, and the next stage of the matter that one of its sentences tells of.

    A stage that a pattern read from the sentence is told in the words of the whole sentence, which name the matter;
    what was kept of it in the user's own words says no more than that.
    """
    here = [d for d in decisions if overlap(d.fact.evidence, c.evidence)]
    over = stages_over(c, known.values(), lexicon)
    read = next((d for d in here if d.fact.relation == RELATION and d.fact.is_current), None)
    begun = [] if over else begun_of(c, known.values(), lexicon)
    if not over and not is_named(c) and read is None and not begun:
        return decisions
    gone = {d.fact.id for d in here if _says_no_more(d, lexicon, over=bool(over or begun))}
    for i in gone:
        known.drop(i)
    decisions = [d for d in decisions if d.fact.id not in gone]
    if read is not None:
        by = replace(read.fact, text=c.text) if read.op in ("add", "supersede") else read.fact
        known.put(by)
        decisions = [replace(d, fact=by) if d is read else d for d in decisions]
        made: list[Decision] = []
    else:
        number = next((d for d in here if d.fact.rule.startswith(_NUMBER)), None)
        c = as_next(c, over, lexicon)
        if number is not None and c.subject == number.fact.subject:
            c = replace(c, subject=f"{number.fact.relation}:{number.fact.object}", is_about_user=False)
            bare = replace(number.fact, text=f"{number.fact.relation}: {number.fact.object}")
            known.put(bare)
            decisions = [replace(d, fact=bare) if d is number else d for d in decisions]
        by = new_fact(c, labels, id=new_id(), now=now)
        known.put(by)
        made = [Decision(op="add", fact=by, reason="how it stands")]
    for f in [*over, *told_beside([*over, *begun], known.values(), lexicon)]:
        if f.id == by.id:
            continue
        known.drop(f.id)
        row = closed(f, at=c.valid_from, by=by.id)
        if made and made[0].op == "add":
            made[0] = Decision(op="supersede", fact=by, previous=row, reason="how it stands")
        else:
            made.append(Decision(op="close", fact=row, previous=f, reason="how it stands"))
    return [*decisions, *made]


def _says_no_more(d: Decision, lexicon: Lexicon, *, over: bool) -> bool:
    """Whether what was kept of the sentence is told by the stage: in the user's own words, or as an attribute of the
    matter ("那张工单变成处理中了")."""
    base = d.fact.relation.partition(":")[0]
    if d.op != "add" or not (d.fact.rule == "open" or base in ("attribute", "single")):
        return False
    return (over and (d.fact.rule == "open" or tells_stage(d.fact, lexicon))) or tells_waiting(d.fact, lexicon)
