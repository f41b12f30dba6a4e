"""``ltm export``, ``ltm import``, ``ltm backup``, ``ltm restore`` and ``ltm audit``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from ltm_core.commands.base import INCOMPLETE, Options, command
from ltm_core.commands.show import console, counted, note, print_json, say, table
from ltm_core.errors import ConflictError, InvalidInputError, UnavailableError

Actor = Annotated[str | None, typer.Option("--actor", metavar="NAME", help="Who does it, for the audit log.")]
Reason = Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why, for the audit log.")]


@command
def export(
    options: Options,
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="A new file; stdout when left out.")] = None,
    actor: Actor = None,
    reason: Reason = None,
) -> None:
    """All of one user as JSON lines (UTF-8)."""
    with options.open() as memory:
        lines = memory.export_user(options.user_id(), actor=actor, reason=reason)
        if file is None:
            for line in lines:
                sys.stdout.write(line)
            return
        draft = file.with_name(f".{file.name}.{os.getpid()}")
        count = 0
        try:
            fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(fd, "w", encoding="utf-8", newline="\n") as out:
                for line in lines:
                    out.write(line)
                    count += 1
            # A link appears whole and never replaces what is there.
            os.link(draft, file)
        except FileExistsError:
            raise ConflictError(f"{file} exists already; name a new file") from None
        except OSError as e:
            raise UnavailableError(f"{file} cannot be written: {e.strerror}") from e
        finally:
            draft.unlink(missing_ok=True)
    note(f"{counted(count, 'line')} in {file}.")


@command
def import_(
    options: Options,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An export; - for stdin.")],
    trust: Annotated[
        bool, typer.Option("--trust", help="Take what only the application may say too: the file is our own.")
    ] = False,
    after_erasure: Annotated[
        str,
        typer.Option("--after-erasure", metavar="refuse|allow", help="What was erased: refuse it, or take it back."),
    ] = "refuse",
    actor: Actor = None,
    reason: Reason = None,
) -> None:
    """Take an export in, for the user named with --user; what is known stays as it is."""
    user = options.user_id()
    if after_erasure not in ("refuse", "allow"):
        raise InvalidInputError("--after-erasure is refuse or allow")
    try:
        source = sys.stdin.buffer if str(file) == "-" else file.open("rb")
    except OSError as e:
        raise InvalidInputError(f"{file} cannot be read: {e.strerror}") from e
    with source, options.open(create=True) as memory:
        done = memory.import_user(
            source,
            user_id=user,
            after_erasure="allow" if after_erasure == "allow" else "refuse",
            trust=trust,
            actor=actor,
            reason=reason,
        )
    if options.json:
        print_json(done)
    else:
        kinds = dict.fromkeys((*done.imported, *done.known))
        rows = [(k, done.imported.get(k, 0), done.known.get(k, 0)) for k in kinds]
        console().print(table(f"Imported for {user}", ("what", "new", "known"), rows, numbers=("new", "known")))
        if done.refused:
            reasons = sorted(done.refused.items(), key=lambda r: -r[1])
            console().print(table("Refused", ("lines", "why"), [(n, why) for why, n in reasons], numbers=("lines",)))
            say("First: " + ", ".join(f"line {r.line} ({r.kind})" for r in done.lines[:10]))
        if not done.complete:
            note("The file has no end: it was cut off. Import it again when it is whole.")
    if done.refused or not done.complete:
        raise typer.Exit(INCOMPLETE)


@command
def backup(
    options: Options,
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A new directory.")],
    actor: Actor = None,
    reason: Reason = None,
) -> None:
    """Copy the whole store while it is in use."""
    with options.open() as memory:
        done = memory.backup(directory, actor=actor, reason=reason)
    if options.json:
        print_json(done)
    else:
        say(f"{done.bytes} bytes in {done.path}, {done.seconds:.1f} s. Keep the files beside it.")
        if done.cold_files:
            say(f"{done.cold_files} files of old turns are in it.")
        if done.cold_files_left:
            note(f"{done.cold_files_left} files of old turns are not in it: copy archive_url too, or run ltm doctor.")


@command
def restore(
    options: Options,
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A backup.")],
    erasures: Annotated[
        str | None,
        typer.Option("--erasures", metavar="FILE", help="The list of erasures, or none, when the store is lost."),
    ] = None,
    key_file: Annotated[
        Path | None,
        typer.Option("--key-file", metavar="FILE", help="The keys of encrypted backups, when not beside them."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Replace the store that is there.")] = False,
    actor: Actor = None,
    reason: Reason = None,
) -> None:
    """Put a backup in the place of the store; what was erased since stays erased."""
    from ltm_core.config import Config
    from ltm_core.memory import LongTermMemory

    if not options.store.is_url and options.store.holds_store() and not yes:
        raise InvalidInputError(f"{options.store} holds a store; add --yes to put the backup in its place")
    done = LongTermMemory.restore_backup(
        directory,
        options.store.text,
        erasures=erasures,
        key_file=key_file,
        config=Config.load(options.config),
        actor=actor,
        reason=reason,
    )
    if options.json:
        print_json(done)
        return
    users = counted(done.users, "user")
    say(f"{users} in {done.location}, {done.seconds:.1f} s; later erasures from: {done.erasures_from}.")
    if done.counts:
        rows = list(done.counts.items())
        console().print(table("Erased again", ("what", "rows"), rows, numbers=("rows",)))


@command
def audit(
    options: Options,
    since: Annotated[str | None, typer.Option("--since", metavar="CURSOR", help="What came after it.")] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="Most rows.")] = 100,
) -> None:
    """Who did what, and why: of one user with --user, else of all."""
    with options.open() as memory:
        page = memory.audit(options.user, since=since, limit=limit)
    if options.json:
        print_json(list(page.items))
        return
    rows = [
        (
            e.cursor,
            e.at,
            e.action,
            e.actor or "",
            e.user_id or e.user_id_hmac[:12],
            "; ".join(p for p in (", ".join(f"{k} {n}" for k, n in e.counts.items()), e.reason) if p),
        )
        for e in page.items
    ]
    # Ids and whole hashes are in --json: a terminal of 80 columns shows the rest.
    columns = ("cursor", "when", "action", "actor", "user", "what")
    console().print(table("Audit", columns, rows))
    if page.next_cursor is not None:
        note(f"More: --since {page.next_cursor}")
