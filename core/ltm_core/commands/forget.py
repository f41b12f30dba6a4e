"""``ltm forget``: one fact, everything that holds some words, a session, or all of a user."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from ltm_core.commands.base import Options, command
from ltm_core.commands.facts import whole_id
from ltm_core.commands.show import complain, console, note, print_json, say, table
from ltm_core.errors import ErasurePendingError, InvalidInputError
from ltm_core.types import ForgetPreview, Receipt


@command
def forget(
    options: Options,
    fact: Annotated[str | None, typer.Option("--fact", metavar="ID", help="One fact, with its sources.")] = None,
    matching: Annotated[
        str | None, typer.Option("--matching", metavar="TEXT", help="Facts and words that hold TEXT.")
    ] = None,
    user_all: Annotated[bool, typer.Option("--user-all", help="Everything of the user.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do it: --matching only lists without this.")] = False,
) -> None:
    """Erase one of: --fact ID, --matching TEXT, --session ID, or --user-all; the receipt tells what went.

    --session and --user-all ask first unless --yes is given.
    """
    user = options.user_id()
    if sum((fact is not None, matching is not None, options.session is not None, user_all)) != 1:
        raise InvalidInputError("give exactly one of --fact, --matching, --session and --user-all")
    with options.open() as memory:
        if fact is not None:
            whole = whole_id(memory, user, fact)
            _erase(lambda: memory.forget(whole, user_id=user), options)
        elif matching is not None:
            found = memory.forget_matching(matching, user_id=user, dry_run=True)
            if yes:
                _erase(lambda: memory.forget_matching(matching, user_id=user, dry_run=False), options)
            elif isinstance(found, ForgetPreview):
                _preview(found, options)
        elif user_all:
            _ask(f"Erase everything of user {user}?", yes=yes)
            _erase(lambda: memory.forget_user(user), options)
        else:
            session = options.session or ""
            _ask(f"Erase session {session} of user {user}?", yes=yes)
            _erase(lambda: memory.forget_session(session, user_id=user), options)


def _ask(question: str, *, yes: bool) -> None:
    """The person said yes; InvalidInputError when there is nobody to ask."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise InvalidInputError("nobody to ask: add --yes to erase")
    typer.confirm(question, abort=True, err=True)


def _erase(call: Callable[[], object], options: Options) -> None:
    try:
        receipt = call()
    except ErasurePendingError as e:
        if isinstance(e.receipt, Receipt):
            _receipt(e.receipt, options)
        raise
    if isinstance(receipt, Receipt):
        _receipt(receipt, options)


def _receipt(receipt: Receipt, options: Options) -> None:
    if options.json:
        print_json(receipt)
        return
    rows = [(name.replace("_", " "), count) for name, count in receipt.counts.items()]
    console().print(table(f"Erased ({receipt.what})", ("what", "rows"), rows, numbers=("rows",)))
    if receipt.bytes_clean:
        say(f"Receipt {receipt.id}: {receipt.files_scanned} files scanned, no byte of it is left.")
    else:
        complain(f"receipt {receipt.id}: hidden; ltm maintain overwrites what is left of it on disk", kind="warning")


def _preview(found: ForgetPreview, options: Options) -> None:
    if options.json:
        print_json(found)
        return
    rows = [(f.id, f.relation, f.text) for f in found.facts] + [(m, "turn", "") for m in found.messages]
    console().print(table("Would be erased", ("id", "what", "statement"), rows))
    note("Nothing was changed. Add --yes to erase.")
