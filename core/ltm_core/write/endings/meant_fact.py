"""Which of the known facts a sentence ends, if any: the learned models compare it with each, and guards keep what is
only touched. Never a fact of the same message."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ltm_core.types import Fact
from ltm_core.write.endings.ended import is_of_another
from ltm_core.write.endings.telling_of import (
    does_another,
    moves_another,
    moves_house,
    only_tells_of,
    tells_of_facet,
    tells_of_part,
)
from ltm_core.write.endings.touching import only_touches
from ltm_core.write.known.broad import names_sibling
from ltm_core.write.known.judged import Judge
from ltm_core.write.known.mentions import content
from ltm_core.write.known.news import MATCH, Held, News, Sentence, words
from ltm_core.write.known.rows import is_late, told_before
from ltm_core.write.learned.gate import log_odds
from ltm_core.write.plan import Candidate
from ltm_core.write.read.found import overlap
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import script

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_MEANT = 400
"""Newest current facts of one subject among which the one meant is looked for."""
_LEAD = 1.5
"""How much likelier than any other fact one must be, unless it is clear which is meant."""
_RESTORED = 0.5
"""Share of the words of a value that must be named for it to hold again."""
_UNLIKELY = -2.0
"""Log-odds by the vectors below which a liking is not looked at word by word."""
_APART = 1.0
"""Log-odds by which the fact meant must be ahead of another one that the same words name."""
_PAIR = MATCH.index("pair")
_NUMBERED = re.compile(r"\d{4,}")
"""A number long enough to be a name."""
_LETTERED = re.compile(r"(?<=[㐀-鿿])[A-Z](?![A-Za-z])")
"""A letter by which Chinese words name one of several."""
_CLEAR = 0.6
"""Probability below which English words end nothing with which they share no word."""


@dataclass(frozen=True, slots=True)
class Meant:
    """What a sentence ends, why, and how likely that is; ``is_sure`` when the nets are."""

    facts: tuple[Fact, ...] = ()
    why: str = ""
    probability: float = 0.0
    is_sure: bool = False


_NONE = Meant()


def meant(
    c: Candidate, facts: Sequence[Fact], vectors: Mapping[str, NDArray[Any]], judge: Judge, lexicon: Lexicon
) -> Meant:
    """The facts that the sentence ends; none unless it is clear which are meant."""
    news = judge.news
    near = within_reach(c, facts, news, lexicon)
    if not near:
        return _NONE
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
    others = [i for i in range(len(near)) if i not in same]
    if sentence.vector is not None and not (c.is_positive or c.doubted):
        given_up = _given_up(near, held, sentence, judge, lexicon)
        if len(given_up) > 1 and near[best] in given_up:
            return Meant(given_up, _why(c, news, probability, "given up as a whole"), probability, is_sure=True)
    if probability < _CLEAR and any(probability < _LEAD * shares[i] for i in others):
        return _NONE  # which of two is meant is not said
    which = "ends" if sentence.vector is not None else "ends_plain"
    compared = news.compare(sentence, held[best])
    if probability < news.thresholds[which]:
        return _NONE
    odds = judge.odds(sentence, held[best], compared)
    sure = sentence.vector is not None and judge.is_sure(odds)
    if sentence.vector is not None and not judge.may_end(odds, compared):
        return _NONE
    if sentence.vector is None and not news.shares_words(compared):
        return _NONE  # what ends must be named
    if not near[best].is_positive and not c.is_positive:
        return _NONE  # "mushrooms are something I never touch" ends no dislike
    shares_words = news.shares_words(compared)
    if c.move == "correct" and not shares_words:
        return _NONE  # "I told you the wrong thing" says not which
    if _is_given(near[best], c, news, lexicon) or _names_another_number(near[best], c):
        return _NONE
    if not sure and (c.doubted or not near[best].is_positive or _lasts(near[best], c, news, lexicon)):
        return _NONE
    if any(_is_twin(near[i], near[best], sentence, held[i], judge, odds) for i in others):
        return _NONE
    ended = tuple(near[i] for i in same)
    if not (c.is_positive or shares_words) and (
        compared[MATCH.index("rivals")] or names_sibling(c.text, near[best].object)
    ):
        return _NONE  # "I have given up running" of one who climbs
    if _is_spared(ended, near[best], c, lexicon):
        return _NONE
    strongest = news.strongest(compared, with_vectors=sentence.vector is not None)
    return Meant(ended, _why(c, news, probability, strongest), probability, sure)


def _why(c: Candidate, news: News, probability: float, what: str) -> str:
    return f"news {news.version.partition('/')[0]} {probability:.2f}: turn {c.confidence:.2f}, {what}"


def _given_up(
    near: Sequence[Fact], held: Sequence[Held], sentence: Sentence, judge: Judge, lexicon: Lexicon
) -> tuple[Fact, ...]:
    """The likings of which the nets are sure that the sentence ends them: "nothing with fins or shells for me" ends
    several at once."""
    liked = [
        (f, h)
        for f, h in zip(near, held, strict=True)
        if f.is_positive and lexicon.relation(f.relation).family == "preference"
    ]
    if not liked:
        return ()
    compared = judge.news.compare_all(sentence, [h for _, h in liked])
    return tuple(
        f
        for (f, h), row in zip(liked, compared, strict=True)
        if row[_PAIR] > _UNLIKELY and judge.is_sure(judge.odds(sentence, h, row))
    )


def within_reach(c: Candidate, facts: Sequence[Fact], news: News, lexicon: Lexicon) -> list[Fact]:
    """The newest facts that the sentence may mean: none that it says to hold again, nor any told later."""
    again = lexicon.shared["news_again"].search(c.text)
    restored = words(c.text[again.start() :], news.function) if again is not None else set()
    near = [
        f
        for f in facts
        if told_before(replace(f, is_positive=True), c) and not is_late(c, f) and not _holds_again(f, restored, news)
    ][-MOST_MEANT:]
    denied = lexicon.rules("en").parts["right_not_wrong"].match(c.text) if c.text.isascii() else None
    if denied is not None:  # "six, not four" is about what was said to be four
        near = [f for f in near if denied["wrong"].casefold() in f.text.casefold()]
    return near


def is_kept(fact: Fact, c: Candidate, news: News, lexicon: Lexicon) -> bool:
    """Whether the rules keep a fact whatever the nets find: of a kind that lasts, of another number, only touched."""
    if _is_given(fact, c, news, lexicon) or _lasts(fact, c, news, lexicon) or _names_another_number(fact, c):
        return True
    return _is_spared([fact], fact, c, lexicon) or names_sibling(c.text, fact.object)


def _is_given(fact: Fact, c: Candidate, news: News, lexicon: Lexicon) -> bool:
    """Whether a fact is of a kind that only a correction by name changes."""
    return _is_of(fact, lexicon.sets["given"], c, news)


def _names_another_number(fact: Fact, c: Candidate) -> bool:
    """Whether both name a matter by its number, or Chinese ones by its letter ("包裹B"), and not the same one."""
    for pattern in (_NUMBERED, *(() if c.text.isascii() else (_LETTERED,))):
        mine, theirs = (set(pattern.findall(t)) for t in (fact.text, c.text))
        if mine and theirs and mine.isdisjoint(theirs):
            return True
    return False


def _lasts(fact: Fact, c: Candidate, news: News, lexicon: Lexicon) -> bool:
    """Whether a fact is of a kind that ends for nobody, and the sentence does not correct its value by name."""
    lasting = (lexicon.sets["timeless"] | lexicon.sets["unending"]) - lexicon.sets["places"]
    return _is_of(fact, lasting, c, news)


def _is_of(fact: Fact, relations: Set[str], c: Candidate, news: News) -> bool:
    return fact.relation.partition(":")[0] in relations and not (c.move == "correct" and _is_named(fact, c, news))


def _is_spared(ended: Sequence[Fact], best: Fact, c: Candidate, lexicon: Lexicon) -> bool:
    """Whether the sentence only touches on what the facts are about, or tells of another's."""
    if any(tells_of_part(f, c, lexicon) for f in ended) or is_of_another(c, best, lexicon):
        return True
    if script(c.text) != "en" and any(only_touches(f, c.text, lexicon) for f in ended):
        return True  # told in one breath: what is not meant of the one is not of the other
    return _tells_of_another(best, c, lexicon) or only_touches(best, c.text, lexicon)


def _holds_again(fact: Fact, restored: Set[str], news: News) -> bool:
    """Whether the words behind one of going back name the most part of the fact's value: "Priya has grown again and
    takes size 33" names no size 31."""
    value = words(fact.object, news.function)
    return bool(value) and _RESTORED * len(value) <= len(value & restored)


def _is_twin(one: Fact, best: Fact, sentence: Sentence, held: Held, judge: Judge, odds: float) -> bool:
    """Whether the sentence may as well mean another fact of the relation, which it names by the same words ("the
    parcel has come" of parcels A and B)."""
    if one.relation != best.relation:
        return False
    said, mine, other = (words(t, judge.news.function) for t in (sentence.text, best.text, one.text))
    if not said & mine or said & mine != said & other or mine == other:
        return False
    return sentence.vector is None or judge.odds(sentence, held, judge.news.compare(sentence, held)) > odds - _APART


def _tells_of_another(fact: Fact, c: Candidate, lexicon: Lexicon) -> bool:
    told_of = (moves_another, moves_house, only_tells_of, tells_of_part, tells_of_facet, does_another)
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


__all__ = ["MOST_MEANT", "Meant", "is_kept", "meant", "within_reach"]
