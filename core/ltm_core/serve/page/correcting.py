"""Beliefs put right or held back, and the pause; each asks once more before it is done."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

from fastapi import Response

from ltm_core.errors import InvalidInputError
from ltm_core.serve.page.reading import versions_of
from ltm_core.serve.page.visit import Visit
from ltm_core.types import Fact, FactChange

REVISIONS = ("suppress", "unsuppress", "restore")
"""What can be done to a fact without new words."""


async def form(visit: Visit) -> Response:
    """What is believed, and a field for what is right."""
    return visit.page("correct.html", fact=await _fact(visit), right="", step="form", change=None)


async def correct(visit: Visit) -> Response:
    """The two statements side by side; then the change."""
    fact, right = await _fact(visit), visit.form.get("right", "").strip()
    if not right:
        raise InvalidInputError("the correction is empty; write what is right")
    if visit.form.get("confirm") != "yes":
        return visit.page("correct.html", fact=fact, right=right, step="confirm", change=None)
    call = functools.partial(visit.memory.correct, fact_id=fact.id, right=right, user_id=visit.user_id)
    change = await visit.run("correct", call)
    return visit.page("correct.html", fact=fact, right=right, step="done", change=change)


async def revise(visit: Visit) -> Response:
    """The fact is held back, brought up again or restored."""
    fact, what = await _fact(visit), visit.form.get("what", "")
    calls: Mapping[str, Callable[..., FactChange]] = {
        "suppress": visit.memory.suppress,
        "unsuppress": visit.memory.unsuppress,
        "restore": visit.memory.restore,
    }
    if what not in calls:
        raise InvalidInputError(f"what must be one of {', '.join(REVISIONS)}")
    if visit.form.get("confirm") != "yes":
        return visit.page("revise.html", fact=fact, what=what, change=None)
    change = await visit.run(what, functools.partial(calls[what], fact.id, user_id=visit.user_id))
    return visit.page("revise.html", fact=fact, what=what, change=change)


async def pause_form(visit: Visit) -> Response:
    """Whether anything is stored at present, and the way to change that."""
    profile = await visit.run("profile", functools.partial(visit.memory.profile, visit.user_id))
    return visit.page("pause.html", paused=profile.paused, what="", done=False)


async def pause(visit: Visit) -> Response:
    """Nothing is stored until it goes on, or it goes on."""
    what = visit.form.get("what", "")
    calls: Mapping[str, Callable[..., None]] = {"pause": visit.memory.pause, "resume": visit.memory.resume}
    if what not in calls:
        raise InvalidInputError("what must be pause or resume")
    if visit.form.get("confirm") != "yes":
        return visit.page("pause.html", paused=what == "resume", what=what, done=False)
    await visit.run(what, functools.partial(calls[what], visit.user_id))
    return visit.page("pause.html", paused=what == "pause", what="", done=True)


async def _fact(visit: Visit) -> Fact:
    fact_id = visit.request.path_params["fact_id"]
    fact, _ = await visit.run("history", functools.partial(versions_of, visit, fact_id))
    return fact


__all__ = ["REVISIONS", "correct", "form", "pause", "pause_form", "revise"]
