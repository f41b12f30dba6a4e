"""``ltm facts`` and ``ltm history``: what is true, what was, and why it changed."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from ltm_core.commands.base import Options, command
from ltm_core.commands.show import console, counted, print_json, say, state, table
from ltm_core.errors import ConflictError, InvalidInputError, NotFoundError

if TYPE_CHECKING:
    from ltm_core.memory import LongTermMemory

_WHOLE_ID = 36
_SHORTEST_ENDING = 6
_SHOWN_ENDING = 8


@command
def facts(
    options: Options,
    all: Annotated[bool, typer.Option("--all", help="Also what was replaced, ended, retracted.")] = False,
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="WHEN", help="What was true then (ISO date or time).")
    ] = None,
    subject: Annotated[str | None, typer.Option("--subject", help="user, assistant, sister, …")] = None,
    relation: Annotated[str | None, typer.Option("--relation", help="lives_in, likes, …")] = None,
) -> None:
    """What is known of the user, oldest first."""
    with options.open() as memory:
        found = list(
            memory.facts(
                user_id=options.user_id(),
                include_superseded=all,
                as_of=as_of,
                subject=subject,
                relation=relation,
                limit=1000,
            )
        )
    if options.json:
        print_json({"facts": found})
        return
    if not found:
        say("No facts.")
        return
    now = datetime.now(UTC)
    rows = [
        (
            short_id(f.id),
            f.subject,
            f.relation,
            _value(f.object, f.is_positive),
            f.kind,
            f.valid_from,
            state(f, now=now),
        )
        for f in found
    ]
    columns = ("id", "about", "relation", "value", "kind", "since", "state")
    console().print(table(f"{counted(len(found), 'fact')} of {options.user}", columns, rows))


@command
def history(
    options: Options,
    fact_id: Annotated[str, typer.Argument(metavar="FACT_ID", help="The id, or its last characters.")],
) -> None:
    """Every version of one fact, oldest first, with the reason of each change."""
    user = options.user_id()
    with options.open() as memory:
        versions = list(memory.history(whole_id(memory, user, fact_id), user_id=user))
        reasons = why(memory, user, {f.id for f in versions})
    if options.json:
        print_json({"versions": versions, "reasons": reasons})
        return
    now = datetime.now(UTC)
    rows = [
        (short_id(f.id), f.valid_from, f.valid_to, f.text, state(f, now=now), "; ".join(reasons.get(f.id, ())))
        for f in versions
    ]
    columns = ("id", "since", "until", "statement", "state", "why")
    console().print(table(counted(len(versions), "version"), columns, rows))


def why(memory: LongTermMemory, user_id: str, ids: set[str]) -> dict[str, list[str]]:
    """What was decided about each of these facts, in order: the feed's own words."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for change in memory.changes(user_id=user_id, limit=1000):
        if change.fact.id in ids:
            reasons[change.fact.id].append(f"{change.op}: {change.reason}" if change.reason else change.op)
        if change.op == "supersede" and change.previous is not None and change.previous.id in ids:
            reasons[change.previous.id].append(f"replaced by {change.fact.object}: {change.reason}")
    return dict(reasons)


def short_id(fact_id: str) -> str:
    """The end of an id: enough to name the fact to every command."""
    return fact_id[-_SHOWN_ENDING:]


def whole_id(memory: LongTermMemory, user_id: str, given: str) -> str:
    """The id that ``given`` is, or the only one that ends with it."""
    if len(given) >= _WHOLE_ID:
        return given
    if len(given) < _SHORTEST_ENDING:
        raise InvalidInputError(f"give the whole fact id, or at least its last {_SHORTEST_ENDING} characters")
    ids = [f.id for f in memory.facts(user_id=user_id, include_superseded=True, limit=1000) if f.id.endswith(given)]
    if not ids:
        raise NotFoundError(f"no fact ends with {given!r} for this user")
    if len(ids) > 1:
        raise ConflictError(f"{len(ids)} facts end with {given!r}: {', '.join(ids)}", ids)
    return ids[0]


def _value(value: str, is_positive: bool) -> str:
    return value if is_positive else f"not {value}"
