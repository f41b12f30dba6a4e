"""A service over a small store, called in the same process: no port, no thread. Needs ``server`` and ``client``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from ltm_core.client import RemoteMemory
from ltm_core.memory import LongTermMemory
from ltm_core.serve.app import create_app
from ltm_core.serve.keys import KEYS_FILE, Keyring
from ltm_core.serve.settings import ServeSettings
from ltm_core.testing.embedders import HashEmbedder

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)


@dataclass
class Service:
    """A running service, its keys, and what stands behind it."""

    memory: LongTermMemory
    keys: Keyring
    http: Any
    admin: str
    app: str
    ana: str
    ben: str
    ids: dict[str, str]

    def ask(self, verb: str, path: str, key: str | None, **options: Any) -> Any:
        headers = dict(options.pop("headers", {}))
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        return self.http.request(verb, path, headers=headers, **options)

    def remote(self, key: str) -> RemoteMemory:
        return RemoteMemory("http://localhost", key=key, http=self.http)


def service_at(place: Path, *, library: Mapping[str, Any] | None = None, **settings: Any) -> Service:
    """A service over a new store in ``place``, with a key of each kind; use ``with service.http:``. ``library``:
    fields of `Config`; ``settings``: of `ServeSettings`."""
    given = {"timezone": "UTC", **(library or {})}
    memory = LongTermMemory.open(place, embedder=HashEmbedder(), clock=lambda: NOW, **given)
    ring = Keyring(place / KEYS_FILE)
    made = {
        "admin": ring.add("admin", now=NOW),
        "app": ring.add("app", now=NOW, app_id="crm"),
        "ana": ring.add("user", now=NOW, user_id="ana"),
        "ben": ring.add("user", now=NOW, user_id="ben"),
    }
    app = create_app(memory, ring, ServeSettings(**settings), close=True)
    return Service(
        memory=memory,
        keys=ring,
        http=TestClient(app, base_url="http://localhost"),
        ids={name: key.id for name, (_, key) in made.items()},
        **{name: token for name, (token, _) in made.items()},
    )


__all__ = ["NOW", "Service", "service_at"]
