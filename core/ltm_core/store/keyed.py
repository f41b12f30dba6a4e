"""Keyed hashes: how a store finds ids, labels and terms without keeping them readable.

All are BLAKE2b under the store's 32-byte key, with one personalisation per purpose, so that a hash of one purpose
says nothing about another. Text is hashed as UTF-8; lone surrogates have their own bytes, so nothing fails.
"""

from __future__ import annotations

import hashlib
import unicodedata

TERM_BITS = 40
_TERM_BYTES = TERM_BITS // 8


def slot_form(value: str) -> str:
    """The form in which two spellings of a subject or relation are one: NFKC, case-folded, single spaces.

    Hashes of it are on disk, so it changes only with a migration.
    """
    return " ".join(unicodedata.normalize("NFKC", value).casefold().split())


def _bytes(value: str) -> bytes:
    return value.encode("utf-8", "surrogatepass")


class TermHasher:
    """40-bit hashes of the terms of one user; the same word of another user hashes differently."""

    __slots__ = ("_base",)

    def __init__(self, key: bytes, user_no: int) -> None:
        self._base = hashlib.blake2b(key=key, person=b"ltm term", digest_size=_TERM_BYTES)
        self._base.update(user_no.to_bytes(8, "big"))

    def __call__(self, term: str) -> int:
        h = self._base.copy()
        h.update(_bytes(term))
        return int.from_bytes(h.digest(), "big")


class OwnTermHasher(TermHasher):
    """The same, hashed once more under a secret of the user."""

    __slots__ = ("_own",)

    def __init__(self, key: bytes, user_no: int, own: bytes) -> None:
        super().__init__(key, user_no)
        self._own = hashlib.blake2b(key=own, person=b"ltm own term", digest_size=_TERM_BYTES)

    def __call__(self, term: str) -> int:
        return self.again(super().__call__(term))

    def again(self, value: int) -> int:
        """The second hash of a first one."""
        h = self._own.copy()
        h.update(value.to_bytes(_TERM_BYTES, "big"))
        return int.from_bytes(h.digest(), "big")


class Keyed:
    """The keyed hashes of one store."""

    __slots__ = ("_content", "_key", "_label", "_mac")

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._label = hashlib.blake2b(key=key, person=b"ltm label", digest_size=8)
        self._mac = hashlib.blake2b(key=key, person=b"ltm id", digest_size=16)
        self._content = hashlib.blake2b(key=key, person=b"ltm content", digest_size=16)

    def label(self, value: str | None) -> int:
        """63-bit hash of a session, agent, task, app or type; 0 for None, never 0 for text."""
        if value is None:
            return 0
        h = self._label.copy()
        h.update(_bytes(value))
        return (int.from_bytes(h.digest(), "big") >> 1) or 1

    def pair(self, first: str, second: str) -> int:
        """63-bit hash of two texts, folded; ("ab", "c") differs from ("a", "bc")."""
        a = slot_form(first)
        return self.label(f"{len(a)}:{a}:{slot_form(second)}")

    def folded(self, value: str) -> int:
        """63-bit hash of a text, folded."""
        return self.label(slot_form(value))

    def mac(self, value: str) -> bytes:
        """16 bytes that stand for an id."""
        h = self._mac.copy()
        h.update(_bytes(value))
        return h.digest()

    def content(self, value: str) -> bytes:
        """16 bytes that stand for a text."""
        h = self._content.copy()
        h.update(_bytes(value))
        return h.digest()

    def terms(self, user_no: int) -> TermHasher:
        """The term hash of one user."""
        return TermHasher(self._key, user_no)


class OwnKeyed(Keyed):
    """The keyed hashes of one user of an encrypted store: what can be guessed from a dictionary (terms, subjects,
    relations, values) is hashed a second time under a secret of the user. From a first hash the second follows
    without the text, so a plain store becomes an encrypted one without reading a word.

    Ids, labels and whole texts stay under the store's key: tombstones outlive the user and are compared with them.
    """

    __slots__ = ("_own", "_secret")

    def __init__(self, key: bytes, secret: bytes) -> None:
        super().__init__(key)
        self._secret = secret
        self._own = hashlib.blake2b(key=secret, person=b"ltm own label", digest_size=8)

    def pair(self, first: str, second: str) -> int:
        return self.again(super().pair(first, second))

    def folded(self, value: str) -> int:
        return self.again(super().folded(value))

    def terms(self, user_no: int) -> OwnTermHasher:
        return OwnTermHasher(self._key, user_no, self._secret)

    def again(self, value: int) -> int:
        """The second hash of a first one; 0 stays 0."""
        if not value:
            return 0
        h = self._own.copy()
        h.update(value.to_bytes(8, "big"))
        return (int.from_bytes(h.digest(), "big") >> 1) or 1
