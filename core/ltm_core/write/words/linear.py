"""Regular expressions from a configuration, in the part of the language that matches in linear time.

The engine of the standard library backtracks: it tries every way in which repeats can share the text between
them. A pattern is accepted when those ways are few at every place of the text, so that the time to search is
proportional to the length of the text, whatever the text. What could take longer is refused, not tried.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ltm_core.errors import ConfigError

MOST_REPEATS = 64
"""``*`` and ``+`` stand for at most this many: no identifier is longer."""
MOST_WAYS = 8192
"""Most ways to match at one place: two open repeats (64 x 64) with one optional part."""
MOST_CHARACTERS = 500
_QUANTIFIER = re.compile(r"([*+?]|\{(\d{1,4})?(,)?(\d{1,4})?\})([?+])?")
_GROUP = re.compile(r"\((?:\?:|\?P<[A-Za-z_]\w{0,31}>|\?i:|\?-i:|(?!\?))")
_FLAGS = re.compile(r"\(\?i\)")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.S)


@dataclass(slots=True)
class _Scan:
    pattern: str
    where: str
    at: int = 0

    def refuse(self, why: str) -> ConfigError:
        return ConfigError(f"{self.where}, character {self.at}: {why}")


def compile_linear(pattern: str, *, name: str) -> re.Pattern[str]:
    """The compiled pattern, every repeat bounded; ConfigError, which names the place, for one that could take
    more than linear time, that looks around or back, or that is no expression."""
    if len(pattern) > MOST_CHARACTERS:
        raise ConfigError(f"{name} has {len(pattern)} characters, at most {MOST_CHARACTERS}")
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as e:
        raise ConfigError(f"{name} is not a regular expression: {e}") from e
    scan = _Scan(pattern, name)
    bounded, ways = _alternatives(scan)
    if scan.at < len(pattern):
        raise scan.refuse("a bracket is closed that was not opened")
    if ways > MOST_WAYS:
        raise scan.refuse(f"{ways} ways to match at one place, at most {MOST_WAYS}: bound the repeats, as in {{1,8}}")
    compiled = re.compile(bounded)
    if compiled.search("") is not None:
        raise ConfigError(f"{name} matches the empty text")
    return compiled


def _alternatives(scan: _Scan) -> tuple[str, int]:
    """Up to the end or the closing bracket: the text with bounded repeats, and the ways to match it."""
    written: list[str] = []
    total, ways = 0, 1
    while scan.at < len(scan.pattern) and scan.pattern[scan.at] != ")":
        if scan.pattern[scan.at] == "|":
            scan.at += 1
            written.append("|")
            total, ways = total + ways, 1
            continue
        part, inner = _atom(scan)
        repeat, times = _repeat(scan, inner)
        written.append(part + repeat)
        # Capped: a tower of powers must not be computed to be refused.
        ways = min(ways * times, MOST_WAYS + 1)
    return "".join(written), min(total + ways, MOST_WAYS + 1)


def _atom(scan: _Scan) -> tuple[str, int]:
    start = scan.at
    text = scan.pattern
    if text[start] == "(":
        flags = _FLAGS.match(text, start)
        if flags:
            scan.at = flags.end()
            return flags.group(), 1
        group = _GROUP.match(text, start)
        if group is None:
            raise scan.refuse("looking around and conditions are not allowed; groups are (…), (?:…), (?P<name>…)")
        scan.at = group.end()
        inner, ways = _alternatives(scan)
        if scan.at >= len(text):
            raise scan.refuse("a bracket is open")
        scan.at += 1
        return f"{group.group()}{inner})", ways
    if text[start] == "[":
        found = _CLASS.match(text, start)
        if found is None:
            raise scan.refuse("a character class is open")
        scan.at = found.end()
        return found.group(), 1
    if text[start] == "\\":
        if text[start + 1 : start + 2] in "123456789":
            raise scan.refuse("references back are not allowed")
        scan.at += 2
        return text[start : start + 2], 1
    scan.at += 1
    return text[start], 1


def _repeat(scan: _Scan, inner: int) -> tuple[str, int]:
    """The quantifier that follows, bounded, and the ways to match what it repeats."""
    found = _QUANTIFIER.match(scan.pattern, scan.at)
    # "{}" stands for itself; "{,}" is another way to write "*".
    if found is None or found.group(1) == "{}":
        return "", inner
    sign, lower, comma, upper, mode = found.groups()
    low, high = {"*": (0, MOST_REPEATS), "+": (1, MOST_REPEATS), "?": (0, 1)}.get(sign, (0, 0))
    if sign.startswith("{"):
        low = int(lower or 0)
        high = int(upper) if upper else max(low, MOST_REPEATS) if comma else low
    if high > MOST_REPEATS:
        raise scan.refuse(f"a repeat of {high}, at most {MOST_REPEATS}")
    scan.at = found.end()
    ways = 0
    for n in range(low, high + 1):
        ways += min(inner ** min(n, 64), MOST_WAYS + 1) if inner > 1 else 1
        if ways > MOST_WAYS:
            break
    return f"{{{low},{high}}}{mode or ''}", max(ways, 1)
