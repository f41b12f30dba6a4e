"""The session's short-lived side: which turns are in the window, and slots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ltm_core.errors import InvalidInputError
from ltm_core.keep.audit import note
from ltm_core.store.base import SlotRow
from ltm_core.types import Message, Scope
from ltm_core.write.incoming.intake import checked_metadata, incoming
from ltm_core.write.incoming.pause import not_paused
from ltm_core.write.incoming.redact import redact, redact_value

if TYPE_CHECKING:
    from ltm_core.runtime import Runtime

_ALL = 2**31
"""Places of a session: all of them; each is a few numbers."""


def keep_only(runtime: Runtime, scope: Scope, message_ids: Sequence[str], *, up_to: int | None = None) -> int:
    """Exactly these stored turns are in the session's window; returns how many left it.

    Turns behind the item ``up_to`` stay as they are: they came while the conversation was being replaced.
    """
    wanted = set(message_ids)
    left, now = 0, runtime.now()
    with runtime.store.write(scope.user_id) as writer:
        if not wanted and up_to is None:
            left = writer.clear_window(scope.session_id or "")
            if left:
                note(writer, "clear_window", now=now, counts={"messages": left})
            return left
        for row in writer.messages(session_id=scope.session_id):
            inside = row.id in wanted
            if inside != row.in_window and (inside or up_to is None or row.item <= up_to):
                writer.update_message(replace(row, in_window=inside))
                left += not inside
        if left:
            note(writer, "replace_messages", now=now, counts={"messages": left})
    return left


def leave(runtime: Runtime, scope: Scope, message_ids: Sequence[str]) -> int:
    """These turns are not in the session's window, whatever came meanwhile; returns how many left it."""
    left = 0
    with runtime.store.write(scope.user_id) as writer:
        for row in writer.messages(ids=list(message_ids)):
            if row.in_window and row.session_id == scope.session_id:
                writer.update_message(replace(row, in_window=False))
                left += 1
    return left


def newest_item(runtime: Runtime, scope: Scope) -> int:
    """The item of the session's last written turn, 0 when there is none."""
    with runtime.store.read(scope.user_id) as reader:
        return max((m.item for m in reader.marks(scope.session_id or "", limit=_ALL)), default=0)


def recognised(
    runtime: Runtime, scope: Scope, messages: Sequence[Message | Mapping[str, Any]]
) -> list[Message | Mapping[str, Any]]:
    """The same messages, a single one with the id under which it is stored already.

    A host that replaces a conversation sends it whole, without its end, or with another end; observing a list
    recognises that. A single message says nothing about its place, and here it is what remained of the
    conversation and not said again: it is looked for anywhere in the session.
    """
    config = runtime.config
    if len(messages) != 1:
        return list(messages)
    with runtime.store.read(scope.user_id) as reader:
        state = reader.user()
        given = incoming(
            messages=messages,
            zone=runtime.zone(None, state.timezone if state else None),
            id_limit=config.max_id_characters,
            text_limit=config.max_message_characters,
            metadata_limit=config.max_metadata_bytes,
        )
        if not given or given[0].id is not None:
            return list(messages)
        (m,) = given
        said = reader.content_mac(redact(m.content)[0] if config.redact_pii else m.content)
        marks = reader.marks(scope.session_id or "", roles=(m.role,), limit=_ALL)
        found = next((mark.item for mark in reversed(marks) if mark.item and mark.content_mac == said), None)
        if found is None:
            return list(messages)
        (row,) = reader.messages(items=[found])
    return [Message(role=m.role, content=m.content, at=m.at, id=row.id, name=m.name, metadata=m.metadata)]


def set_slot(runtime: Runtime, scope: Scope, name: str, value: Any, *, ttl: timedelta | None) -> None:
    """The slot holds the value until its time is over. ConflictError while the user is paused."""
    if value is None:
        raise InvalidInputError("a slot's value must not be None; let it expire or end the session")
    plain = checked_metadata({"value": value}, most_bytes=runtime.config.max_metadata_bytes)["value"]
    if runtime.config.redact_pii:
        plain = redact_value(plain)
    now = runtime.now()
    life = ttl if ttl is not None else timedelta(seconds=runtime.config.slot_ttl_seconds)
    with runtime.store.write(scope.user_id) as writer:
        not_paused(writer.ensure_user(now=now))
        writer.touch_session(scope.session_id or "", at=now, now=now)
        writer.set_slot(scope.session_id or "", SlotRow(name=name, value=plain, set_at=now, expires_at=now + life))
        note(writer, "set_slot", now=now)
