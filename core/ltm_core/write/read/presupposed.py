"""What a question, a wish or an order takes for granted of the speaker: "a party for my son Harvey", "our plot in
Bela-Bela". Nobody says it for its own sake, so it ends nothing; a name that was said before is no news."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ltm_core.types import Anchor, Evidence
from ltm_core.write.plan import Candidate, Utterance
from ltm_core.write.read.found import Found, inside
from ltm_core.write.read.people import speaker_key
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold, trim

RULE = "presupposed"
_OPEN = ("", "question", "one_off", "complaint", "feedback", "presentation")
"""Vetoes of clauses that are still the speaker's own plain words."""
_SURE = 0.6


def presuppose(utterance: Utterance, reads: Sequence[Read], found: Found, lexicon: Lexicon) -> None:
    """Adds what the clauses that state nothing take for granted, with its anchors."""
    for r in reads:
        if r.veto not in _OPEN:
            continue
        granted = list(_taken_for_granted(r, utterance, lexicon))
        evidence = r.evidence(utterance.message_id)
        if not granted or any(inside(c, evidence) for c in (*found.candidates, *found.endings)):
            continue
        for c in granted:
            found.candidates.append(c)
            found.anchors.append(
                Anchor(kind="stated_fact", text=c.text, evidence=c.evidence[0], reason=RULE, importance="medium")
            )


def _taken_for_granted(r: Read, utterance: Utterance, lexicon: Lexicon) -> Iterator[Candidate]:
    rules = lexicon.rules(r.clause.language)
    pattern = rules.parts.get("presupposes")
    me, speaker = speaker_key(utterance)
    for m in pattern.finditer(r.clause.norm) if pattern is not None else ():
        name = m["name"] or m["place"]
        if name.lower() in lexicon.sets["no_names"] or _was_said(name, utterance):
            continue
        kin = (m["kin"] or "").lower()
        relation = "has" if not kin else "has_pet" if kin in rules.pets and kin not in rules.kin else "family_member"
        start, end = m.span("object")
        value = trim(r.clause.text[start:end])
        evidence = Evidence(
            message_id=utterance.message_id, start=r.clause.start + m.start(), end=r.clause.start + end
        )
        yield Candidate(
            subject=me,
            relation=relation,
            object=value,
            object_normalized=fold(value),
            text=trim(r.clause.text[m.start() : end]),
            is_about_user=me == "user",
            speaker=speaker,
            confidence=_SURE,
            relation_confidence=_SURE,
            valid_from=utterance.at,
            said_at=utterance.at,
            evidence=(evidence,),
            rule=RULE,
        )


def _was_said(name: str, utterance: Utterance) -> bool:
    """Whether the name was spoken before: then nothing new is taken for granted."""
    low = name.lower()
    if any(low in t.content.lower() for t in (*utterance.before, *utterance.earlier)):
        return True
    return utterance.said_earlier is not None and utterance.said_earlier(name)
