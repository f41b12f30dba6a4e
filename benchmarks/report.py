"""Figures as JSON, for people and for files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def text_of(found: Any) -> str:
    """The figures, a line each, ending with a line's end."""
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def report(found: Any, file: Path | None) -> None:
    """The figures are on standard output, and in the file where there is one."""
    text = text_of(found)
    print(text, end="")
    if file is not None:
        file.write_text(text, encoding="utf-8")


__all__ = ["report", "text_of"]
