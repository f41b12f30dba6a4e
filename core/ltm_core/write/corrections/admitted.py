"""English: what was told wrongly and is told again, in a message that admits it ("I named the wrong nut. It is
pistachios he reacts to"). Pure.

The statement beside the admission takes the place of the one thing that was told before in the same relation of the
same one. Where several were told it is not clear which was wrong, and all of them stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ltm_core.write.corrections.restated import NOT_SAID
from ltm_core.write.plan import Candidate, Turn, Utterance
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon

_NEXT = 2
"""Sentences after the admission in which the right value may stand."""
_LOOK_BACK = 4
"""The user's last turns in which the wrong one may have been told."""
_REST = 16
"""Characters behind an admission that tell nothing of their own ("for years", "yesterday")."""


def put_again(
    made: Sequence[Candidate],
    utterance: Utterance,
    reads: Sequence[Read],
    lexicon: Lexicon,
    *,
    heard: Callable[[Turn], Sequence[Candidate]],
) -> Iterator[Candidate]:
    """The candidates, with what one of them puts right."""
    admits = [(r, m.end()) for r in reads if (m := _admission(r, lexicon)) is not None]
    places = [r for r, _ in admits]
    if not places:
        yield from made
        return
    turns = [t for t in (*utterance.earlier, *utterance.before) if t.role == "user"][-_LOOK_BACK:]
    told = [c for t in turns for c in heard(t) if c.is_positive and c.rule != "open"]
    sentence = {r.clause.start: r.clause.sentence for r in reads}
    more = lexicon.rules("en").parts["one_more"]
    bare = {r.clause.start for r, end in admits if len(r.clause.norm) - end < _REST}
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


def _admission(r: Read, lexicon: Lexicon) -> re.Match[str] | None:
    """The words of the clause that say that something was told wrongly."""
    if r.clause.language != "en" or r.veto in (*NOT_SAID, "question"):
        return None
    return lexicon.rules("en").parts["admits_wrong"].search(r.clause.norm)


def _same(one: Candidate, other: Candidate) -> bool:
    return one.relation == other.relation and one.subject == other.subject
