"""Three views of a text: as it is stored, as it is compared, as it is shown."""

from __future__ import annotations

import re
import unicodedata

_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")

# Emoji and pictographic symbols; between two of them a joiner draws one picture.
_EMOJI = "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
_SHOWN = re.compile(
    f"({_EMOJI}\ufe0f?(?:\u200d?{_EMOJI}\ufe0f?)*|[0-9#*]\ufe0f\u20e3)"
    "|["
    "\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f"  # controls other than tab and line breaks
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # invisible letters and marks
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f"  # zero width, direction marks, overrides, isolates
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"  # tags and variation selectors: text that no reader sees
    "]"
)
_LINE_BREAK = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")

# Signs that belong to a name (C#, 50%, @ana, /etc), so they are no decoration at either end.
_KEPT_AT_THE_ENDS = frozenset("#%&@*/\\_")
# Reordering of combining marks is quadratic in the length of one run of marks; pieces bound it.
_PIECE = 256


def clean(text: str) -> str:
    """The text to store: lone surrogates are U+FFFD, halves of a pair are joined, NUL is gone.

    Everything else is verbatim, so positions in the result are positions in what was written.
    """
    if "\0" in text:
        text = text.replace("\0", "")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        text = _PAIR.sub(lambda m: m[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le"), text)
        text = _SURROGATE.sub("\ufffd", text)
    return text


def printable(text: str) -> str:
    """The text to show: no control, direction, zero-width or tag character is left.

    Tab and line breaks stay, each kind of break as one newline; joiners stay only inside an emoji.
    Applying it twice changes nothing more.
    """
    if text.isascii() and text.isprintable():
        return text
    # Line breaks first: removing what stands between CR and LF must not make two breaks into one.
    return _SHOWN.sub(r"\1", _LINE_BREAK.sub("\n", clean(text)))


def nfkc(text: str) -> str:
    """Unicode compatibility composition in linear time, whatever the text."""
    if text.isascii():
        return text
    if len(text) <= _PIECE:
        return unicodedata.normalize("NFKC", text)
    pieces = []
    start = 0
    while start < len(text):
        end = start + _PIECE
        space = text.rfind(" ", start + 1, end)
        if len(text) > end and space > 0:
            end = space
        pieces.append(unicodedata.normalize("NFKC", text[start:end]))
        start = end
    return "".join(pieces)


def fold(text: str) -> str:
    """The text to compare: NFKC, case folded, white space collapsed, no punctuation at either end."""
    text = printable(text)
    if text.isascii():
        text = text.lower()
    else:
        # A second round, because folding the case may leave compatible characters apart.
        text = nfkc(nfkc(text).casefold()).casefold()
    text = " ".join(text.split())
    start, end = 0, len(text)
    while start < end and _is_decoration(text[start]):
        start += 1
    while end > start and _is_decoration(text[end - 1]):
        end -= 1
    return text[start:end]


def _is_decoration(ch: str) -> bool:
    return ch.isspace() or (ch not in _KEPT_AT_THE_ENDS and unicodedata.category(ch)[0] == "P")
