"""What a person sees, and what a program reads. Stored text is data: no markup, no control characters."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ltm_core.text.normalize import printable
from ltm_core.types import Fact, Page

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

PIPED_WIDTH = 160
"""Columns of a table that no terminal shows: wide enough for ids beside text."""
Justify = Literal["left", "right"]
_WHOLE = ("id", "when", "since", "until", "state", "action")
"""Columns whose cells are short and read as one word."""


def console(*, stderr: bool = False) -> Console:
    """A console on the stdout (or stderr) of this moment. Colours only on a terminal."""
    from rich.console import Console

    made = Console(stderr=stderr, markup=False, emoji=False, highlight=False)
    if not made.is_terminal and "COLUMNS" not in made._environ:
        made.width = PIPED_WIDTH
    return made


def speak_utf8() -> None:
    """stdout and stderr take any character, whatever the locale says."""
    for stream in (sys.stdout, sys.stderr):
        if (change := getattr(stream, "reconfigure", None)) is not None:
            change(encoding="utf-8", errors="backslashreplace")


def say(text: str = "", *, style: str | None = None) -> None:
    """One line on stdout."""
    console().print(printable(text), style=style, soft_wrap=True)


def complain(text: str, *, kind: str = "error") -> None:
    """One line on stderr."""
    line = " ".join(printable(text).split())
    console(stderr=True).print(f"ltm: {kind}: {line}", style="red" if kind == "error" else "yellow", soft_wrap=True)


def counted(number: int, one: str, many: str | None = None) -> str:
    """The number with its noun; ``many`` where an s at the end does not make it several."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def note(text: str) -> None:
    """A remark for the person, on stderr, so that stdout holds only the result."""
    console(stderr=True).print(printable(text), style="dim", soft_wrap=True)


def as_json(value: Any) -> str:
    """``value`` as one JSON document with readable characters; times in ISO 8601, UTC."""
    return json.dumps(plain(value), ensure_ascii=False, indent=2, allow_nan=False)


def plain(value: Any) -> Any:
    """``value`` in JSON's types: dataclasses by field, pages as the list of all their items."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | Page):
        return [plain(v) for v in value]
    return str(value) if isinstance(value, Path) else value


def print_json(value: Any) -> None:
    """`as_json` on stdout."""
    import typer

    typer.echo(as_json(value))


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], *, numbers: Sequence[str] = ()) -> Table:
    """A table whose cells are stored text; the columns named in ``numbers`` are set to the right."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    made = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, title_style="bold")
    for name in columns:
        justify: Justify = "right" if name in numbers else "left"
        made.add_column(name, justify=justify, overflow="fold", no_wrap=name in _WHOLE)
    for row in rows:
        made.add_row(*(Text(cell(v)) for v in row))
    return made


def cell(value: Any) -> str:
    """One value as it is shown."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return day(value)
    if isinstance(value, float):
        return f"{value:.2f}"
    return printable(str(value))


def day(moment: datetime) -> str:
    """The date in UTC; the minute too unless it is midnight."""
    moment = moment.astimezone(UTC)
    return f"{moment:%Y-%m-%d}" if (moment.hour, moment.minute) == (0, 0) else f"{moment:%Y-%m-%d %H:%M}"


def state(fact: Fact, *, now: datetime) -> str:
    """Why a fact is current or not, in one word."""
    if fact.is_current:
        return "current"
    if fact.retracted_at is not None:
        return "retracted"
    if fact.suppressed_at is not None:
        return "suppressed"
    if fact.superseded_by is not None:
        return "replaced"
    if fact.expires_at is not None and fact.expires_at <= now:
        return "expired"
    if fact.valid_from > now:
        return "not yet"
    return "ended"
