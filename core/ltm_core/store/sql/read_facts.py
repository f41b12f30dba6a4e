"""Reading facts with their evidence, as they are or as they were known."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ltm_core.store.sql.base import View
from ltm_core.store.sql.conditions import CURRENT, CURRENT_TAKES, WAITING, WAITING_TAKES
from ltm_core.store.sql.kept import FEW
from ltm_core.store.sql.layout import NO_LIMIT, batches
from ltm_core.store.sql.readable import readable
from ltm_core.store.sql.records import FACT_READ, ITEM_MASK, fact_from
from ltm_core.store.times import to_us
from ltm_core.types import Evidence, Fact

_WHOLE = "id > ? AND id < ?"
_MANY = 200
"""From this many facts on, one range read of their evidence is cheaper than lookups."""


def _ordered(condition: str, newest_first: bool, limit: int) -> str:
    """What a selection ends with. Without a limit the few rows are sorted here: a planner that is to give them in
    order may walk through all facts of the user. With one, an expression keeps it from that, unless it is all facts
    that are asked for."""
    if limit == NO_LIMIT:
        return ""
    key = "id" if condition == _WHOLE else "id + 0"
    return f" ORDER BY {key} {'DESC' if newest_first else 'ASC'} LIMIT ?"


def _by_fact(keys: Sequence[int], answers: Sequence[Sequence[tuple[Any, ...]]]) -> dict[int, list[tuple[Any, ...]]]:
    """Rows by their first value, of these keys only; each key has a list."""
    found: dict[int, list[tuple[Any, ...]]] = {k: [] for k in keys}
    for answer in answers:
        for row in answer:
            own = found.get(row[0])
            if own is not None:
                own.append(row)
    return found


class FactView(View):
    """The semantic side of a reader."""

    def fact(self, id: str) -> Fact | None:
        found = self.facts(ids=[id])
        return found[0] if found else None

    def fact_item(self, id: str) -> int | None:
        row = self._one("SELECT id FROM facts WHERE user_no = ? AND id_mac = ?", (self.no, self._keyed.mac(id)))
        return None if row is None else row[0] & ITEM_MASK

    def predecessors(self, ids: Sequence[str]) -> dict[str, list[Fact]]:
        found: dict[str, list[Fact]] = {i: [] for i in ids}
        by_mac = {self._keyed.mac(i): i for i in found}
        links = self.all(
            [
                (f"SELECT id, superseded_by FROM facts WHERE user_no = ? AND superseded_by IN ({m})", (self.no, *p))
                for m, p in batches(list(by_mac))
            ]
        )
        later = {row: by_mac[bytes(mac)] for rows in links for row, mac in rows}
        listed = sorted(later)
        facts = self._facts([(f"id IN ({m})", p) for m, p in batches(listed)], "", (), None, listed=listed)
        for row, fact in zip(listed, facts, strict=True):
            found[later[row]].append(fact)
        return found

    def facts(
        self,
        *,
        items: Sequence[int] | None = None,
        ids: Sequence[str] | None = None,
        subject: str | None = None,
        subjects: Sequence[str] | None = None,
        relation: str | None = None,
        slots: Sequence[tuple[str, str]] | None = None,
        objects: Sequence[str] | None = None,
        current_at: datetime | None = None,
        past_at: datetime | None = None,
        waiting_at: datetime | None = None,
        known_at: datetime | None = None,
        evidence_of: Sequence[str] | None = None,
        after_item: int = 0,
        newest_first: bool = False,
        limit: int | None = None,
    ) -> list[Fact]:
        keyed = self._keyed
        where: list[str] = []
        values: list[Any] = []
        if subject is not None:
            where.append("subject = ?")
            values.append(keyed.folded(subject))
        if subjects is not None:
            # Numbers of our own hash, not text: they are written into the statement.
            lists = list(batches([keyed.folded(s) for s in dict.fromkeys(subjects)]))
            where.append(f"({' OR '.join(f'subject IN ({m})' for m, _ in lists) or '1 = 0'})")
            values += [v for _, part in lists for v in part]
        if relation is not None:
            where.append("relation = ?")
            values.append(keyed.folded(relation))
        if current_at is not None and known_at is None:
            where.append(CURRENT)
            values += [to_us(current_at)] * CURRENT_TAKES
        if past_at is not None:
            where.append(f"NOT ({CURRENT})")
            values += [to_us(past_at)] * CURRENT_TAKES
        if waiting_at is not None:
            where.append(WAITING)
            values += [to_us(waiting_at)] * WAITING_TAKES
        if known_at is not None:
            where.append("recorded_at <= ?")
            values.append(to_us(known_at))

        selections: list[tuple[str, tuple[Any, ...]]] = []
        listed: Sequence[int] | None = None
        if items is not None:
            listed = self.row_ids(items)
        elif ids is not None:
            macs = [keyed.mac(i) for i in dict.fromkeys(ids)]
            selections = [(f"user_no = ? AND id_mac IN ({m})", (self.no, *p)) for m, p in batches(macs)]
        elif slots is not None:
            pairs = [keyed.pair(s, r) for s, r in dict.fromkeys(slots)]
            selections = [(f"user_no = ? AND slot IN ({m})", (self.no, *p)) for m, p in batches(pairs)]
        elif objects is not None:
            things = [keyed.folded(o) for o in dict.fromkeys(objects)]
            selections = [(f"user_no = ? AND object IN ({m})", (self.no, *p)) for m, p in batches(things)]
        elif evidence_of is None:
            selections = [(_WHOLE, (self.low + after_item, self.high))]
        if selections and selections[0][0] == _WHOLE and known_at is None and not after_item:
            listed = self._few(subject, waiting_at)
        supported = None if evidence_of is None else self._supported(evidence_of)
        if supported is not None and not selections and listed is None:
            listed = sorted(supported)
        if listed is not None:
            selections = [(f"id IN ({m})", p) for m, p in batches(listed)]
        rest = "".join(f" AND {w}" for w in where)
        return self._facts(
            selections,
            rest,
            tuple(values),
            limit,
            current_at,
            known_at,
            after_item,
            supported,
            newest_first,
            listed or (),
        )

    def _few(self, subject: str | None, waiting_at: datetime | None) -> Sequence[int] | None:
        """The few facts of a subject, or the few that may be waiting, in place of all of the user's; None when they
        are not few."""
        base, inside = f"SELECT id FROM facts WHERE {_WHOLE}", (self.low, self.high)
        few: tuple[int, ...] | None = None
        if subject is not None:
            key = self._keyed.folded(subject)
            sql = f"{base} AND subject = ? LIMIT {FEW + 1}"
            few = self._core.kept.few(self, "subject", key, 0, lambda: self._rows(sql, (*inside, key)))
        elif waiting_at is not None:
            # What waits now was suppressed or lay ahead at any moment before, too.
            moment = to_us(waiting_at)
            sql = f"{base} AND retracted_at IS NULL AND (suppressed_at IS NOT NULL OR valid_from > ?) LIMIT {FEW + 1}"
            few = self._core.kept.few(self, "waiting", 0, moment, lambda: self._rows(sql, (*inside, moment)))
        return few

    def _supported(self, message_ids: Sequence[str]) -> set[int]:
        found: set[int] = set()
        for marks, part in batches([self._keyed.mac(i) for i in dict.fromkeys(message_ids)]):
            rows = self._rows(
                f"SELECT fact FROM evidence WHERE user_no = ? AND message_mac IN ({marks})", (self.no, *part)
            )
            found.update(r[0] for r in rows)
        return found

    def _facts(
        self,
        selections: Sequence[tuple[str, tuple[Any, ...]]],
        where: str,
        values: tuple[Any, ...],
        limit: int | None,
        current_at: datetime | None = None,
        known_at: datetime | None = None,
        after_item: int = 0,
        only: set[int] | None = None,
        newest_first: bool = False,
        listed: Sequence[int] = (),
    ) -> list[Fact]:
        # Whether a fact held as it was known then is decided after its earlier times are in place.
        later = known_at is not None or only is not None
        end = NO_LIMIT if limit is None or later else limit
        most = () if end == NO_LIMIT else (end,)
        asked = [
            (
                f"SELECT {FACT_READ} FROM facts WHERE {c}{where}{_ordered(c, newest_first, end)}",
                (*part, *values, *most),
            )
            for c, part in selections
        ]
        # What is listed is known before the rows are there.
        along = self._evidence_of(listed) if listed else []
        answers = self.all([*asked, *along])
        rows = [row for answer in answers[: len(asked)] for row in answer]
        rows.sort(key=lambda r: r[0], reverse=newest_first)
        first = self.low + after_item
        rows = [r for r in rows if r[0] > first and (only is None or r[0] in only)]
        if known_at is None:
            rows = rows[:limit]
        keys = [r[0] for r in rows]
        told = _by_fact(keys, answers[len(asked) :]) if listed else self._evidence(keys)
        earlier = {} if known_at is None else self._earlier(keys, to_us(known_at))
        moment = to_us(current_at or self._core.clock())

        def made(row: tuple[Any, ...]) -> Fact:
            return fact_from(
                row,
                self._codec,
                user_id=self._user_id,
                told=self._told(told.get(row[0], ())),
                earlier=earlier.get(row[0]),
                moment=moment,
            )

        facts = [made(r) for r in rows] if earlier else self._core.kept.facts(self, rows, told, moment, made)
        if known_at is not None and current_at is not None:
            facts = [f for f in facts if f.is_current]
        return facts[:limit]

    def _evidence(self, keys: Sequence[int]) -> dict[int, list[tuple[Any, ...]]]:
        """Fact, ordinal, start, end and message of every piece of evidence, undecoded, by row id of the fact."""
        return _by_fact(keys, self.all(self._evidence_of(keys)))

    def _evidence_of(self, keys: Sequence[int]) -> list[tuple[str, tuple[Any, ...]]]:
        """The statements for the evidence of these facts."""
        columns = 'fact, ordinal, "start", "end", body'
        return [
            (f"SELECT {columns} FROM evidence WHERE {condition} ORDER BY fact, ordinal", part)
            for condition, part in self._near(keys)
        ]

    @readable
    def _told(self, rows: Sequence[tuple[Any, ...]]) -> tuple[tuple[Evidence, ...], tuple[str, ...]]:
        """Spans of messages, and the messages that support the fact as a whole."""
        decoded = [
            (start, end, self._codec.decode(blob, ("evidence", fact, ordinal)))
            for fact, ordinal, start, end, blob in rows
        ]
        spans = tuple(Evidence(message_id=m, start=s, end=e) for s, e, m in decoded if s is not None)
        return spans, tuple(m for s, _, m in decoded if s is None)

    def _earlier(self, keys: Sequence[int], moment: int) -> dict[int, dict[str, Any]]:
        found: dict[int, dict[str, Any]] = {}
        for condition, part in self._near(keys):
            sql = (
                f"SELECT fact, known_until, body FROM fact_versions WHERE {condition} AND known_until > ? "
                "ORDER BY fact, known_until"
            )
            for fact, until, blob in self._rows(sql, (*part, moment)):
                if fact not in found:
                    found[fact] = self._codec.decode(blob, ("fact_versions", fact, until))
        return found

    def _near(self, keys: Sequence[int]) -> list[tuple[str, tuple[Any, ...]]]:
        if len(keys) > _MANY:
            return [("fact >= ? AND fact <= ?", (min(keys), max(keys)))]
        return [(f"fact IN ({marks})", part) for marks, part in batches(keys)]
