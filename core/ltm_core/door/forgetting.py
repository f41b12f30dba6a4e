"""Erasure, with a receipt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltm_core.acting import acting
from ltm_core.arguments import one_of, text_of
from ltm_core.door.base import Door
from ltm_core.errors import InvalidInputError
from ltm_core.twins import twin
from ltm_core.types import ForgetPreview, Receipt

if TYPE_CHECKING:
    from ltm_core.keep.sources import Sources


class Forgetting(Door):
    """Erasure, with a receipt."""

    def set_retention(self, user_id: str | int, retention: str, *, actor: str | None = None) -> None:
        """The user belongs to this retention class: "ordinary", "deep" (long-term), or one of
        ``Config.retention_classes``. It says how fast memories fade and how many are kept, once ``Config.forgetting``
        names a policy. InvalidInputError for a class that is not configured."""
        from ltm_core.keep.forgetting import set_retention

        with acting(actor):
            set_retention(self._runtime, self._runtime.scope(user_id).user_id, text_of(retention, "retention"))

    def forget(
        self,
        memory_id: str,
        *,
        user_id: str | int,
        sources: Sources = "redact",
        actor: str | None = None,
        reason: str | None = None,
    ) -> Receipt:
        """A fact or a turn is gone. ``sources``: the words that support a fact, and repeats of its object, are
        overwritten ("redact"), their turns deleted ("delete"), or left alone ("keep")."""
        from ltm_core.keep.erase import forget
        from ltm_core.keep.sources import Sources

        scope = self._runtime.scope(user_id)
        chosen: Sources = one_of(sources, Sources, "sources") or "redact"
        with acting(actor, reason):
            return forget(self._runtime, scope.user_id, str(memory_id), sources=chosen, actor=actor)

    def forget_matching(
        self,
        text: str,
        *,
        user_id: str | int,
        dry_run: bool = True,
        sources: Sources = "redact",
        actor: str | None = None,
        reason: str | None = None,
    ) -> Receipt | ForgetPreview:
        """Facts that hold these words are gone with their sources, and the words wherever they stand. By
        default only lists them."""
        from ltm_core.keep.erase import forget_matching
        from ltm_core.keep.sources import Sources

        scope = self._runtime.scope(user_id)
        if not isinstance(text, str) or not text.strip():
            raise InvalidInputError("text to forget must be non-blank text")
        chosen: Sources = one_of(sources, Sources, "sources") or "redact"
        with acting(actor, reason):
            return forget_matching(self._runtime, scope.user_id, text, dry_run=dry_run, sources=chosen, actor=actor)

    def forget_session(
        self, session_id: str | int, *, user_id: str | int, actor: str | None = None, reason: str | None = None
    ) -> Receipt:
        """Every turn and slot of the session is gone, with the facts that only it supported; what was said in it
        is refused when it is told again as it was."""
        from ltm_core.keep.erase import forget_session

        scope = self._session(user_id, session_id)
        with acting(actor, reason):
            return forget_session(self._runtime, scope.user_id, scope.session_id or "", actor=actor)

    def forget_user(self, user_id: str | int, *, actor: str | None = None, reason: str | None = None) -> Receipt:
        """Nothing of the user is left in any table, cache or file, and replays of what was said are refused.

        Raises ErasurePendingError, with the receipt, when readers kept old pages alive past the wait.
        """
        from ltm_core.keep.erase import forget_user

        with acting(actor, reason):
            return forget_user(self._runtime, self._runtime.scope(user_id).user_id, actor=actor)

    aset_retention = twin(set_retention)
    aforget = twin(forget, "long")
    aforget_matching = twin(forget_matching, "long")
    aforget_session = twin(forget_session, "long")
    aforget_user = twin(forget_user, "long")


__all__ = ["Forgetting"]
