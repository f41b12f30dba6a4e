"""Which way a clause leans: the words around a time that make it past or future."""

from __future__ import annotations

import re

from .lexicon import lexicon
from .readings import Atom, Moment
from .types import Prefer

_REACH = 64
_SENTENCE = re.compile(r"[;!?。\n]|\.(?=\s)")
_CLAUSE = re.compile(r"[,;!?。\n、]|\.(?=\s)")


def _around(text: str, atom: Atom, breaks: re.Pattern[str]) -> str:
    before = text[max(0, atom.start - _REACH) : atom.start]
    after = text[atom.end : atom.end + _REACH]
    # The atom stays in, as a gap: its neighbours must not run together.
    return breaks.split(before)[-1] + " \N{WHITE SQUARE} " + breaks.split(after, maxsplit=1)[0]


def leaning(text: str, atom: Atom, at: Moment) -> Moment:
    """The moment with the leaning of the atom's clause, else of its sentence, else the caller's."""
    words = lexicon(atom.language)
    for breaks in (_CLAUSE, _SENTENCE):
        clause = _around(text, atom, breaks)
        if words.ahead.search(clause):
            return Moment(now=at.now, prefer="future", cued=True)
        past, future = bool(words.past.search(clause)), bool(words.future.search(clause))
        if past != future:
            prefer: Prefer = "past" if past else "future"
            return Moment(now=at.now, prefer=prefer, cued=True)
        if past:
            return at
    return at
