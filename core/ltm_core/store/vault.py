"""The keys of one store, and what they make of the content of its users.

    master key -> seals `StoreKeys`: the key of the hashes, and a wrapping key
    wrapping key -> seals one random data key per user
    data key -> the user's envelopes, vectors, and a second hash over terms and facts

So the master key changes without touching a user, and a user whose data key is gone cannot be read by anybody.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ltm_core.errors import ConfigError, CorruptError, MasterKeyError
from ltm_core.store.keyed import Keyed, OwnKeyed
from ltm_core.store.keys import KEY_BYTES, KeyProvider, aes, fingerprint, opened, sealed, unwrapped, wrapped

if TYPE_CHECKING:
    pass

FORMAT = "ltm-core sealed store key"
ID_BYTES = 16
"""Every wrapped data key begins with its random name, by which copies of it are found and destroyed."""
_CACHED = 4096
"""Data keys of recently seen users held open, about 2 kB each."""
_STORE_NAME = "ltm-core store"


def _derived(key: bytes, purpose: bytes, size: int = KEY_BYTES) -> bytes:
    return hashlib.blake2b(key=key, person=purpose, digest_size=size).digest()


@dataclass(frozen=True, slots=True)
class StoreKeys:
    """What ``store.key`` holds. A plain store has the key of its hashes and no wrapping key."""

    hashing: bytes = field(repr=False)
    wrapping: Mapping[str, bytes] = field(repr=False)
    """By fingerprint; the last one is used for new users, the others only while a rotation is under way."""

    @classmethod
    def new(cls) -> StoreKeys:
        """Random keys of a new encrypted store."""
        return cls(secrets.token_bytes(KEY_BYTES), {}).turned()

    @property
    def name(self) -> str:
        """Names the store in every copy of it, and tells nothing of the key."""
        return Keyed(self.hashing).mac(_STORE_NAME).hex()

    @property
    def encrypted(self) -> bool:
        return bool(self.wrapping)

    def turned(self) -> StoreKeys:
        """The same with a new wrapping key behind the present ones."""
        key = secrets.token_bytes(KEY_BYTES)
        return StoreKeys(self.hashing, {**self.wrapping, fingerprint(key): key})

    def newest(self) -> StoreKeys:
        """The same with the last wrapping key only."""
        return StoreKeys(self.hashing, dict([list(self.wrapping.items())[-1]]))


def seal(keys: StoreKeys, provider: KeyProvider) -> bytes:
    """The content of a sealed key file: JSON, readable only with the master key."""
    secret = {"hashing": keys.hashing.hex(), "wrapping": {k: v.hex() for k, v in keys.wrapping.items()}}
    master, blob = wrapped(provider, json.dumps(secret).encode())
    return json.dumps(
        {"format": FORMAT, "version": 1, "store": keys.name, "master": master, "sealed": _text(blob)}
    ).encode()


def is_sealed(data: bytes) -> bool:
    """Whether these are the bytes of a sealed key file."""
    return len(data) != KEY_BYTES and data.startswith(b"{")


def sealed_name(data: bytes) -> tuple[str, str]:
    """(name of the store, name of the master key) of a sealed key file, readable without any key."""
    try:
        entry = json.loads(data)
        if entry["format"] != FORMAT or entry["version"] != 1:
            raise CorruptError("the sealed key has a format that this version does not know: upgrade ltm-core")
        return str(entry["store"]), str(entry["master"])
    except (ValueError, KeyError, TypeError):
        raise CorruptError("the sealed key cannot be read: restore the file") from None


def unseal(data: bytes, provider: KeyProvider, what: str) -> StoreKeys:
    """The keys of a sealed key file; MasterKeyError with another master key."""
    name, master = sealed_name(data)
    secret = unwrapped(provider, base64.b64decode(json.loads(data)["sealed"]), master, what)
    try:
        entry = json.loads(secret)
        keys = StoreKeys(bytes.fromhex(entry["hashing"]), {k: bytes.fromhex(v) for k, v in entry["wrapping"].items()})
    except (ValueError, KeyError, TypeError, AttributeError):
        raise MasterKeyError(f"{what} cannot be opened: the key provider returned something else") from None
    if keys.name != name or not keys.encrypted:
        raise CorruptError(f"{what} is not the key of the store that it names")
    return keys


def keys_in(data: bytes, provider: KeyProvider | None, *, file: str, store: str) -> StoreKeys:
    """What a key file holds, plain or sealed. MasterKeyError when it is sealed and the provider is missing or has
    another key; ConfigError when there is a provider and the file is plain."""
    if not is_sealed(data):
        if provider is not None:
            raise ConfigError(
                f"a master key was given, but {store} is not encrypted: `ltm encrypt` encrypts a directory, "
                'key_provider="none" opens it as it is'
            )
        return StoreKeys(data, {})
    name, master = sealed_name(data)
    if provider is None:
        raise MasterKeyError(
            f"{store} is encrypted under the master key {master}: give it in LTM_MASTER_KEY, LTM_MASTER_KEY_FILE or "
            "key_provider="
        )
    return unseal(data, provider, f"{file} (store {name[:8]}, master key {master})")


class UserSecrets:
    """What one user's data key opens. ``keyed`` hashes terms, subjects and values under it too."""

    __slots__ = ("_body", "_id", "_vectors", "keyed")

    def __init__(self, id: bytes, key: bytes, hashing: bytes) -> None:
        self._id = id
        self._body = aes(_derived(key, b"ltm body"))
        self._vectors = aes(_derived(key, b"ltm vector"))
        self.keyed = OwnKeyed(hashing, _derived(key, b"ltm own"))

    def seal_body(self, plain: bytes, place: bytes) -> bytes:
        return sealed(self._body, plain, b"row" + self._id + place)

    def open_body(self, envelope: bytes, place: bytes | None) -> bytes | None:
        """``place`` is None for an envelope that is bound to the user alone."""
        return opened(self._body, envelope, b"body" + self._id if place is None else b"row" + self._id + place)

    def seal_vector(self, row: int, plain: bytes) -> bytes:
        return sealed(self._vectors, plain, row.to_bytes(8, "big") + self._id)

    def open_vector(self, row: int, envelope: bytes) -> bytes | None:
        return opened(self._vectors, envelope, row.to_bytes(8, "big") + self._id)


