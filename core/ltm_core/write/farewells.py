"""Statements that only tell what became of an old value, in a message that gives the new one: they are no facts of
their own ("迈腾抵给4S店，置换了一辆帕萨特"). Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ltm_core.types import Fact
from ltm_core.write.lexicon import Lexicon
from ltm_core.write.news import words
from ltm_core.write.plan import Decision


def without_farewells(decisions: Sequence[Decision], open_: Collection[str], lexicon: Lexicon) -> list[Decision]:
    """The decisions without Chinese statements in the user's own words (``open_``: their ids) that name what the
    message replaces and come before its new value."""
    made = {d.fact.id: d.fact for d in decisions if d.op in ("add", "supersede")}
    over = [
        (d.previous, d.fact) if d.op == "supersede" else (d.fact, made.get(d.fact.superseded_by or ""))
        for d in decisions
        if d.previous is not None and d.op in ("supersede", "close")
    ]
    gone = {
        i
        for i in open_
        for old, new in over
        if i in made and old is not None and new is not None and _takes_leave(made[i], old, new, lexicon)
    }
    return [d for d in decisions if d.fact.id not in gone]


def _takes_leave(told: Fact, old: Fact, new: Fact, lexicon: Lexicon) -> bool:
    """Whether a statement before the new value names what the old fact was about and the new one is not."""
    if told.text.isascii() or new.id == told.id or not new.is_positive or old.subject != told.subject:
        return False
    if not told.evidence or not new.evidence or told.evidence[0].start >= new.evidence[0].start:
        return False
    function = lexicon.gate.function
    value = old.text if old.relation in lexicon.sets["own_words"] else old.object
    return bool(words(told.text, function) & words(value, function) - words(new.object, function))
