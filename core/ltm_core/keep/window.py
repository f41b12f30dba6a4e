"""The session's short-lived side: which turns are in the window, and slots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ltm_core.errors import InvalidInputError
from ltm_core.store.base import SlotRow
from ltm_core.types import Scope
from ltm_core.write.intake import checked_metadata
from ltm_core.write.redact import redact_value

if TYPE_CHECKING:
    from ltm_core.runtime import Runtime


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
