"""Length-preserving normalisation, and a folded form for comparing.

`normal` keeps every character at its place, so that a span found in the normal form is a span of the
original.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from importlib.resources import files

_PUNCTUATION = {"，": "，", "’": "'", "‘": "'", "“": '"', "”": '"', "＂": '"', "？": "?", "！": "!", "　": " "}
_KANA = re.compile(r"[ぁ-ゖァ-ヺー]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_LATIN = re.compile(r"[A-Za-z]")
_BLANKS = "".join(chr(c) for c in range(0x3001) if chr(c).isspace())
"""All characters that are blanks to a pattern; none stands above U+3000."""
_EDGES = "\"'“”‘’「」『』《》()（）[]【】,，.。!！?？;；:：、~～…-" + _BLANKS
_SPACES = re.compile(r"\s+")


@cache
def _table() -> dict[int, str]:
    table = {ord(k): v for k, v in _PUNCTUATION.items()}
    for code in range(0xFF01, 0xFF5F):  # full-width ASCII
        table.setdefault(code, chr(code - 0xFEE0))
    for keep in "，；：（）":
        table[ord(keep)] = keep
    data = files("ltm_core.lexicon").joinpath("write", "zh", "traditional.tsv").read_text(encoding="utf-8")
    for line in data.splitlines():
        if line and not line.startswith("#"):
            traditional, simplified = line.split("\t")
            for t, s in zip(traditional, simplified, strict=True):
                table[ord(t)] = s
    return table


def normal(text: str) -> str:
    """The text with full-width letters, curly quotes and traditional characters replaced one for one."""
    return text if text.isascii() else text.translate(_table())


def script(text: str) -> str:
    """``ja`` when kana occur, ``zh`` when Han characters do, ``en`` for Latin letters, else ``other``."""
    if text.isascii():
        return "en"
    if _KANA.search(text):
        return "ja"
    if _HAN.search(text):
        return "zh"
    return "en" if len(_LATIN.findall(text)) * 2 >= sum(c.isalpha() for c in text) else "other"


def trim(text: str) -> str:
    """The text without quotes, brackets, punctuation and blanks at its edges."""
    trimmed = text.strip(_EDGES)
    # A title at the end keeps its mark: "我在读《三体》".
    return (
        f"{trimmed}》" if "《" in trimmed and trimmed.count("《") > trimmed.count("》") and "》" in text else trimmed
    )


def fold(text: str) -> str:
    """Comparable form: compatibility characters unified, lower case, simplified, single blanks, no edges."""
    if text.isascii():
        return " ".join(text.lower().strip(_EDGES).split())
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_table())
    return _SPACES.sub(" ", trim(folded))
