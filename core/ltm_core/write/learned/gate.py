"""The learned decision: does this clause state something lasting about the speaker or his own people?

Two small models, averaged: a linear one on n-grams of function words (every content word is one placeholder), on
n-grams of all words and on cue flags; and a net with one hidden layer on the vectors of the clause and its neighbours
and the same flags. The cues of the clauses before and after count for both: a remark beside a question is read
differently from one in a story. Without a vector the first decides alone. The weights are data (``gate.json`` of the
lexicon); ``scripts/train_gate.py`` makes them and prints their figures.
"""

from __future__ import annotations

import base64
import json
import math
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

BUCKETS = 8192
WORD_BUCKETS = 32768
"""Of the n-grams of all words, which follow those of function words."""
_LONGEST_GRAM = 4
"""Tokens."""
FLAGS = (
    "question", "conditional", "plan", "goal", "quotation", "command", "standing", "one_off", "ephemeral",
    "mood", "first_person", "first_subject", "second_person", "third_person", "general", "smalltalk",
    "negation", "cessation", "correction", "change", "temporary", "past", "habitual", "remember",
    "own_kin", "after_command", "after_fact", "short",
)  # fmt: skip
"""Cues a clause carries; the order is part of the weights' format."""

LANGUAGES = ("en", "zh")
"""Each may be sooner a fact than the other."""
_BESIDE = 2 * len(FLAGS) + 2
"""Numbers that tell of the neighbours: their cues and whether they are vetoed. Whether there are any is not told:
in written examples those that state nothing are shorter."""
_UNTOLD = [False] * len(FLAGS)
NEIGHBOUR = 0.5
"""Weight of a neighbour's vector against the clause's own."""

_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+|[^\sa-z\d]", re.I)
_HAN = re.compile(r"[㐀-䶿一-鿿]")
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+|[㐀-䶿一-鿿ぁ-ヿ]")
_LONGEST_WORDS = 3
"""Words, or Chinese characters, of the n-grams of all words."""


@dataclass(frozen=True, slots=True)
class Side:
    """The clause before or after: its cues, whether it is vetoed, its vector if there is one."""

    flags: Mapping[str, bool]
    veto: bool = False
    vector: NDArray[Any] | None = None


@dataclass(frozen=True, slots=True)
class Gate:
    """The two heads with their weights; ``version`` names the training run."""

    grams: NDArray[np.float32]
    gram_flags: NDArray[np.float32]
    gram_bias: float
    hidden: NDArray[np.float32]
    hidden_flags: NDArray[np.float32]
    hidden_bias: NDArray[np.float32]
    out: NDArray[np.float32]
    vector: NDArray[np.float32]
    vector_flags: NDArray[np.float32]
    vector_bias: float
    """The net: what is inside of vectors and of cues, what comes of it, and the direct path beside it."""
    function: frozenset[str]
    slots: tuple[str, ...]
    slot_weights: NDArray[np.float32]
    slot_bias: NDArray[np.float32]
    version: str
    calibration: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Slope and shift on the log-odds, for both models together ("mean") and for the first alone ("grams"), each by
    language where that was learned ("mean_zh")."""

    def probability(
        self,
        norm: str,
        language: str,
        flags: Mapping[str, bool],
        vector: NDArray[Any] | None,
        *,
        before: Side | None = None,
        after: Side | None = None,
    ) -> float:
        """Probability in [0, 1] that the clause states a lasting fact."""
        f = cue_vector(flags, before, after, language)
        hashed = gate_features(norm, language, self.function)
        score = self.gram_bias + float(f @ self.gram_flags)
        if hashed:
            score += float(self.grams[list(hashed)].sum()) / math.sqrt(len(hashed))
        if vector is None or 3 * vector.shape[-1] != self.vector.shape[0]:
            return self._calibrated(score, "grams", language)
        inside = self.hidden_flags @ f + self.hidden_bias
        other = self.vector_bias + float(f @ self.vector_flags)
        own = np.asarray(vector, dtype=np.float32)
        for i, v in enumerate((own, *(None if side is None else side.vector for side in (before, after)))):
            if v is not None:  # what is not there is not multiplied: most messages are one clause
                v = np.asarray(v, dtype=np.float32) * np.float32(NEIGHBOUR if i else 1)
                part = slice(i * own.size, (i + 1) * own.size)
                inside = inside + self.hidden[:, part] @ v
                other += float(v @ self.vector[part])
        other += float(np.maximum(0, inside) @ self.out)
        return self._calibrated((score + other) / 2, "mean", language)

    def _calibrated(self, score: float, which: str, language: str) -> float:
        slope, shift = self.calibration.get(f"{which}_{language}") or self.calibration.get(which, (1.0, 0.0))
        return sigmoid(slope * score + shift)

    def slot(self, vector: NDArray[Any] | None) -> tuple[str, float]:
        """The likeliest coarse topic of a fact and its probability; ``("other", 0)`` without a vector."""
        if vector is None or not len(self.slots) or vector.shape[-1] != self.slot_weights.shape[1]:
            return "other", 0.0
        scores = self.slot_weights @ np.asarray(vector, dtype=np.float32) + self.slot_bias
        scores = np.exp(scores - scores.max())
        best = int(scores.argmax())
        return self.slots[best], float(scores[best] / scores.sum())


def sigmoid(x: float) -> float:
    """Probability of log-odds, which beyond 30 make no difference."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, x))))


