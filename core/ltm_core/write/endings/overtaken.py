"""News that no rule reads: what a sentence may end or replace is learned, and found beside the store.

The words make a candidate that names nothing but itself (`proposed`); among what is known of the same one the
models of `write.known.news` say which fact is meant, if any (`meant`). Never a fact of the same message, and
never when the rules found what the words change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from ltm_core.types import Fact, Scope
from ltm_core.write.endings.anew_zh import tells_anew, told_anew
from ltm_core.write.endings.ended import is_of_another
from ltm_core.write.endings.given_up import left_of
from ltm_core.write.endings.opposites import Gone, over_by, tells_opposite
from ltm_core.write.endings.telling_of import moves_another, moves_house, only_tells_of, tells_of_facet, tells_of_part
from ltm_core.write.endings.touching import only_touches
from ltm_core.write.endings.worded import without, worded
from ltm_core.write.known.details import told_with
from ltm_core.write.known.known import Known
from ltm_core.write.known.mentions import content
from ltm_core.write.known.narrow import remainder
from ltm_core.write.known.news import Held, News, Sentence, words
from ltm_core.write.known.rows import UNTOUCHED, closed, is_late, new_fact, retracted
from ltm_core.write.learned.gate import log_odds
from ltm_core.write.plan import Candidate, Decision, Utterance
from ltm_core.write.read.found import overlap
from ltm_core.write.read.old_stories import is_story
from ltm_core.write.read.scopes import Read
from ltm_core.write.read.units import NOT_FOR_GOOD, Unit, mean_vector, unit_of, without_plans
from ltm_core.write.read.walk import Spoken
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold, normal, script

if TYPE_CHECKING:
    from numpy.typing import NDArray

RULE = "overtakes"
MOST_MEANT = 400
"""Newest current facts of one subject among which the one meant is looked for."""
_SURE = 0.8
"""Probability from which the models outvote the relation that the rules read."""
_CLEAR = 0.6
"""Probability below which English words end nothing with which they share no word."""
_PASSING = ("ephemeral", "mood", "third_person", "plan", "command")
"""Cues of clauses whose change may be over tomorrow, or another's."""
_FIRST = 2
"""Characters of a sentence in which he begins who did what it tells: "paid my brother back" is the speaker's deed."""
_KNOWN_ONLY = 0.49
"""Highest probability given to a sentence that is no news by its words, only by what it is known to make over."""
_OVER = 0.95
"""Probability that what some words are known to make over is over."""
_ANEW = "told anew"
"""Why a fact is over of which a sentence tells another value."""
_NEWS = 0.85
"""Probability of a change from which its new value is kept although nothing known is replaced."""
_LONGEST_NAME = 4
"""Characters of a Chinese name or thing with which a sentence begins."""
_NAMED = ("attribute", "single")
"""Relations that are only the words of the user for a thing."""
_OTHERS = ("kin", "pet", "pronoun", "inherited")
"""Subjects of clauses that tell of somebody of the speaker's own; any other clause may tell of a change in his own
life ("they've moved us to the fifth floor")."""


