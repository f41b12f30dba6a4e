"""One user's data at one moment: the whole `Reader` protocol."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ltm_core.store.sql.cold import ColdView
from ltm_core.store.sql.conditions import CURRENT, CURRENT_TAKES
from ltm_core.store.sql.layout import batches
from ltm_core.store.sql.read_documents import DocumentView
from ltm_core.store.sql.read_messages import MessageView
from ltm_core.store.sql.read_rows import RowView
from ltm_core.store.sql.read_summaries import SummaryView
from ltm_core.store.sql.records import IMPORTANCES, forgotten
from ltm_core.store.times import from_us, to_us
from ltm_core.types import Anchor, ChangeOp, Evidence, Fact, FactChange

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ltm_core.store.base import IndexFaults, Snapshot


class SqlReader(MessageView, RowView, DocumentView, SummaryView, ColdView):
    """Reads inside one read transaction; unknown users read as empty."""

    _erasures: tuple[int, datetime | None] | None = None
    """What `erasures` found; None until it is asked, and when it may have changed."""

    def anchors(self, message_ids: Sequence[str] | None = None) -> list[Anchor]:
        columns = "id, kind, importance, body"
        rows = []
        if message_ids is None:
            rows = self._rows(
                f"SELECT {columns} FROM anchors WHERE id > ? AND id < ? ORDER BY id", (self.low, self.high)
            )
        else:
            for marks, part in batches([self._keyed.mac(i) for i in dict.fromkeys(message_ids)]):
                sql = f"SELECT {columns} FROM anchors WHERE user_no = ? AND message_mac IN ({marks})"
                rows += self._rows(sql, (self.no, *part))
            rows.sort(key=lambda r: r[0])
        found = []
        for id, kind, importance, blob in rows:
            body = self._codec.decode(blob, ("anchors", id))
            found.append(
                Anchor(
                    kind=kind,
                    text=body["text"],
                    evidence=Evidence(message_id=body["message"], start=body["start"], end=body["end"]),
                    reason=body["reason"],
                    importance=IMPORTANCES[importance],
                )
            )
        return found

    def changes(self, *, after: int = 0, limit: int = 100) -> list[FactChange]:
        rows = self._rows(
            "SELECT id, at, op, fact, previous, body FROM changes WHERE user_no = ? AND id > ? ORDER BY id LIMIT ?",
            (self.no, after, limit),
        )
        wanted = {i for r in rows for i in (r[3], r[4]) if i is not None}
        facts = {f.id: f for f in self.facts(items=sorted(wanted))} if wanted else {}
        bodies = [self._codec.decode(r[5], ("changes", r[1])) for r in rows]
        return [self._change(r[0], from_us(r[1]), r[2], body, facts) for r, body in zip(rows, bodies, strict=True)]

    def _change(
        self, number: int, at: datetime, op: ChangeOp, body: dict[str, str], facts: dict[str, Fact]
    ) -> FactChange:
        def resolve(id: str) -> Fact:
            return facts.get(id) or forgotten(id, self._user_id, at)

        previous = body.get("previous")
        return FactChange(
            op=op,
            fact=resolve(body["fact"]),
            previous=None if previous is None else resolve(previous),
            reason=body.get("reason", ""),
            at=at,
            cursor=str(number),
        )

    def is_tombstoned(self, kind: str, value: str) -> datetime | None:
        row = self._one(
            "SELECT at FROM tombstones WHERE user_mac = ? AND kind = ? AND mac = ?",
            (self._keyed.mac(self._user_id), kind, self._keyed.mac(value)),
        )
        return None if row is None else from_us(row[0])

    def erased_before(self) -> datetime | None:
        row = self._one("SELECT erased_before FROM erasures WHERE user_mac = ?", (self._keyed.mac(self._user_id),))
        return None if row is None else from_us(row[0])

    def erasures(self) -> tuple[int, datetime | None]:
        if self._erasures is None:
            sql = "SELECT count, last_at FROM erasures WHERE user_mac = ?"
            row = self._one(sql, (self._keyed.mac(self._user_id),))
            self._erasures = (0, None) if row is None else (row[0], from_us(row[1]))
        return self._erasures

    def snapshot(self) -> Snapshot:
        return self._core.snapshots().take(self)

    def fact_vectors(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        if not self.embedder or not self.dimension or self.foreign:
            return {}
        from ltm_core.store.sql.vectors import decode

        names = {self._keyed.mac(i): i for i in dict.fromkeys(ids)}
        found: dict[str, NDArray[np.float32]] = {}
        for marks, part in batches(list(names)):
            rows = self._rows(
                "SELECT f.id_mac, v.id, v.codec, v.vector FROM facts f JOIN chunks c ON c.owner = f.id "
                f"JOIN vectors v ON v.id = c.id WHERE f.user_no = ? AND f.id_mac IN ({marks}) "
                "AND v.embedder = ?",
                (self.no, *part, self.embedder),
            )
            opened = ((names[mac], self.opened_vector(*stored)) for mac, *stored in rows)
            found.update((name, decode(plain)) for name, plain in opened if plain)
        return found

    def second_vectors(self) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        from ltm_core.store.sql.second import second_matrix

        return second_matrix(self)

    def index_faults(self) -> IndexFaults:
        from ltm_core.store.sql.check import index_faults

        return index_faults(self)

    def counts(self) -> dict[str, int]:
        """Rows of the user: sessions, messages, facts, documents, summaries, current_facts, chunks, vectors, terms,
        anchors, changes, jobs. ``terms`` counts indexed terms with repeats."""
        inside = (self.low, self.high)
        found = {}
        for table in ("sessions", "messages", "facts", "documents", "summaries"):
            found[table] = self._count(f"{table} WHERE id > ? AND id < ?", inside)
        moment = to_us(self._core.clock())
        found["current_facts"] = self._count(
            f"facts WHERE id > ? AND id < ? AND {CURRENT}", (*inside, *[moment] * CURRENT_TAKES)
        )
        found["chunks"] = self._chunk_count
        found["vectors"] = self._count("vectors WHERE id > ? AND id < ?", inside)
        found["terms"] = self._term_total
        found["anchors"] = self._count("anchors WHERE id > ? AND id < ?", inside)
        for table in ("changes", "jobs"):
            found[table] = self._count(f"{table} WHERE user_no = ?", (self.no,))
        return found

    def _count(self, rest: str, values: tuple[int, ...]) -> int:
        row = self._one(f"SELECT count(*) FROM {rest}", values)
        return int(row[0]) if row else 0
