"""While a user is paused nothing of theirs is stored: observing skips, an explicit call is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltm_core.errors import ConflictError

if TYPE_CHECKING:
    from ltm_core.store.base import UserState


def not_paused(state: UserState | None) -> None:
    """ConflictError when the user is paused; asked inside the transaction that would write."""
    if state is not None and state.paused_at is not None:
        raise ConflictError("the user is paused: nothing is stored until resume()")
