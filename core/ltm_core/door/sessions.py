"""The turns and slots of one session, as a host keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from ltm_core.acting import acting
from ltm_core.arguments import life_of, texts_of
from ltm_core.door.observing import Observing
from ltm_core.errors import InvalidInputError
from ltm_core.keep import audit
from ltm_core.scoping import identifier
from ltm_core.twins import twin
from ltm_core.types import Message, Observation


class Sessions(Observing):
    """The turns and slots of one session, as a host keeps them."""

    def replace_messages(
        self, messages: Iterable[Message | Mapping[str, Any]], *, user_id: str | int, session_id: str | int
    ) -> Observation:
        """The session's window holds exactly these turns; new ones are learnt from, others stay episodic.

        While the user is paused nothing changes; a turn that arrives meanwhile stays in the window.
        """
        from ltm_core.keep.window import keep_only, newest_item, recognised

        scope = self._session(user_id, session_id)
        if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
            raise InvalidInputError(f"messages must be a list of messages, not {type(messages).__name__}")
        up_to = newest_item(self._runtime, scope)
        given = recognised(self._runtime, scope, list(messages))
        seen = self.observe(user_id=user_id, session_id=session_id, messages=given) if given else Observation()
        if not seen.skipped or seen.messages:
            keep_only(self._runtime, scope, [m.id for m in seen.messages], up_to=up_to)
        return seen

    def clear_window(
        self,
        *,
        user_id: str | int,
        session_id: str | int,
        message_ids: Iterable[str] | None = None,
        actor: str | None = None,
    ) -> int:
        """The session's window is empty, or without the turns ``message_ids``; they stay in episodic memory.
        Returns how many left it."""
        from ltm_core.keep.window import keep_only, leave

        scope = self._session(user_id, session_id)
        with acting(actor):
            if message_ids is not None:
                return leave(self._runtime, scope, texts_of(message_ids, "message_ids"))
            return keep_only(self._runtime, scope, ())

    def delete_messages(
        self,
        message_ids: Iterable[str],
        *,
        user_id: str | int,
        session_id: str | int,
        actor: str | None = None,
        reason: str | None = None,
    ) -> int:
        """These turns of the session are erased, with the facts that only they supported; returns how many."""
        from ltm_core.keep.erase import forget_messages

        scope = self._session(user_id, session_id)
        with acting(actor, reason):
            return forget_messages(self._runtime, scope, texts_of(message_ids, "message_ids"), actor=actor)

    def end_session(self, session_id: str | int, *, user_id: str | int, actor: str | None = None) -> bool:
        """The session is over: its window and slots are empty. False when it was not open."""
        scope = self._session(user_id, session_id)
        now = self._runtime.now()
        with self._runtime.store.write(scope.user_id) as writer:
            ended = writer.end_session(scope.session_id or "", now=now)
            if ended:
                audit.note(writer, "end_session", now=now, actor=actor)
        return ended

    def set_slot(
        self,
        name: str,
        value: Any,
        *,
        user_id: str | int,
        session_id: str | int,
        ttl: float | timedelta | None = None,
        actor: str | None = None,
    ) -> None:
        """The session holds ``value`` (JSON) under ``name`` for ``ttl`` seconds (default from Config: 1800)."""
        from ltm_core.keep.window import set_slot

        scope = self._session(user_id, session_id)
        name = identifier(name, "slot name", limit=self._limit)
        with acting(actor):
            set_slot(self._runtime, scope, name, value, ttl=life_of(ttl, self._runtime.now()))

    def get_slot(self, name: str, *, user_id: str | int, session_id: str | int, default: Any = None) -> Any:
        """The live value under ``name``, or ``default``."""
        scope = self._session(user_id, session_id)
        self._saw("get_slot", scope.user_id)
        with self._runtime.store.read(scope.user_id) as reader:
            live = reader.slots(scope.session_id or "", now=self._runtime.now())
        return next((s.value for s in live if s.name == name), default)

    def slots(self, *, user_id: str | int, session_id: str | int) -> dict[str, Any]:
        """The session's live slots."""
        scope = self._session(user_id, session_id)
        self._saw("slots", scope.user_id)
        with self._runtime.store.read(scope.user_id) as reader:
            return {s.name: s.value for s in reader.slots(scope.session_id or "", now=self._runtime.now())}

    areplace_messages = twin(replace_messages)
    aclear_window = twin(clear_window)
    adelete_messages = twin(delete_messages, "long")
    aend_session = twin(end_session)
    aset_slot = twin(set_slot)
    aget_slot = twin(get_slot)
    aslots = twin(slots)


__all__ = ["Sessions"]
