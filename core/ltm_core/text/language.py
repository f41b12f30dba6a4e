"""Which language a message is in, from the scripts it is written with."""

from __future__ import annotations

import re
from typing import Literal

from .data import characters, words

Language = Literal["zh", "en", "ja", "ko", "other"]

_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa\u31f0-\u31ff\uff66-\uff9d]")
_HAN = re.compile("[\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_HANGUL = re.compile("[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]")
_LATIN_WORD = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]+")
_LETTER = re.compile(r"[^\W\d_]")

# A function word says which language carries the sentence; a name or a term may come from any language.
_FUNCTION_WEIGHT = 3
# "我用 Python 和 VS Code" has 3 Han characters beside 3 Latin words; below this share they are a quoted name.
_MEANINGFUL_SHARE = 0.3


def detect_language(text: str) -> Language:
    """The language that carries ``text``; "other" when it has no letters or another script prevails.

    Latin script counts as English. Time is linear in the length.
    """
    latin_words = _LATIN_WORD.findall(text)
    if text.isascii():
        return "en" if latin_words else "other"
    kana = len(_KANA.findall(text))
    han = _HAN.findall(text)
    hangul = len(_HANGUL.findall(text))
    latin_letters = sum(map(len, latin_words))
    letters = len(_LETTER.findall(text))
    if not letters:
        return "other"
    other = letters - kana - len(han) - hangul - latin_letters
    if other > (kana + len(han) + hangul) and other > latin_letters:
        return "other"

    if hangul > kana + len(han):
        return "ko" if _carries(hangul / 2, 0, latin_words) else "en"
    if not han and not kana:
        return "en"
    chinese = characters("stopwords/zh-only.txt")
    zh_marks = sum(1 for ch in han if ch in chinese)
    if kana > 2 * zh_marks:
        return "ja" if _carries(len(han) + kana, kana, latin_words) else "en"
    return "zh" if _carries(len(han), _count_function(han), latin_words) else "en"


def _count_function(han: list[str]) -> int:
    function = characters("stopwords/zh.txt")
    return sum(1 for ch in han if ch in function)


def _carries(native: float, native_function: int, latin_words: list[str]) -> bool:
    """Whether the non-Latin part carries the sentence rather than being quoted in an English one."""
    if not latin_words:
        return True
    english = words("stopwords/en.txt")
    latin_function = sum(1 for word in latin_words if word.lower() in english)
    if latin_function and not native_function and native < 3 * len(latin_words):
        return False
    native += (_FUNCTION_WEIGHT - 1) * native_function
    latin = len(latin_words) + (_FUNCTION_WEIGHT - 1) * latin_function
    return native >= _MEANINGFUL_SHARE * (native + latin)
