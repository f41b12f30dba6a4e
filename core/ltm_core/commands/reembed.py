"""``ltm reembed``: another embedder for a store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ltm_core.commands.base import Options, command
from ltm_core.commands.progress import bar
from ltm_core.commands.show import console, note, print_json, say, table
from ltm_core.errors import InvalidInputError
from ltm_core.types import ReembedReport


@command
def reembed(
    options: Options,
    to: Annotated[
        str | None, typer.Option("--to", metavar="EMBEDDER", help="The new one, written as for --embedder, or use.")
    ] = None,
    pairs: Annotated[
        Path | None,
        typer.Option(
            "--pairs",
            metavar="FILE.jsonl",
            help='Compare by these: {"user_id": ..., "query": ..., "text": ...} a line.',
        ),
    ] = None,
    prepare: Annotated[bool, typer.Option("--prepare", help="Make and compare the vectors; do not switch.")] = False,
    roll_back: Annotated[bool, typer.Option("--roll-back", help="Search the former vectors again.")] = False,
    finish: Annotated[bool, typer.Option("--finish", help="Drop the vectors that are not searched.")] = False,
) -> None:
    """Make vectors of another embedder beside the present ones, compare both, switch; goes on where it was stopped.

    Without an option: how it stands. --embedder names the present one; with --embedder none nothing is compared.
    """
    rows = None
    if pairs is not None:
        from ltm_core.recall.pairs import json_rows

        try:
            lines = pairs.read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as e:
            raise InvalidInputError(f"{pairs} cannot be read as UTF-8 text: {type(e).__name__}") from None
        # A line that cannot be read is named like one that lacks something.
        rows = [row if isinstance(row, dict) else {} for _, row in json_rows(lines)]
    # Only a change from one embedder to another needs the present one.
    here = options if to is not None else _without_embedder(options)
    with here.open() as memory, bar("Embedding" if to else "Dropping") as progress:
        done = memory.reembed(
            to, roll_back=roll_back, finish=finish, switch=not prepare, pairs=rows, progress=progress
        )
    if done.state == "switched" and done.waiting:
        # What was written between the last look and the switch.
        with _with_embedder(options, to).open() as memory:
            memory.maintain()
    if options.json:
        print_json(done)
    else:
        _show(done)


def _without_embedder(options: Options) -> Options:
    return _with_embedder(options, "none")


def _with_embedder(options: Options, embedder: str | None) -> Options:
    from dataclasses import replace

    return replace(options, embedder=embedder)


def _show(done: ReembedReport) -> None:
    compared = done.comparison
    if compared is not None:
        rows = [
            ("MRR", f"{compared.mrr_before:.3f}", f"{compared.mrr_after:.3f}"),
            ("recall@10", f"{compared.recall_at_10_before:.3f}", f"{compared.recall_at_10_after:.3f}"),
        ]
        title = f"{compared.known} questions whose answer is known"
        console().print(table(title, ("what", "before", "after"), rows, numbers=("before", "after")))
        say(
            f"Of the first ten that both find: {compared.overlap_at_10:.2f} the same, {compared.questions} questions."
        )
    states = {
        "none": "One set of vectors, nothing to do.",
        "ready": f"Beside them those of {done.other}, {done.waiting} missing: --to goes on, --finish drops them.",
        "switched": f"Those of {done.other} are kept: --roll-back searches them again, --finish drops them.",
        "rolled_back": f"Those of {done.other} are kept: --finish drops them.",
        "dropped": "The others are gone.",
    }
    say(f"Searched: {done.embedder or 'no vectors'}. {states[done.state]}")
    if done.state in ("switched", "rolled_back"):
        note("Programs that have the store open must open it again, with this embedder.")
    if done.embedded:
        say(f"{done.embedded} vectors, {done.seconds:.1f} s.")


__all__ = ["reembed"]
