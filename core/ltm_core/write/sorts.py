"""Things of one sort by their names: two banks, two medicines for the same thing, two days of the week. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from ltm_core.write.lexicon import default_lexicon

_WORD = re.compile(r"[a-z0-9][\w+#&.'-]*", re.I)
_KINDS = ("kind_weekday", "kind_time", "kind_money", "kind_dose")
"""Values that are of one sort whatever they are of, by the parts of the rules that know them."""
_LONGEST = 3
"""Words of a name."""


def are_rivals(one: str, two: str) -> bool:
    """Whether two English texts name different things of one sort."""
    mine, theirs = _named(one), _named(two)
    return any(theirs[sort] - mine[sort] and mine[sort] - theirs[sort] for sort in mine.keys() & theirs.keys())


@lru_cache(maxsize=4096)
def _named(text: str) -> Mapping[str, frozenset[str]]:
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
