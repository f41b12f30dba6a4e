"""Which known facts the words of a candidate make untrue or over. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ltm_core.types import Fact
from ltm_core.write.endings.ended import ended_by, may_end
from ltm_core.write.endings.opposites import opposed, tells_opposite
from ltm_core.write.endings.telling_of import changes_facet, tells_of_part
from ltm_core.write.endings.touching import only_touches, tells_of_another
from ltm_core.write.known.match import contrary, in_classes, related, same_thing
from ltm_core.write.known.mentions import mentions
from ltm_core.write.known.rows import UNTOUCHED
from ltm_core.write.plan import Candidate
from ltm_core.write.resolve.rivals import equal
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold


def wrong(c: Candidate, mine: Sequence[Fact], lexicon: Lexicon, *, sure_from: float) -> list[Fact]:
    """The beliefs that a correction names as never true."""
    if c.move != "correct":
        return []
    if c.wrong_object:
        sure = c.relation_confidence >= sure_from
        return [f for f in mine if same_thing(f, c.wrong_object, loose=True) and (related(f, c, lexicon) or not sure)]
    if not c.is_positive:
        return [f for f in mine if ended_by(f, c, lexicon)]
    if c.single_valued and c.relation_confidence >= sure_from:
        return [f for f in mine if f.relation == c.relation and f.is_positive and not equal(f, c, lexicon)]
    return []


def ended(c: Candidate, mine: Sequence[Fact], lexicon: Lexicon) -> list[Fact]:
    """The facts that the words end: what is denied, what was changed away from, what is true again."""
    if c.relation == "reply_style":
        return [f for f in mine if contrary(f, c)]
    if not c.is_positive or c.move == "cease":
        over = [f for f in mine if ended_by(f, c, lexicon) and not touched(f, c, lexicon)]
        # Which of several cats it was that died, a statement about cats does not say.
        several = c.rule == "zh.pet_gone" and sum(f.relation == "has_pet" for f in over) > 1
        return [] if several else over
    if c.wrong_object and c.move == "change":
        return [f for f in mine if changed_from(f, c, lexicon)]
    replaced = [
        f
        for f in mine
        if c.move == "change"
        and c.classes
        and f.is_positive
        and f.modality not in UNTOUCHED
        and related(f, c, lexicon)
        and in_classes(f, c.classes, lexicon)
    ]
    return replaced + [
        f
        for f in mine
        if not f.is_positive
        and f.modality not in UNTOUCHED
        and related(f, c, lexicon)
        and same_thing(f, c.object_normalized)
    ]


def opposed_by(c: Candidate, mine: Sequence[Fact], over: Sequence[Fact], lexicon: Lexicon) -> list[Fact]:
    """What cannot be true any more when the words are."""
    gone = tells_opposite(c.text, lexicon)
    told = {e.message_id for e in c.evidence}
    return [
        f
        for f in mine
        if gone
        and f not in over
        and f.is_positive
        and f.modality not in UNTOUCHED
        and f.asserted_by == "user"
        and not any(e.message_id in told for e in f.evidence)
        and opposed(f, gone)
        and not tells_of_another(f, c.text, lexicon)
    ]


def touched(f: Fact, c: Candidate, lexicon: Lexicon) -> bool:
    """Whether the words only touch on the fact; what ends a class of things names none of it."""
    return not c.classes and only_touches(f, c.text, lexicon)


def changed_from(f: Fact, c: Candidate, lexicon: Lexicon) -> bool:
    """Whether the fact is what a change leaves behind ("from Jira to Linear"), under whatever attribute."""
    if not c.wrong_object:
        return False
    # "医生把氨氯地平换成缬沙坦了": whoever did it, the value is named.
    exact = f.subject == c.subject and f.object_normalized == c.wrong_object and related(f, c, lexicon)
    if not exact and (touched(f, c, lexicon) or tells_of_another(f, c.text, lexicon)):
        return False
    if tells_of_part(f, c, lexicon):
        return False
    if changes_facet(f, c, lexicon):
        return False
    named = f.relation.partition(":")[0] in ("single", "attribute") and may_end(f)
    if same_thing(f, c.wrong_object, loose=True) and (related(f, c, lexicon) or named):
        return True
    told = {e.message_id for e in c.evidence}
    return (
        f.relation in lexicon.sets["own_words"]
        and may_end(f)
        and not any(e.message_id in told for e in f.evidence)
        and _is_said_in(c.wrong_object, f, lexicon)
    )


def _is_said_in(thing: str, fact: Fact, lexicon: Lexicon) -> bool:
    """Whether a fact in the user's own words names the thing."""
    return mentions(thing, fact, lexicon) if thing.isascii() else len(thing) > 1 and thing in fold(fact.text)
