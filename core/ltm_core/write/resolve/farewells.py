"""Statements that only tell what became of an old value, in a message that gives the new one: they are no facts of
their own ("迈腾抵给4S店，置换了一辆帕萨特", "Back on Firefox, Brave kept nagging me"). What was kept of words that
turn out to end something known is none either; what is known beside the message is kept in step.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from ltm_core.types import Fact
from ltm_core.write.endings.ended import names_fact
from ltm_core.write.known.known import Known
from ltm_core.write.known.mentions import content, names
from ltm_core.write.known.news import words
from ltm_core.write.plan import Candidate, Decision
from ltm_core.write.words.lexicon import Lexicon


def without_farewells(decisions: Sequence[Decision], open_: Collection[str], lexicon: Lexicon) -> list[Decision]:
    """The decisions without statements in the user's own words (``open_``: their ids) that name what the message
    replaces; in Chinese those that come before its new value."""
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
    return _without(decisions, gone)


def _without(decisions: Sequence[Decision], gone: Collection[str]) -> list[Decision]:
    """The decisions without the facts that are not to be made: what took the place of one of them in the same message
    took nothing's place."""
    return [
        replace(d, op="add", previous=None) if d.previous is not None and d.previous.id in gone else d
        for d in decisions
        if d.fact.id not in gone
    ]


def ended_before(decisions: Sequence[Decision], ending: Candidate, lexicon: Lexicon) -> bool:
    """Whether something that the words name was ended by another clause of the message."""
    return any(
        d.op in ("supersede", "close", "retract")
        and d.previous is not None
        and names_fact(ending, d.previous, lexicon)
        for d in decisions
    )


def without_news(
    decisions: list[Decision], open_: dict[str, Decision], ending: Candidate, known: Known
) -> list[Decision]:
    """The decisions without what was kept of the same words as mere news: they ended something, and say no more."""
    news = {i for i, d in open_.items() if set(d.fact.evidence) & set(ending.evidence)}
    news |= {  # "EU5退了" of a car that is known tells of no order
        d.fact.id
        for d in decisions
        if d.op == "add" and d.fact.subject.startswith("item:") and set(d.fact.evidence) & set(ending.evidence)
    }
    for i in news:
        known.drop(i)
    return _without(decisions, news)


def without_partner(decisions: list[Decision], ending: Candidate, known: Known, lexicon: Lexicon) -> list[Decision]:
    """The decisions with the news that one parted told without the name of the one parted from."""
    if ending.subject.partition(":")[0] not in lexicon.sets["partners"]:
        return decisions
    out = []
    for d in decisions:
        if d.fact.relation == "marital_status" and set(d.fact.evidence) & set(ending.evidence) and d.op == "add":
            d = replace(d, fact=replace(d.fact, text=d.fact.object))
            known.put(d.fact)
        out.append(d)
    return out


def _takes_leave(told: Fact, old: Fact, new: Fact, lexicon: Lexicon) -> bool:
    """Whether a statement before the new value names what the old fact was about and the new one is not."""
    if told.id in (new.id, old.id) or old.subject != told.subject:
        return False
    if not any(c > "\u2e80" for c in told.text):
        return _names_old(told, old, new, lexicon)
    if not new.is_positive:
        return False
    if not told.evidence or not new.evidence or told.evidence[0].start >= new.evidence[0].start:
        return False
    if len(old.object) > 1 and old.object in told.text and old.object not in new.object:
        return True
    function = lexicon.gate.function
    value = old.text if old.relation in lexicon.sets["own_words"] else old.object
    return bool(words(told.text, function) & words(value, function) - words(new.object, function))


def _names_old(told: Fact, old: Fact, new: Fact, lexicon: Lexicon) -> bool:
    """Whether an English statement is about the old value: it holds a name in it that the new one has not, or all
    words of a value that is known as such; and it does not say that something of it is left."""
    if lexicon.shared["news_not"].search(told.text):
        return False
    own = old.relation in lexicon.sets["own_words"]
    named = set(names(old.text if own else old.object, begins=own)) - set(names(new.text, begins=False))
    if any(re.search(rf"\b{re.escape(n)}\b", told.text) for n in named):
        return True
    value = set(content(old.object, lexicon)) - set(content(new.object, lexicon))
    return not own and bool(value) and value <= set(content(told.text, lexicon))