def proposed(
    found: Sequence[Unit],
    vector_of: Callable[[Spoken], NDArray[Any] | None],
    news: News,
    utterance: Utterance,
    lexicon: Lexicon,
    *,
    me: str,
    speaker: str | None,
) -> Iterator[Candidate]:
    """A candidate for every sentence that is likely to tell of something changed or over."""
    for whole in found:
        unit = without_plans(whole, utterance.content)
        if is_story([s.read for s in unit.spoken]):
            continue
        spared = _spared(unit, utterance.content, lexicon)
        if spared is None or (spared is unit and lexicon.shared["news_not"].search(normal(whole.text))):
            continue
        parted, unit = spared is not unit, spared
        if any(s.read[w] and not s.read["lasting"] for s in unit.spoken for w in NOT_FOR_GOOD):
            continue
        if lexicon.rules("en").parts["this_one_only"].match(unit.text) is not None:
            continue
        gone = _gone(unit, lexicon)
        anew = tells_anew(unit.text, lexicon) and not any(
            lexicon.shared[p].search(whole.text) for p in ("of_others", "news_others")
        )
        slots = [g for g in gone if g.by.gives_value]
        own = [s for s in unit.spoken if s.subject.kind == "self"]
        mine = any(g.by.now.search(normal(s.read.clause.text)) for s in own for g in slots)
        is_own = bool(own) and (anew or bool(gone and (mine or unit.spoken[0] in own)))
        key = me if _begins_with_own(unit, gone) else _subject(unit, me)
        key = key or (me if is_own else None)
        if key is None:
            continue
        done = bool(slots) and lexicon.rules("en").parts["done_to_me"].search(unit.text) is not None
        acted = done and key != me
        key = me if done else key
        others = lexicon.shared["news_others"].search(unit.text)
        theirs = key == me and others is not None  # what a friend sold is over for the friend
        mine = mine or (done and others is not None and others.start() < _FIRST)
        named = others is not None and any(g.is_of(others.group(), unit.text) for g in slots)
        if (
            theirs
            and not (named or mine)
            and not (others is not None and others.start() >= _FIRST and any(g.thing for g in gone))
        ):
            continue
        sentence = unit.sentence(mean_vector([vector_of(s) for s in unit.spoken]))
        probability = news.turns(sentence)
        passing = any(s.read["ephemeral"] or s.read["mood"] for s in unit.spoken)
        if (
            theirs
            or acted
            or parted
            or any(s.read.veto or _is_as_before(s.read, lexicon) for s in unit.spoken)
            or probability < news.thresholds["turn_passing" if passing else "turn"]
        ):
            if not gone and not (anew and not theirs):
                continue
            probability = min(probability, _KNOWN_ONLY)
        corrects = any(s.read["correction"] for s in unit.spoken)
        yield Candidate(
            subject=key,
            relation="about",
            object=unit.text,
            object_normalized=fold(unit.text),
            text=unit.text,
            is_positive=news.keeps_value(sentence) >= news.thresholds["keeps"],
            is_about_user=key == "user",
            speaker=speaker,
            confidence=round(probability, 3),
            relation_confidence=0.0,
            move="correct" if corrects else "change",
            reach="circle" if anew or any(g.by.anyone for g in gone) else "subject",
            valid_from=utterance.at,
            said_at=utterance.at,
            evidence=(unit.evidence,),
            rule=RULE,
        )


def _spared(unit: Unit, content: str, lexicon: Lexicon) -> Unit | None:
    """The sentence without its Chinese clauses that tell of somebody else, or of what comes on top ("最后一笔还清了，
    房产证也解了押"): what the others are known to make over is over all the same. None when nothing is left of it."""
    if unit.spoken[0].read.clause.language != "zh" or len(unit.spoken) == 1:
        return unit
    silent = [lexicon.shared[name] for name in ("news_not", "news_others")]
    told = [
        s
        for s in unit.spoken
        if not any(p.search(normal(s.read.clause.text)) for p in silent) or _is_own_deed(s, lexicon)
    ]
    if len(told) == len(unit.spoken):
        return unit
    return unit_of(told, content, unit.evidence.message_id) if told else None


def _begins_with_own(unit: Unit, gone: Sequence[Gone]) -> bool:
    """Whether a Chinese sentence begins with what became of a thing that is nobody else's ("老年机泡坏了，儿子给我
    换了一部")."""
    first = unit.spoken[0]
    named = fold(first.read.clause.text)
    return first.subject.kind == "dropped" and not named.isascii() and any(g.thing and g.thing in named for g in gone)


def _is_own_deed(s: Spoken, lexicon: Lexicon) -> bool:
    """Whether a clause names somebody else only as the one who has a thing now ("跑步机卖给了楼下邻居")."""
    said = normal(s.read.clause.text)
    others = lexicon.shared["news_others"].search(said)
    silent = any(lexicon.shared[p].search(said) is not None for p in ("news_not", "lent_out"))
    if others is None or others.start() < _FIRST or silent:
        return False
    return any(g.thing and g.thing in said[: others.start()] for g in tells_opposite(said, lexicon, events=True))


def _gone(unit: Unit, lexicon: Lexicon) -> tuple[Gone, ...]:
    """What the sentence is known to make over; nothing when it is what somebody's friend did, or left out only this
    once ("今天外卖不跑了")."""
    if lexicon.shared["of_others"].search(unit.text) is not None:
        return ()
    denies = any(s.read["negation"] for s in unit.spoken)
    if denies and lexicon.shared["this_once"].search(unit.text) is not None:
        return ()
    said = normal(unit.text)
    was = lexicon.shared["used_to"].search(said)
    if was is not None and said.isascii():  # "in Year 7 I used to be in a club": then, not now
        said = said[was.start() :]
    return tells_opposite(said, lexicon, events=True)


def _is_as_before(r: Read, lexicon: Lexicon) -> bool:
    """Whether a clause says that things are as they were, or that a guest has left: what lasts goes on lasting."""
    flags = lexicon.rules(r.clause.language).flags
    cues = (flags.get(name) for name in ("restored", "restored_home", "ends_stay"))
    return any(cue is not None and cue.search(r.clause.norm) is not None for cue in cues)


