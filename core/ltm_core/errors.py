"""Every error the product raises on purpose.

    LTMError
    ├── InvalidInputError (ValueError)       a value was refused before anything was written
    │   ├── InvalidScopeError                blank, missing, over-long or malformed id
    │   ├── InvalidFilterError               unknown operator or shape in ``filters``
    │   └── InvalidTimeError                 unreadable date, zone or range
    ├── NotFoundError (KeyError)             no such id for this user (another user's id counts as none)
    ├── ConflictError                        several candidates, or a state that forbids the call
    ├── AccessDeniedError                    a service refused the key, or what it may not do
    ├── ConfigError                          unknown option, or a value outside its range
    │   └── MasterKeyError                   an encrypted store, and no master key or another one
    ├── MissingExtraError (ImportError)      an optional package is needed; the message names the pip line
    ├── EmbedderMismatchError                the store was written with another embedder
    ├── ExtractionError                      an extractor's output could not be used
    └── StoreError                           the store could not do it
        ├── BusyError                        locked by others for longer than the timeout
        ├── UnavailableError                 not reachable, not writable, or on an unsuitable file system
        ├── CorruptError                     not a database, or damaged
        ├── SchemaTooNewError                written by a newer version of the product
        └── ErasurePendingError              hidden, but bytes are still on disk; ``maintain`` finishes it

Messages carry ids and numbers, never the text of a memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class LTMError(Exception):
    """Base of all errors raised by ltm_core and its adapters."""


class InvalidInputError(LTMError, ValueError):
    """A value was refused; nothing was read or written."""


class InvalidScopeError(InvalidInputError):
    """An id is blank, missing, over-long, or not text."""


class InvalidFilterError(InvalidInputError):
    """A filter uses an unknown operator or shape."""


class InvalidTimeError(InvalidInputError):
    """A date, time zone or range could not be read."""


class NotFoundError(LTMError, KeyError):
    """No such id for this user; the same for another user's id."""

    def __str__(self) -> str:  # KeyError would show the repr of the message
        return str(self.args[0]) if self.args else "not found"


class ConflictError(LTMError):
    """Several candidates match, or the present state forbids the call.

    ``candidates`` holds the ids to choose from.
    """

    def __init__(self, message: str, candidates: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.candidates = tuple(candidates)


class AccessDeniedError(LTMError):
    """A service does not know the key, or the key may not do this or act for this user."""


class ConfigError(LTMError):
    """An option is unknown or its value is outside its range."""


class MasterKeyError(ConfigError):
    """The store is encrypted, and the master key is missing, is another one, or cannot be used."""


class MissingExtraError(LTMError, ImportError):
    """An optional package is not installed; the message names the line that installs it."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f'{what} needs an optional package: pip install "ltm-core[{extra}]"')
        self.extra = extra


class EmbedderMismatchError(LTMError):
    """The store's vectors come from another embedder.

    ``stored`` and ``given`` are the two identities.
    """

    def __init__(self, stored: str, given: str) -> None:
        super().__init__(
            f"the store's vectors were made by {stored!r}, but it was opened with {given!r}: "
            'open it with the first one, change it with `ltm reembed --to`, or pass embedder="none" to go on with '
            "keyword recall only"
        )
        self.stored = stored
        self.given = given


class ExtractionError(LTMError):
    """An extractor's output could not be used."""


class StoreError(LTMError):
    """The store could not do what was asked."""


class BusyError(StoreError):
    """The store stayed locked for longer than the busy timeout; the call may be repeated."""


class UnavailableError(StoreError):
    """The store cannot be reached or written where it is."""


class CorruptError(StoreError):
    """The file is not a database of this product, or it is damaged."""


class SchemaTooNewError(StoreError):
    """The store was written by a newer version of the product."""


class ErasurePendingError(StoreError):
    """The data is hidden for good, but some bytes are still on disk; ``maintain()`` finishes the work.

    ``receipt`` tells what was done.
    """

    def __init__(self, message: str, receipt: Any = None) -> None:
        super().__init__(message)
        self.receipt = receipt
