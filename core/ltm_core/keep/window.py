"""The session's short-lived side: which turns are in the window, and slots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ltm_core.errors import InvalidInputError
from ltm_core.store.base import SlotRow
from ltm_core.types import Message, Scope
from ltm_core.write.align import place
from ltm_core.write.intake import checked_metadata, incoming
from ltm_core.write.redact import redact, redact_value

if TYPE_CHECKING:
    from ltm_core.runtime import Runtime

_LOOK_BACK = 512
"""Stored turns of the session looked at beyond the number given."""


def keep_only(runtime: Runtime, scope: Scope, message_ids: Sequence[str]) -> int:
    """Exactly these stored turns are in the session's window; returns how many left it."""
    wanted = set(message_ids)
    left = 0
    with runtime.store.write(scope.user_id) as writer:
        if not wanted:
            return writer.clear_window(scope.session_id or "")
        for row in writer.messages(session_id=scope.session_id):
            inside = row.id in wanted
            if inside != row.in_window:
                writer.update_message(replace(row, in_window=inside))
                left += not inside
    return left


def recognised(
    runtime: Runtime, scope: Scope, messages: Sequence[Message | Mapping[str, Any]]
) -> list[Message | Mapping[str, Any]]:
    """The same messages, those that are stored already with the id they are stored under.

    A host that replaces a conversation sends it whole, or without its end, or with another end: what it
    begins with is looked for anywhere in the session, and what follows is new. Messages that carry ids are
    left as they are.
    """
    config = runtime.config
    with runtime.store.read(scope.user_id) as reader:
        state = reader.user()
        given = incoming(
            messages=messages,
            zone=runtime.zone(None, state.timezone if state else None),
            id_limit=config.max_id_characters,
            text_limit=config.max_message_characters,
            metadata_limit=config.max_metadata_bytes,
        )
        if not given or any(m.id is not None for m in given):
            return list(messages)
        rows = reader.messages(
            session_id=scope.session_id,
            roles=tuple({m.role for m in given}),
            newest_first=True,
            limit=len(given) + _LOOK_BACK,
        )[::-1]
    said = [(str(m.role), redact(m.content)[0] if config.redact_pii else m.content) for m in given]
    start, length = place([(m.role, m.content) for m in rows], said)
    if not length:
        return list(messages)
    ids = [*(r.id for r in rows[start : start + length]), *(runtime.new_id() for _ in given[length:])]
    return [
        Message(role=m.role, content=m.content, at=m.at, id=id_, name=m.name, metadata=m.metadata)
        for m, id_ in zip(given, ids, strict=True)
    ]


def set_slot(runtime: Runtime, scope: Scope, name: str, value: Any, *, ttl: timedelta | None) -> None:
    """The slot holds the value until its time is over."""
    if value is None:
        raise InvalidInputError("a slot's value must not be None; let it expire or end the session")
    plain = checked_metadata({"value": value}, most_bytes=runtime.config.max_metadata_bytes)["value"]
    if runtime.config.redact_pii:
        plain = redact_value(plain)
    now = runtime.now()
    life = ttl if ttl is not None else timedelta(seconds=runtime.config.slot_ttl_seconds)
    with runtime.store.write(scope.user_id) as writer:
        writer.ensure_user(now=now)
        writer.touch_session(scope.session_id or "", at=now, now=now)
        writer.set_slot(
            scope.session_id or "", SlotRow(name=name, value=plain, set_at=now, expires_at=now + life)
        )
