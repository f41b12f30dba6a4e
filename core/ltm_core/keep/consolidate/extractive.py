"""A summary out of the turns' own sentences: those that say most of what the rest says, none twice. Pure.

Sentences are weighed by how near their words are to those of all (cosine of idf-weighted terms), and chosen by
maximal marginal relevance until the summary is as long as it may be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from math import sqrt

from ltm_core.keep.redaction import FILLER
from ltm_core.protocols import SummaryRequest, SummarySentence, SummaryTurn
from ltm_core.recall.asking import asking_share
from ltm_core.text.bm25 import idf
from ltm_core.text.sentences import sentences
from ltm_core.text.terms import terms
from ltm_core.text.tokens import estimate_tokens

NAME = "extractive"
RELEVANCE = 0.7
"""Share of relevance against novelty in the choice; 0.5 to 0.8 are common."""
LEAST_TERMS = 3
"""Words, or pairs of Han characters, below which a sentence says nothing alone ("好的", "thanks a lot")."""
LEAST_ANSWER = 6
"""The same for what the assistant says: "Sounds good!" and "听起来不错！" come again and again."""
LONGEST = 80
"""Tokens of a sentence that may be quoted; a pasted paragraph is no summary."""
BY_OTHERS = 0.5
"""What a sentence of the assistant keeps of its weight: the user's own words are what is remembered."""
ONLY_ASKS = 0.9
"""Share of a sentence that asks from which it tells nothing; quoted only when there is nothing else."""
EXACT = 1.15
"""A sentence with a number or a name in it says something that a topic does not."""
_NAME_MIN = 2


@dataclass(frozen=True, slots=True)
class _Said:
    text: str
    turn: SummaryTurn
    place: tuple[int, int]
    counts: Mapping[str, int]
    tokens: int


class ExtractiveSummarizer:
    """The default: no model, no network, the same for the same turns."""

    @property
    def name(self) -> str:
        return NAME

    def summarize(self, request: SummaryRequest) -> tuple[SummarySentence, ...]:
        """Verbatim sentences in the order in which they were said, each with its one turn; none when no turn has
        a sentence that says anything."""
        said = _sentences(request.turns)
        if not said:
            return ()
        weights = _weights(said)
        vectors = [_vector(s.counts, weights) for s in said]
        total = Counter[str]()
        for s in said:
            total.update(s.counts)
        middle = _vector(total, weights)
        relevance = [_cosine(v, middle) * _worth(s) for s, v in zip(said, vectors, strict=True)]
        chosen: list[int] = []
        spent = 0
        waiting = set(range(len(said)))
        nearest = [0.0] * len(said)
        while waiting:
            best = max(waiting, key=lambda i: (RELEVANCE * relevance[i] - (1 - RELEVANCE) * nearest[i], -i))
            waiting.discard(best)
            if chosen and (spent + said[best].tokens > request.target_tokens or nearest[best] > 0.9):
                continue
            chosen.append(best)
            spent += said[best].tokens
            for i in waiting:
                nearest[i] = max(nearest[i], _cosine(vectors[i], vectors[best]))
        chosen.sort(key=lambda i: said[i].place)
        return tuple(SummarySentence(text=said[i].text, sources=(said[i].turn.id,)) for i in chosen)


def content_terms(found: Iterable[str]) -> int:
    """How many different words, or pairs of characters, there are: single Han characters count in pairs only."""
    return len({t for t in found if len(t) > 1 or t.isascii()})


def says_something(role: str, text: str) -> bool:
    """Whether the turn has a sentence that a summary may quote."""
    turn = SummaryTurn(id="", text=text, speaker=role, role=role, on=date.min)
    return bool(_sentences((turn,)))


def _sentences(turns: Sequence[SummaryTurn]) -> list[_Said]:
    found: list[_Said] = []
    asked: list[_Said] = []
    seen: set[str] = set()
    for t, turn in enumerate(turns):
        for n, span in enumerate(sentences(turn.text)):
            text = span.of(turn.text)
            if FILLER in text or "\n" in text or text in seen:
                continue
            counts = Counter(terms(text))
            tokens = estimate_tokens(text)
            least = LEAST_TERMS if turn.role == "user" else LEAST_ANSWER
            if content_terms(counts) < least or tokens > LONGEST:
                continue
            seen.add(text)
            said = _Said(text=text, turn=turn, place=(t, n), counts=counts, tokens=tokens)
            (asked if asking_share(text) >= ONLY_ASKS else found).append(said)
    return found or asked


def _weights(said: Sequence[_Said]) -> dict[str, float]:
    held: Counter[str] = Counter()
    for s in said:
        held.update(s.counts.keys())
    # What all of them say is the topic: it must not weigh nothing.
    return {t: 1.0 + idf(len(said), n) for t, n in held.items()}


def _vector(counts: Mapping[str, int], weights: Mapping[str, float]) -> dict[str, float]:
    raw = {t: n / (n + 1.0) * weights[t] for t, n in counts.items()}
    norm = sqrt(sum(v * v for v in raw.values())) or 1.0
    return {t: v / norm for t, v in raw.items()}


def _cosine(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    if len(b) < len(a):
        a, b = b, a
    return sum(v * b[t] for t, v in a.items() if t in b)


def _worth(s: _Said) -> float:
    worth = 0.5 + 0.5 * min(1.0, max(0.0, s.turn.weight))
    if s.turn.role != "user":
        worth *= BY_OTHERS
    worth *= 1 - asking_share(s.text) / 2
    words = s.text.split()
    named = any(w[:1].isupper() for w in words[1:] if len(w) >= _NAME_MIN)
    return worth * (EXACT if named or any(c.isdigit() for c in s.text) else 1.0)


__all__ = ["LEAST_TERMS", "NAME", "ExtractiveSummarizer", "content_terms", "says_something"]
