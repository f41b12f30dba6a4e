"""What a Chinese clause gives up, when the thing stands first: "外卖这活我不跑了", "账早就不记了".

The thing and the verb behind it are looked for in what is known: the thing by itself ("外卖"), behind its verb
("跑外卖", "记账"), or, where only one fact fits, in looser ways: "课不上了" of "每周上一节钢琴课", "注会" of
"注册会计师".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ltm_core.types import Fact
from ltm_core.write.words.lexicon import Lexicon, Rules
from ltm_core.write.words.norm import fold, trim

_SUFFIX = "子儿的"
_MOST_BETWEEN = 6
"""Characters between a verb and its thing in a fact that a clause names loosely."""
_LEAST_SHORT = 2
"""Characters of a short form."""
_LONGEST_FORM = 10
UNTOUCHED = "*"
"""The verb of what one has not touched for long: whatever is told of the thing is over."""


@dataclass(frozen=True, slots=True)
class GivenUp:
    """The thing that a clause names first and gives up, and the verb of which it is the object, if there is one."""

    thing: str = ""
    verb: str = ""


def given_up(norm: str, rules: Rules) -> GivenUp:
    """What the clause gives up; empty when it gives nothing up in this form."""
    for part in ("left_place", "ended_thing"):
        pattern = rules.parts.get(part)
        m = pattern.match(norm) if pattern is not None else None
        if m is not None:
            held = m.groupdict()
            thing = next((v for k, v in held.items() if v and k.startswith("thing")), "")
            return GivenUp(fold(trim(thing)), next((v for k, v in held.items() if v and k.startswith("verb")), ""))
    return GivenUp()


def names_of(over: GivenUp) -> tuple[str, ...]:
    """The verb with its thing, as facts word it: "摆摊" of "摊子不摆了"."""
    if not over.verb or not over.thing or over.thing.isascii():
        return ()
    bare = over.thing.rstrip(_SUFFIX)
    return tuple(dict.fromkeys(over.verb + t for t in (over.thing, bare) if t))


def given_up_before(before: str, verb: str, function: frozenset[str]) -> tuple[str, ...]:
    """The verb with whatever the clause before names: "养猪" of "猪全出栏了，往后不养了"."""
    found = [before[i : i + n] for n in (2, 1) for i in range(len(before) - n + 1)]
    return tuple(dict.fromkeys(verb + t for t in found if not any(c in function or c in "，, " for c in t)))


def worded_so(fact: Fact, things: Sequence[str], lexicon: Lexicon) -> bool:
    """Whether the words of a fact hold one of the things with its verb."""
    base = fact.relation.partition(":")[0]
    if base not in lexicon.sets["own_words"] and base not in lexicon.sets["worded_by_verb"]:
        return False
    text = _folded(fact.text)
    if base in lexicon.sets["work_words"]:
        things = [t for t in things if t[0] in lexicon.sets["work_verbs"]]
    return any(t in text for t in things)


def loosely(fact: Fact, pairs: Sequence[tuple[str, str]], lexicon: Lexicon) -> bool:
    """Whether the fact may be the one meant: the verb and the thing stand near each other in it, the thing is a short
    form of what it says, or a generic noun of it."""
    text, held = _folded(fact.text), fact.object_normalized or _folded(fact.object)
    parts = lexicon.rules("zh").parts
    for verb, thing in pairs:
        if parts["drug_noun"].match(thing) and (fact.relation == "medication" or parts["takes_drug"].search(text)):
            return True
        if parts["membership_noun"].match(thing) and (
            fact.relation == "membership" or parts["holds_membership"].search(fact.text)
        ):
            return True
        if parts["vehicle_noun"].match(thing) and (
            fact.relation == "drives" or (fact.relation == "owns" and parts["vehicle_said"].search(text))
        ):
            return True
        if parts["course_noun"].match(thing) and parts["course_said"].search(text):
            return True
        if verb == UNTOUCHED and thing in text and lexicon.relation(fact.relation).family != "work":
            return True
        if verb and len(thing) >= 1 and _near(text, verb, thing):
            return True
        if not thing:  # "不用再去扎了"
            base = fact.relation.partition(":")[0]
            if verb in text and (base in lexicon.sets["own_words"] or base in lexicon.sets["worded_by_verb"]):
                return True
            continue
        if len(thing) == 1 and thing in lexicon.sets["generic_ends"] and held.endswith(thing):
            return True
        if (
            len(thing) >= _LEAST_SHORT
            and not thing.isascii()
            and (is_short_of(thing, held) or _short_in(thing, text))
        ):
            return True
    return False


def left_of(fact: Fact, over: Sequence[str], lexicon: Lexicon) -> str:
    """What a Chinese statement of several things says without those that are over: "晚上喝茶" of "早上喝咖啡晚上喝茶"
    without the coffee; else ""."""
    base = fact.relation.partition(":")[0]
    if fact.text.isascii() or not (base in lexicon.sets["own_words"] or base == "habit"):
        return ""
    parts, text = lexicon.rules("zh").parts, fact.text
    at = parts["divides_day"].search(text)
    if at is not None:
        halves = [text[: at.start()], text[at.start() :]]
        kept = [h for h in halves if not any(t and t in h for t in over)]
        told = parts["day_words"].sub("", kept[0]) if len(kept) == 1 else ""  # "每周四" by itself tells of nothing
        return kept[0] if len(told) >= _LEAST_SHORT else ""
    for joint in parts["joins_things"].finditer(text):
        before, after = text[: joint.start()], text[joint.end() :]
        thing = next((t for t in over if t and before.endswith(t) and t not in after), "")
        if thing and after:
            return before.removesuffix(thing) + after
        if before and any(t and after.startswith(t) and t not in before for t in over):
            thing = next(t for t in over if t and after.startswith(t))
            return before + after.removeprefix(thing)
    return ""


def is_short_of(short: str, full: str) -> bool:
    """Whether a Chinese short form stands for a name ("注会" of "注册会计师"): its characters stand in it in their
    order, beginning with the first, and no more than ten characters apart."""
    if not full or full[0] != short[0] or len(full) <= len(short):
        return False
    at = 0
    for c in short:
        at = full.find(c, at) + 1
        if not at:
            return False
    return at <= _LONGEST_FORM


def _short_in(short: str, text: str) -> bool:
    return any(is_short_of(short, text[i : i + _LONGEST_FORM]) for i, c in enumerate(text) if c == short[0])


def _near(text: str, verb: str, thing: str) -> bool:
    at = text.find(verb)
    while at >= 0:
        if thing in text[at + len(verb) : at + len(verb) + _MOST_BETWEEN + len(thing)]:
            return True
        at = text.find(verb, at + 1)
    return False


@lru_cache(maxsize=512)
def _folded(text: str) -> str:
    return fold(text)


def does_nothing_of(fact: Fact, verb: str, noun: str, lexicon: Lexicon) -> bool:
    """Whether the fact tells of what somebody does not do who does nothing of the sort any more ("啥也不养")."""
    if lexicon.rules("zh").topic_verbs.get(verb) == fact.relation and (not noun or noun in lexicon.class_names):
        return True
    base = fact.relation.partition(":")[0]
    if base not in lexicon.sets["own_words"] and base not in lexicon.sets["worded_by_verb"]:
        return False
    text = _folded(fact.text)
    return verb in text and noun in text


__all__ = [
    "GivenUp",
    "does_nothing_of",
    "given_up",
    "given_up_before",
    "is_short_of",
    "loosely",
    "names_of",
    "worded_so",
]