class Vault:
    """The keys of an open encrypted store. Thread-safe."""

    def __init__(self, keys: StoreKeys) -> None:
        self._hashing = keys.hashing
        self._wrapping = {name: aes(key) for name, key in keys.wrapping.items()}
        self.present = list(keys.wrapping)[-1]
        self._store = aes(_derived(keys.hashing, b"ltm store"))
        self._names = _siv(_derived(keys.hashing, b"ltm names", 64))
        self._lock = threading.Lock()
        self._users: OrderedDict[bytes, UserSecrets] = OrderedDict()

    # users --------------------------------------------------------------------------------------------
    def new_key(self) -> bytes:
        """A new data key, wrapped."""
        return self._wrapped(secrets.token_bytes(ID_BYTES), secrets.token_bytes(KEY_BYTES))

    def user(self, wrapping: str, blob: bytes) -> UserSecrets | None:
        """What the wrapped data key opens; None when only its name is left: it was destroyed, or is elsewhere."""
        id = blob[:ID_BYTES]
        with self._lock:
            known = self._users.get(id)
            if known is not None:
                self._users.move_to_end(id)
                return known
        if len(blob) <= ID_BYTES:
            return None
        found = UserSecrets(id, self._unwrapped(wrapping, blob), self._hashing)
        with self._lock:
            self._users[id] = found
            while len(self._users) > _CACHED:
                self._users.popitem(last=False)
        return found

    def forget(self, blob: bytes) -> None:
        """The data key is no longer in memory here."""
        with self._lock:
            self._users.pop(blob[:ID_BYTES], None)

    def rewrapped(self, wrapping: str, blob: bytes) -> bytes:
        """The same data key under the present wrapping key."""
        return self._wrapped(blob[:ID_BYTES], self._unwrapped(wrapping, blob))

    def _wrapped(self, id: bytes, key: bytes) -> bytes:
        return id + sealed(self._wrapping[self.present], key, b"ltm data key" + id)

    def _unwrapped(self, wrapping: str, blob: bytes) -> bytes:
        cipher = self._wrapping.get(wrapping)
        if cipher is None:
            raise MasterKeyError("the keys of the store were changed while it was open: open it again")
        key = opened(cipher, blob[ID_BYTES:], b"ltm data key" + blob[:ID_BYTES])
        if key is None:
            raise CorruptError("a wrapped data key was changed, or belongs to another user")
        return key

    # the store's own ----------------------------------------------------------------------------------
    def seal_own(self, plain: bytes, place: bytes) -> bytes:
        """An envelope of the store itself (its log, its jobs)."""
        return sealed(self._store, plain, b"store row" + place)

    def open_own(self, envelope: bytes, place: bytes | None) -> bytes | None:
        """``place`` is None for an envelope that is bound to the store alone."""
        return opened(self._store, envelope, b"store" if place is None else b"store row" + place)

    def name(self, user_id: str) -> str:
        """What stands in place of the user's id: always the same, so that it is found."""
        return _text(self._names.encrypt(user_id.encode(), [b"ltm user"]))

    def user_id(self, name: str) -> str:
        """The id again."""
        from cryptography.exceptions import InvalidTag

        try:
            return str(self._names.decrypt(base64.b64decode(name), [b"ltm user"]).decode())
        except (InvalidTag, ValueError) as e:
            raise CorruptError(f"the name of a user cannot be read ({type(e).__name__})") from None


def _siv(key: bytes) -> Any:
    # Deterministic on purpose: equal ids must be found. The mode is made for that, and shows only equality.
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV

    return AESSIV(key)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


__all__ = ["ID_BYTES", "StoreKeys", "UserSecrets", "Vault", "is_sealed", "keys_in", "seal", "sealed_name", "unseal"]
