"""One request of the page: its session, its form, its answer."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from urllib.parse import parse_qsl, quote

from fastapi import Request, Response
from fastapi.responses import RedirectResponse

from ltm_core.errors import InvalidInputError
from ltm_core.serve.calls import Caller, Calls
from ltm_core.serve.page.language import Words, chosen, words
from ltm_core.serve.page.rendering import HEADERS, ROOT, rendered
from ltm_core.serve.page.session import PageSession, opened
from ltm_core.serve.requestlog import note
from ltm_core.serve.who import USER_HEADER, user_of
from ltm_core.when import stored_zone

if TYPE_CHECKING:
    from ltm_core.memory import LongTermMemory
    from ltm_core.serve.inside import Inside

T = TypeVar("T")
SESSION_COOKIE, VISIT_COOKIE, LANGUAGE_COOKIE = "ltm_session", "ltm_visit", "ltm_lang"
_MOST_FIELDS = 40
_FORM = "application/x-www-form-urlencoded"
_YEAR = 365 * 24 * 3600
View: TypeAlias = Callable[["Visit"], Awaitable[Response]]


@dataclass
class Visit:
    """What a view needs to answer."""

    request: Request
    calls: Calls
    words: Words
    session: PageSession | None
    form: Mapping[str, str] = field(default_factory=dict)
    zone: tzinfo = UTC
    caller: Caller | None = None

    @property
    def user_id(self) -> str:
        """Whose memory is shown."""
        assert self.caller is not None and self.caller.user_id is not None
        return self.caller.user_id

    @property
    def memory(self) -> LongTermMemory:
        return self.calls.memory

    @property
    def inside(self) -> Inside:
        return self.calls.inside

    @property
    def secure(self) -> bool:
        """Whether the browser came by TLS; behind a proxy that ends it, the form's origin tells."""
        origin = self.request.headers.get("origin", "")
        return self.request.url.scheme == "https" or origin.startswith("https://")

    def asked(self, name: str) -> str | None:
        """A value of the address, or None when it is missing or blank."""
        return self.request.query_params.get(name) or None

    async def run(self, operation: str, call: Callable[[], T]) -> T:
        """The result of ``call``, made as the one who signed in."""
        assert self.caller is not None
        return await self.calls.run(operation, self.caller, call)

    async def enter(self) -> None:
        """Whose memory it is, and its time zone: AccessDeniedError when the key does not reach it."""
        assert self.session is not None
        key = self.session.key
        told = {} if self.session.user_id is None else {USER_HEADER: quote(self.session.user_id, safe="")}
        user_id = user_of(key, told, None, reach="user")
        note(self.request.scope, user_id=user_id)
        self.caller = Caller(key, user_id, f"page ({key.actor})", None)
        profile = await self.run("profile", functools.partial(self.memory.profile, self.user_id))
        self.zone = stored_zone(profile.timezone) if profile.timezone else UTC

    def page(self, template: str, status: int = 200, **values: Any) -> Response:
        """The template as the answer; it knows who is signed in, and its forms carry the session's token."""
        session = self.session
        common = {
            "signed_in": session is not None,
            "kind": session.key.kind if session else "",
            "user_id": self.caller.user_id if self.caller else None,
            "token": session.token if session else "",
            "here": self.request.url.path.removesuffix("/revise"),
            "query": dict(self.request.query_params),
        }
        answer = rendered(template, self.words, {**common, **values}, zone=self.zone, status=status)
        return self._in_language(answer)

    def go(self, path: str) -> Response:
        """On to another page, by GET."""
        # A browser that came from another site sends no cookie of ours along a redirect: the address tells it too.
        query = f"?lang={self.words.code}" if self._chose_language else ""
        return self._in_language(RedirectResponse(ROOT + path + query, status_code=303, headers=dict(HEADERS)))

    @property
    def _chose_language(self) -> bool:
        return self.asked("lang") == self.words.code

    def _in_language(self, answer: Response) -> Response:
        if self._chose_language:
            self.put(answer, LANGUAGE_COOKIE, self.words.code, seconds=_YEAR)
        return answer

    def put(self, answer: Response, name: str, value: str, *, seconds: int | None = None) -> None:
        """A cookie that no script reads and no other site sends."""
        answer.set_cookie(
            name, value, max_age=seconds, path=ROOT, secure=self.secure, httponly=True, samesite="strict"
        )


def visit_of(request: Request, calls: Calls, *, ended: Callable[[str], bool], now: float, secret: bytes) -> Visit:
    """The request with its session, if it has one."""
    cookies = request.cookies
    code = chosen(
        request.query_params.get("lang"), cookies.get(LANGUAGE_COOKIE), request.headers.get("accept-language", "")
    )
    session = opened(cookies.get(SESSION_COOKIE, ""), known=calls.keys.known, ended=ended, now=now, secret=secret)
    return Visit(request, calls, words(code), session)


async def form_of(request: Request) -> Mapping[str, str]:
    """The form that was sent; InvalidInputError when it is none. Of a name that is sent twice the last one counts."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        raise InvalidInputError(f"a form is sent as {_FORM}")
    try:
        pairs = parse_qsl(
            (await request.body()).decode(), keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS
        )
    except ValueError:  # UnicodeDecodeError is one too
        raise InvalidInputError(f"the form is not UTF-8, or has more than {_MOST_FIELDS} fields") from None
    return dict(pairs)


__all__ = ["LANGUAGE_COOKIE", "SESSION_COOKIE", "VISIT_COOKIE", "View", "Visit", "form_of", "visit_of"]
