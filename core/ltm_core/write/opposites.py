"""Pairs of states of which one is over when the other is told, whatever the words have in common: "I have a boyfriend
now" and "I'm single". Data: ``opposites`` of the lexicon. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ltm_core.types import Fact
from ltm_core.write.lexicon import Lexicon


def tells_opposite(text: str, lexicon: Lexicon) -> tuple[re.Pattern[str], ...]:
    """What of the same subject cannot be true any more when the words are ("I have a boyfriend now": "single")."""
    found = (lexicon.opposites[i] for i in lexicon.opposite_index.possible(text))
    return tuple(was for now, was in found if now.search(text) is not None)


def opposed(fact: Fact, gone: Sequence[re.Pattern[str]]) -> bool:
    """Whether the fact is of what cannot be true any more."""
    return any(was.search(f"{fact.text}\n{fact.object}") is not None for was in gone)
