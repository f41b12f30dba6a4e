"""Which sentences may end or replace something known although no rule reads it: by what they are known to make over,
or by the learned model of news (`write.known.news`). Each becomes a candidate that names nothing but itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ltm_core.write.endings.anew_zh import tells_anew
from ltm_core.write.endings.opposites import Gone, tells_opposite
from ltm_core.write.known.news import News
from ltm_core.write.plan import Candidate, Utterance
from ltm_core.write.read.old_stories import is_story
from ltm_core.write.read.scopes import Read
from ltm_core.write.read.units import NOT_FOR_GOOD, Unit, mean_vector, unit_of, without_plans
from ltm_core.write.read.walk import Spoken
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold, normal

if TYPE_CHECKING:
    from numpy.typing import NDArray

RULE = "overtakes"
_PASSING = ("ephemeral", "mood", "third_person", "plan", "command")
"""Cues of clauses whose change may be over tomorrow, or another's."""
_FIRST = 2
"""Characters of a sentence in which he begins who did what it tells: "paid my brother back" is the speaker's deed."""
_SHORTEST = {"en": 12, "zh": 6}
"""Characters of a sentence that is looked at although it is not plainly news."""
KNOWN_ONLY = 0.1
"""Highest probability given to a sentence that is no news by its words, only by what it is known to make over."""
_NEWS = 0.85
"""Probability of a change from which its new value is kept although nothing known is replaced."""
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
        spared = _spared(unit, utterance.content, lexicon)
        if spared is None or _is_not_for_good(unit, spared, lexicon):
            continue
        gone = _gone(spared, lexicon)
        if spared is unit and lexicon.shared["news_not"].search(_without_ends(whole, gone)) is not None:
            continue
        parted, unit = spared is not unit, spared
        anew = tells_anew(unit.text, lexicon) and not any(
            lexicon.shared[p].search(whole.text) for p in ("of_others", "news_others")
        )
        slots = [g for g in gone if g.by.gives_value]
        own = [s for s in unit.spoken if s.subject.kind == "self"]
        mine = any(g.by.now.search(normal(s.read.clause.text)) for s in own for g in slots)
        is_own = bool(own) and (anew or bool(gone and (mine or unit.spoken[0] in own)))
        key = me if _begins_with_own(unit, gone) else subject_of(unit, me)
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
        doubted = theirs or acted or parted or any(s.read.veto for s in unit.spoken)
        doubted = doubted or probability < news.thresholds["turn"]
        which = "turn_passing" if passing else "turn" if sentence.vector is None else "turn_sure"
        if doubted and len(unit.text) < _SHORTEST[unit.spoken[0].read.clause.language]:
            which = "turn"  # "400,000" is an answer
        likely = probability >= news.thresholds[which] and not any(
            _is_as_before(s.read, lexicon) for s in unit.spoken
        )
        if not likely or (doubted and sentence.vector is None):
            if not (gone or (anew and not theirs)):
                continue
            probability = min(probability, KNOWN_ONLY)
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
            doubted=doubted,
            reach="circle"
            if probability >= news.thresholds["turn"] or anew or any(g.by.anyone for g in gone)
            else "subject",
            valid_from=utterance.at,
            said_at=utterance.at,
            evidence=(unit.evidence,),
            rule=RULE,
        )


def _without_ends(unit: Unit, gone: Sequence[Gone]) -> str:
    """The sentence without the words that tell an end and nothing besides: "found another keeper" adds none."""
    text = normal(unit.text)
    for g in gone:
        text = text.replace(g.said, " ") if g.by.ends else text
    return text


def _is_not_for_good(unit: Unit, spared: Unit, lexicon: Lexicon) -> bool:
    """Whether the sentence changes nothing for good: an old story, plans, one time, or what comes on top or stays."""
    return (
        is_story([s.read for s in unit.spoken])
        or any(lexicon.shared[p].search(normal(unit.text)) is not None for p in ("news_stays", "news_less"))
        or any(s.read[w] and not s.read["lasting"] for s in spared.spoken for w in NOT_FOR_GOOD)
        or lexicon.rules("en").parts["this_one_only"].match(spared.text) is not None
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
    return any(
        c.rule == RULE and c.confidence >= _NEWS and not c.doubted
        for c in news
        if c.evidence[0].start <= at < c.evidence[0].end
    )


def scopes_of(whole: Unit, unit: Unit, lexicon: Lexicon) -> set[str]:
    """What keeps a sentence from being news by the rules, by the names of `ltm_core.write.endings.traits.SCOPES`.
    ``unit``: its clauses that are no plans."""
    reads = [s.read for s in unit.spoken]
    said = {
        "not_for_good": _is_not_for_good(unit, unit, lexicon),
        "silent": lexicon.shared["news_not"].search(whole.text) is not None,
        "others": lexicon.shared["news_others"].search(unit.text) is not None,
        "of_others": lexicon.shared["of_others"].search(unit.text) is not None,
        "vetoed": any(r.veto for r in reads),
        "as_before": any(_is_as_before(r, lexicon) for r in reads),
        "passing": any(r["ephemeral"] or r["mood"] for r in reads),
    }
    return {name for name, is_so in said.items() if is_so}


def subject_of(unit: Unit, me: str) -> str | None:
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


__all__ = ["KNOWN_ONLY", "RULE", "proposed", "scopes_of", "subject_of", "tells_change"]
