"""Reading summaries of one user, and the turns that none stands for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from ltm_core.store.base import MessageRow
from ltm_core.store.rows import LEVEL_CODES, Level, SummaryLine, SummaryRow, SummarySource
from ltm_core.store.sql.base import View
from ltm_core.store.sql.codec import Codec
from ltm_core.store.sql.layout import NO_LIMIT, batches
from ltm_core.store.sql.records import ITEM_MASK, MESSAGE_READ, message_from
from ltm_core.store.times import from_us, to_us

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ALONE = (
    "m.retired_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM summary_sources l JOIN summaries s ON s.id = l.summary "
    "WHERE l.source = m.id AND s.recallable_at IS NOT NULL)"
)
"""Retired, and no recallable summary stands for it."""
_READ = "id, level, begins, ends, recorded_at, recallable_at, expires_at, body"
_LEVELS: tuple[Level, ...] = tuple(sorted(LEVEL_CODES, key=LEVEL_CODES.__getitem__))


class SummaryView(View):
    """The summaries of a reader."""

    def summaries(
        self,
        *,
        items: Sequence[int] | None = None,
        ids: Sequence[str] | None = None,
        sources: Sequence[int] | None = None,
        level: Level | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        after_item: int = 0,
        limit: int | None = None,
    ) -> list[SummaryRow]:
        where, values = ["id > ?", "id < ?"], [self.low + after_item, self.high]
        if level is not None:
            where.append("level = ?")
            values.append(LEVEL_CODES[level])
        if since is not None:
            where.append("begins >= ?")
            values.append(to_us(since))
        if until is not None:
            where.append("begins < ?")
            values.append(to_us(until))
        table = "summaries"
        chosen: list[tuple[str, tuple[Any, ...]]] = [("", ())]
        if items is not None:
            wanted = [self.low + i for i in dict.fromkeys(items)]
            chosen = [(f" AND id IN ({marks})", part) for marks, part in batches(wanted)]
        elif ids is not None:
            # Left to itself the planner takes the period for a short list of ids.
            table = "summaries INDEXED BY summaries_by_id"
            macs = [self._keyed.mac(i) for i in dict.fromkeys(ids)]
            chosen = [(f" AND user_no = ? AND id_mac IN ({m})", (self.no, *part)) for m, part in batches(macs)]
        elif sources is not None:
            inside = "id IN (SELECT summary FROM summary_sources WHERE source IN ({}))"
            wanted = [self.low + i for i in dict.fromkeys(sources)]
            chosen = [(f" AND {inside.format(marks)}", part) for marks, part in batches(wanted)]
        found: dict[int, tuple[Any, ...]] = {}
        for more, part in chosen:
            sql = f"SELECT {_READ} FROM {table} WHERE {' AND '.join(where)}{more} ORDER BY id LIMIT ?"
            for row in self._rows(sql, (*values, *part, NO_LIMIT if limit is None else limit)):
                found[row[0]] = row
        rows = [found[k] for k in sorted(found)][:limit]
        retired: dict[int, int] = {}
        for marks, part in batches([r[0] for r in rows]):
            sql = (
                "SELECT l.summary, count(*) FROM summary_sources l JOIN messages m ON m.id = l.source "
                f"WHERE l.summary IN ({marks}) AND m.retired_at IS NOT NULL GROUP BY l.summary"
            )
            retired.update(self._rows(sql, part))
        return [_summary(r, self._codec, retired.get(r[0], 0)) for r in rows]

    def unsummarised(self, *, before: datetime, after: tuple[int, int] | None = None, limit: int) -> list[MessageRow]:
        columns = ", ".join(f"m.{c.strip()}" for c in MESSAGE_READ.split(","))
        later, place = ("", ()) if after is None else (" AND (m.at, m.sequence) > (?, ?)", after)
        rows = self._rows(
            f"SELECT {columns} FROM messages m WHERE m.user_no = ? AND m.at < ?{later} AND NOT EXISTS "
            "(SELECT 1 FROM summary_sources l WHERE l.source = m.id) ORDER BY m.at, m.sequence LIMIT ?",
            (self.no, to_us(before), *place, limit),
        )
        return [message_from(r, self._codec) for r in rows]

    def count_unsummarised(self, *, before: datetime) -> int:
        row = self._one(
            "SELECT count(*) FROM messages m WHERE m.user_no = ? AND m.at < ? AND NOT EXISTS "
            "(SELECT 1 FROM summary_sources l WHERE l.source = m.id)",
            (self.no, to_us(before)),
        )
        return int(row[0]) if row else 0

    def turn_vectors(self, items: Sequence[int]) -> dict[int, NDArray[np.float32]]:
        if not self.embedder or not self.dimension:
            return {}
        import numpy as np

        from ltm_core.store.sql.vectors import decode

        sums: dict[int, NDArray[np.float32]] = {}
        for marks, part in batches([self.low + i for i in dict.fromkeys(items)]):
            rows = self._rows(
                "SELECT c.owner, v.id, v.codec, v.vector FROM chunks c JOIN vectors v ON v.id = c.id "
                f"WHERE c.owner IN ({marks}) AND v.embedder = ?",
                (*part, self.embedder),
            )
            for owner, *stored in rows:
                plain = self.opened_vector(*stored)
                if not plain:
                    continue
                vector = decode(plain).astype(np.float32)
                known = sums.get(owner & ITEM_MASK)
                sums[owner & ITEM_MASK] = vector if known is None else known + vector
        return {i: v / n for i, v in sums.items() if (n := float(np.linalg.norm(v))) > 0}

    def retired_alone(self, *, limit: int) -> list[MessageRow]:
        columns = ", ".join(f"m.{c.strip()}" for c in MESSAGE_READ.split(","))
        rows = self._rows(
            f"SELECT {columns} FROM messages m WHERE m.user_no = ? AND {ALONE} ORDER BY m.id LIMIT ?",
            (self.no, limit),
        )
        return [message_from(r, self._codec) for r in rows]


def summary_body(row: SummaryRow) -> dict[str, Any]:
    """The envelope of a summary."""
    body = {
        "id": row.id,
        "lines": [[n.text, n.on.isoformat(), n.speaker, list(n.sources), n.by] for n in row.lines],
        "sources": [[s.item, s.session_id, s.message_id] for s in row.sources],
        "topic": row.topic,
        "language": row.language,
        "by": row.made_by,
        "zone": row.timezone,
        "said": to_us(row.said_at),
        "agent": row.agent_id,
        "task": row.task_id,
        "app": row.app_id,
    }
    return {k: v for k, v in body.items() if v is not None}


def _summary(row: Sequence[Any], codec: Codec, retired: int) -> SummaryRow:
    body = codec.decode(row[7], ("summaries", row[0]))
    return SummaryRow(
        item=row[0] & ITEM_MASK,
        id=body["id"],
        level=_LEVELS[row[1]],
        begins=from_us(row[2]),
        ends=from_us(row[3]),
        timezone=body["zone"],
        lines=tuple(
            SummaryLine(text=text, on=date.fromisoformat(on), speaker=speaker, sources=tuple(sources), by=by)
            for text, on, speaker, sources, by in body["lines"]
        ),
        topic=body["topic"],
        language=body["language"],
        made_by=body["by"],
        sources=tuple(SummarySource(item=i, session_id=s, message_id=m) for i, s, m in body["sources"]),
        said_at=from_us(body["said"]),
        agent_id=body.get("agent"),
        task_id=body.get("task"),
        app_id=body.get("app"),
        recorded_at=from_us(row[4]),
        recallable_at=from_us(row[5]),
        expires_at=from_us(row[6]),
        retired=retired,
    )
