"""The audit log, the feed of changes and the marks of what policies dropped are kept as long as the settings say; by
default for good."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import LogKind


def drop_old(runtime: Runtime, *, now: datetime, dry_run: bool) -> Mapping[str, int]:
    """Rows older than `Config.audit_days` and `Config.changes_days` are gone, or are only counted, and so are the
    marks of what policies dropped before `Config.replay_days`, which a dry run does not count; returns how many of
    each there were."""
    days: dict[LogKind, float] = {"audit": runtime.config.audit_days, "changes": runtime.config.changes_days}
    operations, counts = runtime.store.operations(), dict[str, int]()
    for log, most in days.items():
        if not most:
            continue
        before = now - timedelta(days=most)
        if dry_run:
            counts[log] = operations.count_old(log, before=before)
            continue
        while gone := operations.drop_old(log, before=before, limit=runtime.config.maintenance_batch):
            counts[log] = counts.get(log, 0) + gone
    if runtime.config.replay_days and not dry_run:
        before = now - timedelta(days=runtime.config.replay_days)
        counts["marks"] = operations.drop_marks(before=before, limit=runtime.config.maintenance_batch)
    return {log: n for log, n in counts.items() if n}


__all__ = ["drop_old"]
