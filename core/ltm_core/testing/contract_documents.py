"""What every store does with documents: kept by namespace and key, inside the wall, apart from memories."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from ltm_core.store.base import DocumentRow, DocumentUnit, Store
from ltm_core.testing.builders import DIMENSION, T0, at, say, vector

HOSTILE_LABELS = (
    "a/b",
    "a.b",
    "a",
    "b",
    "ana@x.org",
    "用户",
    "\U0001f600",
    "%",
    "_",
    '","',
    '["a"]',
    "a b",
    "A",
    "x" * 500,
)


def document(namespace: tuple[str, ...], key: str, **fields: Any) -> DocumentRow:
    """A document put at `T0`."""
    values: dict[str, Any] = {"value": {"text": key}, "created_at": T0, "updated_at": T0, "fields": ("text",)}
    return DocumentRow(namespace=namespace, key=key, **{**values, **fields})


def unit(seed: int | None = None) -> DocumentUnit:
    """An indexed span; without a seed it has no vector."""
    return DocumentUnit(start=0, end=4, vector=None if seed is None else vector(seed))


class DocumentContract:
    """Inherited by `StoreContract`."""

    def test_a_document_comes_back_as_it_was_put(self, store: Store, reopen: Callable[[], Store]) -> None:
        value = {"text": "茶 \U0001f375", "n": 1.5, "deep": {"list": [1, None, True, {"a": "\\ud800"}]}, "": ""}
        row = document(
            ("a", "b"),
            "k",
            value=value,
            ttl=timedelta(seconds=90.5),
            expires_at=at(1.5),
            fields=("text", "deep.list[*]"),
        )
        with store.write("ana") as w:
            stored = w.put_document(row, [unit(1)])
            assert stored.item > 0 and w.document(("a", "b"), "k") == stored
        with reopen().read("ana") as r:
            found = r.document(("a", "b"), "k")
            assert found == stored and found is not None and found.value == value
            assert r.document(("a", "b"), "K") is None and r.document(("a",), "k") is None
            assert r.counts()["documents"] == 1

    def test_putting_again_replaces_the_value_and_keeps_the_place(self, store: Store) -> None:
        with store.write("ana") as w:
            first = w.put_document(document(("a",), "k"), [unit(1), unit(2)])
            w.put_document(document(("a",), "later"))
            before = w.user()
        with store.write("ana") as w:
            again = w.put_document(
                document(("a",), "k", value={"new": 1}, created_at=at(5), updated_at=at(5)), [unit(3)]
            )
            assert (again.item, again.created_at, again.updated_at) == (first.item, T0, at(5))
        with store.read("ana") as r:
            assert [d.key for d in r.documents()] == ["k", "later"]
            assert r.documents()[0] == again
            owners, vectors = r.document_vectors([first.item])
            assert owners.tolist() == [first.item] and vectors.shape == (1, DIMENSION)
            assert float(vectors[0] @ vector(3)) > 0.999
            user = r.user()
            assert user is not None and before is not None and user.revision > before.revision

    def test_namespaces_are_kept_apart_whatever_their_labels_hold(self, store: Store) -> None:
        spaces = [(a,) for a in HOSTILE_LABELS] + [("a", "b"), ("a", "b", "c"), ("a,b",), ('a","b',)]
        with store.write("ana") as w:
            for i, space in enumerate(spaces):
                w.put_document(document(space, "k", value={"i": i}))
        with store.read("ana") as r:
            assert sorted(r.document_namespaces(alive_at=T0)) == sorted(spaces)
            for i, space in enumerate(spaces):
                found = r.document(space, "k")
                assert found is not None and found.value == {"i": i} and found.namespace == space
                assert [d.value["i"] for d in r.documents(namespaces=[space])] == [i]

    def test_documents_are_chosen_by_namespace_item_and_life(self, store: Store) -> None:
        with store.write("ana") as w:
            rows = [
                w.put_document(document((f"n{i % 3}",), f"k{i}", expires_at=at(i) if i % 2 else None))
                for i in range(8)
            ]
            empty = w.put_document(document(("gone",), "k"))
            assert w.delete_documents([empty.item, empty.item, 10**6]) == 1 and w.delete_documents([]) == 0
        with store.read("ana") as r:

            def keys(**options: Any) -> list[str]:
                return [d.key for d in r.documents(**options)]

            assert keys() == [f"k{i}" for i in range(8)]
            assert keys(namespaces=[("n0",), ("n2",)]) == ["k0", "k2", "k3", "k5", "k6"]
            assert keys(namespaces=[]) == [] and keys(items=[]) == [] and keys(namespaces=[("none",)]) == []
            assert keys(namespaces=[("n1",), ("n1",)], alive_at=at(1)) == ["k4", "k7"]
            assert keys(items=[rows[5].item, rows[2].item, 10**6]) == ["k2", "k5"]
            assert keys(after_item=rows[3].item, limit=2) == ["k4", "k5"]
            items = r.document_items(namespaces=[("n1",)], alive_at=at(1))
            assert items == [rows[4].item, rows[7].item]
            assert r.document_items(namespaces=[("n1",)], alive_at=at(1), limit=1) == items[:1]
            assert r.document_items(alive_at=at(99)) == [rows[i].item for i in (0, 2, 4, 6)]
            assert sorted(r.document_namespaces(alive_at=at(99))) == [("n0",), ("n1",), ("n2",)]
            many = [(f"m{i}",) for i in range(1500)]
            assert keys(namespaces=[*many, ("n2",), ("n0",)], limit=3) == ["k0", "k2", "k3"]

    def test_documents_stay_inside_their_user_and_outside_memories(self, store: Store) -> None:
        for user in ("ana", "ben"):
            with store.write(user) as w:
                say(w, "m1")
                w.put_document(document(("a",), "k", value={"of": user}), [unit(1)])
        with store.read("ana") as r:
            found = r.document(("a",), "k")
            assert found is not None and found.value == {"of": "ana"} and len(r.documents()) == 1
            assert len(r.snapshot().rows.item) == 1 and r.counts()["chunks"] == 1
            assert [m.id for m in r.messages()] == ["m1"] and r.facts() == []
            assert r.document_vectors([found.item])[0].tolist() == [found.item]
        with store.read("nobody") as r:
            assert (
                r.document(("a",), "k") is None and r.documents() == [] and r.document_namespaces(alive_at=T0) == []
            )
            assert r.document_items(alive_at=T0) == [] and len(r.document_vectors([found.item])[0]) == 0
        with store.write("ben") as w:
            w.delete_documents([found.item])
        with store.read("ana") as r:
            assert r.document(("a",), "k") is not None
        assert store.operations().users_with_documents() == ["ana"]
        assert store.operations().users_with_documents(after="ana") == []
        assert store.operations().stats().documents == 1

    def test_a_life_begins_again_when_asked_and_ends(self, store: Store) -> None:
        life = timedelta(minutes=10)
        with store.write("ana") as w:
            a = w.put_document(document(("a",), "short", ttl=life, expires_at=at(10)), [unit(1)])
            w.put_document(document(("a",), "fixed", expires_at=at(10)))
            b = w.put_document(document(("a",), "ever"))
        with store.write("ana") as w:
            w.touch_documents([a.item, b.item], now=at(7))
        ops = store.operations()
        assert ops.preview(idle_before=T0, now=at(12))["documents"] == 1
        assert ops.expire(now=at(12), limit=100)["documents"] == 1
        with store.read("ana") as r:
            assert [(d.key, d.expires_at) for d in r.documents()] == [("short", at(17)), ("ever", None)]
        assert ops.expire(now=at(17), limit=100)["documents"] == 1
        with store.read("ana") as r:
            assert [d.key for d in r.documents()] == ["ever"] and len(r.document_vectors([a.item])[0]) == 0

    def test_units_without_a_vector_wait_for_one(self, store: Store) -> None:
        with store.write("ana") as w:
            row = w.put_document(document(("a",), "k"), [unit(1), unit()])
            ((waiting, item, start, end),) = w.units_without_vector(limit=9)
            assert (item, start, end) == (row.item, 0, 4) and w.chunks_without_vector(limit=9) == []
        ops = store.operations()
        assert ops.users_without_unit_vectors(limit=9) == ["ana"] and ops.users_without_vectors(limit=9) == []
        assert ops.preview(idle_before=T0, now=T0)["unembedded"] == 1
        with store.write("ana") as w:
            w.set_unit_vectors({waiting: vector(2), 10**6: vector(3)})
            assert w.units_without_vector(limit=9) == []
        with store.read("ana") as r:
            owners, vectors = r.document_vectors([row.item])
            assert owners.tolist() == [row.item] * 2 and abs(float(vectors[1] @ vector(2)) - 1) < 0.01
        ops.set_embedder_identity("other", dimension=DIMENSION, now=T0)
        with store.read("ana") as r:
            assert len(r.document_vectors([row.item])[0]) == 0
        with store.write("ana") as w:
            assert len(w.units_without_vector(limit=9)) == 2

    def test_many_documents_are_compared_at_once(self, store: Store) -> None:
        with store.write("ana") as w:
            rows = [w.put_document(document(("a",), str(i)), [unit(i)]) for i in range(600)]
        wanted = [r.item for r in rows if r.key != "7"]
        with store.read("ana") as r:
            owners, vectors = r.document_vectors(wanted)
            assert sorted(owners.tolist()) == wanted and vectors.shape == (599, DIMENSION)
            assert float(vectors[owners.tolist().index(rows[9].item)] @ vector(9)) > 0.999

    def test_a_failed_write_leaves_no_document(self, store: Store) -> None:
        with store.write("ana") as w:
            w.put_document(document(("a",), "k"))
        try:
            with store.write("ana") as w:
                w.put_document(document(("a",), "k", value={"new": 1}))
                w.put_document(document(("b",), "k"))
                raise RuntimeError("stop")
        except RuntimeError:
            pass
        with store.read("ana") as r:
            assert [d.value for d in r.documents()] == [{"text": "k"}]
