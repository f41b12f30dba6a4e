"""``ltm stats`` and ``ltm maintain``: the store as a whole, never its content."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

import typer

from ltm_core.commands.base import INCOMPLETE, Options, command
from ltm_core.commands.show import cell, console, plain, print_json, say, table


@command
def stats(options: Options) -> None:
    """Counts and sizes of the store."""
    with options.open() as memory:
        found = memory.stats()
    _show(f"Store {options.store}", found, as_json=options.json)


@command
def maintain(
    options: Options,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change nothing, count what would be done.")] = False,
) -> None:
    """Close idle sessions, drop what expired, promote archived types, finish waiting work."""
    with options.open() as memory:
        report = memory.maintain(dry_run=dry_run)
    _show("Would be done" if dry_run else "Done", report, as_json=options.json)


@command
def doctor(
    options: Options,
    repair: Annotated[bool, typer.Option("--repair", help="Mend what can be made anew from the truth.")] = False,
) -> None:
    """Look for what disagrees inside the store; exit code 1 when something is wrong."""
    with options.open() as memory:
        report = memory.doctor(user_id=options.user, repair=repair)
    if options.json:
        print_json({**plain(report), "healthy": report.healthy})
    elif report.problems:
        rows = [(p.kind, p.user_id, p.count, p.detail) for p in report.problems]
        columns = ("problem", "user", "count", "where")
        console().print(table(f"{len(rows)} problems", columns, rows, numbers=("count",)))
    else:
        say(f"Healthy: {report.users} users, {report.repaired} problems mended, {report.seconds:.1f} s.")
    if report.problems:
        raise typer.Exit(INCOMPLETE)


def _show(title: str, value: Any, *, as_json: bool) -> None:
    if as_json:
        print_json(value)
        return
    rows = [(f.name.replace("_", " "), cell(getattr(value, f.name))) for f in dataclasses.fields(value)]
    console().print(table(title, ("what", "value"), rows, numbers=("value",)))
