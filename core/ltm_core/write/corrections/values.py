"""One value of a statement in the place of another of its kind: a date for a date, a name for a like one. Pure."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from ltm_core.write.words.lexicon import Rules

KINDS = (
    "kind_ordinal",
    "kind_height",
    "kind_date",
    "kind_weekday",
    "kind_time",
    "kind_money",
    "kind_numbered",
    "kind_number",
    "kind_month",
    "kind_code",
)
"""What a value can be, by the parts of the rules that know it; the first that reads the whole value counts."""
_NAME = re.compile(r"\b[A-Z][\w'’-]+")
_ALIKE = 0.6
"""Share of letters from which one name is the misspelt other."""
_LONGEST_NAME = 3
"""Words of an object that is nothing but a name."""


def is_typed(value: str, rules: Rules) -> bool:
    """Whether the value is a date, a time, a number, or a name."""
    return bool(_kind(value, rules)) or is_name(value)


def is_bare_name(value: str, rules: Rules) -> bool:
    """Whether the value is a name and nothing that is told by its form."""
    return not _kind(value, rules) and is_name(value)


def put(held: str, value: str, rules: Rules) -> str:
    """``held`` with ``value`` in the place of its one value of that kind; "" when it has none, or several, or the
    same."""
    kind = _kind(value, rules)
    if kind:
        found = list(rules.parts[kind].finditer(held))
        if kind == "kind_numbered":
            found = [m for m in found if m["noun"].casefold() == value.split()[0].casefold()]
        if kind == "kind_ordinal":
            found = [m for m in found if m["noun"].casefold() == value.split()[-1].casefold()]
        if len(found) != 1 or found[0].group().casefold() == value.casefold():
            return ""
        return held[: found[0].start()] + value + held[found[0].end() :]
    if not is_name(value):
        return ""
    alike = [m for m in _NAME.finditer(held) if _are_alike(m.group(), value)]
    if len(alike) == 1:
        return held[: alike[0].start()] + value + held[alike[0].end() :]
    placed = rules.parts["placed_name"].search(held) if "placed_name" in rules.parts else None
    if placed is not None and len(list(_NAME.finditer(held))) == len(placed["name"].split()):
        return "" if placed["name"].casefold() == value.casefold() else held[: placed.start("name")] + value
    words = held.split()
    alone = len(words) <= _LONGEST_NAME and all(is_name(w) for w in words)
    return value if alone and held.casefold() != value.casefold() else ""


def _kind(value: str, rules: Rules) -> str:
    return next((k for k in KINDS if k in rules.parts and rules.parts[k].fullmatch(value)), "")


def is_name(value: str) -> bool:
    """Whether every word of the value begins with a capital."""
    return bool(value) and all(w[:1].isupper() for w in value.split())


def _are_alike(one: str, two: str) -> bool:
    one, two = one.casefold(), two.casefold()
    return one != two and SequenceMatcher(None, one, two).ratio() >= _ALIKE
