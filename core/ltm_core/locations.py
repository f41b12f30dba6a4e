"""Where a store is, as a command or a service is told: a directory, or the URL of a database.

A URL may hold a password: the text form and every message show the place without it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from ltm_core.errors import ConfigError
from ltm_core.store.postgres.location import data_folder, is_postgres, place_of


@dataclass(frozen=True, slots=True)
class Location:
    """One place of a store."""

    text: str = field(repr=False)

    @classmethod
    def of(cls, given: str | Location) -> Location:
        """What a command was given, or its default."""
        return given if isinstance(given, Location) else cls(given)

    def __str__(self) -> str:
        return place_of(self.text).shown if self.is_url else self.text

    @property
    def is_url(self) -> bool:
        return is_postgres(self.text)

    @property
    def absolute(self) -> str:
        """The same place, also for a process that works in another directory."""
        return self.text if self.is_url else str(Path(self.text).resolve())

    def holds_store(self) -> bool:
        """Whether there is one to open; UnavailableError when the database cannot be asked."""
        if self.is_url:
            from ltm_core.store.postgres import holds_store

            return holds_store(self.text)
        from ltm_core.store.sqlite.files import DATABASE

        return (Path(self.text) / DATABASE).is_file()

    def folder(self) -> Path:
        """Where a service keeps its own files: in the store's directory; for a database in a folder of the user who
        runs it, made when it is not there."""
        if not self.is_url:
            return Path(self.text)
        place = data_folder() / "service" / hashlib.blake2b(str(self).encode(), digest_size=8).hexdigest()
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        return place


def directory_of(location: str | Path, what: str) -> Path:
    """The directory; ConfigError, which repeats nothing of a URL, when it is none."""
    if is_postgres(location):
        raise ConfigError(f"{what} is for a store in a directory; docs/postgresql.md says what to do instead")
    return Path(location)


__all__ = ["Location", "directory_of"]
