"""``ltm changes`` and ``ltm related``: what becomes of facts, and what is connected with a thing."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import Annotated

import typer

from ltm_core.commands.base import Options, command
from ltm_core.commands.facts import short_id
from ltm_core.commands.show import console, counted, note, plain, print_json, say, table
from ltm_core.types import FactChange


@command
def changes(
    options: Options,
    since: Annotated[
        str | None, typer.Option("--since", metavar="CURSOR", help="Only what came after this place in the feed.")
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="Go on with what comes, one JSON document a line, until Ctrl-C.")
    ] = False,
    every: Annotated[
        float, typer.Option("--every", min=0.05, metavar="SECONDS", help="How often --follow looks.")
    ] = 1.0,
) -> None:
    """What became of facts, of one user or of all, in the order of commits."""
    with options.open() as memory:
        if not follow:
            _show(options, list(memory.changes(user_id=options.user, since=since, limit=1000)))
            return
        cursor = since
        while True:
            for change in memory.changes(user_id=options.user, since=cursor, limit=1000):
                typer.echo(json.dumps(plain(change), ensure_ascii=False, allow_nan=False))
                cursor = change.cursor
            time.sleep(every)


def _show(options: Options, found: Iterable[FactChange]) -> None:
    found = list(found)
    if options.json:
        print_json({"changes": found})
        return
    if not found:
        say("No changes.")
        return
    rows = [(c.cursor, c.at, c.fact.user_id, c.op, short_id(c.fact.id), c.fact.text, c.reason) for c in found]
    columns = ("cursor", "when", "user", "what", "id", "statement", "why")
    console().print(table(counted(len(found), "change"), columns, rows))
    note(f"go on with --since {found[-1].cursor}")


@command
def related(
    options: Options,
    entity: Annotated[str, typer.Argument(metavar="THING", help="user, a person, a number such as ORD-1.")] = "user",
    depth: Annotated[int, typer.Option("--depth", min=1, max=4, help="How many steps away.")] = 2,
    relation: Annotated[str | None, typer.Option("--relation", help="Only facts of this relation.")] = None,
    at: Annotated[str | None, typer.Option("--at", metavar="WHEN", help="As of another time.")] = None,
) -> None:
    """The facts that connect THING with others, nearest first."""
    with options.open() as memory:
        found = list(
            memory.related(entity, user_id=options.user_id(), depth=depth, relation=relation, at=at, limit=1000)
        )
    if options.json:
        print_json({"related": found})
    elif found:
        rows = [
            (r.distance, r.fact.subject, r.fact.relation, r.fact.object, r.fact.valid_from, short_id(r.fact.id))
            for r in found
        ]
        columns = ("steps", "about", "relation", "value", "since", "id")
        console().print(table(f"{counted(len(found), 'fact')} around {entity}", columns, rows, numbers=("steps",)))
    else:
        say("Nothing is connected with it.")
