"""The store in PostgreSQL; the driver is imported by `open_store`, not here."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ltm_core.errors import MissingExtraError

if TYPE_CHECKING:
    from ltm_core.config import Config
    from ltm_core.store.keys import KeyProvider
    from ltm_core.store.postgres.store import PostgresStore


def open_store(
    location: str,
    *,
    config: Config,
    read_only: bool = False,
    clock: Callable[[], datetime] | None = None,
    keys: KeyProvider | None = None,
    key: bytes | None = None,
) -> PostgresStore:
    """The store at ``postgresql://user:password@host:port/database?schema=ltm&key_file=PATH``, created when absent.

    Raises UnavailableError (not reachable, refused), CorruptError (not ours, no key), SchemaTooNewError, BusyError,
    MasterKeyError, ConfigError (the URL, or the rights of the login) or MissingExtraError. No error, log or text form
    holds the password. ``key``: what the key file of a store that is made now holds, when it is to be the copy of
    another one.
    """
    _require_driver()
    from ltm_core.store.postgres.store import PostgresStore

    return PostgresStore(location, config=config, read_only=read_only, clock=clock, keys=keys, key=key)


def holds_store(location: str) -> bool:
    """Whether the schema that the URL names holds a store; the errors of `open_store`."""
    _require_driver()
    from ltm_core.store.postgres.store import holds_store as ask

    return ask(location)


def _require_driver() -> None:
    if find_spec("psycopg") is None:
        raise MissingExtraError("a store in PostgreSQL", "postgres")


__all__ = ["holds_store", "open_store"]
