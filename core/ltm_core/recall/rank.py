"""From signals to one score per message and fact.

Min-max fusion with weights per language: reciprocal rank fusion lost to it in every measured pair of unequal legs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ltm_core.recall.data import Floor, Weights
from ltm_core.recall.lexical import Lexical
from ltm_core.recall.structure import Structure, neighbour
from ltm_core.store.base import OWNER_CODES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ltm_core.config import Config

COMPLETING = 0.6
"""Share of the floor that suffices for the others once one memory passes it whole."""
LONG_TURN = 3.0
"""Chunks from which a turn says more than its best chunk (BEAM gains 3 points of recall at 10)."""
HOP = 0.9
"""What the best for one part of a question keeps beside the best for the whole."""
DAY_MICROSECONDS = 86_400_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What of the question and the call bears on ranking; arrays over owners."""

    visible: NDArray[np.bool_]
    inside: NDArray[np.bool_] | None = None
    """In the time range that the question names."""
    only_time: bool = False
    """The question names nothing else: all that is inside is about it."""
    of_answers: bool = False
    """The question is about what the assistant said."""
    current_session: int = 0
    now: int = 0
    """Microseconds since 1970 UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """Arrays over owners."""

    score: NDArray[np.float32]
    supported: NDArray[np.bool_]
    """Passes the floor, or is the turn beside one that does."""
    signals: dict[str, NDArray[np.float32]]
    cosine: NDArray[np.float32] | None


def rank(
    structure: Structure,
    words: Lexical,
    cosine: NDArray[np.float32] | None,
    asked: Asked,
    *,
    weights: Weights,
    floor: Floor,
    config: Config,
    parts: Sequence[Lexical] = (),
    asides: Sequence[Lexical] = (),
) -> Ranked:
    """Every owner that passes the floor, with its score in [0, 1]; the score of any other is 0.

    ``parts`` are the keyword evidence of each of several things that are asked for at once: what answers one of
    them best scores nearly as if that alone were asked, so that much about the first cannot hide the second.
    ``asides`` are the same of questions within a request: what answers one of them need not be about the request
    as well.
    """
    near = None if cosine is None or np.isnan(cosine).all() else structure.best(cosine)
    supported = _supported(words, near, floor, asked, structure)
    for aside in asides:
        supported |= _supported(aside, near, floor, asked, structure)
    among = np.flatnonzero(supported)
    if not len(among):
        return Ranked(score=np.zeros(len(supported), dtype=np.float32), supported=supported, signals={}, cosine=near)
    of_meaning = _legs_of_meaning(structure, near, asked.visible)
    legs = _legs_of_words(structure, words, asked.visible) | of_meaning
    score = np.zeros(len(supported), dtype=np.float32)
    lasting = np.zeros_like(score)
    score[among], lasting[among] = _scores(legs, words, structure, asked, weights, config, among)

    def alone(part: Lexical) -> NDArray[np.float32]:
        legs_of_part = _legs_of_words(structure, part, asked.visible) | of_meaning
        return np.float32(HOP) * _scores(legs_of_part, part, structure, asked, weights, config, among)[0]

    for part in parts:
        # An "and" or a comma often joins two words for one thing: of a part only the best is sure to be meant.
        # A message, as a fact stands no higher than the one it rests on.
        found = np.where(structure.is_message[among], alone(part), np.float32(0))
        best = int(np.argmax(found))
        score[among[best]] = max(score[among[best]], found[best])
    for aside in asides:
        score[among] = np.maximum(score[among], alone(aside))
    signals = {**legs, "coverage": words.coverage, "identifier": words.exact, "lasting": lasting}
    return Ranked(score=score, supported=supported, signals=signals, cosine=near)


def _scores(
    legs: dict[str, NDArray[np.float32]],
    words: Lexical,
    structure: Structure,
    asked: Asked,
    weights: Weights,
    config: Config,
    among: NDArray[np.int64],
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The score of each owner of ``among``, and what importance and recency left of it."""
    score = _smooth(_fuse(legs, structure, weights, among), structure, weights.smoothing, among)
    if asked.only_time:
        score = np.maximum(score, np.float32(0.5))
    if not asked.of_answers:
        score = score * np.where(structure.by_user[among], np.float32(1), np.float32(weights.assistant))
    if asked.inside is not None and asked.inside.any():
        score = score * np.where(asked.inside[among], np.float32(1), np.float32(weights.time))
    if asked.current_session:
        at_hand = structure.in_session[among] == asked.current_session
        score = score + np.float32(weights.current_session) * at_hand * (1 - score)
    lasting = _lasting(structure, score, among, asked.now, config)
    score = score * lasting
    if words.exact.any():
        share = np.float32(weights.identifier)
        score = score * (1 - share) + share * words.exact[among]
    return np.clip(score, 0, 1).astype(np.float32), lasting


