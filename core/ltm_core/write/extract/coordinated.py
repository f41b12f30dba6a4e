"""English clauses that tell two or more things of one form beside each other ("a house in Leeds and a flat in York",
"bank with Lloyds for the bills and with Monzo for the rest"): each is a fact of its own, which may end alone.
Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from ltm_core.write.extract.draft import Draft
from ltm_core.write.read.people import Subject
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon, Rules

_MOST = 4
"""Things of one clause that are told apart."""
_LONGEST = 9
"""Words of one thing."""
_RELATIONS = ("has", "uses", "owns", "habit", "about", "does")
"""Relations whose object may be any thing, besides words that no pattern reads."""


def told_apart(made: Sequence[Draft], read: Read, subject: Subject, lexicon: Lexicon) -> tuple[Draft, ...]:
    """The drafts, the only one of a clause taken apart when it tells several things of one form."""
    one = made[0] if len(made) == 1 else None
    if one is None or read.clause.language != "en" or subject.kind == "stranger":
        return tuple(made)
    if not one.positive or one.wrong or one.cut != (0, 0) or one.move not in (None, "state"):
        return tuple(made)
    if one.rule != "open" and one.relation not in _RELATIONS:
        return tuple(made)
    if any(read[cue] for cue in ("change", "correction", "question", "negation", "hard_cessation")):
        return tuple(made)
    spans = things(read.clause.norm, subject.rest, lexicon.rules("en"))
    if not spans:
        return tuple(made)
    whole = (spans[0][0], spans[-1][1])
    return tuple(replace(one, object=read.clause.norm[a:b], start=a, end=b, whole=whole) for a, b in spans)


def things(norm: str, start: int, rules: Rules) -> list[tuple[int, int]]:
    """The places of the things of one form that a clause tells behind its subject; none unless there are several."""
    end = len(norm.rstrip(" .!?,;"))
    joints = [m.span() for m in rules.parts["coordinated_joint"].finditer(norm, start, end)]
    if not 0 < len(joints) < _MOST or rules.parts["coordinated_not"].search(norm, start, end) is not None:
        return []
    edges = [start, *(e for joint in joints for e in joint), end]
    places = [(edges[i], edges[i + 1]) for i in range(0, len(edges), 2)]
    rest = [norm[a:b] for a, b in places[1:]]
    if any(not t or len(t.split()) > _LONGEST for t in rest):
        return []
    led = _led_by(rest, rules)
    if led:
        begin = norm.lower().rfind(f" {led} ", start, places[0][1]) + 1
    elif all(rules.parts["coordinated_verb"].match(t) for t in rest):
        begin = _own_verb(norm, *places[0], rest, rules)
    else:
        begin = _behind_verb(norm, *places[0], rest, rules)
    return [(begin, places[0][1]), *places[1:]] if begin > start else []


def _led_by(rest: Sequence[str], rules: Rules) -> str:
    """The word with which all things but the first begin and go on to say what for ("to Kwik Fit for tyres")."""
    found = [rules.parts["coordinated_led"].match(t) for t in rest]
    words = {m["word"].lower() for m in found if m is not None}
    return words.pop() if len(words) == 1 and all(found) else ""


def _own_verb(norm: str, start: int, end: int, rest: Sequence[str], rules: Rules) -> int:
    """Where the first thing begins when each has a verb of its own ("swim on Mondays and lift weights on Friday")."""
    begin = end - len(norm[start:end].lstrip())
    return begin if begin > start and _alike([norm[begin:end], *rest], rules) else 0


def _behind_verb(norm: str, start: int, end: int, rest: Sequence[str], rules: Rules) -> int:
    """Where the first thing begins when all share the verb ("have a house in Leeds and a flat in York")."""
    head = rules.parts["coordinated_head"].match(norm, start, end)
    if head is None or any(rules.parts["coordinated_noun"].match(t) is None for t in rest):
        return 0
    return head.end() if _alike([norm[head.end() : end], *rest], rules) else 0


def _alike(told: Sequence[str], rules: Rules) -> bool:
    """Whether all things are told by a noun and one joining word ("yoga on Mondays", "Pilates on Fridays")."""
    joins = [{m.lower() for m in rules.parts["coordinated_by"].findall(t)} for t in told]
    return all(one & other for one, other in pairwise(joins))
