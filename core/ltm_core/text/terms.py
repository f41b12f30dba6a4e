"""Terms for keyword search: what is counted in a memory and looked up for a question."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Protocol

from .data import characters, words
from .normalize import nfkc

TERMS_VERSION = "1"
MAX_TERM_LENGTH = 64
# A question longer than this is a pasted document; its first terms say what it is about.
MAX_QUERY_TERMS = 256

_CJK = (
    "\u3005\u3007\u3041-\u3096\u3099-\u309f\u30a1-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
# Hangul syllables and the scripts of South-East Asia that put no space between words.
_PAIRED = "\uac00-\ud7a3\u0e01-\u0e4e\u0e80-\u0ecd\u1000-\u109d\u1780-\u17d3"
# Marks that stand inside words but that ``\w`` leaves out.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06ed"
    "\u0711-\u074a\u07a6-\u07b0\u0900-\u0963\u0971-\u0df3\u0f18-\u0fbc\u1712-\u1734\u200c\u200d"
)
_WORD = "[a-z0-9]+(?:'[a-z0-9]+)*"
_TOKEN = re.compile(
    # Several parts joined by signs, or a sign that belongs to the name: ord-2024-00817, x@y.com, c++, .net
    rf"(?P<joined>{_WORD}(?:[-_./:@&+#]{_WORD})+(?:\+\+|\#)?|[a-z0-9]+(?:\+\+|\#)|(?<![a-z0-9])\.[a-z]{{2,}}(?![.\w]))"
    rf"|(?P<word>{_WORD})"
    rf"|(?P<cjk>[{_CJK}]+)"
    rf"|(?P<paired>[{_PAIRED}]+)"
    rf"|(?P<other>(?:(?![a-z0-9{_CJK}{_PAIRED}])(?:[^\W_]|[{_MARKS}]))+)"
)
_PART = re.compile(_WORD)
_APOSTROPHES = str.maketrans(dict.fromkeys("\u2018\u2019\u02bc\u0060\u00b4\u2032", "'"))
_ACCENTED = re.compile("[\u00aa-\u024f\u0250-\u02af\u1e00-\u1eff\u0300-\u036f]")
_CONTRACTED = re.compile("'(?:s|d|m|ll|ve|re)$")
# Letters with a stroke or ligatures, which have no decomposition in Unicode.
_LATIN_LETTERS = {
    "ø": "o",
    "đ": "d",
    "ł": "l",
    "ħ": "h",
    "ı": "i",
    "ŧ": "t",
    "æ": "ae",
    "œ": "oe",
    "þ": "th",
    "ð": "d",
}


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


class _Local(threading.local):
    """One stemmer per thread: a stemmer keeps the word it works on in itself."""

    stemmer: _Stemmer | None = None


_local = _Local()


@lru_cache(maxsize=32_768)
def stem(word: str) -> str:
    """The English Snowball stem of a lower-case word."""
    if _local.stemmer is None:
        # The class of the package itself: its factory would switch to PyStemmer where that is installed,
        # and two versions of the algorithm must not meet in one index. With PyStemmer the package does not load
        # its own modules, so this one is named.
        from snowballstemmer.english_stemmer import EnglishStemmer

        _local.stemmer = EnglishStemmer()
    return _local.stemmer.stemWord(word)


def terms(text: str, *, query: bool = False) -> list[str]:
    """The terms of ``text`` in order, with repetitions; for a ``query`` each once, identifiers first.

    The same text gives the same terms in both roles, no character has a meaning as syntax, no term is
    longer than ``MAX_TERM_LENGTH``, and the time is linear.
    """
    text = _prepare(text)
    out: list[str] = []
    whole: list[str] = []
    for match in _TOKEN.finditer(text):
        kind, token = match.lastgroup, match[0]
        if kind == "word":
            _add_word(token, out)
        elif kind == "cjk":
            _add_pairs(token, out, singles=True)
        elif kind == "joined":
            whole.append(token[:MAX_TERM_LENGTH])
            for part in _PART.findall(token):
                _add_word(part, out)
        elif kind == "paired":
            _add_pairs(token, out, singles=len(token) == 1)
        else:
            out.append(token[:MAX_TERM_LENGTH])
    if not query:
        return out + whole
    return list(dict.fromkeys(whole + out))[:MAX_QUERY_TERMS]


def whole(found: Sequence[str]) -> Sequence[str]:
    """The terms without single characters, each of which is in everything that Chinese says; all of them when there
    are no others."""
    return [t for t in found if len(t) > 1] or found


def _prepare(text: str) -> str:
    if text.isascii():
        return text.lower().translate(_APOSTROPHES) if "`" in text else text.lower()
    text = nfkc(nfkc(text).casefold()).translate(_APOSTROPHES)
    return _ACCENTED.sub(lambda match: _plain_letter(match[0]), text)


@cache
def _plain_letter(ch: str) -> str:
    """An accented Latin letter without its accents; a loose combining accent disappears."""
    if "\u0300" <= ch <= "\u036f":
        return ""
    plain = "".join(c for c in unicodedata.normalize("NFD", ch) if not unicodedata.combining(c))
    return _LATIN_LETTERS.get(plain, plain)


def _add_word(word: str, out: list[str]) -> None:
    """Append the term of one Latin word or number, unless it is a function word."""
    if "'" in word:
        # "sister's" is "sister", "we'll" is "we"; "don't" is "dont", as many people type it.
        word = _CONTRACTED.sub("", word).replace("'", "")
    if word in words("stopwords/en.txt"):
        return
    word = word[:MAX_TERM_LENGTH]
    out.append(stem(word) if len(word) > 2 and word.isalpha() else word)


def _add_pairs(run: str, out: list[str], *, singles: bool) -> None:
    """Append the characters that mean something alone (if ``singles``) and all overlapping pairs."""
    if singles:
        skip = function_characters()
        out.extend([ch for ch in run if ch not in skip])
    out.extend([run[i : i + 2] for i in range(len(run) - 1)])


@cache
def function_characters() -> frozenset[str]:
    """Characters of Chinese and Japanese that mean nothing by themselves."""
    return characters("stopwords/zh.txt") | characters("stopwords/ja.txt")
