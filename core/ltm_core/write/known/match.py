"""Which known facts a candidate speaks of: same subject, same thing, same family of relations."""

from __future__ import annotations

import re
from functools import lru_cache

from ltm_core.types import Fact
from ltm_core.write.known.values import values
from ltm_core.write.plan import Candidate
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.load import default_lexicon
from ltm_core.write.words.norm import fold

_DIGITS = re.compile(r"\d+")
_LEAST_THING = 4
"""Characters of a thing with which a longer object may begin."""
_TIMED = ("often", "day", "time")
"""Kinds of English values of which another makes another statement, however alike the rest."""


def _places() -> frozenset[str]:
    return default_lexicon().sets["places"]


def same_subject(fact: Fact, candidate: Candidate) -> bool:
    """Whether both speak of the same one, said by the same speaker."""
    return fold(fact.subject) == fold(candidate.subject) and (fact.speaker or None) == (candidate.speaker or None)


def related(fact: Fact, candidate: Candidate, lexicon: Lexicon) -> bool:
    """Whether the fact's relation is the candidate's or of its family."""
    if fact.relation == candidate.relation:
        return True
    family = lexicon.relation(candidate.relation).family
    return bool(family) and lexicon.relation(fact.relation).family == family


def same_thing(fact: Fact, value: str, *, loose: bool = False) -> bool:
    """Whether the fact's object is the thing that ``value`` (folded head) names.

    ``loose``: a place may be named by a part of itself ("北京" for "北京朝阳区").
    """
    held = fact.object_normalized or fold(fact.object)
    if not held or not value:
        return False
    if value in default_lexicon().sets["anywhere"] and fact.relation in _places():
        return True
    if held == value or singular(held) == singular(value):
        return True
    if fact.relation in default_lexicon().sets["activities"] and _is_part(value, held):
        return True
    if fact.relation in default_lexicon().sets["consumed"] and held.isascii():
        bare = default_lexicon().shared["quantity"].sub("", held)
        if bare and singular(bare) == singular(value):
            return True
    if not held.isascii() and len(value) >= 2 and fact.relation == "likes" and held.endswith(value):
        return True
    if fact.relation == "has_pet" and _species(held) & _species(value):
        return True
    if loose or fact.relation in _places():
        short, long = sorted((held, value), key=len)
        if short.isascii() and long.isascii():
            return len(short) >= 2 and (long.startswith(short) or long.endswith(short) or f" {short} " in f" {long} ")
        return len(short) >= 2 and (long.startswith(short) or long.endswith(short))
    return False


def goes_on(held: str, thing: str) -> bool:
    """Whether English words name a thing and then say for whom, where or since when ("kittens for the shelter")."""
    if len(thing) < _LEAST_THING or not held.startswith(thing):
        return False
    return default_lexicon().rules("en").parts["more_of_it"].match(held, len(thing)) is not None


def _is_part(value: str, held: str) -> bool:
    """Whether an activity is the one that ``value`` names: "swim every Tuesday", "swimming"."""
    if not value.isascii():
        return len(value) >= 2 and value in held
    words = {_stem(w) for w in held.split()}
    return all(_stem(w) in words for w in value.split())


