"""What is connected with a person or a thing: a walk over the facts that hold, one step at a time.

A fact joins its subject with its object. A thing has one place whether it is named as the object of a fact
("ORD-1" of the user's ``order``) or as a subject ("order:ORD-1" has a ``status``).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from ltm_core.text.normalize import fold
from ltm_core.types import Fact, RelatedFact

if TYPE_CHECKING:
    from ltm_core.store.base import Reader

HUB = "user"
"""Everything hangs on the user: the walk may begin or end there, and does not go through."""


@dataclass(slots=True)
class _Walk:
    kinds: Collection[str]
    """What subjects are called by, as in "order:ORD-1"."""
    via: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Thing -> ids of the facts that lead to it from the start."""
    found: dict[str, RelatedFact] = field(default_factory=dict)

    def key(self, name: str) -> str:
        """One key for the names of one thing."""
        kind, mark, rest = fold(name).partition(":")
        return rest if mark and rest and kind in self.kinds else fold(name)

    def names(self, keys: Sequence[str]) -> list[str]:
        """The names under which these things can be the subject of a fact."""
        return [n for k in keys for n in (k, *(f"{kind}:{k}" for kind in self.kinds if k != HUB))]


def related(
    reader: Reader,
    entity: str,
    *,
    kinds: Collection[str],
    depth: int,
    relation: str | None,
    at: datetime,
    limit: int,
) -> tuple[RelatedFact, ...]:
    """The facts that hold at ``at`` within ``depth`` steps of ``entity``, nearest first, at most ``limit``.

    ``relation`` chooses which are returned; the walk goes over all.
    """
    walk = _Walk(kinds={fold(k) for k in kinds})
    start = walk.key(entity)
    walk.via[start] = ()
    edge = [start]
    for distance in range(1, depth + 1):
        reached: list[str] = []
        for fact in _touching(reader, walk, edge, at=at):
            ends = [walk.key(fact.subject), walk.key(fact.object)]
            here = next((e for e in ends if e in walk.via), None)
            if fact.id in walk.found or here is None:
                continue
            way = (*walk.via[here], fact.id)
            walk.found[fact.id] = RelatedFact(fact=fact, distance=distance, via=way)
            for end in ends:
                if end not in walk.via:
                    walk.via[end] = way
                    reached.append(end)
        edge = [e for e in reached if e != HUB]
        wanted = [r for r in walk.found.values() if relation is None or fold(r.fact.relation) == fold(relation)]
        if not edge or len(wanted) >= limit:
            break
    return tuple(wanted[:limit])


def _touching(reader: Reader, walk: _Walk, edge: Sequence[str], *, at: datetime) -> list[Fact]:
    """The facts of which a thing at the edge is the subject or the object, in the order they were learnt."""
    found = {f.id: f for f in reader.facts(subjects=walk.names(edge), current_at=at)}
    found |= {f.id: f for f in reader.facts(objects=list(edge), current_at=at)}
    return sorted(found.values(), key=lambda f: (f.recorded_at, f.id))
