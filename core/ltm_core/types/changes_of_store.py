"""What changing a whole store did."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class EncryptionReport:
    """What `LongTermMemory.encrypt` or `LongTermMemory.rekey` did."""

    location: str
    users: int
    """Users that were sealed, or whose keys were wrapped anew, by this call."""
    master_key: str
    """Fingerprint of the master key that now opens the store."""
    seconds: float
    not_reached: tuple[str, ...] = ()
    """Key files beside backups that still have the former master key: run it again when they can be reached."""


__all__ = ["EncryptionReport"]
