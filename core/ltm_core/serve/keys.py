"""API keys: made once, shown once, kept as hashes in a file of the store's directory that only its owner reads."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ltm_core.errors import InvalidInputError, NotFoundError
from ltm_core.scoping import LONGEST_ID, identifier
from ltm_core.serve.sharedfile import SharedFile

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
        nobody: Mapping[str, ApiKey] = {}
        self._file = SharedFile(path, load=_keys, dump=_rows, empty=nobody, what="a list of keys")

    @property
    def place(self) -> Path:
        """The directory of the file: the store's."""
        return self._file.path.parent

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
        self._file.change(lambda keys: {**keys, key_id: key})
        return f"ltm_{key_id}_{secret}", key

    def revoke(self, key_id: str) -> None:
        """The key opens nothing any more; NotFoundError when there is none of this id."""

        def without(keys: Mapping[str, ApiKey]) -> Mapping[str, ApiKey]:
            if key_id not in keys:
                raise NotFoundError(f"no key has the id {key_id[:20]!r}; `ltm keys list` shows them")
            return {i: key for i, key in keys.items() if i != key_id}

        self._file.change(without)

    def all(self) -> list[ApiKey]:
        """Every key, oldest first."""
        return sorted(self._file.value().values(), key=lambda k: (k.created_at, k.id))

    def known(self, key_id: str) -> ApiKey | None:
        """The key of this id, or None; it says nothing about who asks."""
        return self._file.value().get(key_id)

    def owner(self, token: str) -> ApiKey | None:
        """Whose key this is; None when it opens nothing. The comparison takes the same time for any secret."""
        match = _TOKEN.fullmatch(token)
        key = self._file.value().get(match[1]) if match else None
        known = key.sha256 if key else _hash("")
        right = hmac.compare_digest(known, _hash(match[2] if match else ""))
        return key if right and key and match else None

    def bearer(self, authorization: str) -> ApiKey | None:
        """Whose key an Authorization header carries; None when it carries none that opens anything."""
        scheme, _, token = authorization.partition(" ")
        return self.owner(token.strip()) if scheme.lower() == "bearer" else None


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _keys(rows: list[dict[str, Any]]) -> Mapping[str, ApiKey]:
    return {row["id"]: ApiKey(**row) for row in rows}


def _rows(keys: Mapping[str, ApiKey]) -> list[dict[str, Any]]:
    return [asdict(key) for key in keys.values()]


__all__ = ["KEYS_FILE", "ApiKey", "Keyring", "Kind"]
