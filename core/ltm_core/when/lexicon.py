"""The word lists and patterns of each language, read from ``ltm_core/lexicon/time`` on first use."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

Value = int | str
_FOLDER = Path(__file__).resolve().parent.parent / "lexicon" / "time"
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_NAMED = re.compile(r"\(\?P<([a-z]+)(\d*)>")


@dataclass(slots=True)
class Rule:
    """One pattern and the name of the reading it gets; compiled the first time a text calls for it."""

    kind: str
    source: str
    cues: frozenset[str]
    also: frozenset[str]
    fix: Mapping[str, Value]
    weak: bool
    capital: bool
    _compiled: re.Pattern[str] | None = field(default=None, repr=False)
    _groups: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False)

    @property
    def pattern(self) -> re.Pattern[str]:
        if self._compiled is None:
            self._compiled = re.compile(self.source)
        return self._compiled

    def text(self, match: re.Match[str], name: str) -> str | None:
        """The text of the group ``name``, or of ``name1``, ``name2`` … if the pattern has several."""
        names = self._groups.get(name)
        if names is None:
            names = tuple(n for n in self.pattern.groupindex if n.rstrip("0123456789") == name)
            self._groups[name] = names
        return next((found for n in names if (found := match[n])), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """One language: tables of words, rules, how atoms join, and what betrays a tense."""

    language: str
    words: Mapping[str, Mapping[str, Value]]
    rules: tuple[Rule, ...]
    cued: Mapping[str, tuple[int, ...]]
    """Per cue the places of the rules that it calls for."""
    joins: Mapping[str, re.Pattern[str]]
    past: re.Pattern[str]
    future: re.Pattern[str]
    ahead: re.Pattern[str]
    """A future so near to the time, the white square, that it outweighs any past."""
    distinct: re.Pattern[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """What all languages share: the fold to one script, the parts of the day, and the holidays."""

    fold: Mapping[int, str]
    dayparts: Mapping[str, tuple[int, int, str]]
    holidays: Mapping[str, str]
    lunar: Mapping[str, tuple[str, ...]]
    lunar_since: int


def _read(name: str) -> dict[str, Any]:
    import tomllib  # here, so that importing the package costs nothing

    return tomllib.loads((_FOLDER / f"{name}.toml").read_text("utf-8"))


@cache
def common() -> Common:
    data = _read("common")
    fold = {c: chr(c + 32) for c in range(ord("A"), ord("Z") + 1)}
    for code in range(0xFF01, 0xFF5F):
        plain = chr(code - 0xFEE0)
        fold[code] = plain.lower()
    for pair in data["fold"]["pairs"].split():
        fold[ord(pair[0])] = pair[1]
    for code in data["fold"]["spaces"]:
        fold[code] = " "
    lunar = data["lunar"]
    return Common(
        fold=fold,
        dayparts={k: (v[0], v[1], v[2]) for k, v in data["daypart"].items()},
        holidays=data["holiday"],
        lunar={k: tuple(v.split()) for k, v in lunar["dates"].items()},
        lunar_since=lunar["since"],
    )


def fold(text: str) -> str:
    """The text in lower case, half width and simplified characters, each character still at its place."""
    return text.translate(common().fold)


def _expand(source: str, macros: Mapping[str, str], space: str) -> str:
    while found := _PLACEHOLDER.search(source):
        source = source[: found.start()] + macros[found[1]] + source[found.end() :]
    source = source.replace(" ?", "\0").replace(" ", space).replace("\0", r"\s{0,3}")
    seen: dict[str, int] = {}

    def unique(found: re.Match[str]) -> str:
        seen[found[1]] = seen.get(found[1], 0) + 1
        return f"(?P<{found[1]}{seen[found[1]]}>"

    return _NAMED.sub(unique, source)


def _cues(spec: str, words: Mapping[str, Mapping[str, Value]], spaced: bool) -> frozenset[str]:
    found: set[str] = set()
    for part in spec.split():
        entries = list(words[part[1:]]) if part.startswith("@") else [part]
        for entry in entries:
            found.update(re.findall("[a-z]+|#", entry) if spaced else entry.replace(" ", ""))
    return frozenset(found)


def _by_cue(rules: Sequence[Rule]) -> dict[str, tuple[int, ...]]:
    places: dict[str, list[int]] = {}
    for place, rule in enumerate(rules):
        for cue in rule.cues:
            places.setdefault(cue, []).append(place)
    return {cue: tuple(found) for cue, found in places.items()}


@cache
def lexicon(language: str) -> Lexicon:
    """The lexicon of ``zh``, ``en`` or ``ja``."""
    data = _read(language)
    words = {table: {fold(str(k)): v for k, v in entries.items()} for table, entries in data["words"].items()}
    space, spaced = data["space"], bool(data["spaced"])
    macros = {
        table: "(?:" + "|".join(re.escape(w) for w in sorted(entries, key=len, reverse=True)) + ")"
        for table, entries in words.items()
    }
    # re.escape guards each space with a backslash, which would hide it from the space rule below.
    macros = {table: alternatives.replace("\\ ", " ") for table, alternatives in macros.items()}
    macros |= {name: fold_pattern(source) for name, source in data["macro"].items()}
    rules = tuple(
        Rule(
            kind=entry["kind"],
            source=data["before"]
            + "(?:"
            + _expand(fold_pattern(entry["pattern"]), macros, space)
            + ")"
            + data["after"],
            cues=_cues(fold(entry["cue"]), words, spaced),
            also=_cues(fold(entry.get("also", "")), words, spaced),
            fix=entry.get("fix", {}),
            weak=entry.get("weak", False),
            capital=entry.get("capital", False),
        )
        for entry in data["rule"]
    )
    return Lexicon(
        language=language,
        words=words,
        rules=rules,
        cued=_by_cue(rules),
        joins={name: re.compile(_expand(fold_pattern(p), macros, space)) for name, p in data["join"].items()},
        past=re.compile(_expand(fold_pattern(data["tense"]["past"]), macros, space)),
        future=re.compile(_expand(fold_pattern(data["tense"]["future"]), macros, space)),
        ahead=re.compile(_expand(fold_pattern(data["tense"].get("ahead", "(?!)")), macros, space)),
        distinct=re.compile(fold_pattern(data.get("distinct", "(?!)"))),
    )


def fold_pattern(source: str) -> str:
    """A pattern folded like the text it will meet, its line breaks dropped and its ``(?P<`` kept."""
    return "".join(c if c.isascii() else fold(c) for c in source.replace("\n", ""))
