"""Learned from examples: whether words tell that something known changed or is over, and which known fact that is.

Small models, shipped as data (``news.json`` of the lexicon, made by ``scripts/train_news.py``):

* *turn*: does the sentence tell of a change, an end or a correction in the speaker's life? N-grams of its words and
  its cues; with a vector a second head of the vector and the cues, averaged with the first.
* *keeps*: does it also tell the new value ("swapped the Skoda for a Kia"), or only the end ("sold the Skoda")?
* *match*: which of the facts known of the same one does it end? How likely it tells of a change, cosine, shared
  words, agreement of guessed topics, and a net over both vectors (`ltm_core.write.learned.pairing`); a softmax over
  all facts and over "none", so that the more is known, the clearer the words must be.
* *attending*: is that fact over? Nets that read both word by word (`ltm_core.write.learned.attending`), asked by
  `ltm_core.write.known.judged`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ltm_core.write.learned.attending import Attending, make_attending
from ltm_core.write.learned.gate import (
    BUCKETS,
    FLAGS,
    function_words,
    gram_features,
    gram_sums,
    sigmoid,
    unpack,
)
from ltm_core.write.learned.pairing import Pairing, make_pairing

Array = NDArray[np.float32]
SUBJECTS = ("self", "dropped", "kin", "pet", "stranger", "entity", "inherited", "pronoun")
CUES = (*FLAGS, "hard_cessation", "change_now", "lasting", "revert", *(f"subject_{s}" for s in SUBJECTS))
"""What is told of a sentence besides its words; the order is part of the weights' format."""
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+|[㐀-䶿一-鿿ぁ-ヿ]", re.I)
_HAN = re.compile(r"[㐀-䶿一-鿿]+")
_STOPS = re.compile(r"[.'&+-]+(?=\s|$)")
_RARE = 8.0
"""Weight of a word that no list of frequencies knows, in nats, before it is divided by `_SCALE`."""
_SCALE = 10.0
SEEN = ("cosine", "words", "topic", "topic_cosine", "named", "own_words", "rivals")
"""What a fact and a sentence have in common; the order is part of the weights' format."""
PAIRED = (*SEEN, "turn")
"""What the nets see beside both vectors; the order is part of the weights' format."""
MATCH = (*SEEN, "pair", "turn")
"""What a fact and a sentence are compared by; the order is part of the weights' format."""


@dataclass(frozen=True, slots=True)
class Head:
    """A model in two halves: a logistic one on n-grams and cues; one on the vector and cues, with inner numbers or
    without."""

    grams: Array
    gram_cues: Array
    gram_bias: float
    vector: Array
    vector_cues: Array
    vector_bias: float
    hidden: Array
    hidden_cues: Array
    hidden_bias: Array
    out: Array
    calibration: Mapping[str, tuple[float, float]]

    def logit(self, grams: Sequence[int], cues: Array, vector: NDArray[Any] | None) -> float:
        """Calibrated log-odds; by the n-grams alone without a vector of the trained size."""
        score = self.gram_bias + float(cues @ self.gram_cues)
        if grams:
            score += float(self.grams[list(grams)].sum()) / math.sqrt(len(grams))
        if vector is None or vector.shape[-1] != self.vector.shape[0]:
            slope, shift = self.calibration["grams"]
            return slope * score + shift
        other = self.vector_bias + float(vector @ self.vector) + float(cues @ self.vector_cues)
        if self.out.size:
            inside = self.hidden @ np.asarray(vector, np.float32) + self.hidden_cues @ cues + self.hidden_bias
            other += float(np.maximum(0, inside) @ self.out)
        slope, shift = self.calibration["mean"]
        return slope * (score + other) / 2 + shift


@dataclass(frozen=True, slots=True)
class Sentence:
    """What the models see of a sentence."""

    text: str
    norm: str
    language: str
    cues: Array
    vector: NDArray[Any] | None = None
    turn: float = 0.0
    """Log-odds that it tells of a change."""


@dataclass(frozen=True, slots=True)
class Held:
    """What the models see of a known fact."""

    text: str
    object: str
    relation: str
    vector: NDArray[Any] | None = None


