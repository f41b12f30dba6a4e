"""Backups and what takes their place again: the store does the work, this decides what must not come back."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ltm_core.acting import current_actor
from ltm_core.keep.audit import flush, note
from ltm_core.keep.reapply import reapply
from ltm_core.types import BackupReport, RestoreReport

if TYPE_CHECKING:
    from ltm_core.config import Config
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import Reader, Writer
    from ltm_core.store.keys import KeyProvider
    from ltm_core.store.rows import News


def backup(runtime: Runtime, path: Path) -> BackupReport:
    """The directory is a store as of now; see `LongTermMemory.backup`."""
    started, now = time.perf_counter(), runtime.now()
    flush(runtime)
    operations = runtime.store.operations()
    size = operations.back_up(path)
    note(operations, "backup", now=now, counts={"bytes": size})
    return BackupReport(path=str(path.absolute()), at=now, bytes=size, seconds=time.perf_counter() - started)


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

    def redo(writer: Writer, news: News, mac: Callable[[str], str], present: Reader | None) -> Counter[str]:
        return reapply(writer, news, mac=mac, present=present, config=config, now=now)

    started = time.perf_counter()
    actor, reason = current_actor()
    done = restore(
        path,
        location,
        config=config,
        now=now,
        redo=redo,
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
