"""Forgetting reaches documents too: application data often repeats what the user said."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ltm_core.documents.units import spans, with_vectors
from ltm_core.keep.erased import texts_in
from ltm_core.keep.redaction import FILLER, overwritten, spans_of
from ltm_core.store.base import DocumentRow
from ltm_core.write.incoming.statuses import DOCUMENT, DOCUMENT_TEXT, document_key

if TYPE_CHECKING:
    from ltm_core.config import Config
    from ltm_core.store.base import Reader, Writer
    from ltm_core.store.rows import News

_PAGE = 500


def holding(reader: Reader, patterns: Sequence[re.Pattern[str]]) -> Iterator[DocumentRow]:
    """The documents in whose value or key one of the patterns stands. Namespaces are places, not words."""
    for row in _all(reader) if patterns else ():
        if spans_of(patterns, row.key) or overwritten(row.value, patterns) != row.value:
            yield row


def overwrite_documents(
    writer: Writer, patterns: Sequence[re.Pattern[str]], *, config: Config, now: datetime
) -> dict[str, int]:
    """No value of the user's documents holds one of the patterns: the words are overwritten and the rest indexed
    anew (vectors follow). A document whose key holds one is gone. Keyed hashes of both keep a backup and an export
    from bringing them back."""
    rows = list(holding(writer, patterns))
    going = [r for r in rows if spans_of(patterns, r.key)]
    changing = [r for r in rows if not spans_of(patterns, r.key)]
    said = {t for r in changing for t in texts_in(r.value) if spans_of(patterns, t)}
    if said:
        writer.add_tombstones([(DOCUMENT_TEXT, t) for t in sorted(said)], now=now)
    for row in changing:
        _rewrite(writer, row, overwritten(row.value, patterns), config=config)
    counts = {"documents_redacted": len(changing), "documents_deleted": delete_documents(writer, going, now=now)}
    return {k: v for k, v in counts.items() if v}


def delete_documents(writer: Writer, rows: Sequence[DocumentRow], *, now: datetime) -> int:
    """They are gone, and do not come back from a backup or an export; the keys are free."""
    if not rows:
        return 0
    writer.add_tombstones([(DOCUMENT, document_key(r.namespace, r.key)) for r in rows], now=now)
    return writer.delete_documents([r.item for r in rows])


def reapply_documents(
    writer: Writer,
    news: News,
    *,
    mac: Callable[[str], str],
    holds: Callable[[Iterable[str]], bool],
    present: Reader | None,
    config: Config,
) -> dict[str, int]:
    """The documents of a copy are without what the news name: deleted ones are gone, texts that were overwritten are
    overwritten as they are at ``present``, else whole. Counts per kind."""

    def gone(text: str) -> bool:
        return news.has(DOCUMENT_TEXT, mac(text)) or holds([text])

    going: list[int] = []
    changed = 0
    for row in _all(writer):
        if news.has(DOCUMENT, mac(document_key(row.namespace, row.key))) or holds([row.key]):
            going.append(row.item)
            continue
        value = _without(row.value, gone)
        if value == row.value:
            continue
        now = None if present is None else present.document(row.namespace, row.key)
        if now is not None and _came_of(now.value, row.value):
            value = now.value
        _rewrite(writer, row, value, config=config)
        changed += 1
    return {"documents_deleted": writer.delete_documents(going), "documents_redacted": changed}


def _all(reader: Reader) -> Iterator[DocumentRow]:
    seen = 0
    while page := reader.documents(after_item=seen, limit=_PAGE):
        yield from page
        seen = page[-1].item


def _rewrite(writer: Writer, row: DocumentRow, value: Any, *, config: Config) -> None:
    writer.put_document(replace(row, value=value), with_vectors(spans(value, row.fields, config), {}))


def _without(value: Any, gone: Callable[[str], bool]) -> Any:
    """JSON data whose texts are overwritten where they are gone; keys that are gone take what they hold along."""
    if isinstance(value, str):
        return FILLER * len(value) if gone(value) else value
    if isinstance(value, Mapping):
        return {k: _without(v, gone) for k, v in value.items() if not gone(k)}
    if isinstance(value, list | tuple):
        return [_without(v, gone) for v in value]
    return value


def _came_of(now: Any, before: Any) -> bool:
    """Whether ``now`` is ``before`` with some characters overwritten and some keys gone, and nothing else."""
    if isinstance(now, str) and isinstance(before, str):
        return len(now) == len(before) and all(a in (b, FILLER) for a, b in zip(now, before, strict=True))
    if isinstance(now, Mapping) and isinstance(before, Mapping):
        return all(k in before and _came_of(v, before[k]) for k, v in now.items())
    if isinstance(now, list) and isinstance(before, list):
        return len(now) == len(before) and all(_came_of(a, b) for a, b in zip(now, before, strict=True))
    return type(now) is type(before) and bool(now == before)
