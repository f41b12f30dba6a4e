"""Taking rows as another store wrote them, and the audit log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ltm_core.errors import NotFoundError
from ltm_core.store.rows import EarlierTimes, SessionRow
from ltm_core.store.sql.read_rows import audit_body
from ltm_core.store.sql.records import TIMES
from ltm_core.store.sql.write_facts import FactWriter
from ltm_core.store.times import to_us


class RowWriter(FactWriter):
    """The side of a writer that takes rows as another store wrote them."""

    def add_session(self, row: SessionRow) -> bool:
        session = row.session
        label = self.label(session.id)
        codec = self._require_codec()
        known = self._one("SELECT 1 FROM sessions WHERE user_no = ? AND session = ?", (self.no, label))
        if known is not None:
            return False
        id = self._next()
        self._conn.execute(
            "INSERT INTO sessions (id, user_no, session, started_at, last_at, arrived_at, ended_at, body) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                id,
                self.no,
                label,
                to_us(session.started_at),
                to_us(session.last_at),
                to_us(row.arrived_at),
                to_us(session.ended_at),
                codec.encode({"id": session.id}, ("sessions", id)),
            ),
        )
        return True

    def set_fact_past(
        self, fact_id: str, earlier: Sequence[EarlierTimes], *, last_access_at: datetime | None
    ) -> None:
        mac = self._keyed.mac(fact_id)
        row = self._one("SELECT id FROM facts WHERE user_no = ? AND id_mac = ?", (self.no, mac))
        if row is None:
            raise NotFoundError(f"no fact has id {fact_id}")
        self._conn.execute("DELETE FROM fact_versions WHERE fact = ?", row)
        self._conn.executemany(
            "INSERT INTO fact_versions (fact, known_until, body) VALUES (?, ?, ?)",
            [
                (row[0], until, self._codec.encode(_times(e), ("fact_versions", row[0], until)))
                for e in earlier
                for until in (to_us(e.known_until),)
            ],
        )
        self._conn.execute("UPDATE facts SET last_access_at = ? WHERE id = ?", (to_us(last_access_at), row[0]))
        self._changed = True

    def audit(
        self,
        action: str,
        *,
        now: datetime,
        actor: str | None,
        target: str | None = None,
        counts: Mapping[str, int] | None = None,
        reason: str | None = None,
    ) -> None:
        # After an erasure there is no user to go with: the row stays, and must not name the user by other means.
        no = self.no or None
        if no is None:
            actor, reason = None if actor is None else self._keyed.mac(actor).hex(), None
        body = audit_body(actor=actor, target=target, counts=counts, reason=reason)
        self._conn.execute(
            "INSERT INTO audit (user_no, user_mac, at, action, body) VALUES (?, ?, ?, ?, ?)",
            (
                no,
                self._keyed.mac(self._user_id),
                to_us(now),
                action,
                (self._codec if no else self._core.codec(self._conn, None)).encode(body, ("audit", to_us(now))),
            ),
        )


def _times(earlier: EarlierTimes) -> dict[str, Any]:
    values: dict[str, Any] = {t: to_us(getattr(earlier, t)) for t in TIMES}
    return {**values, "superseded_by": earlier.superseded_by}
