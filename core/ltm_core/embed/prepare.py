"""Make any text safe and short enough for a model."""

from __future__ import annotations

import re
import unicodedata

from ltm_core.errors import InvalidInputError

# Controls other than tab and line breaks, and lone surrogates: no model has a use for them, and
# encoders to UTF-8 or C strings fail on them.
_UNUSABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_INVISIBLE = frozenset(("Cf", "Mn", "Zs", "Zl", "Zp", "Cc"))


def clean(text: str) -> str:
    """The text with control characters and lone surrogates replaced by spaces, stripped.

    "" when nothing visible is left (only spaces, zero-width marks and the like).
    Raises InvalidInputError for anything but a ``str``.
    """
    if not isinstance(text, str):
        raise InvalidInputError(f"text to embed must be str, not {type(text).__name__}")
    cleaned = _UNUSABLE.sub(" ", text).strip()
    if all(unicodedata.category(char) in _INVISIBLE for char in cleaned):
        return ""
    return cleaned


def _cost(char: str) -> int:
    """Quarters of a token that a character is taken to need."""
    point = ord(char)
    if point < 0x80:
        return 1
    return 2 if point < 0x590 else 4


def _reach(text: str, quarters: int, *, from_end: bool = False) -> int:
    """How many characters, counted from one end, fit into so many quarters of a token."""
    taken = 0
    for char in reversed(text) if from_end else text:
        quarters -= _cost(char)
        if quarters < 0:
            break
        taken += 1
    return taken


def shorten(text: str, max_tokens: int, *, keep_end: bool = False) -> str:
    """The text, cut so that about ``max_tokens`` tokens remain.

    Counted without a tokenizer: four ASCII characters, two of the other European scripts or one of
    anything else make a token. With ``keep_end`` the first and the last half are kept and the middle
    goes (the question often follows what was pasted); otherwise the beginning is kept.
    """
    if len(text) <= max_tokens:
        return text
    quarters = 4 * max_tokens
    whole = _reach(text, quarters)
    if whole == len(text):
        return text
    if not keep_end:
        return text[:whole]
    head = _reach(text, quarters // 2)
    tail = _reach(text, quarters // 2, from_end=True)
    return f"{text[:head]} {text[len(text) - tail :]}"