def _stem(word: str) -> str:
    for ending in ("ming", "ning", "ting", "ing", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _species(value: str) -> frozenset[str]:
    """The kinds of animal that an object names by its last word."""
    lexicon = default_lexicon()
    value = lexicon.rules("en").parts["named_apart"].split(value, maxsplit=1)[0] if value.isascii() else value
    names = {value, singular(value), value.split(" ")[-1], singular(value.split(" ")[-1])}
    if not value.isascii():
        names |= {value[i:] for i in range(1, len(value))}
    return frozenset(r.pets[n] for r in lexicon.languages.values() for n in names if n in r.pets)


def singular(value: str) -> str:
    if value.isascii() and len(value) > 3 and value.endswith("s") and not value.endswith("ss"):
        return value[:-2] if value.endswith(("ches", "shes", "xes")) else value[:-1]
    return value


def in_classes(fact: Fact, classes: tuple[str, ...], lexicon: Lexicon) -> bool:
    """Whether the fact's object belongs to one of the classes, by its own name or its last word."""
    held = fact.object_normalized or fold(fact.object)
    names = {held, singular(held)}
    if held.isascii():
        words = held.split()
        names |= {" ".join(words[i:]) for i in range(len(words))}
        names |= {singular(n) for n in names}
    else:
        names |= {held[i:] for i in range(1, len(held) - 1)}
    if any(lexicon.class_names.get(n) in classes for n in names):
        return True
    return any(c in classes for n in names for c in lexicon.members.get(n, ()))


def same_statement(fact: Fact, candidate: Candidate, lexicon: Lexicon) -> bool:
    """Whether the fact already says what the candidate says, in the same or other words of the lexicon."""
    if fact.is_positive != candidate.is_positive or (fact.modality == "past") != (candidate.modality == "past"):
        return False
    if (fact.modality == "temporary") != (candidate.modality == "temporary"):
        return False
    if fact.relation == candidate.relation:
        if counts(fact.object, lexicon) != counts(candidate.object, lexicon):
            return False
        return fact.object_normalized == candidate.object_normalized or (
            singular(fact.object_normalized) == singular(candidate.object_normalized)
        )
    if candidate.evidence and set(candidate.evidence) & set(fact.evidence):
        return False  # two things that one clause says ("a cashier at the post office")
    return fold(fact.text) == _folded(candidate.text)


@lru_cache(maxsize=16)
def _folded(clause: str) -> str:
    """`fold` of what is compared with one fact after the other."""
    return fold(clause)


def same_activity(fact: Fact, candidate: Candidate, lexicon: Lexicon) -> bool:
    """Whether two habits are the same thing done on other days ("周二打球", "周五打球")."""
    days = lexicon.rules("zh").parts["day_words"]
    one, two = (days.sub("", v).strip() for v in (fact.object_normalized, candidate.object_normalized))
    return bool(one) and one == two


def counts(value: str, lexicon: Lexicon) -> list[str]:
    """The numbers in an object ("three cats", "四只猫"); "a" and "one" are the same."""
    found = [n.lower() for n in lexicon.shared["numerals"].findall(value)]
    return [n for n in found if n not in lexicon.sets["one"]]


def same_meaning(fact: Fact, candidate: Candidate, lexicon: Lexicon) -> bool:
    """Whether a high cosine may count as the same statement: nothing names two different things."""
    if fact.relation != candidate.relation or fact.is_positive != candidate.is_positive:
        return False
    if fact.modality != candidate.modality or lexicon.relation(fact.relation).single or fact.kind == "status":
        return False
    if lexicon.relation(fact.relation).slot == "name" or fact.relation in ("identifier", *lexicon.identifier_words):
        return False
    if _DIGITS.findall(fact.text) != _DIGITS.findall(candidate.text):
        return False
    if fact.text.isascii() and any(values(fact.text, k) != values(candidate.text, k) for k in _TIMED):
        return False
    one, two = fact.object_normalized, candidate.object_normalized
    siblings = lexicon.members.get(one, frozenset()) & lexicon.members.get(two, frozenset())
    return not siblings


def contrary(fact: Fact, candidate: Candidate) -> bool:
    """Whether two standing instructions exclude each other: the same order but for one word, said as a change,
    or the same order allowed and forbidden."""
    if fact.relation != "reply_style" or candidate.relation != "reply_style":
        return False
    one, two = _order(fact.object), _order(candidate.object)
    if one == two:
        return fact.is_positive != candidate.is_positive
    differing = sum(a != b for a, b in zip(one, two, strict=False))
    alike = fact.is_positive and candidate.is_positive and len(one) == len(two) > 2
    return alike and candidate.move == "change" and differing == 1


def _order(value: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", default_lexicon().shared["standing_filler"].sub(" ", fold(value))))
