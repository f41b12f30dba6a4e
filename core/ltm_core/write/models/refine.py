"""What a model found against what the rules wrote of the same turn, and against what was said since. Pure.

The rules come first: their facts of a clause stand, and a model adds what they missed. Only a fact that no pattern
read, kept in the user's own words, gives way to one with a relation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ltm_core.types import Fact
from ltm_core.write.known.match import related, same_subject, same_thing
from ltm_core.write.plan import Candidate
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold

Repeat: TypeAlias = Literal["known", "contradicted", "overtaken"]
"""The rules wrote it of the same words; they read the same words otherwise; or the user said otherwise since."""
_OPEN = "open"


@dataclass(frozen=True, slots=True)
class Fresh:
    """A candidate to be learnt, and the facts in the user's own words that it replaces."""

    candidate: Candidate
    replaces: tuple[Fact, ...] = ()


def fresh(c: Candidate, facts: Iterable[Fact], lexicon: Lexicon) -> Fresh | Repeat:
    """The candidate, or why it is not needed. ``facts``: those of the candidate's message, and those of its
    subject about the same object, current or not."""
    replaces: list[Fact] = []
    for f in facts:
        if not same_subject(f, c):
            continue
        here = any(a.message_id == b.message_id and a.start < b.end and b.start < a.end
                   for a in f.evidence for b in c.evidence)  # fmt: skip
        if here:
            verdict = _beside(f, c, lexicon)
            if verdict is not None:
                return verdict
            if _is_open(f) and f.is_current and _holds(f.object, c.object):
                replaces.append(f)
        elif _is_overtaken(c, f, lexicon):
            return "overtaken"
    return Fresh(c, tuple(replaces))


def _beside(f: Fact, c: Candidate, lexicon: Lexicon) -> Repeat | None:
    """How a fact of the same clause decides about the candidate, if it does."""
    if _is_open(f):
        named = c.relation in lexicon.relations and c.relation != "about"
        return "known" if _holds(f.object, c.object) and not named else None
    touching = _holds(f.object, c.object) or _holds(c.object, f.object)
    if f.is_positive != c.is_positive:
        return "contradicted" if touching else None
    if f.relation == c.relation and c.single_valued and not touching:
        return "contradicted"
    if not touching:
        return None
    # A relation that nobody knows adds nothing to what a pattern read of the same words.
    repeats = related(f, c, lexicon) or c.relation not in lexicon.relations or fold(f.object) == fold(c.object)
    return "known" if repeats else None


def _is_overtaken(c: Candidate, f: Fact, lexicon: Lexicon) -> bool:
    """Whether later words denied, ended or withdrew what an earlier turn, read only now, states."""
    said = c.said_at or c.valid_from
    if not related(f, c, lexicon) or not same_thing(f, c.object_normalized):
        return False
    if f.is_positive != c.is_positive:
        return max(f.last_seen_at, f.valid_from) > said
    ends: Sequence[object] = [t for t in (f.valid_to, f.retracted_at) if t is not None and t > said]
    return bool(ends)


def _is_open(f: Fact) -> bool:
    return f.rule == _OPEN


def _holds(whole: str, part: str) -> bool:
    return fold(part) in fold(whole)


__all__ = ["Fresh", "Repeat", "fresh"]
