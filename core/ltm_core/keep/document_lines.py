"""Documents as lines of an export, and back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ltm_core.arguments import life_of
from ltm_core.documents.units import spans, with_vectors
from ltm_core.keep.line_values import written
from ltm_core.store.base import DocumentRow
from ltm_core.write.incoming.redact import redact_value

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from ltm_core.config import Config
    from ltm_core.keep.lines import Line
    from ltm_core.store.base import Reader, Writer


def document_line(row: DocumentRow) -> dict[str, Any]:
    """The document in the form of the file; its time to live in seconds."""
    return {
        "type": "document",
        "namespace": list(row.namespace),
        "key": row.key,
        "fields": list(row.fields),
        "created_at": written(row.created_at),
        "updated_at": written(row.updated_at),
        **({} if row.ttl is None else {"ttl": row.ttl.total_seconds()}),
        **({} if row.expires_at is None else {"expires_at": written(row.expires_at)}),
        "value": row.value,
    }


def document_of(line: Line, now: datetime) -> DocumentRow:
    """The document; a value from before its first one is put right. InvalidInputError for a time to live that,
    begun again now, would end too late to be written."""
    v = line.values
    return DocumentRow(
        namespace=v["namespace"],
        key=v["key"],
        value=v["value"],
        created_at=v["created_at"],
        updated_at=max(v["updated_at"], v["created_at"]),
        ttl=life_of(v.get("ttl"), now),
        expires_at=v.get("expires_at"),
        fields=v["fields"],
    )


def is_over(row: DocumentRow, now: datetime) -> bool:
    """Whether its time to live is over."""
    return row.expires_at is not None and row.expires_at <= now


def is_there(reader: Reader, row: DocumentRow, now: datetime) -> bool:
    """Whether its namespace holds a document under its key that is not over."""
    here = reader.document(row.namespace, row.key)
    return here is not None and not is_over(here, now)


@dataclass(frozen=True, slots=True)
class Indexed:
    """A document with its units, made before anything is written."""

    row: DocumentRow
    pieces: tuple[tuple[int, int, str], ...]

    @classmethod
    def of(cls, row: DocumentRow, config: Config) -> Indexed:
        """As it is to be stored: with ``redact_pii`` the value is masked."""
        if config.redact_pii:
            row = replace(row, value=redact_value(row.value))
        return cls(row, tuple(spans(row.value, row.fields, config)))

    def write(self, writer: Writer, vectors: Mapping[str, NDArray[np.float32]], now: datetime) -> None:
        """It is stored; one that is over gives way."""
        writer.ensure_user(now=now)
        before = writer.document(self.row.namespace, self.row.key)
        if before is not None:
            writer.delete_documents([before.item])
        writer.put_document(self.row, with_vectors(self.pieces, vectors))
