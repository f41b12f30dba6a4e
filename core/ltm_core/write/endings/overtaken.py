"""What a sentence overtakes of what is known, found beside the store: by what it is known to make over, by a value
told anew, or by the learned models. Never when the rules found what the words change."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ltm_core.types import Fact, Scope
from ltm_core.write.endings.anew_zh import told_anew
from ltm_core.write.endings.ended import is_of_another
from ltm_core.write.endings.instead import instead
from ltm_core.write.endings.known_stages import hopes_for, told_beside
from ltm_core.write.endings.likely_news import KNOWN_ONLY
from ltm_core.write.endings.meant_fact import Meant, meant
from ltm_core.write.endings.opposites import over_by, tells_opposite
from ltm_core.write.endings.telling_of import moves_another, tells_of_facet
from ltm_core.write.known.broad import belongs_to
from ltm_core.write.known.details import told_with
from ltm_core.write.known.judged import Judge
from ltm_core.write.known.known import Known
from ltm_core.write.known.mentions import uncounted
from ltm_core.write.known.news import News, words
from ltm_core.write.known.rows import UNTOUCHED
from ltm_core.write.plan import Candidate, Decision
from ltm_core.write.read.found import overlap
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold, normal

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SURE = 0.8
"""Probability from which the models outvote the relation that the rules read."""
_OVER = 0.95
"""Probability that what some words are known to make over is over."""
_ANEW = "told anew"
"""Why a fact is over of which a sentence tells another value."""
_LONGEST_NAME = 4
"""Characters of a Chinese name or thing with which a sentence begins."""
_OPEN = ("about", "does", "habit", "note")
"""Relations whose object is the whole clause."""
_KINDS_OF_THINGS = ("device", "favorite", "address")
"""Relations whose second half is a sort of things in English, in whatever language they were told."""
_NAMED = ("attribute", "single")
"""Relations that are only the words of the user for a thing."""


def _leaves_another(fact: Fact, c: Candidate, lexicon: Lexicon) -> bool:
    return is_of_another(c, fact, lexicon)


def overtake(
    c: Candidate,
    decisions: list[Decision],
    known: Known,
    *,
    vectors: Mapping[str, NDArray[Any]],
    judge: Judge,
    lexicon: Lexicon,
    labels: Scope,
    now: datetime,
    new_id: Callable[[], str],
) -> list[Decision]:
    """The decisions of a message, and the end of what one of its sentences overtakes.

    A value that the rules kept of the sentence takes the place of what ends; without one the sentence itself does,
    as a statement or, when it only ends something, as a denial.
    """
    news = judge.news
    here = [d for d in decisions if overlap(d.fact.evidence, c.evidence)]
    found = [d for d in here if not _is_of_this(d, c)]
    over, by_event = over_by(c, known.values(), lexicon)
    spares = [moves_another, tells_of_facet, hopes_for]
    if not any(o.gives_value for o in by_event):  # "the removal van left: we're residents of Carmarthen"
        spares.append(_leaves_another)
    over = [f for f in over if not any(spares_it(f, c, lexicon) for spares_it in spares)]
    settled = bool(over) or any(d.op not in ("add", "reinforce") for d in found)
    anew = [] if settled else told_anew(c, known.values(), lexicon)
    sure, certain = bool(over or anew), False
    if sure:
        probability, why = _OVER, ", ".join(o.name for o in by_event) or _ANEW
        only_over = any(o.ends for o in by_event) and not any(o.holds or o.gives_value for o in by_event)
        c = replace(c, is_positive=(c.is_positive and not only_over) or bool(anew) or any(o.holds for o in by_event))
        over = over or anew
    elif c.confidence <= KNOWN_ONLY or any(d.op != "add" or d.fact.modality in UNTOUCHED for d in found):
        return _as_denials(decisions, c, known, lexicon)
    else:
        found_ = _meant(c, known, vectors, judge, lexicon)
        over, why, probability, certain = list(found_.facts), found_.why, found_.probability, found_.is_sure
    values = [d.fact for d in here if d.fact.is_positive and d.fact.rule != "open"]
    if not over:
        return _as_denials(decisions, c, known, lexicon)
    if any(d.op == "restore" for d in decisions):
        return decisions
    if not sure and any(_speaks_of_else(d.fact, over[0], news) for d in here):
        return decisions
    if not sure and any(_is_one_more(v, over[0], c, lexicon) for v in values):
        return decisions
    if probability < _SURE and not certain and not all(_may_follow(f, over[0], c, news, lexicon) for f in values):
        return decisions
    if not any(o.holds for o in by_event) and not (c.move == "correct" and c.is_positive):
        over = [*over, *told_with(over, known.values(), lexicon, ends=not values)]
        over += told_beside(over, known.values(), lexicon)
    return instead(
        c, over, values, decisions, known, why=why, sure=sure, lexicon=lexicon, labels=labels, now=now, new_id=new_id
    )


def _as_denials(decisions: list[Decision], c: Candidate, known: Known, lexicon: Lexicon) -> list[Decision]:
    """The decisions with what was kept of a sentence that tells an end and nothing besides as a denial: "I'm off
    Bumble" says of nothing that it is so."""
    kept = {
        d.fact.id: replace(d.fact, is_positive=False)
        for d in decisions
        if d.op == "add" and d.fact.rule == "open" and d.fact.is_positive and overlap(d.fact.evidence, c.evidence)
    }
    # What is known of ends is looked through only where there is something to deny.
    if not kept or not any(g.by.ends for g in tells_opposite(normal(c.text), lexicon, events=True)):
        return decisions
    for fact in kept.values():
        known.put(fact)
    return [replace(d, fact=kept[d.fact.id]) if d.op == "add" and d.fact.id in kept else d for d in decisions]


