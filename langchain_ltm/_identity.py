"""Whom a call serves, from what the host tells at run time."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from langchain_core.runnables import RunnableConfig, ensure_config

from ltm_core.adapting import checked_id, served
from ltm_core.errors import InvalidScopeError
from ltm_core.types import Scope


def serving(
    user_id: str | None = None,
    session_id: str | None = None,
    *,
    agent_id: str | None = None,
    config: RunnableConfig | None = None,
    runtime: Any = None,
) -> Scope:
    """The scope of this call.

    The user is the adapter's own, the authenticated one of an agent server, ``user_id`` of the agent's runtime
    context, ``configurable["user_id"]`` of the config, or that of the active ``ltm_core.scope(...)``. The session
    is found alike; a thread of the host counts as one. InvalidScopeError when there is no user, when an id is
    blank, and when two of these places name different users: guessing could show one user's memories to another.
    """
    settings = ensure_config(config).get("configurable", {})
    context = getattr(runtime, "context", None)
    server = getattr(getattr(runtime, "server_info", None), "user", None)
    named = {
        "the adapter": user_id,
        "the server's authentication": getattr(server, "identity", None),
        "the runtime context": _of(context, "user_id"),
        "the configurable": settings.get("user_id"),
    }
    users = {where: checked_id(value, "user_id") for where, value in named.items() if value is not None}
    if len(set(users.values())) > 1:
        raise InvalidScopeError(f"{' and '.join(users)} name different users; name one, or the same")
    execution = getattr(runtime, "execution_info", None)
    sessions = (
        session_id,
        _of(context, "session_id"),
        settings.get("session_id"),
        getattr(execution, "thread_id", None),
        settings.get("thread_id"),
    )
    session = next((s for s in sessions if s is not None), None)
    scope = served(next(iter(users.values()), None), checked_id(session, "session_id"))
    return scope if agent_id is None else replace(scope, agent_id=agent_id)


def current_runtime() -> Any:
    """The runtime of the LangGraph node that runs this code; None outside of one."""
    # Asking costs an import, and whoever runs in a graph has done it.
    module = sys.modules.get("langgraph.runtime")
    if module is None:
        return None
    try:
        return module.get_runtime()
    except (RuntimeError, KeyError):
        return None


def _of(context: Any, name: str) -> Any:
    return context.get(name) if isinstance(context, Mapping) else getattr(context, name, None)


__all__ = ["current_runtime", "serving"]
