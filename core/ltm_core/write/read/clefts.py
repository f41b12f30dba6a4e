"""Clauses that put what they tell in front: "it's shellfish she's allergic to", "the viola is what she plays", "what
we've got is silt loam", "the dentist I see is Mr Ferris", "我吃的降压药是氨氯地平", "我教的是语文"; that put a
particle behind ("gave the flute up"), or tell a return within the verb ("又喝回飞鹤了"). They are read in the plain
order of words; their place in the message stays. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ltm_core.write.words.lexicon import Lexicon

if TYPE_CHECKING:
    from ltm_core.write.read.clauses import Clause


def in_plain_order(clause: Clause, lexicon: Lexicon) -> Clause:
    """The clause with what it puts in front behind its verb; any other clause as it is."""
    orders = _ORDERS.get(clause.language, {})
    parts = lexicon.rules(clause.language).parts if orders else {}
    for form, order in orders.items():
        m = parts[form].match(clause.norm)
        if m is not None:
            told = clause.text if clause.language == "zh" else ""
            return replace(clause, text=order(clause.text, m), norm=order(clause.norm, m), told=told)
    return clause


def _pieces(text: str, m: re.Match[str], *groups: str) -> Iterator[str]:
    """What stands in the text where the groups were found in its normal form."""
    return (text[slice(*m.span(g))] for g in groups)


def _worded(text: str, m: re.Match[str]) -> str:
    lead, who, verb, what, tail = _pieces(text, m, "lead", "who", "verb", "what", "tail")
    return f"{lead}{who}{verb} {what}{tail}"


def _as_slot(text: str, m: re.Match[str]) -> str:
    """Read "the dentist I see is Mr Ferris" as "my dentist is Mr Ferris"."""
    lead, who, noun, be, what = _pieces(text, m, "lead", "who", "noun", "be", "what")
    own = "our" if who.lower() == "we" else "my"
    return f"{lead}{own if lead else own.capitalize()} {noun} {be} {what}"


def _particle_first(text: str, m: re.Match[str]) -> str:
    """Read "she gave the flute up" as "she gave up the flute"."""
    lead, verb, what, particle, tail = _pieces(text, m, "lead", "verb", "what", "particle", "tail")
    return f"{lead}{verb} {particle} {what}{tail}"


def _as_slot_zh(text: str, m: re.Match[str]) -> str:
    """Read "我吃的降压药是氨氯地平" as "我的降压药是氨氯地平"."""
    lead, who, noun, be, what = _pieces(text, m, "lead", "who", "noun", "be", "what")
    return f"{lead}{who}的{noun}{be}{what}"


def _plainly_zh(text: str, m: re.Match[str]) -> str:
    """Read "我教的是语文" as "我教语文"."""
    return "".join(_pieces(text, m, "lead", "who", "verb", "what"))


def _as_home_zh(text: str, m: re.Match[str]) -> str:
    """Read "我租的房子在沙坪坝" as "我租住在沙坪坝"."""
    lead, who, what = _pieces(text, m, "lead", "who", "what")
    return f"{lead}{who}{m['rents'] or ''}住在{what}"


def _back_to_zh(text: str, m: re.Match[str]) -> str:
    """Read "又喝回飞鹤了" as "又重新喝飞鹤了"."""
    before, verb, what = _pieces(text, m, "before", "verb", "what")
    return f"{before}{'' if before.endswith(_ANEW) else _ANEW}{verb}{what}"


_ANEW = "重新"
_ORDERS = {
    "en": {
        "cleft_it": _worded, "cleft_is": _worded, "cleft_what": _worded, "cleft_slot": _as_slot,
        "particle_behind": _particle_first,
    },
    "zh": {"cleft_slot": _as_slot_zh, "home_slot": _as_home_zh, "cleft_does": _plainly_zh, "goes_back": _back_to_zh},
}  # fmt: skip
"""For each language the expressions of an order of words, of which the first that reads a clause counts, and what it
becomes."""
