"""English sentences that tell of somebody else, or of a passing event, whatever they name. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ltm_core.types import Fact
from ltm_core.write.known.mentions import stem
from ltm_core.write.words.lexicon import Lexicon

_WORD = re.compile(r"[\w'-]+")


def tells_of_others(said: str, held: str, lexicon: Lexicon) -> bool:
    """Whether a sentence begins with somebody, or something elsewhere, of whom the fact says nothing: "my bandmate
    gave up the guitar", "the nurse next door has retired", "the kitchen at work is finished"."""
    parts = lexicon.rules("en").parts
    dose = parts["raised_dose"].search(said)
    if dose is not None and parts["kind_dose"].search(held) and dose["what"].casefold() not in held.casefold():
        return True
    found = (parts[p].search(said) for p in ("of_another_person", "of_another_place"))
    return any(m is not None and not _is_told(m, held) for m in found)


def tells_of_two(said: str, fact: Fact, lexicon: Lexicon) -> bool:
    """Whether a sentence begins with somebody and one of his own, and the fact is the speaker's ("Col and his wife
    have split up" of "my best mate is Col")."""
    m = lexicon.rules("en").parts["of_two_others"].match(said)
    return m is not None and fact.subject == (fact.speaker or "user") and not _is_told(m, fact.text)


def acts_itself(said: str, named: Sequence[str], lexicon: Lexicon) -> bool:
    """Whether what is named does something with what is its own ("Siemens sold its wind division"), or is only where
    somebody is from who leaves ("the nurse at Green Lane left")."""
    parts = lexicon.rules("en").parts
    acts, leaves = parts["acts_on"].match(said), parts["leaves_from"].match(said)
    if acts is not None and _holds(acts["who"], named) and not _holds(acts["what"].partition(",")[0], named):
        return True
    return leaves is not None and _holds(leaves["where"], named) and not _holds(leaves["who"], named)


def is_passing(said: str, fact: Fact, known: frozenset[str], lexicon: Lexicon) -> bool:
    """Whether a sentence tells what happened once to what goes on ("left the gym early"), of a part of it ("finished
    chapter two of it"), or of what was merely done there ("lost my keys at the gym")."""
    parts = lexicon.rules("en").parts
    held = f"{fact.text} {fact.object}"
    if is_event(said, held, lexicon):
        return True
    recurs = fact.relation in lexicon.sets["activities"] or parts["recurs"].search(held) is not None
    if recurs and parts["cancelled_once"].search(said) is not None:
        return True
    if parts["some_of_them"].search(said) is not None and parts["several_told"].search(held) is None:
        return True
    done = parts["done_there"].match(said)
    if done is None or not _stems(done["there"]) & known:
        return False
    what = _WORD.findall(done["what"].lower())
    return what[-1] not in lexicon.sets["whole_heads"] and not _stems(done["what"]) & known


def is_event(said: str, held: str, lexicon: Lexicon) -> bool:
    """Whether a sentence tells of an event after which all goes on, or of a part of what goes on."""
    parts = lexicon.rules("en").parts
    if parts["passing_event"].search(said) is not None or _is_of_hours(said, held, lexicon):
        return True
    part, played = parts["of_a_part"].search(said), parts["retired_from_play"].search(said)
    if any(m is not None and not _is_told(m, held) for m in (part, played)):
        return True
    return parts["consumes"].search(held) is not None and parts["used_up"].search(said) is not None


def _is_of_hours(said: str, held: str, lexicon: Lexicon) -> bool:
    """Whether a sentence tells when a place is open, and the fact of no hours and of none of the days it names."""
    parts = lexicon.rules("en").parts
    m = parts["opening_hours"].search(said)
    if m is None or parts["tells_hours"].search(held) is not None:
        return False
    return not any(d in held.casefold() for d in parts["named_day"].findall(said.casefold()))


def _stems(text: str) -> set[str]:
    return {stem(w) for w in _WORD.findall(text.lower())}


def _holds(text: str, named: Sequence[str]) -> bool:
    return any(re.search(rf"\b{re.escape(n)}\b", text, re.I) is not None for n in named)


def _is_told(m: re.Match[str], held: str) -> bool:
    """Whether the fact itself tells of what the words name first."""
    word = next((g for g in m.groups() if g), "")
    return bool(word) and word.casefold().removesuffix("s") in held.casefold()
