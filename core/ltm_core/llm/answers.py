"""A model's answer, however it is wrapped, as facts. Pure; an answer that cannot be used raises ExtractionError.

Survived: code fences, talk before and after, ``<think>`` blocks, trailing commas, wrong escapes, Python quotes, a
list instead of an object, a mapping of relations to values, other names for the fields, values of the wrong type,
and an answer that was cut: its whole items count, the last one does not. Nothing is guessed: an item is taken as
it stands or left out.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ltm_core.errors import ExtractionError
from ltm_core.llm.names import Names, default_names, key_of
from ltm_core.protocols import ExtractedFact
from ltm_core.text.normalize import clean

MOST_FACTS = 64
"""Facts of one answer; a model that repeats itself until its limit is cut here."""
_LONGEST = 60_000
"""Characters of an answer that are looked at."""
_LONGEST_VALUE = 500
_TRIES = 32
"""Places at which a JSON value is looked for, per answer."""
_THOUGHT = re.compile(r"<(think|thinking|thought|reasoning|reflection)\b[^>]*>.*?</\1\s*>", re.S | re.I)
_THOUGHT_END = re.compile(r"^.*</(?:think|thinking|thought|reasoning|reflection)\s*>", re.S | re.I)
_THOUGHT_OPEN = re.compile(r"<(?:think|thinking|thought|reasoning|reflection)\b[^>]*>.*\Z", re.S | re.I)
_FENCE = re.compile(r"```[ \t]*\w*[ \t]*\r?\n?(.*?)(?:```|\Z)", re.S)
_TRAILING = re.compile(r",(\s*[}\]])")
_BAD_ESCAPE = re.compile(r'\\(?:u(?![0-9a-fA-F]{4})|(?=[^"\\/bfnrtu]))')
_CLAUSE = re.compile(r"^\W*[a-z]*\s*(\d{1,5})\W*$", re.I)
_TRUE = ("true", "yes", "1", "是", "否定")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What was read: the facts, and how many items were no facts or were cut."""

    facts: tuple[ExtractedFact, ...]
    malformed: int = 0
    cut: bool = False
    dated: int = 0
    """Items that came with a date: it is not used, dates are read in the user's own words."""


def read_answer(text: str | None, names: Names | None = None) -> Answer:
    """The facts of a model's answer. Raises ExtractionError, which holds no word of it, when there is none to
    read: it is empty, ``null``, or holds no JSON."""
    table = names or default_names()
    if not isinstance(text, str) or not text.strip():
        raise ExtractionError("the model answered nothing")
    said = without_thoughts(text[:_LONGEST])
    if not said.strip():
        raise ExtractionError(f"the model's answer of {len(text)} characters holds only its thoughts")
    if said.strip().lower() in ("null", "none"):
        raise ExtractionError("the model answered null")
    values = [next(json_values(v), None) if isinstance(v, str) else v for v in json_values(said)]
    nothing: Answer | None = None
    for reading in (_facts, _mapped):
        for value in values:
            found = reading(value, table)
            answer = None if found is None else replace(_answer(found), dated=_dated(value, table))
            if answer is not None and answer.facts:
                return answer
            nothing = nothing or answer
        if nothing is not None:
            return nothing
    answer = _answer([_fact(item, table) for item in _objects(said) if _is_fact(item, table)])
    if answer.facts:
        return Answer(facts=answer.facts, malformed=answer.malformed, cut=True)
    raise ExtractionError(f"the model's answer of {len(text)} characters holds no facts as JSON")


def without_thoughts(text: str) -> str:
    """The answer without what a reasoning model thought aloud."""
    text = _THOUGHT.sub("", text)
    # Some servers swallow the opening tag; an unclosed one means that the answer was cut while thinking.
    return _THOUGHT_OPEN.sub("", _THOUGHT_END.sub("", text))


# JSON values -------------------------------------------------------------------------------------------
def json_values(text: str) -> Iterator[Any]:
    """The JSON values in the text, outermost ones, fenced ones first."""
    for part in dict.fromkeys([*_FENCE.findall(text), text]):
        yield from _values_in(part)


def _values_in(text: str) -> Iterator[Any]:
    stripped = text.strip()
    if stripped.startswith('"'):
        whole = _decoded(stripped)
        if isinstance(whole, str):
            yield whole
            return
    at, tries = 0, 0
    while tries < _TRIES:
        starts = [p for p in (text.find("{", at), text.find("[", at)) if p >= 0]
        if not starts:
            return
        start, tries = min(starts), tries + 1
        value, end = _decoded_at(text, start)
        if end > start:
            yield value
            at = end
        elif _closing(text, start) > start:
            at = start + 1
        else:
            return  # it was cut: what stands inside counts item by item


_DECODER = json.JSONDecoder(strict=False)


def _decoded_at(text: str, start: int) -> tuple[Any, int]:
    """The value that begins here and its end; the start itself when there is none."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        end = _closing(text, start)
        if end <= start:
            return None, start
        value = _decoded(text[start:end])
        return (value, end) if value is not None else (None, start)
    return value, end


def _decoded(text: str) -> Any:
    """The text as a value, after the repairs that change no content; None when it is none."""
    for attempt in (text, _TRAILING.sub(r"\1", _BAD_ESCAPE.sub(r"\\\\", text))):
        try:
            return json.loads(attempt, strict=False)
        except (ValueError, RecursionError):
            continue
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None


def _closing(text: str, start: int) -> int:
    """The end of the bracket that opens at ``start``, with strings skipped; ``start`` when it never closes."""
    for a, b in _spans(text[start:]):
        if a == 0:
            return start + b
    return start


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Every balanced bracket, inner ones first; one pass."""
    stack: list[int] = []
    quoted = escaped = False
    for i, c in enumerate(text):
        if quoted:
            quoted = escaped or c != '"'
            escaped = not escaped and c == "\\"
        elif c == '"':
            quoted = True
        elif c in "{[":
            stack.append(i)
        elif c in "}]" and stack:
            yield stack.pop(), i + 1


