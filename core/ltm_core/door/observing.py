"""Turns come in, and what was asked to be remembered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, timedelta
from typing import Any

from ltm_core.acting import acting
from ltm_core.arguments import life_of, one_of, short_text, texts_of, words_of
from ltm_core.door.base import Door, When
from ltm_core.errors import InvalidInputError
from ltm_core.twins import twin
from ltm_core.types import FactChange, FactKind, Importance, Message, Observation


class Observing(Door):
    """Turns come in, and what was asked to be remembered."""

    def observe(
        self,
        *,
        user_id: str | int,
        session_id: str | int,
        user: Any = None,
        assistant: Any = None,
        messages: Iterable[Message | Mapping[str, Any]] | None = None,
        at: When = None,
        timezone: str | None = None,
        message_id: str | int | None = None,
        reply_to: str | int | None = None,
        doc_type: str | None = None,
        ttl: float | timedelta | None = None,
        metadata: Mapping[str, Any] | None = None,
        agent_id: str | int | None = None,
        task_id: str | int | None = None,
        app_id: str | int | None = None,
        me: str | None = None,
        actor: str | None = None,
    ) -> Observation:
        """The turns are stored and searchable, and what they tell of the user is learnt, in one transaction.

        Give ``user=`` when the words arrive and ``assistant=`` when they are answered, or a list in
        ``messages=``: the whole history, a window or a part of it, of which only what is new is written; another
        last answer to the same words replaces the stored one. A list of one message without an id repeats at most
        the last stored one. The same id with the same content changes
        nothing; with other content it is an edit: facts that only the old words supported are retracted.
        Without an id, ``user=`` and ``assistant=`` append. ``at`` without a zone is read in ``timezone`` (else
        the user's, else the configured one). ``ttl``: seconds until the turns and their facts expire.
        """
        from ltm_core.write.incoming.batch import Batch
        from ltm_core.write.incoming.intake import checked_metadata, incoming
        from ltm_core.write.service import observe

        runtime = self._runtime
        scope = self._session(user_id, session_id, agent_id, task_id, app_id)
        # Words without an instant are of now, wherever the user is: the store is not asked for the zone.
        dated = timezone is not None or at is not None or messages is not None
        given = incoming(
            user=user,
            assistant=assistant,
            messages=messages,
            at=at,
            message_id=message_id,
            reply_to=reply_to,
            zone=self._zone(scope.user_id, timezone) if dated else UTC,
            id_limit=self._limit,
            text_limit=runtime.config.max_message_characters,
            metadata_limit=runtime.config.max_metadata_bytes,
        )
        batch = Batch(
            scope=scope,
            messages=given,
            timezone=timezone,
            doc_type=short_text(doc_type, "doc_type"),
            ttl=life_of(ttl, runtime.now()),
            metadata=checked_metadata(metadata, most_bytes=runtime.config.max_metadata_bytes),
            me=me,
        )
        with acting(actor):
            return observe(runtime, batch)

    def remember(
        self,
        text: str,
        *,
        user_id: str | int,
        kind: FactKind | None = None,
        importance: Importance | None = None,
        expires_at: When = None,
        at: When = None,
        timezone: str | None = None,
        session_id: str | int | None = None,
        agent_id: str | int | None = None,
        task_id: str | int | None = None,
        app_id: str | int | None = None,
        metadata: Mapping[str, Any] | None = None,
        tags: Sequence[str] = (),
        actor: str | None = None,
    ) -> Observation:
        """What the text states is known from now on, because the user asked. Facts it holds supersede older
        ones; what it holds beyond them is kept as a note in its own words."""
        from ltm_core.write.incoming.intake import checked_metadata
        from ltm_core.write.tell import remember

        if not isinstance(text, str):
            raise InvalidInputError(f"text must be text, not {type(text).__name__}")
        scope = self._runtime.scope(user_id, session_id, agent_id, task_id, app_id)
        return remember(
            self._runtime,
            scope,
            text,
            kind=one_of(kind, FactKind, "kind"),
            importance=one_of(importance, Importance, "importance"),
            expires_at=self._instant(expires_at, scope.user_id, timezone),
            at=self._instant(at, scope.user_id, timezone),
            timezone=timezone,
            metadata=checked_metadata(metadata, most_bytes=self.config.max_metadata_bytes),
            tags=texts_of(tags, "tags"),
            actor=actor,
        )

    def assert_fact(
        self,
        subject: str,
        relation: str,
        object: str,
        *,
        user_id: str | int,
        source: str,
        at: When = None,
        doc_type: str | None = None,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        session_id: str | int | None = None,
        agent_id: str | int | None = None,
        task_id: str | int | None = None,
        app_id: str | int | None = None,
        actor: str | None = None,
    ) -> FactChange:
        """A fact the application knows (the status of an order) holds from ``at``; asserted_by is "app".

        Of a single-valued relation such as ``status`` only the latest by ``at`` is current.
        """
        from ltm_core.write.incoming.intake import checked_metadata
        from ltm_core.write.tell import assert_fact

        scope = self._runtime.scope(user_id, session_id, agent_id, task_id, app_id)
        return assert_fact(
            self._runtime,
            scope,
            subject,
            relation,
            object,
            source=source,
            at=self._instant(at, scope.user_id, None),
            doc_type=short_text(doc_type, "doc_type"),
            metadata=checked_metadata(metadata, most_bytes=self.config.max_metadata_bytes),
            text=words_of(text, "text"),
            actor=actor,
        )

    def remember_procedure(
        self,
        task: str,
        steps: Sequence[str],
        *,
        user_id: str | int,
        outcome: str | None = None,
        importance: Importance | None = None,
        at: When = None,
        metadata: Mapping[str, Any] | None = None,
        session_id: str | int | None = None,
        agent_id: str | int | None = None,
        task_id: str | int | None = None,
        app_id: str | int | None = None,
        actor: str | None = None,
    ) -> FactChange:
        """The task is done in these steps, and came to ``outcome``: a fact of kind "procedure", recalled when a
        similar task is asked about. Another procedure for the same task replaces it; one told with ``agent_id`` is
        that agent's own. Task, steps and outcome stand in ``fact.metadata["procedure"]``."""
        from ltm_core.write.incoming.intake import checked_metadata
        from ltm_core.write.procedure import remember_procedure

        scope = self._runtime.scope(user_id, session_id, agent_id, task_id, app_id)
        return remember_procedure(
            self._runtime,
            scope,
            task,
            steps,
            outcome=outcome,
            importance=one_of(importance, Importance, "importance"),
            at=self._instant(at, scope.user_id, None),
            metadata=checked_metadata(metadata, most_bytes=self._runtime.config.max_metadata_bytes),
            actor=actor,
        )

    aobserve = twin(observe)
    aremember = twin(remember)
    aassert_fact = twin(assert_fact)
    aremember_procedure = twin(remember_procedure)


__all__ = ["Observing"]
