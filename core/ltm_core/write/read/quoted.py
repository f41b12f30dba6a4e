"""Which clauses are another's words in the first person: what a post, a sign, a song or somebody overheard says.

Pure. The cues of a clause see a quotation that the clause itself announces; here the whole message is read, as a
source may be named several clauses before its words, and a quoted sentence may be cut into clauses of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ltm_core.write.read.clauses import Clause
from ltm_core.write.words.lexicon import Lexicon

_LANGUAGES = ("en", "zh")
_MOST_READ = 2000
"""Characters in which a source is looked for."""
_LEAST = 6
"""Characters between marks that may be a sentence of another's."""
_OPENING = "“「『"
_AMBIGUOUS = '"'
"""Opens and closes."""
_EITHER = re.compile(r'["“「『”」』]')
_BEFORE = 40
"""Characters before a quotation that may say whose words it holds."""


def quoted_clauses(clauses: Sequence[Clause], lexicon: Lexicon) -> frozenset[int]:
    """Indices of the clauses whose words are another's."""
    if not clauses:
        return frozenset()
    text = "".join(_pieces(clauses, plain=True))
    spans = list(_spans(text, clauses, lexicon))
    return frozenset(
        i
        for i, c in enumerate(clauses)
        if any(2 * (min(end, c.end) - max(start, c.start)) > len(c.norm.strip()) for start, end in spans)
    )


def _pieces(clauses: Sequence[Clause], *, plain: bool) -> Iterator[str]:
    """The message, every clause at its place, in its normal form if ``plain``."""
    at = 0
    for c in clauses:
        if c.end > _MOST_READ:
            break
        own = c.norm if plain else c.text
        yield " " * (c.start - at) + own
        at = c.start + len(own)


def _marked(text: str) -> Iterator[tuple[int, int]]:
    """Stretches between quotation marks, those without a closing mark to the end."""
    start = -1
    for m in _EITHER.finditer(text):
        mark = m.group()
        if start < 0 and (mark in _OPENING or (mark == _AMBIGUOUS and not text[m.start() - 1 : m.start()].isdigit())):
            start = m.end()
        elif start >= 0 and mark not in _OPENING:
            yield start, m.start()
            start = -1
    if start >= 0:
        yield start, len(text)


def _spans(text: str, clauses: Sequence[Clause], lexicon: Lexicon) -> Iterator[tuple[int, int]]:
    """Stretches of the message, each from the words that name its source to the end of what is quoted."""
    marked = list(_marked("".join(_pieces(clauses, plain=False))))
    for language in _LANGUAGES:
        parts = lexicon.rules(language).parts
        for m in parts["quote_exercise"].finditer(text):
            yield m.start(), len(text)
        for m in parts["quote_source"].finditer(text):
            yield m.start(), _end(text, m.end(), clauses, lexicon)
        for m in parts["quote_after"].finditer(text):
            yield _begin(m.end() - 1, clauses), m.end()
        own, first = parts["quote_own"], parts["quote_first"]
        for start, end in marked:
            said = text[start:end]
            if len(said) >= _LEAST and first.search(said) and not own.search(text[max(0, start - _BEFORE) : start]):
                yield start, end


def _begin(at: int, clauses: Sequence[Clause]) -> int:
    """Where the sentence begins that stands before the one at ``at``, or that one if it is the first."""
    here = next((c.sentence for c in clauses if c.end > at), clauses[-1].sentence)
    return min((c.start for c in clauses if c.sentence in (here, here - 1)), default=0)


def _end(text: str, start: int, clauses: Sequence[Clause], lexicon: Lexicon) -> int:
    """Where the words end that a source is quoted with from ``start`` on: at the closing mark if there is an opening
    one, else with the sentence and those after it that go on in the first person."""
    if text[start - 1] in _OPENING + _AMBIGUOUS:
        closing = _EITHER.search(text, start)
        return closing.end() if closing else len(text)
    sentence = next((c.sentence for c in clauses if c.end > start), clauses[-1].sentence)
    end = start
    marked = text[:start].rstrip().endswith((":", "："))
    for c in clauses:
        if c.sentence == sentence:
            end = c.end
        elif c.sentence == sentence + 1 and marked and _goes_on(c, lexicon):
            sentence, end = c.sentence, c.end
    return end


def _goes_on(clause: Clause, lexicon: Lexicon) -> bool:
    parts = lexicon.rules(clause.language).parts
    return "quote_first" in parts and parts["quote_first"].match(clause.norm.lstrip()) is not None
