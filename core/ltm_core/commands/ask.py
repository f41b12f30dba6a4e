"""``ltm recall`` and ``ltm context``: what is found, and what would go into the prompt."""

from __future__ import annotations

from typing import Annotated

import typer

from ltm_core.commands.base import Options, command
from ltm_core.commands.show import console, counted, note, print_json, say, table
from ltm_core.types import ContextItem

Question = Annotated[str, typer.Argument(metavar="QUERY", help="The question, in any language.")]


@command
def recall(
    options: Options,
    query: Question,
    top_k: Annotated[int, typer.Option("--top-k", min=1, max=1000, help="How many memories.")] = 8,
    since: Annotated[str | None, typer.Option("--since", help='A date, or words such as "last week".')] = None,
    until: Annotated[str | None, typer.Option("--until", help="A date, or words.")] = None,
    min_similarity: Annotated[float | None, typer.Option("--min-similarity", help="Floor on the cosine.")] = None,
    cold: Annotated[bool, typer.Option("--cold", help="Old turns that were moved to files too.")] = False,
) -> None:
    """The memories nearest to QUERY, best first, with what ranked them."""
    with options.open() as memory:
        found = memory.search(
            query,
            user_id=options.user_id(),
            top_k=top_k,
            since=since,
            until=until,
            min_similarity=min_similarity,
            include_cold=cold,
        )
    if options.json:
        print_json({"query": query, "items": found})
    elif found:
        console().print(
            table(
                f"{counted(len(found), 'memory', 'memories')} of {options.user}",
                ("score", "cosine", "when", "tier", "memory", "why"),
                [(i.score, i.similarity, i.at, i.tier, _said(i), "; ".join(i.reasons)) for i in found],
                numbers=("score", "cosine"),
            )
        )
    else:
        say("Nothing found.")


@command
def context(
    options: Options,
    query: Question,
    max_tokens: Annotated[
        int | None, typer.Option("--max-tokens", metavar="N", help="Budget; the configured one when left out.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Every item's reasons, every drop's cause.")] = False,
    at: Annotated[str | None, typer.Option("--at", metavar="WHEN", help="Ask as of another time.")] = None,
) -> None:
    """The text that QUERY would bring into the next prompt, and nothing else, on stdout."""
    with options.open() as memory:
        found = memory.context(
            query, user_id=options.user_id(), session_id=options.session, max_tokens=max_tokens, at=at
        )
    if options.json:
        print_json(found)
        return
    say(found.explain() if explain else found.text)
    note(f"{found.token_count} of {found.max_tokens} tokens, {counted(len(found.items), 'item')}")


def _said(item: ContextItem) -> str:
    who = item.speaker or (item.role if item.tier == "episodic" else None)
    return f"{who}: {item.text}" if who else item.text
