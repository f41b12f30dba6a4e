"""Half-precision vectors as values of a statement, in the form pgvector's ``halfvec`` is received in."""

from __future__ import annotations

import struct
from array import array

from psycopg.adapt import Dumper
from psycopg.pq import Format

_HEAD = struct.Struct(">HH")
"""Dimension, and a field that is not used."""


class Halves:
    """A vector as a store holds it, on its way to the server. The statement says, by a column or a cast, that it is a
    halfvec: the number of that type differs from one database to the next."""

    __slots__ = ("data",)

    def __init__(self, stored: bytes) -> None:
        values = array("H", stored)
        # The store is little-endian on every machine, what is sent is big-endian.
        values.byteswap()
        self.data = _HEAD.pack(len(values), 0) + values.tobytes()


class HalvesDumper(Dumper):
    """Sends them as they are; type 0 leaves it to the server what they are."""

    format = Format.BINARY
    oid = 0

    def dump(self, obj: Halves) -> bytes:
        return obj.data


__all__ = ["Halves", "HalvesDumper"]
