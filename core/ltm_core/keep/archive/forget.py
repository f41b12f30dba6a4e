"""Forgetting reaches the files: a turn is taken out of its file, a phrase is overwritten in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ltm_core.errors import BusyError
from ltm_core.keep.archive.files import COLD_JOB, clear_away, folder_of, reserved, staged, turns_in, unlist
from ltm_core.keep.archive.move import limits_of
from ltm_core.keep.archive.place import place_of
from ltm_core.keep.archive.table import Cold
from ltm_core.keep.redaction import overwritten, patterns_of
from ltm_core.store.base import Job
from ltm_core.write.forgotten import phrase_entries
from ltm_core.write.statuses import content_key, message_key

if TYPE_CHECKING:
    import re

    from ltm_core.keep.asked import Target
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import MessageRow, Reader, Writer


_TRIES = 3
_MANY = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to go from the files of a user: whole turns by item, and phrases wherever they stand."""

    items: Collection[int] = ()
    phrases: Sequence[str] = ()


def named(reader: Reader, *, session_id: str | None = None, ids: Sequence[str] | None = None) -> set[int]:
    """Items of the turns that files hold, by session and id."""
    return {t.item for t in reader.cold_turns(session_id=session_id, ids=ids)}


def holding(runtime: Runtime, reader: Reader, phrases: Sequence[str]) -> list[str]:
    """Ids of the turns in files that hold one of the phrases."""
    patterns = patterns_of(phrases)
    if not patterns:
        return []
    turns = (t for f in reader.cold_files() for t in turns_in(runtime, reader, f))
    return [str(t.line["id"]) for t in turns if _cleaned(t, patterns) is not t]


def forget_cold(runtime: Runtime, user_id: str, find: Callable[[Reader], Wanted]) -> dict[str, int]:
    """What ``find`` names is in no file; counts of turns. Nothing happens for a user without files.

    A file is written anew without it, listed in place of the old one together with the tombstones, and the old
    one is deleted; an unfinished call is finished by calling it again.
    """
    counts: Counter[str] = Counter()
    for _ in range(_TRIES):
        if not _once(runtime, user_id, find, counts):
            break
    else:
        raise BusyError("the user's files were replaced again and again; nothing was forgotten in some: try again")
    if counts:
        clear_away(runtime, now=runtime.now())
    return {k: n for k, n in counts.items() if n}


def _once(runtime: Runtime, user_id: str, find: Callable[[Reader], Wanted], counts: Counter[str]) -> bool:
    """Every file was looked at once; True when one was replaced meanwhile by somebody else."""
    with runtime.store.read(user_id) as reader:
        files = reader.cold_files()
        wanted = find(reader) if files else Wanted()
        touched = {t.file for t in reader.cold_turns() if t.item in wanted.items} if wanted.items else set()
    patterns = patterns_of(wanted.phrases)
    now, folder, again = runtime.now(), folder_of(runtime, user_id), False
    for file in files:
        if not patterns and file.item not in touched:
            continue
        with runtime.store.read(user_id) as reader:
            if file not in reader.cold_files():
                again = True
                continue
            turns = turns_in(runtime, reader, file)
        kept, gone, changed = _sorted(turns, wanted, patterns)
        if not gone and not changed:
            continue
        rows = [t.row(limits_of(runtime.config))[0] for t in (*gone, *changed)]
        name, until = reserved(runtime, user_id)
        by = staged(runtime, user_id, name, kept) if kept else None
        with runtime.store.write(user_id) as writer:
            lost = file not in writer.cold_files() or runtime.now() >= until
            if not lost:
                unlist(writer, folder, file, by, [t.item for t in kept], now)
                _never_again(writer, rows, gone=len(gone), phrases=wanted.phrases, now=now)
        if lost:
            # What somebody else took out of the file meanwhile must not lie about in this one.
            place_of(runtime).delete(folder, name)
            again = True
            continue
        counts.update(messages_deleted=len(gone), messages_redacted=len(changed))
    return again


def forget_asked(runtime: Runtime, user_id: str, targets: Iterable[Target]) -> None:
    """What the user asked in the chat to be forgotten is in no file either."""
    phrases = [p for t in targets if t.request.mode == "erase" for p in t.traced.phrases]
    if phrases:
        forget_cold(runtime, user_id, lambda reader: Wanted(phrases=phrases))


def _sorted(
    turns: Sequence[Cold], wanted: Wanted, patterns: Sequence[re.Pattern[str]]
) -> tuple[list[Cold], list[Cold], list[Cold]]:
    """(what the new file holds, what is in it no more, what stood there before it was overwritten)."""
    kept, gone, changed = [], [], []
    for turn in turns:
        clean = turn if turn.item in wanted.items else _cleaned(turn, patterns)
        if turn.item in wanted.items:
            gone.append(turn)
            continue
        kept.append(clean)
        if clean is not turn:
            changed.append(turn)
    return kept, gone, changed


def _cleaned(turn: Cold, patterns: Sequence[re.Pattern[str]]) -> Cold:
    said = {k: turn.line[k] for k in ("content", "name", "metadata", "anchors") if k in turn.line}
    after = overwritten(said, patterns) if patterns else said
    if after == said:
        return turn
    anchors = [a for a in said.get("anchors", ()) if overwritten(a, patterns) == a]
    line = {**turn.line, **after, "anchors": anchors}
    if after.get("name") != said.get("name"):
        line.pop("name", None)
    # What was embedded says something else than what is left.
    return Cold(item=turn.item, line=line, spans=[(s, e, None) for s, e, _ in turn.spans])


def _never_again(
    writer: Writer, rows: Sequence[MessageRow], *, gone: int, phrases: Sequence[str], now: datetime
) -> None:
    """Neither what went nor what was overwritten is taken in when it is told again as it was."""
    entries = [("content", content_key(r.content_mac or writer.content_mac(r.content))) for r in rows]
    entries += [("message", message_key(r.session_id, r.id)) for r in rows if r.has_caller_id]
    writer.add_tombstones([*entries, *phrase_entries(phrases)], now=now)
    writer.add_ghosts(rows[:gone])


def has_or_gets_files(runtime: Runtime, user_id: str) -> bool:
    """Whether files hold turns of the user, or one is being written, or was when its process ended."""
    with runtime.store.read(user_id) as reader:
        if reader.cold_files():
            return True
    lease = timedelta(seconds=runtime.config.job_lease_seconds)
    waiting = runtime.store.operations().due_jobs(now=runtime.now() + lease, kinds=(COLD_JOB,), limit=_MANY)
    return len(waiting) == _MANY or any(j.user_id == user_id for j in waiting)


def forget_user_files(runtime: Runtime, writer: Writer, *, now: datetime) -> None:
    """Every file of the user goes, by jobs of the store that outlive the user's rows: now, and once more when who
    was writing one has given up."""
    folder = folder_of(runtime, writer.user_id)
    for moment in (now, now + timedelta(seconds=runtime.config.job_lease_seconds)):
        writer.add_job(Job(kind=COLD_JOB, payload={"folder": folder}, run_after=moment))


__all__ = ["Wanted", "forget_asked", "forget_cold", "forget_user_files", "has_or_gets_files", "holding", "named"]
