"""Whether the files are what the store says they are, and whether files lie about that it does not know."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from ltm_core.errors import ConfigError, CorruptError, MissingExtraError, UnavailableError
from ltm_core.keep.archive.files import COLD_JOB, folder_of, turns_in
from ltm_core.keep.archive.place import FOLDER, place_of
from ltm_core.store.base import Job
from ltm_core.types import HealthProblem

if TYPE_CHECKING:
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import Reader

_ALL = 1_000_000
_EVER = timedelta(days=36500)
_TROUBLE = (CorruptError, UnavailableError, MissingExtraError, ConfigError)


def damaged(runtime: Runtime, reader: Reader) -> list[HealthProblem]:
    """Listed files of the user that are gone, damaged, or hold other turns than the store says. Reads them all."""
    problems = []
    for file in reader.cold_files():
        try:
            held = sorted(t.item for t in turns_in(runtime, reader, file))
        except _TROUBLE as e:
            why = str(e)
        else:
            known = [t.item for t in reader.cold_turns(files=[file.item])]
            if held == known and len(held) == file.count:
                continue
            why = f"the archive's file {file.name} holds {len(held)} turns, the store knows {len(known)} in it"
        problems.append(HealthProblem(kind="archive", user_id=reader.user_id, count=file.count, detail=why))
    return problems


def strays(runtime: Runtime, *, repair: bool, now: datetime) -> tuple[list[HealthProblem], int]:
    """Files that no row and no job names; with ``repair`` a job deletes each when whoever may be writing it has given
    up, unless the store lists it by then. (What is left, how many files got their job.)"""
    if not _has_archive(runtime):
        return [], 0
    try:
        # The place first: a file that comes after this look has had its job before.
        present = place_of(runtime).files()
        unknown = _unknown(runtime, present) if present else {}
    except _TROUBLE as e:
        return [HealthProblem(kind="archive", detail=str(e))], 0
    if repair:
        grace = now + timedelta(seconds=runtime.config.job_lease_seconds)
        for (folder, name), user in unknown.items():
            payload = {"folder": folder, "name": name}
            job = Job(kind=COLD_JOB, user_id=user, payload=payload, run_after=grace)
            with runtime.store.write(user) if user is not None else nullcontext(None) as writer:
                (runtime.store.operations() if writer is None else writer).add_job(job)
        return [], len(unknown)
    detail = "the archive has files that the store does not know"
    per_user: dict[str | None, int] = {}
    for user in unknown.values():
        per_user[user] = per_user.get(user, 0) + 1
    return [
        HealthProblem(kind="stray", user_id=user, count=count, detail=detail)
        for user, count in sorted(per_user.items(), key=lambda p: p[0] or "")
    ], 0


def _has_archive(runtime: Runtime) -> bool:
    if runtime.config.archive_url:
        return True
    location = runtime.store.location
    return location != ":memory:" and "://" not in location and (Path(location) / FOLDER).is_dir()


def _unknown(runtime: Runtime, present: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str | None]:
    """The files that nothing names, and whose they are, where that is known."""
    operations = runtime.store.operations()
    jobs = operations.due_jobs(now=runtime.now() + _EVER, kinds=(COLD_JOB,), limit=_ALL)
    named = {(j.payload["folder"], j.payload.get("name")) for j in jobs}
    left: dict[tuple[str, str], str | None] = {
        place: None for place in present if place not in named and (place[0], None) not in named
    }
    last: str | None = None
    while left and (page := operations.users(after=last, limit=500)):
        for user in page:
            folder = folder_of(runtime, user)
            mine = [place for place in left if place[0] == folder]
            if not mine:
                continue
            with runtime.store.read(user) as reader:
                listed = {f.name for f in reader.cold_files()}
            for place in mine:
                if place[1] in listed:
                    del left[place]
                else:
                    left[place] = user
        last = page[-1]
    if runtime.config.archive_url:
        # A place of its own may hold the folders of other stores; their names cannot be told from ours.
        return {place: user for place, user in left.items() if user is not None}
    return left


__all__ = ["damaged", "strays"]
