"""Turns as Parquet and back. A row is the turn's line of an export in the user's envelope, with its vectors.

Not compressed: what an erasure looks for must not hide, and vectors do not shrink.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ltm_core.errors import CorruptError, InvalidInputError, MissingExtraError
from ltm_core.keep.export import message_line
from ltm_core.keep.lines import read_line
from ltm_core.keep.rowmaking import message_of

if TYPE_CHECKING:
    from ltm_core.keep.line_values import Limits
    from ltm_core.store.base import MessageRow, Reader
    from ltm_core.types import Anchor

Spans = Sequence[tuple[int, int, bytes | None]]
FORMAT = b"ltm-core cold 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cold:
    """One turn of a file: its item in the store, its line of an export, its indexed spans with vectors."""

    item: int
    line: Mapping[str, Any]
    spans: Spans

    def row(self, limits: Limits) -> tuple[MessageRow, tuple[Anchor, ...]]:
        """The turn and its anchors. CorruptError for a line that does not hold one."""
        try:
            row, anchors = message_of(read_line(json.dumps(self.line), limits))
        except InvalidInputError as e:
            raise CorruptError(f"the archive's turn {self.item} cannot be read: {e}") from None
        return replace(row, item=self.item, sequence=self.item), anchors


def packed(reader: Reader, turns: Sequence[Cold], *, embedder: str) -> bytes:
    """The file of these turns, in order."""
    pa, pq = _arrow()
    span = pa.struct([("start", pa.int32()), ("end", pa.int32()), ("vector", pa.binary())])
    schema = pa.schema(
        [("item", pa.int64()), ("body", pa.binary()), ("spans", pa.list_(span))],
        metadata={b"format": FORMAT, b"embedder": embedder.encode()},
    )
    columns = {
        "item": [t.item for t in turns],
        "body": [reader.seal(t.line) for t in turns],
        "spans": [
            [
                {"start": s, "end": e, "vector": None if v is None else reader.seal_vector(t.item, v)}
                for s, e, v in t.spans
            ]
            for t in turns
        ],
    }
    sink = io.BytesIO()
    table = pa.table(columns, schema=schema)
    pq.write_table(table, sink, compression="none", use_dictionary=False, write_statistics=False)
    return sink.getvalue()


def unpacked(reader: Reader, data: bytes, *, embedder: str) -> list[Cold]:
    """The turns of a file; without vectors when another embedder made them. CorruptError for anything else."""
    pa, pq = _arrow()
    try:
        table = pq.read_table(io.BytesIO(data))
        metadata = table.schema.metadata or {}
        rows = table.to_pylist()
    except (pa.ArrowException, OSError, ValueError) as e:
        raise CorruptError(f"a file of the archive cannot be read ({type(e).__name__})") from None
    if metadata.get(b"format") != FORMAT:
        raise CorruptError("a file of the archive has another format")
    same = metadata.get(b"embedder") == embedder.encode()
    return [
        Cold(
            item=r["item"],
            line=reader.unseal(r["body"]),
            spans=[
                (
                    s["start"],
                    s["end"],
                    reader.unseal_vector(r["item"], s["vector"]) or None if same and s["vector"] else None,
                )
                for s in r["spans"]
            ],
        )
        for r in rows
    ]


def cold_of(row: MessageRow, anchors: Sequence[Anchor], spans: Spans) -> Cold:
    """The turn as a file holds it."""
    return Cold(item=row.item, line=message_line(row, list(anchors)), spans=spans)


def digest_of(data: bytes) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(data).hexdigest()


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("the archive", "archive") from None
    return pa, pq


__all__ = ["Cold", "Spans", "cold_of", "digest_of", "packed", "unpacked"]
