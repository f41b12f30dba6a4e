"""English clauses that put what they tell in front: "it's shellfish she's allergic to", "the viola is what she
plays", "what we've got is silt loam", "the dentist I see is Mr Ferris"; or a particle behind ("gave the flute up").
They are read in the plain order of words; their place in the message stays. Pure.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ltm_core.write.words.lexicon import Lexicon

if TYPE_CHECKING:
    from ltm_core.write.read.clauses import Clause

_FORMS = ("cleft_it", "cleft_is", "cleft_what")


def in_plain_order(clause: Clause, lexicon: Lexicon) -> Clause:
    """The clause with what it puts in front behind its verb; any other clause as it is."""
    if clause.language != "en":
        return clause
    parts = lexicon.rules("en").parts
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
