"""Learned from examples: does a message ask something of the memory itself or of the assistant, and what?

The expressions of the lexicon know the usual wordings of "forget that …", "never mention …", "note that …", "the
recipe from last week", "call me …" and "answer in …"; people word them in countless ways. Small models, shipped as
data (``acts.json`` and ``naming.json`` of the lexicon, made by ``scripts/train_acts.py``):

* a head for each act: n-grams of the words and cues; with a vector a second half of the vector and the cues, averaged
  with the first;
* *marks*: for every word how likely what is meant begins with it, ends with it, or goes through it, by the words
  around it; the best stretch is what the request is about.
"""

from __future__ import annotations

import json
import math
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Generic, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from ltm_core.write.known.news import Head, Sentence, features, make_head
from ltm_core.write.learned.gate import function_words, sigmoid, unpack
from ltm_core.write.read.units import mean_vector

MemoryAct = Literal["erase", "suppress", "remember", "refer"]
ACTS: tuple[MemoryAct, ...] = get_args(MemoryAct)
NamingAct = Literal["call_user", "call_assistant", "manner"]
NAMINGS: tuple[NamingAct, ...] = get_args(NamingAct)
Act = TypeVar("Act", bound=str)
MARKS = ("begins", "ends", "inside")
"""What is learned of each word; the order is part of the weights' format."""
MARK_BUCKETS = 8192
"""Hashed features of the words around a word, for each of `MARKS`."""
INSIDE = 0.25
"""Weight of the words within a stretch beside its first and its last one."""
_MOST_WORDS = 120
"""Words of a text in which what is meant is looked for."""
_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+|[^\sa-z\d]", re.I)
_STOPS = frozenset(",.;:!?，。；：！？、")
_FAR = 4
"""Words from a mark of punctuation beyond which the distance is not told apart."""


@dataclass(frozen=True, slots=True)
class Acts(Generic[Act]):
    """The models with their weights; ``version`` names the training run."""

    heads: Mapping[Act, Head]
    marks: NDArray[np.float32]
    """A row of weights for each of `MARKS`, the bias last."""
    thresholds: Mapping[str, float]
    """Probability from which a message asks for it; without vectors under the same name and "_plain"."""
    function: frozenset[str]
    version: str

    def asked(self, s: Sentence) -> tuple[Act, float] | None:
        """The act that the words ask for, and how likely; None when none is likely enough."""
        grams = features(s, self.function)
        likely = {act: sigmoid(head.logit(grams, s.cues, s.vector)) for act, head in self.heads.items()}
        act = max(likely, key=lambda a: likely[a])
        least = self.thresholds[act if s.vector is not None else f"{act}_plain"]
        return (act, likely[act]) if likely[act] >= least else None

    def is_unlikely(self, s: Sentence) -> bool:
        """Whether the words alone speak so much against every act that no vector need be made."""
        grams = features(s, self.function)
        return all(sigmoid(h.logit(grams, s.cues, None)) < self.thresholds["unlikely"] for h in self.heads.values())

    def meant(self, text: str, act: Act) -> tuple[int, int]:
        """Where in the text the words begin and end that say what the request is about; (0, 0) in a text without."""
        tokens = tokens_of(text)
        if not tokens:
            return 0, 0
        said = [m.group().lower() for m in tokens]
        hashed = [list(mark_features(said, i, act)) for i in range(len(said))]
        z = np.stack([self.marks[:, h].sum(axis=1) / math.sqrt(len(h)) for h in hashed], axis=1) + self.marks[:, -1:]
        first, last = stretch(z)
        return tokens[first].start(), tokens[last].end()


def passage_vector(clauses: Sequence[NDArray[Any]]) -> NDArray[Any] | None:
    """What the heads see of the clauses' vectors: their mean direction, the first and the last one; what is asked and
    what is meant often stand in two clauses. None when there is no clause."""
    mean = mean_vector(clauses)
    return None if mean is None else np.concatenate([mean, clauses[0], clauses[-1]])


def tokens_of(text: str) -> list[re.Match[str]]:
    """The words, numbers and signs of a text, one Chinese character each, as far as they are looked at."""
    return list(_TOKEN.finditer(text))[:_MOST_WORDS]


def mark_features(said: Sequence[str], i: int, act: str) -> tuple[int, ...]:
    """Hash buckets of the words around the ``i``-th one: which, in which order, and how far from punctuation."""

    def at(k: int) -> str:
        return said[k] if 0 <= k < len(said) else "<" if k < 0 else ">"

    before = next((k for k in range(i, -1, -1) if said[k] in _STOPS), -1)
    after = next((k for k in range(i, len(said)) if said[k] in _STOPS), len(said))
    near = (f"0{at(i)}", f"-{at(i - 1)}", f"+{at(i + 1)}")
    group = "erase" if act == "suppress" else act  # what is not to be mentioned is named like what is to be forgotten
    found = (
        *near,
        f"--{at(i - 2)}_{at(i - 1)}",
        f"++{at(i + 1)}_{at(i + 2)}",
        f"-0{at(i - 1)}_{at(i)}",
        f"0+{at(i)}_{at(i + 1)}",
        f"---{at(i - 3)}_{at(i - 2)}_{at(i - 1)}",
        f"+++{at(i + 1)}_{at(i + 2)}_{at(i + 3)}",
        f"p{at(before)}{min(i - before, _FAR)}",
        f"pf{at(before + 1)}_{at(before + 2)}",
        f"q{at(after)}{min(after - i, _FAR)}",
        f"qf{at(after - 1)}_{at(after - 2)}",
        *(f"{group}{f}" for f in near),
        group,
    )
    return tuple(zlib.crc32(f.encode()) % MARK_BUCKETS for f in found)


def stretch(z: NDArray[Any]) -> tuple[int, int]:
    """First and last word of the best stretch, by log-odds with a row for each of `MARKS`."""
    begins, ends, inside = z
    through = np.concatenate([[0.0], np.cumsum(inside)])
    n = len(begins)
    score = begins[:, None] + ends[None, :] + INSIDE * (through[None, 1:] - through[:-1, None])
    score[np.tril_indices(n, -1)] = -np.inf
    first, last = divmod(int(score.argmax()), n)
    return first, last


def make_acts(data: Mapping[str, Any], acts: Sequence[Act], function: frozenset[str]) -> Acts[Act]:
    """The models of the stored form of their weights."""
    return Acts(
        heads={act: make_head(data["heads"][act]) for act in acts},
        marks=np.hstack(
            [unpack(data["marks"]).reshape(len(MARKS), -1), np.array(data["mark_bias"], np.float32)[:, None]]
        ),
        thresholds={str(k): float(v) for k, v in data["thresholds"].items()},
        function=function,
        version=str(data["version"]),
    )


@cache
def load_acts() -> Acts[MemoryAct]:
    """The bundled weights of what is asked of the memory."""
    return make_acts(_stored("acts.json"), ACTS, function_words())


@cache
def load_naming() -> Acts[NamingAct]:
    """The bundled weights of how one another is to be called, and how the assistant is to speak."""
    return make_acts(_stored("naming.json"), NAMINGS, function_words())


def _stored(name: str) -> Mapping[str, Any]:
    file = files("ltm_core.lexicon").joinpath("write").joinpath(name)
    found: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found
