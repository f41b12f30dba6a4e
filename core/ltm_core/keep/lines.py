"""The lines of an export: which fields each kind has, and how a value is written and read back.

Reading checks everything by itself: a line comes from a file that anybody may have written. What is refused says
the name of our own field and what was expected, never what stood there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

from ltm_core.documents.checks import DEEPEST_VALUE, fields_of, key_of, namespace_of, value_of
from ltm_core.errors import InvalidInputError
from ltm_core.scoping import identifier
from ltm_core.store.rows import EarlierTimes
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
from ltm_core.write.intake import checked_metadata

FORMAT = "ltm-core export"
VERSION = 1
"""Grows when a reader of the old version would misunderstand a line."""
_MOST_COUNT = 2**31 - 1
_MOST_NESTED = DEEPEST_VALUE + 1
"""Levels of lists and mappings in one line; beyond, encoders run out of stack."""
_LONGEST_LIFE = 9999 * 366 * 86_400
"""Seconds: no time to live ends after the year 9999."""
_MOST_MANY = 10_000
"""Pieces of evidence, sources, anchors, tags and earlier times of one row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The sizes a line may have, from Config."""

    id: int
    text: int
    metadata: int
    document: int
    line: int


Check = Callable[[Any, Limits], Any]


def written(value: Any) -> Any:
    """The value in the form of the file: instants as ISO 8601 in UTC."""
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value


# one value --------------------------------------------------------------------------------------------
def _id(value: Any, limits: Limits) -> str:
    if not isinstance(value, str):
        raise InvalidInputError("not text")
    return identifier(value, "id", limit=limits.id)


def _plain(value: Any, most: int) -> str:
    if not isinstance(value, str):
        raise InvalidInputError("not text")
    if len(value) > most:
        raise InvalidInputError(f"{len(value)} characters, at most {most} are allowed")
    if "\0" in value or any("\ud800" <= c <= "\udfff" for c in value):
        raise InvalidInputError("a NUL or a lone surrogate")
    return value


def _text(value: Any, limits: Limits) -> str:
    return _plain(value, limits.text)


def _short(value: Any, limits: Limits) -> str:
    return _plain(value, 1000)


def _word(value: Any, limits: Limits) -> str:
    return _plain(value, 100)


def _instant(value: Any, limits: Limits) -> datetime:
    try:
        moment = datetime.fromisoformat(_plain(value, 64))
        if moment.tzinfo is None:
            raise InvalidInputError("an instant without its zone")
        return moment.astimezone(UTC)
    except (ValueError, OverflowError) as e:
        if isinstance(e, InvalidInputError):
            raise
        raise InvalidInputError("no instant in ISO 8601") from None


def _flag(value: Any, limits: Limits) -> bool:
    if not isinstance(value, bool):
        raise InvalidInputError("neither true nor false")
    return value


def _count(value: Any, limits: Limits) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST_COUNT:
        raise InvalidInputError(f"no whole number from 0 to {_MOST_COUNT}")
    return value


def _share(value: Any, limits: Limits) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInputError("no number from 0 to 1")
    return float(value)


def _one_of(choices: Any) -> Check:
    known = frozenset(get_args(choices))

    def check(value: Any, limits: Limits) -> Any:
        if not isinstance(value, str) or value not in known:
            raise InvalidInputError("none of the known values")
        return value

    return check


def _metadata(value: Any, limits: Limits) -> dict[str, Any]:
    return checked_metadata(value, most_bytes=limits.metadata)


def _value(value: Any, limits: Limits) -> Any:
    return checked_metadata({"value": value}, most_bytes=limits.metadata)["value"]


def _each(check: Check) -> Check:
    def checked(value: Any, limits: Limits) -> tuple[Any, ...]:
        if not isinstance(value, list) or len(value) > _MOST_MANY:
            raise InvalidInputError(f"no list of at most {_MOST_MANY}")
        return tuple(check(v, limits) for v in value)

    return checked


def _span(value: Any, limits: Limits) -> Evidence:
    if not isinstance(value, list) or len(value) != 3:
        raise InvalidInputError("no [message, start, end]")
    start, end = _count(value[1], limits), _count(value[2], limits)
    if start > end:
        raise InvalidInputError("a span that ends before it begins")
    return Evidence(message_id=_id(value[0], limits), start=start, end=end)


def _anchor(value: Any, limits: Limits) -> Anchor:
    got = _fields(value, _ANCHOR, limits, kind_field="type")
    start, end = got["start"], got["end"]
    if start > end:
        raise InvalidInputError("a span that ends before it begins")
    return Anchor(
        kind=_one_of(AnchorKind)(value.get("type"), limits),
        text=got["text"],
        evidence=Evidence(message_id="", start=start, end=end),
        reason=got["reason"],
        importance=got["importance"],
    )


def _earlier(value: Any, limits: Limits) -> EarlierTimes:
    return EarlierTimes(**_fields(value, _EARLIER, limits))


def _namespace(value: Any, limits: Limits) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise InvalidInputError("no list of at least one label")
    return namespace_of(value, limit=limits.id, what="label")


def _key(value: Any, limits: Limits) -> str:
    return key_of(value, limit=limits.id)


def _document(value: Any, limits: Limits) -> dict[str, Any]:
    return value_of(value, most_bytes=limits.document)


def _paths(value: Any, limits: Limits) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise InvalidInputError("no list of paths")
    return fields_of(value)


def _life(value: Any, limits: Limits) -> timedelta:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _LONGEST_LIFE:
        raise InvalidInputError(f"no number of seconds up to {_LONGEST_LIFE}")
    return timedelta(seconds=value)


@dataclass(frozen=True, slots=True)
class _Field:
    check: Check
    required: bool = False


def _need(check: Check) -> _Field:
    return _Field(check, True)


_may = _Field
_ANCHOR = {
    "text": _need(_text),
    "start": _need(_count),
    "end": _need(_count),
    "reason": _need(_short),
    "importance": _need(_one_of(Importance)),
}
_EARLIER = {
    "known_until": _need(_instant),
    "valid_from": _need(_instant),
    "valid_to": _may(_instant),
    "retracted_at": _may(_instant),
    "suppressed_at": _may(_instant),
    "expires_at": _may(_instant),
    "superseded_by": _may(_id),
}
_LABELS = {"agent": _may(_id), "task": _may(_id), "app": _may(_id), "doc_type": _may(_word)}
KINDS: Mapping[str, Mapping[str, _Field]] = {
    "header": {"format": _need(_word), "version": _need(_count), "exported_at": _need(_instant)},
    "user": {"timezone": _may(_word), "paused_at": _may(_instant), "created_at": _need(_instant)},
    "session": {
        "id": _need(_id),
        "started_at": _need(_instant),
        "last_at": _need(_instant),
        "arrived_at": _need(_instant),
        "ended_at": _may(_instant),
    },
    "slot": {
        "session": _need(_id),
        "name": _need(_id),
        "value": _need(_value),
        "set_at": _need(_instant),
        "expires_at": _may(_instant),
    },
    "message": {
        **_LABELS,
        "id": _need(_id),
        "caller_id": _need(_flag),
        "session": _need(_id),
        "role": _need(_one_of(Role)),
        "name": _may(_id),
        "content": _need(_text),
        "at": _need(_instant),
        "timezone": _need(_word),
        "recorded_at": _need(_instant),
        "act": _need(_one_of(Act)),
        "language": _need(_word),
        "importance": _need(_one_of(Importance)),
        "reply_to": _may(_id),
        "expires_at": _may(_instant),
        "archived_at": _may(_instant),
        "in_window": _need(_flag),
        "redacted_at": _may(_instant),
        "metadata": _may(_metadata),
        "anchors": _may(_each(_anchor)),
    },
    "fact": {
        **_LABELS,
        "id": _need(_id),
        "session": _may(_id),
        "subject": _need(_text),
        "relation": _need(_text),
        "object": _need(_text),
        "normalized": _need(_text),
        "text": _need(_text),
        "kind": _need(_one_of(FactKind)),
        "is_positive": _need(_flag),
        "is_about_user": _need(_flag),
        "modality": _need(_one_of(Modality)),
        "speaker": _may(_text),
        "asserted_by": _need(_one_of(AssertedBy)),
        "confidence": _need(_share),
        "importance": _need(_one_of(Importance)),
        "valid_from": _need(_instant),
        "valid_to": _may(_instant),
        "recorded_at": _need(_instant),
        "retracted_at": _may(_instant),
        "suppressed_at": _may(_instant),
        "expires_at": _may(_instant),
        "last_seen_at": _need(_instant),
        "last_access_at": _may(_instant),
        "support_count": _need(_count),
        "access_count": _need(_count),
        "superseded_by": _may(_id),
        "tags": _may(_each(_text)),
        "metadata": _may(_metadata),
        "rule": _need(_short),
        "evidence": _may(_each(_span)),
        "sources": _may(_each(_id)),
        "earlier": _may(_each(_earlier)),
    },
    "change": {
        "op": _need(_one_of(ChangeOp)),
        "fact": _need(_id),
        "previous": _may(_id),
        "at": _need(_instant),
        "reason": _may(_short),
    },
    "document": {
        "namespace": _need(_namespace),
        "key": _need(_key),
        "value": _need(_document),
        "fields": _need(_paths),
        "created_at": _need(_instant),
        "updated_at": _need(_instant),
        "ttl": _may(_life),
        "expires_at": _may(_instant),
    },
    "end": {"counts": _need(_metadata)},
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
