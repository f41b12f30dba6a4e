"""The search itself: which lexicons to read a text with, what matched, and what it comes to."""

from __future__ import annotations

import re
from datetime import datetime

from .compose import Leaning, join, mention, recurring, today
from .groups import Groups
from .lexicon import Lexicon, Rule, fold, lexicon
from .readings import Atom, Clock, Moment, Reading, Span
from .rules import RESOLVERS
from .tense import leaning
from .types import Prefer, TimeMention

_WORD = re.compile("[a-z]+")
_DIGIT = re.compile("[0-9]")
_KANA = re.compile("[\u3041-\u30fe]")
_OUT_OF_CALENDAR = (OverflowError, ValueError)


def _tokens(folded: str) -> set[str]:
    """What a rule's cues are looked for in: words of Latin letters, other characters, "#" for any digit."""
    found = set(_WORD.findall(folded))
    if not folded.isascii():
        found.update(c for c in set(folded) if c > "\x7f")
    if _DIGIT.search(folded):
        found.add("#")
    return found


def _languages(folded: str, hint: str | None) -> tuple[str, ...]:
    """The lexicons to read a text with; the first wins where two read the same words."""
    if folded.isascii():
        return ("en",)
    first = (hint or "").partition("-")[0].lower()
    if first == "ja":
        return ("ja", "en")
    if _KANA.search(folded):
        return ("ja", "zh", "en")
    if first != "zh" and lexicon("ja").distinct.search(folded):
        return ("zh", "ja", "en")
    return ("zh", "en")


def _atom(rule: Rule, words: Lexicon, match: re.Match[str]) -> Atom:
    groups, reader = Groups(rule, words, match), RESOLVERS[rule.kind]
    start, end = match.span("span1") if "span1" in match.re.groupindex else match.span()

    last: tuple[Moment, Reading | None] | None = None

    def resolve(at: Moment) -> Reading | None:
        nonlocal last
        # Choosing, joining and dating ask again at the same moment.
        if last is None or last[0] is not at:
            try:
                last = at, reader(groups, at)
            except _OUT_OF_CALENDAR:
                last = at, None
        return last[1]

    return Atom(start=start, end=end, language=words.language, kind=rule.kind, weak=rule.weak, resolve=resolve)


def _matches(text: str, folded: str, tokens: set[str], languages: tuple[str, ...]) -> list[Atom]:
    atoms: list[tuple[int, int, bool, int, Atom]] = []
    for rank, language in enumerate(languages):
        words = lexicon(language)
        for place in sorted({p for t in tokens if t in words.cued for p in words.cued[t]}):
            rule = words.rules[place]
            if rule.also and rule.also.isdisjoint(tokens):
                continue
            for match in rule.pattern.finditer(folded):
                atom = _atom(rule, words, match)
                if rule.capital and not text[atom.start].isupper():
                    continue
                atoms.append((atom.start, -atom.end, atom.weak, rank, atom))
    atoms.sort(key=lambda entry: entry[:4])
    return [entry[4] for entry in atoms]


def _choose(folded: str, atoms: list[Atom], at: Moment) -> list[Atom]:
    """The longest atom at the earliest place, over and over, of those that mean something."""
    chosen: list[Atom] = []
    free = 0
    for atom in atoms:
        if atom.start < free or atom.resolve(at) is None:
            continue
        free = atom.end
        if not recurring(folded, atom):
            chosen.append(atom)
    return chosen


def _settled(atom: Atom, at: Moment, lean: Leaning) -> tuple[Moment, Reading | None]:
    """The atom's reading, with the tense around it looked up only if it can matter."""
    span = atom.resolve(at)
    if isinstance(span, Span) and not span.ambiguous and atom.kind not in ("count", "range"):
        return at, span
    moment = lean(atom)
    return moment, atom.resolve(moment)


def search(text: str, *, now: datetime, language: str | None, prefer: Prefer, weak: bool) -> tuple[TimeMention, ...]:
    """``find_times``, with the forms too slight for running text let in when ``weak``."""
    folded = fold(text)
    tokens = _tokens(folded)
    at = Moment(now=now, prefer=prefer)
    atoms = _matches(text, folded, tokens, _languages(folded, language))
    if not atoms:
        return ()

    def lean(atom: Atom) -> Moment:
        return leaning(folded, atom, at)

    found: list[TimeMention] = []
    for atom in join(folded, _choose(folded, atoms, at), lean):
        if atom.weak and not weak:
            continue
        try:
            moment, span = _settled(atom, at, lean)
            if isinstance(span, Clock):
                span = today(span, moment)
            made = mention(text, atom, span, at) if span is not None else None
        except _OUT_OF_CALENDAR:
            continue
        if made is not None and made.start >= (found[-1].end if found else 0):
            found.append(made)
    return tuple(found)
