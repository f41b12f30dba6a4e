"""What export, import and the audit log need beyond `Reader` and `Writer`: rows as they are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ltm_core.store.rows import AuditRow, EarlierTimes, FactRow, SessionRow, TurnWorth
from ltm_core.store.sql.layout import batches
from ltm_core.store.sql.read_facts import FactView
from ltm_core.store.sql.records import (
    FACT_READ,
    IMPORTANCES,
    ITEM_MASK,
    SESSION_READ,
    TIMES,
    fact_from,
    session_from,
)
from ltm_core.store.times import from_us, to_us
from ltm_core.types import Anchor, Evidence

_AS_WRITTEN = -(2**63)
"""Before every instant: nothing has expired yet, so no fact reads as holding again."""
AUDIT_READ = "id, at, action, user_mac, body"


class RowView(FactView):
    """The side of a reader that shows rows as they are written."""

    def session_rows(self, *, after_item: int = 0, limit: int) -> list[SessionRow]:
        rows = self._rows(
            f"SELECT {SESSION_READ}, arrived_at FROM sessions WHERE id > ? AND id < ? ORDER BY id LIMIT ?",
            (self.low + after_item, self.high, limit),
        )
        return [
            SessionRow(item=r[5] & ITEM_MASK, session=session_from(r, self._codec), arrived_at=from_us(r[6]))
            for r in rows
        ]

    def message_anchors(self, items: Sequence[int]) -> dict[int, list[Anchor]]:
        found: dict[int, list[Anchor]] = {}
        for marks, part in batches([self.low + i for i in dict.fromkeys(items)]):
            rows = self._rows(
                "SELECT m.id, a.id, a.kind, a.importance, a.body FROM messages m JOIN anchors a "
                "ON a.user_no = m.user_no AND a.message_mac = m.id_mac AND a.session = m.session "
                f"WHERE m.id IN ({marks}) AND m.id > ? AND m.id < ? ORDER BY a.id",
                (*part, self.low, self.high),
            )
            for id, anchor, kind, importance, blob in rows:
                body = self._codec.decode(blob, ("anchors", anchor))
                span = Evidence(message_id=body["message"], start=body["start"], end=body["end"])
                found.setdefault(id & ITEM_MASK, []).append(
                    Anchor(
                        kind=kind,
                        text=body["text"],
                        evidence=span,
                        reason=body["reason"],
                        importance=IMPORTANCES[importance],
                    )
                )
        return found

    def fact_rows(self, *, after_item: int = 0, limit: int) -> list[FactRow]:
        rows = self._rows(
            f"SELECT {FACT_READ}, last_access_at FROM facts WHERE id > ? AND id < ? ORDER BY id LIMIT ?",
            (self.low + after_item, self.high, limit),
        )
        keys = [r[0] for r in rows]
        told = self._evidence(keys)
        earlier: dict[int, list[EarlierTimes]] = {}
        for condition, part in self._near(keys):
            sql = f"SELECT fact, known_until, body FROM fact_versions WHERE {condition} ORDER BY fact, known_until"
            for key, until, blob in self._rows(sql, part):
                times = self._codec.decode(blob, ("fact_versions", key, until))
                instants = {t: from_us(times[t]) for t in TIMES if times.get(t) is not None}
                earlier.setdefault(key, []).append(
                    EarlierTimes(known_until=from_us(until), superseded_by=times.get("superseded_by"), **instants)
                )
        return [
            FactRow(
                item=r[0] & ITEM_MASK,
                fact=fact_from(
                    r,
                    self._codec,
                    user_id=self._user_id,
                    told=self._told(told.get(r[0], ())),
                    earlier=None,
                    moment=_AS_WRITTEN,
                ),
                earlier=tuple(earlier.get(r[0], ())),
                last_access_at=from_us(r[19]),
            )
            for r in rows
        ]

    def turn_worths(
        self, *, now: datetime, idle_before: datetime, after_item: int = 0, limit: int
    ) -> list[TurnWorth]:
        rows = self._rows(
            "SELECT id, at, importance, access_count, last_access_at, in_window = 1 AND EXISTS (SELECT 1 FROM "
            "sessions s WHERE s.user_no = m.user_no AND s.session = m.session AND s.ended_at IS NULL "
            "AND s.arrived_at >= ?), "
            "EXISTS (SELECT 1 FROM anchors a WHERE a.user_no = m.user_no AND a.message_mac = m.id_mac "
            "AND a.session = m.session AND a.kind != 'stated_fact'), (SELECT max(CASE WHEN y.recallable_at "
            "IS NULL THEN 0 ELSE 1 END) FROM summary_sources l JOIN summaries y ON y.id = l.summary "
            "WHERE l.source = m.id), recorded_at "
            "FROM messages m "
            "WHERE id > ? AND id < ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY id LIMIT ?",
            (to_us(idle_before), self.low + after_item, self.high, to_us(now), limit),
        )
        if not rows:
            return []
        supports: dict[int, set[int]] = {}
        for id, fact in self._rows(
            "SELECT m.id, e.fact FROM messages m JOIN evidence e ON e.user_no = m.user_no "
            "AND e.message_mac = m.id_mac WHERE m.id >= ? AND m.id <= ?",
            (rows[0][0], rows[-1][0]),
        ):
            supports.setdefault(id, set()).add(fact & ITEM_MASK)
        return [
            TurnWorth(
                item=r[0] & ITEM_MASK,
                at=from_us(r[1]),
                importance=IMPORTANCES[r[2]],
                access_count=r[3],
                last_access_at=from_us(r[4]),
                in_window=bool(r[5]),
                anchored=bool(r[6]),
                supports=tuple(sorted(supports.get(r[0], ()))),
                summarised=None if r[7] is None else bool(r[7]),
                recorded_at=from_us(r[8]),
            )
            for r in rows
        ]

    def audit_rows(self, *, after: int = 0, limit: int) -> list[AuditRow]:
        rows = self._rows(
            f"SELECT {AUDIT_READ} FROM audit WHERE user_no = ? AND id > ? ORDER BY id LIMIT ?",
            (self.no, after, limit),
        )
        if not self.no:
            return []
        return [audit_from(r, self._user_id, self._codec.decode(r[4], ("audit", r[1]))) for r in rows]


def audit_body(
    *, actor: str | None, target: str | None, counts: Mapping[str, int] | None, reason: str | None
) -> dict[str, Any]:
    """The envelope of a row of the log."""
    body = {"actor": actor, "target": target, "counts": dict(counts or {}), "reason": reason}
    return {k: v for k, v in body.items() if v}


def audit_from(row: Sequence[Any], user_id: str | None, body: Mapping[str, Any]) -> AuditRow:
    """The row of `AUDIT_READ`, its envelope opened."""
    return AuditRow(
        number=row[0],
        at=from_us(row[1]),
        action=row[2],
        user_id=user_id,
        user_mac=row[3].hex(),
        actor=body.get("actor"),
        reason=body.get("reason"),
        target=body.get("target"),
        counts=body.get("counts", {}),
    )
