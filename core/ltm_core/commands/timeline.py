"""``ltm timeline``: how what is known of a user changed over time."""

from __future__ import annotations

from typing import Annotated

import typer

from ltm_core.commands.base import Options, command
from ltm_core.commands.show import print_json, say
from ltm_core.errors import InvalidInputError
from ltm_core.recall.drift import TOLD


@command
def timeline(
    options: Options,
    subject: Annotated[str | None, typer.Option("--subject", help="user, assistant, sister, …")] = None,
    relation: Annotated[str | None, typer.Option("--relation", help="lives_in, likes, …")] = None,
    all: Annotated[bool, typer.Option("--all", help="Also what never changed.")] = False,
    language: Annotated[str, typer.Option("--language", help="en or zh.")] = "en",
    timezone: Annotated[str | None, typer.Option("--timezone", help="The zone of the days; default UTC.")] = None,
) -> None:
    """Values that changed, in order: since when, until when, and what took their place."""
    if language not in TOLD:
        raise InvalidInputError(f"language must be one of {', '.join(TOLD)}, not {language[:20]!r}")
    with options.open() as memory:
        found = list(
            memory.timeline(options.user_id(), subject=subject, relation=relation, changed_only=not all, limit=1000)
        )
    if options.json:
        print_json({"timeline": found})
        return
    if not found:
        say("Nothing changed." if not all else "No facts.")
        return
    for slot in found:
        say(slot.text(language, timezone))


__all__ = ["timeline"]
