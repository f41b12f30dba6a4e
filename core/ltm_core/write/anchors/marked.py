"""Identifiers that a message names become anchors and facts of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ltm_core.types import Anchor, Evidence
from ltm_core.write.anchors.identifiers import Identifier
from ltm_core.write.anchors.progress import goes_on, status_told
from ltm_core.write.plan import Candidate, Utterance
from ltm_core.write.read.found import Found, inside, stated
from ltm_core.write.read.people import speaker_key
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold, trim

_MOST_BETWEEN = 3
"""Clauses among which the one is that goes on about a thing."""


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
        between, after = _next(r, reads, spans, lexicon)
        told = status_told(r, identifier, utterance, lexicon, after=after)
        if told is not None and after is not None and told.text.endswith(_spoken(after, lexicon)):
            for o in (*between, after):
                _only_of_it(found, o.evidence(utterance.message_id), whatever=o.clause.language == "en")
        if told is not None:
            # "My order A-7 is being packed" is no attribute called "order a-7": how it stands is told of the order.
            found.candidates = [c for c in found.candidates if not _named_after(c, value)]
        if told is not None and not any(c.relation == "status" and inside(c, evidence) for c in found.candidates):
            found.candidates.append(told)
            found.anchors.append(replace(stated(r, [told], utterance, start=0), text=told.text))
        if any(c.object == value and c.relation == identifier.kind for c in found.candidates):
            continue
        words = trim(r.clause.text)
        has_status = any(c.relation == "status" and c.subject.endswith(f":{value}") for c in found.candidates)
        if any(c.relation == "status" and inside(c, evidence) for c in found.candidates):
            words = trim(r.clause.text[: identifier.end - r.clause.start])  # how it stands is another fact
        if told is not None and after is not None and told.object == goes_on(after, lexicon):
            says = trim(r.clause.text[identifier.end - r.clause.start :])
            words, has_status = trim(r.clause.text), has_status and not says  # the clause itself says what it is
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


def _only_of_it(found: Found, place: Evidence, *, whatever: bool) -> None:
    """Forget what was read in the user's own words, or ``whatever`` was, from a clause that goes on about how a thing
    stands."""
    gone = [c for c in found.candidates if (whatever or c.rule == "open") and place in c.evidence]
    if gone:
        found.candidates = [c for c in found.candidates if c not in gone]
        found.anchors = [a for a in found.anchors if a.kind != "stated_fact" or a.evidence != place]
    found.news = [c for c in found.news if place not in c.evidence]


def _next(
    r: Read, reads: Sequence[Read], spans: Sequence[tuple[int, int]], lexicon: Lexicon
) -> tuple[Sequence[Read], Read | None]:
    """The next clause of the same sentence, unless it names an identifier of its own; in English the next that goes
    on about the thing, with those between that only say what it is ("Return 55-1, the boots, is in transit")."""
    rest: list[Read] = []
    for o in reads:
        if o.clause.start < r.clause.end:
            continue
        if o.clause.sentence != r.clause.sentence or any(o.clause.start <= a < o.clause.end for a, _ in spans):
            break
        rest.append(o)
    if r.clause.language == "en":
        at = next((i for i, o in enumerate(rest[:_MOST_BETWEEN]) if goes_on(o, lexicon) is not None), 0)
        return rest[:at], rest[at] if rest else None
    return (), rest[0] if rest else None


def _spoken(after: Read, lexicon: Lexicon) -> str:
    """The words of a clause that goes on, as a status repeats them."""
    return (goes_on(after, lexicon) if after.clause.language == "en" else None) or trim(after.clause.text)


def _named_after(candidate: Candidate, identifier: str) -> bool:
    """Whether the candidate is an attribute whose name holds the identifier."""
    base, _, name = candidate.relation.partition(":")
    return base in ("attribute", "single") and fold(identifier) in name
