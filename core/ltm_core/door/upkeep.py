"""Housekeeping, health, the queue and the log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC
from typing import Any

from ltm_core import listing
from ltm_core.acting import acting
from ltm_core.arguments import limit_of
from ltm_core.door.base import Door, When
from ltm_core.keep import audit
from ltm_core.twins import twin
from ltm_core.types import (
    AuditEntry,
    Calibration,
    DeadLetter,
    HealthReport,
    MaintenanceReport,
    Page,
    Stats,
    WorkReport,
)
from ltm_core.when import parse_instant


class Upkeep(Door):
    """Housekeeping, health, the queue and the log."""

    def maintain(self, now: When = None, *, dry_run: bool = False) -> MaintenanceReport:
        """Idle sessions are closed, expired items gone, archived types promoted, days and weeks summarised when the
        settings say so, what ``Config.forgetting`` names forgotten, waiting work done, extractions among it when
        there is an extractor.

        It works in short transactions beside live traffic; stopped at any point, the next run goes on. With
        ``dry_run`` nothing changes and the report says what would be done; ``decisions`` name what would be
        forgotten, and why (docs/keeping.md).
        """
        from ltm_core.keep.maintain import maintain

        moment = self._runtime.now() if now is None else parse_instant(now, zone=UTC)
        return maintain(self._runtime, now=moment, dry_run=dry_run)

    def restore_archive(
        self, user_id: str | int, *, since: When = None, until: When = None, actor: str | None = None
    ) -> int:
        """The user's turns of [since, until) that were moved to files are in the store again, found as before;
        returns how many. A later `maintain` moves them out again while ``Config.cold_after_days`` says so."""
        from ltm_core.keep.archive.move import restore

        user = self._runtime.scope(user_id).user_id
        with acting(actor):
            return restore(
                self._runtime,
                user,
                since=self._instant(since, user, None),
                until=self._instant(until, user, None),
            )

    def doctor(self, *, user_id: str | int | None = None, repair: bool = False) -> HealthReport:
        """What disagrees inside the store, of one user or of all: file, index, counters, values that cannot hold
        together, files of the archive. With ``repair`` what can be made anew from messages and facts is, and files
        that nothing names are deleted by a later `maintain`; a damaged file never is mended."""
        from ltm_core.keep.doctor import examine

        user = None if user_id is None else self._runtime.scope(user_id).user_id
        return examine(self._runtime, user_id=user, repair=repair, now=self._runtime.now())

    def calibrate(
        self,
        pairs: Iterable[Mapping[str, Any]],
        *,
        max_false_positives: float | None = None,
        min_precision: float | None = None,
        beta: float | None = None,
        cross: bool = False,
        dry_run: bool = False,
    ) -> Calibration:
        """The similarity from which a memory counts as about a question is the one these labelled pairs call for.

        Each pair has ``query``, ``text`` and ``label`` or ``relevant``. The rule: the lowest threshold at which at
        most ``max_false_positives`` of the unrelated pairs pass (default 0.001), or ``min_precision`` is reached,
        or the best F-``beta``. It holds for this store and embedder: here at once, elsewhere at the next open.
        With ``cross`` a text of another query counts as unrelated; with ``dry_run`` nothing changes.
        """
        from ltm_core.recall.calibration import rule_of
        from ltm_core.recall.floors import calibrate_floor

        rule = rule_of(max_false_positives=max_false_positives, min_precision=min_precision, beta=beta)
        return calibrate_floor(self._runtime, enumerate(pairs, start=1), rule=rule, cross=cross, dry_run=dry_run)

    def audit(
        self, user_id: str | int | None = None, *, since: str | None = None, limit: int | None = None
    ) -> Page[AuditEntry]:
        """Who did what, and why, in order, after the cursor ``since``: to one user's memory, or to everybody's and
        to the store. A user's rows go with the user; one row of the erasure stays."""
        user = None if user_id is None else self._runtime.scope(user_id).user_id
        return audit.audit(self._runtime, user, since=since, limit=limit_of(limit))

    def work(self, limit: int | None = None) -> WorkReport:
        """Up to ``limit`` due extractions were run, or all of them, by this thread. ConfigError without an
        extractor."""
        from ltm_core.keep.queue import work

        return work(self._runtime, limit=None if limit is None else limit_of(limit, most=1_000_000))

    def dead_letters(self, *, limit: int | None = None, cursor: str | None = None) -> Page[DeadLetter]:
        """The jobs that failed too often, oldest first: ids, attempts and the class of the error, no words."""
        return listing.dead_letters(self._runtime, limit=limit_of(limit), cursor=cursor)

    def retry_dead_letters(self, ids: Sequence[int] | None = None) -> int:
        """These dead letters, or all, are due again; returns how many."""
        from ltm_core.keep.queue import retry

        return retry(self._runtime, ids)

    def drop_dead_letters(self, ids: Sequence[int] | None = None) -> int:
        """These dead letters, or all, are given up; what the rules wrote stands. Returns how many."""
        from ltm_core.keep.queue import drop

        return drop(self._runtime, ids)

    def stats(self) -> Stats:
        """Counts and sizes of the store; no content, no ids."""
        return self._runtime.store.operations().stats()

    amaintain = twin(maintain, "long")
    arestore_archive = twin(restore_archive, "long")
    adoctor = twin(doctor, "long")
    acalibrate = twin(calibrate, "long")
    aaudit = twin(audit)
    awork = twin(work, "long")
    adead_letters = twin(dead_letters)
    aretry_dead_letters = twin(retry_dead_letters)
    adrop_dead_letters = twin(drop_dead_letters)
    astats = twin(stats)


__all__ = ["Upkeep"]