def _meant(c: Candidate, known: Known, vectors: Mapping[str, NDArray[Any]], judge: Judge, lexicon: Lexicon) -> Meant:
    """What the models find of the subject's facts; of others whom it names; where it names nobody, only what they
    are sure of ("she has left the bank")."""
    mine = known.of_subject(c)
    found = meant(c, mine, vectors, judge, lexicon)
    theirs = _named_instead(c, found.facts, known, lexicon)
    if theirs:
        return meant(c, theirs, vectors, judge, lexicon)
    if found.facts or c.subject != (c.speaker or "user"):
        return found
    ids = {f.id for f in mine}
    others = [f for f in known.values() if f.id not in ids]
    named = [f for f in others if _names_subject(f.subject, c.text)]
    if named:  # "we buried Mr Tibbs under the apple tree"
        return meant(c, named, vectors, judge, lexicon)
    return found if _names_somebody(c, lexicon) else meant(replace(c, doubted=True), others, vectors, judge, lexicon)


def _named_instead(c: Candidate, over: Sequence[Fact], known: Known, lexicon: Lexicon) -> list[Fact]:
    """What a Chinese sentence begins with by its name, known of one of the speaker's people in the same relation as
    what was found without being named there ("途观过户给表弟了" of his wife's car, not of mine)."""
    if not over or c.text.isascii():
        return []
    begins = fold(c.text).partition("，")[0]
    if any(_bare(f, lexicon) in begins for f in over):
        return []
    relations = {f.relation for f in over}
    held = [f for f in known.values() if f.relation in relations and f.subject != c.subject and ":" not in f.relation]
    return [f for f in held if len(_bare(f, lexicon)) > 1 and begins.startswith(_bare(f, lexicon))]


def _bare(fact: Fact, lexicon: Lexicon) -> str:
    """The value of a fact without a counter before it ("一辆途观")."""
    return uncounted((fact.object_normalized or fold(fact.object)).removeprefix("一"), lexicon)


def _names_subject(subject: str, text: str) -> bool:
    """Whether the words name the relative or animal by the name under which it is known."""
    name = subject.partition(":")[2]
    return len(name) > 1 and re.search(rf"(?<![A-Za-z]){re.escape(name)}(?![A-Za-z])", text) is not None


def _names_somebody(c: Candidate, lexicon: Lexicon) -> bool:
    kin = lexicon.rules("en" if c.text.isascii() else "zh").kin
    said = set(fold(c.text).replace("'s", "").split()) if c.text.isascii() else ()
    named = any(k in said for k in kin) if said else any(k in c.text for k in kin)
    return named or lexicon.shared["news_others"].search(c.text) is not None


def _is_of_this(d: Decision, c: Candidate) -> bool:
    """Whether it replaces only what the message said a clause before ("they changed my pills, I take X now")."""
    old = d.previous
    return d.op == "supersede" and old is not None and overlap(old.evidence, c.evidence)


def _speaks_of_else(read: Fact, old: Fact, news: News) -> bool:
    """Whether the rules read of what a Chinese sentence tells, and it is not what the fact is about: a lesson in
    maths of the one in Chinese, running of climbing."""
    base, _, noun = read.relation.partition(":")
    if not read.is_positive and base not in _OPEN:
        noun = noun or read.object
    if not noun or base in _KINDS_OF_THINGS or noun.isascii():
        return False
    told = words(f"{old.relation} {old.text} {old.object}", news.function)
    said = words(noun, news.function)
    return bool(said) and not said & told and not belongs_to(old.object, noun)


def _is_one_more(value: Fact, old: Fact, c: Candidate, lexicon: Lexicon) -> bool:
    """Whether an English sentence tells of one more of what people have several of ("We got a new dog, Rufus"), and
    says nothing of an end."""
    several = value.relation == old.relation and value.relation in lexicon.sets["accumulates"]
    rules = lexicon.rules("en")
    ends = rules.flags["hard_cessation"].search(c.text) or rules.parts["switches"].search(c.text)
    return several and c.text.isascii() and not ends


def _may_follow(value: Fact, old: Fact, c: Candidate, news: News, lexicon: Lexicon) -> bool:
    """Whether a value that the rules read may take the place of a fact: not when both are of relations that are
    known and differ, nor when the old one is in the user's own words and the sentence names nothing of it."""
    vague = lexicon.sets["own_words"]
    one, two = (f.relation.partition(":")[0] for f in (value, old))
    loose = (*vague, *_NAMED)
    if one in vague or (one in loose and two in loose) or one == two:
        return True
    named = words(c.text, news.function) - words(value.object, news.function)
    if two in vague and not old.text.isascii() and words(old.text, news.function) & named:
        return True
    family = lexicon.relation(value.relation).family
    return bool(family) and family == lexicon.relation(old.relation).family


__all__ = ["overtake"]
