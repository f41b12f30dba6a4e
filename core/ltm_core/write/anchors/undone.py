"""Replies that tell of a proposal by what does not happen any more: "it hasn't logged me out once"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ltm_core.write.endings.ends import thing_ended
from ltm_core.write.known.mentions import stem
from ltm_core.write.known.news import said_words
from ltm_core.write.plan import Turn, Utterance
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.expressions import Expression
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold, normal, script, trim

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
        if waits(r, lexicon) or promises(r, lexicon):
            any_waits = True
        elif r["confirmed"] or ("reply_glad" in parts and parts["reply_glad"].search(_told_after_notes(r, parts))):
            return False
    return any_waits


def only_thanks(content: str, proposal: str, lexicon: Lexicon) -> bool:
    """Whether a reply is nothing but thanks or praise ("good shout, cheers"): it tells of nothing that was tried. To
    a proposal that asks whether one agrees ("how about Thursday?"), it is a yes."""
    text = normal(content).strip()
    parts = lexicon.rules(script(text)).parts
    courtesy, asks = parts.get("reply_courtesy"), parts.get("asks_agreement")
    if courtesy is None or (asks is not None and asks.search(proposal)):
        return False
    at = 0
    while at < len(text):
        phrase = courtesy.match(text, at)
        if phrase is None:
            return False
        at = phrase.end()
    return True


def waits(read: Read, lexicon: Lexicon) -> bool:
    """Whether a clause only promises to try the proposal some time."""
    parts = lexicon.rules(read.clause.language).parts
    return "reply_waits" in parts and parts["reply_waits"].search(_told_after_notes(read, parts)) is not None


def promises(read: Read, lexicon: Lexicon) -> bool:
    """Whether a clause tells what the speaker is going to do, and does not choose what was proposed ("I'll find a
    pencil"; not "I'll go with that")."""
    parts = lexicon.rules(read.clause.language).parts
    if "reply_promises" not in parts or parts["reply_takes"].search(read.clause.norm):
        return False
    return parts["reply_promises"].match(_told_after_notes(read, parts)) is not None


def lacks(content: str, proposal: Turn, problem: str, lexicon: Lexicon) -> bool:
    """Whether a reply tells that there is not the thing which the proposal needs ("there's no front port on this
    one"), rather than that the trouble is gone."""
    pattern = lexicon.rules(script(content)).parts.get("reply_lacks")
    function = lexicon.gate.function
    offered, asked = said_words(proposal.content, function), said_words(problem, function)
    for m in pattern.finditer(content) if pattern is not None else ():
        named = said_words(m["thing"], function)
        if named & offered and not named & asked:
            return True
    return False


def _told_after_notes(read: Read, parts: Mapping[str, Expression]) -> str:
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
    return not said_words(utterance.content, function) & said_words(f"{problem} {proposal.content}", function)


def chooses(utterance: Utterance, reads: Sequence[Read], proposal: Turn, lexicon: Lexicon) -> bool:
    """Whether a short reply right after the proposal takes something that it names ("就订海景那家", "let's go with
    Velvet Crown") or says that it is better with it ("垫了毛巾舒服多了")."""
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
    named = said_words(utterance.content, function) & said_words(proposal.content, function)
    return bool(named) and any(takes_one(r, lexicon) for r in reads)


def taken(reads: Sequence[Read], proposal: str, lexicon: Lexicon) -> tuple[int, int] | None:
    """Where the proposal, which leaves a choice, names the one that a reply takes; None when it names none."""
    parts = lexicon.rules("en").parts
    if parts["offers_choice"].search(proposal.strip()) is None:
        return None
    for r in reads:
        takes = parts["reply_chooses"].search(r.clause.norm) if r.clause.language == "en" else None
        name = trim(r.clause.norm[takes.end() :]).removeprefix("the ") if takes is not None else ""
        at = fold(proposal).find(fold(name)) if name else -1
        if at >= 0:
            return at, at + len(name)
    return None


def takes_one(r: Read, lexicon: Lexicon) -> bool:
    """Whether a clause says that one of several is taken, or that it is better with one."""
    takes = lexicon.rules(r.clause.language).parts.get("reply_chooses")
    return takes is not None and takes.search(r.clause.norm) is not None


def undoes(utterance: Utterance, reads: Sequence[Read], proposal: Turn, problem: str, lexicon: Lexicon) -> bool:
    """Whether a reply to the proposal tells that the problem, named by its own words, does not happen any more ("it
    hasn't logged me out once", "改完之后没再超时了")."""
    turns = utterance.before if proposal in utterance.before else utterance.earlier
    last = next((t for t in reversed(turns) if t.role in ("user", "assistant")), None)
    if last is not proposal or len(utterance.content) > _LONGEST or not denies(reads, lexicon):
        return False
    function = lexicon.gate.function
    denied = " ".join(r.clause.norm for r in reads if _is_undone(r, lexicon))
    named = {stem(w) for w in said_words(denied, function)} & {stem(w) for w in said_words(problem, function)}
    return bool(named)


def mends(utterance: Utterance, reads: Sequence[Read], proposal: Turn, problem: str, lexicon: Lexicon) -> bool:
    """Whether a short reply right after the proposal says that what did not go does ("Mum can't hear me", "she can
    hear me!")."""
    text = normal(utterance.content)
    parts = lexicon.rules(script(text)).parts
    if "problem_denied" not in parts or len(text) > _SHORT or not utterance.before:
        return False
    if proposal is not utterance.before[-1] or any(r.veto in NO_REPLY or r["negation"] for r in reads):
        return False
    if puts_off(reads, lexicon) or any(parts[n].search(text) for n in ("reply_doubts", "reply_supposes")):
        return False
    said = {stem(w) for w in said_words(text, frozenset())}
    denied = {stem(m["verb"] or m["verb2"]) for m in parts["problem_denied"].finditer(normal(problem))}
    return bool(denied & said) and parts["reply_mended"].search(text) is not None


def _is_undone(r: Read, lexicon: Lexicon) -> bool:
    """Whether a clause tells that something does not happen any more, rather than that the speaker gave it up ("私教
    我不请了")."""
    rules = lexicon.rules(r.clause.language)
    given_up = r.clause.language == "zh" and thing_ended(r.clause.norm, rules)
    return not given_up and rules.parts["reply_undone"].search(r.clause.norm) is not None


def refutes(content: str, lexicon: Lexicon) -> bool:
    """Whether a user's turn tells that the last proposal did not help."""
    text = normal(content).strip()
    rules = lexicon.rules(script(text))
    if any(rules.parts[n].search(text) for n in ("refutes", "reply_fails") if n in rules.parts):
        return True
    if "reply_waits" in rules.parts and rules.parts["reply_waits"].search(text):
        return False  # "will try" leaves the proposal open
    return bool(rules.flags["not_confirmed"].search(text[:200]))
