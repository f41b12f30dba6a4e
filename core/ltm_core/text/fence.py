"""Our own memory block inside somebody's text: what was recalled must not be learnt again."""

from __future__ import annotations

import re
import secrets

_LETTERS = "abcdefghijklmnop"
_LENGTH = 8
_BLOCK = re.compile(r"<memory ([0-9a-p]{8})>.*?</memory \1>\n*", re.DOTALL)


def new_mark() -> str:
    """A random mark of 8 letters (32 bits). No digits: a mark never reads like a number somebody told."""
    return "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))


def without_memory(text: str) -> str:
    """The text without the blocks that recall renders; unchanged when it holds none."""
    if "<memory " not in text:
        return text
    return _BLOCK.sub("", text).strip("\n")


def is_memory(text: str) -> bool:
    """Whether the text is such a block and nothing else."""
    return "<memory " in text and bool(text.strip()) and not without_memory(text).strip()


__all__ = ["is_memory", "new_mark", "without_memory"]
