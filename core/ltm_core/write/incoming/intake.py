"""What ``observe`` was given, checked and in one shape, before anything is read or written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from typing import Any, get_args

from ltm_core.errors import InvalidInputError
from ltm_core.scoping import optional_identifier
from ltm_core.text.normalize import clean
from ltm_core.types import Message, Role
from ltm_core.when import parse_instant
from ltm_core.write.incoming.content import text_of
from ltm_core.write.incoming.redact import redact, redact_value

_ROLES: Mapping[str, Role] = {
    **{r: r for r in get_args(Role)},
    "human": "user",
    "ai": "assistant",
    "chatbot": "assistant",
    "model": "assistant",
    "developer": "system",
    "function": "tool",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """One message to store. ``id`` is None when the caller gave none."""

    role: Role
    content: str
    at: datetime | None
    id: str | None = None
    name: str | None = None
    reply_to: str | None = None
    aligned: bool = False
    """True when it came in a list of messages, which may repeat what is stored."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Of this message alone."""


def incoming(
    *,
    user: Any = None,
    assistant: Any = None,
    messages: Iterable[Any] | None = None,
    at: Any = None,
    message_id: Any = None,
    reply_to: Any = None,
    zone: tzinfo,
    id_limit: int,
    text_limit: int,
    metadata_limit: int = 16_384,
) -> tuple[Incoming, ...]:
    """The messages in order, blank ones left out. InvalidInputError names what cannot be taken."""
    given = [(r, c) for r, c in (("user", user), ("assistant", assistant)) if c is not None]
    if messages is not None and given:
        raise InvalidInputError("give either messages=[…] or user=/assistant=, not both")
    if message_id is not None and len(given) != 1:
        raise InvalidInputError("message_id needs exactly one of user= and assistant=; use Message(id=…) in a list")
    if reply_to is not None and messages is not None:
        raise InvalidInputError("reply_to goes with assistant=, not with messages=[…]")
    when = None if at is None else parse_instant(at, zone=zone)
    answered = optional_identifier(reply_to, "reply_to", limit=id_limit)
    own_id = optional_identifier(message_id, "message_id", limit=id_limit)
    if messages is None:
        raw = [
            Incoming(
                role=_ROLES[r],
                content=_text(c, r),
                at=when,
                id=own_id,
                reply_to=answered if r == "assistant" else None,
            )
            for r, c in given
        ]
    else:
        if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
            raise InvalidInputError(f"messages must be a list of messages, not {type(messages).__name__}")
        raw = [_message(m, index, when, zone, id_limit, metadata_limit) for index, m in enumerate(messages)]
    for m in raw:
        if len(m.content) > text_limit:
            raise InvalidInputError(
                f"a message has {len(m.content)} characters, at most {text_limit} are allowed "
                "(max_message_characters)"
            )
    return tuple(m for m in raw if m.content.strip())


def _text(content: Any, what: str) -> str:
    if not isinstance(content, str | list | tuple | Mapping):
        raise InvalidInputError(f"{what} must be text or a list of parts, not {type(content).__name__}")
    return clean(text_of(content))


def _message(
    value: Any, index: int, at: datetime | None, zone: tzinfo, id_limit: int, metadata_limit: int
) -> Incoming:
    if isinstance(value, Message):
        given: Mapping[str, Any] = {
            "role": value.role,
            "content": value.content,
            "at": value.at,
            "id": value.id,
            "name": value.name,
            "metadata": value.metadata,
        }
    elif isinstance(value, Mapping):
        given = value
    else:
        raise InvalidInputError(
            f"messages[{index}] must be a Message or a mapping with role and content, not {type(value).__name__}"
        )
    role, content = given.get("role", given.get("type", "")), given.get("content")
    when, id_, name = given.get("at"), given.get("id"), given.get("name")
    known = _ROLES.get(str(role).lower())
    if known is None:
        raise InvalidInputError(
            f"messages[{index}] has the role {str(role)[:40]!r}; use one of {', '.join(get_args(Role))}"
        )
    return Incoming(
        role=known,
        content="" if content is None else _text(content, f"messages[{index}].content"),
        at=at if when is None else parse_instant(when, zone=zone),
        id=optional_identifier(id_, f"messages[{index}].id", limit=id_limit),
        name=clean(name)[:id_limit] if isinstance(name, str) and name.strip() else None,
        aligned=True,
        metadata=checked_metadata(given.get("metadata"), most_bytes=metadata_limit),
    )


def masked(message: Incoming) -> Incoming:
    """The message with personal data masked in its words, its name and its metadata."""
    return replace(
        message,
        content=redact(message.content)[0],
        name=None if message.name is None else redact(message.name)[0],
        metadata=redact_value(message.metadata),
    )


def checked_metadata(metadata: Any, *, most_bytes: int) -> dict[str, Any]:
    """``metadata`` as plain JSON data. InvalidInputError for NaN, non-text keys, other types, or too large."""
    if metadata is None:
        return {}
    if not isinstance(metadata, Mapping) or not all(isinstance(k, str) for k in metadata):
        raise InvalidInputError("metadata must be a mapping with text keys")
    try:
        text = json.dumps(dict(metadata), ensure_ascii=False, allow_nan=False)
        size = len(text.encode("utf-8"))
    except (TypeError, ValueError, RecursionError) as e:
        raise InvalidInputError(
            f"metadata cannot be written as JSON ({type(e).__name__}): "
            "use text, finite numbers, true, false, null, lists and mappings"
        ) from e
    if size > most_bytes:
        raise InvalidInputError(f"metadata has {size} bytes as JSON, at most {most_bytes} are allowed")
    plain: dict[str, Any] = json.loads(text)
    return plain