def tells_change(r: Read, news: Sequence[Candidate], lexicon: Lexicon) -> bool:
    """Whether the clause words the new value of a sentence that is very likely news of a change."""
    pattern = lexicon.rules(r.clause.language).parts.get("changed_to")
    if pattern is None or any(r[w] for w in _PASSING) or pattern.search(r.clause.norm) is None:
        return False
    at = r.clause.start
    return any(c.confidence >= _NEWS and c.evidence[0].start <= at < c.evidence[0].end for c in news)


def _subject(unit: Unit, me: str) -> str | None:
    """The one whose life the sentence tells; None when it is nobody's in particular."""
    others = {
        s.subject.key
        for s in unit.spoken
        if s.subject.key not in ("", me)
        and (s.subject.kind in _OTHERS or (s.subject.kind == "entity" and ":" in s.subject.key))
    }
    mine = any(s.subject.kind == "self" for s in unit.spoken)
    if others:
        return others.pop() if len(others) == 1 and not mine else None
    return me


def meant(
    c: Candidate, facts: Sequence[Fact], vectors: Mapping[str, NDArray[Any]], news: News, lexicon: Lexicon
) -> tuple[list[Fact], str, float]:
    """The facts that the sentence ends, why, and how likely that is; none unless it is clear which are meant."""
    told = {e.message_id for e in c.evidence}
    again = lexicon.shared["news_again"].search(c.text)
    restored = words(c.text[again.start() :], news.function) if again is not None else set()
    lasting = (lexicon.sets["timeless"] | lexicon.sets["unending"]) - lexicon.sets["places"]
    near = [
        f
        for f in facts
        if f.is_positive
        and (f.relation.partition(":")[0] not in lasting or (c.move == "correct" and _is_named(f, c, news)))
        and f.modality not in UNTOUCHED
        and f.asserted_by == "user"
        and f.kind not in ("solution", "procedure")
        and not any(e.message_id in told for e in f.evidence)
        and not is_late(c, f)
        and not restored & words(f.object, news.function)  # it holds again
    ][-MOST_MEANT:]
    denied = lexicon.rules("en").parts["right_not_wrong"].match(c.text) if c.text.isascii() else None
    if denied is not None:  # "six, not four" is about what was said to be four
        near = [f for f in near if denied["wrong"].casefold() in f.text.casefold()]
    if not near:
        return [], "", 0.0
    sentence = Sentence(
        text=c.text, norm="", language="", cues=np.zeros(0, np.float32), vector=vectors.get(c.text),
        turn=log_odds(c.confidence),
    )  # fmt: skip
    held = [Held(text=f.text, object=f.object, relation=f.relation, vector=vectors.get(f.text)) for f in near]
    shares = news.meant(sentence, held)
    best = int(shares.argmax())
    same = [i for i, f in enumerate(near) if i == best or overlap(f.evidence, near[best].evidence)]
    same = _named_of([near[i] for i in same], same, c, lexicon)
    probability = float(shares[same].sum())
    which = "ends" if sentence.vector is not None else "ends_plain"
    compared = news.compare(sentence, held[best])
    if probability < news.thresholds[which] or not (c.is_positive or news.shares_words(compared)):
        return [], "", 0.0  # what ends without a new value must be named
    if probability < _CLEAR and c.text.isascii() and not news.shares_words(compared):
        return [], "", 0.0
    if any(tells_of_part(near[i], c, lexicon) for i in same):
        return [], "", 0.0
    if is_of_another(c, near[best], lexicon):
        return [], "", 0.0
    if script(c.text) != "en" and any(only_touches(near[i], c.text, lexicon) for i in same):
        return [], "", 0.0  # told in one breath: what is not meant of the one is not of the other
    if _tells_of_another(near[best], c, lexicon) or only_touches(near[best], c.text, lexicon):
        return [], "", 0.0
    strongest = news.strongest(compared, with_vectors=sentence.vector is not None)
    reason = f"news {news.version.partition('/')[0]} {probability:.2f}: turn {c.confidence:.2f}, {strongest}"
    return [near[i] for i in same], reason, probability


def _leaves_another(fact: Fact, c: Candidate, lexicon: Lexicon) -> bool:
    return is_of_another(c, fact, lexicon)


def _tells_of_another(fact: Fact, c: Candidate, lexicon: Lexicon) -> bool:
    told_of = (moves_another, moves_house, only_tells_of, tells_of_part, tells_of_facet)
    return any(tells(fact, c, lexicon) for tells in told_of)


