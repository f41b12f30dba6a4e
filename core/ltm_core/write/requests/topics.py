"""What the words of a topic mean, as facts may tell it: "the bankruptcy" is told by "I went bankrupt".

A request names a topic in the user's words of today. Where no fact holds just these, they are read more freely, in
steps: with the words of one family and the relation that a word is the name of; without words like "topic" or
"story"; each of two things that are named together. Keeping quiet goes further than erasing: it can be undone.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ltm_core.text.terms import terms
from ltm_core.write.plan import Named, Reading
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold, trim
from ltm_core.write.words.topic_words import Topics

_ROOT = 6
"""Letters that words of one family must share."""


def readings(target: str, language: str, lexicon: Lexicon, *, quiet: bool) -> tuple[Reading, ...]:
    """How the target may be understood, the nearest reading first; ``quiet`` when it is only to be kept quiet."""
    topics = lexicon.topics.get(language)
    if topics is None:
        return ()
    parts = lexicon.rules(language).parts
    bare = trim(parts["talk_tail"].sub("", parts["talk_head"].sub("", target, count=1)))
    found: list[Reading] = []
    for words in dict.fromkeys(w for w in (target, bare) if w):
        found.append((_row(words, topics, lexicon, quiet=quiet),))
    pieces = [trim(p) for p in topics.joints.split(bare)]
    if len(pieces) > 1 and all(pieces):
        found.append(tuple(_row(p, topics, lexicon, quiet=quiet) for p in pieces))
    if quiet:
        found += [(_row(w, topics, lexicon, quiet=quiet),) for w in (*_without_head(bare), *_head(bare, topics))]
    return tuple(r for r in dict.fromkeys(found) if r and all(r))


def person_named(target: str, language: str, lexicon: Lexicon) -> str:
    """The key of the relative that the words are, with or without a name; empty when they are something else."""
    kin = lexicon.rules(language).kin
    noun = fold(target)
    return kin.get(noun) or kin.get(noun.rpartition(" ")[0]) or ""


def _row(words: str, topics: Topics, lexicon: Lexicon, *, quiet: bool) -> tuple[Named, ...]:
    """What a fact must tell to be about all the words."""
    row: list[Named] = []
    alone: list[int] = []
    rest = words
    for topic in topics.of(words):
        m = topic.named.search(rest)
        if m is None:
            continue
        same = [t for t in topics.of(words) if (n := t.named.search(rest)) is not None and n.span() == m.span()]
        said = "|".join(s for t in same for s in (t.said, t.around if quiet else "") if s)
        relations = frozenset[str]().union(*(t.relations for t in same))
        rest = rest[: m.start()] + " " + rest[m.end() :]
        if any(t.beside for t in same):
            alone.append(len(row))
        row.append(Named(terms=frozenset(terms(m.group(), query=True)), said=said, relations=relations))
    for word in rest.split():
        meant = frozenset(terms(word.removesuffix("'s"), query=True))
        if meant and fold(word) not in topics.faint:
            row.append(Named(terms=meant, said=_family(word, topics, lexicon, quiet=quiet)))
    if len(alone) == len(row):
        row = [replace(n, said="") for n in row]
    return tuple(row)


def _family(word: str, topics: Topics, lexicon: Lexicon, *, quiet: bool) -> str:
    """An expression for the words formed like this one; for keeping quiet, for the members of a class too."""
    low = fold(word).removesuffix("'s")
    said: list[str] = []
    if low.isalpha() and low.isascii():
        roots = [low.removesuffix(s) for s in topics.suffixes if low.endswith(s)]
        root = min((r for r in roots if len(r) >= _ROOT), key=len, default="")
        if root:
            said.append(rf"\b{root}\w{{0,5}}\b")
    named = lexicon.class_names.get(low) if quiet else None
    if named is not None:
        said.append(r"\b(?:" + "|".join(re.escape(m) for m in sorted(lexicon.classes[named]) if m.isascii()) + r")\b")
    return "|".join(said)


def _without_head(words: str) -> list[str]:
    """Shorter words for the same topic: "Jordan's prison sentence" is still named by "Jordan's prison"."""
    shorter = words.split()
    return [" ".join(shorter[:-1])] if len(shorter) > 1 else []


def _head(words: str, topics: Topics) -> list[str]:
    """The last word, where it is the name of a topic by itself: "the tax debt" is a debt."""
    first, _, last = words.rpartition(" ")
    return [last] if first and any(not t.beside for t in topics.of(last)) else []
