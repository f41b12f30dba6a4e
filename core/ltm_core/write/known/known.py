"""The current facts that candidates meet, found by subject, relation, thing and words instead of by search."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from typing import TypeAlias

from ltm_core.types import Fact
from ltm_core.write.known.match import singular
from ltm_core.write.plan import Candidate
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold

Owner: TypeAlias = tuple[str, str | None]
"""Folded subject and speaker."""


class Known:
    """Facts in the order in which they became known; a fact put again keeps its place."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._rows: dict[str, Fact] = {}
        self._place: dict[str, int] = {}
        self._owners: dict[tuple[str, str | None], Owner] = {}
        self._by: defaultdict[Hashable, dict[str, None]] | None = None
        """By relation, thing and words; made when first asked for, as often the subject alone counts."""
        for fact in facts:
            self.put(fact)

    def put(self, fact: Fact) -> None:
        """Add a fact, or replace the row of the same id."""
        self.drop(fact.id)
        self._rows[fact.id] = fact
        self._place.setdefault(fact.id, len(self._place))
        if self._by is not None:
            for key in self._keys(fact):
                self._by[key][fact.id] = None

    def drop(self, id: str) -> None:
        """Forget a fact that is no longer current; one that is not known is no error."""
        fact = self._rows.pop(id, None)
        if fact is not None and self._by is not None:
            for key in self._keys(fact):
                self._by[key].pop(id, None)

    def __contains__(self, id: object) -> bool:
        return id in self._rows

    def values(self) -> list[Fact]:
        """All facts, in the order in which they became known."""
        return [self._rows[i] for i in sorted(self._rows, key=self._place.__getitem__)]

    def of_subject(self, c: Candidate) -> list[Fact]:
        """Everything known of the candidate's subject, said by the same speaker."""
        owner = self._owner(c)
        return [f for f in self.values() if self._owner(f) == owner]

    def near(self, c: Candidate, lexicon: Lexicon, *, whole_slot: bool) -> list[Fact]:
        """What a plain statement may meet: its slot or the same thing there, what was denied, the same words."""
        by = self._index()
        owner = self._owner(c)
        relations = (c.relation, *lexicon.family_of(c.relation))
        slot = whole_slot or c.single_valued
        here = (owner, c.relation) if slot else (owner, c.relation, singular(c.object_normalized))
        keys = (here, (owner, "text", fold(c.text)), *((owner, "denied", r) for r in relations))
        ids = {i for key in keys for i in by.get(key, ())}
        return [self._rows[i] for i in sorted(ids, key=self._place.__getitem__)]

    def _index(self) -> Mapping[Hashable, Mapping[str, None]]:
        if self._by is None:
            self._by = defaultdict(dict)
            for fact in self._rows.values():
                for key in self._keys(fact):
                    self._by[key][fact.id] = None
        return self._by

    def _owner(self, row: Fact | Candidate) -> Owner:
        said = row.subject, row.speaker
        owner = self._owners.get(said)
        if owner is None:
            owner = self._owners[said] = fold(row.subject), row.speaker or None
        return owner

    def _keys(self, fact: Fact) -> list[Hashable]:
        owner = self._owner(fact)
        thing = (owner, fact.relation, singular(fact.object_normalized))
        keys: list[Hashable] = [(owner, fact.relation), thing, (owner, "text", fold(fact.text))]
        return keys if fact.is_positive else [*keys, (owner, "denied", fact.relation)]
