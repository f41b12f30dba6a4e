"""The words a rule caught, read through the tables of its language."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .lexicon import Lexicon, Rule, Value, common
from .numbers import count, integer
from .readings import Clock, Moment

# The group of a pattern, and the table its words are looked up in when the names differ.
_TABLES = {
    "wd": "weekday",
    "m": "month",
    "dp": "daypart",
    "hol": "holiday",
    "mrel": "rel",
    "wrel": "rel",
    "yrel": "year_rel",
    "n": "number",
    "yn": "number",
    "d": "ordinal",
    "q": "ordinal",
    "nth": "ordinal",
    "dec": "tens",
    "hh": "number",
    "mm": "number",
    "wn": "number",
}


@dataclass(frozen=True, slots=True)
class Groups:
    """Typed access to one match."""

    rule: Rule
    lexicon: Lexicon
    match: re.Match[str]

    def raw(self, name: str) -> str | None:
        return self.rule.text(self.match, name)

    def value(self, name: str) -> Value | None:
        """What the table says of the group's word; the rule's constant when the group is absent."""
        text = self.raw(name)
        if text is None:
            return self.rule.fix.get(name)
        table = self.lexicon.words.get(_TABLES.get(name, name), {})
        return table.get(" ".join(text.split()))

    def word(self, name: str) -> str | None:
        value = self.value(name)
        return None if value is None else str(value)

    def offset(self, name: str) -> int | None:
        value = self.value(name)
        return value if isinstance(value, int) else None

    def number(self, name: str) -> int | None:
        """The group as a whole number, in words of its table or in digits of any kind."""
        text = self.raw(name)
        if text is None:
            value = self.rule.fix.get(name)
            return value if isinstance(value, int) else None
        named = {**self.lexicon.words.get(_TABLES.get(name, name), {})}
        return integer(text, named)

    def count(self, name: str) -> tuple[float, float] | None:
        text = self.raw(name)
        if text is None:
            value = self.rule.fix.get(name)
            return (float(value), float(value)) if isinstance(value, int) else None
        return count(text, dict(self.lexicon.words["number"]))

    def year(self, at: Moment) -> int | None:
        """The year the words name, by number or relative to the moment's own."""
        if self.raw("y") is not None:
            year = self.number("y")
            if year is None:
                return None
            if len(self.raw("y") or "") <= 2:
                return 2000 + year if year <= at.today.year % 100 + 10 else 1900 + year
            return year
        if self.raw("yn") is not None:
            years = self.number("yn")
            return None if years is None else at.today.year - years
        offset = self.offset("yrel")
        return None if offset is None else at.today.year + offset

    @property
    def names_year(self) -> bool:
        return any(self.raw(n) is not None for n in ("y", "yn", "yrel")) or "yrel" in self.rule.fix

    @property
    def year_is_relative(self) -> bool:
        return self.names_year and self.raw("y") is None

    def daypart(self) -> Clock | None:
        """The part of the day in the words, if there is one."""
        name = self.word("dp")
        if name is None:
            return None
        low, high, half = common().dayparts[name]
        if half == "am":
            return Clock(low=low, high=high, half="am")
        return Clock(low=low, high=high, half="night" if half == "night" else "pm")
