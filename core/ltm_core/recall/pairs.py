"""Labelled pairs of a question and a text, as people write them down."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ltm_core.errors import InvalidInputError

MOST_NAMED = 10
"""Bad rows that one error names."""
_YES = frozenset({"1", "true", "yes", "relevant", "related"})
_NO = frozenset({"0", "false", "no", "irrelevant", "unrelated"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A question, a text, and whether the text is about the question."""

    query: str
    text: str
    relevant: bool


def pairs_of(rows: Iterable[tuple[int, object]], *, cross: bool) -> list[Pair]:
    """The pairs of numbered rows, each a mapping with ``query``, ``text`` and ``label`` or ``relevant``.

    With ``cross`` every text that no row names beside a query counts as unrelated to it. InvalidInputError names
    the rows that cannot be read; a pair that is labelled both ways is one of them.
    """
    known: dict[tuple[str, str], tuple[int, bool]] = {}
    bad: list[str] = []
    for number, row in rows:
        try:
            query, text, relevant = _read(row)
        except ValueError as error:
            bad.append(f"line {number}: {error}")
            continue
        first, label = known.setdefault((query, text), (number, relevant))
        if label != relevant:
            bad.append(f"line {number}: the pair of line {first} with the other label")
    if bad:
        more = f"; and {len(bad) - MOST_NAMED} more" if len(bad) > MOST_NAMED else ""
        raise InvalidInputError(f"{len(bad)} rows cannot be used: {'; '.join(bad[:MOST_NAMED])}{more}")
    pairs = [Pair(query=q, text=t, relevant=r) for (q, t), (_, r) in known.items()]
    if cross:
        queries = dict.fromkeys(q for q, _ in known)
        texts = dict.fromkeys(t for _, t in known)
        pairs += [Pair(query=q, text=t, relevant=False) for q in queries for t in texts if (q, t) not in known]
    related = sum(p.relevant for p in pairs)
    if not related or related == len(pairs):
        missing = "unrelated" if related else "related"
        raise InvalidInputError(
            f"{len(pairs)} pairs, none of them {missing}: a threshold needs both kinds "
            "(cross=True, --cross: a text of another question counts as unrelated)"
        )
    return pairs


def json_rows(lines: Iterable[str]) -> Iterable[tuple[int, object]]:
    """(line number, value) of JSON lines; blank ones are skipped, an unreadable one is its own text."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield number, json.loads(line)
        except ValueError:
            yield number, None


def _read(row: object) -> tuple[str, str, bool]:
    if isinstance(row, Pair):
        row = {"query": row.query, "text": row.text, "relevant": row.relevant}
    if not isinstance(row, Mapping):
        raise ValueError("not a JSON object")
    texts = []
    for name in ("query", "text"):
        value = row.get(name)
        if not isinstance(value, str) or not value.strip():
            raise ValueError(f"{name} is missing or blank")
        texts.append(value.strip())
    labels = [_label(row[n], n) for n in ("relevant", "label") if n in row]
    if not labels:
        raise ValueError("neither label nor relevant")
    if len(set(labels)) > 1:
        raise ValueError("label and relevant differ")
    return texts[0], texts[1], labels[0]


def _label(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower() if isinstance(value, int | str) else ""
    if word in _YES:
        return True
    if word in _NO:
        return False
    raise ValueError(f"{name} is neither true nor false")


__all__ = ["Pair", "json_rows", "pairs_of"]
