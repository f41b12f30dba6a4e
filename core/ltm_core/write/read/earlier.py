"""What was so before the present state, told after it ("进厂之前我一直摆摊", "Started out as a pot washer"): it is
past, and takes the place of nothing that holds now. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from ltm_core.write.read.old_stories import LEAD
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon, Rules

EARLIER = "earlier"
"""Cue of a clause that says itself that it tells of the time before."""


def of_earlier(reads: Sequence[Read], lexicon: Lexicon) -> tuple[Read, ...]:
    """The clauses, those of sentences that tell only of an earlier time marked as past and as an old story: the one
    that says when, and those that say what lasted then. One that says only when states nothing."""
    out: list[Read] = []
    for _, run in groupby(reads, key=lambda r: r.clause.sentence):
        sentence = list(run)
        rules = lexicon.rules(sentence[0].clause.language)
        first = _earlier_from(sentence, rules)
        if first is None:
            out += sentence
            continue
        sentence[first].flags[EARLIER] = True
        out += sentence[:first]
        out += _marked(sentence[first:], rules)
    return tuple(out)


def _earlier_from(sentence: Sequence[Read], rules: Rules) -> int | None:
    """The clause from which a sentence tells of an earlier time; None when it also tells of the present, of a change
    or an end ("以前不吃辣，现在天天吃")."""
    if "earlier_time" not in rules.parts or any(r.clause.language != rules.language for r in sentence):
        return None
    if any(r["correction"] for r in sentence):
        return None
    sure, maybe, lasted = (rules.parts[f"earlier_{p}"] for p in ("time", "when", "then"))
    for i, r in enumerate(sentence):
        if r["question"]:
            continue
        m = sure.match(r.clause.norm)
        if m is not None or (r[LEAD] and not r.veto):
            return i if _is_only_then(sentence, i, m.end() if m is not None else 0, rules) else None
        m = maybe.match(r.clause.norm)
        if m is not None and any(
            lasted.search(told.clause.norm, m.end() if told is r else 0) is not None for told in sentence[i:]
        ):
            return i if _is_only_then(sentence, i, m.end(), rules) else None
    return None


def _is_only_then(sentence: Sequence[Read], when: int, end: int, rules: Rules) -> bool:
    """Whether nothing but the words that say when, which stand before ``end``, tells of the present, of a change or
    an end ("刚查出来那年")."""
    over = rules.parts["earlier_not"]
    return not any(over.search(r.clause.norm, end if i == when else 0) for i, r in enumerate(sentence))


def _marked(sentence: Sequence[Read], rules: Rules) -> Iterator[Read]:
    """The clauses from the one that says when, as they are meant."""
    told, alone = True, False
    for i, r in enumerate(sentence):
        lasted = rules.parts["earlier_then"].search(r.clause.norm) is not None
        # who is named anew is told of as he is ("那会儿认识的我爱人，她是教书的")
        named = rules.parts["earlier_whose"].match(r.clause.norm) is not None
        told = told and (i == 0 or alone or lasted or not named)
        alone = _says_only_when(r, rules)
        if told or alone:
            r.flags["past"] = r.flags[LEAD] = True
            r.flags["temporary"] = r.flags["change_now"] = False
        yield replace(r, veto=LEAD) if alone and not r.veto else r


def _says_only_when(r: Read, rules: Rules) -> bool:
    """Whether a clause is nothing but the time ("没孩子那会儿，", "before I ever taught")."""
    alone = rules.parts.get("earlier_alone")
    if alone is not None and alone.match(r.clause.norm) is not None:
        return True
    found = (rules.parts[p].match(r.clause.norm) for p in ("earlier_time", "earlier_when"))
    return any(m is not None and not r.clause.norm[m.end() :].strip(" ，,") for m in found)
