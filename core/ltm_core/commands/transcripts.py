"""Chat logs on disk as entries to observe. A line that cannot be read is an entry too, so that none is lost."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ltm_core.errors import InvalidInputError
from ltm_core.types import Message

Format: TypeAlias = Literal["auto", "messages", "locomo"]
LABELS = ("agent_id", "task_id", "app_id")
_SIDES = ("user", "assistant")
_MILLISECONDS = 1e11
"""Numbers above it count milliseconds: as seconds they lie beyond the year 5000."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What one line holds: one or more turns of one session."""

    place: str
    """Where it stands, for a person: ``line 3``."""
    size: int
    """Its share of the source, for the progress bar."""
    raw: Mapping[str, Any]
    user_id: Any = None
    session_id: Any = None
    messages: tuple[Message, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of ``observe``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A line that is no entry, and why."""

    place: str
    size: int
    raw: Mapping[str, Any]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A chat log: its entries in order, and their sizes together."""

    total: int
    entries: Iterator[Entry | Unreadable]


def read_transcript(path: Path, *, format: Format) -> Source:
    """The entries of a file. Message ids come from the content where the file names none."""
    try:
        with path.open("rb") as file:
            start = file.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
        size = path.stat().st_size
    except OSError as e:
        raise InvalidInputError(f"{path} cannot be read: {e.strerror}") from e
    if format == "locomo" or (format == "auto" and start == b"["):
        from ltm_core.commands.locomo import samples

        return samples(path)
    return Source(total=size, entries=_lines(path))


def _lines(path: Path) -> Iterator[Entry | Unreadable]:
    told: Counter[str] = Counter()
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if text.strip():
                yield _line(text, f"line {number}", len(line), told)


def _line(line: bytes, place: str, size: int, told: Counter[str]) -> Entry | Unreadable:
    raw: Any = {"_raw": line.decode("utf-8", "backslashreplace").rstrip("\r\n")}
    try:
        value = json.loads(line.decode("utf-8"))
        if not isinstance(value, dict):
            raise InvalidInputError("a line must be a JSON object")
        raw = value
        return _entry(value, place, size, told)
    except InvalidInputError as e:
        return Unreadable(place=place, size=size, raw=raw, reason=str(e))
    except UnicodeDecodeError as e:
        return Unreadable(place=place, size=size, raw=raw, reason=f"not UTF-8 at byte {e.start + 1}")
    except (ValueError, RecursionError) as e:
        reason = f"not JSON: {e.msg} at character {e.pos + 1}" if isinstance(e, json.JSONDecodeError) else "not JSON"
        return Unreadable(place=place, size=size, raw=raw, reason=reason)


def _entry(value: dict[str, Any], place: str, size: int, told: Counter[str]) -> Entry:
    """``{"role", "content"}``, ``{"user", "assistant"}`` or ``{"messages": […]}``, each with scope and time."""
    at = _moment(value)
    options = {k: value[k] for k in (*LABELS, "timezone", "doc_type", "metadata") if value.get(k) is not None}
    if "messages" in value:
        turns = value["messages"]
        if not isinstance(turns, list):
            raise InvalidInputError("messages must be a list")
    elif "role" in value:
        turns = [value]
        if value.get("reply_to") is not None:
            options["reply_to"] = value["reply_to"]
    elif any(isinstance(value.get(side), str) for side in _SIDES):
        turns = [{"role": s, "content": value[s]} for s in _SIDES if value.get(s) is not None]
    else:
        raise InvalidInputError("a line needs role and content, user and assistant, or messages")
    scope = (value.get("user_id"), value.get("session_id"))
    messages = tuple(_message(t, at, scope, told) for t in turns)
    return Entry(
        place=place,
        size=size,
        raw=value,
        user_id=scope[0],
        session_id=scope[1],
        messages=messages,
        options=options,
    )


def _message(turn: Any, at: Any, scope: tuple[Any, Any], told: Counter[str]) -> Message:
    if not isinstance(turn, dict):
        raise InvalidInputError("each of messages must be a JSON object")
    own = _moment(turn)
    when = at if own is None else own
    id_ = turn.get("id", turn.get("message_id"))
    role, content, name = turn.get("role", ""), turn.get("content"), turn.get("name")
    if id_ is None:
        id_ = derived_id(told, *scope, role, name, content, own if own is not None else at)
    return Message(role=role, content=content, at=when, id=id_, name=name)  # type: ignore[arg-type]


def derived_id(told: Counter[str], *parts: Any) -> str:
    """An id that the same content gets again, and its second occurrence another one."""
    text = json.dumps(parts, ensure_ascii=True, default=str)
    told[text] += 1
    digest = hashlib.blake2b(f"{told[text]} {text}".encode(), digest_size=12).hexdigest()
    return f"replay-{digest}"


def _moment(value: Mapping[str, Any]) -> Any:
    """The time of a record: text as it is, a number as seconds or milliseconds since 1970."""
    moment = value.get("at", value.get("timestamp"))
    if isinstance(moment, bool) or not isinstance(moment, int | float):
        return moment
    seconds = moment / 1000 if abs(moment) > _MILLISECONDS else moment
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError) as e:
        raise InvalidInputError("the time is no number of seconds since 1970") from e
