"""How much of a turn only asks. A question that was asked earlier resembles a question more than any answer does."""

from __future__ import annotations

import re

from ltm_core.text.sentences import sentences

_CLAUSE = re.compile(r"[,，、;；:：—]")
_CLOSING = " \t\n)）]】\"”'’*_"


def asking_share(text: str) -> float:
    """Share of the characters that stand in a question, in [0, 1].

    Of a sentence only its last clause counts: "I bought a kayak, where do I keep it?" tells before it asks.
    """
    if "?" not in text and "？" not in text:
        return 0.0
    asking = total = 0
    for span in sentences(text[:4000]):
        sentence = span.of(text).rstrip(_CLOSING)
        total += len(sentence)
        if sentence.endswith(("?", "？")):
            asking += len(_CLAUSE.split(sentence)[-1])
    return asking / total if total else 0.0


__all__ = ["asking_share"]
