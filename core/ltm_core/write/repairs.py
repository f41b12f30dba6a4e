"""A short repair of what was just said: "不对，是799号", "打错了，是宝安", "不对，七岁".

The repaired statement keeps its subject and relation; only its object changes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ltm_core.write.build import head
from ltm_core.write.lexicon import Lexicon
from ltm_core.write.norm import normal, trim
from ltm_core.write.plan import Candidate, Utterance
from ltm_core.write.rows import UNTOUCHED
from ltm_core.write.scopes import Read

_NUMBER = r"[\d一二两三四五六七八九十百千万零〇]+"
_LONGEST = 10
"""Characters of a repaired value without a number; a longer one is a statement of its own."""


def repair_of(read: Read, lexicon: Lexicon) -> re.Match[str] | None:
    """The clause as a bare value that repairs an earlier statement, or None."""
    pattern = lexicon.rules(read.clause.language).parts.get("repair")
    if pattern is None or not read["correction"] or read["first_person"] or read["question"]:
        return None
    return pattern.match(read.clause.norm)


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
    value, wrong = trim(match["object"]), trim(match["wrong"] or "")
    allergy = lexicon.rules("zh").parts["allergy_alone"].match(value)
    spoken = read.clause.text[match.start("object") : match.start("object") + len(value)]
    city = lexicon.rules("zh").parts["city"]
    if city.match(value) is not None:  # "是屏东" repairs a place, not the job told in the same clause
        told = [c for c in told if city.match(normal(c.object)) is not None] or told
    for old in reversed(told):
        if old.rule == "open" or old.relation == "solution" or old.modality in UNTOUCHED:
            continue
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
        if not places:  # "六点半" for "六点"
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
        text=old.text.replace(old.object, new),
        move="correct",
        reach="subject",
        wrong_object=old.object_normalized,
        classes=(),
        valid_from=utterance.at,
        said_at=utterance.at,
        evidence=(words,),
        rule=f"{read.clause.language}.repair",
    )
