"""How a task is done: steps and what came of them, one fact per task, found by the task it is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ltm_core.errors import InvalidInputError
from ltm_core.text.normalize import clean, fold
from ltm_core.types import FactChange, Importance, Scope
from ltm_core.write.incoming.index import PROCEDURE, TASK
from ltm_core.write.incoming.redact import redact, redact_value
from ltm_core.write.plan import Candidate
from ltm_core.write.tell import told

if TYPE_CHECKING:
    from ltm_core.runtime import Runtime

MOST_STEPS = 100
"""Steps of one procedure; a longer one is several."""
MOST_CHARACTERS = 8000
"""Of a procedure as one text: about what a context has room for beside other things."""


def remember_procedure(
    runtime: Runtime,
    scope: Scope,
    task: str,
    steps: Sequence[str],
    *,
    outcome: str | None,
    importance: Importance | None,
    at: datetime | None,
    metadata: Mapping[str, Any],
    actor: str | None,
) -> FactChange:
    """The task is done like this from now on; an earlier procedure of the task, of the same agent, is closed."""
    task, outcome = _line(task, "task"), None if outcome is None else _line(outcome, "outcome")
    if isinstance(steps, str) or not 1 <= len(steps) <= MOST_STEPS:
        raise InvalidInputError(f"steps must be a list of 1 to {MOST_STEPS} texts")
    steps = [_line(s, "each step") for s in steps]
    if runtime.config.redact_pii:
        task, steps = redact(task)[0], [redact(s)[0] for s in steps]
        outcome, metadata = outcome and redact(outcome)[0], redact_value(metadata)
    numbered = " ".join(f"({n}) {step}" for n, step in enumerate(steps, 1))
    text = f"{task}: {numbered}" + (f" → {outcome}" if outcome else "")
    if len(text) > MOST_CHARACTERS:
        raise InvalidInputError(f"the procedure has {len(text)} characters, at most {MOST_CHARACTERS} fit")
    kept: dict[str, Any] = {"task": task, "steps": list(steps)} | ({"outcome": outcome} if outcome else {})
    candidate = Candidate(
        subject=f"{TASK}{task}",
        # An agent's own way stands beside that of others, who may not see it.
        relation=PROCEDURE if scope.agent_id is None else f"{PROCEDURE}:{scope.agent_id}",
        object=numbered + (f" → {outcome}" if outcome else ""),
        object_normalized=fold(text),
        text=text,
        kind="procedure",
        is_about_user=False,
        asserted_by="app",
        importance=importance or "medium",
        single_valued=True,
        valid_from=at or runtime.now(),
        rule="app/procedure",
    )
    changes = told(
        runtime,
        scope,
        [candidate],
        metadata={**metadata, PROCEDURE: kept},
        actor=actor,
        action="remember_procedure",
        also=[task],
    )
    return changes[0]


def _line(value: object, what: str) -> str:
    if not isinstance(value, str) or not (text := " ".join(clean(value).split())):
        raise InvalidInputError(f"{what} must be non-blank text")
    return text


__all__ = ["remember_procedure"]