def _supported(
    words: Lexical, near: NDArray[np.float32] | None, floor: Floor, asked: Asked, structure: Structure
) -> NDArray[np.bool_]:
    """What passes the floor, and the turns beside it."""
    passes = _passes(words, near, floor, asked) & asked.visible
    beside = _beside(passes, structure) & asked.visible
    if asked.only_time and asked.inside is not None:
        beside &= asked.inside
    if passes.any():
        # Something is about the question; then what is nearly so may complete the answer.
        passes |= _passes(words, near, floor.lowered(COMPLETING), asked) & asked.visible
    supported: NDArray[np.bool_] = passes | beside
    return supported


def _compared(structure: Structure, visible: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whom each leg is scaled over: the visible messages, and the summaries that stand for others; facts are
    measured by the same scale."""
    episodes: NDArray[np.bool_] = visible & (structure.kind != OWNER_CODES["fact"])
    return episodes if episodes.any() else visible


def _legs_of_words(
    structure: Structure, words: Lexical, visible: NDArray[np.bool_]
) -> dict[str, NDArray[np.float32]]:
    """The keyword legs, each scaled to [0, 1] by the greatest that is compared."""
    among = _compared(structure, visible)
    legs = {"bm25": words.chunk, "turn": words.turn, "window": words.window, "session": words.session}
    return {name: _scaled(values, among, visible) for name, values in legs.items()}


def _scaled(values: NDArray[np.float32], among: NDArray[np.bool_], visible: NDArray[np.bool_]) -> NDArray[np.float32]:
    """A leg that says nothing of the messages is scaled over the facts: else what only a fact holds scores 0."""
    most = np.where(among, values, np.float32(0)).max(initial=0)
    if most <= 0:
        most = np.where(visible, values, np.float32(0)).max(initial=0)
    if most <= 0:
        return np.zeros_like(values)
    scaled: NDArray[np.float32] = np.minimum(values / most, np.float32(1))
    return scaled


def _legs_of_meaning(
    structure: Structure, near: NDArray[np.float32] | None, visible: NDArray[np.bool_]
) -> dict[str, NDArray[np.float32]]:
    """Similarity of the turn and of its neighbours, each scaled to [0, 1] between the least and the greatest."""
    if near is None:
        return {}
    missing = np.isnan(near)
    known = np.where(missing, np.float32(-1), near)
    sides = [np.where(s >= 0, known[s], known) for s in (structure.before, structure.after)]
    around = ((2 * known + sides[0] + sides[1]) / 4).astype(np.float32)
    among = _compared(structure, visible) & ~missing
    every = visible & ~missing
    return {"cosine": _stretched(known, among, every), "cosine_window": _stretched(around, among, every)}


def _stretched(
    values: NDArray[np.float32], among: NDArray[np.bool_], every: NDArray[np.bool_]
) -> NDArray[np.float32]:
    """One message has no least and greatest: then all that was compared has."""
    for compared in (among, every):
        seen = values[compared]
        if len(seen) and seen.max() > seen.min():
            break
    else:
        return every.astype(np.float32)
    low = seen.min()
    reach = seen.max() - low
    stretched: NDArray[np.float32] = np.clip((values - low) / reach, 0, 1).astype(np.float32)
    return stretched


def _fuse(
    legs: dict[str, NDArray[np.float32]], structure: Structure, weights: Weights, among: NDArray[np.int64]
) -> NDArray[np.float32]:
    """The weighted mean of the legs, of ``among`` and their neighbours; 0 elsewhere.

    What comes from the surroundings weighs as much as the turn borrows; the turn as a whole as far as it has
    more than one chunk, else it would say the same twice.
    """
    needed = np.zeros(len(structure.items), dtype=np.bool_)
    for side in (structure.before, structure.after):
        beside = side[among]
        needed[beside[beside >= 0]] = True
    needed[among] = True
    places = np.flatnonzero(needed)
    borrows = structure.borrows[places]
    whole = np.clip((structure.chunks[places] - 1) / (LONG_TURN - 1), 0, 1).astype(np.float32)
    own = {"bm25": np.float32(1), "cosine": np.float32(1), "turn": whole}
    score = np.zeros(len(places), dtype=np.float32)
    total = np.zeros(len(places), dtype=np.float32)
    for name, values in legs.items():
        share: float = getattr(weights, name)
        weight = np.asarray(own.get(name, borrows), dtype=np.float32) * np.float32(share)
        score += weight * values[places]
        total += weight
    fused = np.zeros(len(needed), dtype=np.float32)
    fused[places] = np.divide(score, total, out=np.zeros_like(score), where=total > 0)
    return fused


def _smooth(
    score: NDArray[np.float32], structure: Structure, most: float, among: NDArray[np.int64]
) -> NDArray[np.float32]:
    """What the owners of ``among`` score when each takes a part of what its neighbours score."""
    share = np.float32(most) * structure.borrows[among]
    lent = neighbour(score, structure.before[among]) + neighbour(score, structure.after[among])
    return ((score[among] + share * lent) / (1 + 2 * share)).astype(np.float32)


def _lasting(
    structure: Structure, score: NDArray[np.float32], among: NDArray[np.int64], now: int, config: Config
) -> NDArray[np.float32]:
    """What importance and recency leave of a score, in (0, 1]: they scale what is relevant, they never lift.

    Only ``high`` counts as important: ordinary facts mark the user's turns ``medium``, and of two people talking
    the other one's turns would lose. Where turns are short and answer each other, nothing is held against an
    unimportant one. Recency weighs as much as the turn is relevant: it decides between those
    that answer the question, and cost BEAM 3 points of recall at 10 where it also moved those that barely do.
    """
    total = (config.weight_relevance + config.weight_importance + config.weight_recency) or 1.0
    # A summary holds what its turns came to: none of it is small talk.
    matters = structure.is_important[among] | (structure.kind[among] == OWNER_CODES["summary"])
    trivial = np.where(matters, np.float32(0), 1 - structure.borrows[among])
    age = np.maximum(0, now - structure.at[among]) / DAY_MICROSECONDS
    faded = (1 - np.power(config.ranking_decay_per_day, age)) * np.clip(score, 0, 1)
    kept = (1 - config.weight_importance / total * trivial) * (1 - config.weight_recency / total * faded)
    return np.asarray(kept, dtype=np.float32)


def _passes(words: Lexical, near: NDArray[np.float32] | None, floor: Floor, asked: Asked) -> NDArray[np.bool_]:
    passes = (words.exact > 0) | (words.coverage >= np.float32(floor.coverage))
    if near is not None:
        with np.errstate(invalid="ignore"):  # NaN: no vector was compared, and NaN passes nothing
            passes |= near >= np.float32(floor.similarity)
            passes |= (near >= np.float32(floor.mixed_similarity)) & (
                words.coverage >= np.float32(floor.mixed_coverage)
            )
    if asked.only_time and asked.inside is not None:
        passes |= asked.inside
    return passes


def _beside(passes: NDArray[np.bool_], structure: Structure) -> NDArray[np.bool_]:
    """Turns next to one that passes, where turns are short: an answer rarely repeats the words it answers."""
    if not len(passes):
        return passes
    lend = np.zeros(len(passes), dtype=np.bool_)
    for side in (structure.before, structure.after):
        lend |= np.where(side >= 0, passes[side], False)
    return lend & (structure.borrows > 0)


def use(access_count: int) -> float:
    """In [0, 1): 0 when never recalled, one half at the first, near 1 after many."""
    return access_count / (access_count + 1.0)


def in_ranges(at: NDArray[np.int64], ranges: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
    """Which instants lie in any of the half-open ranges."""
    inside = np.zeros(len(at), dtype=np.bool_)
    for since, until in ranges:
        inside |= (at >= since) & (at < until)
    return inside


__all__ = ["Asked", "Ranked", "in_ranges", "rank", "use"]
