"""A short repair of what was just said: "不对，是799号", "打错了，是宝安", "不对，七岁".

The repaired statement keeps its subject and relation; only its object changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from ltm_core.write.extract.build import head
from ltm_core.write.extract.draft import Draft
from ltm_core.write.known.rows import UNTOUCHED
from ltm_core.write.plan import Candidate, Utterance
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import normal, trim

_NUMBER = r"[\d一二两三四五六七八九十百千万零〇]+"
_DATED = re.compile(r" \(\d{4}-[^)]*\)$")
_VERSION = re.compile(r"[A-Za-z][\w.+-]*(?: ?[A-Za-z]+)? ?\d[\w.]*")
_BARE = ("is_a", "is", "has", "located_in")
_LEAST_ENDED = 2
"""Characters of a word beyond which its last two say of what sort it is."""
_LONGEST = 10
"""Characters of a repaired value without a number; a longer one is a statement of its own."""


def repair_of(read: Read, lexicon: Lexicon) -> re.Match[str] | None:
    """The clause as a bare value that repairs an earlier statement, or None."""
    pattern = lexicon.rules(read.clause.language).parts.get("repair")
    if pattern is None or not read["correction"] or read["first_person"] or read["question"]:
        return None
    return pattern.match(read.clause.norm)


def turned_out(read: Read, lexicon: Lexicon) -> str:
    """The value that a clause says to hold in truth ("其实是 Rocky 9"); else ""."""
    pattern = lexicon.rules(read.clause.language).parts.get("turns_out")
    m = pattern.match(read.clause.norm) if pattern is not None and not read.veto else None
    return trim(m["object"]) if m is not None else ""


def put_right(
    made: tuple[Draft, ...], told: Callable[[], Sequence[Candidate]], lexicon: Lexicon
) -> tuple[Draft, ...]:
    """A correction that names its subject and a bare value ("我是8月13号", "她是屏东人"), as the value of what was
    told last of the same one in a value of that shape; other drafts as they are."""
    first = made[0]
    if len(made) > 1 or first.relation not in _BARE or first.wrong or not first.positive:
        return made
    for old in reversed(told()):
        if old.subject != first.subject or not old.is_positive or old.rule == "open" or old.modality in UNTOUCHED:
            continue
        if (
            old.relation != "solution"
            and normal(old.object) != first.object
            and _same_shape(first.object, old, lexicon)
        ):
            return (
                replace(first, relation=old.relation, wrong=old.object_normalized, move="correct", confidence=0.85),
            )
    return made


def _same_shape(value: str, old: Candidate, lexicon: Lexicon) -> bool:
    """Whether two values are of one sort by their looks: the same but for a number, both a name with a version, of
    one class, or with one last character that says what they are."""
    held = normal(old.object)
    if re.search(_NUMBER, value) and re.sub(_NUMBER, "#", value) == re.sub(_NUMBER, "#", held):
        return True
    if _VERSION.fullmatch(value) and _VERSION.fullmatch(held):
        return True
    one, two = head(value, lexicon, "zh"), old.object_normalized
    if lexicon.members.get(one, frozenset()) & lexicon.members.get(two, frozenset()):
        return True
    return len(value) > 1 and len(held) > 1 and value[-1] == held[-1] and value[-1] in lexicon.sets["value_sorts"]


def is_bare(match: re.Match[str], lexicon: Lexicon) -> bool:
    """Whether the value states nothing by itself: a number with its unit, or "是宝安"."""
    value = trim(match["object"])
    if match["copula"] in ("是", "为"):
        return lexicon.rules("zh").parts["allergy_alone"].match(value) is None
    return match["copula"] == "" and re.fullmatch(_NUMBER + r"[^\d]{0,2}", value) is not None


def repaired(
    match: re.Match[str], read: Read, told: Sequence[Candidate], utterance: Utterance, lexicon: Lexicon
) -> Candidate | None:
    """The newest of the statements ``told`` (oldest first) that the value fits, with the value in its place."""
    if lexicon.rules("zh").parts["of_a_text"].search(normal(utterance.content)) is not None:
        return None  # "作文里有个错别字，应该是…": wrong is a text that is worked on
    value, wrong = trim(match["object"]), trim(match["wrong"] or match["wrong0"] or "")
    allergy = lexicon.rules("zh").parts["allergy_alone"].match(value)
    first = match.start("object") + match["object"].index(value)
    spoken = read.clause.text[first : first + len(value)]
    city = lexicon.rules("zh").parts["city"]
    if city.match(value) is not None:  # "是屏东" repairs a place, not the job told in the same clause
        told = [c for c in told if city.match(normal(c.object)) is not None] or told
    if len(value) > _LEAST_ENDED:  # "是玻璃工厂" repairs the works, not the post told in the same clause
        told = [c for c in told if normal(c.object).endswith(value[-2:])] or told
    for old in reversed(told):
        if old.relation == "solution" or old.modality in UNTOUCHED:
            continue
        if old.rule == "open" and (re.match(rf"{_NUMBER}[^\d\s]", value) is None or not old.is_positive):
            continue  # in words that no pattern reads, only a number with its unit stands for another
        if wrong and wrong not in old.object:
            continue
        if allergy is not None:
            new = allergy["object"] if old.relation == "allergic_to" else ""
        else:
            new = _fitted(value, match, old, lexicon)
        if new and new != normal(old.object):
            return _made(old, spoken if new == value else new, read, utterance, lexicon)
    return None


def _fitted(value: str, match: re.Match[str], old: Candidate, lexicon: Lexicon) -> str:
    """The old object with the value in it: a number replaces one of its own shape, a word the whole."""
    if re.search(_NUMBER, value):
        shape = re.sub(_NUMBER, lambda _: _NUMBER, re.escape(value))
        places = list(re.finditer(shape, old.object))
        several = list(re.finditer(rf"{_NUMBER}[^\d\s]", value))
        if not places and len(several) > 1 and value.endswith(several[-1].group()):
            value = several[-1].group()  # "一天两片" for "一天吃一片"
            places = list(re.finditer(_NUMBER + re.escape(value[-1]), old.object))
        elif not places:  # "六点半" for "六点"
            unit = re.match(rf"{_NUMBER}(?P<unit>\D)", value)
            places = list(re.finditer(_NUMBER + re.escape(unit["unit"]), old.object)) if unit else []
        return old.object[: places[-1].start()] + value + old.object[places[-1].end() :] if places else ""
    if re.search(r"\d", old.object) or len(value) > _LONGEST:
        return ""
    one, two = head(value, lexicon, "zh"), old.object_normalized
    alike = bool(lexicon.members.get(one, frozenset()) & lexicon.members.get(two, frozenset()))
    return value if alike or match["copula"] else ""


def _made(old: Candidate, new: str, read: Read, utterance: Utterance, lexicon: Lexicon) -> Candidate:
    words = read.evidence(utterance.message_id)
    return replace(
        old,
        object=new,
        object_normalized=head(normal(new), lexicon, read.clause.language),
        text=_DATED.sub("", old.text).replace(old.object, new),
        move="correct",
        reach="subject",
        wrong_object=old.object_normalized,
        classes=(),
        valid_from=utterance.at,
        said_at=utterance.at,
        evidence=(words,),
        rule=f"{read.clause.language}.repair",
    )
