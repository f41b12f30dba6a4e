"""The recall debugger: a question in, the candidates with their signals and the packed prompt out."""

from __future__ import annotations

from fastapi import Response

from ltm_core.errors import InvalidInputError
from ltm_core.serve.page.visit import Visit
from ltm_core.types import Context

_TOKENS = 1200
"""What the form begins with: the default of the library."""
_MOST_TOKENS = 100_000
_MOST_DROPPED = 200
"""Rows; more candidates are only counted."""


async def form(visit: Visit) -> Response:
    """The question is asked by a form's POST, so that it stands in no address and no history."""
    return visit.page("recall.html", asked="", session_id="", most=_TOKENS, found=None)


async def recall(visit: Visit) -> Response:
    """What would stand in the next prompt, and why."""
    question = visit.form.get("question", "").strip()
    session_id = visit.form.get("session", "").strip()
    most = _tokens(visit.form.get("tokens", ""))
    if not question:
        raise InvalidInputError("the question is empty; write one")
    app_id = visit.session.key.app_id if visit.session else None

    def look() -> Context:
        return visit.memory.context(
            question, user_id=visit.user_id, session_id=session_id or None, max_tokens=most, app_id=app_id
        )

    found = await visit.run("context", look)
    dropped = found.dropped[:_MOST_DROPPED]
    ids = [d.source_id for d in dropped]
    texts = await visit.run("context", lambda: visit.inside.texts(visit.user_id, ids))
    return visit.page(
        "recall.html",
        asked=question,
        session_id=session_id,
        most=most,
        found=found,
        dropped=dropped,
        more=len(found.dropped) - len(dropped),
        texts=texts,
    )


def _tokens(text: str) -> int:
    if not text.strip():
        return _TOKENS
    if not text.strip().isascii() or not text.strip().isdigit() or int(text[:12]) > _MOST_TOKENS:
        raise InvalidInputError(f"tokens must be a whole number from 0 to {_MOST_TOKENS}")
    return int(text)


__all__ = ["form", "recall"]
