"""Users as labels of a namespace. LangGraph allows no ``.`` in a label, so ids such as ana@example.org are written
with ``%2E``; the writing has one form, so that no two ids share a label and no label names two users."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from ltm_core.errors import InvalidScopeError
from ltm_core.scoping import LONGEST_ID, identifier

_RESERVED = ("langgraph", "*")
"""LangGraph's own root, and its wildcard."""


def namespace_label(user_id: str | int) -> str:
    """The label that stands for the user in a namespace: the id itself, with ``%`` and ``.`` written as ``%25`` and
    ``%2E``."""
    id = identifier(user_id, "user_id", limit=LONGEST_ID)
    label = id.replace("%", "%25").replace(".", "%2E")
    return f"%{ord(label[0]):02X}{label[1:]}" if label in _RESERVED else label


def user_of(label: Any, position: int) -> str:
    """The user whom the label names; InvalidScopeError for one that `namespace_label` never gives."""
    user = unquote(label) if isinstance(label, str) else ""
    try:
        known = namespace_label(user) == label
    except InvalidScopeError:
        known = False
    if not known:
        raise InvalidScopeError(
            f"the label at position {position} of the namespace names no user: make it with "
            "langchain_ltm.namespace_label(user_id)"
        )
    return user
