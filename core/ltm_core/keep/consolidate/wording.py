"""A few words by which a topic is found again. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import islice

from ltm_core.text.bm25 import idf
from ltm_core.text.data import characters
from ltm_core.text.terms import function_characters, terms
from ltm_core.when import find_times

MOST_WORDS = 6
"""Words of a topic: a question has as many."""
_PIECE = re.compile(r"[A-Za-z0-9](?:[\w'’.@+#/-]*\w)?|[㐀-鿿豈-﫿぀-ヿ]+|[^\W\d_]+")
_ANY_DAY = datetime(2026, 1, 5, 12, tzinfo=UTC)
_HAN = re.compile(r"[㐀-鿿豈-﫿぀-ヿ]")


def topic_of(texts: Sequence[str]) -> str:
    """The words that say most of the text that says most, as they stand there and in that order; "" without any.

    One text, because a question that mixes two is answered by neither of them alone.
    """
    per_text = [Counter(terms(t)) for t in texts]
    held: Counter[str] = Counter()
    for counts in per_text:
        held.update(counts.keys())
    total: Counter[str] = Counter()
    for counts in per_text:
        total.update(counts)
    value = {t: n / (n + 1.0) * (1.0 + idf(max(2, len(texts)), held[t])) for t, n in total.items() if len(t) > 1}
    shown: dict[str, str] = {}
    function = function_characters() | characters("stopwords/zh-only.txt")
    fullest = max(range(len(texts)), key=lambda i: (sum(value.get(t, 0.0) for t in per_text[i]), -i), default=None)
    for piece in _PIECE.findall(texts[fullest]) if fullest is not None else ():
        words = [piece[i : i + 2] for i in range(len(piece) - 1)] if _HAN.match(piece) else [piece]
        for word in (w for w in words if not function.intersection(w)):
            for term in terms(word):
                if term in value:
                    shown.setdefault(term, word)
    ranked = sorted(shown, key=lambda t: (-value[t], t))
    # A word of time would make the search look into a time: relative to when it is asked, not to when it was said.
    best = list(islice((t for t in ranked if not find_times(shown[t], now=_ANY_DAY)), MOST_WORDS))
    chosen = [w for t, w in shown.items() if t in set(best)]
    return " ".join(_joined(list(dict.fromkeys(chosen))))


def _joined(words: Sequence[str]) -> list[str]:
    """Pairs of characters that overlap are one word: 波尔, 尔图 -> 波尔图."""
    out: list[str] = []
    for word in words:
        if out and _HAN.match(word) and _HAN.match(out[-1]) and out[-1][-1] == word[0] and len(word) == 2:
            out[-1] += word[1]
        else:
            out.append(word)
    return out


__all__ = ["topic_of"]
