"""Whether a sentence is about a matter that is known to be open: what both call it, whose it is, and of which sort
("the cellar claim" of "my insurance claim for the flooded cellar"). Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations

from ltm_core.types import Fact
from ltm_core.write.known.mentions import content, stem
from ltm_core.write.plan import Candidate
from ltm_core.write.words.expressions import Expression
from ltm_core.write.words.lexicon import Lexicon, Rules
from ltm_core.write.words.norm import normal, script

_WORD = re.compile(r"\w+")
LEAST = 2
"""Characters of the name that two sentences about one matter share."""


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
    sources = [frozenset(m["name"] for m in rules.parts["stage_from"].finditer(t)) for t in (said, held)]
    if all(sources) and not sources[0] & sources[1]:
        return True  # "the parcel from" one shop and another
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


def held_of(f: Fact, lexicon: Lexicon) -> str:
    """The words of a stage, with what its matter is called ("包裹" of a parcel known by number)."""
    sort, _, name = f.subject.partition(":")
    return "|".join((normal(f.text), lexicon.identifier_words.get(sort, ""), name if sort == "item" else ""))


def is_other_matter_zh(c: Candidate, f: Fact, lexicon: Lexicon) -> bool:
    """Whether the sentence tells of one of the speaker's people of whom the stage says nothing, or of another
    matter of the sort."""
    rules = lexicon.rules("zh")
    text, held = normal(c.things[0]), normal(f.text)
    if rules.parts["stage_another"].search(text) is not None:
        return True
    theirs, mine = rules.parts["stage_whose"].search(held), rules.parts["stage_mine"]
    for m in rules.parts["stage_whose"].finditer(text):
        owned = theirs is not None or mine.search(held) is not None
        if owned and m["kin"] not in held and rules.kin.get(m["kin"]) != f.subject.partition(":")[0]:
            return True
    return theirs is not None and mine.search(text) is not None


def shared_name(said: str, held: str, rules: Rules) -> int:
    """Length of the longest name that both hold; 0 when they share none."""
    noise = rules.parts["stage_noise"]
    one, two = names_of(said, noise), names_of(held, noise)
    longest = 0
    for a in one:
        for b in two:
            longest = max(longest, _common(a, b))
    small = rules.parts["stage_small"]
    if longest < LEAST and set(small.findall(said)) & set(small.findall(held)):
        return LEAST
    return longest


def names_of(text: str, noise: Expression) -> tuple[str, ...]:
    """The stretches of a sentence that may name something, without the words of stages, times and agents."""
    return tuple(w for w in noise.sub("|", text).split("|") if len(w) >= LEAST)


def _common(a: str, b: str) -> int:
    best = 0
    for at in range(len(a)):
        size = best + 1
        while at + size <= len(a) and a[at : at + size] in b:
            best = size
            size += 1
    return best


def are_one(held: Sequence[str], lexicon: Lexicon) -> bool:
    """Whether several stages are of one matter: of any two, one names nothing that the other does not."""
    return all(_is_within(a, b, lexicon) or _is_within(b, a, lexicon) for a, b in combinations(held, 2))


def _is_within(one: str, two: str, lexicon: Lexicon) -> bool:
    if script(one) == "en":
        return matter_words(one, lexicon) <= matter_words(two, lexicon)
    noise = lexicon.rules("zh").parts["stage_noise"]
    others = names_of(two, noise)
    return all(any(_common(n, o) >= LEAST for o in others) for n in names_of(one, noise))


def leans_on(text: str, language: str, lexicon: Lexicon) -> bool:
    """Whether a clause says how something stands and leaves open what ("it's been refused", "在等通知")."""
    rules = lexicon.rules(language)
    if rules.parts["stage_matter"].search(text) is not None:
        return False
    rest = rules.parts["stage_when"].sub("|", text)
    if language != "en":
        return not names_of(rest, rules.parts["stage_noise"])
    begins = rules.parts["stage_leans"].match(text.strip())
    return begins is not None and not matter_words(rules.parts["stage_leans"].sub(" ", rest.strip()), lexicon)


def names_more(one: str, two: str, held: str, lexicon: Lexicon) -> bool:
    """Whether a wording names more of a matter than another does."""
    if script(held) == "en":
        known = matter_words(held, lexicon)
        return len(matter_words(one, lexicon) & known) > len(matter_words(two, lexicon) & known)
    rules = lexicon.rules("zh")
    return shared_name(normal(one), held, rules) > shared_name(normal(two), held, rules)


def with_name(text: str, held: str, lexicon: Lexicon) -> str:
    """A stage in words that name its matter, as it was called when the stage before was told, if they name nothing of
    it themselves ("it's on hold" of a visa)."""
    if script(text) != script(held):
        return text
    english = script(held) == "en"
    called = lexicon.rules("en" if english else "zh").parts["stage_called"].search(held)
    if called is None:
        return text
    name = called["name"].strip()
    said, known = (normal(text), normal(name))
    same = matter_words(said, lexicon) & matter_words(known, lexicon) if english else known in said
    return text if same else f"{name}{': ' if english else '：'}{text}"
