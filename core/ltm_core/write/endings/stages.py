"""How far a matter has come that is in others' hands: an order, an application, a repair, a paper under review.

A sentence tells the stage of a matter that it names ("定做的衣柜还在排产"), or only how one known to be open goes on
("衣柜今天装好了"). Whatever stage was known before is over then: a matter is at one stage at a time. Data:
``stage_*`` of the lexicon. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ltm_core.types import Anchor
from ltm_core.write.endings.matters import leans_on
from ltm_core.write.plan import Candidate, Utterance
from ltm_core.write.read.found import overlap, statement
from ltm_core.write.read.old_stories import is_story
from ltm_core.write.read.scopes import Read
from ltm_core.write.read.units import Unit, unit_of
from ltm_core.write.words.lexicon import Lexicon, Rules
from ltm_core.write.words.norm import fold, normal

RULE = "stage"
RELATION = "status"
_NOT = ("question", "conditional", "wish")
"""Cues of clauses that tell no stage."""
_AHEAD = ("plan", "goal")
"""Cues of clauses that tell of no stage reached; "等结果" is a stage, for all that it looks ahead."""
_WAITS, _CAME = "waits", "came"
_OF_OTHERS = ("kin", "pet", "entity")
_OWN_SURE, _OTHER = 0.8, 0.5
"""Confidence of a stage whose matter the sentence names, and of one that only goes on about a known matter."""
_END = 12
"""Characters at the end of a stage that an anchor of it holds."""


def stages_told(
    found: Iterable[Unit], utterance: Utterance, lexicon: Lexicon, *, me: str, speaker: str | None
) -> Iterator[Candidate]:
    """A candidate for every sentence that tells how far a matter has come; for two where the second says of what the
    first names how it stands ("They carried the sofa in at noon. It's delivered")."""
    before: Unit | None = None
    made: Candidate | None = None
    for unit in found:
        told = _stage_of(unit, utterance, lexicon, me=me, speaker=speaker)
        if told is not None and before is not None and _leans(unit, before, lexicon):
            told, made = _joined(before, unit, told, of_both=made is not None, lexicon=lexicon), None
        if made is not None:
            yield made
        before, made = unit, told
    if made is not None:
        yield made


def _stage_of(
    unit: Unit, utterance: Utterance, lexicon: Lexicon, *, me: str, speaker: str | None
) -> Candidate | None:
    """How far a matter has come by one sentence."""
    rules = lexicon.rules(unit.spoken[0].read.clause.language)
    if "stage_waits" not in rules.parts or is_story([s.read for s in unit.spoken]):
        return None
    told = [_tells(s.read, rules) for s in unit.spoken]
    not_told = [rules.parts[p] for p in ("stage_not", "facet") if p in rules.parts]
    if not any(told) or any(p.search(normal(unit.text)) for p in not_told):
        return None
    names = [rules.parts[p] for p in ("stage_matter", "stage_held", "stage_begun") if p in rules.parts]
    matter = [any(p.search(s.read.clause.norm) for p in names) for s in unit.spoken]
    asks = any(s.read["second_person"] or _is_order(s.read, rules) for s in unit.spoken)
    # "the screen is being repaired, so I have an iPad on loan"
    lent = (s.read["temporary"] and not t for s, t in zip(unit.spoken, told, strict=True))
    asks = asks or (rules.language == "en" and any(lent))
    named = _WAITS in told and any(matter) and not asks
    first = next(i for i, (t, m) in enumerate(zip(told, matter, strict=True)) if t or m)
    last = _last_of(unit, max(i for i, t in enumerate(told) if t), rules)
    if first and unit.spoken[0].read.clause.language == "en":
        first = _begins(unit, first, rules)
    part = unit_of(unit.spoken[first : last + 1], utterance.content, utterance.message_id)
    whose = next((s.subject.key for s in unit.spoken if s.subject.kind in _OF_OTHERS), me)
    return Candidate(
        subject=whose,
        relation=RELATION,
        object=part.text,
        object_normalized=fold(part.text),
        text=part.text,
        kind="status",
        is_about_user=whose == "user",
        speaker=speaker,
        confidence=_OWN_SURE if named else _OTHER,
        relation_confidence=0.8,
        importance="high",
        reach="circle",
        valid_from=utterance.at,
        said_at=utterance.at,
        evidence=(part.evidence,),
        things=(unit.text,),
        rule=RULE,
    )


def _is_order(r: Read, rules: Rules) -> bool:
    """Whether a clause asks for something, and does not only begin with the verb that a thing is called by
    ("订的婚纱")."""
    thing = rules.parts["stage_thing"].match(r.clause.norm.strip()) if rules.language == "zh" else None
    return r["command"] and thing is None


def _leans(unit: Unit, before: Unit, lexicon: Lexicon) -> bool:
    """Whether a sentence names nothing of what it tells a stage of, so that the one before it may."""
    one, two = before.spoken[-1].read, unit.spoken[0].read
    if two.clause.sentence - one.clause.sentence != 1 or two.clause.language != one.clause.language:
        return False
    if any(s.read[w] for s in before.spoken for w in _NOT):
        return False
    rules = lexicon.rules(two.clause.language)
    told = [s.read.clause.norm for s in unit.spoken if _tells(s.read, rules)]
    return all(leans_on(t, rules.language, lexicon) for t in told)


def _joined(before: Unit, unit: Unit, told: Candidate, *, of_both: bool, lexicon: Lexicon) -> Candidate:
    """The stage in the words of both sentences."""
    rules = lexicon.rules(unit.spoken[0].read.clause.language)
    text = f"{before.text}{'，' if rules.language == 'zh' else ', '}{told.text}"
    evidence = told.evidence[0]
    if of_both:
        evidence = replace(evidence, start=before.evidence.start)
    waits = any(_tells(s.read, rules) == _WAITS for s in unit.spoken)
    named = waits and rules.parts["stage_matter"].search(normal(before.text)) is not None
    return replace(
        told,
        object=text,
        object_normalized=fold(text),
        text=text,
        confidence=_OWN_SURE if named or is_named(told) else told.confidence,
        evidence=(evidence,),
        things=(f"{before.text}, {unit.text}",),
    )


def _begins(unit: Unit, first: int, rules: Rules) -> int:
    """Where the words of a stage begin: with what an apposition names ("the wedding dress, order 6390-W, is …")."""
    norms = [s.read.clause.norm for s in unit.spoken[:first]]
    at = first - 1
    while at and rules.parts["stage_number"].search(norms[at]) is not None:
        at -= 1
    return at if rules.parts["stage_thing"].match(norms[at]) is not None else first


def is_named(c: Candidate) -> bool:
    """Whether the sentence names its matter, so that it is to be kept whatever is known."""
    return c.confidence >= _OWN_SURE


def stage_anchors(news: Iterable[Candidate], given: Sequence[Anchor]) -> list[Anchor]:
    """The anchors of the stages that are to be kept whatever is known, where the clause that tells one gave none."""
    told = [c for c in news if c.rule == RULE and is_named(c)]
    ends = [replace(c.evidence[0], start=c.evidence[0].end - 1) for c in told]
    return [
        statement([c], c.text, c.evidence[0], reason=RULE)
        for c, end in zip(told, ends, strict=True)
        if not any(a.kind == "stated_fact" and (overlap((a.evidence,), (end,)) or _tells_end(a, c)) for a in given)
    ]


def _last_of(unit: Unit, last: int, rules: Rules) -> int:
    """Where the stage ends: with the clause that tells how much or when, if it follows ("批下来了，总共八万六")."""
    detail_of = rules.parts.get("stage_detail")
    if detail_of is None:
        return last
    after = unit.spoken[last + 1 : last + 2]
    detail = any(detail_of.search(s.read.clause.norm) and not s.read.veto for s in after)
    return last + 1 if detail else last


def _tells_end(a: Anchor, c: Candidate) -> bool:
    """Whether an anchor holds the end of a stage already, in English words."""
    return c.text.isascii() and a.text.endswith(c.text[-_END:])


def _tells(r: Read, rules: Rules) -> str:
    """What the clause tells of a stage: that something waits there, that it came on, or nothing."""
    if any(r[w] for w in _NOT) or rules.parts["stage_unsure"].search(r.clause.norm) is not None:
        return ""
    if not r.veto and rules.parts["stage_waits"].search(r.clause.norm) is not None:
        return _WAITS
    if any(r[w] for w in _AHEAD):
        return ""
    came = any(rules.parts[p].search(r.clause.norm) for p in ("stage_came", "stage_waits"))
    short = rules.parts.get("stage_short")
    return _CAME if came or (short is not None and short.match(r.clause.norm.strip())) else ""
