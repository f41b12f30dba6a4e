"""English replies that tell what came of a proposal, by the deed and how things are since: "Bled it and it's warm all
over now", "Hung them, she slept till seven"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ltm_core.write.anchors.undone import NO_REPLY, fails, refutes
from ltm_core.write.anchors.worked import worked
from ltm_core.write.known.mentions import stem
from ltm_core.write.known.news import said_words
from ltm_core.write.plan import Turn, Utterance
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import normal

_LONGEST = 160
"""Characters of a reply that does nothing else."""
_VOWELS = str.maketrans("", "", "aeiou")


def told_worked(utterance: Utterance, reads: Sequence[Read], proposal: Turn, problem: str, lexicon: Lexicon) -> bool:
    """Whether the reply, in either language, tells what came of the proposal."""
    return worked(utterance, reads, proposal, problem, lexicon) or worked_en(utterance, reads, proposal, lexicon)


def worked_en(utterance: Utterance, reads: Sequence[Read], proposal: Turn, lexicon: Lexicon) -> bool:
    """Whether a short reply begins with the deed that the proposal asked for, done to what it named, and goes on to
    tell that all is well."""
    text = normal(utterance.content).strip()
    if not reads or len(text) > _LONGEST or "?" in text or any(r.clause.language != "en" for r in reads):
        return False
    if any(r.veto in NO_REPLY and r.veto != "question" for r in reads):  # "did that" asks nothing
        return False
    parts = lexicon.rules("en").parts
    if refutes(text, lexicon) or any(fails(r, lexicon) for r in reads) or parts["reply_supposes"].search(text):
        return False
    deed = _deed(utterance, lexicon)
    if deed is None or not parts["reply_since"].search(text, deed.end()):
        return False
    return deed["verb"] is None or _same_deed(deed["verb"].lower(), proposal.content, lexicon)


def tells_deed(utterance: Utterance, lexicon: Lexicon) -> bool:
    """Whether a message begins with a deed that was done to something known."""
    return _deed(utterance, lexicon) is not None


def _deed(utterance: Utterance, lexicon: Lexicon) -> re.Match[str] | None:
    return lexicon.rules("en").parts["reply_deed"].match(normal(utterance.content).strip())


def _same_deed(past: str, proposal: str, lexicon: Lexicon) -> bool:
    """Whether the proposal asks for the deed, whose past form may have another vowel ("hung", "bled")."""
    asked = {w.lower() for w in said_words(proposal, lexicon.gate.function)} | set(normal(proposal).lower().split())
    roots = {stem(w) for w in asked}
    bare = past.translate(_VOWELS)
    return stem(past) in roots or any(w[:1] == past[:1] and w.translate(_VOWELS) == bare for w in asked)


def praises(r: Read, lexicon: Lexicon) -> bool:
    """Whether a clause praises what was advised, days later ("the washing up bowl idea is genius")."""
    pattern = lexicon.rules(r.clause.language).parts.get("reply_praises")
    return pattern is not None and r.veto not in NO_REPLY and pattern.search(r.clause.norm) is not None
