"""Which known facts a clause names by their own words: what "cancelled PureGym" or "鱼不养了" is about.

A known value is named when the clause holds its name or its last word; a statement kept in the user's own words
is named by the names in it, or by most of what it says. Pure.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ltm_core.types import Fact
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold, normal

_WORD = re.compile(r"[A-Za-z0-9][\w+#.'&-]*")
_NAME = re.compile(
    r"(?<=[\w,;:] )(?!I\b|I')[A-Z][\w+#&'-]*|\b[A-Z]{2,}\b|\b[A-Z][a-z]+[A-Z]\w*"
    r"|(?<=[\u4e00-\u9fff])[A-Z][A-Za-z0-9+#&'-]+"
)
_NAMED = re.compile(r"[:/ ]")
"""Between the parts of a subject ("sister:Amal"): whom a statement is about is not what it says."""
_HAN = re.compile(r"[\u4e00-\u9fff]+")
_LEAST = 2
"""Characters that a Chinese name of a thing needs to be recognised inside a clause."""
_MOST = 0.5
"""Share of what a statement says that a clause must repeat to be about it."""


_BARE = 4
"""Letters from which a final "e" is no part of a stem ("drive", "driving")."""


def mentions(clause: str, fact: Fact, lexicon: Lexicon) -> bool:
    """Whether the words of a clause name what the fact says."""
    own_words = fact.relation in lexicon.sets["own_words"] and not (
        fact.relation == "habit" and fact.object.isascii()
    )
    value = fact.text if own_words else fact.object
    no_value = lexicon.sets["titles"] | ({w.lower() for w in _NAMED.split(fact.subject)} if own_words else set())
    if any(_holds_name(clause, n) for n in names(value, begins=own_words) if n.lower() not in no_value):
        return True
    if _HAN.search(value):
        return _named_in_han(clause, value, lexicon, whole=own_words)
    theirs = _of_clause(clause, lexicon.gate.function)
    # Without its ending a word is still a part of itself: reading the value whole would find nothing in common.
    low = normal(value).lower()
    if not any(w in low for w in theirs):
        return False
    if not own_words:
        value = lexicon.rules("en").parts["more_said"].split(value, maxsplit=1)[0] or value
    if (
        fact.relation in lexicon.sets["activities"] and not own_words
    ):  # at which times something is done names nothing
        value = lexicon.shared["of_time"].sub(" ", value)
    mine = content(value, lexicon)
    if not mine:
        return False
    common = [w for w in mine if w in theirs]
    if own_words:
        return len(common) >= 2 and len(common) >= _MOST * len(mine)
    return (mine[-1] in theirs and len(common) >= _MOST * len(mine)) or (len(common) == len(mine))


def uncounted(value: str, lexicon: Lexicon) -> str:
    """A folded Chinese value without a counter at its beginning ("辆途观")."""
    return value[1:] if value[:1] in lexicon.sets["classifiers"] else value


def content(text: str, lexicon: Lexicon) -> list[str]:
    """The words of an English text that mean something by themselves, without their endings."""
    function = lexicon.gate.function
    return [found for w in _WORD.findall(normal(text)) if (found := _meaning(w, function))]


@lru_cache(maxsize=16)
def _of_clause(clause: str, function: frozenset[str]) -> frozenset[str]:
    """The same of a clause, which meets one fact after the other."""
    return frozenset(found for w in _WORD.findall(normal(clause)) if (found := _meaning(w, function)))


@lru_cache(maxsize=8192)
def _meaning(word: str, function: frozenset[str]) -> str:
    """The word without its ending; empty for a function word."""
    word = word.lower().strip(".'-")
    return "" if word in function or len(word) < 2 else stem(word.removesuffix("'s"))


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """The word without its ending: enough to see that "runs" and "running" are the same."""
    for ending in ("ning", "ming", "ting", "ping", "ing", "ied", "ies", "es", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word[: -len(ending)]
    return word[:-1] if len(word) > _BARE and word.endswith("e") else word


def _holds_name(clause: str, name: str) -> bool:
    if clause.isascii() and name.isascii() and name.lower() not in _lower(clause):
        return False
    # Chinese writes no gap beside a Latin name.
    return re.search(rf"(?<![A-Za-z0-9_-]){re.escape(name)}(?![A-Za-z0-9_-])", clause, re.I) is not None


@lru_cache(maxsize=16)
def _lower(clause: str) -> str:
    return clause.lower()


def names(value: str, *, begins: bool) -> list[str]:
    """The names in a text: capitalised words; the first one only when it does not begin a sentence."""
    found = _NAME.findall(value)
    first = value.split(" ", 1)[0].strip(".,;:!?'\"")
    if not begins and first[:1].isupper() and first.isascii():
        found.append(first)
    return [n for n in found if len(n) > 1]


def _named_in_han(clause: str, value: str, lexicon: Lexicon, *, whole: bool) -> bool:
    clause, value = _folded(clause), lexicon.shared["inner_verb"].sub("", fold(value))
    place, size, at = _longest_common(clause, value)
    named = (
        not whole and place == 0 and size == len(value)
    )  # "老周" is a name, for all that its characters are common
    if size < _LEAST or (not named and all(c in lexicon.gate.function for c in value[at : at + size])):
        return False
    before = clause[place - 1 : place]
    apart = not before or before in lexicon.gate.function or not _HAN.match(before)
    if whole:
        return size >= max(3, _MOST * len(value)) and apart
    if at + size == len(value):  # its last word; another word before it there would make it another thing
        return apart or size == len(value)
    return at == 0 and size >= max(_LEAST, _MOST * len(value))


@lru_cache(maxsize=16)
def _folded(clause: str) -> str:
    return fold(clause)


def _longest_common(one: str, two: str) -> tuple[int, int, int]:
    """Place in ``one``, length and place in ``two`` of the longest stretch that both hold."""
    best = (0, 0, 0)
    one, two = one[:200], two[:60]
    for at in range(len(two)):
        size = best[1] + 1
        while at + size <= len(two):
            place = one.find(two[at : at + size])
            if place < 0:
                break
            best = (place, size, at)
            size += 1
    return best
