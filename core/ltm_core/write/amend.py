"""Corrections that only give the right value: "Actually I meant Leicester", "May 15, not May 14".

They take subject and relation from what the user stated just before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from ltm_core.write.build import head
from ltm_core.write.lexicon import Lexicon
from ltm_core.write.norm import fold, trim
from ltm_core.write.people import lead
from ltm_core.write.plan import Candidate, Turn, Utterance
from ltm_core.write.scopes import Read

_SURE = 0.7
_LOOK_BACK = 3
"""User turns in which the wrong statement may stand."""
_NEAR = 200
"""Characters before and after a name in which its spelling is told."""
_BARE_WORDS = 3
"""Words of a value that is blurted out after "sorry" ("sorry, Darlington!")."""
_DATED = re.compile(r" \(\d{4}-[^)]*\)$")


def amended(
    r: Read,
    utterance: Utterance,
    lexicon: Lexicon,
    *,
    said: Sequence[Candidate],
    heard: Callable[[Turn], Sequence[Candidate]],
) -> Candidate | None:
    """The statement made just before with its value put right; None when the clause corrects nothing."""
    rules = lexicon.rules(r.clause.language)
    pattern = rules.parts.get("amends")
    if pattern is None or r.veto:
        return None
    begin = lead(r.clause.norm, rules)
    m = pattern.match(r.clause.norm[begin:])
    value = trim(m["object"]) if m is not None else ""
    if m is None or not value:
        return None

    def says(part: str, text: str) -> bool:
        return part in rules.parts and rules.parts[part].search(text) is not None

    blurted = r["carried_correction"] or says("blurts", r.clause.norm[:begin])
    # Beside the clause only: a long message has many clauses.
    near = utterance.content[max(0, r.clause.start - _NEAR) : r.clause.end + _NEAR]
    spelled = says("spelled", near) and not says("spelled", value)
    blurted = blurted or spelled
    blurted = blurted and len(value.split()) <= _BARE_WORDS
    if not (m["wrong"] or m["meant"] or (blurted and (value[:1].isupper() or value[:1].isdigit()))):
        return None
    wrong = head(trim(m["wrong"] or ""), lexicon, r.clause.language)
    turns = [t for t in utterance.before if t.role == "user"][-_LOOK_BACK:]
    before = _meant(said, value, wrong)
    for turn in reversed(turns):
        if before is not None:
            break
        before = _meant(heard(turn), value, wrong)
    if before is None or before.object_normalized == head(value, lexicon, r.clause.language):
        return None
    start = begin + m.start("object") + m["object"].find(value)
    spoken = r.clause.text[start : start + len(value)]
    text = _DATED.sub("", before.text)
    return replace(
        before,
        object=spoken,
        object_normalized=head(value, lexicon, r.clause.language),
        text=text.replace(before.object, spoken) if before.object in text else trim(r.clause.text),
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


def _meant(said: Sequence[Candidate], value: str, wrong: str) -> Candidate | None:
    """The statement whose value is put right: the one that names the wrong value, else the last of its shape."""
    able = [c for c in said if c.is_positive and c.modality in ("asserted", "habitual") and c.rule != "open"]
    for c in reversed(able):
        if wrong and _names(c.object_normalized, wrong):
            return c
        if not wrong and _shape(c.object) == _shape(value) and fold(c.object) != fold(value):
            return c
    return None


def _names(held: str, wrong: str) -> bool:
    return held == wrong or f" {wrong} " in f" {held} " or f" {held} " in f" {wrong} "


def _shape(value: str) -> tuple[bool, bool]:
    digits = any(c.isdigit() for c in value)
    return digits, not digits and value[:1].isupper()
