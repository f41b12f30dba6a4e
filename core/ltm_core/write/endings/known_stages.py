"""The stages that are known of matters in others' hands, and which of them a sentence goes on about, so that they are
over. Data: ``stage_*`` of the lexicon. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta

from ltm_core.types import Evidence, Fact
from ltm_core.write.endings.matters import (
    LEAST,
    are_one,
    held_of,
    is_other_matter,
    is_other_matter_zh,
    leans_on,
    matter_words,
    names_more,
    shared_name,
    shares,
    with_name,
)
from ltm_core.write.endings.stages import RELATION
from ltm_core.write.known.rows import UNTOUCHED, is_late
from ltm_core.write.plan import Candidate
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold, normal, script

_LOOSE = ("is_a", "has", "membership", RELATION)
"""Relations under which the patterns keep that somebody is on a list or told to wait."""
_UNDER_WAY = ("stage_waits", "stage_midway")
_STAGE = (*_UNDER_WAY, "stage_came")
"""Expressions of which one finds a stage that more follow, or any."""
_LATELY = timedelta(days=120)
"""How long ago an order or application may lie of which a sentence tells how it goes on."""
_NEXT = 8
"""Characters between what is told side by side."""


def is_open(fact: Fact, lexicon: Lexicon) -> bool:
    """Whether the fact tells at which stage a matter stands."""
    if fact.modality in UNTOUCHED or fact.asserted_by != "user":
        return False
    if fact.relation == RELATION:
        return True
    base = fact.relation.partition(":")[0]
    attribute = base in ("attribute", "single") or fact.rule == "en.attribute"
    named = attribute and (script(fact.text) == "en" or fact.rule == "renewed")
    return (named or fact.relation in lexicon.sets["own_words"]) and tells_waiting(fact, lexicon)


def is_begun(fact: Fact, lexicon: Lexicon) -> bool:
    """Whether the fact tells in the user's own words what was ordered or applied for."""
    begun = lexicon.rules(script(fact.text)).parts.get("stage_begun")
    if begun is None or fact.modality in UNTOUCHED or fact.asserted_by != "user":
        return False
    base = fact.relation.partition(":")[0]
    own = base in ("attribute", "single") or fact.relation in lexicon.sets["own_words"]
    return own and begun.search(normal(fact.text)) is not None


def tells_waiting(fact: Fact, lexicon: Lexicon) -> bool:
    """Whether the words of the fact say that something waits, or has come on without being at its end."""
    return _says(fact.text, _UNDER_WAY, lexicon)


def tells_stage(fact: Fact, lexicon: Lexicon) -> bool:
    """Whether the words of the fact say how far something has come."""
    return _says(fact.text, _STAGE, lexicon)


def _says(text: str, names: Sequence[str], lexicon: Lexicon) -> bool:
    parts, spoken = lexicon.rules(script(text)).parts, normal(text)
    return any(parts[p].search(spoken) is not None for p in names if p in parts)


def stages_over(c: Candidate, facts: Sequence[Fact], lexicon: Lexicon) -> list[Fact]:
    """The stages, told in earlier messages, of the one matter that the sentence goes on about; none when it may be
    one of several."""
    best = _nearest(c, facts, is_open, lexicon)
    matters = {f.subject if f.subject.partition(":")[2] else f.evidence[0].message_id for f in best if f.evidence}
    messages = {e.message_id for f in best for e in f.evidence[:1]}
    alone = len(messages) == 1 or len(matters) == 1
    return best if alone or are_one([held_of(f, lexicon) for f in best], lexicon) else []


def begun_of(c: Candidate, facts: Sequence[Fact], lexicon: Lexicon) -> list[Fact]:
    """What was lately ordered or applied for, and of which the sentence tells how it goes on."""
    return [f for f in _nearest(c, facts, is_begun, lexicon) if c.valid_from - f.valid_from <= _LATELY]


