"""Identifiers that a message names become anchors and facts of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ltm_core.types import Anchor, Evidence
from ltm_core.write.anchors.identifiers import Identifier
from ltm_core.write.anchors.progress import status_told
from ltm_core.write.plan import Candidate, Utterance
from ltm_core.write.read.found import Found, inside, stated
from ltm_core.write.read.people import speaker_key
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold, trim


def marked(
    utterance: Utterance,
    reads: Sequence[Read],
    identifiers: Sequence[Identifier],
    found: Found,
    lexicon: Lexicon,
    *,
    asked: set[int],
) -> None:
    """Identifiers are anchors wherever the user speaks plainly, and facts of their own."""
    me, speaker = speaker_key(utterance)
    spans = [(i.start, i.end) for i in identifiers]
    found.candidates = [
        c
        for c in found.candidates
        if c.rule != "open" or not any(e.start <= a and b <= e.end for e in c.evidence for a, b in spans)
    ]
    for identifier in identifiers:
        r = next((r for r in reads if r.clause.start <= identifier.start < r.clause.end), None)
        if r is None or r.veto in ("fiction", "injection") or r.clause.start in asked:
            continue
        evidence = Evidence(message_id=utterance.message_id, start=identifier.start, end=identifier.end)
        value = utterance.content[identifier.start : identifier.end]
        found.anchors.append(
            Anchor(kind="identifier", text=value, evidence=evidence, reason=identifier.rule, importance="high")
        )
        others = lexicon.rules(r.clause.language).parts.get("others_own")
        if others is not None and others.search(r.clause.norm):
            continue
        if any(c.object == value and c.relation == identifier.kind for c in found.candidates):
            continue
        after = _next(r, reads, spans)
        told = status_told(r, identifier, utterance, lexicon, after=after)
        if told is not None and after is not None and told.text.endswith(trim(after.clause.text)):
            _only_of_it(found, after.evidence(utterance.message_id))
        if told is not None:
            # "My order A-7 is being packed" is no attribute called "order a-7": how it stands is told of the order.
            found.candidates = [c for c in found.candidates if not _named_after(c, value)]
        if told is not None and not any(c.relation == "status" and inside(c, evidence) for c in found.candidates):
            found.candidates.append(told)
            found.anchors.append(replace(stated(r, [told], utterance, start=0), text=told.text))
        words = trim(r.clause.text)
        has_status = any(c.relation == "status" and c.subject.endswith(f":{value}") for c in found.candidates)
        if any(c.relation == "status" and inside(c, evidence) for c in found.candidates):
            words = trim(r.clause.text[: identifier.end - r.clause.start])  # how it stands is another fact
        found.candidates.append(
            Candidate(
                subject=me,
                relation=identifier.kind,
                object=value,
                object_normalized=fold(value),
                text=words if not (r.veto or has_status) else f"{identifier.kind}: {value}",
                is_about_user=me == "user",
                speaker=speaker,
                importance="high",
                valid_from=utterance.at,
                said_at=utterance.at,
                evidence=(evidence,),
                rule=identifier.rule,
            )
        )


def _only_of_it(found: Found, place: Evidence) -> None:
    """Forget what was read in the user's own words from a clause that goes on about how a thing stands."""
    gone = [c for c in found.candidates if c.rule == "open" and place in c.evidence]
    if gone:
        found.candidates = [c for c in found.candidates if c not in gone]
        found.anchors = [a for a in found.anchors if a.kind != "stated_fact" or a.evidence != place]
    found.news = [c for c in found.news if place not in c.evidence]


def _next(r: Read, reads: Sequence[Read], spans: Sequence[tuple[int, int]]) -> Read | None:
    """The next clause of the same sentence, unless it names an identifier of its own."""
    after = next((o for o in reads if o.clause.start >= r.clause.end), None)
    if after is None or after.clause.sentence != r.clause.sentence:
        return None
    return None if any(after.clause.start <= a < after.clause.end for a, _ in spans) else after


def _named_after(candidate: Candidate, identifier: str) -> bool:
    """Whether the candidate is an attribute whose name holds the identifier."""
    base, _, name = candidate.relation.partition(":")
    return base in ("attribute", "single") and fold(identifier) in name
