"""The files of one user: written before the store knows of them, deleted after it forgot them.

Every file that may have to go is first a job in the store, so that a kill leaves nothing lost, doubled or lying
about: the job deletes its file unless the store lists it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ltm_core.errors import CorruptError, UnavailableError
from ltm_core.keep.archive.place import SUFFIX, place_of
from ltm_core.keep.archive.table import Cold, digest_of, packed, unpacked
from ltm_core.store.base import Job
from ltm_core.store.rows import ColdFile

if TYPE_CHECKING:
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import Operations, Reader, Writer

COLD_JOB = "cold-delete"
"""Payload: folder, and name of one file in it; without a name the folder."""
CLEAN_JOB = "cold-clean"
"""What its user asked to be forgotten may still stand in the user's files. Payload: `said_of` the phrases; the
tombstones find them again."""


def folder_of(runtime: Runtime, user_id: str) -> str:
    """The keyed hash of the user's id: no file name tells whose it is."""
    return runtime.store.mac(user_id)


def embedder_of(operations: Operations) -> str:
    """The identity by which a file says whose vectors it holds."""
    return operations.embedder_identity() or ""


def reserved(runtime: Runtime, user_id: str) -> tuple[str, datetime]:
    """The name of a file to come, and until when it may be listed: its job is in the store already."""
    name, now = f"{runtime.new_id()}{SUFFIX}", runtime.now()
    lease = timedelta(seconds=runtime.config.job_lease_seconds)
    payload = {"folder": folder_of(runtime, user_id), "name": name}
    with runtime.store.write(user_id) as writer:
        writer.add_job(Job(kind=COLD_JOB, user_id=user_id, payload=payload, run_after=now + lease))
    # Beyond half the lease another process may soon begin to clear the file away.
    return name, now + lease / 2


def staged(runtime: Runtime, user_id: str, name: str, turns: Sequence[Cold]) -> ColdFile:
    """A checked file of these turns under a `reserved` name; the store does not list it yet."""
    place, folder = place_of(runtime), folder_of(runtime, user_id)
    operations = runtime.store.operations()
    embedder = embedder_of(operations)
    with runtime.store.read(user_id) as reader:
        data = packed(reader, turns, embedder=embedder)
        place.write(folder, name, data)
        written = place.read(folder, name)
        if written != data or [t.line for t in unpacked(reader, written, embedder=embedder)] != [
            dict(t.line) for t in turns
        ]:
            raise UnavailableError("a file of the archive does not hold what was written to it; nothing was moved")
    return spanning(name, turns, digest_of(data))


def spanning(name: str, turns: Sequence[Cold], digest: str) -> ColdFile:
    """What the store lists of a file of these turns."""
    instants = [_instant(t) for t in turns]
    return ColdFile(name=name, count=len(turns), first_at=min(instants), last_at=max(instants), digest=digest)


def unlist(
    writer: Writer, folder: str, file: ColdFile, by: ColdFile | None, kept: Iterable[int], now: datetime
) -> None:
    """``by`` stands for the file, which is deleted by a job."""
    writer.replace_cold_file(file.item, by, keep=list(kept))
    payload = {"folder": folder, "name": file.name}
    writer.add_job(Job(kind=COLD_JOB, user_id=writer.user_id, payload=payload, run_after=now))


def turns_in(runtime: Runtime, reader: Reader, file: ColdFile) -> list[Cold]:
    """What the file holds. CorruptError when it is gone or another than the one that was written."""
    data = place_of(runtime).read(folder_of(runtime, reader.user_id), file.name)
    if data is None or digest_of(data) != file.digest:
        raise CorruptError(f"the archive's file {file.name} is {'gone' if data is None else 'damaged'}")
    return unpacked(reader, data, embedder=embedder_of(runtime.store.operations()))


def said_of(reader: Reader, phrases: Iterable[str]) -> str:
    """The keyed hash of what was to be forgotten."""
    return reader.content_mac("\n".join(phrases)).hex()


def clean_job(writer: Writer, phrases: Iterable[str], *, now: datetime) -> Job:
    """The row by which the phrases go from the files, whatever becomes of this process."""
    return Job(kind=CLEAN_JOB, user_id=writer.user_id, payload={"said": said_of(writer, phrases)}, run_after=now)


def clear_away(runtime: Runtime, *, now: datetime, limit: int = 1000) -> int:
    """Files that are due and that the store does not list are deleted; returns how many jobs are done."""
    operations = runtime.store.operations()
    done = 0
    for job in operations.due_jobs(now=now, kinds=(COLD_JOB,), limit=limit):
        folder, name = str(job.payload["folder"]), job.payload.get("name")
        listed = False
        if job.user_id is not None and name is not None:
            with runtime.store.read(job.user_id) as reader:
                listed = any(f.name == name for f in reader.cold_files())
        if not listed:
            try:
                place_of(runtime).delete(folder, name)
            except UnavailableError as e:
                wait = runtime.config.job_retry_seconds * 2 ** min(job.attempts, 10)
                operations.fail_job(job.id, error=str(e), retry_at=now + timedelta(seconds=wait))
                continue
        operations.finish_job(job.id)
        done += 1
    return done


def _instant(turn: Cold) -> datetime:
    return datetime.fromisoformat(str(turn.line["at"]))


__all__ = [
    "CLEAN_JOB",
    "COLD_JOB",
    "clean_job",
    "clear_away",
    "embedder_of",
    "folder_of",
    "reserved",
    "said_of",
    "spanning",
    "staged",
    "turns_in",
    "unlist",
]