def log_odds(probability: float) -> float:
    """What `sigmoid` makes a probability of; that of 0 and 1 is finite."""
    p = min(max(probability, 1e-6), 1 - 1e-6)
    return math.log(p / (1 - p))


def cue_vector(
    flags: Mapping[str, bool], before: Side | None, after: Side | None, language: str
) -> NDArray[np.float32]:
    """The cues of a clause, then those of its neighbours, then its language."""
    out = [bool(flags.get(name)) for name in FLAGS]
    for side in (before, after):
        out += _UNTOLD if side is None else [bool(side.flags.get(name)) for name in FLAGS]
    out += [side is not None and side.veto for side in (after, before)]
    out += [language == name for name in LANGUAGES]
    return np.array(out, dtype=np.float32)


def vector_features(vector: NDArray[Any], before: Side | None, after: Side | None) -> NDArray[np.float32]:
    """The vector of a clause, then those of its neighbours at less weight; zeros where there is none."""
    parts = [np.asarray(vector, dtype=np.float32)]
    for side in (before, after):
        beside = None if side is None else side.vector
        parts.append(np.zeros_like(parts[0]) if beside is None else np.asarray(beside, dtype=np.float32) * NEIGHBOUR)
    return np.concatenate(parts)


def tokens(norm: str, language: str, function: frozenset[str]) -> list[str]:
    """Function words and characters of a clause; every other word or run of characters becomes one mark."""
    found: list[str] = [f"<{language}>"]
    for m in _TOKEN.finditer(norm.lower()):
        token = m.group()
        if token.isdigit():
            token = "0"
        elif token in function:
            pass
        elif _HAN.match(token):
            token = "#"
        else:
            token = "_"
        if token in "#_" and found[-1] == token:
            found.append(token + token)
        elif token in "#_" and found[-1] == token + token:
            continue
        else:
            found.append(token)
    found.append("</s>")
    return found


def gram_sums(words: Sequence[str], longest: int, *, before: str = "") -> list[int]:
    """CRC-32 of every run of 1 to ``longest`` words, joined by spaces, each with ``before`` in front of it."""
    parts = [w.encode() for w in words]
    start = zlib.crc32(before.encode())
    sums = [zlib.crc32(w, start) for w in parts]
    found = list(sums)
    behind = [b" " + w for w in parts]
    for n in range(1, longest):
        # Each run's sum goes on from that of the run without its last word.
        sums = list(map(zlib.crc32, behind[n:], sums))
        found += sums
    return found


