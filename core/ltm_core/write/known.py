"""The current facts that candidates meet, found by subject, relation, thing and words instead of by search."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable

from ltm_core.types import Fact
from ltm_core.write.lexicon import Lexicon
from ltm_core.write.match import singular
from ltm_core.write.norm import fold
from ltm_core.write.plan import Candidate


class Known:
    """Facts in the order in which they became known; a fact put again keeps its place."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._rows: dict[str, Fact] = {}
        self._place: dict[str, int] = {}
        self._by: defaultdict[Hashable, dict[str, None]] = defaultdict(dict)
        for fact in facts:
            self.put(fact)

    def put(self, fact: Fact) -> None:
        """Add a fact, or replace the row of the same id."""
        self.drop(fact.id)
        self._rows[fact.id] = fact
        self._place.setdefault(fact.id, len(self._place))
        for key in _keys(fact):
            self._by[key][fact.id] = None

    def drop(self, id: str) -> None:
        """Forget a fact that is no longer current; one that is not known is no error."""
        fact = self._rows.pop(id, None)
        if fact is not None:
            for key in _keys(fact):
                self._by[key].pop(id, None)

    def __contains__(self, id: object) -> bool:
        return id in self._rows

    def values(self) -> list[Fact]:
        """All facts, in the order in which they became known."""
        return [self._rows[i] for i in sorted(self._rows, key=self._place.__getitem__)]

    def of_subject(self, c: Candidate) -> list[Fact]:
        """Everything known of the candidate's subject, said by the same speaker."""
        return self._found([_owner(c)])

    def near(self, c: Candidate, lexicon: Lexicon, *, whole_slot: bool) -> list[Fact]:
        """What a plain statement may meet: its slot or the same thing there, what was denied, the same words."""
        owner = _owner(c)
        relations = (c.relation, *lexicon.family_of(c.relation))
        slot = whole_slot or c.single_valued
        here = (owner, c.relation) if slot else (owner, c.relation, singular(c.object_normalized))
        return self._found([
            here, (owner, "text", fold(c.text)), *((owner, "denied", r) for r in relations),
        ])  # fmt: skip

    def _found(self, keys: Iterable[Hashable]) -> list[Fact]:
        ids = {i for key in keys for i in self._by.get(key, ())}
        return [self._rows[i] for i in sorted(ids, key=self._place.__getitem__)]


def _owner(row: Fact | Candidate) -> tuple[str, str | None]:
    return fold(row.subject), row.speaker or None


def _keys(fact: Fact) -> list[Hashable]:
    owner = _owner(fact)
    thing = (owner, fact.relation, singular(fact.object_normalized))
    keys: list[Hashable] = [owner, (owner, fact.relation), thing, (owner, "text", fold(fact.text))]
    return keys if fact.is_positive else [*keys, (owner, "denied", fact.relation)]
