"""A second set of vectors while the embedder changes: filled, switched, dropped."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from ltm_core.errors import ConflictError, NotFoundError
from ltm_core.store.base import Store
from ltm_core.testing.builders import DIMENSION, T0, at, vector
from ltm_core.testing.contract_documents import document, unit
from ltm_core.testing.contract_life import fill

OTHER = DIMENSION + 3


def _wide(number: int) -> NDArray[np.float32]:
    row = np.zeros(OTHER, dtype=np.float32)
    row[number % OTHER] = 1
    return row


def _prepared(store: Store) -> dict[int, int]:
    """Two users with vectors; the first one's chunks have one in the second set. Chunk item -> which."""
    if not store.operations().users():
        for user in ("ana", "ben"):
            fill(store, user, f"of-{user}")
    store.operations().begin_second("other", dimension=OTHER, now=T0)
    with store.write("ana") as w:
        waiting = [c[0] for c in w.chunks_without_second(after=0, limit=100)]
        places = {item: n for n, item in enumerate(waiting)}
        w.set_second_vectors({item: _wide(n) for item, n in places.items()})
        units = [u[0] for u in w.units_without_second(after=0, limit=100)]
        w.set_second_unit_vectors({item: _wide(n) for n, item in enumerate(units)})
    return places


class SecondSetContract:
    """What `StoreContract` asks of the second set of vectors."""

    def test_the_first_set_serves_until_the_switch(self, store: Store) -> None:
        for user in ("ana", "ben"):
            fill(store, user, f"of-{user}")
        with store.read("ana") as r:
            before = r.snapshot().cosine(vector(1))
        places = _prepared(store)
        sets = store.operations().vector_sets()
        assert (sets.present, sets.second, sets.switched) == ("test-embedder", "other", False)
        assert 0 < sets.done < sets.total
        with store.read("ana") as r:
            assert np.allclose(r.snapshot().cosine(vector(1)), before, atol=1e-5, equal_nan=True)
            items, matrix = r.second_vectors()
            assert items.tolist() == sorted(places) and matrix.shape == (len(places), OTHER)
        with store.write("ana") as w:
            assert w.chunks_without_second(after=0, limit=5) == [] == w.units_without_second(after=0, limit=5)
        with store.write("ben") as w:
            one = w.chunks_without_second(after=0, limit=1)
            assert len(one) == 1 and one[0] not in w.chunks_without_second(after=one[0][0], limit=100)

    def test_a_switch_and_the_way_back(self, store: Store) -> None:
        places = _prepared(store)
        operations = store.operations()
        with store.read("ana") as r:
            before = r.snapshot().cosine(vector(1))
        with store.read("ben") as r:
            bens = r.counts()["vectors"]
        assert operations.switch_vectors() >= bens > 0
        assert operations.embedder_identity() == "other" and operations.vector_sets().switched
        assert operations.users_without_vectors(limit=9) == ["ben"]
        with store.read("ana") as r:
            snapshot = r.snapshot()
            found = dict(zip(snapshot.rows.item.tolist(), snapshot.cosine(_wide(0)).tolist(), strict=True))
            assert {i for i, c in found.items() if c > 0.99} == {i for i, n in places.items() if n % OTHER == 0}
            assert r.index_faults().owners == () and not r.index_faults().orphans
        with store.write("ben") as w:
            w.set_vectors({c[0]: _wide(1) for c in w.chunks_without_vector(limit=100)})
        with pytest.raises(ConflictError):
            operations.begin_second("third", dimension=OTHER, now=T0)
        operations.switch_vectors()
        assert operations.embedder_identity() == "test-embedder" and not operations.vector_sets().switched
        with store.read("ana") as r:
            assert np.allclose(r.snapshot().cosine(vector(1)), before, atol=1e-5, equal_nan=True)
        with store.read("ben") as r:
            assert r.counts()["vectors"] == bens and not r.index_faults().orphans

    def test_documents_switch_too(self, store: Store) -> None:
        with store.write("ana") as w:
            row = w.put_document(document(("a",), "k"), [unit(1)])
        store.operations().begin_second("other", dimension=OTHER, now=T0)
        with store.write("ana") as w:
            w.set_second_unit_vectors({u[0]: _wide(2) for u in w.units_without_second(after=0, limit=9)})
        store.operations().switch_vectors()
        with store.read("ana") as r:
            assert r.document_vectors([row.item])[1].tolist() == [_wide(2).tolist()]
        store.operations().switch_vectors()
        with store.read("ana") as r:
            assert r.document_vectors([row.item])[1].shape == (1, DIMENSION)

    def test_what_goes_goes_from_both_sets(self, store: Store) -> None:
        places = _prepared(store)
        with store.write("ana") as w:
            w.delete_facts([f.id for f in w.facts()])
            assert len(w.second_vectors()[0]) < len(places)
            w.erase_user(now=at(1))
        with store.read("ana") as r:
            assert len(r.second_vectors()[0]) == 0
        assert store.operations().vector_sets().done == 0

    def test_a_store_without_the_embedder_of_the_vectors_compares_none(self, store: Store) -> None:
        operations = store.operations()
        operations.serve_vectors()
        _prepared(store)
        operations.switch_vectors()
        with store.read("ana") as r:
            assert np.isnan(r.snapshot().cosine(_wide(0))).all()
            assert r.fact_vectors([f.id for f in r.facts()]) == {}
        with store.write("ana") as w:
            assert w.chunks_without_vector(limit=9) == [] == w.units_without_vector(limit=9)
            before = w.counts()["vectors"]
            row = w.put_document(document(("a",), "k2"), [unit(1)])
            w.set_vectors({w.snapshot().rows.item[0].item(): vector(3)})
            assert w.counts()["vectors"] == before and len(w.document_vectors([row.item])[0]) == 0
        operations.serve_vectors(False)
        with store.read("ana") as r:
            assert not np.isnan(r.snapshot().cosine(_wide(0))).all()

    def test_dropping_the_second_set(self, store: Store) -> None:
        operations = store.operations()
        with pytest.raises(NotFoundError):
            operations.switch_vectors()
        with pytest.raises(ConflictError):
            operations.begin_second("test-embedder", dimension=DIMENSION, now=T0)
        _prepared(store)
        with pytest.raises(ConflictError):
            operations.begin_second("third", dimension=OTHER, now=T0)
        operations.begin_second("other", dimension=OTHER, now=T0)
        done = operations.vector_sets().done
        gone = 0
        while some := operations.drop_second(limit=1):
            assert some == 1
            gone += some
        assert gone == done > 0
        assert operations.vector_sets().second is None
        operations.begin_second("third", dimension=OTHER, now=T0)


__all__ = ["SecondSetContract"]
