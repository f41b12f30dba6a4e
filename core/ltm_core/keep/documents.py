"""Forgetting reaches documents too: application data often repeats what the user said."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ltm_core.documents.units import spans, with_vectors
from ltm_core.keep.redaction import overwritten, spans_of
from ltm_core.store.base import DocumentRow

if TYPE_CHECKING:
    from ltm_core.config import Config
    from ltm_core.store.base import Reader, Writer

_PAGE = 500


def holding(reader: Reader, patterns: Sequence[re.Pattern[str]]) -> Iterator[DocumentRow]:
    """The documents in whose value or key one of the patterns stands. Namespaces are places, not words."""
    seen = 0
    while patterns and (page := reader.documents(after_item=seen, limit=_PAGE)):
        for row in page:
            if spans_of(patterns, row.key) or overwritten(row.value, patterns) != row.value:
                yield row
        seen = page[-1].item


def overwrite_documents(writer: Writer, patterns: Sequence[re.Pattern[str]], *, config: Config) -> dict[str, int]:
    """No value of the user's documents holds one of the patterns: the words are overwritten and the rest indexed
    anew (vectors follow). A document whose key holds one is gone."""
    rows = list(holding(writer, patterns))
    going = [r.item for r in rows if spans_of(patterns, r.key)]
    for row in rows:
        if row.item not in going:
            value = overwritten(row.value, patterns)
            units = with_vectors(spans(value, row.fields, config), {})
            writer.put_document(replace(row, value=value), units)
    counts = {"documents_redacted": len(rows) - len(going), "documents_deleted": writer.delete_documents(going)}
    return {k: v for k, v in counts.items() if v}
