"""Replies that tell of a proposal by what does not happen any more: "it hasn't logged me out once"."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ltm_core.write.lexicon import Lexicon
from ltm_core.write.mentions import stem
from ltm_core.write.news import words
from ltm_core.write.plan import Turn, Utterance
from ltm_core.write.scopes import Read

_LONGEST, _SHORT = 200, 50
"""Characters of a reply that tells what came of a proposal, and of one that only takes it."""
NO_REPLY = ("fiction", "quotation", "conditional", "injection", "irony", "question", "command")
"""What no clause of a reply that confirms may be."""


def denies(reads: Sequence[Read], lexicon: Lexicon) -> bool:
    """Whether a reply tells that something does not happen any more."""
    for r in reads:
        parts = lexicon.rules(r.clause.language).parts
        if "reply_goes_on" not in parts or r.veto in NO_REPLY or parts["reply_goes_on"].search(r.clause.norm):
            return False
    return any(lexicon.rules(r.clause.language).parts["reply_undone"].search(r.clause.norm) for r in reads)


def fails(read: Read, lexicon: Lexicon) -> bool:
    """Whether a clause tells that what was tried did not help ("dropped straight back down", "更卡了")."""
    told = lexicon.rules(read.clause.language).parts.get("reply_fails")
    return told is not None and told.search(read.clause.norm) is not None


def drops(read: Read, lexicon: Lexicon) -> bool:
    """Whether a clause lets the proposal be ("never mind", "算了")."""
    told = lexicon.rules(read.clause.language).parts.get("reply_drops")
    return told is not None and told.search(read.clause.norm) is not None


def puts_off(reads: Sequence[Read], lexicon: Lexicon) -> bool:
    """Whether a reply only promises to try the proposal some time, drops it, or reports that it did not help: none of
    them confirms it ("Ok I'll give that a go tonight", "也是，算了")."""
    any_waits = False
    for r in reads:
        parts = lexicon.rules(r.clause.language).parts
        if fails(r, lexicon) or drops(r, lexicon):
            return True
        if waits(r, lexicon):
            any_waits = True
        elif r["confirmed"] or ("reply_glad" in parts and parts["reply_glad"].search(_told_after_notes(r, parts))):
            return False
    return any_waits


def waits(read: Read, lexicon: Lexicon) -> bool:
    """Whether a clause only promises to try the proposal some time."""
    parts = lexicon.rules(read.clause.language).parts
    return "reply_waits" in parts and parts["reply_waits"].search(_told_after_notes(read, parts)) is not None


def _told_after_notes(read: Read, parts: Mapping[str, re.Pattern[str]]) -> str:
    notes = parts["reply_notes"].match(read.clause.norm) if "reply_notes" in parts else None
    return read.clause.norm[notes.end() :] if notes is not None else read.clause.norm


def leaves(utterance: Utterance, reads: Sequence[Read], problem: str, proposal: Turn, lexicon: Lexicon) -> bool:
    """Whether a Chinese reply tells of something else in the speaker's life: it shares no word with the problem or
    the proposal and tells no result."""
    parts = lexicon.rules(reads[0].clause.language).parts
    if "reply_result" not in parts or parts["reply_result"].search(utterance.content):
        return False
    if not any(r["first_person"] or r["third_person"] for r in reads):
        return False
    function = lexicon.gate.function
    return not words(utterance.content, function) & words(f"{problem} {proposal.content}", function)


def chooses(utterance: Utterance, reads: Sequence[Read], proposal: Turn, lexicon: Lexicon) -> bool:
    """Whether a short Chinese reply right after the proposal takes something that it names ("就订海景那家") or says
    that it is better with it ("垫了毛巾舒服多了")."""
    if not utterance.before or utterance.before[-1] is not proposal or len(utterance.content) > _SHORT:
        return False
    function = lexicon.gate.function
    for r in reads:
        parts = lexicon.rules(r.clause.language).parts
        if (
            "reply_chooses" not in parts
            or r.veto in (*NO_REPLY[:-1],)
            or parts["reply_goes_on"].search(r.clause.norm)
        ):
            return False
    named = words(utterance.content, function) & words(proposal.content, function)
    return bool(named) and any(
        lexicon.rules(r.clause.language).parts["reply_chooses"].search(r.clause.norm) for r in reads
    )


def undoes(utterance: Utterance, reads: Sequence[Read], proposal: Turn, problem: str, lexicon: Lexicon) -> bool:
    """Whether a reply to the proposal tells that the problem, named by its own words, does not happen any more ("it
    hasn't logged me out once", "改完之后没再超时了")."""
    turns = utterance.before if proposal in utterance.before else utterance.earlier
    last = next((t for t in reversed(turns) if t.role in ("user", "assistant")), None)
    if last is not proposal or len(utterance.content) > _LONGEST or not denies(reads, lexicon):
        return False
    function = lexicon.gate.function
    denied = " ".join(
        r.clause.norm
        for r in reads
        if lexicon.rules(r.clause.language).parts["reply_undone"].search(r.clause.norm) is not None
    )
    named = {stem(w) for w in words(denied, function)} & {stem(w) for w in words(problem, function)}
    return bool(named)
