"""The keys of a whole store: encrypting one that exists, changing the master key."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ltm_core.errors import MasterKeyError
from ltm_core.store.keys import KeyProvider, resolve_keys
from ltm_core.types import EncryptionReport

if TYPE_CHECKING:
    from ltm_core.config import Config


def encrypt(
    location: Path, key_provider: object, *, config: Config | None, progress: Callable[[int, int], None] | None
) -> EncryptionReport:
    """See `LongTermMemory.encrypt`."""
    from ltm_core.store.sqlite.rekey import encrypt as do

    done = do(location, config=_settings(config), keys=_needed(key_provider), progress=progress)
    return EncryptionReport(location=str(location), users=done.users, master_key=done.master, seconds=done.seconds)


def rekey(location: Path, key_provider: object, to: object, *, config: Config | None) -> EncryptionReport:
    """See `LongTermMemory.rekey`."""
    from ltm_core.store.sqlite.rekey import rekey as do

    done = do(location, config=_settings(config), keys=_needed(key_provider), to=_needed(to))
    return EncryptionReport(
        location=str(location),
        users=done.users,
        master_key=done.master,
        seconds=done.seconds,
        not_reached=done.missed,
    )


def _needed(spec: object) -> KeyProvider:
    keys = resolve_keys(spec)
    if keys is None:
        raise MasterKeyError(
            "a master key is needed: set LTM_MASTER_KEY or LTM_MASTER_KEY_FILE, or give key_provider="
        )
    return keys


def _settings(config: Config | None) -> Config:
    from ltm_core.config import Config as Settings

    return config or Settings.make()


__all__ = ["encrypt", "rekey"]
