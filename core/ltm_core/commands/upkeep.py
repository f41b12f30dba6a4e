"""``ltm stats`` and ``ltm maintain``: the store as a whole, never its content."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

import typer

from ltm_core.commands.base import Options, command
from ltm_core.commands.show import cell, console, print_json, table


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


def _show(title: str, value: Any, *, as_json: bool) -> None:
    if as_json:
        print_json(value)
        return
    rows = [(f.name.replace("_", " "), cell(getattr(value, f.name))) for f in dataclasses.fields(value)]
    console().print(table(title, ("what", "value"), rows, numbers=("value",)))
