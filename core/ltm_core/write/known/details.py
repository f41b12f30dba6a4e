"""Statements that only add a figure or a kind to what was told just before them, or tell the same thing in other
relations: they hold as long as it does. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ltm_core.types import Fact
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.load import default_lexicon

_DIGITS = re.compile(r"\d+")
_FRAME = ".frame."
"""In the names of rules that read what is done by the verb alone."""
_LONGEST = 10
"""Characters of a Chinese statement that can be a mere detail; an English one may have three times as many."""
_NEAR = 2
"""Characters between two statements, one of which stands right behind the other."""


def is_detail_of(fact: Fact, other: Fact) -> bool:
    """Whether a statement only adds a figure or a kind to a value told just before it ("大王卡，39块那档", "I vape,
    mostly mint"), or what is done there ("我在里面打鼓")."""
    if (fact.rule != "open" and fact.relation not in ("habit", "medication")) or not fact.is_positive:
        return False
    shared = default_lexicon().shared
    if shared["detail_there"].match(fact.object) is None:
        if "我" in fact.object:
            return False
        if not _DIGITS.search(fact.object) and not shared["detail_amount"].match(fact.object):
            return False
    same = fact.relation == "medication" and not set(fact.evidence).isdisjoint(other.evidence)
    return _is_brief(fact.object) and (same or _is_told_next(fact, other))


def is_time_of(fact: Fact, other: Fact) -> bool:
    """Whether a statement without a subject only says when or how often is done what was told just before it ("I sit
    on the council, every second Tuesday"; "订了鲜牛奶，每天早上送两瓶"): it is over with it."""
    if fact.rule != "open" and _FRAME not in fact.rule:
        return False
    shared = default_lexicon().shared
    return (
        fact.is_positive
        and not shared["when_told"].search(other.text)  # "周一跑步，周三游泳" tells of two
        and fact.subject == other.subject
        and _is_brief(fact.text)
        and shared["detail_when"].match(fact.text.lower()) is not None
        and _is_told_next(fact, other)
    )


def _is_brief(text: str) -> bool:
    return len(text) <= _LONGEST * (3 if text.isascii() else 1)


def _is_told_next(fact: Fact, other: Fact) -> bool:
    """Whether a statement stands right behind another, with a mark and a space between them at most."""
    return any(
        a.message_id == b.message_id and 0 <= a.start - b.end <= _NEAR for a in fact.evidence for b in other.evidence
    )


def one_life(f: Fact, other: Fact, lexicon: Lexicon) -> bool:
    """Whether two facts are one thing told in one clause: who works somewhere as something does neither any
    longer when the place is gone."""
    family = lexicon.relation(f.relation).family
    same = family == "work" and family == lexicon.relation(other.relation).family
    return same and f.subject == other.subject and bool(f.evidence) and f.evidence == other.evidence


def told_with(over: Sequence[Fact], facts: Iterable[Fact], lexicon: Lexicon, *, ends: bool = False) -> list[Fact]:
    """The facts that hold only as long as those that are over; ``ends``: nothing has taken their place, so that when
    it was done is told of nothing any longer."""
    rest = [f for f in facts if f.is_positive and f not in over]
    return [
        f
        for f in rest
        if any(is_detail_of(f, o) or one_life(f, o, lexicon) or (ends and is_time_of(f, o)) for o in over)
    ]
