"""The public search: every time expression of a text, in order."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime

from ltm_core.errors import InvalidTimeError

from .compose import join, mention, recurring, today
from .groups import Groups
from .lexicon import Lexicon, Rule, fold, lexicon
from .tense import leaning
from .types import Atom, Clock, Moment, Prefer, Reading, TimeMention

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


def _languages(folded: str, hint: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The lexicons to read a text with, and the ones to try if those find nothing."""
    if folded.isascii():
        return ("en",), ()
    first = (hint or "").partition("-")[0].lower()
    if first == "ja":
        return ("ja", "en"), ()
    if _KANA.search(folded):
        return ("ja", "zh", "en"), ()
    return ("zh", "en"), () if first == "zh" else ("ja",)


def _atom(rule: Rule, words: Lexicon, match: re.Match[str]) -> Atom:
    from .rules import RESOLVERS  # deferred: the readings are needed only once a text has a time in it

    groups, reader = Groups(rule, words, match), RESOLVERS[rule.kind]
    start, end = match.span("span1") if "span1" in match.re.groupindex else match.span()

    def resolve(at: Moment) -> Reading | None:
        try:
            return reader(groups, at)
        except _OUT_OF_CALENDAR:
            return None

    return Atom(
        start=start, end=end, language=words.language, kind=rule.kind, weak=rule.weak, resolve=resolve
    )


def _matches(text: str, folded: str, tokens: set[str], languages: tuple[str, ...]) -> list[Atom]:
    atoms: list[tuple[int, int, bool, int, Atom]] = []
    for rank, language in enumerate(languages):
        words = lexicon(language)
        if words.cues.isdisjoint(tokens):
            continue
        for rule in words.rules:
            if rule.cues.isdisjoint(tokens) or (rule.also and rule.also.isdisjoint(tokens)):
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
        if atom.start < free or recurring(folded, atom):
            continue
        if atom.resolve(at) is None:
            continue
        chosen.append(atom)
        free = atom.end
    return chosen


def search(
    text: str, *, now: datetime, language: str | None, prefer: Prefer, weak: bool
) -> tuple[TimeMention, ...]:
    """``find_times``, with the forms too slight for running text let in when ``weak``."""
    if now.tzinfo is None or now.utcoffset() is None:
        raise InvalidTimeError("now must be an aware datetime: its zone is the user's")
    folded = fold(text)
    tokens = _tokens(folded)
    at = Moment(now=now, prefer=prefer)
    first, second = _languages(folded, language)
    atoms = _matches(text, folded, tokens, first) or _matches(text, folded, tokens, second)
    if not atoms:
        return ()

    def lean(atom: Atom) -> Moment:
        return leaning(folded, atom, at)

    found: list[TimeMention] = []
    for atom in join(folded, _choose(folded, atoms, at), lean):
        if atom.weak and not weak:
            continue
        moment = lean(atom)
        try:
            span = atom.resolve(moment)
            if isinstance(span, Clock):
                span = replace(today(span, moment))
            made = mention(text, atom, span, at) if span is not None else None
        except _OUT_OF_CALENDAR:
            continue
        if made is not None and made.start >= (found[-1].end if found else 0):
            found.append(made)
    return tuple(found)


def find_times(
    text: str, *, now: datetime, language: str | None = None, prefer: Prefer = "past"
) -> tuple[TimeMention, ...]:
    """Every time expression of ``text``, resolved in the day of ``now``; disjoint and in order.

    ``now`` must be aware, and its zone is the user's. ``prefer`` places a form that could be either ("Friday",
    "in March") before or after now; a tense in the clause overrides it. ``language`` is a hint: English is
    read in any text, Chinese and Japanese by their characters. Seasons are those of the northern half.
    """
    return search(text, now=now, language=language, prefer=prefer, weak=False)
