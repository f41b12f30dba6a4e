"""Any host's message content as text. Pictures and files leave a short marker, never their bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_MEDIA = ("image", "audio", "video", "file", "document")
_LONGEST_REFERENCE = 200
"""Characters of a URL worth keeping; longer ones are signed links or inline data."""


def text_of(content: Any) -> str:
    """The words of ``content``: text, None, or a list of parts as chat APIs send them.

    Text parts are joined by newlines. A media part becomes ``[image: https://…]``, or ``[image]`` when it is
    inline data. Reasoning, tool calls and unknown parts leave nothing.
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return _part(content)
    if isinstance(content, Sequence) and not isinstance(content, bytes | bytearray):
        return "\n".join(t for t in (_part(p) for p in content) if t)
    return ""


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        return ""
    kind = str(part.get("type", "text"))
    text = part.get("text")
    if kind in ("text", "input_text", "output_text"):
        return text if isinstance(text, str) else ""
    for media in _MEDIA:
        if kind.startswith((media, f"input_{media}")):
            reference = _reference(part.get(kind), part.get("url"), part.get(f"{media}_url"))
            return f"[{media}: {reference}]" if reference else f"[{media}]"
    return ""


def _reference(*places: Any) -> str:
    for place in places:
        url = place.get("url") if isinstance(place, Mapping) else place
        if isinstance(url, str) and "://" in url[:16] and len(url) <= _LONGEST_REFERENCE:
            return url
    return ""
