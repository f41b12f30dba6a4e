"""The page's addresses: who may see each, and what becomes of an error."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request, Response

from ltm_core.errors import LTMError
from ltm_core.serve.calls import Calls
from ltm_core.serve.page import correcting, entering, exporting, forgetting, reading, recalling
from ltm_core.serve.page.ended import Ended
from ltm_core.serve.page.rendering import HEADERS, ROOT, css, css_name
from ltm_core.serve.page.visit import View, Visit, form_of, visit_of
from ltm_core.serve.problems import Problem, Refused, of_error
from ltm_core.serve.requestlog import note

_KEPT = "public, max-age=31536000, immutable"
READ: dict[str, View] = {
    "/timeline": reading.timeline,
    "/facts": reading.facts,
    "/facts/{fact_id}": reading.fact,
    "/facts/{fact_id}/correct": correcting.form,
    "/recall": recalling.form,
    "/forget": forgetting.form,
    "/export": exporting.form,
    "/pause": correcting.pause_form,
}
"""What is only looked at."""
ACT: dict[str, View] = {
    "/facts/{fact_id}/correct": correcting.correct,
    "/facts/{fact_id}/revise": correcting.revise,
    "/recall": recalling.recall,
    "/forget": forgetting.forget,
    "/export": exporting.export,
    "/pause": correcting.pause,
}
"""What a form asks for; what cannot be taken back asks once more before it is done."""


def add_page(app: FastAPI, calls: Calls, *, wall: Callable[[], float]) -> None:
    """The page under ``/page``. ``wall``: seconds since 1970, for the end of a sign-in."""

    # One process alone needs no secret that others know.
    secret = (calls.settings.page_secret or secrets.token_hex(32)).encode()
    ended = Ended(calls.keys.place)

    def add(verb: str, path: str, view: View, *, session: bool = True, user: bool = True) -> None:
        async def endpoint(request: Request) -> Response:
            visit = visit_of(request, calls, ended=ended.has, now=wall(), secret=secret)
            try:
                return await _seen(visit, view, verb=verb, session=session, user=user)
            except (Refused, LTMError) as e:
                problem = e.problem if isinstance(e, Refused) else of_error(e)
                return refused(visit, problem)

        app.add_api_route(ROOT + path, endpoint, methods=[verb], include_in_schema=False, response_model=None)

    add("GET", "/sign-in", entering.form, session=False)
    add("POST", "/sign-in", entering.signing_in(wall, secret), session=False)
    add("POST", "/sign-out", entering.signing_out(wall, ended), user=False)
    add("GET", "/user", entering.user_form, user=False)
    add("POST", "/user", entering.choose_user, user=False)
    for verb, views in (("GET", READ), ("POST", ACT)):
        for path, view in views.items():
            add(verb, path, view)
    add("GET", "", entering.home, user=False)
    add("GET", "/", entering.home, user=False)

    async def style() -> Response:
        return Response(css(), media_type="text/css", headers={**HEADERS, "Cache-Control": _KEPT})

    app.add_api_route(css_name(), style, methods=["GET"], include_in_schema=False, response_model=None)


async def _seen(visit: Visit, view: View, *, verb: str, session: bool, user: bool) -> Response:
    signed = visit.session
    if session and signed is None:
        return visit.go("/sign-in")
    if signed is not None:
        note(visit.request.scope, key=signed.key.id)
        visit.calls.admit(signed.key)
    if verb == "POST":
        visit.form = await form_of(visit.request)
        if session and signed is not None and not signed.sent(visit.form.get("token", "")):
            raise Refused(_strange())
    if session and user and signed is not None:
        if signed.key.kind != "user" and signed.user_id is None:
            return visit.go("/user")
        await visit.enter()
    return await view(visit)


def _strange() -> Problem:
    return Problem(status=403, title="Form expired", error="FormExpired")


def refused(visit: Visit, problem: Problem) -> Response:
    """The problem as a page."""
    more: dict[str, Any] = {"receipt": problem.more.get("receipt"), "candidates": problem.more.get("candidates", ())}
    answer = visit.page("problem.html", status=problem.status, problem=problem, **more)
    for name, value in problem.headers.items():
        if name.lower() != "www-authenticate":
            answer.headers[name] = value
    return answer


__all__ = ["ACT", "READ", "add_page", "refused"]
