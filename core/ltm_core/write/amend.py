"""Corrections that only give the right value: "Actually I meant Leicester", "May 15, not May 14".

They take subject and relation from what the user stated just before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from ltm_core.write.build import head
from ltm_core.write.lexicon import Lexicon, Rules
from ltm_core.write.norm import trim
from ltm_core.write.people import lead
from ltm_core.write.plan import Candidate, Turn, Utterance
from ltm_core.write.scopes import Read
from ltm_core.write.values import is_bare_name, is_typed, put

_SURE = 0.7
_LOOK_BACK = 3
"""User turns in which the wrong statement may stand."""
_NEAR = 200
"""Characters before and after a name in which its spelling is told."""
_BARE_WORDS = 3
"""Words of a value that is blurted out after "sorry" ("sorry, Darlington!")."""
_BLURT = 24
"""Characters of a clause that only blurts something out."""
_CURRENCY = re.compile(r"[$€£¥]")
_DATED = re.compile(r" \(\d{4}-[^)]*\)$")


def amended(
    r: Read,
    utterance: Utterance,
    lexicon: Lexicon,
    *,
    said: Sequence[Candidate],
    heard: Callable[[Turn], Sequence[Candidate]],
    prior: Read | None = None,
) -> Candidate | None:
    """The statement made just before with its value put right; None when the clause corrects nothing.

    ``prior``: the clause before, which may only blurt something out ("Sorry, 21 June").
    """
    rules = lexicon.rules(r.clause.language)
    pattern = rules.parts.get("amends")
    if pattern is None or r.veto:
        return None
    if prior is not None and _excludes(r, prior, rules):
        return None
    begin = lead(r.clause.norm, rules)
    blurted = rules.parts.get("blurts_lead")
    blurt = blurted.match(r.clause.norm, begin) if blurted is not None else None
    begin = blurt.end() if blurt is not None else begin
    begin += r.clause.norm[begin:].startswith("*")
    m = pattern.match(r.clause.norm[begin:])
    value = trim(m["object"]) if m is not None else ""
    bare = lexicon.shared["determiner"].sub("", value, count=1)
    value = bare if is_typed(bare, rules) else value
    if m is None or not value:
        return None
    sign = _sign(r, begin, value, prior, utterance, rules, calls_nobody=bool(m["meant"]))
    meant = bool(m["meant"]) and (is_typed(value, rules) or not rules.parts["meant_mildly"].match(m["meant"]))
    if not (m["wrong"] or meant or sign):
        return None
    wrong = head(trim(m["wrong"] or ""), lexicon, r.clause.language)
    turns = [t for t in utterance.before if t.role == "user"][-_LOOK_BACK:]
    if not turns and (m["wrong"] or m["meant"]):
        turns = [t for t in utterance.earlier if t.role == "user"][-_LOOK_BACK:]
    if sign == "weak" and not (m["wrong"] or meant):
        # What follows a question of the assistant answers it.
        turns = [] if _was_asked(utterance) else turns[-1:]
    found = _meant(said, value, wrong, rules)
    for turn in reversed(turns):
        if found is not None:
            break
        found = _meant(heard(turn), value, wrong, rules)
    if found is None or found[0].object_normalized == head(found[1], lexicon, r.clause.language):
        return None
    before, value = found
    text = _DATED.sub("", before.text)
    return replace(
        before,
        object=value,
        object_normalized=head(value, lexicon, r.clause.language),
        text=text.replace(before.object, value) if before.object in text else trim(r.clause.text),
        move="correct",
        reach="subject",
        classes=(),
        wrong_object=before.object_normalized,
        relation_confidence=max(before.relation_confidence, 0.8),
        valid_from=utterance.at,
        said_at=utterance.at,
        evidence=(r.evidence(utterance.message_id),),
        rule="amended",
    )


def _excludes(r: Read, prior: Read, rules: Rules) -> bool:
    """Whether the clause only repeats what "only" left out before it ("in English only, no Hindi")."""
    exclusive = rules.parts.get("exclusive")
    joined = prior.clause.sentence == r.clause.sentence and r.clause.norm.lower().startswith("no ")
    return joined and exclusive is not None and exclusive.search(prior.clause.norm) is not None


def _sign(
    r: Read, begin: int, value: str, prior: Read | None, utterance: Utterance, rules: Rules, *, calls_nobody: bool
) -> str:
    """How the words around a bare value say that it puts another right: "plain", "weak" ("sorry, …"), or "".
    ``calls_nobody``: words in front of a name make it no call ("it's the F-350")."""

    def says(part: str, text: str) -> bool:
        return part in rules.parts and rules.parts[part].search(text) is not None

    if len(value.split()) > _BARE_WORDS or not is_typed(value, rules):
        return ""
    # Beside the clause only: a long message has many clauses.
    near = utterance.content[max(0, r.clause.start - _NEAR) : r.clause.end + _NEAR]
    behind = utterance.content[r.clause.end : r.clause.end + _NEAR]
    spelled = says("spelled", near) and not says("spelled", value)
    blurted = r.clause.norm[:begin]
    if prior is not None and prior.clause.end <= r.clause.start and len(prior.clause.norm) <= _BLURT:
        blurted = f"{prior.clause.norm}, {blurted}"
    if r["carried_correction"] or spelled or says("blurts_after", behind):
        return "plain"
    called = is_bare_name(value, rules) and not calls_nobody and not says("blurts_before", behind)
    if not says("blurts", blurted) or called:
        return ""
    return "weak" if says("blurts_weak", trim(blurted)) else "plain"


def excuses(r: Read, lexicon: Lexicon) -> bool:
    """Whether the clause only says how a wrong value came to be told ("Got my digits swapped")."""
    told = lexicon.rules(r.clause.language).parts.get("blurts_after")
    return told is not None and told.search(r.clause.norm) is not None


def _was_asked(utterance: Utterance) -> bool:
    last = utterance.before[-1] if utterance.before else None
    return last is not None and last.role == "assistant" and "?" in last.content


def denied_then(r: Read, denied: Sequence[Candidate], utterance: Utterance, lexicon: Lexicon) -> Candidate | None:
    """ "My name isn't Karen, it's Kieran": the value that holds in the place of the one just denied."""
    known = [c for c in denied if c.single_valued and c.relation_confidence >= _SURE and c.move != "cease"]
    pattern = lexicon.rules(r.clause.language).parts.get("instead")
    if pattern is None or r.veto or not known:
        return None
    m = pattern.match(r.clause.norm)
    value = trim(m["object"]) if m is not None else ""
    if m is None or not value:
        return None
    start = m.start("object") + m["object"].find(value)
    last = known[-1]
    return replace(
        last,
        object=r.clause.text[start : start + len(value)],
        object_normalized=head(value, lexicon, r.clause.language),
        text=trim(r.clause.text),
        is_positive=True,
        move="correct",
        reach="subject",
        classes=(),
        wrong_object=last.object_normalized,
        valid_from=utterance.at,
        said_at=utterance.at,
        evidence=(*last.evidence, r.evidence(utterance.message_id)),
        rule="instead",
    )


def _meant(said: Sequence[Candidate], value: str, wrong: str, rules: Rules) -> tuple[Candidate, str] | None:
    """The statement whose value is put right, with the right one: the statement that names the wrong value, else the
    last that holds one of its kind."""
    able = [c for c in said if c.is_positive and c.modality in ("asserted", "habitual")]
    for c in reversed(able):
        if wrong:
            if c.rule != "open" and _names(c.object_normalized, wrong):
                return c, value
            continue
        right = put(c.object, value, rules)
        if right:
            return c, right
    return None


def _names(held: str, wrong: str) -> bool:
    held, wrong = (_CURRENCY.sub("", v) for v in (held, wrong))
    return held == wrong or f" {wrong} " in f" {held} " or f" {held} " in f" {wrong} "
