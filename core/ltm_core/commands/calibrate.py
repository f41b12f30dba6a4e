"""``ltm calibrate``: the floor on similarity, from labelled pairs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ltm_core.commands.base import Options, command
from ltm_core.commands.show import console, print_json, say, table
from ltm_core.errors import InvalidInputError

if TYPE_CHECKING:
    from ltm_core.locations import Location
    from ltm_core.memory import LongTermMemory
    from ltm_core.types import Calibration


@command
def calibrate(
    options: Options,
    pairs: Annotated[
        Path,
        typer.Argument(
            metavar="PAIRS.jsonl", help='One {"query": ..., "text": ..., "label": 0 or 1} a line ("relevant" too).'
        ),
    ],
    max_false_positives: Annotated[
        float | None,
        typer.Option("--max-false-positives", metavar="SHARE", help="Most of the unrelated pairs that may pass."),
    ] = None,
    min_precision: Annotated[
        float | None, typer.Option("--min-precision", metavar="SHARE", help="Least precision of what passes.")
    ] = None,
    beta: Annotated[
        float | None, typer.Option("--beta", metavar="B", help="Take the best F-beta; below 1 favours precision.")
    ] = None,
    cross: Annotated[bool, typer.Option("--cross", help="A text of another query counts as unrelated.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print and write nothing.")] = False,
) -> None:
    """Precision and recall per threshold; the floor that the rule picks holds for this store and embedder.

    The rule is --max-false-positives 0.001 unless another is named: the lowest threshold at which at most one in a
    thousand unrelated pairs passes.
    """
    from ltm_core.recall.calibration import rule_of
    from ltm_core.recall.floors import calibrate_floor
    from ltm_core.recall.pairs import json_rows

    rule = rule_of(max_false_positives=max_false_positives, min_precision=min_precision, beta=beta)
    try:
        lines = pairs.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as e:
        raise InvalidInputError(f"{pairs} cannot be read as UTF-8 text: {type(e).__name__}") from None
    with _memory(options, dry_run=dry_run) as memory:
        found = calibrate_floor(memory._runtime, json_rows(lines), rule=rule, cross=cross, dry_run=dry_run)
    if options.json:
        print_json(found)
    else:
        _show(found, options.store)


def _memory(options: Options, *, dry_run: bool) -> LongTermMemory:
    """The store; a dry run needs none."""
    from ltm_core.memory import LongTermMemory

    if dry_run and not options.store.holds_store():
        return LongTermMemory.open(":memory:", embedder=options.embedder, timezone="UTC")
    return options.open()


def _show(found: Calibration, store: Location) -> None:
    console().print(
        table(
            f"{found.pairs} pairs, {found.related} related, {found.embedder}: similarity alone",
            ("threshold", "precision", "recall", "F1", "false positives", "passed", ""),
            [
                (
                    f"{r.threshold:.3f}",
                    f"{r.precision:.3f}",
                    f"{r.recall:.3f}",
                    f"{r.f1:.3f}",
                    f"{r.false_positives:.4f}",
                    r.passed,
                    "<- floor" if r.threshold == found.similarity else "",
                )
                for r in found.thresholds
            ],
            numbers=("threshold", "precision", "recall", "F1", "false positives", "passed"),
        )
    )
    say(f"Rule: {found.rule}.")
    say(
        f"Floor: similarity {found.similarity:.3f}; with {found.mixed_coverage:g} of the question's words "
        f"{found.mixed_similarity:.3f}."
    )
    for name, row in (("packaged", found.before), ("this", found.after)):
        if row is not None:
            say(
                f"With words, as recall uses it, the {name} floor has precision {row.precision:.3f}, "
                f"recall {row.recall:.3f}, false positives {row.false_positives:.4f}."
            )
    say(f"Written to {store}." if found.written else "Nothing was written.")
