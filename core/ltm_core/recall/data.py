"""Packaged data of the recall path, read once, when first asked for."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from ltm_core.text.data import read

LANGUAGES = ("en", "zh", "ja")
"""Languages that have question cues, aliases and headings; any other reads as English."""


@cache
def toml(name: str) -> Mapping[str, Any]:
    """The parsed TOML file ``lexicon/<name>``."""
    return tomllib.loads(read(name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How signals become one relevance for one language; fitted, see the provenance in fusion.json."""

    bm25: float
    """Share of the keyword score of the best chunk."""
    turn: float
    """Share of the keyword score of a long turn as a whole."""
    window: float
    """Share of the keyword score of the turn with its neighbours."""
    session: float
    """Share of the keyword score of the session as one document."""
    cosine: float
    """Share of the similarity of meaning."""
    cosine_window: float
    """Share of the neighbours' similarity of meaning."""
    smoothing: float
    """How much of the scores of the turns just before and after a short turn takes on."""
    assistant: float
    """What a turn of the assistant keeps of its score, when the question is not about what it said."""
    question: float
    """What a turn loses that only asks; one that partly asks loses that part of it."""
    time: float
    """What a turn outside the time range that the question names keeps of its score."""
    alias: float
    """What a term reached by an alias weighs beside the word itself."""
    relation: float
    """How far a fact of the relation that the question asks for moves towards the full score."""
    identifier: float
    """Share of the score that belongs to the identifiers of the question, when it has any."""
    current_session: float
    """How far memories of the conversation at hand move towards the full score."""


@cache
def weights(language: str) -> Weights:
    """The fusion weights of ``language``, those of the default where it has none of its own."""
    data = json.loads(read("fusion.json"))
    values = {**data["default"], **data["languages"].get(language, {})}
    return Weights(**{f.name: float(values[f.name]) for f in fields(Weights)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """When a memory counts as about the question.

    Either ``similarity`` is reached, or ``coverage`` of the question's weighted terms is found, or a bit of both:
    ``mixed_similarity`` together with ``mixed_coverage``.
    """

    similarity: float
    coverage: float
    mixed_similarity: float
    mixed_coverage: float

    def lowered(self, share: float) -> Floor:
        """The same floor, each part times ``share``."""
        return Floor(**{f.name: share * getattr(self, f.name) for f in fields(self)})


@cache
def floor(embedder: str) -> Floor:
    """The calibrated floor of an embedder; for an unknown one a conservative default.

    A name matches its longest listed prefix, so one entry serves all releases of a model.
    """
    data = json.loads(read("floors.json"))
    names = sorted((n for n in data["embedders"] if embedder.startswith(n)), key=len)
    values = {**data["default"], **(data["embedders"][names[-1]] if names else {})}
    return Floor(**{f.name: float(values[f.name]) for f in fields(Floor)})


__all__ = ["LANGUAGES", "Floor", "Weights", "floor", "toml", "weights"]
