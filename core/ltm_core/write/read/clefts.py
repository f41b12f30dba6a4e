"""Clauses that put what they tell in front: "it's shellfish she's allergic to", "the viola is what she plays", "what
we've got is silt loam", "the dentist I see is Mr Ferris", "我吃的降压药是氨氯地平"; that put a particle behind
("gave the flute up"), or tell a return within the verb ("又喝回飞鹤了"). They are read in the plain order of words;
their place in the message stays. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ltm_core.write.words.expressions import Expression
from ltm_core.write.words.lexicon import Lexicon

if TYPE_CHECKING:
    from ltm_core.write.read.clauses import Clause

_FORMS = ("cleft_it", "cleft_is", "cleft_what")


def in_plain_order(clause: Clause, lexicon: Lexicon) -> Clause:
    """The clause with what it puts in front behind its verb; any other clause as it is."""
    if clause.language not in ("en", "zh"):
        return clause
    parts = lexicon.rules(clause.language).parts
    if clause.language == "zh":
        return _chinese(clause, parts)
    for form in _FORMS:
        m = parts[form].match(clause.norm)
        if m is None:
            continue
        return replace(clause, text=_worded(clause.text, m), norm=_worded(clause.norm, m))
    for form, order in (("cleft_slot", _as_slot), ("particle_behind", _particle_first)):
        m = parts[form].match(clause.norm)
        if m is not None:
            return replace(clause, text=order(clause.text, m), norm=order(clause.norm, m))
    return clause


def _chinese(clause: Clause, parts: Mapping[str, Expression]) -> Clause:
    for form, order in _CHINESE.items():
        m = parts[form].match(clause.norm)
        if m is not None:
            return replace(clause, text=order(clause.text, m), norm=order(clause.norm, m), told=clause.text)
    return clause


def _as_slot_of(text: str, m: re.Match[str]) -> str:
    """Read "我吃的降压药是氨氯地平" as "我的降压药是氨氯地平"."""
    lead, who, noun, what = (text[slice(*m.span(g))] for g in ("lead", "who", "noun", "what"))
    return f"{lead}{who}的{noun}{m['be']}{what}"


def _as_home(text: str, m: re.Match[str]) -> str:
    """Read "我租的房子在沙坪坝" as "我租住在沙坪坝"."""
    lead, who, what = (text[slice(*m.span(g))] for g in ("lead", "who", "what"))
    return f"{lead}{who}{m['rents'] or ''}住在{what}"


def _back_to(text: str, m: re.Match[str]) -> str:
    """Read "又喝回飞鹤了" as "又重新喝飞鹤了"."""
    before, verb, what = (text[slice(*m.span(g))] for g in ("before", "verb", "what"))
    return f"{before}{'' if before.endswith(_ANEW) else _ANEW}{verb}{what}"


_ANEW = "重新"
_CHINESE = {"cleft_slot": _as_slot_of, "home_slot": _as_home, "goes_back": _back_to}


def _as_slot(text: str, m: re.Match[str]) -> str:
    """Read "the dentist I see is Mr Ferris" as "my dentist is Mr Ferris"."""
    lead, who, noun, be, what = (text[slice(*m.span(g))] for g in ("lead", "who", "noun", "be", "what"))
    own = "our" if who.lower() == "we" else "my"
    return f"{lead}{own if lead else own.capitalize()} {noun} {be} {what}"


def _particle_first(text: str, m: re.Match[str]) -> str:
    """Read "she gave the flute up" as "she gave up the flute"."""
    lead, verb, what, particle, tail = (text[slice(*m.span(g))] for g in ("lead", "verb", "what", "particle", "tail"))
    return f"{lead}{verb} {particle} {what}{tail}"


def _worded(text: str, m: re.Match[str]) -> str:
    lead, who, verb, what, tail = (text[slice(*m.span(g))] for g in ("lead", "who", "verb", "what", "tail"))
    return f"{lead}{who}{verb} {what}{tail}"
