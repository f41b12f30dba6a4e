"""Envelopes under a key: codec 2 = nonce and AES-GCM ciphertext of the compact JSON.

One codec per user, bound to the user's data key: an envelope moved to another user does not open. What was not
sealed is not read in a sealed user's place.
"""

from __future__ import annotations

from typing import Any

from ltm_core.errors import CorruptError, MasterKeyError
from ltm_core.store.sql.codec import PLAIN, PLAIN_CODEC
from ltm_core.store.vault import UserSecrets, Vault

SEALED = 2
_PREFIX = bytes([SEALED])


class UserCodec:
    """The content of one user under the user's data key."""

    __slots__ = ("_secrets",)

    def __init__(self, secrets: UserSecrets) -> None:
        self._secrets = secrets

    def encode(self, value: Any) -> bytes:
        return _PREFIX + self._secrets.seal_body(PLAIN_CODEC.encode(value))

    def decode(self, blob: bytes) -> Any:
        plain = self._secrets.open_body(blob[1:]) if blob[:1] == _PREFIX else None
        if plain is None:
            raise CorruptError(f"an envelope of {len(blob)} bytes was changed, or is another user's")
        return PLAIN_CODEC.decode(plain)


class StoreCodec:
    """What the store itself writes. Rows from before the encryption are read as they are."""

    __slots__ = ("_vault",)

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    def encode(self, value: Any) -> bytes:
        return _PREFIX + self._vault.seal_own(PLAIN_CODEC.encode(value))

    def decode(self, blob: bytes) -> Any:
        if blob[:1] == bytes([PLAIN]):
            return PLAIN_CODEC.decode(blob)
        plain = self._vault.open_own(blob[1:]) if blob[:1] == _PREFIX else None
        if plain is None:
            raise CorruptError(f"an envelope of {len(blob)} bytes was changed, or is another store's")
        return PLAIN_CODEC.decode(plain)


class LostCodec:
    """A user whose data key is not here: it was destroyed, or is in the key file beside the backups."""

    __slots__ = ()

    def encode(self, value: Any) -> bytes:
        raise MasterKeyError("the data key of this user is not here, so nothing can be written for the user")

    def decode(self, blob: bytes) -> Any:
        raise MasterKeyError(
            "the data key of this user is not here: it was destroyed by forget_user, or this is a backup, which is "
            "read by restoring it"
        )


LOST_CODEC = LostCodec()

__all__ = ["LOST_CODEC", "SEALED", "StoreCodec", "UserCodec"]
