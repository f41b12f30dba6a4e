"""What is known, how it came to be, and what was said."""

from __future__ import annotations

from collections.abc import Callable

from ltm_core import listing
from ltm_core.arguments import limit_of, optional_text, short_text, text_of
from ltm_core.door.base import Door, When
from ltm_core.errors import InvalidInputError
from ltm_core.twins import twin
from ltm_core.types import Fact, FactChange, Page, Profile, RelatedFact, Session, SlotTimeline, StoredMessage


class Reading(Door):
    """What is known, how it came to be, and what was said."""

    def facts(
        self,
        *,
        user_id: str | int,
        as_of: When = None,
        known_at: When = None,
        include_superseded: bool = False,
        subject: str | None = None,
        relation: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[Fact]:
        """What is true now, or was at ``as_of``, oldest first; ``known_at`` sees the store as it was then.

        ``include_superseded`` adds what was closed, retracted, suppressed or expired.
        """
        scope = self._runtime.scope(user_id)
        self._saw("facts", scope.user_id)
        return listing.facts(
            self._runtime,
            scope.user_id,
            as_of=self._instant(as_of, scope.user_id, None),
            known_at=self._instant(known_at, scope.user_id, None),
            include_superseded=include_superseded,
            subject=optional_text(subject, "subject"),
            relation=optional_text(relation, "relation"),
            limit=limit_of(limit),
            cursor=cursor,
        )

    def history(self, fact_id: str, *, user_id: str | int) -> Page[Fact]:
        """Every version of the fact, oldest first: what it replaced and what replaced it. NotFoundError."""
        user = self._runtime.scope(user_id).user_id
        self._saw("history", user)
        return listing.history(self._runtime, user, text_of(fact_id, "fact_id"))

    def timeline(
        self,
        user_id: str | int,
        *,
        subject: str | None = None,
        relation: str | None = None,
        changed_only: bool = True,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[SlotTimeline]:
        """How what is known of the user changed: per subject and relation the values in the order in which they
        began to hold, with their times and what took their place. ``changed_only=False`` adds what never changed."""
        user = self._runtime.scope(user_id).user_id
        self._saw("timeline", user)
        return listing.timeline(
            self._runtime,
            user,
            subject=optional_text(subject, "subject"),
            relation=optional_text(relation, "relation"),
            changed_only=changed_only,
            limit=limit_of(limit),
            cursor=cursor,
        )

    def profile(self, user_id: str | int) -> Profile:
        """What is known of the user now, by relation, and how the assistant is to be."""
        user = self._runtime.scope(user_id).user_id
        self._saw("profile", user)
        return listing.profile(self._runtime, user)

    def related(
        self,
        entity: str = "user",
        *,
        user_id: str | int,
        depth: int = 2,
        relation: str | None = None,
        at: When = None,
        limit: int | None = None,
    ) -> Page[RelatedFact]:
        """What holds at ``at`` (now) within ``depth`` steps (1 to 4) of a person or thing, nearest first: from
        ``"ORD-1"`` to whose order it is and what its status is. The walk does not go on through the user."""
        if not 1 <= depth <= 4 or isinstance(depth, bool):
            raise InvalidInputError(f"depth must be 1 to 4, not {depth!r}")
        if not text_of(entity, "entity").strip():
            raise InvalidInputError("entity must be non-blank text, such as user, sister or an order number")
        user = self._runtime.scope(user_id).user_id
        self._saw("related", user)
        return listing.related(
            self._runtime,
            user,
            entity,
            depth=depth,
            relation=short_text(relation, "relation"),
            at=self._instant(at, user, None),
            limit=limit_of(limit),
        )

    def changes(
        self, *, user_id: str | int | None = None, since: str | None = None, limit: int | None = None
    ) -> Page[FactChange]:
        """What became of facts, in the order of commits, after the cursor ``since``: of one user, or of all users
        when none is named (``change.fact.user_id`` says whose). Keep the last cursor, ask again: nothing is
        missed, also what other processes wrote."""
        user = None if user_id is None else self._runtime.scope(user_id).user_id
        if user is not None:
            self._saw("changes", user)
        return listing.changes(self._runtime, user, since=since, limit=limit_of(limit))

    def on_change(
        self, callback: Callable[[FactChange], object], *, user_id: str | int | None = None
    ) -> Callable[[], None]:
        """From now on ``callback`` gets every change of a fact that this object writes (of one user, or of all),
        after its commit, in the thread that wrote; returns the call that ends it. What it raises is logged, the
        write stands. It can miss what other processes write and what happens while the program is down:
        `changes` cannot."""
        user = None if user_id is None else self._runtime.scope(user_id).user_id
        return listing.follow(self._runtime, callback, user_id=user)

    def messages(
        self,
        *,
        user_id: str | int,
        session_id: str | int | None = None,
        since: When = None,
        until: When = None,
        window_only: bool = False,
        newest_first: bool = False,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[StoredMessage]:
        """The stored turns, in order of time; with ``window_only`` those of the session's working window."""
        scope = self._runtime.scope(user_id, session_id)
        self._saw("messages", scope.user_id)
        return listing.messages(
            self._runtime,
            scope,
            since=self._instant(since, scope.user_id, None),
            until=self._instant(until, scope.user_id, None),
            window_only=window_only,
            newest_first=newest_first,
            limit=limit_of(limit),
            cursor=cursor,
        )

    def sessions(self, *, user_id: str | int, limit: int | None = None, cursor: str | None = None) -> Page[Session]:
        """The user's sessions, the latest activity first."""
        user = self._runtime.scope(user_id).user_id
        self._saw("sessions", user)
        return listing.sessions(self._runtime, user, limit=limit_of(limit), cursor=cursor)

    afacts = twin(facts)
    ahistory = twin(history)
    atimeline = twin(timeline)
    aprofile = twin(profile)
    arelated = twin(related)
    achanges = twin(changes)
    amessages = twin(messages)
    asessions = twin(sessions)


__all__ = ["Reading"]
