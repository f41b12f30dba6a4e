"""Erasure: first what would go, then the question, then the receipt."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from fastapi import Response

from ltm_core.errors import InvalidInputError, NotFoundError
from ltm_core.serve.page.reading import SESSIONS, versions_of
from ltm_core.serve.page.visit import Visit
from ltm_core.types import Fact, ForgetPreview, Receipt

_OPERATIONS: Mapping[str, str] = {
    "fact": "forget",
    "message": "forget",
    "words": "forget_matching",
    "session": "forget_session",
    "user": "forget_user",
}
_SHOWN = 50
"""Turns of a preview that are shown, and facts when everything goes; that there are more is said."""


@dataclass(frozen=True)
class Preview:
    """What would be erased."""

    facts: tuple[Fact, ...] = ()
    turns: tuple[str, ...] = ()
    more: int = 0
    """Turns beyond those shown."""
    documents: int = 0
    sessions: int = 0
    cut: bool = False
    """There are more facts than those shown."""


async def form(visit: Visit) -> Response:
    """What can be forgotten: some words, a session, everything."""
    call = functools.partial(visit.memory.sessions, user_id=visit.user_id, limit=SESSIONS)
    sessions = (await visit.run("sessions", call)).items
    return visit.page("forget.html", sessions=sessions)


async def forget(visit: Visit) -> Response:
    """The preview, or with ``confirm`` the erasure and its receipt."""
    what, target = visit.form.get("what", ""), _target(visit)
    if what not in _OPERATIONS:
        raise InvalidInputError(f"what must be one of {', '.join(_OPERATIONS)}")
    if what != "user" and not target.strip():
        raise InvalidInputError("nothing was named that is to be forgotten")
    common: dict[str, Any] = {"what": what, "target": target, "wrong": False, "receipt": None}
    confirmed = visit.form.get("confirm") == "yes"
    # Everything at once is the one step that a slip of the hand must not take.
    wrong = confirmed and what == "user" and visit.form.get("typed", "").strip() != visit.user_id.strip()
    if not confirmed or wrong:
        preview = await visit.run(_OPERATIONS[what], functools.partial(_preview, visit, what, target))
        status = 400 if wrong else 200
        return visit.page("forget_confirm.html", status=status, **(common | {"wrong": wrong, "preview": preview}))
    receipt = await visit.run(_OPERATIONS[what], _erasure(visit, what, target))
    return visit.page("forget_confirm.html", **(common | {"receipt": receipt, "preview": None}))


def _target(visit: Visit) -> str:
    """What was named. An id comes percent-encoded: browsers change the line breaks of a form's values."""
    if "words" in visit.form:
        return visit.form["words"].strip()
    try:
        return unquote(visit.form.get("target", ""), errors="strict")
    except UnicodeDecodeError:
        raise InvalidInputError("target is not percent-encoded UTF-8") from None


def _erasure(visit: Visit, what: str, target: str) -> Callable[[], Receipt]:
    memory, user = visit.memory, visit.user_id
    if what == "words":

        def matching() -> Receipt:
            done = memory.forget_matching(target, user_id=user, dry_run=False)
            assert isinstance(done, Receipt)
            return done

        return matching
    if what == "session":
        return functools.partial(memory.forget_session, target, user_id=user)
    if what == "user":
        return functools.partial(memory.forget_user, user)
    return functools.partial(memory.forget, target, user_id=user)


def _preview(visit: Visit, what: str, target: str) -> Preview:
    memory, user = visit.memory, visit.user_id
    if what == "fact":
        fact, _ = versions_of(visit, target)
        return _of((fact,), visit.inside.messages(user, fact.source_message_ids))
    if what == "message":
        found = visit.inside.messages(user, [target])
        if not found:
            raise NotFoundError(f"no turn {target[:80]!r} for this user")
        facts = memory.facts(user_id=user, include_superseded=True)
        return _of(tuple(f for f in facts if f.source_message_ids == (target,)), found)
    if what == "words":
        plan = memory.forget_matching(target, user_id=user, dry_run=True)
        assert isinstance(plan, ForgetPreview)
        shown = visit.inside.messages(user, plan.messages[:_SHOWN])
        return _of(plan.facts, shown, more=len(plan.messages) - len(shown), documents=len(plan.documents))
    if what == "session":
        page = memory.messages(user_id=user, session_id=target, limit=_SHOWN)
        total = sum(s.message_count for s in memory.sessions(user_id=user) if s.id == target)
        if not page.items:
            raise NotFoundError(f"no session {target[:80]!r} for this user")
        facts = memory.facts(user_id=user, include_superseded=True)
        kept = tuple(f for f in facts if f.session_id == target and f.support_count <= 1)
        return Preview(kept, tuple(m.content for m in page.items), max(0, total - len(page.items)))
    sessions = list(memory.sessions(user_id=user))
    held = memory.facts(user_id=user, include_superseded=True, limit=_SHOWN)
    turns = sum(s.message_count for s in sessions)
    return Preview(held.items, more=turns, sessions=len(sessions), cut=held.next_cursor is not None)


def _of(facts: tuple[Fact, ...], turns: Mapping[str, Any], *, more: int = 0, documents: int = 0) -> Preview:
    return Preview(facts, tuple(row.content for row in turns.values()), more, documents)


__all__ = ["Preview", "forget", "form"]
