"""What speaks for and against a sentence ending a known fact, as numbers: what the nets find, what the two have in
common, what the rules noticed of the sentence, what they would spare the fact for, and what else is known. Pure.

No single one decides: a remark on a mat, a former school and a new address all share a word with what is known.
`ltm_core.write.learned.weighing` has learned what they are worth together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ltm_core.types import Fact
from ltm_core.write.endings.ended import is_of_another
from ltm_core.write.endings.telling_of import (
    does_another,
    moves_another,
    moves_house,
    only_tells_of,
    tells_of_facet,
    tells_of_part,
)
from ltm_core.write.endings.touching import only_touches
from ltm_core.write.known.broad import names_sibling
from ltm_core.write.known.news import CUES, MATCH, words
from ltm_core.write.known.rows import is_late
from ltm_core.write.known.sorts import are_exclusive
from ltm_core.write.plan import Candidate
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold

SCOPES = ("not_for_good", "silent", "others", "of_others", "vetoed", "as_before", "passing")
"""What the rules of news noticed of a sentence; each alone keeps them from ending anything."""
SPARED = (
    moves_another, moves_house, only_tells_of, tells_of_part, tells_of_facet, does_another,
)  # fmt: skip
"""What the rules would spare a fact for."""
RELATIONS = (
    "about", "attribute", "single", "is_a", "likes", "dislikes", "uses", "has", "has_pet", "lives_in", "home",
    "works_at", "work", "occupation", "role", "drinks", "eats", "drives", "plays", "hobby", "habit", "does",
    "schedule", "medication", "health", "allergy", "learns", "studies_at", "status", "order", "identifier", "name",
    "called", "size", "weight", "age", "birthday", "hometown", "family", "partner", "pets", "device", "address",
    "reply_style",
)  # fmt: skip
"""Relations that end in ways of their own; all others count as one."""
_SPARING = (
    *(f.__name__ for f in SPARED), "is_of_another", "only_touches", "names_sibling", "is_late", "another_number",
    "exclusive",
)  # fmt: skip
_COMMON = (
    "said", "told", "value", "shared", "shared_value", "shared_lead", "share_of_said", "share_of_told",
    "value_in_text", "numbers_differ", "numbers_told",
)  # fmt: skip
_KNOWN = (
    "positive", "same_subject", "newest", "age", "known", "beside", "same_session", "keeps", "corrects", "says_new",
    "new_relation", "new_family", "else_ended", "share", "lead", "best",
)  # fmt: skip
_TOGETHER = ("odds_words", "odds_cosine", "turn_words", "turn_cosine")
TRAITS = (
    "odds", *MATCH, *_SPARING, *_COMMON, *_KNOWN, *_TOGETHER, *SCOPES, *CUES, *(f"rel_{r}" for r in RELATIONS),
)  # fmt: skip
"""The names of the numbers; their order is part of the weights' format."""
_MOST_WORDS = 12
"""Words beyond which it makes no difference how many there are."""
Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Around:
    """What else is known and was told while a sentence is weighed."""

    facts: Sequence[Fact]
    """The facts that it may end, oldest first."""
    told: Sequence[Fact]
    """What the rules kept of the sentence."""
    ended: bool
    """Whether they found something that its message ends."""
    session_id: str | None


def traits(
    c: Candidate,
    fact: Fact,
    *,
    odds: float,
    lead: float,
    share: float,
    compared: NDArray[np.float64],
    around: Around,
    function: frozenset[str],
    lexicon: Lexicon,
) -> Array:
    """The numbers of `TRAITS`, shape ``(len(TRAITS),)``.

    ``odds``: of the nets that look at nothing but the two texts; ``lead``: by how much they are ahead of those of any
    other fact; ``share``: how likely this one is meant of all; ``compared``: in the order of `MATCH`.
    """
    row = [odds, *compared.tolist()]
    row += [tells(fact, c, lexicon) for tells in SPARED]
    row += [
        is_of_another(c, fact, lexicon), only_touches(fact, c.text, lexicon), names_sibling(c.text, fact.object),
        is_late(c, fact), _another_number(c.text, fact.text), are_exclusive(c.text, fact.text),
    ]  # fmt: skip
    row += _in_common(c, fact, function)
    row += [*_of_known(c, fact, around, lexicon), share, lead, lead >= 0]
    turn, cosine, shared = (float(compared[MATCH.index(name)]) for name in ("turn", "cosine", "words"))
    row += [odds * shared, odds * cosine, turn * shared, turn * cosine]
    row += [name in c.cues for name in (*SCOPES, *CUES)]
    base = fact.relation.partition(":")[0]
    row += [base == r for r in RELATIONS]
    return np.array(row, dtype=np.float32)


def _in_common(c: Candidate, fact: Fact, function: frozenset[str]) -> list[float]:
    said, told, value = (words(t, function) for t in (c.text, fact.text, fact.object))
    lead = told - value
    mine, theirs = (set(_digits(t)) for t in (c.text, fact.text))
    return [
        *(min(len(w), _MOST_WORDS) for w in (said, told, value, said & told, said & value, said & lead)),
        len(said & told) / max(1, len(said)),
        len(said & told) / max(1, len(told)),
        fold(fact.object) in fold(c.text),
        bool(mine and theirs and mine.isdisjoint(theirs)),
        bool(theirs),
    ]


def _of_known(c: Candidate, fact: Fact, around: Around, lexicon: Lexicon) -> list[float]:
    places = {f.id: i for i, f in enumerate(reversed(around.facts))}
    sources = set(fact.source_message_ids)
    family = lexicon.relation(fact.relation).family
    positive = [f for f in around.told if f.is_positive]
    return [
        fact.is_positive,
        fold(fact.subject) == fold(c.subject),
        places[fact.id] == 0,
        math.log1p(places[fact.id]),
        math.log1p(len(places)),
        sum(1 for f in around.facts if f.id != fact.id and sources & set(f.source_message_ids)),
        fact.session_id == around.session_id,
        c.is_positive,
        c.move == "correct",
        bool(positive),
        any(f.relation == fact.relation for f in positive),
        bool(family) and any(lexicon.relation(f.relation).family == family for f in positive),
        around.ended,
    ]


def _another_number(one: str, other: str) -> bool:
    """Whether both name something by a long number, and not the same."""
    mine, theirs = ({d for d in _digits(t) if len(d) > _SHORT_NUMBER} for t in (one, other))
    return bool(mine and theirs and mine.isdisjoint(theirs))


_SHORT_NUMBER = 3
"""Digits of a number that is no name."""


def _digits(text: str) -> list[str]:
    found, run = [], ""
    for ch in f"{text} ":
        if ch.isdigit():
            run += ch
        elif run:
            found.append(run)
            run = ""
    return found


__all__ = ["RELATIONS", "SCOPES", "TRAITS", "Around", "traits"]
