"""Where the files are: a local folder, or anything that fsspec opens."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ltm_core.errors import ConfigError, MissingExtraError, UnavailableError
from ltm_core.store.needles import Needles

if TYPE_CHECKING:
    from ltm_core.runtime import Runtime

FOLDER = "archive"
"""Inside a local store, where no `Config.archive_url` says otherwise."""


SUFFIX = ".parquet"


class Place:
    """Files by folder and name. Every failure is UnavailableError, without what a path or an answer held."""

    def __init__(self, url: str) -> None:
        try:
            from fsspec.core import url_to_fs
            from fsspec.implementations.local import LocalFileSystem
        except ImportError:
            raise MissingExtraError("the archive", "archive") from None
        try:
            self._fs, self._root = url_to_fs(url)
        except ImportError as e:
            raise ConfigError(f"archive_url needs a package of its own: {e}") from None
        except ValueError as e:
            raise ConfigError(f"archive_url cannot be used: {type(e).__name__}") from None
        self.is_local = isinstance(self._fs, LocalFileSystem)

    def write(self, folder: str, name: str, data: bytes) -> None:
        """The file is there, whole and on disk, or not at all."""
        with _told("written"):
            if not self.is_local:
                self._fs.makedirs(f"{self._root}/{folder}", exist_ok=True)
                self._fs.pipe_file(self._path(folder, name), data)
                return
            path = Path(self._path(folder, name))
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            draft = path.with_name(f".{name}")
            fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(fd, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(fd)
            draft.replace(path)

    def read(self, folder: str, name: str) -> bytes | None:
        """The file's bytes; None when there is none."""
        with _told("read"):
            try:
                data: bytes = self._fs.cat_file(self._path(folder, name))
                return data
            except FileNotFoundError:
                return None

    def delete(self, folder: str, name: str | None = None) -> None:
        """The file, or the whole folder, is not there."""
        with _told("deleted"):
            path = f"{self._root}/{folder}" if name is None else self._path(folder, name)
            if self._fs.exists(path):
                self._fs.rm(path, recursive=name is None)
            draft = None if name is None else self._path(folder, f".{name}")
            if draft is not None and self.is_local and self._fs.exists(draft):
                self._fs.rm(draft)

    def holds(self, folder: str, needles: Sequence[bytes]) -> bool:
        """Whether a file of the folder holds one of these byte strings."""
        with _told("read"):
            path = f"{self._root}/{folder}"
            files = self._fs.find(path) if self._fs.exists(path) else []
            wanted = Needles(needles)
            return any(wanted.found_in(data) for data in map(self._fs.cat_file, files))

    def files(self) -> set[tuple[str, str]]:
        """(folder, name) of every file, drafts that were never finished under the name they were to have."""
        with _told("listed"):
            self._fs.invalidate_cache()
            found = self._fs.find(self._root) if self._fs.exists(self._root) else []
        inside = (path.removeprefix(self._root).strip("/").split("/") for path in found)
        return {(p[0], p[1].removeprefix(".")) for p in inside if len(p) == 2 and p[1].endswith(SUFFIX)}

    def _path(self, folder: str, name: str) -> str:
        return f"{self._root}/{folder}/{name}"


@contextmanager
def _told(what: str) -> Iterator[None]:
    try:
        yield
    except (OSError, RuntimeError, ValueError) as e:
        raise UnavailableError(f"a file of the archive cannot be {what} ({type(e).__name__})") from None


def place_of(runtime: Runtime) -> Place:
    """The archive of this store. ConfigError for a store without a folder when none was named."""
    known: Any = runtime.archive
    if known is None:
        url = runtime.config.archive_url
        location = runtime.store.location
        if not url and (location == ":memory:" or "://" in location):
            raise ConfigError(f"name a folder or URL in archive_url: {location} has no folder for it")
        known = runtime.archive = Place(url or str(Path(location).resolve() / FOLDER))
    return known  # type: ignore[no-any-return]


__all__ = ["FOLDER", "SUFFIX", "Place", "place_of"]
