"""An English message that puts a slip of the turn before right by a value of the same kind: "no wait, eleven hens, I
forgot the bantams" after "I have nine hens", "July I mean!" after "… in June".

The turn is read again with the right value in the place of the wrong one, as `ltm_core.write.corrections.slips` does
for Chinese: what it states then, and did not state before, is what was meant. Asked only of messages that no rule for
corrections read. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from ltm_core.types import Anchor, Evidence
from ltm_core.write.corrections.slips import apart, corrected, told_last
from ltm_core.write.known.mentions import stem
from ltm_core.write.plan import Candidate, Turn, Utterance
from ltm_core.write.read.answers import was_asked
from ltm_core.write.read.found import statement
from ltm_core.write.words.expressions import Expression
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import normal

RULE = "en.slip"
_LONGEST = 120
"""Characters of a message that does nothing else."""
_LEAST_WORD = 5
"""Letters of words of which the one is taken for the other by their spelling alone."""
_ALIKE = 0.55
"""Share of letters in the same order in both: .59 of "shrewsbury" and "sudbury", .67 of "monday" and "sunday"."""
_SORTS = ("slip_number", "slip_day", "slip_month", "slip_name")
"""Expressions of the values that stand for each other, the most telling first."""


def put_in_place_en(
    utterance: Utterance, lexicon: Lexicon, *, heard: Callable[[Turn], Sequence[Candidate]]
) -> tuple[list[Candidate], list[Anchor]] | None:
    """What the message puts right, with its anchor; None when it puts nothing right that was said."""
    turns = utterance.before or utterance.earlier
    if len(utterance.content) > _LONGEST or was_asked(turns):
        return None
    parts = lexicon.rules("en").parts
    m = parts["slip_said"].match(normal(utterance.content))
    if m is None:
        return None
    group = next(g for g in ("value", "value2", "value3", "value4") if m[g])
    evidence = Evidence(message_id=utterance.message_id, start=m.start(group), end=m.end(group))
    for turn in told_last(turns):
        place = _place(m[group], m["wrong"] or "", normal(turn.content), parts)
        if place is None:
            continue
        a, b, start, end = place
        value = utterance.content[evidence.start + start : evidence.start + end]
        written = turn.content[:a] + value + turn.content[b:]
        right, gone = apart(heard(replace(turn, content=written)), heard(turn))
        if len(right) == len(gone) == 1:  # the topic of words that no pattern reads is only guessed
            right = [replace(right[0], relation=gone[0].relation)]
        made = [corrected(c, gone, utterance, evidence) for c in right if gone]
        if made:
            return made, [statement(made, utterance.content[: m.end(group)], evidence, reason=RULE)]
    return None


def _place(value: str, wrong: str, text: str, parts: Mapping[str, Expression]) -> tuple[int, int, int, int] | None:
    """Where the wrong value stands in the earlier turn, and the right one within ``value``."""
    if wrong:
        found = list(re.finditer(rf"\b{re.escape(wrong)}\b", text, re.I))
        if not found and wrong.isdigit() and value.isdigit():  # "1953 not 58" after "born in 1958"
            found = [
                m for m in re.finditer(r"\d+", text) if m.group().endswith(wrong) and len(value) == len(m.group())
            ]
        return (*found[-1].span(), 0, len(value)) if found else None
    for sort in _SORTS:
        mine = parts[sort].search(value)
        if mine is None:
            continue
        theirs = [t for t in parts[sort].finditer(text) if t.group().casefold() != mine.group().casefold()]
        if sort == "slip_number":
            theirs = _of_same_thing(value[mine.end() :], theirs, text)
        elif sort == "slip_name":
            theirs = _of_same_end(mine.group(), theirs)
        return (*theirs[0].span(), *mine.span()) if len(theirs) == 1 else None
    return _spelled_like(value, text)


def _spelled_like(value: str, text: str) -> tuple[int, int, int, int] | None:
    """The one word that is spelled much like a right one ("im from shrewsbury", "i mean sudbury")."""
    if not value.isalpha() or len(value) < _LEAST_WORD:
        return None
    words = [m for m in re.finditer(r"[a-z]+", text.lower()) if len(m.group()) >= _LEAST_WORD]
    alike = [m for m in words if SequenceMatcher(None, m.group(), value.lower()).ratio() >= _ALIKE]
    return (*alike[0].span(), 0, len(value)) if len(alike) == 1 and alike[0].group() != value.lower() else None


def _of_same_thing(after: str, numbers: Sequence[re.Match[str]], text: str) -> list[re.Match[str]]:
    """The numbers that count what the right one counts; all when it names nothing."""
    counted = re.findall(r"[a-z]+", after.lower())
    if not counted:
        return list(numbers)
    noun = stem(counted[-1])
    return [n for n in numbers if noun in {stem(w) for w in re.findall(r"[a-z]+", text[n.end() :].lower())[:3]}]


def _of_same_end(name: str, names: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    """The names that end as this one does ("Nanyang Poly", "Temasek Poly"), else all of as many words."""
    words = name.split()
    alike = [n for n in names if len(words) > 1 and n.group().split()[-1] == words[-1]]
    return alike or [n for n in names if len(n.group().split()) == len(words)]


__all__ = ["RULE", "put_in_place_en"]
