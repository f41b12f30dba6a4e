"""How far a matter has come that is in others' hands: an order, an application, a repair, a paper under review.

A sentence tells the stage of a matter that it names ("定做的衣柜还在排产"), or only how one known to be open goes on
("衣柜今天装好了"). Whatever stage was known before is over then: a matter is at one stage at a time. Data:
``stage_*`` of the lexicon. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ltm_core.types import Anchor, Fact
from ltm_core.write.endings.matters import is_other_matter, matter_words, shares
from ltm_core.write.known.rows import UNTOUCHED, is_late
from ltm_core.write.plan import Candidate, Utterance
from ltm_core.write.read.found import overlap, statement
from ltm_core.write.read.old_stories import is_story
from ltm_core.write.read.scopes import Read
from ltm_core.write.read.units import Unit, unit_of
from ltm_core.write.words.expressions import Expression
from ltm_core.write.words.lexicon import Lexicon, Rules
from ltm_core.write.words.norm import fold, normal, script

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
_LEAST = 2
"""Characters of the name that two sentences about one matter share."""


def stages_told(
    found: Iterable[Unit], utterance: Utterance, lexicon: Lexicon, *, me: str, speaker: str | None
) -> Iterator[Candidate]:
    """A candidate for every sentence that tells how far a matter has come."""
    for unit in found:
        rules = lexicon.rules(unit.spoken[0].read.clause.language)
        if "stage_waits" not in rules.parts or is_story([s.read for s in unit.spoken]):
            continue
        told = [_tells(s.read, rules) for s in unit.spoken]
        not_told = [rules.parts[p] for p in ("stage_not", "facet") if p in rules.parts]
        if not any(told) or any(p.search(normal(unit.text)) for p in not_told):
            continue
        matter = [rules.parts["stage_matter"].search(s.read.clause.norm) is not None for s in unit.spoken]
        asks = any(s.read["command"] or s.read["second_person"] for s in unit.spoken)
        # "the screen is being repaired, so I have an iPad on loan"
        asks = asks or (rules.language == "en" and any(s.read["temporary"] for s in unit.spoken))
        named = _WAITS in told and any(matter) and not asks
        first = next(i for i, (t, m) in enumerate(zip(told, matter, strict=True)) if t or m)
        last = _last_of(unit, max(i for i, t in enumerate(told) if t), rules)
        if first and unit.spoken[0].read.clause.language == "en":
            first = _begins(unit, first, rules)
        part = unit_of(unit.spoken[first : last + 1], utterance.content, utterance.message_id)
        whose = next((s.subject.key for s in unit.spoken if s.subject.kind in _OF_OTHERS), me)
        yield Candidate(
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
    if any(r[w] for w in _NOT):
        return ""
    if not r.veto and rules.parts["stage_waits"].search(r.clause.norm) is not None:
        return _WAITS
    if any(r[w] for w in _AHEAD):
        return ""
    return _CAME if any(rules.parts[p].search(r.clause.norm) for p in ("stage_came", "stage_waits")) else ""


def is_open(fact: Fact, lexicon: Lexicon) -> bool:
    """Whether the fact tells at which stage a matter stands."""
    if fact.modality in UNTOUCHED or fact.asserted_by != "user":
        return False
    if fact.relation == RELATION:
        return True
    base = fact.relation.partition(":")[0]
    named = base in ("attribute", "single") and script(fact.text) == "en"
    return (named or fact.relation in lexicon.sets["own_words"]) and tells_waiting(fact, lexicon)


def tells_waiting(fact: Fact, lexicon: Lexicon) -> bool:
    """Whether the words of the fact say that something waits."""
    waits = lexicon.rules(script(fact.text)).parts.get("stage_waits")
    return waits is not None and waits.search(normal(fact.text)) is not None


def stages_over(c: Candidate, facts: Sequence[Fact], lexicon: Lexicon) -> list[Fact]:
    """The stages, told in an earlier message, of the one matter that the sentence goes on about; none when it may be
    one of several."""
    told = {e.message_id for e in c.evidence}
    best: list[Fact] = []
    most = _LEAST - 1
    language = script(c.text)
    spoken = matter_words(c.things[0], lexicon) if language == "en" else frozenset[str]()
    for f in facts:
        if language == "en":
            # Of thousands of facts few share a word.
            if not (shares(f, spoken, lexicon) and is_open(f, lexicon)):
                continue
        elif f.text.isascii() or not is_open(f, lexicon):
            continue
        if any(e.message_id in told for e in f.evidence) or is_late(c, f):
            continue
        if language == "en":
            if (f.speaker or None) != (c.speaker or None) or is_other_matter(c, f, lexicon):
                continue
            size = _LEAST - 1 + len(spoken & matter_words(_held(f, lexicon), lexicon))
            if size > most:
                best, most = [f], size
            elif size == most >= _LEAST:
                best.append(f)
            continue
        if (f.speaker or None) != (c.speaker or None) or _is_others(c, f, lexicon):
            continue
        size = _shared(normal(c.things[0]), _held(f, lexicon), lexicon.rules("zh"))
        if size > most:
            best, most = [f], size
        elif size == most >= _LEAST:
            best.append(f)
    matters = {f.subject if f.subject.partition(":")[2] else f.evidence[0].message_id for f in best if f.evidence}
    messages = {e.message_id for f in best for e in f.evidence[:1]}
    return best if len(messages) == 1 or len(matters) == 1 else []


def _held(f: Fact, lexicon: Lexicon) -> str:
    """The words of a stage, with what its matter is called ("包裹" of a parcel known by number)."""
    sort, _, name = f.subject.partition(":")
    return "|".join((normal(f.text), lexicon.identifier_words.get(sort, ""), name if sort == "item" else ""))


def _is_others(c: Candidate, f: Fact, lexicon: Lexicon) -> bool:
    """Whether the sentence tells of one of the speaker's people of whom the stage says nothing, or of another
    matter of the sort."""
    rules = lexicon.rules("zh")
    text, held = normal(c.things[0]), normal(f.text)
    if rules.parts["stage_another"].search(text) is not None:
        return True
    theirs, mine = rules.parts["stage_whose"].search(held), rules.parts["stage_mine"]
    for m in rules.parts["stage_whose"].finditer(text):
        owned = theirs is not None or mine.search(held) is not None
        if owned and m["kin"] not in held and rules.kin.get(m["kin"]) != f.subject.partition(":")[0]:
            return True
    return theirs is not None and mine.search(text) is not None


def _shared(said: str, held: str, rules: Rules) -> int:
    """Length of the longest name that both hold; 0 when they share none."""
    noise = rules.parts["stage_noise"]
    one, two = _names(said, noise), _names(held, noise)
    longest = 0
    for a in one:
        for b in two:
            longest = max(longest, _common(a, b))
    small = rules.parts["stage_small"]
    if longest < _LEAST and set(small.findall(said)) & set(small.findall(held)):
        return _LEAST
    return longest


def _names(text: str, noise: Expression) -> tuple[str, ...]:
    """The stretches of a sentence that may name something, without the words of stages, times and agents."""
    return tuple(w for w in noise.sub("|", text).split("|") if len(w) >= _LEAST)


def _common(a: str, b: str) -> int:
    best = 0
    for at in range(len(a)):
        size = best + 1
        while at + size <= len(a) and a[at : at + size] in b:
            best = size
            size += 1
    return best


def as_next(c: Candidate, over: Sequence[Fact]) -> Candidate:
    """The sentence as the stage that follows: of the matter under the name by which it is known."""
    known = next((f for f in over if f.relation == RELATION and ":" in f.subject), None)
    if known is None:
        return c
    return replace(c, subject=known.subject, is_about_user=known.is_about_user)
