"""What three small models really answered about ten sentences, and what is believed of it.

``data/small_models.jsonl``: answers of Qwen2.5-Coder 1.5B and 0.5B (Q4_K_M) and of the gemma-3-270m base model, at
temperature 0 with three examples in the prompt. About nine, five and one in ten of their facts were right.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ltm_core import Fact, LongTermMemory
from ltm_core.testing.extractors import ScriptedChat
from ltm_core.text.normalize import fold

ANSWERS: list[dict[str, str]] = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "small_models.jsonl").read_text(encoding="utf-8").splitlines()
]


def learnt(said: str, answer: str | None) -> list[Fact]:
    extractor: Any = None if answer is None else ScriptedChat(answer)
    with LongTermMemory.open(
        ":memory:", embedder="none", timezone="UTC", extractor=extractor, extract_in_background=False
    ) as memory:
        memory.observe(user_id="ana", session_id="s", user=said)
        if extractor is not None:
            assert memory.work().jobs_done == 1
        return list(memory.facts(user_id="ana", include_superseded=True))


def key(fact: Fact) -> tuple[str, str, str, bool]:
    return fact.subject, fact.relation, fact.object, fact.is_positive


@pytest.mark.parametrize("case", ANSWERS, ids=[f"{c['model']}-{n}" for n, c in enumerate(ANSWERS)])
def test_small_models_add_and_never_harm(case: dict[str, str]) -> None:
    by_rules = {key(f) for f in learnt(case["said"], None) if f.rule != "open"}
    facts = learnt(case["said"], case["answer"])
    current = {key(f) for f in facts if f.is_current}
    assert {k for k in by_rules if k in {key(f) for f in facts}} == by_rules
    for fact in facts:
        if fact.rule.startswith("llm/"):
            assert fold(fact.object) in fold(case["said"]) and fact.is_positive
            assert fact.text and fold(fact.object) in fold(fact.text)
    assert not any("Berlin" in o or o in ("Sam", "user") for _, _, o, _ in current)
    assert len({(s, fold(o)) for s, _, o, _ in current}) == len(current)


def test_they_find_what_the_rules_missed() -> None:
    case = next(c for c in ANSWERS if c["model"].endswith("1.5b") and c["said"].startswith("我以前用 Vim"))
    assert ("user", "uses", "VS Code", True) in {key(f) for f in learnt(case["said"], case["answer"]) if f.is_current}