def told_beside(over: Sequence[Fact], facts: Iterable[Fact], lexicon: Lexicon) -> list[Fact]:
    """What else was told, in the sentences of the stages that are over, of how the same matter stood: clauses that
    name nothing themselves ("I applied for the course, they've put me on the waiting list")."""
    told = [e for f in over if is_open(f, lexicon) or is_begun(f, lexicon) for e in f.evidence]
    if not told:
        return []
    ids = {f.id for f in over}
    return [f for f in facts if f.id not in ids and f.is_positive and _is_beside(f, told, lexicon)]


def _is_beside(f: Fact, told: Sequence[Evidence], lexicon: Lexicon) -> bool:
    near = any(
        e.message_id == o.message_id and max(e.start, o.start) - min(e.end, o.end) <= _NEXT
        for e in f.evidence
        for o in told
    )
    mine = f.rule == "open" or f.relation in _LOOSE
    if not near or not mine or f.asserted_by != "user" or not tells_waiting(f, lexicon):
        return False
    return leans_on(normal(f.text), script(f.text), lexicon)


def _nearest(
    c: Candidate, facts: Sequence[Fact], counts: Callable[[Fact, Lexicon], bool], lexicon: Lexicon
) -> list[Fact]:
    """Those facts of earlier messages that count with whose words the sentence shares most."""
    told = {e.message_id for e in c.evidence}
    best: list[Fact] = []
    most = LEAST - 1
    english = script(c.text) == "en"
    spoken = matter_words(c.things[0], lexicon) if english else frozenset[str]()
    for f in facts:
        # Of thousands of facts few share a word.
        if not shares(f, spoken, lexicon) if english else f.text.isascii():
            continue
        if not counts(f, lexicon) or any(e.message_id in told for e in f.evidence) or is_late(c, f):
            continue
        if (f.speaker or None) != (c.speaker or None) or (is_other_matter if english else is_other_matter_zh)(
            c, f, lexicon
        ):
            continue
        if english:
            size = LEAST - 1 + len(spoken & matter_words(held_of(f, lexicon), lexicon))
        else:
            size = shared_name(normal(c.things[0]), held_of(f, lexicon), lexicon.rules("zh"))
        if size > most:
            best, most = [f], size
        elif size == most >= LEAST:
            best.append(f)
    return best


def as_next(c: Candidate, over: Sequence[Fact], lexicon: Lexicon) -> Candidate:
    """The sentence as the stage that follows: of the matter under the name by which it is known, and in words that
    name it."""
    if over:
        held = held_of(over[-1], lexicon)
        text = c.things[0] if names_more(c.things[0], c.text, held, lexicon) else c.text
        text = with_name(text, over[-1].text, lexicon)
        c = replace(c, text=text, object=text, object_normalized=fold(text))
    known = next((f for f in over if f.relation == RELATION and ":" in f.subject), None)
    if known is None:
        return c
    return replace(c, subject=known.subject, is_about_user=known.is_about_user)


def as_stage(c: Candidate, over: Sequence[Fact], lexicon: Lexicon) -> Candidate:
    """What overtakes a known stage as the stage that follows, in words that name its matter."""
    known = next((f for f in over if f.relation == RELATION), None)
    # What ends a waiting is no denial of it when it tells what came ("they've offered us the plot").
    if known is None or not (c.is_positive or _says(c.text, _STAGE, lexicon)):
        return c
    text = with_name(c.text, known.text, lexicon)
    told = replace(c, relation=RELATION, kind="status", importance="high", subject=known.subject, is_positive=True)
    return replace(told, text=text, object=text, object_normalized=fold(text), is_about_user=known.is_about_user)


def hopes_for(fact: Fact, c: Candidate, lexicon: Lexicon) -> bool:
    """Whether the sentence only hopes for the next stage of a matter, or asks itself about it."""
    unsure = lexicon.rules(script(c.text)).parts.get("stage_unsure")
    return unsure is not None and unsure.search(normal(c.text)) is not None and is_open(fact, lexicon)
