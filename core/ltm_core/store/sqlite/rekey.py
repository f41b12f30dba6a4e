"""Encrypting a store that exists, and changing its master key, without opening it for use."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ltm_core.errors import BusyError, ConfigError, MasterKeyError, UnavailableError
from ltm_core.store.sql.external_rest import remove
from ltm_core.store.sqlite.encrypting import Progress, bind_users, encrypt_users, seal_key_file
from ltm_core.store.sqlite.files import DATABASE, KEY, load_key, replace_key
from ltm_core.store.sqlite.key_copies import rewrap_copies
from ltm_core.store.sqlite.store import SqliteStore
from ltm_core.store.vault import ID_BYTES, StoreKeys, Vault, is_sealed, seal, sealed_name, unseal

if TYPE_CHECKING:
    from ltm_core.config import Config
    from ltm_core.store.keys import KeyProvider

_PAGE = 500
"""Keys rewrapped per transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """What was done to a store's keys."""

    users: int
    master: str
    seconds: float
    missed: tuple[str, ...] = ()
    """Key files beside backups that could not be reached."""


def encrypt(location: Path, *, config: Config, keys: KeyProvider, progress: Progress | None = None) -> Sealed:
    """Everything in the store is sealed under the master key, its log is empty. Resumable: what a stopped run left
    is done. An encrypted store stays as it is, when the key is its own."""
    started = time.perf_counter()
    _require_store(location)
    if not is_sealed(load_key(location, read_only=True)):
        # Damage and a newer schema are found before anything is sealed.
        plain = SqliteStore(location, config=config)
        try:
            with plain.connection() as conn:
                (files,) = conn.execute("SELECT count(*) FROM cold_files").fetchone()
        finally:
            plain.close()
        if files:
            raise ConfigError(f"{files} files of the archive hold turns in plain: restore_archive first")
        seal_key_file(location, keys, wait_seconds=config.busy_timeout_seconds)
    store = SqliteStore(location, config=config, keys=keys)
    try:
        try:
            # It holds vectors in plain.
            remove(store)
        except BusyError:
            raise UnavailableError(
                f"another process keeps a vector index of {location}, which holds vectors in plain: close it first"
            ) from None
        users = encrypt_users(store, progress)
        clean, _ = store.operations().scrub(wait_seconds=config.busy_timeout_seconds)
        if not clean:
            raise UnavailableError(
                f"{location} is encrypted, but readers keep its log alive, which holds what was readable: close them "
                "and encrypt again"
            )
    finally:
        store.close()
    return Sealed(users=users, master=_master(location), seconds=time.perf_counter() - started)


def rekey(location: Path, *, config: Config, keys: KeyProvider, to: KeyProvider) -> Sealed:
    """The store and the key files beside its backups open with ``to`` only: a new wrapping key is sealed under it,
    every data key is wrapped anew. No row of content is touched, unless a version before this one bound it to
    its user alone: it is bound to its place then. Resumable by the same call."""
    started = time.perf_counter()
    _require_store(location)
    data = load_key(location, read_only=True)
    if not is_sealed(data):
        raise ConfigError(f"{location} is not encrypted: `ltm encrypt` encrypts it")
    resumed = sealed_name(data)[1] == to.key_id
    store = SqliteStore(location, config=config, keys=to if resumed else keys)
    try:
        with store.exclusive(config.busy_timeout_seconds) as conn:
            held = unseal(load_key(location, read_only=True), to if resumed else keys, str(location / KEY))
            if not resumed:
                held = held.turned()
                replace_key(location, seal(held, to))
            conn.execute("UPDATE state SET encryption = ? WHERE id = 1", (Vault(held).present,))
        users = _rewrap(store, held)
        bind_users(store, Vault(held))
        with store.exclusive(config.busy_timeout_seconds) as conn:
            present = held.newest()
            (left,) = conn.execute(
                f"SELECT count(*) FROM user_keys WHERE master <> ? AND length(wrapped) > {ID_BYTES}",
                (Vault(held).present,),
            ).fetchone()
            if left:
                raise MasterKeyError(f"{left} data keys are still under the former key: run it again")
            data = seal(present, to)
            missed = rewrap_copies(store, held, data)
            if not missed:
                replace_key(location, data)
        store.operations().scrub(wait_seconds=config.busy_timeout_seconds)
    finally:
        store.close()
    return Sealed(
        users=users,
        master=_master(location),
        seconds=time.perf_counter() - started,
        missed=tuple(str(p) for p in missed),
    )


def _rewrap(store: SqliteStore, held: StoreKeys) -> int:
    vault = Vault(held)
    done = last = 0
    while True:
        with store.connection(write=True) as conn:
            rows = conn.execute(
                f"SELECT user_no, master, wrapped FROM user_keys WHERE user_no > ? AND master <> ? "
                f"AND length(wrapped) > {ID_BYTES} ORDER BY user_no LIMIT {_PAGE}",
                (last, vault.present),
            ).fetchall()
            conn.executemany(
                "UPDATE user_keys SET master = ?, wrapped = ? WHERE user_no = ?",
                [(vault.present, vault.rewrapped(master, blob), no) for no, master, blob in rows],
            )
        if not rows:
            return done
        done += len(rows)
        last = rows[-1][0]


def _require_store(location: Path) -> None:
    if not (location / DATABASE).is_file():
        raise UnavailableError(f"{location} holds no store")


def _master(location: Path) -> str:
    return sealed_name(load_key(location, read_only=True))[1]


__all__ = ["Sealed", "encrypt", "rekey"]