@dataclass(frozen=True, slots=True)
class News:
    """The models with their weights; ``version`` names the training run."""

    turn: Head
    keeps: Head
    topics: tuple[str, ...]
    topic_weights: Array
    topic_bias: Array
    pairing: tuple[Pairing, ...]
    """Nets whose log-odds are averaged."""
    attending: tuple[Attending, ...]
    """Nets that read word by word; their log-odds are averaged."""
    match: Array
    match_bias: float
    match_plain: Array
    """Weights without vectors."""
    match_plain_bias: float
    thresholds: Mapping[str, float]
    function: frozenset[str]
    version: str

    def turns(self, s: Sentence) -> float:
        """Probability that the sentence tells of a change, an end or a correction of something known."""
        return sigmoid(self.turn.logit(features(s, self.function), s.cues, s.vector))

    def keeps_value(self, s: Sentence) -> float:
        """Probability that a sentence with such news also tells what holds now."""
        return sigmoid(self.keeps.logit(features(s, self.function), s.cues, s.vector))

    def meant(self, s: Sentence, facts: Sequence[Held]) -> NDArray[np.float64]:
        """Probability for each fact that the sentence ends it; what is missing to 1 is for none."""
        if not facts:
            return np.zeros(0)
        with_vectors = self._knows(s.vector)
        weights, bias = (self.match, self.match_bias) if with_vectors else (self.match_plain, self.match_plain_bias)
        z = self.compare_all(s, facts) @ weights.astype(np.float64) + bias
        top = max(0.0, float(z.max()))
        e = np.exp(z - top)
        out: NDArray[np.float64] = e / (e.sum() + math.exp(-top))
        return out

    def compare(self, s: Sentence, f: Held) -> NDArray[np.float64]:
        """What speaks for the sentence ending the fact, in the order of `MATCH`."""
        row: NDArray[np.float64] = self.compare_all(s, [f])[0]
        return row

    def compare_all(self, s: Sentence, facts: Sequence[Held]) -> NDArray[np.float64]:
        """A row of comparisons, in the order of `MATCH`, for every fact."""
        seen = self.in_common(s, facts)
        out = np.zeros((len(facts), len(MATCH)))
        out[:, : len(SEEN)] = seen
        out[:, MATCH.index("turn")] = s.turn
        known = self._read(s, facts)
        if s.vector is not None and known:
            vectors = _vectors(facts, known)
            of = [net.logits(s.vector, vectors, with_turn(seen[known], s.turn)) for net in self.pairing]
            out[known, MATCH.index("pair")] = np.mean(of, axis=0) if of else 0.0
        return out

    def in_common(self, s: Sentence, facts: Sequence[Held]) -> NDArray[np.float64]:
        """What each fact and a sentence have in common, in the order of `SEEN`."""
        from ltm_core.write.known.sorts import are_rivals

        out = np.zeros((len(facts), len(SEEN)))
        known = self._read(s, facts)
        if s.vector is not None and known:
            vectors = _vectors(facts, known)
            cosine = vectors @ np.asarray(s.vector, dtype=np.float32)
            topic = np.sqrt(self.topic(vectors) * self.topic(s.vector)).sum(axis=1)
            out[known, 0], out[known, 2], out[known, 3] = cosine, topic, topic * cosine
        mine = words(s.text, self.function)
        for row, f in zip(out, facts, strict=True):
            told = f"{f.text} {f.object}"
            row[1] = min(len(mine & words(told, self.function)) * _RARE / _SCALE, 4.0)
            value = words(f.object, self.function)
            row[4] = len(value & mine) / len(value) if value else 0.0
            row[5] = f.relation == "about"
            row[6] = are_rivals(s.text, told)
        return out

    def _read(self, s: Sentence, facts: Sequence[Held]) -> list[int]:
        """The facts whose vectors can be compared with the sentence's."""
        return [i for i, f in enumerate(facts) if self._knows(f.vector)] if self._knows(s.vector) else []

    @staticmethod
    def shares_words(compared: NDArray[np.float64]) -> bool:
        """Whether the fact and the sentence have a word in common."""
        return bool(compared[MATCH.index("words")] > 0 or compared[MATCH.index("named")] > 0)

    def strongest(self, compared: NDArray[np.float64], *, with_vectors: bool) -> str:
        """The two comparisons that speak most for the match, with what they add to its log-odds."""
        added = compared * (self.match if with_vectors else self.match_plain)
        return ", ".join(f"{MATCH[i]} {added[i]:+.1f}" for i in np.argsort(-added)[:2])

    def _knows(self, vector: NDArray[Any] | None) -> bool:
        """Whether there is a vector, and of the size of those learned from."""
        return vector is not None and vector.shape[-1] == self.topic_weights.shape[-1]

    def topic(self, vector: NDArray[Any]) -> Array:
        """Probabilities of the topics, in the order of ``topics``; a row for each of several vectors."""
        z = np.asarray(vector, dtype=np.float32) @ self.topic_weights.T + self.topic_bias
        z = np.exp(z - z.max(axis=-1, keepdims=True))
        out: Array = z / z.sum(axis=-1, keepdims=True)
        return out


