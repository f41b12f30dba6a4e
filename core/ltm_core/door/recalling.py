"""What belongs into the next prompt, and the nearest memories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from ltm_core.arguments import limit_of
from ltm_core.door.base import Door, When
from ltm_core.keep.uses import used
from ltm_core.twins import twin
from ltm_core.types import Context, ContextItem, Message, Tier, TokenCounter


class Recalling(Door):
    """What belongs into the next prompt, and the nearest memories."""

    def context(
        self,
        query: str | None = None,
        *,
        user_id: str | int,
        session_id: str | int | None = None,
        at: When = None,
        timezone: str | None = None,
        max_tokens: int | None = None,
        tiers: Sequence[Tier] = ("working", "semantic", "episodic"),
        exclude_message_ids: Iterable[str] = (),
        current_messages: Sequence[Message | Mapping[str, Any]] | None = None,
        filters: Mapping[str, Any] | None = None,
        token_counter: TokenCounter | None = None,
        format: Literal["text", "messages", "compact"] = "text",
        language: str | None = None,
        agent_id: str | int | None = None,
        task_id: str | int | None = None,
        app_id: str | int | None = None,
    ) -> Context:
        """What belongs into the next prompt, within ``max_tokens`` by the counter (default from Config: 1200).

        ``query`` None takes the session's last user message, else what matters most. ``current_messages`` and
        ``exclude_message_ids`` name turns the host shows anyway: they are not repeated. The text is data inside
        a fence; an unrelated question gives no memories. ``at`` asks as of another time.
        """
        from ltm_core.recall.door import context

        scope = self._runtime.scope(user_id, session_id, agent_id, task_id, app_id)
        self._saw("context", scope.user_id)
        user = self._user(scope.user_id)
        found = context(
            self._runtime,
            scope,
            query,
            user=user,
            now=self._local_now(user, at, timezone),
            max_tokens=max_tokens,
            tiers=tiers,
            exclude_message_ids=exclude_message_ids,
            current_messages=current_messages,
            filters=filters,
            token_counter=token_counter,
            format=format,
            language=language,
        )
        used(self._runtime, scope.user_id, found.items)
        return found

    def search(
        self,
        query: str,
        *,
        user_id: str | int,
        top_k: int = 8,
        min_similarity: float | None = None,
        tiers: Sequence[Tier] | None = None,
        since: When = None,
        until: When = None,
        filters: Mapping[str, Any] | None = None,
        at: When = None,
        timezone: str | None = None,
        agent_id: str | int | None = None,
        task_id: str | int | None = None,
        app_id: str | int | None = None,
        include_cold: bool = False,
    ) -> list[ContextItem]:
        """The ``top_k`` memories nearest to the query, best first, with the signals that ranked them.

        ``since`` and ``until`` are instants or words ("last week"); unreadable words raise InvalidTimeError.
        With ``include_cold`` the turns that were moved to files are searched too, which reads them all.
        """
        from ltm_core.recall.door import search

        scope = self._runtime.scope(user_id, None, agent_id, task_id, app_id)
        self._saw("search", scope.user_id)
        user = self._user(scope.user_id)
        found = search(
            self._runtime,
            scope,
            query,
            user=user,
            now=self._local_now(user, at, timezone),
            top_k=limit_of(top_k, default=8),
            min_similarity=min_similarity,
            tiers=tiers,
            since=since,
            until=until,
            filters=filters,
            include_cold=include_cold,
        )
        used(self._runtime, scope.user_id, found)
        return found

    acontext = twin(context)
    asearch = twin(search)


__all__ = ["Recalling"]
