"""Length-preserving normalisation, and a folded form for comparing.

`normal` keeps every character at its place, so that a span found in the normal form is a span of the
original.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files

_PUNCTUATION = {"，": "，", "’": "'", "‘": "'", "“": '"', "”": '"', "＂": '"', "？": "?", "！": "!", "　": " "}
_KANA = re.compile(r"[ぁ-ゖァ-ヺー]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_LATIN = re.compile(r"[A-Za-z]")
_BLANKS = "".join(chr(c) for c in range(0x3001) if chr(c).isspace())
"""All characters that are blanks to a pattern; none stands above U+3000."""
_EDGES = "\"'“”‘’「」『』《》()（）[]【】,，.。!！?？;；:：、~～…-" + _BLANKS
_QUOTES = (("《", "》"), ("“", "”"), ("「", "」"), ("『", "』"))
"""Marks of what is quoted, opening and closing."""
_SPACES = re.compile(r"\s+")


_FINAL = re.compile("[喇啦](?=$|[，。！!?？,~～\\s])")
"""Particles at the end of a Cantonese clause."""


@cache
def _table() -> dict[int, str]:
    table = {ord(k): v for k, v in _PUNCTUATION.items()}
    for code in range(0xFF01, 0xFF5F):  # full-width ASCII
        table.setdefault(code, chr(code - 0xFEE0))
    for keep in "，；：（）":
        table[ord(keep)] = keep
    for traditional, simplified in _rows("traditional.tsv"):
        for t, s in zip(traditional, simplified, strict=True):
            table[ord(t)] = s
    return table


@cache
def _cantonese() -> tuple[re.Pattern[str], str, Mapping[str, str], re.Pattern[str]]:
    """What tells written Cantonese apart, the particles its words begin with, and the words, each as long as what it
    means."""
    rows = dict(_rows("cantonese.tsv"))
    particles, begins = rows.pop("particles"), rows.pop("begins")
    return re.compile(f"[{particles}]"), begins, rows, re.compile("|".join(rows))


def normal(text: str) -> str:
    """The text with full-width letters, curly quotes and traditional characters replaced one for one."""
    return text if text.isascii() else _simplified(text)


def _simplified(text: str) -> str:
    particles, _, words, spoken = _cantonese()
    if particles.search(text):  # before they are replaced, which tell it apart
        text = _FINAL.sub("了", text)
        text = spoken.sub(lambda m: words[m.group()], text.translate(_unspoken()))
    return text.translate(_table())


@cache
def _unspoken() -> dict[int, str]:
    """The table without the particles of Cantonese, which some of its words begin with."""
    return {k: v for k, v in _table().items() if chr(k) not in _cantonese()[1]}


def _rows(name: str) -> Iterator[tuple[str, str]]:
    data = files("ltm_core.lexicon").joinpath("write", "zh", name).read_text(encoding="utf-8")
    for line in data.splitlines():
        if line and not line.startswith("#"):
            one, _, other = line.partition("\t")
            yield one, other


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
    # What is quoted at the end keeps its mark: "我在读《三体》", "跟我说话请用“您”".
    for opening, closing in _QUOTES:
        if trimmed.count(opening) > trimmed.count(closing) and f"{trimmed}{closing}" in text:
            return trimmed + closing
    return trimmed


def fold(text: str) -> str:
    """Comparable form: compatibility characters unified, lower case, simplified, single blanks, no edges."""
    if text.isascii():
        return " ".join(text.lower().strip(_EDGES).split())
    folded = _simplified(unicodedata.normalize("NFKC", text).casefold())
    return _SPACES.sub(" ", trim(folded))
