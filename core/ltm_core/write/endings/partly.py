"""English sentences that begin with a part of what a fact is about, with what else is at its place, or with one of
several ("the roof of the cabin", "the cafe at the pool", "the white rabbit" of three): the whole goes on. Pure."""

from __future__ import annotations

import re

from ltm_core.write.known.match import singular
from ltm_core.write.known.mentions import stem
from ltm_core.write.words.lexicon import Lexicon

_WORD = re.compile(r"[\w-]+")


def tells_of_part_of(said: str, told: str, stems: frozenset[str], lexicon: Lexicon) -> bool:
    """Whether a sentence tells of a part, a neighbour or one member of what a fact of these words is about."""
    return (
        _begins_at(said, stems, lexicon)
        or _changes_part(said, stems, lexicon)
        or _is_done_there(said, stems, lexicon)
        or _is_among_parts(said, told, stems, lexicon)
        or _is_one_of(said, told, stems, lexicon)
    )


def stays_on(said: str, stems: frozenset[str], lexicon: Lexicon) -> bool:
    """Whether a sentence names what the fact is about as what is left ("it's only Amnesty I give to now")."""
    m = lexicon.rules("en").parts["stays_on"].search(said)
    return m is not None and bool(_stems(m["what"] or m["what2"] or "") & stems)


def _begins_at(said: str, stems: frozenset[str], lexicon: Lexicon) -> bool:
    m = lexicon.rules("en").parts["begins_at"].match(said)
    if m is None or not _stems(m["whole"]) & stems:
        return False
    what = _WORD.findall(m["what"].lower())[-1]
    return what not in lexicon.sets["tie_nouns"] and stem(what) not in stems


def _changes_part(said: str, stems: frozenset[str], lexicon: Lexicon) -> bool:
    m = lexicon.rules("en").parts["part_changed"].search(said)
    if m is None or _WORD.findall(m["thing"].lower())[-1] in lexicon.sets["tie_nouns"]:
        return False
    return bool(_stems(m["whole"]) & stems) and not _stems(m["thing"]) & stems


def _is_done_there(said: str, stems: frozenset[str], lexicon: Lexicon) -> bool:
    """Whether the fact's words only say where or of what another thing is that is done with ("cancelled the surf
    lesson in Cornwall")."""
    m = lexicon.rules("en").parts["done_with_in"].search(said)
    if m is None:
        return False
    head = _WORD.findall(m["thing"].lower())[-1]
    if head in lexicon.sets["tie_nouns"] | lexicon.sets["whole_heads"] and not _names_one(m["thing"]):
        return False
    return bool(_stems(m["where"]) & stems) and not _stems(said[: m.start("where")]) & stems


def _names_one(thing: str) -> bool:
    """Whether a noun stands behind words of its own that say which it is ("the surf lesson", not "the lesson")."""
    return len(_WORD.findall(thing)) > 2


def _is_among_parts(said: str, told: str, stems: frozenset[str], lexicon: Lexicon) -> bool:
    """Whether of a whole with its parts ("a pond with koi") the sentence names parts alone."""
    m = lexicon.rules("en").parts["whole_with"].match(told)
    if m is None or _WORD.findall(m["whole"].lower())[-1] in lexicon.sets["tie_nouns"]:
        return False
    if any(w in lexicon.rules("en").kin for w in _WORD.findall(m["parts"].lower())):
        return False
    spoken = _stems(said) & stems
    return bool(spoken & _stems(m["parts"])) and not spoken & _stems(m["whole"])


def _is_one_of(said: str, told: str, stems: frozenset[str], lexicon: Lexicon) -> bool:
    """Whether of several things of a sort the sentence names one ("one hive" of four)."""
    parts = lexicon.rules("en").parts
    if parts["last_of_them"].search(said) is not None:
        return False
    some = parts["one_of_those"].search(said)
    if some is not None and stem(some["noun"].lower()) in stems:
        return True
    several = parts["count_of"].search(told)
    if several is None:
        return False
    noun, spoken = several["noun"].lower(), set(_WORD.findall(said.lower()))
    return noun not in spoken and (one := singular(noun)) != noun and one in spoken


def names_one_of(said: str, told: str, lexicon: Lexicon) -> bool:
    """Whether a sentence names one or some of things of which nothing says how many there are ("one of the
    kittens" of "we foster kittens")."""
    parts = lexicon.rules("en").parts
    some = parts["one_of_those"].search(said)
    if some is None or parts["count_of"].search(told) is not None:
        return False
    noun = some["noun"].lower()
    return noun != singular(noun) and noun in _WORD.findall(told.lower())


def is_one_item(said: str, told: str, lexicon: Lexicon) -> bool:
    """Whether a sentence tells of a single thing of a kind that is liked as a whole ("that crime novel" of "I like
    crime novels")."""
    m = lexicon.rules("en").parts["one_item"].search(said)
    kinds = set(_WORD.findall(told.lower()))
    while m is not None:
        noun = m["noun"].lower()
        if any(singular(k) == noun != k for k in kinds):
            return not any(k != singular(k) and k in said.lower() for k in kinds)
        m = lexicon.rules("en").parts["one_item"].search(said, m.start() + 1)
    return False


def _stems(text: str) -> set[str]:
    return {stem(w) for w in _WORD.findall(text.lower())}
