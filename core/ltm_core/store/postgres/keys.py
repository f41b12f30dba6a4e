"""The key of a store in PostgreSQL: never in the database, in a file or in the environment of whoever opens it."""

from __future__ import annotations

import binascii
import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from ltm_core.errors import ConfigError, CorruptError, UnavailableError
from ltm_core.store.postgres.location import data_folder
from ltm_core.store.sqlite.files import KEY_BYTES, create_key
from ltm_core.store.vault import StoreKeys, is_sealed, keys_in, seal

if TYPE_CHECKING:
    from ltm_core.store.keys import KeyProvider

STORE_KEY = "LTM_STORE_KEY"
STORE_KEY_FILE = "LTM_STORE_KEY_FILE"


class KeyPlace:
    """Where the key of one store is: the environment, or a file (0600)."""

    def __init__(self, store_id: str, named: Path | None) -> None:
        self._given = os.environ.get(STORE_KEY, "")
        path = named or (Path(p) if (p := os.environ.get(STORE_KEY_FILE)) else None)
        self.path = path or data_folder() / "keys" / f"{store_id}.key"

    @property
    def shown(self) -> str:
        """Names the place, never the key."""
        return f"the environment variable {STORE_KEY}" if self._given else str(self.path)

    def read(self) -> bytes | None:
        """The content of the key file; None when there is none. Errors when it cannot be a key."""
        data = _decoded(self._given) if self._given else self._from_file()
        if data is not None and len(data) != KEY_BYTES and not is_sealed(data):
            raise CorruptError(f"{self.shown} holds {len(data)} bytes instead of {KEY_BYTES}: restore it")
        return data

    def create(self, data: bytes) -> bytes:
        """What the file then holds: this content, or that of somebody faster."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as e:
            raise UnavailableError(f"{self.path.parent} cannot be made for the store key: {e.strerror}") from e
        create_key(self.path, data)
        return self.read() or data

    def _from_file(self) -> bytes | None:
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as e:
            raise UnavailableError(f"{self.path} cannot be read: {e.strerror}") from e


def load(
    place: KeyPlace, *, is_new: bool, provider: KeyProvider | None, where: str, fresh: bytes | None = None
) -> StoreKeys:
    """The keys of the store; a new one gets its own, sealed when there is a provider, or the key file ``fresh``.

    CorruptError when a store that exists has none: it is never made anew. MasterKeyError and ConfigError as for a
    store in a directory.
    """
    data = place.read()
    if data is None:
        if not is_new:
            raise CorruptError(
                f"the key of {where} is not at {place.shown}: bring the file that was written with the store, or "
                f"name it with ?key_file=, {STORE_KEY_FILE} or {STORE_KEY}; nothing is found without"
            )
        if fresh is None:
            fresh = secrets.token_bytes(KEY_BYTES) if provider is None else seal(StoreKeys.new(), provider)
        data = place.create(fresh)
    return keys_in(data, provider, file=place.shown, store=where)


def _decoded(text: str) -> bytes:
    try:
        return binascii.unhexlify(text.strip())
    except ValueError:
        raise ConfigError(f"{STORE_KEY} must hold the {KEY_BYTES} bytes of the key as hexadecimal digits") from None


__all__ = ["STORE_KEY", "STORE_KEY_FILE", "KeyPlace", "load"]
