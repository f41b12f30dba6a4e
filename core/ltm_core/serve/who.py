"""Whose memory a request is about: what its key says, never what its body says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from ltm_core.errors import AccessDeniedError, InvalidScopeError
from ltm_core.scoping import LONGEST_ID, identifier
from ltm_core.serve.keys import ApiKey
from ltm_core.serve.operations import Reach

USER_HEADER = "ltm-user"
"""The user for whom an app or an administrator acts: the id, percent-encoded UTF-8."""


def header_user(headers: Mapping[str, str]) -> str | None:
    """The user that the header names, or None; InvalidScopeError when it is no id."""
    raw = headers.get(USER_HEADER)
    if raw is None:
        return None
    try:
        decoded = unquote(raw, errors="strict")
    except UnicodeDecodeError:
        raise InvalidScopeError(f"header {USER_HEADER} is not percent-encoded UTF-8") from None
    return identifier(decoded, f"header {USER_HEADER}", limit=LONGEST_ID)


def user_of(key: ApiKey, headers: Mapping[str, str], named: Any, *, reach: Reach) -> str | None:
    """The user of the request; None only where an administrator may leave it out.

    ``named`` is the user in the body or the query: it may repeat the key's or the header's user, never choose one.
    Raises AccessDeniedError when it does, when the key may not do this, or when no user is known.
    """
    told = header_user(headers)
    if key.kind == "user":
        if reach == "store":
            raise AccessDeniedError("this needs an administrator's key; a user's key reaches one user's memory")
        if told is not None and told != key.user_id:
            raise AccessDeniedError(f"the key belongs to another user than header {USER_HEADER} names")
        user = key.user_id
    elif reach == "store":
        if key.kind != "admin":
            raise AccessDeniedError("this needs an administrator's key; an app's key reaches users' memories")
        # An administrator may name the user of a store's operation anywhere: the key reaches all of them.
        return told if told is not None else (None if named is None else str(named))
    else:
        user = told
    if user is None:
        if named is not None:
            raise AccessDeniedError(f"the body cannot choose the user: name it in header {USER_HEADER}")
        if reach == "user_or_all" and key.kind == "admin":
            return None
        raise AccessDeniedError(f"no user: name it in header {USER_HEADER}")
    if named is not None and str(named) != user:
        raise AccessDeniedError("the request names another user than its key or its header")
    return user


__all__ = ["USER_HEADER", "header_user", "user_of"]
