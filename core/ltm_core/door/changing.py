"""Changing a whole store: its keys, its embedder, its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ltm_core.acting import acting
from ltm_core.door.base import Door, utc_now
from ltm_core.locations import directory_of
from ltm_core.twins import in_worker, twin
from ltm_core.types import CopyReport, EncryptionReport, ReembedReport

if TYPE_CHECKING:
    from ltm_core.config import Config


class Changing(Door):
    """Changing a whole store."""

    @classmethod
    def encrypt(
        cls,
        location: str | Path,
        *,
        key_provider: object = None,
        config: Config | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> EncryptionReport:
        """Everything in the store at ``location`` is sealed under the master key (``key_provider``, as in `open`),
        and nothing readable is left in its files. Who has it open must open it again.

        One transaction per user; after a stop the same call goes on. ``progress`` gets (users done, users in all).
        Raises MasterKeyError without a master key, UnavailableError while readers keep the log alive.
        """
        from ltm_core.keep.keys import encrypt

        return encrypt(directory_of(location, "encrypting in place"), key_provider, config=config, progress=progress)

    @classmethod
    async def aencrypt(cls, location: str | Path, **options: Any) -> EncryptionReport:
        """Async twin of `encrypt`; the same options."""
        return await in_worker(lambda: cls.encrypt(location, **options), "long")

    @classmethod
    def rekey(
        cls, location: str | Path, *, to: object, key_provider: object = None, config: Config | None = None
    ) -> EncryptionReport:
        """The encrypted store at ``location`` and the key files beside its backups open with the master key ``to``
        only; no content is touched. ``key_provider`` is the former one. After a stop the same call goes on; who has
        the store open must open it again.
        """
        from ltm_core.keep.keys import rekey

        return rekey(directory_of(location, "changing the master key"), key_provider, to, config=config)

    @classmethod
    async def arekey(cls, location: str | Path, **options: Any) -> EncryptionReport:
        """Async twin of `rekey`; the same options."""
        return await in_worker(lambda: cls.rekey(location, **options), "long")

    @classmethod
    def copy(
        cls,
        source: str | Path,
        target: str | Path,
        *,
        key_provider: object = None,
        target_archive: str = "",
        config: Config | None = None,
        clock: Callable[[], datetime] | None = None,
        progress: Callable[[int, int], None] | None = None,
        actor: str | None = None,
        reason: str | None = None,
    ) -> CopyReport:
        """``target``, a new place, holds all that the store at ``source`` held at one moment: users with ids, vectors
        and cursors, what was erased and must not come back, the audit log, waiting work, settings, files of old
        turns. It has the same keys, so nothing is embedded again. Others may go on using ``source``.

        One transaction per user; after a stop, or when the source was used since, the same call goes on, and until it
        is done ``target`` cannot be opened. Every row is read again at the end and compared: ``differences`` of the
        report are empty, or the call must be repeated. ``progress`` gets (done, total), of users carried and then of
        users compared. ``target_archive``: the ``archive_url`` that the target will be opened with, when the source
        has another one. Raises ConflictError when the target is a store of its own, or was used since it was copied
        (docs/copying.md).
        """
        from ltm_core.opening import copy_store

        with acting(actor, reason):
            return copy_store(
                source,
                target,
                key_provider=key_provider,
                target_archive=target_archive,
                config=config,
                clock=clock or utc_now,
                progress=progress,
            )

    @classmethod
    async def acopy(cls, source: str | Path, target: str | Path, **options: Any) -> CopyReport:
        """Async twin of `copy`; the same options."""
        return await in_worker(lambda: cls.copy(source, target, **options), "long")

    def reembed(
        self,
        to: object = None,
        *,
        roll_back: bool = False,
        finish: bool = False,
        switch: bool = True,
        pairs: Iterable[Mapping[str, Any]] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> ReembedReport:
        """Everything has a vector of the embedder ``to`` (as in `open`) beside its present one, both are compared,
        and then the new ones are searched by whoever opens the store with ``to``. Who has it open, this memory too,
        goes on with keywords only until it opens it again.

        The present embedder serves until the switch, which is one transaction, and its vectors are kept after it:
        ``roll_back`` switches back, ``finish`` drops the set that is not searched, ``switch=False`` only prepares.
        After a stop the same call goes on. ``pairs``: ``{"user_id", "query", "text"}``, a question and words that a
        good answer holds; without them stored facts are asked for the turns they come from. ``progress`` gets (done,
        total). With none of these: how it stands. Raises ConflictError when another change is not finished.
        """
        from ltm_core.keep.reembed import reembed

        return reembed(
            self._runtime, to, roll_back=roll_back, finish=finish, switch=switch, pairs=pairs, progress=progress
        )

    areembed = twin(reembed, "long")


__all__ = ["Changing"]
