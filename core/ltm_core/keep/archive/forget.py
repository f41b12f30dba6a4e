"""Forgetting reaches the files: a turn is taken out of its file, a phrase is overwritten in it."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ltm_core.errors import BusyError, LTMError, NotFoundError
from ltm_core.keep.archive.files import (
    CLEAN_JOB,
    COLD_JOB,
    clear_away,
    folder_of,
    reserved,
    said_of,
    staged,
    turns_in,
    unlist,
)
from ltm_core.keep.archive.move import limits_of
from ltm_core.keep.archive.place import place_of
from ltm_core.keep.archive.table import Cold
from ltm_core.keep.erased import texts_in
from ltm_core.keep.redaction import overwritten, patterns_of
from ltm_core.store.base import Job
from ltm_core.write.incoming.forgotten import forgotten_phrases, phrase_entries
from ltm_core.write.incoming.statuses import content_key, message_key

if TYPE_CHECKING:
    import re

    from ltm_core.runtime import Runtime
    from ltm_core.store.base import MessageRow, Reader, Writer


log = logging.getLogger("ltm")
_TRIES = 3
_MANY = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to go from the files of a user: whole turns by item, and phrases wherever they stand.

    With ``known`` the phrases are those of the tombstones, in turns that were said before.
    """

    items: Collection[int] = ()
    phrases: Sequence[str] = ()
    known: bool = False


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
        if not patterns and not wanted.known and file.item not in touched:
            continue
        with runtime.store.read(user_id) as reader:
            if file not in reader.cold_files():
                again = True
                continue
            turns = turns_in(runtime, reader, file)
            known = {t.item: _known_in(runtime, reader, t) for t in turns} if wanted.known else {}
        kept, gone, changed = _sorted(turns, wanted, patterns, known)
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


def clean_asked(
    runtime: Runtime,
    *,
    now: datetime,
    user_id: str | None = None,
    phrases: Iterable[Sequence[str]] = (),
    limit: int = 1000,
) -> int:
    """What users asked in the chat to be forgotten is in no file either, by the jobs of the transactions in which it
    was forgotten; of one user, or of all. ``phrases``: what it was, per request, where that is still known.

    A place that cannot be reached, or a damaged file, puts the job off. Returns how many are done.
    """
    operations, done = runtime.store.operations(), 0
    told: dict[str, Sequence[str]] = {}
    if user_id is not None:
        with runtime.store.read(user_id) as reader:
            told = {said_of(reader, p): p for p in phrases}
    for job in operations.due_jobs(now=now, kinds=(CLEAN_JOB,), limit=limit):
        if job.user_id is None or user_id not in (None, job.user_id):
            continue
        try:
            said = told.get(str(job.payload.get("said")))
            _clean(runtime, job.user_id, Wanted(known=True) if said is None else Wanted(phrases=said))
        except LTMError as e:
            log.warning("files of the archive still hold what was forgotten, maintain() tries again: %s", e)
            wait = runtime.config.job_retry_seconds * 2 ** min(job.attempts, 10)
            operations.fail_job(job.id, error=str(e), retry_at=now + timedelta(seconds=wait))
            continue
        # Whoever was faster has ended it.
        with suppress(NotFoundError):
            operations.finish_job(job.id)
        done += 1
    return done


def _clean(runtime: Runtime, user_id: str, wanted: Wanted) -> None:
    forget_cold(runtime, user_id, lambda reader: wanted)


def _known_in(runtime: Runtime, reader: Reader, turn: Cold) -> list[re.Pattern[str]]:
    """The forgotten phrases that stand in the turn and were forgotten after it was said."""
    row, _ = turn.row(limits_of(runtime.config))
    said = min(row.at, row.recorded_at)
    told = [t for t in texts_in(_sayings(turn)) if t]
    found = {p for t in told for p in forgotten_phrases(reader, t, lambda at: at is not None and said <= at)}
    return patterns_of(sorted(found))


def _sorted(
    turns: Sequence[Cold],
    wanted: Wanted,
    patterns: Sequence[re.Pattern[str]],
    known: Mapping[int, Sequence[re.Pattern[str]]],
) -> tuple[list[Cold], list[Cold], list[Cold]]:
    """(what the new file holds, what is in it no more, what stood there before it was overwritten)."""
    kept, gone, changed = [], [], []
    for turn in turns:
        clean = turn if turn.item in wanted.items else _cleaned(turn, [*patterns, *known.get(turn.item, ())])
        if turn.item in wanted.items:
            gone.append(turn)
            continue
        kept.append(clean)
        if clean is not turn:
            changed.append(turn)
    return kept, gone, changed


def _cleaned(turn: Cold, patterns: Sequence[re.Pattern[str]]) -> Cold:
    said = _sayings(turn)
    after = overwritten(said, patterns) if patterns else said
    if after == said:
        return turn
    anchors = [a for a in said.get("anchors", ()) if overwritten(a, patterns) == a]
    line = {**turn.line, **after, "anchors": anchors}
    if after.get("name") != said.get("name"):
        line.pop("name", None)
    # What was embedded says something else than what is left.
    return Cold(item=turn.item, line=line, spans=[(s, e, None) for s, e, _ in turn.spans])


def _sayings(turn: Cold) -> dict[str, Any]:
    return {k: turn.line[k] for k in ("content", "name", "metadata", "anchors") if k in turn.line}


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


__all__ = ["Wanted", "clean_asked", "forget_cold", "forget_user_files", "has_or_gets_files", "holding", "named"]
