"""``ltm eval``: how much of what conversations say is known afterwards, per kind and language."""

from __future__ import annotations

import dataclasses
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ltm_core.commands.base import BAD_INPUT, INCOMPLETE, guarded
from ltm_core.commands.show import console, print_json, say, table
from ltm_core.errors import InvalidInputError

if TYPE_CHECKING:
    from ltm_core.stories import Score

_COLUMNS = (
    "language", "kind", "stories", "fact recall", "fact precision", "ended wrongly", "anchor recall",
    "anchor precision", "crashes",
)  # fmt: skip


def evaluate(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="Stories, one JSON object a line; a small set when left out."),
    ] = None,
    embedder: Annotated[
        str | None, typer.Option("--embedder", metavar="NAME", envvar="LTM_EMBEDDER", help="Another embedder.")
    ] = None,
    failures: Annotated[bool, typer.Option("--failures", help="Also list what failed.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only 20 facts and a question about each; code 1 under 18 found.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON document instead of a table.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Tell labelled conversations to an empty memory and print precision and recall per kind and language.

    Writes nothing outside a temporary directory.
    """
    if quick:
        guarded(lambda: _quick(file, embedder, failures=failures, as_json=json), debug=debug)
        return
    guarded(lambda: _evaluate(file, embedder, failures=failures, as_json=json), debug=debug)


def _quick(file: Path | None, embedder: str | None, *, failures: bool, as_json: bool) -> None:
    from ltm_core.embed.resolve import resolve_embedder
    from ltm_core.quick import ENOUGH, ask, pairs

    if file is not None:
        raise InvalidInputError("--quick has its own 20 facts; give a file or --quick, not both")
    answers = list(ask(pairs(), embedder=resolve_embedder(embedder)))
    found = sum(a.found for a in answers)
    if as_json:
        print_json({
            "found": found,
            "asked": len(answers),
            "enough": ENOUGH,
            "answers": [{**dataclasses.asdict(a.pair), "found": a.found, "context": a.context} for a in answers],
        })  # fmt: skip
    else:
        rows = [("found" if a.found else "NOT FOUND", a.pair.question, ", ".join(a.pair.words)) for a in answers]
        console().print(table("Facts and questions", ("", "question", "answer"), rows))
        say(f"{found} of {len(answers)} found; {ENOUGH} are enough")
        for a in answers:
            if failures and not a.found:
                say(f"\n{a.pair.id}: {a.pair.question}\n{a.context}")
    if found < ENOUGH:
        raise typer.Exit(INCOMPLETE)


def _evaluate(file: Path | None, embedder: str | None, *, failures: bool, as_json: bool) -> None:
    from ltm_core.embed.resolve import resolve_embedder
    from ltm_core.stories import Score, load, macro, score_all

    if file is not None and not file.is_file():
        raise InvalidInputError(f"{file} is no file of stories")
    if file is None:
        with as_file(files("ltm_core").joinpath("stories.jsonl")) as path:
            stories = list(load(path))
    else:
        stories = list(load(file))
    scores = score_all(stories, embedder=resolve_embedder(embedder))
    languages = sorted({language for language, _ in scores})
    if as_json:
        print_json({
            "kinds": [
                {"language": language, "kind": kind, **dataclasses.asdict(s)}
                for (language, kind), s in sorted(scores.items())
            ],
            "languages": {language: macro(scores, language) for language in languages},
        })  # fmt: skip
        return
    rows = [(language, kind, *_row(s)) for (language, kind), s in sorted(scores.items())]
    for language in languages:
        total = Score()
        for (other, _), s in scores.items():
            if other == language:
                total.add(s)
        rows.append((language, "all", *_row(total)))
    console().print(table("Precision and recall", _COLUMNS, rows, numbers=_COLUMNS[2:]))
    for language in languages:
        m = macro(scores, language)
        say(
            f"{language}: mean over kinds: facts {m['recall']:.3f}, anchors {m['anchor_recall']:.3f} recall "
            f"{m['anchor_precision']:.3f} precision; shown although no longer true {m['stale']:.3f}"
        )
    if failures:
        for _, s in sorted(scores.items()):
            for line in s.failures:
                say(line)
    if any(s.crashes for s in scores.values()):
        raise typer.Exit(BAD_INPUT)


def _row(s: Score) -> tuple[str, ...]:
    return (
        str(s.stories),
        f"{s.recall:.2f}" if s.wanted else "",
        f"{s.precision:.2f}" if s.current or s.stale else "",
        str(s.ended),
        f"{s.anchor_recall:.2f}" if s.anchors else "",
        f"{s.anchor_precision:.2f}" if s.judged else "",
        str(s.crashes),
    )
