"""Whether an English sentence is about a matter that is known to be open: what both call it, whose it is, and of
which sort ("the cellar claim" of "my insurance claim for the flooded cellar"). Pure."""

from __future__ import annotations

import re
from functools import lru_cache

from ltm_core.types import Fact
from ltm_core.write.known.mentions import content, stem
from ltm_core.write.plan import Candidate
from ltm_core.write.words.lexicon import Lexicon, Rules
from ltm_core.write.words.norm import normal

_WORD = re.compile(r"\w+")


def matter_words(text: str, lexicon: Lexicon) -> frozenset[str]:
    """The words that may name a matter, without those of stages, times and agents."""
    noise = lexicon.rules("en").parts["stage_noise"]
    return frozenset(content(noise.sub(" ", normal(text).replace("|", " ")), lexicon))


def shares(fact: Fact, spoken: frozenset[str], lexicon: Lexicon) -> bool:
    """Whether the fact holds one of the words, in whatever form."""
    sort = lexicon.identifier_words.get(fact.subject.partition(":")[0], "")
    low = f"{fact.text} {sort}".casefold()
    return any(w in low for w in spoken)


def is_other_matter(c: Candidate, fact: Fact, lexicon: Lexicon) -> bool:
    """Whether the sentence tells of another matter of the sort, or of somebody else's."""
    rules = lexicon.rules("en")
    said, held = normal(c.things[0]), normal(fact.text)
    if rules.parts["stage_another"].search(said) is not None:
        return True
    theirs, others = _kin(said, rules), _kin(held, rules)
    if theirs and not theirs & others and rules.kin.keys().isdisjoint(fact.subject.partition(":")[:1]):
        return True
    numbers = [frozenset(rules.parts["stage_number"].findall(t)) for t in (said, f"{held} {fact.subject}")]
    if all(numbers):
        return not numbers[0] & numbers[1]
    known = frozenset(stem(w) for w in _WORD.findall(held.casefold())) | matter_words(held, lexicon)
    named = [frozenset(content(m["name"], lexicon)) for m in rules.parts["stage_matter"].finditer(said)]
    if others and not theirs and any(rules.parts["stage_mine"].search(said) for _ in named[:1]):
        return True  # "my visa" and the husband's
    return bool(named) and not any(n <= known for n in named)


@lru_cache(maxsize=64)
def _kin_words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


def _kin(text: str, rules: Rules) -> frozenset[str]:
    """Of which relatives the words speak, by what they are to the speaker."""
    return frozenset(rules.kin[w] for w in _kin_words(text) if w in rules.kin)
