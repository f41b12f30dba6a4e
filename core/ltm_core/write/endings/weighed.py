"""Sentences that are weighed against what is known once the rules have had their say: those that may tell of a
change, and the facts that one of them ends when all that speaks for and against it is taken together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from ltm_core.types import Fact, Scope
from ltm_core.write.endings.instead import instead
from ltm_core.write.endings.likely_news import scopes_of, subject_of
from ltm_core.write.endings.meant_fact import is_kept, within_reach
from ltm_core.write.endings.traits import TRAITS, Around, traits
from ltm_core.write.known.judged import Judge
from ltm_core.write.known.known import Known
from ltm_core.write.known.news import MATCH, Held, News, Sentence, words
from ltm_core.write.learned.gate import log_odds
from ltm_core.write.learned.weighing import Array, load_weighing
from ltm_core.write.plan import Candidate, Decision, Utterance
from ltm_core.write.read.found import overlap
from ltm_core.write.read.units import Unit, mean_vector, without_plans
from ltm_core.write.read.walk import Spoken
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold, script

if TYPE_CHECKING:
    from numpy.typing import NDArray

RULE = "weighed"
LEAST_NEWS = 0.4
"""Probability of a change from which a sentence is weighed: eight in ten of those that end what nothing else ends
are told with as much, and few others."""
MOST_WEIGHED = 100
"""Newest current facts that a sentence is weighed against."""
_LOOKED_AT = 8
"""Of these, the ones looked at word by word."""
_FAR_AHEAD = 4.0
"""Log-odds by which a fact is ahead of the others when there are none."""
_SILENT = frozenset(["others", "of_others", "silent", "not_for_good"])
"""What the rules noticed of a sentence that therefore ends nothing."""
_SHARED, _SHARED_VALUE = TRAITS.index("shared"), TRAITS.index("shared_value")
_NUMBERS = TRAITS.index("numbers_differ")
_SHORTEST = {"en": 12, "zh": 6}
"""Characters of a sentence that is weighed: "400,000" is an answer."""
_SETTLED = ("reinforce", "restore")
"""What a message does to facts that it therefore does not end."""


def sentences(
    found: Sequence[Unit],
    vector_of: Callable[[Spoken], NDArray[Any] | None],
    news: News,
    utterance: Utterance,
    lexicon: Lexicon,
    *,
    me: str,
    speaker: str | None,
) -> Iterator[Candidate]:
    """A candidate for every sentence that may tell of something changed or over, however it is told."""
    for whole in found:
        unit = without_plans(whole, utterance.content)
        vector = mean_vector([vector_of(s) for s in unit.spoken])
        if vector is None or len(unit.text) < _SHORTEST[unit.spoken[0].read.clause.language]:
            continue
        sentence = unit.sentence(vector)
        probability = news.turns(sentence)
        if probability < LEAST_NEWS:
            continue
        key = subject_of(unit, me) or me
        reads = [s.read for s in unit.spoken]
        cues = {name for r in reads for name, on in r.flags.items() if on}
        cues |= {f"subject_{s.subject.kind}" for s in unit.spoken} | scopes_of(whole, unit, lexicon)
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
            move="correct" if any(r["correction"] for r in reads) else "change",
            reach="circle",
            cues=frozenset(cues),
            valid_from=utterance.at,
            said_at=utterance.at,
            evidence=(unit.evidence,),
            rule=RULE,
        )


@dataclass(frozen=True, slots=True)
class Weighed:
    """A fact and what speaks for and against its end, in the order of `TRAITS`."""

    fact: Fact
    traits: Array


def weigh(
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
    """The decisions of a message, and the end of the facts of which it is likely enough, if any."""
    weighing = load_weighing()
    rows = compared(c, decisions, known, vectors=vectors, judge=judge, lexicon=lexicon, session_id=labels.session_id)
    if not rows:
        return decisions
    language = "en" if script(c.text) == "en" else "zh"
    rows = [r for r in rows if not is_kept(r.fact, c, judge.news, lexicon) and not _is_unnamed(r, c)]
    rows = [r for r in rows if not (_is_liking(r.fact, c, lexicon) or _is_of_others(r.fact, c, lexicon))]
    if not rows or c.cues & _SILENT or any(d.op == "restore" for d in decisions):
        return decisions
    chances = weighing.probabilities(np.stack([r.traits for r in rows]), language)
    best = int(chances.argmax())
    # Once the rules have found what a message ends, another fact must be as sure as one that ends with the likeliest.
    found = any(d.op not in ("add", *_SETTLED) for d in decisions)
    doubtful = found or not _shares_words(rows[best]) or rows[best].traits[_NUMBERS]
    which = "too" if doubtful else "ends"
    if chances[best] < weighing.thresholds[which]:
        return decisions
    if any(_is_twin(rows[i], rows[best], c, judge.news) for i in range(len(rows)) if i != best):
        return decisions
    over = [rows[best].fact]
    over += [r.fact for i, r in enumerate(rows) if i != best and chances[i] >= weighing.thresholds["too"]]
    here = [d.fact for d in decisions if overlap(d.fact.evidence, c.evidence)]
    values = [f for f in here if f.is_positive and f.is_current and f.rule != "open"]
    why = f"weighed {weighing.version.partition('/')[0]} {chances[best]:.2f}: turn {c.confidence:.2f}"
    return instead(
        c, over, values, decisions, known, why=why, sure=False, lexicon=lexicon, labels=labels, now=now, new_id=new_id
    )


def compared(
    c: Candidate,
    decisions: Sequence[Decision],
    known: Known,
    *,
    vectors: Mapping[str, NDArray[Any]],
    judge: Judge,
    lexicon: Lexicon,
    session_id: str | None,
) -> list[Weighed]:
    """The facts that the sentence may end, with what speaks for and against it: none without the vectors that the
    nets know."""
    vector = vectors.get(c.text)
    if vector is None or judge.pieces is None:
        return []
    news = judge.news
    near = _near(decisions, within_reach(c, known.values(), news, lexicon), vectors)
    if not near:
        return []
    sentence = Sentence(
        text=c.text, norm="", language="", cues=np.zeros(0, np.float32), vector=vector, turn=log_odds(c.confidence)
    )
    held = [Held(text=f.text, object=f.object, relation=f.relation, vector=vectors[f.text]) for f in near]
    table = news.compare_all(sentence, held)
    shares = news.meant(sentence, held)
    order = np.argsort(-table[:, MATCH.index("pair")], kind="stable")[:_LOOKED_AT]
    odds = {int(i): judge.odds(sentence, held[i], table[i]) for i in order}
    here = [d for d in decisions if overlap(d.fact.evidence, c.evidence)]
    around = Around(
        facts=near,
        told=[d.fact for d in here if d.op in ("add", "supersede")],
        ended=any(d.op not in ("add", *_SETTLED) for d in decisions),
        session_id=session_id,
    )
    out = []
    for i in sorted(odds):
        others = [o for k, o in odds.items() if k != i]
        lead = odds[i] - max(others) if others else _FAR_AHEAD
        row = traits(
            c, near[i], odds=odds[i], lead=lead, share=float(shares[i]), compared=table[i], around=around,
            function=news.function, lexicon=lexicon,
        )  # fmt: skip
        out.append(Weighed(near[i], row))
    return out


def _near(decisions: Sequence[Decision], facts: Sequence[Fact], vectors: Mapping[str, NDArray[Any]]) -> list[Fact]:
    """The newest facts that the sentence may end: not told again with it."""
    settled: Set[str] = {d.fact.id for d in decisions if d.op in _SETTLED}
    return [f for f in facts if f.id not in settled and f.text in vectors][-MOST_WEIGHED:]


def _is_unnamed(row: Weighed, c: Candidate) -> bool:
    """Whether a correction shares no word with the fact: it says not what was wrong."""
    return c.move == "correct" and not _shares_words(row)


def _shares_words(row: Weighed) -> bool:
    return bool(row.traits[_SHARED] or row.traits[_SHARED_VALUE])


def _is_of_others(fact: Fact, c: Candidate, lexicon: Lexicon) -> bool:
    """Whether both name relatives, and none is named by both ("老大", "老二")."""
    kin = lexicon.rules("en" if c.text.isascii() else "zh").kin
    if c.text.isascii():
        mine, theirs = (set(fold(t).replace("'s", "").split()) & kin.keys() for t in (c.text, fact.text))
    else:
        mine, theirs = ({k for k in kin if k in t} for t in (c.text, fact.text))
    return bool(mine and theirs) and mine.isdisjoint(theirs)


def _is_liking(fact: Fact, c: Candidate, lexicon: Lexicon) -> bool:
    """Whether a denial would end a liking that it does not name: of which classes it speaks the rules read."""
    return not c.is_positive and lexicon.relation(fact.relation).family == "preference"


def _is_twin(one: Weighed, best: Weighed, c: Candidate, news: News) -> bool:
    """Whether the sentence may as well mean another fact of the relation, which it names by the same words."""
    if one.fact.relation != best.fact.relation:
        return False
    said, mine, other = (words(t, news.function) for t in (c.text, best.fact.text, one.fact.text))
    return bool(said & mine) and said & mine == said & other and mine != other


__all__ = ["LEAST_NEWS", "MOST_WEIGHED", "RULE", "Weighed", "compared", "sentences", "weigh"]
