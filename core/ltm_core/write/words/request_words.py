"""The words of Chinese requests to forget and to be silent, and which topics go by several names."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ltm_core.write.words.expressions import compiled

_NESTED = 5
"""How deep macros stand in macros."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTopic:
    """A topic under its several names: how requests call it, and how facts about it are told."""

    named: str
    told: str

    def is_named_in(self, words: str) -> bool:
        return compiled(self.named).search(words) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestWords:
    """Expressions by name, and the topics."""

    parts: Mapping[str, re.Pattern[str]]
    topics: tuple[NamedTopic, ...]

    def __getitem__(self, name: str) -> re.Pattern[str]:
        return self.parts[name]


@cache
def request_words() -> RequestWords:
    """``zh/requests.toml``, compiled once per process."""
    text = files("ltm_core.lexicon").joinpath("write", "zh", "requests.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    macros: Mapping[str, str] = data["macros"]
    return RequestWords(
        parts={name: re.compile(_expanded(source, macros), re.I) for name, source in data["parts"].items()},
        topics=tuple(NamedTopic(named=t["named"], told=t["told"]) for t in data["topics"].values()),
    )


def _expanded(source: str, macros: Mapping[str, str]) -> str:
    for _ in range(_NESTED):
        source = re.sub(r"\{([a-z_]+)\}", lambda m: macros.get(m[1], m[0]), source)
    return source
