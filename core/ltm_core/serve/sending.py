"""A client's arguments as a request."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from ltm_core.ids import new_uuid7
from ltm_core.serve.operations import Operation


def name_turn(arguments: dict[str, Any]) -> None:
    """One turn without an id gets one: only then may the call be repeated."""
    one = (arguments.get("user") is None) != (arguments.get("assistant") is None)
    if one and arguments.get("message_id") is None and arguments.get("messages") is None:
        arguments["message_id"] = new_uuid7()


def sent(operation: Operation, arguments: Mapping[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
    """The arguments as query or body."""
    plain = {k: _plain(v) for k, v in arguments.items()}
    if operation.verb != "GET":
        # Escaped, so that a lone surrogate arrives as the service would have got it in the same process.
        body = json.dumps(plain, separators=(",", ":")).encode()
        return {"content": body, "headers": {**headers, "Content-Type": "application/json"}}
    return {"params": {k: _spelled(v) for k, v in plain.items() if v is not None}, "headers": headers}


def _spelled(value: Any) -> Any:
    """A value of a query: lists are repeated, truth is spelled as JSON does."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return [_spelled(v) for v in value] if isinstance(value, list) else value


def _plain(value: Any) -> Any:
    """What JSON can hold, as the service reads it."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Path):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        fields = {f: getattr(value, f) for f in value.__dataclass_fields__}
        return {k: _plain(v) for k, v in fields.items() if v is not None}
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        return value
    return [_plain(v) for v in value]


__all__ = ["name_turn", "sent"]
