"""What a document may be, checked before anything is read or written."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ltm_core.arguments import life_of, text_of
from ltm_core.documents.paths import WHOLE
from ltm_core.errors import InvalidInputError
from ltm_core.types import DocumentWrite

DEEPEST_NAMESPACE = 64
"""Labels of one namespace."""
DEEPEST_VALUE = 100
"""Levels of lists and mappings in a value; beyond, encoders and the readers of an export run out of stack."""
_MOST_FIELDS = 64
_LONGEST_FIELD = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """One checked document; ``value`` None deletes it."""

    namespace: tuple[str, ...]
    key: str
    value: dict[str, Any] | None
    fields: tuple[str, ...]
    ttl: timedelta | None


def checked_write(
    write: DocumentWrite, *, now: datetime, id_limit: int, most_bytes: int, masked: bool = False
) -> Put:
    """The write in one shape; InvalidInputError names what is wrong with it. ``masked`` hides personal data."""
    from ltm_core.write.incoming.redact import redact_value

    if not isinstance(write, DocumentWrite):
        raise InvalidInputError(f"a document to write must be a DocumentWrite, not {type(write).__name__}")
    namespace = namespace_of(write.namespace, limit=id_limit)
    if not namespace:
        raise InvalidInputError("a document needs a namespace of at least one label")
    value = None if write.value is None else value_of(write.value, most_bytes=most_bytes)
    return Put(
        namespace=namespace,
        key=key_of(write.key, limit=id_limit),
        value=redact_value(value) if masked and value is not None else value,
        fields=fields_of(write.index),
        ttl=life_of(write.ttl, now),
    )


def namespace_of(value: Any, *, limit: int, what: str = "namespace") -> tuple[str, ...]:
    """Its labels, kept as they are given; InvalidInputError for what is no sequence of texts."""
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise InvalidInputError(f"{what} must be a tuple of labels, not {type(value).__name__}")
    if len(value) > DEEPEST_NAMESPACE:
        raise InvalidInputError(f"{what} has {len(value)} labels, at most {DEEPEST_NAMESPACE} are allowed")
    labels = tuple(text_of(label, f"{what}[{i}]") for i, label in enumerate(value))
    for i, label in enumerate(labels):
        if not label or len(label) > limit:
            raise InvalidInputError(f"{what}[{i}] has {len(label)} characters, 1 to {limit} are allowed")
    return labels


def key_of(value: Any, *, limit: int) -> str:
    """The key, kept as it is given."""
    key = text_of(value, "key")
    if len(key) > limit:
        raise InvalidInputError(f"key has {len(key)} characters, at most {limit} are allowed")
    return key


def value_of(value: Any, *, most_bytes: int) -> dict[str, Any]:
    """A copy of ``value`` as plain JSON data. InvalidInputError for what JSON cannot say, or for too much."""
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"value must be a mapping, not {type(value).__name__}")
    try:
        plain: dict[str, Any] = _plain(value, DEEPEST_VALUE)
        size = len(json.dumps(plain, ensure_ascii=False).encode())
    except UnicodeEncodeError:
        raise InvalidInputError("value holds half of a surrogate pair") from None
    if size > most_bytes:
        raise InvalidInputError(
            f"value has {size} bytes as JSON, at most {most_bytes} are allowed (max_document_bytes)"
        )
    return plain


def _plain(value: Any, levels: int) -> Any:
    if isinstance(value, Mapping | list | tuple) and not levels:
        raise InvalidInputError(f"value is nested too deep, at most {DEEPEST_VALUE} levels are allowed")
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise InvalidInputError(f"the keys of a value must be text, not {type(key).__name__}")
        return {str(k): _plain(v, levels - 1) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v, levels - 1) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidInputError("a number in a value must be finite")
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise InvalidInputError(
        f"a value holds {type(value).__name__}: use text, finite numbers, true, false, null, lists and mappings"
    )


def fields_of(index: Any) -> tuple[str, ...]:
    """The paths to index: all of the value, nothing, or those that are named."""
    if isinstance(index, bool):
        return (WHOLE,) if index else ()
    if isinstance(index, str | bytes) or not isinstance(index, Sequence) or len(index) > _MOST_FIELDS:
        raise InvalidInputError(f"index must be True, False or a list of at most {_MOST_FIELDS} paths")
    paths = tuple(text_of(p, f"index[{i}]") for i, p in enumerate(index))
    if any(not p.strip() or len(p) > _LONGEST_FIELD for p in paths):
        raise InvalidInputError(f"a path to index has 1 to {_LONGEST_FIELD} characters")
    return paths
