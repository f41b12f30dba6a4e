"""Words of a language are data: no module that reads or recalls holds them in an expression."""

from __future__ import annotations

import ast
import re._constants as constants  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ltm_core.write.words.load

ROOT = Path(ltm_core.write.words.load.__file__).parents[2]
MODULES = [p for part in ("write", "keep", "recall") for p in sorted((ROOT / part).rglob("*.py"))]
ALTERNATIVES = 3
"""Alternatives that are words from which an expression holds a word list."""
CALLS = {"compile", "match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer"}


def expressions(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The constant text of every expression that is handed to ``re``; what is filled in becomes one character."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in CALLS
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.args
        ):
            yield node.lineno, text_of(node.args[0])


def text_of(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(v) for v in node.values)
    if isinstance(node, ast.BinOp):
        return text_of(node.left) + text_of(node.right)
    return "9" if isinstance(node, ast.FormattedValue) else ""


def most_words(tree: Any) -> int:
    """The most alternatives of one choice in a parsed expression that are words."""
    most = 0
    for op, arg in tree:
        if op is constants.BRANCH:
            most = max(most, sum(is_worded(branch) for branch in arg[1]), *(most_words(b) for b in arg[1]))
        elif op is constants.SUBPATTERN:
            most = max(most, most_words(arg[3]))
        elif op in (constants.MAX_REPEAT, constants.MIN_REPEAT, constants.POSSESSIVE_REPEAT):
            most = max(most, most_words(arg[2]))
        elif op in (constants.ASSERT, constants.ASSERT_NOT):
            most = max(most, most_words(arg[1]))
    return most


def is_worded(branch: Any) -> bool:
    """Whether an alternative spells a word: two letters in a row, or one character of a script without gaps."""
    run = 0
    for op, arg in branch:
        letter = chr(arg) if op is constants.LITERAL and chr(arg).isalpha() else ""
        run = run + 1 if letter else 0
        if run >= 2 or (letter and unicodedata.category(letter) == "Lo"):
            return True
        if op is constants.SUBPATTERN and is_worded(arg[3]):
            return True
    return False


def word_lists(source: str) -> list[tuple[int, str]]:
    return [(n, e) for n, e in expressions(ast.parse(source)) if most_words(parser.parse(e)) >= ALTERNATIVES]


@pytest.mark.parametrize("path", MODULES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_a_module_holds_no_word_list(path: Path) -> None:
    found = word_lists(path.read_text(encoding="utf-8"))
    assert not found, f"{path.name}: words belong into core/ltm_core/lexicon: {found}"


@pytest.mark.parametrize(
    "code",
    [
        r're.compile(r"\b(?:now|these days|currently)\b", re.I)',
        r're.sub("(?:现在|目前|如今)", "", text)',
        r're.match(rf"^(?:my|our|the) {noun}", text)',
        r're.search(r"x(?:(?:in|at|on) )*y", t)',
        r're.search("(?=.*(?:stop|quit|drop))" + tail, t)',
    ],
)
def test_a_word_list_is_seen(code: str) -> None:
    assert word_lists(code)


@pytest.mark.parametrize(
    "code",
    [
        r're.compile(r"[A-Za-z]+|\d+|[\u4e00-\u9fff]")',
        r're.compile("|".join(words))',
        r're.compile(r"^favou?rite |^new ")',
        r're.compile(rf"(?:{a}|{b}|{c})$")',
    ],
)
def test_a_shape_is_no_word_list(code: str) -> None:
    assert not word_lists(code)
