"""The files of old turns when a whole store is copied: names, folders and bytes stay as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltm_core.errors import ConfigError, CorruptError
from ltm_core.keep.archive.place import FOLDER, Place
from ltm_core.keep.archive.table import digest_of

if TYPE_CHECKING:
    from ltm_core.store.rows import ColdFile
    from ltm_core.store.sql.store import SqlStore


class CopiedFiles:
    """The files of ``source``'s archive, and where those of ``target`` are. ``url`` is the archive of the settings,
    ``target_url`` the one that the target will be opened with, when that is another one."""

    def __init__(self, source: SqlStore, target: SqlStore, *, url: str, target_url: str) -> None:
        self._source, self._target = source, target
        self._urls = (url or _folder(source), target_url or url or _folder(target))
        self._places: tuple[Place, Place] | None = None
        self._shared = self._urls[0] == self._urls[1]
        self.copied = self.left = 0
        """Files that were copied, and files of one place that both stores list now."""

    def carry(self, user_id: str) -> None:
        """The user's files are at the target's place, as far as the source has them whole."""
        folder, files = self._source.mac(user_id), _listed(self._source, user_id)
        if self._shared:
            self.left += len(files)
            return
        for file in files:
            data = self._whole(0, folder, file)
            if data is not None:
                self._place(1).write(folder, file.name, data)
                self.copied += 1

    def missing(self, user_id: str) -> int:
        """How many files the target lists and has not, though the source has them."""
        folder = self._source.mac(user_id)
        return sum(
            self._whole(1, folder, file) is None and self._whole(0, folder, file) is not None
            for file in (() if self._shared else _listed(self._target, user_id))
        )

    def _whole(self, side: int, folder: str, file: ColdFile) -> bytes | None:
        data = self._place(side).read(folder, file.name)
        return data if data is not None and digest_of(data) == file.digest else None

    def _place(self, side: int) -> Place:
        if self._places is None:
            for url, store in zip(self._urls, (self._source, self._target), strict=True):
                if not url:
                    raise ConfigError(
                        f"there are files of old turns, and {store.location} has no folder for them: name one for "
                        "it (--target-archive, target_archive=)"
                    )
            self._places = (Place(self._urls[0]), Place(self._urls[1]))
        return self._places[side]


def _folder(store: SqlStore) -> str:
    return "" if store.directory is None else str(store.directory.resolve() / FOLDER)


def _listed(store: SqlStore, user_id: str) -> list[ColdFile]:
    try:
        with store.read(user_id) as reader:
            return reader.cold_files()
    except CorruptError:
        # Its key is lost: nobody reads its files either.
        return []


__all__ = ["CopiedFiles"]
