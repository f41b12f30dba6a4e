"""Things of one sort by their names: two banks, two medicines for the same thing, two days of the week. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from ltm_core.write.words.load import default_lexicon

_WORD = re.compile(r"[a-z0-9][\w+#&.'-]*", re.I)
_HAN = re.compile("[\u2e80-\uffff]+")
_KINDS = ("kind_weekday", "kind_time", "kind_money", "kind_dose")
"""Values that are of one sort whatever they are of, by the parts of the rules that know them."""
_LONGEST = 3
"""Words of a name."""


def are_rivals(one: str, two: str) -> bool:
    """Whether two English texts name different things of one sort."""
    mine, theirs = named_things(one), named_things(two)
    return any(theirs[sort] - mine[sort] and mine[sort] - theirs[sort] for sort in mine.keys() & theirs.keys())


def are_exclusive(one: str, two: str) -> bool:
    """Whether two texts of either language name different things of a sort of which one is enough ("HSBC",
    "Monzo")."""
    mine, theirs = _exclusive(one), _exclusive(two)
    return any(not theirs[sort] & mine[sort] for sort in mine.keys() & theirs.keys())


@lru_cache(maxsize=4096)
def _exclusive(text: str) -> Mapping[str, frozenset[str]]:
    lexicon = default_lexicon()
    # "用Venmo给": what stands between Chinese characters is a word of its own.
    found = {sort: set(names) for sort, names in named_things(_HAN.sub(" ", text)).items()}
    low = text.lower()
    for sort in lexicon.sets["exclusive_sorts"]:
        han = [m for m in lexicon.classes.get(sort, ()) if not m.isascii() and len(m) > 1 and m in low]
        # "中国移动" names no other carrier than "移动".
        found.setdefault(sort, set()).update(m for m in han if not any(m != o and m in o for o in han))
    return {s: frozenset(n) for s, n in found.items() if n and s in lexicon.sets["exclusive_sorts"]}


@lru_cache(maxsize=4096)
def named_things(text: str) -> Mapping[str, frozenset[str]]:
    """The things that the text names, by their sort."""
    members = default_lexicon().members
    words = [w.lower().removesuffix("'s").rstrip(".'") for w in _WORD.findall(text.replace("’", "'"))]
    found: dict[str, set[str]] = {}
    for n in range(1, _LONGEST + 1):
        for i in range(len(words) - n + 1):
            name = " ".join(words[i : i + n])
            for sort in members.get(name, ()):
                found.setdefault(sort, set()).add(name)
    parts = default_lexicon().rules("en").parts
    for kind in _KINDS:
        for m in parts[kind].finditer(text):
            found.setdefault(kind, set()).add(m.group().lower().removesuffix("s"))
    return {sort: frozenset(names) for sort, names in found.items()}
