"""Which floor on similarity labelled pairs call for. Pure: the vectors are given.

No threshold is shared between embedders: "I live in Hangzhou" and "I live in Shanghai" are at 0.61 in one and at
0.97 in another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal

import numpy as np

from ltm_core.errors import InvalidInputError
from ltm_core.recall.data import Floor
from ltm_core.recall.lexical import cover
from ltm_core.recall.pairs import Pair
from ltm_core.recall.question import analyse_question
from ltm_core.types import Calibration, CalibrationRow
from ltm_core.write.incoming.index import Unit, message_units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ltm_core.config import Config

    Embed = Callable[[Sequence[str]], NDArray[np.float32]]
    EmbedQuery = Callable[[str], NDArray[np.float32]]

Measure = Literal["false_positives", "precision", "f_beta"]

FEWEST = 10
"""Related and unrelated pairs with shared words from which their own threshold is fitted."""
STEP = 0.05
"""Distance of the printed thresholds."""
PLACES = 3
"""Decimals of a floor: finer differences are noise of the pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How the threshold is chosen: the lowest one at which the bound holds, or the one with the best F-beta.

    "false_positives": at most ``value`` of the unrelated pairs pass. "precision": at least ``value`` of the pairs
    that pass are related. "f_beta": ``value`` is beta; below 1 precision weighs more than recall.
    """

    measure: Measure
    value: float

    def __str__(self) -> str:
        if self.measure == "false_positives":
            return f"at most {self.value:g} of the unrelated pairs pass"
        if self.measure == "precision":
            return f"precision of at least {self.value:g}"
        return f"best F-beta, beta {self.value:g}"


DEFAULT_RULE = Rule(measure="false_positives", value=0.001)
"""A user's memory has hundreds of unrelated texts for each related one: precision on balanced pairs says little,
the share of unrelated texts that pass says how many of a thousand would be shown for nothing."""


def rule_of(
    *, max_false_positives: float | None = None, min_precision: float | None = None, beta: float | None = None
) -> Rule:
    """The rule of these options, of which at most one is given; InvalidInputError."""
    given: list[tuple[Measure, str, float | None, float]] = [
        ("false_positives", "max_false_positives", max_false_positives, 1.0),
        ("precision", "min_precision", min_precision, 1.0),
        ("f_beta", "beta", beta, 10.0),
    ]
    chosen = [(m, name, v, most) for m, name, v, most in given if v is not None]
    if not chosen:
        return DEFAULT_RULE
    if len(chosen) > 1:
        raise InvalidInputError(f"give one of {', '.join(n for _, n, _, _ in chosen)}, not several")
    measure, name, value, most = chosen[0]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise InvalidInputError(f"{name} must be between 0 and {most:g}, not {value!r}")
    if measure == "f_beta" and value == 0:
        raise InvalidInputError("beta must be above 0; for precision alone give min_precision")
    return Rule(measure=measure, value=float(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """Arrays over pairs."""

    cosine: NDArray[np.float32]
    coverage: NDArray[np.float32]
    relevant: NDArray[np.bool_]


def scored(pairs: Sequence[Pair], *, embed: Embed, embed_query: EmbedQuery, now: datetime, config: Config) -> Scored:
    """What recall would see of each pair in a memory that holds all the texts as turns said at ``now``."""
    texts = list(dict.fromkeys(p.text for p in pairs))
    units: list[Unit] = []
    owners: list[int] = []
    for number, text in enumerate(texts):
        own = message_units(text, speaker="user", on=now.date(), named=False, config=config)
        units += own
        owners += [number] * len(own)
    owner = np.array(owners, dtype=np.int64)
    vectors = embed([u.embed for u in units])
    held: dict[str, list[int]] = {}
    for place, unit in enumerate(units):
        for term in unit.terms:
            held.setdefault(term, []).append(place)
    where = {text: number for number, text in enumerate(texts)}
    cosines: dict[str, NDArray[np.float32]] = {}
    covered: dict[str, NDArray[np.float32]] = {}
    for query in dict.fromkeys(p.query for p in pairs):
        cosines[query] = _best(vectors @ embed_query(query), owner, len(texts), low=-1.0)
        covered[query] = _best(_coverage(query, held, len(units), now, config), owner, len(texts), low=0.0)
    return Scored(
        cosine=np.array([cosines[p.query][where[p.text]] for p in pairs], dtype=np.float32),
        coverage=np.array([covered[p.query][where[p.text]] for p in pairs], dtype=np.float32),
        relevant=np.array([p.relevant for p in pairs], dtype=np.bool_),
    )


def _coverage(
    query: str, held: Mapping[str, Sequence[int]], count: int, now: datetime, config: Config
) -> NDArray[np.float32]:
    question = analyse_question(query, now=now, known_aliases=config.aliases)
    out = np.zeros(count, dtype=np.float32)
    places = [np.array(held.get(t.term, ()), dtype=np.int64) for t in question.terms]
    cover(out, [(t, (p, np.ones(len(p), dtype=np.int32))) for t, p in zip(question.terms, places, strict=True)])
    return out


def _best(values: NDArray[np.float32], owner: NDArray[np.int64], count: int, *, low: float) -> NDArray[np.float32]:
    best = np.full(count, low, dtype=np.float32)
    np.maximum.at(best, owner, values)
    return best


def calibrate(seen: Scored, *, present: Floor, rule: Rule, embedder: str) -> tuple[Floor, Calibration]:
    """The floor that ``rule`` picks, and the account of it. Coverage, which no embedder changes, stays.

    ``similarity`` is picked on all pairs. ``mixed_similarity``, which counts together with shared words, is picked
    on the pairs that share them, of which as many may pass; with fewer than ten related or unrelated ones it
    keeps its share of ``similarity``. InvalidInputError when no threshold keeps to the rule and lets a related
    pair pass.
    """
    unrelated = int((~seen.relevant).sum())
    similarity = _pick(seen.cosine, seen.relevant, rule, unrelated)
    if similarity is None:
        raise InvalidInputError(
            f"no threshold lets a related pair pass and keeps to the rule ({rule}): the pairs do not separate. "
            "Check the labels, or choose another rule"
        )
    both = seen.coverage >= np.float32(present.mixed_coverage)
    counts = Counter(seen.relevant[both].tolist())
    mixed = None
    if min(counts[True], counts[False]) >= FEWEST:
        mixed = _pick(seen.cosine[both], seen.relevant[both], rule, unrelated)
    if mixed is None:
        mixed = round(similarity * present.mixed_similarity / present.similarity, PLACES)
    floor = replace(present, similarity=similarity, mixed_similarity=min(mixed, similarity))
    chosen = [float(similarity), *(round(STEP * i, 2) for i in range(round(1 / STEP)))]
    return floor, Calibration(
        embedder=embedder,
        rule=str(rule),
        pairs=len(seen.relevant),
        related=len(seen.relevant) - unrelated,
        similarity=floor.similarity,
        mixed_similarity=floor.mixed_similarity,
        coverage=floor.coverage,
        mixed_coverage=floor.mixed_coverage,
        thresholds=tuple(_row(seen.cosine >= np.float32(t), seen.relevant, t) for t in sorted(set(chosen))),
        before=_row(_passes(seen, present), seen.relevant, present.similarity),
        after=_row(_passes(seen, floor), seen.relevant, floor.similarity),
    )


def _passes(seen: Scored, floor: Floor) -> NDArray[np.bool_]:
    """What the whole floor lets through: words alone, meaning alone, or some of both."""
    mixed = (seen.cosine >= np.float32(floor.mixed_similarity)) & (seen.coverage >= np.float32(floor.mixed_coverage))
    passes: NDArray[np.bool_] = (
        mixed | (seen.cosine >= np.float32(floor.similarity)) | (seen.coverage >= np.float32(floor.coverage))
    )
    return passes


def _pick(cosine: NDArray[np.float32], relevant: NDArray[np.bool_], rule: Rule, unrelated: int) -> float | None:
    """The threshold, midway between two scores; None when no related pair could pass.

    Equal F-beta: the higher threshold.
    """
    scores = np.unique(cosine)
    between = [max(0.0, float(scores[0]) - STEP), *((scores[:-1] + scores[1:]) / 2).tolist()]
    best: tuple[float, float] | None = None
    for threshold in sorted({round(float(t), PLACES) for t in between if t >= 0}):
        passes = cosine >= np.float32(threshold)
        right, false = int((passes & relevant).sum()), int((passes & ~relevant).sum())
        if not right:
            break
        precision = right / (right + false)
        if rule.measure == "f_beta":
            value = _f(precision, right / int(relevant.sum()), rule.value)
            if best is None or value >= best[0]:
                best = (value, threshold)
        elif precision >= rule.value if rule.measure == "precision" else false <= rule.value * unrelated:
            return threshold
    return None if best is None else best[1]


def _row(passes: NDArray[np.bool_], relevant: NDArray[np.bool_], threshold: float) -> CalibrationRow:
    passed, right = int(passes.sum()), int((passes & relevant).sum())
    related = int(relevant.sum())
    precision = right / passed if passed else 1.0
    recall = right / related if related else 0.0
    return CalibrationRow(
        threshold=round(threshold, PLACES),
        precision=precision,
        recall=recall,
        f1=_f(precision, recall, 1.0),
        false_positives=(passed - right) / max(1, len(relevant) - related),
        passed=passed,
    )


def _f(precision: float, recall: float, beta: float) -> float:
    low = beta * beta * precision + recall
    return (1 + beta * beta) * precision * recall / low if low else 0.0


__all__ = ["DEFAULT_RULE", "Rule", "Scored", "calibrate", "rule_of", "scored"]
