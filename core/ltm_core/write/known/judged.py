"""Whether a sentence ends a fact, by the nets that look at nothing but the two: word by word where the embedder's
pieces are at hand, by both vectors elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ltm_core.types import Fact
from ltm_core.write.known.news import MATCH, SEEN, Held, News, Sentence
from ltm_core.write.learned.gate import log_odds
from ltm_core.write.learned.layers import Cut

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PAIR, _TURN, _NAMED = (MATCH.index(name) for name in ("pair", "turn", "named"))
_INSTEAD = 0.4
"""Probability from which one fact is taken to have come in the place of another, once words say that things are as
before: of pairs from unrelated matters none comes near it, of what was told as a change two in three pass."""
_TOLD_AS_NEWS = 1.0
"""Log-odds of a change that are put in for a fact of which it is no more known how it was told."""


@dataclass(frozen=True, slots=True)
class Judge:
    """The nets, and what cuts a text into pieces; without it the nets over whole vectors decide."""

    news: News
    pieces: Cut | None = None

    def odds(self, s: Sentence, f: Held, compared: NDArray[np.float64]) -> float:
        """Log-odds that the sentence ends the fact. ``compared``: what `News.compare` says of both."""
        nets = self.news.attending
        if self.pieces is None or not nets or s.vector is None or f.vector is None:
            return float(compared[_PAIR])
        seen = np.append(compared[: len(SEEN)], compared[_TURN])
        said, held = self.pieces(s.text), self.pieces(f.text)
        return float(np.mean([net.log_odds(said, held, s.vector, f.vector, seen) for net in nets]))

    def took_its_place(self, later: Fact, earlier: Fact, vectors: Mapping[str, NDArray[Any]]) -> bool:
        """Whether the words of the later fact may tell that the earlier one is over; False without their vectors."""
        if self.pieces is None or not self.news.attending or later.text not in vectors or earlier.text not in vectors:
            return False
        s = Sentence(
            text=later.text, norm="", language="", cues=np.zeros(0, np.float32), vector=vectors[later.text],
            turn=_TOLD_AS_NEWS,
        )  # fmt: skip
        f = Held(text=earlier.text, object=earlier.object, relation=earlier.relation, vector=vectors[earlier.text])
        return self.odds(s, f, self.news.compare(s, f)) >= log_odds(_INSTEAD)

    def may_end(self, odds: float, compared: NDArray[np.float64]) -> bool:
        """Whether it is likely enough that the fact is over; the softmax of `News.meant` only says which of the facts
        known is nearest. A value that is named in full needs less."""
        which = "pair_named" if compared[_NAMED] >= 1 else "pair"
        return bool(odds >= log_odds(self.news.thresholds[which]))

    def is_sure(self, odds: float) -> bool:
        """Whether it is so likely that no guard of the rules is asked."""
        return bool(odds >= log_odds(self.news.thresholds["sure"]))


__all__ = ["Judge"]
