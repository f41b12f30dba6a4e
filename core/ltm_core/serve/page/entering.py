"""Signing in with a key, out again, and the choice of a user."""

from __future__ import annotations

import functools
import hmac
import secrets
from collections.abc import Callable

import anyio
from fastapi import Response

from ltm_core.errors import LTMError
from ltm_core.scoping import LONGEST_ID, identifier
from ltm_core.serve.page.ended import Ended
from ltm_core.serve.page.rendering import ROOT
from ltm_core.serve.page.session import begun
from ltm_core.serve.page.visit import SESSION_COOKIE, VISIT_COOKIE, View, Visit
from ltm_core.serve.problems import Problem, Refused
from ltm_core.serve.requestlog import note


async def home(visit: Visit) -> Response:
    """To the timeline."""
    return visit.go("/timeline")


async def form(visit: Visit) -> Response:
    """The form for a key; nothing else is told to who is not signed in."""
    return _form(visit)


def _form(visit: Visit, *, status: int = 200, wrong: bool = False) -> Response:
    # There is no session yet whose seal a form could carry: the same random value in a cookie that no other site
    # can send shows that the form is ours, so that nobody is signed in with somebody else's key.
    mark = visit.request.cookies.get(VISIT_COOKIE) or secrets.token_urlsafe(16)
    answer = visit.page("sign_in.html", status=status, mark=mark, wrong=wrong)
    visit.put(answer, VISIT_COOKIE, mark)
    return answer


def signing_in(wall: Callable[[], float], secret: bytes) -> View:
    """The view that takes the key."""

    async def sign_in(visit: Visit) -> Response:
        mark = visit.request.cookies.get(VISIT_COOKIE, "")
        if not mark or not hmac.compare_digest(mark.encode(), visit.form.get("mark", "").encode()):
            raise Refused(Problem(status=403, title="Form expired", error="FormExpired"))
        key = visit.calls.keys.owner(visit.form.get("key", "").strip())
        if key is None:
            return _form(visit, status=401, wrong=True)
        note(visit.request.scope, key=key.id)
        visit.calls.admit(key)
        seconds = visit.calls.settings.page_session_seconds
        session = begun(key, now=wall(), seconds=seconds, secret=secret)
        answer = visit.go("/timeline" if key.kind == "user" else "/user")
        visit.put(answer, SESSION_COOKIE, session.sealed(), seconds=int(seconds))
        return answer

    return sign_in


def signing_out(wall: Callable[[], float], ended: Ended) -> View:
    """The view that ends the sign-in."""

    async def sign_out(visit: Visit) -> Response:
        assert visit.session is not None
        # A slow disk keeps nobody else waiting.
        await anyio.to_thread.run_sync(functools.partial(ended.add, visit.session, now=wall()))
        answer = visit.go("/sign-in")
        answer.delete_cookie(SESSION_COOKIE, path=ROOT, secure=visit.secure, httponly=True, samesite="strict")
        return answer

    return sign_out


async def user_form(visit: Visit) -> Response:
    """Whose memory? Asked of who holds an app's or an administrator's key."""
    assert visit.session is not None
    if visit.session.key.kind == "user":
        return visit.go("/timeline")
    return visit.page("user.html", chosen=visit.session.user_id or "", wrong="")


async def choose_user(visit: Visit) -> Response:
    """From here on it is this user's memory; forms that were shown for another one are refused."""
    session = visit.session
    assert session is not None
    if session.key.kind == "user":
        return visit.go("/timeline")
    given = visit.form.get("user", "")
    try:
        session = session.of(identifier(given, "user_id", limit=LONGEST_ID))
        if len(session.sealed()) > _MOST_SEALED:
            raise Refused(Problem(status=400, title="Id too long", error="InvalidScopeError"))
    except LTMError as e:
        return visit.page("user.html", status=400, chosen=given, wrong=str(e))
    answer = visit.go("/timeline")
    visit.put(answer, SESSION_COOKIE, session.sealed(), seconds=int(visit.calls.settings.page_session_seconds))
    return answer


_MOST_SEALED = 3800
"""Characters: with its name and attributes the cookie still fits into the 4096 that browsers keep."""

__all__ = ["choose_user", "form", "home", "signing_in", "signing_out", "user_form"]
