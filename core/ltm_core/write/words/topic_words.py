"""What people call a topic, and how facts tell it; see ``topics.toml``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """One topic: its names in a request, and the words and relations of the facts that tell it."""

    named: re.Pattern[str]
    said: str = ""
    around: str = ""
    relations: frozenset[str] = frozenset()
    beside: bool = False
    """Whether the words say it only beside other words of the topic: a number is "the number" of anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topics:
    """The topics of a language, and how its words are formed and joined."""

    topics: tuple[Topic, ...]
    suffixes: tuple[str, ...]
    faint: frozenset[str]
    """Words that add nothing to what a topic names."""
    joints: re.Pattern[str]

    def of(self, words: str) -> tuple[Topic, ...]:
        """The topics that the words name, the longest name first."""
        found = [(m.end() - m.start(), n, t) for n, t in enumerate(self.topics) if (m := t.named.search(words))]
        return tuple(t for _, _, t in sorted(found, key=lambda f: (-f[0], f[1])))


def topics_from(table: Mapping[str, Any]) -> Topics:
    """The topics of a lexicon file."""
    return Topics(
        topics=tuple(
            Topic(
                named=re.compile(rf"\b(?:{row['named']})\b", re.I),
                said=row.get("said", ""),
                around=row.get("around", ""),
                relations=frozenset(row.get("relations", [])),
                beside=bool(row.get("beside")),
            )
            for row in table["topic"].values()
        ),
        suffixes=tuple(table["suffixes"]),
        faint=frozenset(table["faint"]),
        joints=re.compile(table["joints"], re.I),
    )
