"""Exports, imports, backups."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ltm_core.acting import acting
from ltm_core.arguments import one_of
from ltm_core.door.base import Door, utc_now
from ltm_core.locations import directory_of
from ltm_core.twins import in_worker, twin
from ltm_core.types import BackupReport, ImportResult, RestoreReport
from ltm_core.when import parse_instant

if TYPE_CHECKING:
    from ltm_core.config import Config
    from ltm_core.keep.export import ExportLines

AfterErasure = Literal["refuse", "allow"]


class Portability(Door):
    """Exports, imports, backups."""

    def export_user(self, user_id: str | int, *, actor: str | None = None, reason: str | None = None) -> ExportLines:
        """Everything of the user as JSON lines, read page by page while it is consumed (``for`` or ``async for``);
        see docs/portability.md.

        No vector (they are made again), no keyed hash and no number of this store is in it, nor the user's id. What
        is written meanwhile may be in it or not; an unknown user gives no rows.
        """
        from ltm_core.keep.export import export_user

        user = self._runtime.scope(user_id).user_id
        with acting(actor, reason):
            return export_user(self._runtime, user)

    def import_user(
        self,
        lines: Iterable[str | bytes],
        *,
        user_id: str | int,
        after_erasure: Literal["refuse", "allow"] = "refuse",
        trust: bool = False,
        actor: str | None = None,
        reason: str | None = None,
    ) -> ImportResult:
        """What an export holds belongs to ``user_id``, whoever it was exported from; what the store has already
        stays as it is, so a file may be imported again.

        ``trust=False`` does not believe what only an application may say (see docs/portability.md); ``trust=True``
        takes all of it. With ``after_erasure="refuse"`` what the user erased stays erased; "allow" is for a user
        who asked to have it back. Each line is checked for itself; a file that is no export raises
        InvalidInputError before anything is written. Batches are transactions: after an error, import again.
        """
        from ltm_core.keep.importing import import_user

        user = self._runtime.scope(user_id).user_id
        with acting(actor, reason):
            return import_user(
                self._runtime,
                user,
                lines,
                after_erasure=one_of(after_erasure, AfterErasure, "after_erasure") or "refuse",
                trust=trust,
            )

    def backup(self, path: str | Path, *, actor: str | None = None, reason: str | None = None) -> BackupReport:
        """The new directory ``path`` (0700) is a store with all that was committed when the call began; others go on
        writing. Nothing is left there after an error or a kill. ConflictError when something is there.

        Beside it a list of later erasures is kept, by keyed hashes: copy it with the backup (docs/portability.md).
        Files of turns in the store's own folder are in it; those at ``archive_url`` stay there, and the report counts
        them. The backup of an encrypted store holds no keys: they are in the key file beside it (docs/encryption.md).
        """
        from ltm_core.keep.backup import backup

        with acting(actor, reason):
            return backup(self._runtime, Path(path))

    @classmethod
    def restore_backup(
        cls,
        backup: str | Path,
        location: str | Path,
        *,
        erasures: str | Path | None = None,
        key_provider: object = None,
        key_file: str | Path | None = None,
        config: Config | None = None,
        clock: Callable[[], datetime] | None = None,
        actor: str | None = None,
        reason: str | None = None,
    ) -> RestoreReport:
        """``location`` holds what the backup held, without what was erased since: users, sessions, facts and words.

        Later erasures are known from the store at ``location``, which gives way in one step (after an error or a
        kill it is as it was), or else from the list beside the backup or at ``erasures``; "none" does without.
        An encrypted backup needs the master key (``key_provider``, as in `open`) and, when the store is lost, the key
        file that was beside it or is at ``key_file``. ConflictError when ``location`` holds another store,
        UnavailableError when no list or key file is found.
        """
        from ltm_core.config import Config as Settings
        from ltm_core.keep.backup import restore_backup
        from ltm_core.store.keys import resolve_keys

        with acting(actor, reason):
            return restore_backup(
                Path(backup),
                directory_of(location, "restoring a backup"),
                config=config or Settings.make(),
                now=parse_instant((clock or utc_now)(), zone=UTC),
                erasures="none" if erasures == "none" else None if erasures is None else Path(erasures),
                keys=resolve_keys(key_provider),
                key_file=None if key_file is None else Path(key_file),
            )

    @classmethod
    async def arestore_backup(cls, backup: str | Path, location: str | Path, **options: Any) -> RestoreReport:
        """Async twin of `restore_backup`; the same options."""
        return await in_worker(lambda: cls.restore_backup(backup, location, **options), "long")

    aexport_user = twin(export_user)
    aimport_user = twin(import_user, "long")
    abackup = twin(backup, "long")


__all__ = ["Portability"]