def _named_of(facts: Sequence[Fact], places: Sequence[int], c: Candidate, lexicon: Lexicon) -> list[int]:
    """Of several English things that were told in one breath in the same relation ("coffee at breakfast and
    Darjeeling in the afternoon") those that the words name, if they name some of them; else all."""
    if not c.text.isascii():
        return list(places)
    said = set(content(c.text, lexicon))
    named = {f.relation for f in facts if said & set(content(f.object, lexicon))}
    return [
        i
        for i, f in zip(places, facts, strict=True)
        if f.relation not in named or said & set(content(f.object, lexicon))
    ]


def _is_named(fact: Fact, c: Candidate, news: News) -> bool:
    """Whether the words name the value of a fact, in full."""
    value = words(fact.object, news.function)
    return bool(value) and value <= words(c.text, news.function)


def overtake(
    c: Candidate,
    decisions: list[Decision],
    known: Known,
    *,
    vectors: Mapping[str, NDArray[Any]],
    news: News,
    lexicon: Lexicon,
    labels: Scope,
    now: datetime,
    new_id: Callable[[], str],
) -> list[Decision]:
    """The decisions of a message, and the end of what one of its sentences overtakes.

    A value that the rules kept of the sentence takes the place of what ends; without one the sentence itself does,
    as a statement or, when it only ends something, as a denial.
    """
    here = [d for d in decisions if overlap(d.fact.evidence, c.evidence)]
    over, by_event = over_by(c, known.values(), lexicon)
    spares = [moves_another, tells_of_facet]
    if not any(o.gives_value for o in by_event):  # "the removal van left: we're residents of Carmarthen"
        spares.append(_leaves_another)
    over = [f for f in over if not any(spares_it(f, c, lexicon) for spares_it in spares)]
    settled = bool(over) or any(d.op not in ("add", "reinforce") for d in here)
    anew = [] if settled else told_anew(c, known.values(), lexicon)
    sure = bool(over or anew)
    if sure:
        probability, why = _OVER, ", ".join(o.name for o in by_event) or _ANEW
        c = replace(c, is_positive=c.is_positive or bool(anew) or any(o.holds for o in by_event))
        over = over or anew
    elif c.confidence <= _KNOWN_ONLY or any(d.op != "add" or d.fact.modality in UNTOUCHED for d in here):
        return decisions
    else:
        over, why, probability = meant(c, known.of_subject(c), vectors, news, lexicon)
    values = [d.fact for d in here if d.fact.is_positive and d.fact.rule != "open"]
    if not over or any(d.op == "restore" for d in decisions):
        return decisions
    if not sure and any(_is_one_more(v, over[0], c, lexicon) for v in values):
        return decisions
    if probability < _SURE and not all(_may_follow(f, over[0], c, news, lexicon) for f in values):
        return decisions
    if not any(o.holds for o in by_event) and not (c.move == "correct" and c.is_positive):
        over = [*over, *told_with(over, known.values(), lexicon)]
    made: list[Decision] = []
    if values and c.is_positive:
        by = values[0]
        told = without(by.text, over[0])
        if by.object in told and told != by.text:
            by = replace(by, text=told)
            known.put(by)
            decisions = [replace(d, fact=by) if d.fact.id == by.id else d for d in decisions]
    else:
        gone = {d.fact.id for d in here if d.fact.rule == "open"}
        for i in gone:
            known.drop(i)
        decisions = [d for d in decisions if d.fact.id not in gone]
        by = new_fact(c if sure else worded(c, over[0], lexicon), labels, id=new_id(), now=now)
        known.put(by)
        made.append(Decision(op="add", fact=by, reason=why))
    for f in over:
        known.drop(f.id)
        wrong = c.move == "correct" and c.is_positive
        row = retracted(f, at=now, by=by.id) if wrong else closed(f, at=c.valid_from, by=by.id)
        if made and made[0].op == "add":
            made[0] = Decision(op="supersede", fact=by, previous=row, reason=why)
        else:
            made.append(Decision(op="retract" if wrong else "close", fact=row, previous=f, reason=why))
        left = _left(f, c, lexicon) if sure or not c.is_positive else None
        if left is not None:  # of "a lesson on Mondays and a class on Fridays" the one that goes on
            kept = replace(left, id=new_id(), recorded_at=now)
            known.put(kept)
            made.append(Decision(op="add", fact=kept, reason="what is left of it"))
    return [*decisions, *made]


def _left(fact: Fact, c: Candidate, lexicon: Lexicon) -> Fact | None:
    """What a fact of several things still says when the sentence begins with the one that is over."""
    if fact.text.isascii():
        return remainder(fact, c.text, lexicon)
    begins = [c.text[:n] for n in range(_LONGEST_NAME, 1, -1)]
    words = left_of(fact, begins, lexicon)
    return replace(fact, object=words, object_normalized=fold(words), text=words) if words else None


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


__all__ = ["RULE", "meant", "overtake", "proposed", "tells_change"]
