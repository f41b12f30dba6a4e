"""The lines of an export: which fields each kind has, and how they are read back.

Reading checks everything by itself: a line comes from a file that anybody may have written. What is refused says
the name of our own field and what was expected, never what stood there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ltm_core.documents.checks import DEEPEST_VALUE
from ltm_core.errors import InvalidInputError
from ltm_core.keep import line_values as values
from ltm_core.keep.line_values import Check, Limits
from ltm_core.store.rows import EarlierTimes, Level, SummaryLine, SummarySource
from ltm_core.types import (
    Act,
    Anchor,
    AnchorKind,
    AssertedBy,
    ChangeOp,
    Evidence,
    FactKind,
    Importance,
    Modality,
    Role,
)

FORMAT = "ltm-core export"
VERSION = 1
"""Grows when a reader of the old version would misunderstand a line."""
_MOST_NESTED = DEEPEST_VALUE + 1
"""Levels of lists and mappings in one line; beyond, encoders run out of stack."""


def _anchor(value: Any, limits: Limits) -> Anchor:
    got = _fields(value, _ANCHOR, limits, kind_field="type")
    start, end = got["start"], got["end"]
    if start > end:
        raise InvalidInputError("a span that ends before it begins")
    return Anchor(
        kind=values.one_of(AnchorKind)(value.get("type"), limits),
        text=got["text"],
        evidence=Evidence(message_id="", start=start, end=end),
        reason=got["reason"],
        importance=got["importance"],
    )


def _earlier(value: Any, limits: Limits) -> EarlierTimes:
    return EarlierTimes(**_fields(value, _EARLIER, limits))


def _summary_line(value: Any, limits: Limits) -> SummaryLine:
    got = _fields(value, _SUMMARY_LINE, limits)
    return SummaryLine(
        text=got["text"], on=got["on"], speaker=got.get("speaker", ""), by=got["by"], sources=got["sources"]
    )


def _summary_source(value: Any, limits: Limits) -> SummarySource:
    got = _fields(value, _SUMMARY_SOURCE, limits)
    return SummarySource(item=0, session_id=got["session"], message_id=got["message"])


@dataclass(frozen=True, slots=True)
class _Field:
    check: Check
    required: bool = False


def _need(check: Check) -> _Field:
    return _Field(check, True)


_may = _Field
_ANCHOR = {
    "text": _need(values.text),
    "start": _need(values.count),
    "end": _need(values.count),
    "reason": _need(values.short),
    "importance": _need(values.one_of(Importance)),
}
_EARLIER = {
    "known_until": _need(values.instant),
    "valid_from": _need(values.instant),
    "valid_to": _may(values.instant),
    "retracted_at": _may(values.instant),
    "suppressed_at": _may(values.instant),
    "expires_at": _may(values.instant),
    "superseded_by": _may(values.an_id),
}
_SUMMARY_LINE = {
    "text": _need(values.text),
    "on": _need(values.day),
    "speaker": _may(values.short),
    "by": _need(values.short),
    "sources": _need(values.each(values.count)),
}
_SUMMARY_SOURCE = {"session": _need(values.an_id), "message": _need(values.an_id)}
_LABELS = {
    "agent": _may(values.an_id),
    "task": _may(values.an_id),
    "app": _may(values.an_id),
    "doc_type": _may(values.word),
}
KINDS: Mapping[str, Mapping[str, _Field]] = {
    "header": {"format": _need(values.word), "version": _need(values.count), "exported_at": _need(values.instant)},
    "user": {
        "timezone": _may(values.word),
        "paused_at": _may(values.instant),
        "retention": _may(values.word),
        "created_at": _need(values.instant),
    },
    "session": {
        "id": _need(values.an_id),
        "started_at": _need(values.instant),
        "last_at": _need(values.instant),
        "arrived_at": _need(values.instant),
        "ended_at": _may(values.instant),
    },
    "slot": {
        "session": _need(values.an_id),
        "name": _need(values.an_id),
        "value": _need(values.value),
        "set_at": _need(values.instant),
        "expires_at": _may(values.instant),
    },
    "message": {
        **_LABELS,
        "id": _need(values.an_id),
        "caller_id": _need(values.flag),
        "session": _need(values.an_id),
        "role": _need(values.one_of(Role)),
        "name": _may(values.an_id),
        "content": _need(values.text),
        "at": _need(values.instant),
        "timezone": _need(values.word),
        "recorded_at": _need(values.instant),
        "act": _need(values.one_of(Act)),
        "language": _need(values.word),
        "importance": _need(values.one_of(Importance)),
        "reply_to": _may(values.an_id),
        "expires_at": _may(values.instant),
        "archived_at": _may(values.instant),
        "in_window": _need(values.flag),
        "redacted_at": _may(values.instant),
        "retired_at": _may(values.instant),
        "metadata": _may(values.metadata),
        "access_count": _may(values.count),
        "last_access_at": _may(values.instant),
        "anchors": _may(values.each(_anchor)),
    },
    "fact": {
        **_LABELS,
        "id": _need(values.an_id),
        "session": _may(values.an_id),
        "subject": _need(values.text),
        "relation": _need(values.text),
        "object": _need(values.text),
        "normalized": _need(values.text),
        "text": _need(values.text),
        "kind": _need(values.one_of(FactKind)),
        "is_positive": _need(values.flag),
        "is_about_user": _need(values.flag),
        "modality": _need(values.one_of(Modality)),
        "speaker": _may(values.text),
        "asserted_by": _need(values.one_of(AssertedBy)),
        "confidence": _need(values.share),
        "importance": _need(values.one_of(Importance)),
        "valid_from": _need(values.instant),
        "valid_to": _may(values.instant),
        "recorded_at": _need(values.instant),
        "retracted_at": _may(values.instant),
        "suppressed_at": _may(values.instant),
        "expires_at": _may(values.instant),
        "last_seen_at": _need(values.instant),
        "last_access_at": _may(values.instant),
        "support_count": _need(values.count),
        "access_count": _need(values.count),
        "superseded_by": _may(values.an_id),
        "tags": _may(values.each(values.text)),
        "metadata": _may(values.metadata),
        "rule": _need(values.short),
        "evidence": _may(values.each(values.span)),
        "sources": _may(values.each(values.an_id)),
        "earlier": _may(values.each(_earlier)),
    },
    "summary": {
        **{k: v for k, v in _LABELS.items() if k != "doc_type"},
        "id": _need(values.an_id),
        "level": _need(values.one_of(Level)),
        "begins": _need(values.instant),
        "ends": _need(values.instant),
        "timezone": _need(values.word),
        "lines": _need(values.each(_summary_line)),
        "topic": _need(values.text),
        "language": _need(values.word),
        "made_by": _need(values.short),
        "sources": _need(values.each(_summary_source)),
        "said_at": _need(values.instant),
        "recorded_at": _need(values.instant),
        "recallable_at": _may(values.instant),
        "expires_at": _may(values.instant),
    },
    "change": {
        "op": _need(values.one_of(ChangeOp)),
        "fact": _need(values.an_id),
        "previous": _may(values.an_id),
        "at": _need(values.instant),
        "reason": _may(values.short),
    },
    "document": {
        "namespace": _need(values.namespace),
        "key": _need(values.key),
        "value": _need(values.document),
        "fields": _need(values.paths),
        "created_at": _need(values.instant),
        "updated_at": _need(values.instant),
        "ttl": _may(values.life),
        "expires_at": _may(values.instant),
    },
    "end": {"counts": _need(values.metadata)},
}


# one line ---------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Line:
    """One line that was read and holds only what its kind may hold."""

    kind: str
    values: Mapping[str, Any]


def read_line(line: str | bytes, limits: Limits) -> Line:
    """The line as checked values. InvalidInputError says what is wrong with it."""
    if len(line) > limits.line or (isinstance(line, str) and len(line.encode("utf-8", "ignore")) > limits.line):
        raise InvalidInputError(f"longer than {limits.line} bytes (max_import_line_bytes)")
    try:
        value = json.loads(line.decode() if isinstance(line, bytes) else line, parse_constant=_refused)
    except RecursionError:
        raise InvalidInputError("nested too deep") from None
    except ValueError as e:
        if isinstance(e, InvalidInputError):
            raise
        # The cause would show the text.
        raise InvalidInputError("not JSON in UTF-8") from None
    if not isinstance(value, dict):
        raise InvalidInputError("not a JSON object")
    if _depth(value) > _MOST_NESTED:
        raise InvalidInputError("nested too deep")
    kind = value.get("type")
    fields = KINDS.get(kind) if isinstance(kind, str) else None
    if fields is None or not isinstance(kind, str):
        raise InvalidInputError("unknown type")
    return Line(kind, _fields(value, fields, limits, kind_field="type"))


def _fields(
    value: Any, fields: Mapping[str, _Field], limits: Limits, *, kind_field: str | None = None
) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidInputError("not a JSON object")
    if value.keys() - fields.keys() - {kind_field}:
        raise InvalidInputError("unknown field")
    found: dict[str, Any] = {}
    for name, field in fields.items():
        if name not in value:
            if field.required:
                raise InvalidInputError(f"{name}: missing")
            continue
        try:
            found[name] = field.check(value[name], limits)
        except InvalidInputError as e:
            raise InvalidInputError(f"{name}: {e}") from None
    return found


def _refused(_: str) -> Any:
    raise InvalidInputError("NaN or infinity")


def _depth(value: Any) -> int:
    """Levels of lists and mappings, counted without recursion."""
    deepest, waiting = 0, [(value, 1)]
    while waiting:
        inner, level = waiting.pop()
        deepest = max(deepest, level)
        if level > _MOST_NESTED:
            break
        parts: Sequence[Any] = (
            list(inner.values()) if isinstance(inner, dict) else inner if isinstance(inner, list) else ()
        )
        waiting += [(p, level + 1) for p in parts if isinstance(p, dict | list)]
    return deepest
