"""Lists for people and programs: pages of facts, versions, turns, sessions, changes."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from ltm_core.arguments import number_of, text_of
from ltm_core.errors import InvalidInputError, NotFoundError
from ltm_core.recall.drift import slots_of
from ltm_core.recall.related import related as walk
from ltm_core.store.base import CHANGES_DROPPED
from ltm_core.store.times import to_us
from ltm_core.types import (
    DeadLetter,
    Fact,
    FactChange,
    Page,
    Profile,
    RelatedFact,
    Scope,
    Session,
    SlotTimeline,
    StoredMessage,
)
from ltm_core.types.names import ORDINARY

if TYPE_CHECKING:
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import MessageRow, Reader

T = TypeVar("T")
log = logging.getLogger("ltm")

_MOST_ITEM = 2**32 - 1
_MOST = 2**63 - 1


def page_of(rows: Sequence[T], limit: int, cursor_of: Callable[[T], str], fetch: Callable[[str], Page[T]]) -> Page[T]:
    """One page out of ``limit + 1`` rows: the extra row only tells that there is a next page."""
    shown = tuple(rows[:limit])
    more = len(rows) > limit
    return Page(shown, cursor_of(shown[-1]) if more else None, fetch if more else None)


def facts(
    runtime: Runtime,
    user_id: str,
    *,
    as_of: datetime | None,
    known_at: datetime | None,
    include_superseded: bool,
    subject: str | None,
    relation: str | None,
    limit: int,
    cursor: str | None,
) -> Page[Fact]:
    moment = None if include_superseded else as_of or known_at or runtime.now()
    with runtime.store.read(user_id) as reader:
        found = reader.facts(
            subject=subject,
            relation=relation,
            current_at=moment,
            known_at=known_at,
            after_item=max(0, number_of(cursor, most=_MOST_ITEM)),
            limit=limit + 1,
        )
        last = reader.fact_item(found[limit - 1].id) if len(found) > limit else None

    def following(next_cursor: str) -> Page[Fact]:
        return facts(
            runtime,
            user_id,
            as_of=as_of,
            known_at=known_at,
            include_superseded=include_superseded,
            subject=subject,
            relation=relation,
            limit=limit,
            cursor=next_cursor,
        )

    return page_of(found, limit, lambda _: str(last), following)


def history(runtime: Runtime, user_id: str, fact_id: str) -> Page[Fact]:
    """All versions linked by succession, oldest first."""
    with runtime.store.read(user_id) as reader:
        start = reader.fact(fact_id)
        if start is None:
            raise NotFoundError(f"no fact {fact_id[:80]!r} for this user")
        versions = _versions(reader, start)
    return Page(tuple(sorted(versions, key=lambda f: (f.valid_from, f.recorded_at, f.id))))


def timeline(
    runtime: Runtime,
    user_id: str,
    *,
    subject: str | None,
    relation: str | None,
    changed_only: bool,
    limit: int,
    cursor: str | None,
) -> Page[SlotTimeline]:
    """Slots in the order in which they began. The cursor counts them: they are few."""
    start = max(0, number_of(cursor, most=_MOST_ITEM))
    with runtime.store.read(user_id) as reader:
        facts = reader.facts(subject=subject, relation=relation)
    found = slots_of(facts, now=runtime.now(), changed_only=changed_only)[start : start + limit + 1]
    return page_of(
        found,
        limit,
        lambda _: str(start + limit),
        lambda following: timeline(
            runtime,
            user_id,
            subject=subject,
            relation=relation,
            changed_only=changed_only,
            limit=limit,
            cursor=following,
        ),
    )


def _versions(reader: Reader, start: Fact) -> list[Fact]:
    seen = {start.id: start}
    waiting = [start]
    while waiting:
        near = [f for before in reader.predecessors([f.id for f in waiting]).values() for f in before]
        after = [f.superseded_by for f in waiting if f.superseded_by is not None and f.superseded_by not in seen]
        near += reader.facts(ids=after) if after else []
        waiting = list({f.id: f for f in near if f.id not in seen}.values())
        seen |= {f.id: f for f in waiting}
    return list(seen.values())


def related(
    runtime: Runtime,
    user_id: str,
    entity: str,
    *,
    depth: int,
    relation: str | None,
    at: datetime | None,
    limit: int,
) -> Page[RelatedFact]:
    """One page: what is near is what was asked for."""
    with runtime.store.read(user_id) as reader:
        found = walk(
            reader,
            entity,
            kinds=runtime.lexicon.identifier_words,
            depth=depth,
            relation=relation,
            at=at or runtime.now(),
            limit=limit,
        )
    return Page(found)


def profile(runtime: Runtime, user_id: str) -> Profile:
    with runtime.store.read(user_id) as reader:
        state = reader.user()
        current = reader.facts(current_at=runtime.now())
    about_user: dict[str, tuple[Fact, ...]] = {}
    about_others: dict[str, tuple[Fact, ...]] = {}
    for fact in current:
        if fact.subject == "user":
            about_user[fact.relation] = (*about_user.get(fact.relation, ()), fact)
        elif fact.subject != "assistant":
            about_others[fact.subject] = (*about_others.get(fact.subject, ()), fact)
    return Profile(
        user_id=user_id,
        timezone=state.timezone if state else None,
        paused=state is not None and state.paused_at is not None,
        retention=(None if state is None else state.retention) or ORDINARY,
        about_user=about_user,
        about_others=about_others,
        assistant=tuple(f for f in current if f.subject == "assistant"),
    )


def changes(runtime: Runtime, user_id: str | None, *, since: str | None, limit: int) -> Page[FactChange]:
    """The feed of one user, or of all users in the order of commits."""
    after = number_of(since, most=_MOST)
    dropped = int(runtime.store.operations().setting(CHANGES_DROPPED) or 0)
    if since is not None and after < dropped:
        raise NotFoundError(
            f"changes up to {dropped} are no longer kept (changes_days): read the facts anew, then go on from there"
        )
    if user_id is None:
        found = _changes_of_all(runtime, after=after, limit=limit + 1)
    else:
        with runtime.store.read(user_id) as reader:
            found = reader.changes(after=after, limit=limit + 1)
    return page_of(
        found, limit, lambda c: c.cursor, lambda cursor: changes(runtime, user_id, since=cursor, limit=limit)
    )


def follow(runtime: Runtime, callback: Callable[[FactChange], object], *, user_id: str | None) -> Callable[[], None]:
    """``callback`` gets the changes that this runtime's store commits; what it raises is logged."""
    if not callable(callback):
        raise InvalidInputError(f"callback must be callable, not {type(callback).__name__}")

    def tell(changes: Sequence[FactChange]) -> None:
        for change in changes:
            if user_id is not None and change.fact.user_id != user_id:
                continue
            try:
                callback(change)
            except Exception:
                log.exception("a follower of changes failed at change %s", change.cursor)

    return runtime.store.listen(tell)


