"""What a message asks of the memory in words that no expression knows: the learned model (`write.anchors.acts`) says
what is asked, and about which words. Asked only of messages in which the rules found no request. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ltm_core.write.anchors.acts import MemoryAct, load_acts
from ltm_core.write.anchors.passages import LEARNED_LANGUAGES, asked_in, passages
from ltm_core.write.plan import Utterance
from ltm_core.write.read.neighbours import Vectors
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import trim

_NOT_MEANT = frozenset(["quotation", "injection", "irony"])
_PRETENDED = "fiction"
_SURE = 0.9
"""Probability from which the model outvotes what the rules read."""
_SILENT: tuple[MemoryAct, ...] = ("erase", "suppress")
_DICTATES = ("：", ": ")
"""Marks behind which an order to write goes on with the text."""
_LEAST = 2
"""Characters of what a request is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked of the memory, and where the words stand that say of what."""

    act: MemoryAct
    probability: float
    start: int
    end: int
    text: str
    at: int
    """The clause in which those words begin."""
    clauses: tuple[int, ...]
    """The clauses of the passage."""


def asked_of_memory(
    utterance: Utterance, reads: Sequence[Read], lexicon: Lexicon, vectors: Vectors | None
) -> Asked | None:
    """The likeliest request to the memory; None when nothing in the message asks for anything."""
    acts, found = load_acts(), None
    for passage in passages(reads):
        here = [reads[i] for i in passage]
        vetoes = {r.veto for r in here}
        if vetoes & _NOT_MEANT or here[0].clause.language not in LEARNED_LANGUAGES:
            continue
        asked = asked_in(acts, utterance, here, vectors)
        if asked is None or (found is not None and asked[1] <= found.probability):
            continue
        act, probability, words = asked
        if _PRETENDED in vetoes and (act not in _SILENT or probability < _SURE):
            continue  # "pretend I never said so" has the form of a game
        of_you = any(r["second_person"] or _names_speaker(r, lexicon) for r in here)
        if act == "remember" and any(_only_notes(r, lexicon) for r in here):
            continue
        if act == "remember" and of_you and not any(map(_is_ones_own, here)):
            continue  # "remember to be happy" is a wish
        if act in _SILENT and any(_names_speaker(r, lexicon) for r in here):
            continue
        if act == "erase" and any(
            lexicon.rules(r.clause.language).flags["not_forget"].search(r.clause.norm) for r in here
        ):
            continue
        begin = here[0].clause.start
        start, end = (begin + n for n in acts.meant(words, act))
        text = trim(utterance.content[start:end])
        if len(text) < _LEAST:
            continue
        start += utterance.content[start:end].find(text)
        at = max(i for i in passage if reads[i].clause.start <= start)
        if act == "erase" and _waves_off(reads[at], here, lexicon):
            continue
        if (
            act in _SILENT
            and here[0]["command"]
            and any(mark in utterance.content[begin:start] for mark in _DICTATES)
        ):
            continue  # "write to him: not a word of it to my mother"
        found = Asked(
            act=act, probability=probability, start=start, end=start + len(text), text=text, at=at,
            clauses=tuple(passage),
        )  # fmt: skip
    return found


def _waves_off(told: Read, here: Sequence[Read], lexicon: Lexicon) -> bool:
    """Whether "forget it" behind what somebody else does only waves it off ("she won't tell me. Forget it")."""
    if lexicon.shared["pronoun"].match(told.clause.norm) is None or told["own_kin"]:
        return False
    return any(
        r is not told and lexicon.rules(r.clause.language).flags["forget_it"].search(r.clause.norm) for r in here
    )


def _only_notes(read: Read, lexicon: Lexicon) -> bool:
    """Whether a clause says that the speaker himself will keep something in mind, or try it later."""
    parts = lexicon.rules(read.clause.language).parts
    said = (parts[p].search(read.clause.norm) for p in ("noted", "reply_waits") if p in parts)
    return any(m is not None for m in said)


def _is_ones_own(read: Read) -> bool:
    return read["first_person"] or read["own_kin"]


def _names_speaker(read: Read, lexicon: Lexicon) -> bool:
    """Whether a clause says how the speaker is to be called, which is no wish for silence."""
    named = lexicon.rules(read.clause.language).parts.get("names_speaker")
    return named is not None and named.search(read.clause.norm) is not None
