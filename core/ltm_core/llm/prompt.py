"""What a model is asked: instructions, the statements as JSON strings, and the schema of the answer. Pure."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from functools import cache
from itertools import groupby
from typing import Any

from ltm_core.protocols import ExtractionRequest
from ltm_core.text.data import read
from ltm_core.text.normalize import printable

_MOST_PEOPLE = 20


@cache
def _texts() -> Mapping[str, Any]:
    return tomllib.loads(read("llm/prompt.toml"))


def relations() -> tuple[str, ...]:
    """The relations that are offered to a model."""
    return tuple(_texts()["relations"])


def system_prompt() -> str:
    """The instructions: the same for every request, so that servers may keep them in their prompt cache."""
    said: str = _texts()["system"].format(relations=", ".join(relations()))
    return said.strip()


def user_prompt(request: ExtractionRequest) -> str:
    """The statements, each on one line as a JSON string: nothing in them can look like a line of ours."""
    texts = _texts()
    lines: list[str] = []
    if request.people:
        people = ", ".join(json.dumps(printable(p), ensure_ascii=False) for p in request.people[:_MOST_PEOPLE])
        lines.append(texts["people"].format(people=people))
    for (speaker, on), said in groupby(request.clauses, key=lambda c: (c.speaker, c.on)):
        name = json.dumps(printable(speaker), ensure_ascii=False)
        day = f"{on.isoformat()} ({on:%A})"
        lines.append(
            texts["day"].format(day=day) if speaker == "user" else texts["speaker"].format(speaker=name, day=day)
        )
        lines += [f"{c.id}: {json.dumps(printable(c.text), ensure_ascii=False)}" for c in said]
    return "\n".join([*lines, texts["ask"]])


def answer_schema() -> dict[str, Any]:
    """The JSON schema of an answer, of the strict kind: every field required, no others."""
    fields: dict[str, Any] = {
        name: {"type": "string"} for name in ("clause", "subject", "relation", "object", "quote")
    }
    fields["negated"] = {"type": "boolean"}
    item = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    return {
        "type": "object",
        "properties": {"facts": {"type": "array", "items": item}},
        "required": ["facts"],
        "additionalProperties": False,
    }
