"""Content columns are envelopes: one byte that names the codec, then the payload.

Codec 1 is compact UTF-8 JSON with readable characters. Others (encryption) get their own number and their own
class; a row says by its first byte how to read it, so both may live in one table.
"""

from __future__ import annotations

import json
from typing import Any, Protocol, TypeAlias

from ltm_core.errors import CorruptError

PLAIN = 1
_PREFIX = bytes([PLAIN])
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode
_decode = json.JSONDecoder().decode


Place: TypeAlias = tuple[str | int, ...]
"""Where an envelope stands: its table, and what names its row there (`tables.place_of`)."""


class Codec(Protocol):
    """Encodes and decodes the content of one user. What was encoded for one place may not open in another."""

    def encode(self, value: Any, place: Place) -> bytes: ...
    def decode(self, blob: bytes, place: Place) -> Any: ...


class PlainCodec:
    """JSON without encryption. Lone surrogates survive the round trip."""

    __slots__ = ()

    def encode(self, value: Any, place: Place = ()) -> bytes:
        text = _encode(value)
        try:
            return _PREFIX + text.encode()
        except UnicodeEncodeError:
            return _PREFIX + text.encode("utf-8", "surrogatepass")

    def decode(self, blob: bytes, place: Place = ()) -> Any:
        if not isinstance(blob, bytes):
            raise CorruptError(f"an envelope is {type(blob).__name__}, not bytes")
        if blob[:1] != _PREFIX:
            raise CorruptError(f"an envelope of {len(blob)} bytes names codec {blob[:1].hex() or 'none'}, not 01")
        try:
            return _decode(blob[1:].decode("utf-8", "surrogatepass"))
        except ValueError as e:
            # The cause would show the text itself.
            raise CorruptError(f"an envelope of {len(blob)} bytes cannot be read ({type(e).__name__})") from None


PLAIN_CODEC = PlainCodec()
