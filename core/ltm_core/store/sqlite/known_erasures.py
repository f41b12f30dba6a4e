"""What was erased since a backup was made, by keyed hashes: from the store that gives way, or from the list."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ltm_core.errors import CorruptError, UnavailableError
from ltm_core.store.sqlite.backup import LIST_FORMAT, list_path

if TYPE_CHECKING:
    from ltm_core.store.sqlite.store import SqliteStore

Source: TypeAlias = Literal["store", "list", "none"]


@dataclass(slots=True)
class Known:
    """Erasures by user (keyed hash, hex), from a store or a list."""

    tombstones: dict[str, dict[tuple[str, str], int]] = field(default_factory=lambda: defaultdict(dict))
    ghosts: dict[str, set[tuple[int, int, int, int, int, str]]] = field(default_factory=lambda: defaultdict(set))
    erasures: dict[str, tuple[int | None, int, int | None]] = field(default_factory=dict)

    def add(self, user: str, erasures: Any, tombstones: Iterable[Any], ghosts: Iterable[Any]) -> None:
        """What one entry tells is known too."""
        if erasures is not None:
            before, count, last = self.erasures.get(user, (None, 0, None))
            self.erasures[user] = (
                _later(before, erasures[0]),
                max(count, int(erasures[1])),
                _later(last, erasures[2]),
            )
        mine = self.tombstones[user]
        for kind, mac, at in tombstones:
            mine[str(kind), str(mac)] = max(int(at), mine.get((kind, mac), int(at)))
        self.ghosts[user].update((int(g[0]), int(g[1]), int(g[2]), int(g[3]), int(g[4]), str(g[5])) for g in ghosts)


def known_of(
    staged: SqliteStore, backup: Path, old: sqlite3.Connection | None, erasures: Path | Literal["none"] | None
) -> tuple[Source, Known]:
    """Where erasures after the backup are known from, and which: the store that gives way (``old``), else the list
    beside the backup or at ``erasures``."""
    known = Known()
    if old is not None:
        for user, before, count, last in old.execute("SELECT user_mac, erased_before, count, last_at FROM erasures"):
            known.add(user.hex(), (before, count, last), (), ())
        for user, kind, mac, at in old.execute("SELECT user_mac, kind, mac, at FROM tombstones"):
            known.add(user.hex(), None, [(kind, mac.hex(), at)], ())
        for user, *ghost, mac in old.execute(
            "SELECT user_mac, session, at, sequence, role, caller_id, content_mac FROM ghosts"
        ):
            known.add(user.hex(), None, (), [(*ghost, mac.hex())])
        return "store", known
    if erasures == "none":
        return "none", known
    path = list_path(staged, backup.parent) if erasures is None else erasures
    try:
        lines = path.read_bytes().splitlines()
    except OSError as e:
        raise UnavailableError(
            f"{path} cannot be read ({e.strerror}): without the list of erasures the backup may bring back what was "
            'erased; name the list with erasures=, or accept that with erasures="none"'
        ) from e
    _read_list(path, lines, known)
    return "list", known


def _read_list(path: Path, lines: Iterable[bytes], known: Known) -> None:
    header = False
    for line in lines:
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            if not header:
                header = entry["format"] == LIST_FORMAT and entry["version"] == 1
                if not header:
                    break
                continue
            known.add(entry["user"], entry["erasures"], entry["tombstones"], entry["ghosts"])
        except (ValueError, KeyError, TypeError, IndexError):
            if not header:
                break
            # Cut off by a dying process: the erasure was listed again on the next line, by maintain().
            continue
    if not header:
        raise CorruptError(f"{path} is no list of erasures")


def _later(one: int | None, other: int | None) -> int | None:
    return max((t for t in (one, other) if t is not None), default=None)


__all__ = ["Known", "Source", "known_of"]