def _objects(text: str) -> list[Any]:
    """The whole innermost objects of a text that was cut or is broken elsewhere, in order."""
    spans = sorted((a, b) for a, b in _spans(text) if text[a] == "{" and b - a <= 8 * _LONGEST_VALUE)
    return [v for v in (_decoded(text[a:b]) for a, b in spans[: 4 * MOST_FACTS]) if isinstance(v, dict)]


# items -------------------------------------------------------------------------------------------------
def _answer(found: list[list[ExtractedFact]]) -> Answer:
    facts = [f for item in found for f in item]
    return Answer(facts=tuple(dict.fromkeys(facts))[:MOST_FACTS], malformed=sum(not item for item in found))


def _facts(value: Any, names: Names) -> list[list[ExtractedFact]] | None:
    """Per item its facts, none for a malformed one; None when the value is no answer at all."""
    if isinstance(value, list):
        if value and all(isinstance(v, str | int | float) for v in value) and len(value) == 3 and _is_triple(value):
            return [_fact(value, names)]
        return [_fact(v, names) for v in value]
    if not isinstance(value, Mapping):
        return None
    for key, inner in value.items():
        if names.fields.get(key_of(str(key))) == "facts":
            if isinstance(inner, Mapping):
                return _facts(inner, names) or _mapped(inner, names)
            return _facts(inner, names) if isinstance(inner, list) else []
    if _is_fact(value, names):
        return [_fact(value, names)]
    return None if value else []


def _dated(value: Any, names: Names) -> int:
    if isinstance(value, list):
        return sum(_dated(v, names) for v in value if isinstance(v, Mapping))
    if not isinstance(value, Mapping):
        return 0
    own = any(names.fields.get(key_of(str(k))) == "date" and _text(v) for k, v in value.items())
    return own + sum(_dated(v, names) for v in value.values() if isinstance(v, list))


def _is_triple(value: list[Any]) -> bool:
    return all(isinstance(v, str) for v in value) and " " not in str(value[1]).strip()


def _mapped(value: Any, names: Names) -> list[list[ExtractedFact]] | None:
    """``{"c1": {…}}``, ``{"user": {"lives_in": …}}`` or ``{"lives_in": "Porto"}``; None for anything else."""
    if not isinstance(value, Mapping):
        return None
    found: list[list[ExtractedFact]] = []
    for key, inner in value.items():
        name = str(key)
        if isinstance(inner, Mapping):
            if _is_fact(inner, names):
                found.append(_fact({"clause": name, **inner}, names))
            else:
                found += [_named(k, v, subject=name) for k, v in inner.items()]
        elif isinstance(inner, list) and inner and all(isinstance(v, Mapping) for v in inner):
            found += [_fact({"clause": name, **v}, names) for v in inner]
        else:
            found.append(_named(name, inner, subject="user"))
    return found


def _named(relation: Any, value: Any, *, subject: str) -> list[ExtractedFact]:
    return [ExtractedFact(subject=subject, relation=str(relation), object=o) for o in _texts(value)]


def _is_fact(item: Any, names: Names) -> bool:
    if not isinstance(item, Mapping):
        return False
    fields = {names.fields.get(key_of(str(k))) for k in item}
    return "object" in fields or ("fact" in fields and not fields & {"facts"})


def _fact(item: Any, names: Names) -> list[ExtractedFact]:
    """The facts of one item: several when its object is a list, none when it is no fact."""
    if isinstance(item, str):
        return _sentence(item, "", "", names)
    if isinstance(item, list | tuple):
        if len(item) == 3 and all(isinstance(v, str | int | float) for v in item):
            return _fact({"subject": item[0], "relation": item[1], "object": item[2]}, names)
        return []
    if not isinstance(item, Mapping):
        return []
    given: dict[str, Any] = {}
    for key, value in item.items():
        field = names.fields.get(key_of(str(key)))
        if field is not None:
            given.setdefault(field, value)
    clause, quote = _clause(given.get("clause")), _text(given.get("quote"))
    if "object" not in given:
        return _sentence(_text(given.get("fact")), clause, quote, names)
    negated = given.get("negated")
    return [
        ExtractedFact(
            subject=_text(given.get("subject")) or "user",
            relation=_text(given.get("relation")),
            object=value,
            quote=quote,
            clause=clause,
            negated=negated is True or _text(negated).lower() in _TRUE,
        )
        for value in _texts(given["object"])
    ]


def _sentence(said: str, clause: str, quote: str, names: Names) -> list[ExtractedFact]:
    """A fact given as one sentence: its words without "the user"."""
    words = said.strip().strip(".。")
    lead = next((p for p in names.sentence_lead if words.lower().startswith(p)), "")
    words = words[len(lead) :].strip()
    return [ExtractedFact(object=words, quote=quote, clause=clause)] if words else []


def _clause(value: Any) -> str:
    """``c2`` for "c2", 2, "C2", ["c2"], "[2]"."""
    texts = _texts(value)
    found = _CLAUSE.match(texts[0]) if len(texts) == 1 else None
    return f"c{int(found[1])}" if found else ""


def _texts(value: Any) -> list[str]:
    """The value, or each of a list's, as text; what is no word or number is left out."""
    many = value if isinstance(value, list | tuple) else [value]
    return [t for t in map(_text, many) if t]


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return "" if not isinstance(value, bool) else str(value).lower()
    return clean(str(value)).strip()[:_LONGEST_VALUE]


__all__ = ["MOST_FACTS", "Answer", "read_answer"]
