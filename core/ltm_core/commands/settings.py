"""``ltm config``: the settings in force and where each comes from."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from ltm_core.commands.base import Options, command
from ltm_core.commands.show import console, print_json, table


@command
def config(
    options: Options,
    markdown: Annotated[bool, typer.Option("--markdown", help="The table of all options, for the docs.")] = False,
) -> None:
    """Every setting with its value and its source: the default, the file, or the environment."""
    from ltm_core.config import Config

    if markdown:
        typer.echo(options_table(), nl=False)
        return
    effective, sources = Config.load(options.config), sources_of(options.config)
    values = effective.model_dump(mode="json")
    rows = [(name, _plain(values[name]), sources.get(name, "default")) for name in Config.model_fields]
    if options.json:
        print_json({name: {"value": values[name], "source": source} for name, _, source in rows})
        return
    console().print(table(f"{len(rows)} settings", ("setting", "value", "from"), rows))


def sources_of(path: Path | None) -> dict[str, str]:
    """Where each setting that is no default comes from; the environment wins over the file."""
    import tomllib

    from ltm_core.config import ENV_PREFIX, Config

    name = path or os.environ.get(f"{ENV_PREFIX}CONFIG")
    found: dict[str, str] = {}
    if name:
        found = dict.fromkeys(tomllib.loads(Path(name).read_text(encoding="utf-8")), str(name))
    for field in Config.model_fields:
        if f"{ENV_PREFIX}{field.upper()}" in os.environ:
            found[field] = f"{ENV_PREFIX}{field.upper()}"
    return found


def options_table() -> str:
    """All settings as a table in Markdown: name, default, and what it is for."""
    from ltm_core.config import Config

    lines = ["| setting | default | what it is for |", "|---|---|---|"]
    for name, field in Config.model_fields.items():
        about = " ".join((field.description or "").split()).replace("|", "\\|")
        lines.append(f"| `{name}` | `{_plain(field.default)}` | {about} |")
    return "\n".join(lines) + "\n"


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value or '""'
    return json.dumps(value, ensure_ascii=False, default=lambda nested: nested.model_dump())


__all__ = ["config", "options_table", "sources_of"]
