"""From the lines of an export to rows: which are new, which are refused, and how each is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ltm_core.errors import InvalidInputError
from ltm_core.keep.belief import NEEDS_TRUST, believed_fact, believed_message
from ltm_core.keep.document_lines import Indexed, document_of, is_over, is_there
from ltm_core.keep.erased import Erased
from ltm_core.keep.feed import Feed, mark
from ltm_core.keep.ready import ERASED, Ready, Vectors
from ltm_core.keep.revise import one_value
from ltm_core.keep.rowmaking import change_of, fact_of, masked_fact, masked_message, message_of, session_of, slot_of
from ltm_core.keep.summary_lines import summary_line_taken
from ltm_core.types import Fact, FactChange
from ltm_core.when import stored_zone, zone_of
from ltm_core.write.apply import apply_decisions, store_fact
from ltm_core.write.incoming.index import Unit, index_message, meaning_of, message_units
from ltm_core.write.incoming.redact import redact_value

if TYPE_CHECKING:
    from ltm_core.keep.importing import Tally
    from ltm_core.keep.lines import Line
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import MessageRow, RowReader, Writer
    from ltm_core.store.rows import FactRow


class Taker:
    """Takes in the lines of one file, batch by batch. `choose` looks, `Ready.write` writes."""

    def __init__(self, runtime: Runtime, user_id: str, *, trust: bool, allow_erased: bool) -> None:
        self._runtime = runtime
        self._user = user_id
        self._trust = trust
        self._allow_erased = allow_erased
        self._mask = runtime.config.redact_pii
        self._facts: set[str] = set()
        """Ids of the file's facts so far: of two values that came together, both stay as they were."""
        self._lengths: dict[str, int] = {}
        """Length of the messages whose words were masked: their evidence is the whole message."""
        self._feed = Feed()
        self._units: dict[tuple[Any, ...], tuple[Unit, ...]] = {}
        """Of the turns of this batch: it is chosen twice."""
        self._documents: dict[tuple[Any, ...], Indexed] = {}
        """The same of its documents."""
        self.paused_at: datetime | None = None

    def choose(self, reader: RowReader, batch: Sequence[tuple[int, Line]], tally: Tally) -> list[Ready]:
        """The rows of the batch that are to be written, as of this moment of the store."""
        erased = None if self._allow_erased else Erased(reader)
        found: list[Ready] = []
        new: dict[tuple[Any, ...], MessageRow | None] = {}
        self._feed.begin()
        now = self._runtime.now()
        for number, line in batch:
            try:
                ready = self._one(reader, line, erased, new, now)
            except InvalidInputError as e:
                tally.refuse(number, line.kind, str(e))
                continue
            if ready is None:
                tally.known[line.kind] += 1
            else:
                found.append(ready)
        return found

    def commit(self, chosen: Sequence[Ready], *, revision: int) -> None:
        """The batch that was chosen last is written, and the user's data has this revision now."""
        self._units.clear()
        self._documents.clear()
        self._feed.commit((r.key[1] for r in chosen if r.kind == "change"), revision=revision)

    # one line -----------------------------------------------------------------------------------------
    def _one(
        self,
        reader: RowReader,
        line: Line,
        erased: Erased | None,
        new: dict[tuple[Any, ...], MessageRow | None],
        now: datetime,
    ) -> Ready | None:
        match line.kind:
            case "user":
                return self._user_line(reader, line, erased, new)
            case "session":
                return self._session(reader, line, erased, new, now)
            case "message":
                return self._message(reader, line, erased, new, now)
            case "slot":
                return self._slot(reader, line, erased, new, now)
            case "fact":
                return self._fact(reader, line, erased, new, now)
            case "summary":
                return summary_line_taken(self._runtime, reader, line, erased, new, trust=self._trust)
            case "document":
                return self._document(reader, line, erased, new, now)
            case _:
                return self._change(reader, line, erased)

    def _user_line(
        self, reader: RowReader, line: Line, erased: Erased | None, new: dict[tuple[Any, ...], Any]
    ) -> Ready | None:
        values = line.values
        zone, created = values.get("timezone"), values["created_at"]
        if zone is not None:
            try:
                zone_of(zone)
            except InvalidInputError:
                raise InvalidInputError("timezone: no IANA time zone") from None
        if reader.user() is not None or ("user",) in new:
            return None
        if erased is not None and erased.user(created):
            raise InvalidInputError(ERASED)
        new["user",] = None
        self.paused_at = values.get("paused_at") if self._trust else None
        retention = values.get("retention") if self._trust else None

        def write(writer: Writer, _: Vectors) -> None:
            writer.ensure_user(now=created if self._trust else self._runtime.now(), timezone=zone)
            if retention is not None:
                writer.set_user(retention=retention)

        return Ready(kind="user", key=("user",), write=write)

    def _session(
        self, reader: RowReader, line: Line, erased: Erased | None, new: dict[tuple[Any, ...], Any], now: datetime
    ) -> Ready | None:
        row = session_of(line)
        key = ("session", row.session.id)
        if key in new or reader.session(row.session.id) is not None:
            return None
        if erased is not None and erased.session(row):
            raise InvalidInputError(ERASED)
        new[key] = None
        if not self._trust:
            row = replace(row, arrived_at=now)
        return Ready(kind="session", key=key, write=lambda writer, _: writer.add_session(row))

    def _message(
        self,
        reader: RowReader,
        line: Line,
        erased: Erased | None,
        new: dict[tuple[Any, ...], MessageRow | None],
        now: datetime,
    ) -> Ready | None:
        row, anchors = message_of(line)
        key = ("message", row.session_id, row.id)
        if key in new or reader.message(row.id, session_id=row.session_id) is not None:
            return None
        if erased is not None and erased.message(row):
            raise InvalidInputError(ERASED)
        if not self._trust:
            row = believed_message(row, now=now)
        if self._mask:
            row, anchors, changed = masked_message(row, anchors)
            if changed:
                self._lengths[row.id] = max(len(row.content), self._lengths.get(row.id, 0))
        new[key] = row
        units = self._units.get(key)
        if units is None:
            units = self._units[key] = (
                ()
                if row.retired_at is not None
                else message_units(
                    row.content,
                    speaker=row.name or row.role,
                    on=row.at.astimezone(stored_zone(row.timezone)).date(),
                    named=row.name is not None,
                    config=self._runtime.config,
                )
            )

        def write(writer: Writer, vectors: Vectors) -> None:
            stored = writer.add_message(row)
            index_message(writer, stored, units, vectors)
            if row.access_count and row.last_access_at is not None:
                writer.touch_messages([(row.session_id, row.id)], now=row.last_access_at, count=row.access_count)
            for anchor in anchors:
                writer.add_anchor(anchor, session_id=row.session_id, at=row.at)

        return Ready(kind="message", key=key, write=write, texts=tuple(u.embed for u in units))

    def _slot(
        self, reader: RowReader, line: Line, erased: Erased | None, new: dict[tuple[Any, ...], Any], now: datetime
    ) -> Ready | None:
        session_id, slot = slot_of(line)
        key = ("slot", session_id, slot.name)
        known = any(s.name == slot.name for s in reader.slots(session_id, now=now))
        if key in new or known or (slot.expires_at is not None and slot.expires_at <= now):
            return None
        if not self._trust:
            raise InvalidInputError(NEEDS_TRUST)
        if erased is not None and erased.slot(session_id, slot):
            raise InvalidInputError(ERASED)
        new[key] = None
        if self._mask:
            slot = replace(slot, value=redact_value(slot.value))
        return Ready(kind="slot", key=key, write=lambda writer, _: writer.set_slot(session_id, slot))

    def _fact(
        self,
        reader: RowReader,
        line: Line,
        erased: Erased | None,
        new: dict[tuple[Any, ...], MessageRow | None],
        now: datetime,
    ) -> Ready | None:
        row = fact_of(line, user_id=self._user)
        key = ("fact", row.fact.id)
        self._facts.add(row.fact.id)
        if key in new or reader.fact_item(row.fact.id) is not None:
            return None
        if erased is not None and erased.fact(row):
            raise InvalidInputError(ERASED)
        if not self._trust:
            row = believed_fact(row, self._said(reader, row, new), now=now)
        if self._mask:
            row = masked_fact(row, self._lengths)
        new[key] = None
        fact = row.fact
        embed = meaning_of(fact)

        def write(writer: Writer, vectors: Vectors) -> None:
            store_fact(writer, fact, vectors=vectors)
            if row.earlier or row.last_access_at is not None:
                writer.set_fact_past(fact.id, row.earlier, last_access_at=row.last_access_at)
            if not self._trust:
                writer.log_change(FactChange(op="add", fact=fact, reason="imported", at=now))
            # Rows above may have been dated by their own times; what is closed here is closed now.
            writer.ensure_user(now=now)
            over = one_value(self._runtime, writer, fact, now=now, besides=self._facts - {fact.id})
            apply_decisions(writer, over, now=now, vectors={})

        return Ready(kind="fact", key=key, write=write, texts=(embed,))

    def _said(
        self, reader: RowReader, row: FactRow, new: Mapping[tuple[Any, ...], MessageRow | None]
    ) -> dict[str, list[str]]:
        """The words of the user's own messages that the fact names as evidence."""
        ids = {e.message_id for e in row.fact.evidence}
        stored = reader.messages(ids=sorted(ids), roles=("user",)) if ids else []
        fresh = [m for m in new.values() if m is not None and m.id in ids and m.role == "user"]
        said: dict[str, list[str]] = {}
        for m in (*stored, *fresh):
            said.setdefault(m.id, []).append(m.content)
        return said

    def _document(
        self, reader: RowReader, line: Line, erased: Erased | None, new: dict[tuple[Any, ...], Any], now: datetime
    ) -> Ready | None:
        row = document_of(line, now)
        key = ("document", row.namespace, row.key)
        if key in new or is_over(row, now) or is_there(reader, row, now):
            return None
        if not self._trust:
            raise InvalidInputError(NEEDS_TRUST)
        if erased is not None and erased.document(row):
            raise InvalidInputError(ERASED)
        new[key] = None
        if key not in self._documents:
            self._documents[key] = Indexed.of(row, self._runtime.config)
        made = self._documents[key]
        texts = tuple(text for _, _, text in made.pieces)
        return Ready(kind="document", key=key, write=lambda writer, v: made.write(writer, v, now), texts=texts)

    def _change(self, reader: RowReader, line: Line, erased: Erased | None) -> Ready | None:
        if not self._trust:
            raise InvalidInputError(NEEDS_TRUST)
        change = change_of(line, user_id=self._user)
        if not self._feed.is_new(reader, change):
            return None
        if erased is not None and erased.change(change):
            raise InvalidInputError(ERASED)

        def write(writer: Writer, _: Vectors) -> None:
            ids = [i for i in (change.fact.id, change.previous.id if change.previous else None) if i is not None]
            facts: dict[str, Fact] = {f.id: f for f in writer.facts(ids=ids)}
            previous = None if change.previous is None else facts.get(change.previous.id, change.previous)
            fact = facts.get(change.fact.id, change.fact)
            writer.log_change(replace(change, fact=fact, previous=previous))

        return Ready(kind="change", key=("change", mark(change)), write=write)
