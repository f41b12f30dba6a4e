"""What the learned model of `ltm_core.write.anchors.agreement` is told of a short English reply to a proposal.

"It's charging!", "Lite it is", "two nights running she's settled by seven": no word in them says that they confirm
anything; what they say beside the problem and the proposal does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ltm_core.write.known.news import CUES as SENTENCE_CUES
from ltm_core.write.known.news import Sentence, cue_array, said_words
from ltm_core.write.read.scopes import Read
from ltm_core.write.read.units import mean_vector
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import normal

_SAID = ("glad", "bad", "takes", "later", "thanks", "first", "denies", "now", "leaves", "own_day")
"""Ways of replying that the lexicon knows (``reply_*``)."""
COMPARED = (
    *_SAID, "of_problem", "of_proposal", "much_of_proposal", "number_of_proposal", "exclaims", "few_words",
    "many_words", "asks", "only_glad", "glad_of_problem", "bad_of_problem", "of_neither",
)  # fmt: skip
"""What a reply is told by besides its words and their cues; the order is part of the weights' format."""
CUES = (*SENTENCE_CUES, *COMPARED)
LONGEST = 200
"""Characters of a reply that the model reads: a longer message says in words what it is about."""
_FEW, _MANY = 5, 16
_MUCH = 2
_NUMBER = re.compile(r"\d+")


def reply_of(
    content: str,
    reads: Sequence[Read],
    vectors: Sequence[NDArray[Any]] | None,
    lexicon: Lexicon,
    *,
    problem: str,
    proposal: str,
) -> Sentence:
    """What the model sees of a reply to ``proposal``, which answered ``problem``."""
    text = normal(content).strip()
    function = lexicon.gate.function
    mine, asked, offered = (said_words(t, function) for t in (text, problem, proposal))
    shared = mine & offered
    count = len(text.split())
    parts = lexicon.rules("en").parts
    says = {n: parts[f"reply_{n}"].search(text) is not None for n in _SAID}
    glad, bad = says["glad"], says["bad"]
    told = {
        "of_problem": bool(mine & asked),
        "of_proposal": bool(shared),
        "much_of_proposal": len(shared) >= _MUCH or bool(mine and mine <= offered),
        "number_of_proposal": bool(set(_NUMBER.findall(text)) & set(_NUMBER.findall(proposal))),
        "exclaims": "!" in text,
        **says,
        "few_words": count <= _FEW,
        "many_words": count >= _MANY,
        "asks": "?" in text,
        "only_glad": glad and not bad and not says["later"],
        "glad_of_problem": glad and bool(mine & asked),
        "bad_of_problem": bad and bool(mine & asked),
        "of_neither": not mine & (asked | offered),
    }
    cues = np.concatenate(
        [cue_array((r.flags for r in reads), ()), np.array([told[n] for n in COMPARED], dtype=np.float32)]
    )
    vector = mean_vector(list(vectors)) if vectors is not None else None
    return Sentence(text=text, norm=text, language="en", cues=cues, vector=vector)
