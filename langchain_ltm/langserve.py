"""LangServe: the user comes from the authenticated request, never from its body.

app = FastAPI()
chain = per_user(lambda user_id, session_id: ConversationChain(llm=llm, memory=...) | itemgetter("response"))
add_memory_routes(app, chain, "/chat", user=per_request_user(state="user_id"))
"""

from __future__ import annotations

import inspect
import json
import warnings
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from pydantic import BaseModel, ConfigDict

from ltm_core.adapting import checked_id
from ltm_core.errors import ConfigError, InvalidScopeError, MissingExtraError

if TYPE_CHECKING:
    from fastapi import APIRouter, FastAPI
    from starlette.requests import Request

Modifier = Callable[[dict[str, Any], "Request"], Awaitable[dict[str, Any]]]
UserOf = Callable[["Request"], Any]

ENDPOINTS = ("invoke", "batch", "stream", "input_schema", "output_schema")
"""What `add_memory_routes` serves. Of LangServe's others, stream_log and stream_events show the recalled memory to
the client, the playground and config_schema offer the user as a field, config_hashes put a configuration into the
address, and feedback and public_trace_link act on runs of any user."""
_FIXED = (
    "config_keys",
    "per_req_config_modifier",
    "disabled_endpoints",
    "enable_feedback_endpoint",
    "enable_public_trace_link_endpoint",
    "token_feedback_config",
    "include_callback_events",
    "playground_type",
)
_SCOPE = ("user_id", "agent_id", "task_id", "app_id")
"""What the client's configuration may not set; a session of the user's own it may name."""


class ChatInput(BaseModel):
    """The input of a chat: ``{"input": "..."}`` and nothing else."""

    model_config = ConfigDict(extra="forbid")

    input: str


def per_request_user(
    user_of: UserOf | None = None,
    *,
    state: str | None = None,
    header: str | None = None,
    session_header: str = "x-session-id",
    default_session: str = "default",
) -> Modifier:
    """LangServe's ``per_req_config_modifier``: ``configurable`` holds the user of the request.

    The user is what ``user_of(request)`` returns (it may be async), or ``request.state.<state>`` as your
    authentication set it, or a ``header``: only one that a proxy in front of you sets and strips from what clients
    send. No user is answered with 401, an impossible one with 400, and a body whose configuration names a user with
    403, unless it is the same one.

    The session is the ``session_header``, else ``configurable.session_id`` of the body, else ``default_session``.
    ``thread_id``, by which LangGraph's checkpointers keep conversations, is made of both, so that no two users share
    a thread.
    """
    if sum(way is not None for way in (user_of, state, header)) != 1:
        raise ConfigError("say where the user is: one of user_of=, state= or header=")

    async def modifier(config: dict[str, Any], request: Request) -> dict[str, Any]:
        if user_of is not None:
            found = user_of(request)
            found = await found if inspect.isawaitable(found) else found
        else:
            found = getattr(request.state, state, None) if state else request.headers.get(header or "")
        user = _id(found, "user_id")
        if user is None:
            raise _refusal(401, "the request names no user")
        sent = [_mapping(c.get("configurable")) for c in _configs(await _body(request))]
        client = _mapping(config.get("configurable"))
        # What was sent counts, not what LangServe made of it: that holds the defaults of declared fields too.
        if any(str(c.get("user_id") or user) != user for c in sent):
            raise _refusal(403, "the user is the one who is signed in; the body cannot choose another")
        session = _id(request.headers.get(session_header) or client.get("session_id") or None, "session_id")
        if session is None and len(sent) == 1:
            # LangServe drops what the runnable does not declare; the session is ours to read.
            session = _id(sent[0].get("session_id") or None, "session_id")
        kept = {k: v for k, v in client.items() if k not in _SCOPE and not k.startswith("__")}
        session = session or default_session
        thread = json.dumps([user, session], ensure_ascii=False)
        return {**config, "configurable": {**kept, "user_id": user, "session_id": session, "thread_id": thread}}

    return modifier


def per_user(build: Callable[[str, str], Runnable[Any, Any]]) -> Runnable[Any, Any]:
    """A runnable that runs ``build(user_id, session_id)``, made anew for each call, on its input.

    Nothing of one call is shared with another, so no user can meet another one's memory object. InvalidScopeError
    when the configuration names no user; give it one with `per_request_user`.
    """

    def made(value: Any, config: RunnableConfig) -> Runnable[Any, Any]:
        configurable = config.get("configurable") or {}
        user = checked_id(configurable.get("user_id"), "user_id")
        if user is None:
            raise InvalidScopeError("no user: the configuration has no configurable.user_id")
        session = checked_id(configurable.get("session_id"), "session_id")
        return build(user, session or "default")

    return RunnableLambda(made)


def add_memory_routes(
    app: FastAPI | APIRouter,
    runnable: Runnable[Any, Any],
    path: str,
    *,
    user: Modifier,
    input_type: Any = ChatInput,
    output_type: Any = str,
    enabled_endpoints: Sequence[str] = ENDPOINTS,
    **options: Any,
) -> None:
    """The runnable is served under ``path`` for the user of each request, by the endpoints that leak nothing.

    ``user``: what `per_request_user` gives. ``input_type`` and ``output_type`` are needed: without them LangServe
    drops inputs and refuses outputs of chains with a history. ``enabled_endpoints`` may name fewer than `ENDPOINTS`;
    further options are those of LangServe's ``add_routes``, without the ones that open what is closed here.
    """
    try:
        from langserve import add_routes
    except ImportError as e:
        raise MissingExtraError("langchain_ltm.langserve", "langserve") from e
    refused = sorted(set(options) & set(_FIXED))
    if refused:
        raise ConfigError(f"add_memory_routes sets {', '.join(refused)} itself, so that no user reaches another")
    leaking = sorted(set(enabled_endpoints) - set(ENDPOINTS))
    if leaking:
        raise ConfigError(f"the endpoints {', '.join(leaking)} show memory or choose users; serve them yourself")
    endpoints: tuple[Any, ...] = tuple(enabled_endpoints)
    with warnings.catch_warnings():
        # LangServe reads `model_fields` from instances, and this is not the application's to repair.
        warnings.filterwarnings("ignore", category=DeprecationWarning, module="langserve")
        add_routes(
            app,
            runnable.with_types(input_type=input_type, output_type=output_type),
            path=path,
            config_keys=("configurable",),
            per_req_config_modifier=user,
            enabled_endpoints=endpoints,
            enable_feedback_endpoint=False,
            enable_public_trace_link_endpoint=False,
            **options,
        )


async def _body(request: Request) -> Mapping[str, Any]:
    # LangServe has read it already; the request keeps it.
    try:
        return _mapping(await request.json())
    except ValueError:
        return {}


def _configs(body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    config = body.get("config")
    yield from map(_mapping, config if isinstance(config, list) else [config])


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _id(value: Any, what: str) -> str | None:
    try:
        return None if value is None or value == "" else checked_id(value, what)
    except InvalidScopeError as e:
        raise _refusal(400, str(e)) from None


def _refusal(status: int, detail: str) -> Exception:
    from fastapi import HTTPException

    return HTTPException(status, detail)


__all__ = ["ENDPOINTS", "ChatInput", "add_memory_routes", "per_request_user", "per_user"]
