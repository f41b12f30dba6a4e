"""The directory of a store: whether it may hold one, its key file, its names."""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ltm_core.errors import CorruptError, UnavailableError
from ltm_core.store.vault import StoreKeys, is_sealed, keys_in, seal

if TYPE_CHECKING:
    from ltm_core.store.keys import KeyProvider

DATABASE = "memory.sqlite3"
KEY = "store.key"
LOCK = "store.lock"
ARCHIVE = "archive"
"""Folder for files of turns that were moved out of the database; each user has a folder in it."""
KEY_BYTES = 32

NETWORK_FILE_SYSTEMS = frozenset(
    {
        "nfs",
        "nfs3",
        "nfs4",
        "cifs",
        "smb2",
        "smb3",
        "smbfs",
        "afs",
        "ncpfs",
        "ceph",
        "glusterfs",
        "lustre",
        "beegfs",
        "gpfs",
        "orangefs",
        "davfs",
        "fuse.sshfs",
        "fuse.glusterfs",
        "fuse.ceph",
        "fuse.s3fs",
        "fuse.rclone",
        "fuse.gcsfuse",
        "fuse.davfs2",
        "fuse.juicefs",
    }
)
MOUNTS = Path("/proc/mounts")


def prepare(directory: Path, *, read_only: bool, allow_network: bool) -> None:
    """The directory exists (0700 when created here) and can hold a store, else UnavailableError."""
    try:
        _prepare(directory, read_only, allow_network)
    except OSError as e:
        raise UnavailableError(f"{directory} cannot be used: {e.strerror}") from e


def _prepare(directory: Path, read_only: bool, allow_network: bool) -> None:
    if directory.exists() and not directory.is_dir():
        raise UnavailableError(f"{directory} is a file; a store is a directory")
    kind = file_system(directory)
    if kind in NETWORK_FILE_SYSTEMS and not allow_network:
        raise UnavailableError(
            f"{directory} is on a network file system ({kind}), where SQLite's locks are unreliable: "
            "use a local directory or PostgreSQL, or set allow_network_filesystem=True"
        )
    if read_only:
        if not (directory / DATABASE).exists():
            raise UnavailableError(f"{directory} holds no store to read")
        return
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not os.access(directory, os.W_OK | os.X_OK):
        raise UnavailableError(f"{directory} is not writable; open it with read_only=True")


def file_system(directory: Path) -> str:
    """Type of the file system under a path, by the kernel's list; "" where there is none."""
    if not sys.platform.startswith("linux"):
        return ""
    try:
        lines = MOUNTS.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return ""
    path = os.path.realpath(directory)
    best, kind = -1, ""
    for line in lines:
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        # The kernel writes space, tab, newline and backslash as octal.
        point = fields[1]
        for octal, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
            point = point.replace(octal, char)
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        # Of two mounts on one point the later one is seen.
        if inside and len(point) >= best:
            best, kind = len(point), fields[2]
    return kind


def load_keys(
    directory: Path, *, read_only: bool, provider: KeyProvider | None, fresh: bytes | None = None
) -> StoreKeys:
    """The store's keys; a new store gets its own, sealed when there is a provider, or the key file ``fresh``.

    MasterKeyError when the store is encrypted and the provider is missing or has another key; ConfigError when
    there is a provider and the store that exists is plain.
    """
    data = load_key(directory, read_only=read_only, provider=provider, fresh=fresh)
    return keys_in(data, provider, file=str(directory / KEY), store=str(directory))


def load_key(
    directory: Path, *, read_only: bool, provider: KeyProvider | None = None, fresh: bytes | None = None
) -> bytes:
    """The bytes of the key file, created with mode 0600 beside a database that does not exist yet: ``fresh``, or 32
    random ones, or sealed keys when there is a provider.

    Of several processes that create it at once, all read the same one.
    """
    path = directory / KEY
    for attempt in range(3):
        try:
            key = path.read_bytes()
        except FileNotFoundError:
            database = directory / DATABASE
            if read_only or (database.exists() and database.stat().st_size > 0):
                if attempt == 0:
                    continue  # another process may have created both since
                raise CorruptError(
                    f"{path} is missing: restore the file that belongs to {DATABASE}, nothing is found without"
                ) from None
            if fresh is None:
                fresh = secrets.token_bytes(KEY_BYTES) if provider is None else seal(StoreKeys.new(), provider)
            create_key(path, fresh)
            continue
        except OSError as e:
            raise UnavailableError(f"{path} cannot be read: {e.strerror}") from e
        if len(key) != KEY_BYTES and not is_sealed(key):
            raise CorruptError(f"{path} has {len(key)} bytes instead of {KEY_BYTES}: restore it")
        return key
    raise UnavailableError(f"{path} vanished while it was read")


def replace_key(directory: Path, data: bytes) -> None:
    """The key file holds this, whole or not at all, also after a power cut."""
    path = directory / KEY
    draft = path.with_name(f"{KEY}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        write_new(draft, data)
        draft.rename(path)
        sync_directory(directory)
    except OSError as e:
        raise UnavailableError(f"{path} cannot be written: {e.strerror}") from e
    finally:
        draft.unlink(missing_ok=True)


def write_new(path: Path, data: bytes) -> None:
    """A new file (0600) with this content, on the disk."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(fd)


def create_key(path: Path, data: bytes) -> None:
    """The file (0600) is there, whole: with this content, or with that of somebody faster."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        write_new(draft, data)
        try:
            # A link appears whole or not at all, and never replaces the key of a faster process.
            os.link(draft, path)
            sync_directory(path.parent)
        except FileExistsError:
            return
        except OSError:
            # A file system without hard links: a rename is enough for callers that hold the store's lock.
            draft.rename(path)
            return
    except OSError as e:
        raise UnavailableError(f"{path} cannot be created: {e.strerror}") from e
    finally:
        draft.unlink(missing_ok=True)


def sync_directory(directory: Path) -> None:
    """The names in the directory survive a power cut, where the system can promise it."""
    if os.name != "posix":
        return
    fd = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def sizes(directory: Path) -> int:
    """Bytes of all files under the directory."""
    total = 0
    for path in directory.rglob("*"):
        try:
            total += path.stat().st_size
        except FileNotFoundError:
            continue
    return total
