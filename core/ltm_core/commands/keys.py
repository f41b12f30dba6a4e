"""``ltm encrypt`` and ``ltm rekey``: the keys of a whole store."""

from __future__ import annotations

from typing import Annotated

import typer

from ltm_core.commands.base import INCOMPLETE, Options, command
from ltm_core.commands.progress import bar
from ltm_core.commands.show import counted, note, print_json, say
from ltm_core.types import EncryptionReport

Key = Annotated[
    str | None,
    typer.Option(
        "--key",
        metavar="env:NAME|file:PATH",
        help="The master key; LTM_MASTER_KEY or LTM_MASTER_KEY_FILE when left out.",
    ),
]


@command
def encrypt(options: Options, key: Key = None) -> None:
    """Seal everything in a store that exists under the master key; goes on where it was stopped."""
    from ltm_core.config import Config
    from ltm_core.memory import LongTermMemory

    with bar("Sealing users") as progress:
        done = LongTermMemory.encrypt(
            options.store.text, key_provider=key, config=Config.load(options.config), progress=progress
        )
    _tell(options, done, f"{counted(done.users, 'user')} sealed under the master key {done.master_key}")


@command
def rekey(
    options: Options,
    to: Annotated[str, typer.Option("--to", metavar="env:NAME|file:PATH", help="The new master key.")],
    key: Key = None,
) -> None:
    """Open the store with another master key from now on; goes on where it was stopped."""
    from ltm_core.config import Config
    from ltm_core.memory import LongTermMemory

    done = LongTermMemory.rekey(options.store.text, to=to, key_provider=key, config=Config.load(options.config))
    _tell(options, done, f"{done.users} keys are now under the master key {done.master_key}")
    for path in done.not_reached:
        note(f"{path} could not be reached and still has the former key: run it again.")
    if done.not_reached:
        raise typer.Exit(INCOMPLETE)


def _tell(options: Options, done: EncryptionReport, text: str) -> None:
    if options.json:
        print_json(done)
    else:
        say(f"{text}, {done.seconds:.1f} s.")


__all__ = ["encrypt", "rekey"]
