"""The words of the page, a file per language."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

LANGUAGES: Mapping[str, str] = {"en": "English", "zh": "中文"}
"""By code, each in its own words."""
_TAGS: Mapping[str, str] = {"en": "en", "zh": "zh-Hans"}


class Words:
    """The page's sentences in one language. ``words("facts.title")`` is that sentence, filled in."""

    def __init__(self, code: str, table: Mapping[str, Any]) -> None:
        self.code = code
        self.tag = _TAGS[code]
        self._table = table

    def __call__(self, name: str, /, **values: object) -> str:
        """KeyError for a sentence that the language lacks."""
        section, _, key = name.partition(".")
        sentence: str = self._table[section][key]
        return sentence.format(**values) if values else sentence

    def named(self, section: str, value: str) -> str:
        """What a value of the library is called, else the value itself."""
        known = self._table[section].get(value)
        return str(known) if known is not None else value

    def relation(self, relation: str) -> str:
        """What a relation is called: ``single:locker code`` is the locker code."""
        known = self._table["relation"].get(relation)
        if known is not None:
            return str(known)
        head, _, rest = relation.partition(":")
        if not rest:
            return head.replace("_", " ")
        rest = rest.replace("_", " ")
        return str(self._table["relation"].get(f"{head}:", "{rest}")).format(rest=rest)


@cache
def words(code: str) -> Words:
    """The words of a language of `LANGUAGES`."""
    return Words(code, tomllib.loads(table(code)))


def table(code: str) -> str:
    """The language's file."""
    return resources.files("ltm_core.serve.page").joinpath(f"words/{code}.toml").read_text(encoding="utf-8")


def chosen(asked: str | None, kept: str | None, accepted: str) -> str:
    """The language to answer in: the one asked for, else the one kept from before, else the first of the browser's
    that there is, else English."""
    for code in (asked, kept):
        if code in LANGUAGES:
            return str(code)
    ranked = []
    for place, part in enumerate(accepted.split(",")[:20]):
        tag, _, weight = part.strip().partition(";")
        code = tag.split("-")[0].lower()
        if code in LANGUAGES:
            ranked.append((-_weight(weight), place, code))
    return min(ranked)[2] if ranked else "en"


def _weight(text: str) -> float:
    name, _, value = text.strip().partition("=")
    try:
        return float(value) if name.strip() == "q" else 1.0
    except ValueError:
        return 0.0


__all__ = ["LANGUAGES", "Words", "chosen", "table", "words"]
