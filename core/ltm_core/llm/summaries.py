"""What a model is asked for a summary, and how its answer is read. Pure."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from ltm_core.errors import ExtractionError
from ltm_core.llm.answers import json_values, without_thoughts
from ltm_core.protocols import SummaryRequest, SummarySentence
from ltm_core.text.data import read
from ltm_core.text.normalize import printable

_LONGEST_TURN = 1500
"""Characters of one turn that are shown: a pasted document is not what the day was about."""
_LONGEST_ANSWER = 20_000
_WORDS_PER_TOKEN = 0.6
_TEXTS = ("text", "sentence", "content", "summary", "句子", "内容", "摘要")
_LISTS = ("sentences", "summary", "summaries", "items", "result", "句子", "摘要")
_SOURCES = ("sources", "source", "ids", "turns", "from", "来源")


@cache
def _texts() -> Mapping[str, Any]:
    return tomllib.loads(read("llm/summary.toml"))


def summary_prompts(request: SummaryRequest) -> tuple[str, str]:
    """(system, user): the instructions, and the turns, each on one line as a JSON string."""
    texts = _texts()
    user = texts["user"].get(request.language, texts["user"]["en"])
    lines = [texts["period"].format(begins=request.begins.isoformat(), ends=request.ends.isoformat())]
    for t in request.turns:
        said = json.dumps(printable(t.text[:_LONGEST_TURN]), ensure_ascii=False)
        who = json.dumps(printable(t.speaker), ensure_ascii=False)
        lines.append(f"{t.id} ({t.on.isoformat()}, {who}): {said}")
    words = max(20, round(request.target_tokens * _WORDS_PER_TOKEN))
    return texts["system"].format(user=user).strip(), "\n".join([*lines, texts["ask"].format(words=words)])


def summary_schema() -> dict[str, Any]:
    """The JSON schema of an answer, of the strict kind: every field required, no others."""
    fields = {"text": {"type": "string"}, "sources": {"type": "array", "items": {"type": "string"}}}
    item = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    return {
        "type": "object",
        "properties": {"sentences": {"type": "array", "items": item}},
        "required": ["sentences"],
        "additionalProperties": False,
    }


def read_summary(text: str | None) -> tuple[SummarySentence, ...]:
    """The sentences of a model's answer. Raises ExtractionError, which holds no word of it, when there is none."""
    if not isinstance(text, str) or not text.strip():
        raise ExtractionError("the model answered nothing")
    said = without_thoughts(text[:_LONGEST_ANSWER])
    answered = False
    for value in json_values(said):
        found = list(_sentences(value))
        answered = answered or _is_answer(value)
        if found:
            return tuple(found)
    if answered:
        return ()
    raise ExtractionError(f"the model's answer of {len(text)} characters holds no summary as JSON")


def _is_answer(value: Any) -> bool:
    return isinstance(value, Mapping) and any(k in value for k in _LISTS)


def _sentences(value: Any) -> Iterator[SummarySentence]:
    if isinstance(value, list):
        for item in value:
            if isinstance(item, str) and item.strip():
                yield SummarySentence(text=item)
            elif isinstance(item, Mapping):
                yield from _sentence(item)
    elif isinstance(value, Mapping):
        inner = next((value[k] for k in _LISTS if isinstance(value.get(k), list | Mapping)), None)
        if inner is not None:
            yield from _sentences(inner)
        else:
            yield from _sentence(value)


def _sentence(item: Mapping[Any, Any]) -> Iterator[SummarySentence]:
    text = next((item[k] for k in _TEXTS if isinstance(item.get(k), str)), "")
    ids = next((item[k] for k in _SOURCES if k in item), ())
    many = ids if isinstance(ids, list) else str(ids).replace(",", " ").split()
    if text.strip():
        yield SummarySentence(text=text, sources=tuple(_id(i) for i in many if isinstance(i, str | int)))


def _id(value: str | int) -> str:
    """``t2`` for "t2", 2, "T2", "[2]"."""
    digits = "".join(c for c in str(value) if c.isdigit())
    return f"t{int(digits)}" if digits and len(digits) < 6 else ""


__all__ = ["read_summary", "summary_prompts", "summary_schema"]
