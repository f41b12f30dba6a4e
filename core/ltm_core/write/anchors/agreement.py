"""Learned from examples: does a reply take up the proposal before it, or tell that it worked?

Rules know "that fixed it" and "就这么办"; people say it with the result ("一夜没咳") or the thing chosen ("那就A").
One small linear model in two halves for each language, shipped as data (``agreement_*.json`` of the lexicon, made by
``scripts/train_agreement.py``): n-grams of the reply with its cues, and its vector with the same cues. What the reply
shares with the proposal is a cue. It is asked only of short replies to a proposal.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ltm_core.write.known.news import Head, Sentence, features, make_head, words
from ltm_core.write.learned.gate import function_words, sigmoid

_FLAGS = (
    "question", "conditional", "plan", "goal", "command", "ephemeral", "mood", "first_person", "second_person",
    "third_person", "negation", "cessation", "hard_cessation", "correction", "change", "past", "habitual",
    "smalltalk", "not_confirmed", "short",
)  # fmt: skip
SAYS = ("good", "fails", "waits", "drops", "chooses", "points", "edits", "elsewhere", "asks", "tells", "does")
"""Ways of replying that the lexicon knows; see `ltm_core.write.anchors.worked.says`."""
CUES = (*_FLAGS, "shares", "shares_more", "echoes", "one_clause", "number", *(f"says_{s}" for s in SAYS))
"""What is told of a reply besides its words; the order is part of the weights' format."""
_NUMBER = re.compile(r"\d+")
LONGEST = 60
"""Characters of a reply from which it tells more than what came of a proposal."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """The model with its weights; ``version`` names the training run."""

    head: Head
    thresholds: Mapping[str, float]
    """Probability from which a reply takes up the proposal: with a vector, and by the words alone ("plain")."""
    languages: frozenset[str]
    function: frozenset[str]
    version: str

    def takes_up(self, reply: Sentence) -> bool:
        """Whether the reply takes up the proposal it was compared with."""
        which = "plain" if reply.vector is None else "mean"
        return self.probability(reply) >= self.thresholds[which]

    def probability(self, reply: Sentence) -> float:
        """Probability that it does."""
        z = self.head.logit(features(reply, self.function), reply.cues, reply.vector)
        return sigmoid(z)


def reply_cues(
    flags: Sequence[Mapping[str, bool]],
    reply: str,
    proposal: str,
    function: frozenset[str],
    says: Collection[str] = (),
) -> NDArray[np.float32]:
    """The cues of a reply: those of any of its clauses, what it shares with the proposal, and in which of the known
    ways (`SAYS`) it replies."""
    seen = {name for f in flags for name, on in f.items() if on} | {f"says_{s}" for s in says}
    mine = words(reply, function)
    shared = mine & words(proposal, function)
    seen -= {"shares", "shares_more", "echoes", "one_clause"}
    if shared:
        seen.add("shares")
    if len(shared) > 1:
        seen.add("shares_more")
    if mine and len(shared) * 2 >= len(mine):
        seen.add("echoes")
    if len(flags) == 1:
        seen.add("one_clause")
    if set(_NUMBER.findall(reply)) - set(_NUMBER.findall(proposal)):
        seen.add("number")
    return np.array([name in seen for name in CUES], dtype=np.float32)


def make_agreement(data: Mapping[str, Any], function: frozenset[str]) -> Agreement:
    """The model of the stored form of its weights."""
    return Agreement(
        head=make_head(data["head"]),
        thresholds={str(k): float(v) for k, v in data["thresholds"].items()},
        languages=frozenset(str(x) for x in data["languages"]),
        function=function,
        version=str(data["version"]),
    )


@cache
def load_agreement(language: str) -> Agreement:
    """The bundled weights for a language that has learned ones: en, zh."""
    file = files("ltm_core.lexicon").joinpath("write").joinpath(f"agreement_{language}.json")
    return make_agreement(json.loads(file.read_text(encoding="utf-8")), function_words())
