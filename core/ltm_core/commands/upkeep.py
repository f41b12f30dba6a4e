"""``ltm stats`` and ``ltm maintain``: the store as a whole, never its content."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

import typer

from ltm_core.commands.base import INCOMPLETE, Options, command
from ltm_core.commands.show import cell, console, counted, note, plain, print_json, say, table
from ltm_core.errors import ConfigError, InvalidInputError

_SHOWN = 20
"""Decisions that a table lists."""
ExtractorOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--extractor", metavar="NAME", envvar="LTM_EXTRACTOR", help="openai:URL#MODEL; the key is OPENAI_API_KEY."
    ),
]


@command
def stats(options: Options) -> None:
    """Counts and sizes of the store."""
    with options.open() as memory:
        found = memory.stats()
    _show(f"Store {options.store}", found, as_json=options.json)


@command
def maintain(
    options: Options,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Change nothing, show what would be done and why.")
    ] = False,
    extractor: ExtractorOption = None,
    summarizer: Annotated[
        str | None,
        typer.Option("--summarizer", metavar="NAME", envvar="LTM_SUMMARIZER", help="openai:URL#MODEL, as above."),
    ] = None,
) -> None:
    """Close idle sessions, drop what expired, promote archived types, summarise, forget by policy, finish work.

    With an extractor, turns that wait for it are read too. Days are summarised when the settings say after how
    many days; with a summarizer in its words, as far as the turns hold them.
    """
    with options.open(extractor=extractor, summarizer=summarizer) as memory:
        report = memory.maintain(dry_run=dry_run)
    _show("Would be done" if dry_run else "Done", report, as_json=options.json)
    if report.decisions and not options.json:
        rows = [(d.user_id, d.kind, d.id, d.reason, f"{d.value:.3f}") for d in report.decisions[:_SHOWN]]
        title = f"{'Would be forgotten' if dry_run else 'Forgotten'}: {counts(report.forgotten)}"
        console().print(table(title, ("user", "kind", "id", "why", "value"), rows, numbers=("value",)))
        if sum(report.forgotten.values()) > len(rows):
            say(f"The first {len(rows)} of {sum(report.forgotten.values())}; --json names 1000.")


@command
def retention(
    options: Options,
    name: Annotated[
        str | None, typer.Argument(metavar="[CLASS]", help="ordinary, deep, or one of the settings.")
    ] = None,
) -> None:
    """How long a user is remembered: show the class, or set it."""
    with options.open() as memory:
        if name is not None:
            memory.set_retention(options.user_id(), name)
        held = memory.profile(options.user_id()).retention
        chosen = memory.config.retention_class(held)
    found = {"user": options.user_id(), "retention": held, **chosen.model_dump()}
    if options.json:
        print_json(found)
        return
    fades = f"fades with a half-life of {chosen.half_life_days:g} days" if chosen.half_life_days else "does not fade"
    bound = f"at most {chosen.capacity} memories" if chosen.capacity else "no bound on memories"
    say(f"{found['user']}: {held}; {fades}, {bound}, where forgetting is on.")


@command
def restore_archive(
    options: Options,
    since: Annotated[str | None, typer.Option("--since", help='A date, or words such as "last year".')] = None,
    until: Annotated[str | None, typer.Option("--until", help="A date, or words.")] = None,
    actor: Annotated[
        str | None, typer.Option("--actor", metavar="NAME", help="Who does it, for the audit log.")
    ] = None,
) -> None:
    """Bring a user's old turns back from files into the store, all or those of a time."""
    with options.open() as memory:
        count = memory.restore_archive(options.user_id(), since=since, until=until, actor=actor)
        days = memory.config.cold_after_days
    if options.json:
        print_json({"user": options.user, "restored": count})
        return
    say(f"Again in the store: {counted(count, 'turn')} of {options.user}.")
    if count and days:
        note(f"They move again when they were not recalled for {days:g} days (cold_after_days).")


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
        console().print(table(counted(len(rows), "problem"), columns, rows, numbers=("count",)))
    else:
        users, mended = counted(report.users, "user"), counted(report.repaired, "problem")
        say(f"Healthy: {users}, {mended} mended, {report.seconds:.1f} s.")
    if report.problems:
        raise typer.Exit(INCOMPLETE)


@command
def work(
    options: Options,
    extractor: ExtractorOption = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Most jobs to run; all when left out.")] = None,
) -> None:
    """Let the extractor read the turns that wait for it, and add what it finds."""
    if extractor is None:
        raise ConfigError("which model reads? name it with --extractor openai:BASE_URL#MODEL (or LTM_EXTRACTOR)")
    with options.open(extractor=extractor) as memory:
        report = memory.work(limit)
    _show("Read", report, as_json=options.json)
    if report.stopped:
        raise typer.Exit(INCOMPLETE)


@command
def deadletter(
    options: Options,
    ids: Annotated[list[int] | None, typer.Argument(metavar="[ID]...", help="Which; all when left out.")] = None,
    retry: Annotated[bool, typer.Option("--retry", help="They are due again.")] = False,
    drop: Annotated[bool, typer.Option("--drop", help="They are given up.")] = False,
) -> None:
    """Jobs that failed too often: list them, or --retry or --drop them."""
    if retry and drop:
        raise InvalidInputError("give one of --retry and --drop")
    if ids and not (retry or drop):
        raise InvalidInputError("numbers need --retry or --drop")
    with options.open() as memory:
        if retry or drop:
            changed = memory.retry_dead_letters(ids or None) if retry else memory.drop_dead_letters(ids or None)
            print_json({"changed": changed}) if options.json else say(
                f"{changed} {'due again' if retry else 'dropped'}."
            )
            return
        found = list(memory.dead_letters(limit=1000))
    if options.json:
        print_json(found)
        return
    rows = [(str(d.id), d.kind, d.user_id or "", str(d.attempts), d.error) for d in found]
    console().print(table("Dead letters", ("id", "kind", "user", "attempts", "error"), rows, numbers=("attempts",)))


def counts(value: Mapping[str, int]) -> str:
    """ "3 add, 1 close"."""
    return ", ".join(f"{n} {name}" for name, n in sorted(value.items())) or "0"


def _cell(value: Any) -> str:
    if isinstance(value, tuple):
        return str(len(value))
    return cell(counts(value) if isinstance(value, Mapping) else value)


def _show(title: str, value: Any, *, as_json: bool) -> None:
    if as_json:
        print_json(value)
        return
    shown = (f for f in dataclasses.fields(value) if f.name != "decisions")
    fields = [(f.name.replace("_", " "), getattr(value, f.name)) for f in shown]
    rows = [(name, _cell(v)) for name, v in fields]
    console().print(table(title, ("what", "value"), rows, numbers=("value",)))
