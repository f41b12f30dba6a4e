"""English: what was told wrongly and is told again, in a message that admits it ("I named the wrong nut. It is
pistachios he reacts to"). Pure.

The statement beside the admission takes the place of the one thing that was told before in the same relation of the
same one. Where several were told it is not clear which was wrong, and all of them stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ltm_core.write.lexicon import Lexicon
from ltm_core.write.plan import Candidate, Turn, Utterance
from ltm_core.write.scopes import Read

_NEXT = 2
"""Sentences after the admission in which the right value may stand."""
_LOOK_BACK = 4
"""The user's last turns in which the wrong one may have been told."""
_REST = 16
"""Characters behind an admission that tell nothing of their own ("for years", "yesterday")."""
_VETOED = ("quotation", "fiction", "code", "role_play", "injection", "conditional", "body", "question")


def put_again(
    made: Sequence[Candidate],
    utterance: Utterance,
    reads: Sequence[Read],
    lexicon: Lexicon,
    *,
    heard: Callable[[Turn], Sequence[Candidate]],
) -> Iterator[Candidate]:
    """The candidates, with what one of them puts right."""
    places = [r for r in reads if _admits(r, lexicon)]
    if not places:
        yield from made
        return
    turns = [t for t in (*utterance.earlier, *utterance.before) if t.role == "user"][-_LOOK_BACK:]
    told = [c for t in turns for c in heard(t) if c.is_positive and c.rule != "open"]
    sentence = {r.clause.start: r.clause.sentence for r in reads}
    more = lexicon.rules("en").parts["one_more"]
    bare = {r.clause.start for r in places if _only_admits(r, lexicon)}
    for c in made:
        if len(c.evidence) == 1 and c.evidence[0].start in bare and not c.wrong_object:
            continue  # "I named the wrong nut" is no fact itself
        at = sentence.get(c.evidence[0].start, -1) if c.evidence else -1
        near = any(0 <= at - r.clause.sentence <= _NEXT for r in places)
        able = (
            near and c.is_positive and c.rule != "open" and not c.wrong_object and c.move not in ("cease", "change")
        )
        old = {o.object_normalized: o for o in told if o.relation == c.relation and o.subject == c.subject}
        able = able and more.search(c.text) is None
        if not able or len(old) != 1 or c.object_normalized in old or sum(_same(c, o) for o in made) > 1:
            yield c
            continue
        yield replace(c, wrong_object=next(iter(old)), move="correct", reach="subject")


def _admits(r: Read, lexicon: Lexicon) -> bool:
    """Whether the clause says that something was told wrongly."""
    if r.clause.language != "en" or r.veto in _VETOED:
        return False
    return lexicon.rules("en").parts["admits_wrong"].search(r.clause.norm) is not None


def _only_admits(r: Read, lexicon: Lexicon) -> bool:
    """Whether the clause says no more than that."""
    m = lexicon.rules("en").parts["admits_wrong"].search(r.clause.norm)
    return m is not None and len(r.clause.norm) - m.end() < _REST


def _same(one: Candidate, other: Candidate) -> bool:
    return one.relation == other.relation and one.subject == other.subject
