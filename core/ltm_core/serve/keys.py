"""API keys: made once, shown once, kept as hashes in a file of the store's directory that only its owner reads."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ltm_core.errors import ConfigError, InvalidInputError, NotFoundError, UnavailableError
from ltm_core.scoping import LONGEST_ID, identifier

Kind: TypeAlias = Literal["user", "app", "admin"]
KEYS_FILE = "api_keys.json"
_TOKEN = re.compile(r"ltm_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_SECRET_BYTES = 32
"""256 random bits: a plain SHA-256 of them cannot be searched, so no slow password hash is needed."""
_LONGEST_LABEL = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """Who a key speaks for. The key itself is not in it."""

    id: str
    kind: Kind
    """``user``: one user's memory; ``app``: any user named in the request's header; ``admin``: the store too."""
    user_id: str | None = None
    app_id: str | None = None
    """Label that everything an app key writes carries."""
    label: str = ""
    created_at: str = ""
    sha256: str = ""

    @property
    def actor(self) -> str:
        """How the audit log names what was done with this key."""
        return f"key:{self.id}"


class Keyring:
    """The keys of one store. Several processes may use one file: a change is seen at the next request."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._stamp: tuple[int, int] | None = None
        self._keys: Mapping[str, ApiKey] = {}

    @property
    def place(self) -> Path:
        """The directory of the file: the store's."""
        return self._path.parent

    def add(
        self, kind: Kind, *, now: datetime, user_id: str | None = None, app_id: str | None = None, label: str = ""
    ) -> tuple[str, ApiKey]:
        """A new key, and what is kept of it: this is the only time it is seen."""
        if kind == "user":
            user_id = identifier(user_id, "user_id", limit=LONGEST_ID)
        elif user_id is not None:
            raise InvalidInputError(f"a key of kind {kind} belongs to no user; leave user_id out")
        if kind == "app":
            app_id = identifier(app_id, "app_id", limit=LONGEST_ID)
        elif app_id is not None:
            raise InvalidInputError(f"a key of kind {kind} belongs to no app; leave app_id out")
        if len(label) > _LONGEST_LABEL:
            raise InvalidInputError(f"label has {len(label)} characters; at most {_LONGEST_LABEL} fit")
        key_id, secret = secrets.token_hex(6), secrets.token_urlsafe(_SECRET_BYTES)
        key = ApiKey(
            id=key_id,
            kind=kind,
            user_id=user_id,
            app_id=app_id,
            label=label,
            created_at=now.isoformat(timespec="seconds"),
            sha256=_hash(secret),
        )
        with self._lock, _exclusive(self._path):
            self._write({**self._read(), key_id: key})
        return f"ltm_{key_id}_{secret}", key

    def revoke(self, key_id: str) -> None:
        """The key opens nothing any more; NotFoundError when there is none of this id."""
        with self._lock, _exclusive(self._path):
            keys = dict(self._read())
            if keys.pop(key_id, None) is None:
                raise NotFoundError(f"no key has the id {key_id[:20]!r}; `ltm keys list` shows them")
            self._write(keys)

    def all(self) -> list[ApiKey]:
        """Every key, oldest first."""
        with self._lock:
            return sorted(self._read().values(), key=lambda k: (k.created_at, k.id))

    def known(self, key_id: str) -> ApiKey | None:
        """The key of this id, or None; it says nothing about who asks."""
        with self._lock:
            return self._read().get(key_id)

    def owner(self, token: str) -> ApiKey | None:
        """Whose key this is; None when it opens nothing. The comparison takes the same time for any secret."""
        match = _TOKEN.fullmatch(token)
        with self._lock:
            key = self._read().get(match[1]) if match else None
        known = key.sha256 if key else _hash("")
        right = hmac.compare_digest(known, _hash(match[2] if match else ""))
        return key if right and key and match else None

    def bearer(self, authorization: str) -> ApiKey | None:
        """Whose key an Authorization header carries; None when it carries none that opens anything."""
        scheme, _, token = authorization.partition(" ")
        return self.owner(token.strip()) if scheme.lower() == "bearer" else None

    def _read(self) -> Mapping[str, ApiKey]:
        try:
            info = self._path.stat()
        except FileNotFoundError:
            self._stamp, self._keys = None, {}
            return self._keys
        stamp = info.st_mtime_ns, info.st_ino
        if stamp != self._stamp:
            try:
                rows: list[dict[str, Any]] = json.loads(self._path.read_text(encoding="utf-8"))
                self._keys = {row["id"]: ApiKey(**row) for row in rows}
            except (OSError, ValueError, TypeError, KeyError) as e:
                raise ConfigError(f"{self._path} cannot be read as a list of keys ({type(e).__name__})") from None
            self._stamp = stamp
        return self._keys

    def _write(self, keys: Mapping[str, ApiKey]) -> None:
        draft = self._path.with_name(f".{KEYS_FILE}.{os.getpid()}.{secrets.token_hex(4)}")
        text = json.dumps([asdict(k) for k in keys.values()], indent=1, ensure_ascii=False)
        try:
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as f:
                f.write(text)
                f.flush()
                os.fsync(f.fileno())
            draft.replace(self._path)
        except OSError as e:
            draft.unlink(missing_ok=True)
            raise UnavailableError(f"{self._path} cannot be written: {e.strerror}") from e
        self._stamp = None


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


class _exclusive:
    """One writer of the file at a time, over all processes."""

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(f".{KEYS_FILE}.lock")
        self._file = -1

    def __enter__(self) -> None:
        self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            import fcntl
        except ImportError:  # Windows: two people who make keys at the same moment are not guarded there
            return
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        os.close(self._file)


__all__ = ["KEYS_FILE", "ApiKey", "Keyring", "Kind"]
