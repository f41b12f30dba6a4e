"""What has one value at a time, told with another one: "bed at half past seven", "they've talked us into eight now".
Data: ``slots.toml`` of the lexicon. Pure."""

from __future__ import annotations

import re

from ltm_core.types import Fact
from ltm_core.write.endings.touching import only_touches
from ltm_core.write.known.mentions import stem
from ltm_core.write.known.values import values
from ltm_core.write.words.lexicon import Lexicon, Opposite
from ltm_core.write.words.load import default_lexicon
from ltm_core.write.words.norm import normal

VALUES = ("v", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9")
"""Groups of both expressions of which one holds the value."""
_WORD = re.compile(r"[\w&'-]+")
_SORTED = re.compile(r"(?P<sort>[A-Za-z-]+) (?=(?P<head>[A-Za-z-]+))")
"""A word and the one before it."""
_NO_SORT = ("ed", "ing", "ly")
"""Ends of words that say of no thing of which sort it is."""
_DATED = re.compile(r" \(\d{4}[^)]*\)$")
"""When something is or was so, as facts add it to their words."""
_MY = frozenset(["my", "our"])
_ME = frozenset(["i", "me", "my", "mine", "we", "us", "our", "ours", "i'm", "i've", "we're", "we've"])
_LEAST = 3
"""Characters of a word that names something."""


def tells_value(by: Opposite, m: re.Match[str], text: str, lexicon: Lexicon) -> bool:
    """Whether the words give a value that is to last, and say that something changed if they must."""
    parts = lexicon.rules("en").parts
    if by.gives_value and parts["for_a_while"].search(text) is not None:
        return False
    if by.kind and not values(text, by.kind):
        return False
    if by.gives_value and not by.kind and not value_of(m):
        return False
    return not by.sign or parts["of_change"].search(text) is not None


def value_of(m: re.Match[str]) -> str:
    """The value that an expression caught."""
    return next((m[g] for g in VALUES if g in m.re.groupindex and m[g]), "")


def another_value(
    by: Opposite, m: re.Match[str], fact: Fact, *, value: str, text: str, function: frozenset[str]
) -> bool:
    """Whether a fact in which the expression was found gives another value than the words; so do all where there are
    none to compare."""
    if not by.gives_value:
        return True
    if _is_of_someone_else(fact, text):
        return False
    held = value_of(m)
    if held and value and _is_same(_words(held, function), _words(value, function)):
        return False
    if by.kind:
        one, two = values(normal(_DATED.sub("", fact.text)), by.kind), values(text, by.kind)
        if not one or not two or one & two:
            return False
    if by.shared and only_touches(fact, text, default_lexicon(), whole=False):
        return False
    return not by.shared or _same_thing(fact.text, text, function)


def _is_of_someone_else(fact: Fact, text: str) -> bool:
    """Whether the words tell of what is somebody's who is not in the fact ("my neighbour's case", "put my mum on"),
    of what is at another place, or of another relative or animal than the one that the fact is about."""
    rules = default_lexicon().rules("en")
    held = fact.text.casefold()
    other, place = rules.parts["of_someone_else"].search(text), rules.parts["at_a_place"].match(text)
    if other is not None and other.group().strip().casefold() not in held:
        return True
    if place is not None and place["where"].casefold() not in held:
        return True
    about, _, name = fact.subject.partition(":")
    told = _WORD.findall(text.casefold().replace("'s", ""))
    if fact.subject == (fact.speaker or "user"):
        kin = [i for i, w in enumerate(told) if w in rules.kin and w not in held and _owned_apart(told, i)]
        rest = [w for i, w in enumerate(told) if i + 1 not in kin]
        return bool(kin) and not _ME.intersection(rest)
    if about not in rules.kin.values() and about not in rules.pets.values():
        return False
    named = {rules.kin.get(w) or rules.pets.get(w) for w in told} - {None}
    return bool(named) and about not in named and name.casefold() not in told


def _owned_apart(told: list[str], i: int) -> bool:
    """Whether "my" stands before a word behind the first two, and it is nobody with whom one does it oneself ("moved
    in with my boyfriend")."""
    return i > 1 and told[i - 1] in _MY and told[i - 2] != "with"


def _words(text: str, function: frozenset[str]) -> list[str]:
    """What tells one value from another: neither titles nor what any church or school may be called."""
    common = default_lexicon().rules("en").parts["of_any_name"]
    every = _WORD.findall(text.casefold().replace("'s", ""))
    found = [w for w in every if w not in function] or every
    return [stem(w) for w in found if common.fullmatch(w) is None] or found


def _is_same(one: list[str], two: list[str]) -> bool:
    """Whether two values may be one: they begin alike, or the one holds all words of the other."""
    if not (one and two):
        return False
    return one[:1] == two[:1] or set(one) <= set(two) or set(two) <= set(one)


def _same_thing(held: str, said: str, function: frozenset[str]) -> bool:
    """Whether both name one thing, and the words no other sort of it: "the tap class" is not "my ballet class"."""
    parts = default_lexicon().rules("en").parts
    said = parts["beside_it"].sub(" ", said)
    known = _things(held, function)
    for thing in known & _things(said, function):
        before = [m["sort"].casefold() for m in _SORTED.finditer(said) if stem(m["head"].casefold()) == thing]
        sorts = [w for w in before if _names(w, function) and parts["of_change"].fullmatch(w) is None]
        if not any(stem(w) not in known and not w.endswith(_NO_SORT) for w in sorts):
            return True
    return False


def _names(word: str, function: frozenset[str]) -> bool:
    generic = default_lexicon().rules("en").parts["names_nothing"]
    return len(word) >= _LEAST and word not in function and not word[0].isdigit() and generic.fullmatch(word) is None


def _things(text: str, function: frozenset[str]) -> set[str]:
    """Words that name something, in their stems: no numbers, times or units."""
    return {stem(w) for w in _WORD.findall(text.casefold().replace("'s", "")) if _names(w, function)}