def with_turn(seen: NDArray[np.float64], turn: float) -> NDArray[np.float64]:
    """What facts and a sentence have in common, with the log-odds that it tells of a change, in the order of
    `PAIRED`."""
    return np.hstack([seen, np.full((len(seen), 1), turn)])


def _vectors(facts: Sequence[Held], which: Sequence[int]) -> Array:
    return np.stack([np.asarray(facts[i].vector, dtype=np.float32) for i in which])


def cue_array(flags: Iterable[Mapping[str, bool]], subjects: Iterable[str]) -> Array:
    """The cues of a sentence: those of any of its clauses, and whose life each clause tells."""
    seen = {name for f in flags for name, on in f.items() if on} | {f"subject_{s}" for s in subjects}
    return np.array([name in seen for name in CUES], dtype=np.float32)


def features(s: Sentence, function: frozenset[str]) -> tuple[int, ...]:
    """Hash buckets of the n-grams of function words, and of the 1- to 3-grams of all words and characters."""
    return _features(s.norm, s.language, function)


@lru_cache(maxsize=64)
def _features(norm: str, language: str, function: frozenset[str]) -> tuple[int, ...]:
    # Both heads read the same sentence, one after the other.
    seq = ["0" if w.isdigit() else w for w in _WORD.findall(norm[:200].lower())]
    own = {crc % BUCKETS for crc in gram_sums(seq, 3, before="w ")}
    return tuple(own.union(gram_features(norm, language, function)))


def said_words(text: str, function: frozenset[str]) -> set[str]:
    """The same where the text is whole sentences: without the marks that end them."""
    return words(_STOPS.sub(" ", text), function)


def words(text: str, function: frozenset[str]) -> set[str]:
    """What two texts may share: English words without their endings, pairs of Chinese characters."""
    from ltm_core.write.known.mentions import stem

    low = text.lower()
    found = {stem(w.removesuffix("'s")) for w in re.findall(r"[a-z0-9][a-z0-9+#.'&-]+", low) if w not in function}
    for run in _HAN.findall(low):
        found |= {run[i : i + 2] for i in range(len(run) - 1) if not set(run[i : i + 2]) <= function}
    return found


def make_head(data: Mapping[str, Any]) -> Head:
    """A head of the stored form of its weights."""
    units = len(data.get("out", ()))
    inner = {name: unpack(data[name]) if units else np.zeros(0, np.float32) for name in ("hidden", "hidden_cues")}
    return Head(
        grams=unpack(data["grams"]),
        gram_cues=np.array(data["gram_cues"], dtype=np.float32),
        gram_bias=float(data["gram_bias"]),
        vector=unpack(data["vector"]),
        vector_cues=np.array(data["vector_cues"], dtype=np.float32),
        vector_bias=float(data["vector_bias"]),
        hidden=inner["hidden"].reshape(units, -1) if units else inner["hidden"],
        hidden_cues=inner["hidden_cues"].reshape(units, -1) if units else inner["hidden_cues"],
        hidden_bias=np.array(data.get("hidden_bias", ()), dtype=np.float32),
        out=np.array(data.get("out", ()), dtype=np.float32),
        calibration={k: (float(a), float(b)) for k, (a, b) in data["calibration"].items()},
    )


def make_news(data: Mapping[str, Any], function: frozenset[str]) -> News:
    """The models of the stored form of their weights."""
    topics = tuple(data["topics"])
    return News(
        turn=make_head(data["turn"]),
        keeps=make_head(data["keeps"]),
        topics=topics,
        topic_weights=unpack(data["topic"]).reshape(len(topics), -1),
        topic_bias=np.array(data["topic_bias"], dtype=np.float32),
        pairing=tuple(make_pairing(net) for net in data["pairing"]),
        attending=tuple(make_attending(net) for net in data["attending"]),
        match=np.array(data["match"], dtype=np.float32),
        match_bias=float(data["match_bias"]),
        match_plain=np.array(data["match_plain"], dtype=np.float32),
        match_plain_bias=float(data["match_plain_bias"]),
        thresholds={str(k): float(v) for k, v in data["thresholds"].items()},
        function=function,
        version=str(data["version"]),
    )


@cache
def load_news() -> News:
    """The bundled weights."""
    root = files("ltm_core.lexicon").joinpath("write")
    function = function_words()
    return make_news(json.loads(root.joinpath("news.json").read_text(encoding="utf-8")), function)
