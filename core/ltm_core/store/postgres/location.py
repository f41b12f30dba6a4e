"""The URL of a store in PostgreSQL: what of it is ours, what is the driver's, and how it is shown."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from ltm_core.errors import ConfigError

SCHEMES = ("postgresql://", "postgres://")
SCHEMA = "ltm"
PARTITIONS = 16
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,40}")
_OURS = ("schema", "key_file", "partitions")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a store is. Its text forms never hold a password."""

    conninfo: str = field(repr=False)
    """What the driver connects with, password and all."""
    shown: str
    schema: str = SCHEMA
    key_file: Path | None = None
    partitions: int = PARTITIONS
    """Into how many parts a new store's tables are split by user."""


def is_postgres(location: object) -> bool:
    """Whether a location names a store in PostgreSQL."""
    return isinstance(location, str) and location.startswith(SCHEMES)


def place_of(url: str) -> Place:
    """The parts of ``postgresql://user:password@host:port/database?schema=ltm&key_file=/path``; everything else in
    the query goes to the driver. ConfigError, which repeats nothing secret, for what is no such URL."""
    try:
        parts = urlsplit(url)
        query = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        raise ConfigError("the location is no URL of the form postgresql://user@host:port/database") from None
    if parts.fragment:
        raise ConfigError("the URL of the store has a #: write one in a name or a password as %23")
    ours = {k: v for k, v in query if k in _OURS}
    rest = [(k, v) for k, v in query if k not in _OURS]
    schema = ours.get("schema", SCHEMA)
    if not _NAME.fullmatch(schema) or schema.startswith("pg_"):
        raise ConfigError("schema= in the URL must be a lower-case name of letters, digits and _, at most 41")
    count = ours.get("partitions", str(PARTITIONS))
    if not count.isdigit() or not 1 <= int(count) <= 1024:
        raise ConfigError("partitions= in the URL must be a number from 1 to 1024")
    conninfo = parts._replace(scheme="postgresql", query=urlencode(rest, quote_via=quote)).geturl()
    return Place(
        conninfo=conninfo,
        shown=_shown(parts.netloc, parts.path, schema),
        schema=schema,
        key_file=Path(ours["key_file"]).expanduser() if ours.get("key_file") else None,
        partitions=int(count),
    )


def data_folder() -> Path:
    """Where the product keeps files of the user who runs it."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "ltm-core"


def _shown(netloc: str, path: str, schema: str) -> str:
    account, at, hosts = netloc.rpartition("@")
    user = unquote(account.partition(":")[0])
    # Somebody may have written the password where the user belongs; a name is shown only if it looks like one.
    name = f"{user}@" if at and re.fullmatch(r"[\w.-]{1,63}", user) else ""
    return f"postgresql://{name}{hosts}{path}" + ("" if schema == SCHEMA else f"?schema={schema}")


__all__ = ["PARTITIONS", "SCHEMA", "SCHEMES", "Place", "data_folder", "is_postgres", "place_of"]
