"""Master keys: who holds the one secret that is never written beside a store.

A master key seals the keys of a store (`ltm_core.store.vault`). It comes from the environment, a file, a callback,
or a service that seals and opens by itself; the product keeps it in memory only and names it by a fingerprint.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import logging
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

from ltm_core.errors import ConfigError, LTMError, MasterKeyError, MissingExtraError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

log = logging.getLogger("ltm")
MASTER_KEY = "LTM_MASTER_KEY"
MASTER_KEY_FILE = "LTM_MASTER_KEY_FILE"
KEY_BYTES = 32
NONCE_BYTES = 12
"""Random per envelope: AES-GCM allows 2**32 of them under one key, which is the number of items a user may have."""
_SHORTEST_ENVELOPE = NONCE_BYTES + 16
OPTIONS = (
    '"none", "env:NAME", "file:PATH", 32 bytes, a callable that returns 32 bytes (for a key id, or for None the '
    "present key), or an object with key_id, wrap and unwrap"
)


@runtime_checkable
class KeyProvider(Protocol):
    """Seals small secrets under a master key that may never leave it (a key service, a hardware module)."""

    @property
    def key_id(self) -> str:
        """Names the master key that `wrap` uses now; written beside what it sealed, so it must tell nothing."""
        ...

    def wrap(self, secret: bytes) -> bytes:
        """The secret, sealed under the present master key, with a check that it was not changed."""
        ...

    def unwrap(self, wrapped: bytes, key_id: str) -> bytes:
        """The secret that was sealed under the key of this name; any exception when that cannot be done."""
        ...


def aes(key: bytes) -> AESGCM:
    """AES-GCM under 32 bytes; MissingExtraError without the package."""
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError:
        raise MissingExtraError("encryption", "crypto") from None
    return AESGCM(key)


def sealed(cipher: AESGCM, secret: bytes, bound_to: bytes) -> bytes:
    """Nonce and ciphertext with its tag; opens only with the same ``bound_to``."""
    nonce = os.urandom(NONCE_BYTES)
    return nonce + cipher.encrypt(nonce, secret, bound_to)


def opened(cipher: AESGCM, envelope: bytes, bound_to: bytes) -> bytes | None:
    """What was sealed, or None when the key, the binding or a byte is another one."""
    from cryptography.exceptions import InvalidTag

    if len(envelope) < _SHORTEST_ENVELOPE:
        return None
    try:
        return cipher.decrypt(envelope[:NONCE_BYTES], envelope[NONCE_BYTES:], bound_to)
    except InvalidTag:
        return None


def fingerprint(key: bytes) -> str:
    """16 hexadecimal digits that name a key and tell nothing of it."""
    return hashlib.blake2b(key=key, person=b"ltm key id", digest_size=8).hexdigest()


class LocalKeys:
    """Master keys that this process holds: the present one, and older ones by their fingerprint on demand."""

    def __init__(self, present: bytes, older: Callable[[str], bytes] | None = None) -> None:
        self._older = older
        self._present = _checked(present)
        self.key_id = fingerprint(self._present)

    def __repr__(self) -> str:
        return f"LocalKeys({self.key_id})"

    def wrap(self, secret: bytes) -> bytes:
        return sealed(aes(self._present), secret, b"ltm master " + self.key_id.encode())

    def unwrap(self, wrapped: bytes, key_id: str) -> bytes:
        key = self._present
        if key_id != self.key_id:
            if self._older is None:
                raise MasterKeyError(f"the master key {key_id} is needed, but {self.key_id} was given")
            key = _checked(self._older(key_id))
        secret = opened(aes(key), wrapped, b"ltm master " + key_id.encode())
        if secret is None:
            raise MasterKeyError(f"what the master key {key_id} sealed was changed, or sealed with another key")
        return secret


def resolve_keys(spec: object = None) -> KeyProvider | None:
    """The provider that ``spec`` stands for. None asks the environment (``LTM_MASTER_KEY``, then
    ``LTM_MASTER_KEY_FILE``), where no key means no encryption; "none" means that too. ConfigError for what is no
    key; no part of a refused key is repeated."""
    if spec is None:
        if os.environ.get(MASTER_KEY):
            return _named(f"env:{MASTER_KEY}")
        path = os.environ.get(MASTER_KEY_FILE)
        return _named(f"file:{path}") if path else None
    if isinstance(spec, str):
        return _named(spec)
    if isinstance(spec, bytes):
        return LocalKeys(spec)
    if all(hasattr(spec, name) for name in ("key_id", "wrap", "unwrap")):
        return cast(KeyProvider, spec)
    if callable(spec):
        give: Any = spec
        return LocalKeys(_asked(give, None), lambda key_id: _asked(give, key_id))
    raise ConfigError(f"cannot use {type(spec).__name__} as key_provider; possible are: {OPTIONS}")


def unwrapped(keys: KeyProvider, wrapped: bytes, key_id: str, what: str) -> bytes:
    """The secret; MasterKeyError, which names ``what``, when the provider cannot open it."""
    try:
        return keys.unwrap(wrapped, key_id)
    except LTMError as e:
        raise MasterKeyError(f"{what} cannot be opened: {e}") from e
    except Exception as e:
        # Its message is not repeated: it may hold a key.
        raise MasterKeyError(f"{what} cannot be opened: the key provider raised {type(e).__name__}") from e


def wrapped(keys: KeyProvider, secret: bytes) -> tuple[str, bytes]:
    """(name of the master key, the sealed secret); MasterKeyError when the provider cannot."""
    try:
        key_id, blob = keys.key_id, keys.wrap(secret)
    except LTMError:
        raise
    except Exception as e:
        raise MasterKeyError(f"nothing was sealed: the key provider raised {type(e).__name__}") from e
    if not isinstance(key_id, str) or not key_id or not isinstance(blob, bytes):
        raise MasterKeyError("the key provider must have a key_id and return bytes from wrap")
    return key_id, blob


def _named(spec: str) -> KeyProvider | None:
    kind, _, rest = spec.partition(":")
    if spec == "none":
        return None
    if kind == "env" and rest:
        text = os.environ.get(rest)
        if not text:
            raise MasterKeyError(f"the environment variable {rest} holds no master key")
        return LocalKeys(_read(text, f"the environment variable {rest}"))
    if kind == "file" and rest:
        path = Path(rest)
        try:
            data, mode = path.read_bytes(), path.stat().st_mode
        except OSError as e:
            raise MasterKeyError(f"the master key file {path} cannot be read: {e.strerror}") from e
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            log.warning("the master key file %s can be read by others: chmod 600", path)
        return LocalKeys(data if len(data) == KEY_BYTES else _read(data.decode("ascii", "replace"), str(path)))
    # The text is not repeated: someone may have given the key itself.
    raise ConfigError(f"unknown key_provider; possible are: {OPTIONS}")


def _read(text: str, where: str) -> bytes:
    """The 32 bytes that stand as 64 hexadecimal digits or as base64."""
    text = "".join(text.split())
    for decode in (binascii.unhexlify, base64.b64decode, base64.urlsafe_b64decode):
        try:
            key = decode(text)
        except ValueError:
            continue
        if len(key) == KEY_BYTES:
            return key
    raise MasterKeyError(f"{where} must hold {KEY_BYTES} random bytes as 64 hexadecimal digits or as base64")


def _asked(give: Callable[[str | None], bytes], key_id: str | None) -> bytes:
    try:
        return give(key_id)
    except Exception as e:
        raise MasterKeyError(f"the key provider raised {type(e).__name__}") from e


def _checked(key: object) -> bytes:
    if not isinstance(key, bytes) or len(key) != KEY_BYTES:
        raise MasterKeyError(f"a master key is {KEY_BYTES} bytes; the given one is not")
    return key


__all__ = [
    "KEY_BYTES",
    "KeyProvider",
    "LocalKeys",
    "aes",
    "fingerprint",
    "opened",
    "resolve_keys",
    "sealed",
    "unwrapped",
    "wrapped",
]