def _changes_of_all(runtime: Runtime, *, after: int, limit: int) -> list[FactChange]:
    places: dict[str, list[int]] = defaultdict(list)
    for place, user in runtime.store.operations().change_marks(after=after, limit=limit):
        places[user].append(place)
    found: list[FactChange] = []
    for user, mine in places.items():
        with runtime.store.read(user) as reader:
            # What was erased meanwhile must not pull later changes into this page.
            known = set(mine)
            mine_now = reader.changes(after=mine[0] - 1, limit=len(mine))
            found += [c for c in mine_now if int(c.cursor) in known]
    return sorted(found, key=lambda c: int(c.cursor))


def messages(
    runtime: Runtime,
    scope: Scope,
    *,
    since: datetime | None,
    until: datetime | None,
    window_only: bool,
    limit: int,
    cursor: str | None,
    newest_first: bool = False,
) -> Page[StoredMessage]:
    """Ordered by (instant, insertion). The cursor is the place in that order."""
    after = _place(cursor)
    with runtime.store.read(scope.user_id) as reader:
        found = reader.messages(
            session_id=scope.session_id,
            since=since,
            until=until,
            in_window=True if window_only else None,
            after=after,
            newest_first=newest_first,
            limit=limit + 1,
        )
    last = found[min(limit, len(found)) - 1] if found else None
    return page_of(
        [stored(m) for m in found],
        limit,
        lambda _: "" if last is None else f"{to_us(last.at)}.{last.sequence}",
        lambda next_cursor: messages(
            runtime,
            scope,
            since=since,
            until=until,
            window_only=window_only,
            limit=limit,
            cursor=next_cursor,
            newest_first=newest_first,
        ),
    )


def _place(cursor: str | None) -> tuple[int, int] | None:
    if cursor is None:
        return None
    at, _, sequence = text_of(cursor, "cursor").partition(".")
    return number_of(at, most=_MOST), number_of(sequence, most=_MOST)


def stored(row: MessageRow) -> StoredMessage:
    """The row as the caller sees it."""
    return StoredMessage(
        id=row.id,
        role=row.role,
        content=row.content,
        at=row.at,
        timezone=row.timezone,
        session_id=row.session_id,
        name=row.name,
        act=row.act,
        reply_to=row.reply_to,
        doc_type=row.doc_type,
        agent_id=row.agent_id,
        task_id=row.task_id,
        app_id=row.app_id,
        metadata=row.metadata,
        recorded_at=row.recorded_at,
        redacted=row.redacted_at is not None,
        retired=row.retired_at is not None,
    )


def sessions(runtime: Runtime, user_id: str, *, limit: int, cursor: str | None) -> Page[Session]:
    after = None if cursor is None else text_of(cursor, "cursor")
    with runtime.store.read(user_id) as reader:
        found = reader.sessions(after=after, limit=limit + 1)
    return page_of(found, limit, lambda s: s.id, lambda last: sessions(runtime, user_id, limit=limit, cursor=last))


def dead_letters(runtime: Runtime, *, limit: int, cursor: str | None) -> Page[DeadLetter]:
    """Jobs that failed too often, oldest first."""
    rows = runtime.store.operations().dead_jobs(after=number_of(cursor, most=_MOST), limit=limit + 1)
    found = [
        DeadLetter(id=j.id, kind=j.kind, user_id=j.user_id, attempts=j.attempts, error=j.error or "") for j in rows
    ]
    return page_of(found, limit, lambda d: str(d.id), lambda c: dead_letters(runtime, limit=limit, cursor=c))