@lru_cache(maxsize=64)  # the gate and the news read the same clauses
def gram_features(norm: str, language: str, function: frozenset[str]) -> tuple[int, ...]:
    """Hash buckets of the 1- to 4-grams of a clause's tokens, each once."""
    sums = gram_sums(tokens(norm[:200], language, function), _LONGEST_GRAM)
    return tuple({crc % BUCKETS for crc in sums})


def gate_features(norm: str, language: str, function: frozenset[str]) -> tuple[int, ...]:
    """Hash buckets of the gate: those of `gram_features`, then those of the 1- to 3-grams of all words."""
    words = ["^", *("0" if w.isdigit() else w for w in _WORD.findall(norm[:200].lower())), "$"]
    found = {BUCKETS + crc % WORD_BUCKETS for crc in gram_sums(words, _LONGEST_WORDS, before=language)}
    return (*gram_features(norm, language, function), *found)


def unpack(packed: Mapping[str, Any]) -> NDArray[np.float32]:
    """The weights that `pack` wrote."""
    whole = np.frombuffer(base64.b64decode(packed["int8"]), dtype=np.int8).astype(np.float32)
    return whole * np.float32(packed["scale"])


def pack(weights: Sequence[float] | NDArray[Any]) -> dict[str, Any]:
    """Weights as int8 with one scale, base64: what `unpack` reads."""
    w = np.asarray(weights, dtype=np.float64)
    scale = float(np.abs(w).max() / 127) or 1.0
    return {"scale": scale, "int8": base64.b64encode(np.round(w / scale).astype(np.int8).tobytes()).decode()}


@cache
def function_words() -> frozenset[str]:
    """Words that say how, not what: the gate sees no others, and what two texts share is looked for in the rest."""
    file = files("ltm_core.lexicon").joinpath("write").joinpath("function_words.txt")
    return frozenset(file.read_text(encoding="utf-8").split())


@cache
def load_gate() -> Gate:
    """The bundled weights."""
    root = files("ltm_core.lexicon").joinpath("write")
    function = function_words()
    file = root.joinpath("gate.json")
    if not file.is_file():
        return untrained(function)
    return make_gate(json.loads(file.read_text(encoding="utf-8")), function)


def make_gate(data: Mapping[str, Any], function: frozenset[str]) -> Gate:
    """A gate of the stored form of its weights."""
    slots = tuple(data["slots"])
    slot_weights = unpack(data["slot"]) if slots else np.zeros(0, np.float32)
    return Gate(
        grams=unpack(data["grams"]),
        gram_flags=np.array(data["gram_flags"], dtype=np.float32),
        gram_bias=float(data["gram_bias"]),
        hidden=unpack(data["hidden"]).reshape(len(data["hidden_bias"]), -1),
        hidden_flags=unpack(data["hidden_flags"]).reshape(len(data["hidden_bias"]), -1),
        hidden_bias=np.array(data["hidden_bias"], dtype=np.float32),
        out=np.array(data["out"], dtype=np.float32),
        vector=unpack(data["vector"]),
        vector_flags=np.array(data["vector_flags"], dtype=np.float32),
        vector_bias=float(data["vector_bias"]),
        function=function,
        slots=slots,
        slot_weights=slot_weights.reshape(len(slots), -1),
        slot_bias=np.array(data["slot_bias"], dtype=np.float32),
        version=str(data["version"]),
        calibration={k: (float(v[0]), float(v[1])) for k, v in data.get("calibration", {}).items()},
    )


def untrained(function: frozenset[str]) -> Gate:
    """A gate that knows nothing: probability 0.5 for every clause."""
    none = np.zeros(0, np.float32)
    zero = np.zeros(len(FLAGS) + _BESIDE + len(LANGUAGES), np.float32)
    grams = np.zeros(BUCKETS + WORD_BUCKETS, np.float32)
    square = none.reshape(0, 0)
    return Gate(grams, zero, 0.0, square, square, none, none, none, zero, 0.0, function, (), square, none, "none")
