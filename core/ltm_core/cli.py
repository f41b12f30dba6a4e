"""``ltm``: the memory from the command line.

Exit codes: 0 done; 1 some lines failed, or an erasure is pending; 2 wrong use or refused input; 3 the store could
not do it; 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from ltm_core.commands import (
    ask,
    calibrate,
    chat,
    copying,
    demo,
    evaluate,
    facts,
    follow,
    forget,
    keys,
    portability,
    reembed,
    replay,
    serve,
    settings,
    timeline,
    upkeep,
)
from ltm_core.commands.show import speak_utf8

_EPILOG = (
    "Exit codes: 0 done; 1 some lines failed, or an erasure is pending; 2 wrong use or refused input; "
    "3 the store could not do it."
)

app = typer.Typer(
    name="ltm",
    help="Long-term memory for chats, in Chinese and English, offline.",
    epilog=_EPILOG,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(demo.demo)
app.command()(replay.replay)
app.command()(ask.recall)
app.command()(ask.context)
app.command()(facts.facts)
app.command()(facts.history)
app.command()(timeline.timeline)
app.command()(follow.changes)
app.command()(follow.related)
app.command()(forget.forget)
app.command()(calibrate.calibrate)
app.command("eval")(evaluate.evaluate)
app.command()(upkeep.stats)
app.command()(upkeep.maintain)
app.command()(upkeep.retention)
app.command("restore-archive")(upkeep.restore_archive)
app.command()(upkeep.doctor)
app.command()(portability.export)
app.command("import")(portability.import_)
app.command()(portability.backup)
app.command()(portability.restore)
app.command()(portability.audit)
app.command()(reembed.reembed)
app.command()(copying.copy)
app.command()(keys.encrypt)
app.command()(keys.rekey)
app.command()(upkeep.work)
app.command()(upkeep.deadletter)
app.command()(chat.chat)
app.command()(settings.config)
app.command()(serve.serve)
app.command()(serve.mcp)
app.add_typer(serve.keys, name="keys")


def _version(wanted: bool) -> None:
    if wanted:
        from ltm_core import __version__

        typer.echo(f"ltm-core {__version__}")
        raise typer.Exit


@app.callback()
def _start(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Long-term memory for chats, in Chinese and English, offline."""


def main() -> None:
    """The console script: UTF-8 in and out, whatever the locale says."""
    # Before NumPy is loaded: on a busy machine its threads spin for each other, and one turn takes ten times as
    # long. The matrices of one turn are too small to be worth a second thread.
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    speak_utf8()
    app(args=[_utf8(a) for a in sys.argv[1:]], prog_name="ltm")


def _utf8(argument: str) -> str:
    """An argument that an ASCII locale could not decode, as the UTF-8 that was typed."""
    return os.fsencode(argument).decode("utf-8", "surrogateescape")


if __name__ == "__main__":
    main()
