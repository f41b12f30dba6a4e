"""What every store keeps to for what grows with every write: the audit log, the feed, the marks of what went."""

from __future__ import annotations

from ltm_core.store.base import CHANGES_DROPPED, DROPPED, Store
from ltm_core.testing.builders import T0, at, fact, say
from ltm_core.types import FactChange


class LogContract:
    """Inherited by `StoreContract`."""

    def test_old_rows_of_the_audit_log_go_up_to_the_first_that_is_not(self, store: Store) -> None:
        ops = store.operations()
        for day, user in ((0, "ana"), (1, "ben"), (5, "ana"), (2, "ben")):
            with store.write(user) as w:
                w.audit("observe", now=at(day), actor=None)
        assert ops.count_old("audit", before=at(3)) == 3 and len(ops.audit_rows(limit=9)) == 4
        assert ops.drop_old("audit", before=T0, limit=9) == 0
        assert ops.drop_old("audit", before=at(3), limit=1) == 1
        assert [r.at for r in ops.audit_rows(limit=9)] == [at(1), at(5), at(2)]
        assert ops.drop_old("audit", before=at(3), limit=9) == 1 and ops.drop_old("audit", before=at(3), limit=9) == 0
        assert [r.at for r in ops.audit_rows(limit=9)] == [at(5), at(2)], "what came later is written later"
        assert ops.drop_old("audit", before=at(9), limit=9) == 2 and ops.audit_rows(limit=9) == []

    def test_the_feed_knows_up_to_where_it_was_dropped(self, store: Store) -> None:
        ops = store.operations()
        with store.write("ana") as w:
            kept = [w.log_change(FactChange(op="add", fact=fact(f"f{n}"), at=at(n))) for n in range(3)]
        assert ops.setting(CHANGES_DROPPED) is None
        assert ops.drop_old("changes", before=at(2), limit=9) == 2
        assert ops.setting(CHANGES_DROPPED) == kept[1].cursor
        with store.read("ana") as r:
            assert [c.fact.id for c in r.changes()] == ["f2"]
        assert [n for n, _ in ops.change_marks(after=0, limit=9)] == [int(kept[2].cursor)]
        assert ops.drop_old("changes", before=at(2), limit=9) == 0 and ops.setting(CHANGES_DROPPED) == kept[1].cursor

    def test_marks_of_what_a_policy_dropped_go_and_those_of_what_was_asked_stay(self, store: Store) -> None:
        ops = store.operations()
        with store.write("ana") as w:
            rows = [say(w, f"m{n}", f"turn number{n}", at=at(n)) for n in range(5)]
            said = [w.content_mac(r.content) for r in rows]
            w.add_tombstones([("content", said[1].hex()), ("message", "asked")], now=at(5))
            w.add_tombstones([(DROPPED, "early")], now=at(1))
            w.add_tombstones([(DROPPED, "late")], now=at(5))
            w.add_ghosts(rows)
            w.delete_messages([r.item for r in rows])
        with store.write("ben") as w:
            row = say(w, "m0", "turn number1", at=at(0))
            w.add_ghosts([row])
            w.delete_messages([row.item])
        assert ops.drop_marks(before=at(3), limit=1) == 4, "two turns and an id of ana, a turn of ben"
        with store.read("ana") as r:
            assert [m.content_mac for m in r.marks("s1", limit=9)] == [said[1], said[3], said[4]]
            assert r.is_tombstoned(DROPPED, "early") is None and r.is_tombstoned(DROPPED, "late") == at(5)
            assert r.is_tombstoned("message", "asked") == at(5)
        with store.read("ben") as r:
            assert r.marks("s1", limit=9) == []
        assert ops.drop_marks(before=at(3), limit=1) == 0


__all__ = ["LogContract"]
