"""Which texts of a document are indexed: paths into its value. Pure.

The paths are those of LangGraph's stores: ``title``, ``author.name``, ``tags[0]``, ``tags[-1]``, ``notes[*].text``,
``*`` for every child, ``{title,author.name}`` for several, and ``$`` for the whole value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

WHOLE = "$"
_TOKEN = re.compile(r"\[[^\]]*\]?|\{[^}]*\}?|[^.\[{]+")
_SEPARATOR = "\n\n"


def texts(value: Mapping[str, Any], fields: Sequence[str]) -> tuple[str, ...]:
    """The texts that stand at these paths, in order and without blank ones; a missing path gives none.

    A list or mapping at the end of a path is one text of JSON; the whole value is one text of its leaves, a line
    each with its name, which embeds nearer to what it says than JSON does.
    """
    found: list[str] = []
    for path in fields:
        if path == WHOLE:
            found.append("\n".join(_lines(value, "")))
        else:
            found += [_text(v) for v in _at(value, _TOKEN.findall(path))]
    return tuple(t for t in found if t.strip())


def joined(parts: Sequence[str]) -> tuple[str, list[int]]:
    """All texts as one, in which the spans of indexed units are counted, and where each part begins."""
    starts, at = [], 0
    for part in parts:
        starts.append(at)
        at += len(part) + len(_SEPARATOR)
    return _SEPARATOR.join(parts), starts


def _at(value: Any, tokens: Sequence[str]) -> Iterator[Any]:
    if not tokens:
        if value is not None:
            yield value
        return
    token, rest = tokens[0], tokens[1:]
    if token[0] == "[":
        if isinstance(value, list):
            yield from _in_list(value, token[1:].removesuffix("]"), rest)
    elif token[0] == "{":
        # What stands behind the braces is not looked at, as in LangGraph.
        for field in token[1:].removesuffix("}").split(",") if isinstance(value, Mapping) else ():
            if keys := [t for t in field.strip().split(".") if t]:
                yield from _in_mapping(value, keys, ())
    elif token == "*":
        children = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
        for child in children:
            yield from _at(child, rest)
    elif isinstance(value, Mapping):
        yield from _in_mapping(value, [token], rest)


def _in_mapping(value: Any, keys: Sequence[str], rest: Sequence[str]) -> Iterator[Any]:
    for key in keys:
        if not isinstance(value, Mapping) or key not in value:
            return
        value = value[key]
    yield from _at(value, rest)


def _in_list(value: list[Any], index: str, rest: Sequence[str]) -> Iterator[Any]:
    if index == "*":
        for child in value:
            yield from _at(child, rest)
    elif re.fullmatch(r"-?[0-9]{1,9}", index) and -len(value) <= int(index) < len(value):
        yield from _at(value[int(index)], rest)


def _text(value: Any) -> str:
    if isinstance(value, list | Mapping):
        return json.dumps(value, sort_keys=True, ensure_ascii=False)
    return str(value)


def _lines(value: Any, name: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, child in value.items():
            yield from _lines(child, str(key))
    elif isinstance(value, list):
        for child in value:
            yield from _lines(child, name)
    elif value is not None:
        yield f"{name}: {value}"
