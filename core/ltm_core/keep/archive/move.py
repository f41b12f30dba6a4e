"""Out of the store into files, and back: written and checked first, then all rows at once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ltm_core.keep.archive.files import clear_away, folder_of, reserved, staged, turns_in, unlist
from ltm_core.keep.archive.place import place_of
from ltm_core.keep.archive.reader import terms_of, vector_of
from ltm_core.keep.archive.table import Cold, cold_of
from ltm_core.keep.audit import note
from ltm_core.keep.holdings import holdings, without_summary
from ltm_core.keep.line_values import Limits
from ltm_core.store.base import ChunkWrite

if TYPE_CHECKING:
    from ltm_core.config import Config
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import MessageRow, RowReader, Writer
    from ltm_core.types import Anchor

PER_FILE = 2000
"""Most turns of one file: about 4 MB, read at once."""
FEWEST = 50
"""Fewer old turns of a user wait for more: a file has its price."""
_USERS = 500


def limits_of(config: Config) -> Limits:
    """What a line of a file may hold."""
    return Limits(
        id=config.max_id_characters,
        text=config.max_message_characters,
        metadata=config.max_metadata_bytes,
        document=config.max_document_bytes,
        line=config.max_import_line_bytes,
    )


def move_old(runtime: Runtime, *, now: datetime, dry_run: bool) -> int:
    """Turns neither said nor recalled for `Config.cold_after_days` that nothing in the store needs are in files;
    returns how many."""
    if not runtime.config.cold_after_days:
        return 0
    operations, last, moved = runtime.store.operations(), None, 0
    while page := operations.users(after=last, limit=_USERS):
        for user_id in page:
            while count := _of_user(runtime, user_id, now=now, dry_run=dry_run):
                moved += count
                if dry_run or count < PER_FILE:
                    break
        last = page[-1]
    return moved


def _of_user(runtime: Runtime, user_id: str, *, now: datetime, dry_run: bool) -> int:
    before = now - timedelta(days=runtime.config.cold_after_days)
    with runtime.store.read(user_id) as reader:
        many = len(_old(runtime, reader, before=before, now=now))
    if dry_run or many < FEWEST:
        return many if many >= FEWEST else 0
    name, until = reserved(runtime, user_id)
    with runtime.store.read(user_id) as reader:
        state = reader.user()
        rows, turns = _read(reader, _old(runtime, reader, before=before, now=now)[:PER_FILE])
    if state is None or not turns:
        return 0
    file = staged(runtime, user_id, name, turns)
    with runtime.store.write(user_id) as writer:
        present = writer.user()
        # What is in the file must be what is in the store; the next run begins anew otherwise.
        moves = present is not None and present.revision == state.revision and runtime.now() < until
        if moves:
            writer.add_cold_file(file, rows)
            note(writer, "archive", now=now, counts={"messages": len(rows)})
    if not moves:
        # What is forgotten meanwhile must not lie about in a file that nobody looks into.
        place_of(runtime).delete(folder_of(runtime, user_id), name)
    return len(rows) if moves else 0


def _old(runtime: Runtime, reader: RowReader, *, before: datetime, now: datetime) -> list[int]:
    idle_before = now - timedelta(seconds=runtime.config.session_idle_seconds)
    held = holdings(reader, runtime.lexicon, now=now, idle_before=idle_before)
    state = reader.user()
    waiting = frozenset() if state is None else without_summary(runtime.config, state, held)
    old = [h for h in held if h.owner == "message" and max(h.at, h.used_at or h.at) < before]
    old = [h for h in old if not h.protected and not h.supports and h.item not in waiting]
    return [h.item for h in sorted(old, key=lambda h: (h.at, h.item))]


def _read(reader: RowReader, items: Sequence[int]) -> tuple[list[MessageRow], list[Cold]]:
    rows = reader.messages(items=items)
    anchors, spans = reader.message_anchors(items), reader.chunk_vectors(items)
    return rows, [cold_of(r, anchors.get(r.item, ()), spans.get(r.item, ())) for r in rows]


def restore(runtime: Runtime, user_id: str, *, since: datetime | None, until: datetime | None) -> int:
    """The turns of [since, until) that files hold are in the store again; returns how many."""
    now, total = runtime.now(), 0
    with runtime.store.read(user_id) as reader:
        files = reader.cold_files()
    for file in files:
        if (since is not None and file.last_at < since) or (until is not None and file.first_at >= until):
            continue
        with runtime.store.read(user_id) as reader:
            turns = turns_in(runtime, reader, file)
        limits = limits_of(runtime.config)
        rows = {t.item: t.row(limits) for t in turns}
        back = [t for t in turns if _within(rows[t.item][0].at, since, until)]
        rest = [t for t in turns if not _within(rows[t.item][0].at, since, until)]
        if not back:
            continue
        name, valid_to = reserved(runtime, user_id)
        other = staged(runtime, user_id, name, rest) if rest else None
        with runtime.store.write(user_id) as writer:
            lost = file not in writer.cold_files() or runtime.now() >= valid_to
            if not lost:
                unlist(writer, folder_of(runtime, user_id), file, other, [t.item for t in rest], now)
                for turn in back:
                    put_back(writer, *rows[turn.item], turn)
                # Whoever brings them back needs them: the next night neither moves nor forgets them.
                asked = [rows[t.item][0] for t in back]
                writer.touch_messages([(m.session_id, m.id) for m in asked], now=now, count=0)
                note(writer, "restore_archive", now=now, counts={"messages": len(back)})
        if lost:
            place_of(runtime).delete(folder_of(runtime, user_id), name)
            continue
        total += len(back)
    clear_away(runtime, now=now)
    return total


def put_back(writer: Writer, row: MessageRow, anchors: Sequence[Anchor], turn: Cold) -> None:
    """The turn is stored and indexed as it was, with the vectors of the file."""
    stored = writer.add_message(row)
    chunks = [ChunkWrite(start=s, end=e, terms=terms_of(row, s, e), vector=vector_of(v)) for s, e, v in turn.spans]
    writer.set_chunks(
        "message",
        stored.item,
        chunks,
        at=row.at,
        session_id=row.session_id,
        agent_id=row.agent_id,
        task_id=row.task_id,
        app_id=row.app_id,
        role=row.role,
        act=row.act,
        importance=row.importance,
        expires_at=row.expires_at,
    )
    if row.access_count and row.last_access_at is not None:
        writer.touch_messages([(row.session_id, row.id)], now=row.last_access_at, count=row.access_count)
    for anchor in anchors:
        writer.add_anchor(anchor, session_id=row.session_id, at=row.at)


def _within(at: datetime, since: datetime | None, until: datetime | None) -> bool:
    return (since is None or at >= since) and (until is None or at < until)


__all__ = ["FEWEST", "PER_FILE", "limits_of", "move_old", "restore"]
