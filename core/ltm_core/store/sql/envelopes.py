"""Envelopes under a key: nonce and AES-GCM ciphertext of the compact JSON, bound to where it stands.

One codec per user: an envelope moved to another user, table or row does not open (codec 3). Codec 2 was bound to the
user alone; it is read, and sealed anew by a change of the master key. What was not sealed is not read in a sealed
user's place.
"""

from __future__ import annotations

from typing import Any

from ltm_core.errors import CorruptError, MasterKeyError
from ltm_core.store.sql.codec import PLAIN, PLAIN_CODEC, Place
from ltm_core.store.vault import UserSecrets, Vault

OF_USER = 2
SEALED = 3
_PREFIX = bytes([SEALED])


def place_bytes(place: Place) -> bytes:
    """The place as its envelope is bound to it; no two places give the same."""
    return b"".join(
        part.encode() + b"\0" if isinstance(part, str) else part.to_bytes(8, "big", signed=True) for part in place
    )


class UserCodec:
    """The content of one user under the user's data key."""

    __slots__ = ("_secrets",)

    def __init__(self, secrets: UserSecrets) -> None:
        self._secrets = secrets

    def encode(self, value: Any, place: Place) -> bytes:
        return self.sealed(PLAIN_CODEC.encode(value), place)

    def decode(self, blob: bytes, place: Place) -> Any:
        return PLAIN_CODEC.decode(self.opened(blob, place))

    def sealed(self, plain: bytes, place: Place) -> bytes:
        """The envelope of a plain one."""
        return _PREFIX + self._secrets.seal_body(plain, place_bytes(place))

    def opened(self, blob: bytes, place: Place) -> bytes:
        """The plain envelope; CorruptError when it was changed, or stood elsewhere."""
        bound = None if blob[:1] == bytes([OF_USER]) else place_bytes(place)
        known = bound is None or blob[:1] == _PREFIX
        plain = self._secrets.open_body(blob[1:], bound) if known else None
        if plain is None:
            raise CorruptError(f"an envelope of {len(blob)} bytes was changed, or is another row's or user's")
        return plain


class StoreCodec:
    """What the store itself writes. Rows from before the encryption are read as they are."""

    __slots__ = ("_vault",)

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    def encode(self, value: Any, place: Place) -> bytes:
        return _PREFIX + self._vault.seal_own(PLAIN_CODEC.encode(value), place_bytes(place))

    def decode(self, blob: bytes, place: Place) -> Any:
        if blob[:1] == bytes([PLAIN]):
            return PLAIN_CODEC.decode(blob)
        bound = None if blob[:1] == bytes([OF_USER]) else place_bytes(place)
        known = bound is None or blob[:1] == _PREFIX
        plain = self._vault.open_own(blob[1:], bound) if known else None
        if plain is None:
            raise CorruptError(f"an envelope of {len(blob)} bytes was changed, or is another store's")
        return PLAIN_CODEC.decode(plain)


class LostCodec:
    """A user whose data key is not here: it was destroyed, or is in the key file beside the backups."""

    __slots__ = ()

    def encode(self, value: Any, place: Place) -> bytes:
        raise MasterKeyError("the data key of this user is not here, so nothing can be written for the user")

    def decode(self, blob: bytes, place: Place) -> Any:
        raise MasterKeyError(
            "the data key of this user is not here: it was destroyed by forget_user, or this is a backup, which is "
            "read by restoring it"
        )


LOST_CODEC = LostCodec()

__all__ = ["LOST_CODEC", "OF_USER", "SEALED", "StoreCodec", "UserCodec", "place_bytes"]
