"""How models name subjects, relations and fields, and what the lexicon calls them: data, folded for comparing."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from ltm_core.text.data import read
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold

_FILLER = re.compile(r"^(?:(?:is|are|am|has|have|had|user|users|the|a|an|currently|now|personal|current)_)+(?=\w)")
_GAPS = re.compile(r"[\s\-.'’_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The tables of ``lexicon/llm/names.toml``."""

    user: frozenset[str]
    assistant: frozenset[str]
    possessive: tuple[str, ...]
    sentence_lead: tuple[str, ...]
    fields: Mapping[str, str]
    """Folded name of a field in an answer -> field of `ExtractedFact`, or ``fact``, ``facts``."""
    relations: Mapping[str, str]
    opposites: Mapping[str, str]
    sets: Mapping[str, frozenset[str]]
    affirms: re.Pattern[str]
    """Words that deny in form and affirm in sense."""


@cache
def default_names() -> Names:
    """The bundled tables, read once per process."""
    data: dict[str, Any] = tomllib.loads(read("llm/names.toml"))
    return Names(
        user=frozenset(map(fold, data["user"])),
        assistant=frozenset(map(fold, data["assistant"])),
        possessive=tuple(data["possessive"]),
        sentence_lead=tuple(data["sentence_lead"]),
        fields=MappingProxyType({key_of(n): field for field, names in data["fields"].items() for n in names}),
        relations=MappingProxyType({key_of(n): r for r, names in data["relations"].items() for n in names}),
        opposites=MappingProxyType({key_of(n): r for r, names in data["opposites"].items() for n in names}),
        sets=MappingProxyType({k: frozenset(v) for k, v in data["sets"].items()}),
        affirms=re.compile("|".join(data["affirms"]), re.I),
    )


def key_of(name: str) -> str:
    """A name in lower case with "_" for blanks and hyphens."""
    return _GAPS.sub("_", fold(name)).strip("_")


@dataclass(frozen=True, slots=True)
class Relation:
    """What a model's relation means; ``known`` says whether the lexicon has it."""

    name: str
    known: bool
    opposite: bool = False


def relation_of(given: str, lexicon: Lexicon, names: Names | None = None) -> Relation:
    """The lexicon's name of a model's relation, else the model's own as an open one ("about" when it has none)."""
    table = names or default_names()
    full = key_of(given)
    for key in dict.fromkeys((full, _FILLER.sub("", full), full.removesuffix("_in"))):
        if key in table.opposites:
            return Relation(table.opposites[key], True, opposite=True)
        if key in lexicon.relations and "*" not in key:
            return Relation(key, True)
        if key in table.relations:
            return Relation(table.relations[key], True)
    return Relation(full[:60] or "about", False)
