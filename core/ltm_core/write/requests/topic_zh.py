"""What a Chinese request to forget or to be silent is about: its words without frame, under all its names.

"关于我爸生病的那些事" is about 爸 and 生病; "我挣多少" is the income; "离婚" is also told as "离过一次婚". Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ltm_core.write.words.lexicon import Lexicon, Rules
from ltm_core.write.words.norm import fold, normal, trim
from ltm_core.write.words.request_words import RequestWords, request_words

_SPLIT_BETWEEN = 8
"""Characters that may stand between the halves of a verb and its noun ("离过两次婚", "考教师资格证")."""
_LEAST_PART = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """One topic under its names."""

    names: tuple[str, ...] = ()
    """What it is called, most particular first; empty when only a person is named."""
    meant: str = ""
    """Its words without whose it is, for comparing by meaning."""
    own: bool = False
    """Whether it is said to be the speaker's own."""
    parts: tuple[Topic, ...] = ()
    """What it is made of, when two things are named at once ("脱发和米诺地尔")."""
    whose: str = ""
    """The relative it is about, as facts call him."""
    called: tuple[str, ...] = ()
    """Words by which facts of others mention the relative ("我哥")."""
    attribute: str = ""
    """The noun of an attribute, as facts call it ("备用邮箱")."""
    relations: tuple[str, ...] = ()
    """Relations of the relative's facts that the noun names."""
    told: tuple[str, ...] = ()
    """Expressions of which one stands in facts about the topic, whatever its name."""
    looser: tuple[str, ...] = ()
    """Names that may miss what is meant: good enough to be silent about, not to erase."""
    split: tuple[str, ...] = ()
    """Expressions of a verb and its noun with other words between them."""


def bare_topic(words: str) -> str:
    """The words of a request without what names nothing, as they were typed; empty when nothing is left that names
    anything."""
    plain = normal(words)
    bare = _bare(plain)
    at = plain.find(bare)
    # Traditional characters are simplified one for one, so that the places are the same.
    return words[at : at + len(bare)] if bare and at >= 0 and len(plain) == len(words) else bare


def _bare(text: str) -> str:
    """The same of words in simplified characters."""
    parts = request_words()
    text = trim(text)
    for _ in range(3):
        before = text
        text = trim(parts["lead"].sub("", text, count=1))
        shorter = trim(parts["tail"].sub("", text, count=1))
        text = shorter if len(shorter) >= _LEAST_PART or parts["short_topic"].match(shorter) else text
        if text == before:
            break
    said_twice = parts["twice"].match(text)
    text = said_twice[1] if said_twice else text
    return "" if parts["no_topic"].match(text) else text


def topic_of(text: str, lexicon: Lexicon) -> Topic | None:
    """The topic that the bare words name; None when they name nothing."""
    words, rules = request_words(), lexicon.rules("zh")
    text = trim(text)
    owned = words["own"].match(text)
    mine = trim(text[owned.end() :]) if owned and len(text) > owned.end() else text
    kin = _kin(mine, rules, named=mine != text)
    if kin is not None:
        person, rest = kin
        rest = bare_topic(rest)
        relation = rules.asked.get(fold(rest)) or rules.attributes.get(fold(rest))
        return Topic(
            names=tuple(_names(rest, words)) if rest else (),
            meant=rest,
            whose=rules.kin[person],
            called=_called(person),
            relations=(relation,) if relation else (),
            told=_told(rest or person, words),
            looser=tuple(_looser(rest, words)) if rest else (),
            split=_split(rest),
        )
    return Topic(
        names=tuple(dict.fromkeys([*_names(mine, words), text])) if mine else (),
        meant=mine,
        own=mine != text,
        parts=tuple(t for p in _parts(mine, words) if (t := topic_of(p, lexicon)) is not None),
        attribute=mine,
        told=(*_told(mine, words), *_animals(mine, rules)),
        looser=tuple(_looser(mine, words)),
        split=_split(mine),
    )


def _kin(text: str, rules: Rules, *, named: bool) -> tuple[str, str] | None:
    """The relative with whom the words begin, and the rest; "学生证" and "先生们" are no relatives.

    ``named``: he is said to be the speaker's own ("我爸去世").
    """
    for n in range(min(len(text), 6), 0, -1):
        person, rest = text[:n], text[n:]
        if person not in rules.kin:
            continue
        if not rest or rest.startswith(("的", "这", "那", "家", "他", "她")):
            return person, rest.lstrip("的他她")
        known = fold(rest)
        if known in rules.asked or known in rules.attributes:
            return person, rest
        if rules.parts["of_kin"].match(text) and len(rest) >= _LEAST_PART and (named or n >= _LEAST_PART):
            return person, rest
        return None
    return None


def _called(person: str) -> tuple[str, ...]:
    return (f"我{person}", f"我的{person}", person) if len(person) > 1 else (f"我{person}", f"我的{person}")


def _names(text: str, words: RequestWords) -> Iterator[str]:
    """The words themselves, without a noun that adds nothing, without the question they ask."""
    yield text
    if words["with_whom"].match(text) and len(text) > _LEAST_PART:
        yield text[1:]
    for name in ("light_verb", "pointed_tail", "general_noun"):
        shorter = trim(words[name].sub("", text))
        if shorter != text and len(shorter) >= _LEAST_PART:
            yield shorter
    asked = trim(words["asking"].sub(" ", text))
    if asked != text and len(asked.replace(" ", "")) >= _LEAST_PART:
        yield asked


def _looser(text: str, words: RequestWords) -> Iterator[str]:
    shorter = trim(words["looser_noun"].sub("", text))
    if shorter != text and len(shorter) >= _LEAST_PART:
        yield shorter


def _parts(text: str, words: RequestWords) -> tuple[str, ...]:
    found = [trim(p) for p in words["several"].split(text)]
    return tuple(found) if len(found) > 1 and all(len(p) >= _LEAST_PART for p in found) else ()


def _told(text: str, words: RequestWords) -> tuple[str, ...]:
    return tuple(t.told for t in words.topics if t.is_named_in(text))


def _animals(text: str, rules: Rules) -> tuple[str, ...]:
    """The names of the animal that the words name: "狗狗" is also told as "金毛"."""
    kind = rules.pets.get(text)
    named = sorted((word for word, k in rules.pets.items() if kind and k == kind), key=len, reverse=True)
    return ("|".join(map(re.escape, named)),) if named else ()


def _split(text: str) -> tuple[str, ...]:
    """ "离婚" -> "离…婚": only of two characters, which as a pair are no chance."""
    if len(text) != 2 or not all("\u4e00" <= c <= "\u9fff" for c in text):
        return ()
    return (f"{re.escape(text[0])}[^，。！？；]{{0,{_SPLIT_BETWEEN}}}{re.escape(text[1])}",)
