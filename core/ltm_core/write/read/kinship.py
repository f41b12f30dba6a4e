"""Which of the speaker's own people and animals loose words mean: "she" of an earlier turn, "my daughter" where one
daughter is known by her name, "孩子" where one child is known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from ltm_core.types import Fact
from ltm_core.write.plan import Person
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.load import default_lexicon

_OWN = ("kin", "pet", "entity", "circle", "pronoun", "inherited")


def known_people(facts: Sequence[Fact], lexicon: Lexicon) -> tuple[Person, ...]:
    """The relatives and animals whom the facts tell of, with their names where these are known."""
    kin, pets = _kinds()
    found: dict[Person, None] = {}
    for f in facts:
        base, _, rest = f.subject.partition(":")
        if f.speaker:
            continue
        if base not in kin | pets:
            if f.subject[:1].isupper() and f.subject.isascii():
                found[Person(key=f.subject, name=f.subject)] = None  # a friend or a colleague is known by his name
            continue
        if rest and not any(rest in rules.kin for rules in lexicon.languages.values()):
            found[Person(key=f.subject, name=rest)] = None
        elif f.relation == "name" and f.is_positive:
            found[Person(key=f.subject, name=f.object)] = None
        else:
            found[Person(key=f.subject)] = None
    return tuple(found)


def known_as(key: str, people: Sequence[Person], lexicon: Lexicon) -> str:
    """The key under which facts of the one meant are known, if only one can be meant; else the key as it is."""
    known = list(dict.fromkeys(p.key for p in people))
    if key in known or ":" in key or not known:
        return key
    named = [k for k in known if k.partition(":")[0] == key]
    if not named:
        narrower = lexicon.narrower.get(key, frozenset())
        wider = {w for w, some in lexicon.narrower.items() if key in some}
        named = [k for k in known if k.partition(":")[0] in narrower]
        # "my son" is the child known so far, unless a son or daughter is known beside it.
        if not named and not any(k.partition(":")[0] in lexicon.narrower.get(w, ()) for w in wider for k in known):
            named = [k for k in known if k.partition(":")[0] in wider]
    return named[0] if len(named) == 1 else key


def spoken_of_before(word: str, told: Iterable[tuple[str, str, str]], lexicon: Lexicon) -> tuple[str, str]:
    """Whom a pronoun means, with the words that named him or her; empty when nobody fits. ``told``: of whom the
    clauses before tell, the last first, as (kind of subject, key, words); a stranger in between hides the others."""
    for kind, key, words in told:
        if kind == "stranger":
            break
        if kind in _OWN and key and _may_be_called(word, key, lexicon):
            return key, words
    return "", ""


def _may_be_called(word: str, key: str, lexicon: Lexicon) -> bool:
    base = key.split("/")[-1].partition(":")[0]
    sets = lexicon.sets
    if word in sets["of_several"]:
        return base in sets["several"]
    if base in _kinds()[1]:
        return True
    if base in sets["several"] or word in sets["of_things"]:
        return False
    return base not in (sets["male"] if word in sets["of_her"] else sets["female"])


@cache
def _kinds() -> tuple[frozenset[str], frozenset[str]]:
    rules = default_lexicon().languages.values()
    kin = frozenset(k.partition(":")[0] for r in rules for k in r.kin.values())
    return kin, frozenset(k for r in rules for k in r.pets.values())
