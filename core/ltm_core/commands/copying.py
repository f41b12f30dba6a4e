"""``ltm copy``: a whole store into another place."""

from __future__ import annotations

from typing import Annotated

import typer

from ltm_core.commands.base import INCOMPLETE, Options, command
from ltm_core.commands.portability import Actor, Reason
from ltm_core.commands.progress import bar
from ltm_core.commands.show import note, print_json, say


@command
def copy(
    options: Options,
    source: Annotated[str, typer.Argument(metavar="FROM", help="Directory or postgresql:// URL of the store.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="A new directory, or the URL of an empty database.")],
    target_archive: Annotated[
        str,
        typer.Option("--target-archive", metavar="URL", help="Its archive_url, when it is to be another one."),
    ] = "",
    actor: Actor = None,
    reason: Reason = None,
) -> None:
    """All of a store into a new place: every user, what was erased, the log; goes on where it was stopped.

    The store may be in use meanwhile: run it again afterwards, and it takes along what changed since. Until all rows
    were compared, the new place cannot be opened.
    """
    from ltm_core.config import Config
    from ltm_core.memory import LongTermMemory

    with bar("Copying, then comparing") as progress:
        done = LongTermMemory.copy(
            source,
            target,
            target_archive=target_archive,
            config=Config.load(options.config),
            progress=progress,
            actor=actor,
            reason=reason,
        )
    if options.json:
        print_json(done)
    else:
        say(
            f"{done.users} users with {done.rows} rows in {done.target}, {done.carried} of them carried now, "
            f"{done.seconds:.1f} s."
        )
        if done.cold_files:
            say(f"{done.cold_files} files of old turns copied.")
        if done.cold_files_left:
            note(f"{done.cold_files_left} files at archive_url belong to both now: use only one store from now on.")
    if done.differences:
        note(f"{len(done.differences)} differ from what was carried: run it again.")
        raise typer.Exit(INCOMPLETE)
    if not options.json:
        say("Every row was read again and is the same.")


__all__ = ["copy"]
