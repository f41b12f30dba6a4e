"""Several names of one thing: a question that uses one finds memories that use another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ltm_core.recall.data import toml
from ltm_core.text.normalize import fold

Groups = tuple[tuple[str, ...], ...]

PACKAGED = ("common", "irregular")

_LATIN = re.compile(r"[a-z0-9]")


@lru_cache(maxsize=64)
def groups(extra: tuple[str, ...] = ()) -> Groups:
    """The packaged groups and those of the deployment, each written as ``invoice=bill=发票``; names folded."""
    packaged: Iterable[Sequence[str]] = [g for name in PACKAGED for g in toml(f"aliases/{name}.toml")["groups"]]
    own = [line.split("=") for line in extra]
    return tuple(tuple(dict.fromkeys(n for name in group if (n := fold(name)))) for group in [*packaged, *own])


@lru_cache(maxsize=64)
def _index(table: Groups) -> tuple[re.Pattern[str], dict[str, tuple[int, ...]]]:
    """One expression that finds every name, longest first, and the groups each name is in."""
    where: dict[str, list[int]] = {}
    for number, group in enumerate(table):
        for name in group:
            where.setdefault(name, []).append(number)
    alternatives = [_bounded(name) for name in sorted(where, key=len, reverse=True)]
    return re.compile("|".join(alternatives) or r"(?!)"), {k: tuple(v) for k, v in where.items()}


def _bounded(name: str) -> str:
    start = r"(?<![a-z0-9])" if _LATIN.match(name) else ""
    end = r"s?(?![a-z0-9])" if _LATIN.match(name[-1]) else ""
    if len(name) == 1:
        # One character is a name only when it stands alone: 夫 is a husband, the last half of 大夫 is not.
        start, end = r"(?<!\w)", r"(?!\w)"
    return f"{start}{re.escape(name)}{end}"


def expansions(folded: str, table: Groups) -> list[tuple[str, tuple[str, ...]]]:
    """For each name that occurs in ``folded``, in order: the name and the other names of its things."""
    pattern, where = _index(table)
    out: dict[str, tuple[str, ...]] = {}
    for match in pattern.finditer(folded):
        name = match[0] if match[0] in where else match[0][:-1]
        others = [n for number in where[name] for n in table[number] if n != name]
        out.setdefault(name, tuple(dict.fromkeys(others)))
    return list(out.items())


__all__ = ["Groups", "expansions", "groups"]
