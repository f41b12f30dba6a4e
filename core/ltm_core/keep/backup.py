"""Backups and what takes their place again: the store does the work, this decides what must not come back."""

from __future__ import annotations

import time
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ltm_core.acting import current_actor
from ltm_core.keep.archive.carry import Carried
from ltm_core.keep.audit import flush, note
from ltm_core.keep.reapply import Judged, reapply
from ltm_core.types import BackupReport, RestoreReport

if TYPE_CHECKING:
    from ltm_core.config import Config
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import Reader, Store, Writer
    from ltm_core.store.keys import KeyProvider
    from ltm_core.store.rows import News


def backup(runtime: Runtime, path: Path) -> BackupReport:
    """The directory is a store as of now; see `LongTermMemory.backup`."""
    started, now = time.perf_counter(), runtime.now()
    flush(runtime)
    operations = runtime.store.operations()
    copied = operations.back_up(path, archive=not runtime.config.archive_url)
    note(operations, "backup", now=now, counts={"bytes": copied.bytes})
    return BackupReport(
        path=str(path.absolute()),
        at=now,
        bytes=copied.bytes,
        cold_files=copied.cold_files,
        cold_files_left=copied.cold_files_left,
        seconds=time.perf_counter() - started,
    )


def restore_backup(
    path: Path,
    location: Path,
    *,
    config: Config,
    now: datetime,
    erasures: Path | Literal["none"] | None,
    keys: KeyProvider | None = None,
    key_file: Path | None = None,
) -> RestoreReport:
    """The location holds what the backup held, without what was erased since; see
    `LongTermMemory.restore_backup`."""
    from ltm_core.store.sqlite.restore import restore

    files = Carried(path, location, config=config, now=now)

    def redo(writer: Writer, news: News, store: Store, present: Reader | None, draft: Path) -> Counter[str]:
        done: Counter[str] = Counter()
        if not news.everything and writer.cold_files():
            done = files.clean(store, draft, writer, Judged(writer, news, mac=store.mac).turn, present)
        return done + reapply(writer, news, mac=store.mac, present=present, config=config, now=now)

    started = time.perf_counter()
    actor, reason = current_actor()
    done = restore(
        path,
        location,
        config=config,
        now=now,
        redo=redo,
        files=files,
        erasures=erasures,
        keys=keys,
        key_file=key_file,
        actor=actor,
        reason=reason,
    )
    return RestoreReport(
        location=str(location.absolute()),
        at=now,
        erasures_from=done.source,
        users=done.users,
        counts=done.counts,
        seconds=time.perf_counter() - started,
    )
