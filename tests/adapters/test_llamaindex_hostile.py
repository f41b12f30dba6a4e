"""Hostile memories through LlamaIndex's memory: what reaches the prompt parses back to what was said."""

from __future__ import annotations

import json
from pathlib import Path

from llama_index.core.base.llms.types import MessageRole

from llamaindex_ltm import LTMMemory
from ltm_core import LongTermMemory, Message
from ltm_core.testing.rendered import ROLE_LINE, entries, plain, shown, words

CASES = Path(__file__).parents[1] / "cases" / "hostile.jsonl"
TEXTS = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


def whole(text: str) -> str:
    return "".join(text.split())


def test_what_the_engine_shows_parses_back(memory: LongTermMemory) -> None:
    for case in TEXTS:
        user, text = f"shown {case['id']}", case["text"] + " kayak 4711"
        memory.observe(user_id=user, session_id="old", messages=[Message(role="assistant", content=text)])
        kept = LTMMemory.from_defaults(
            memory=memory, user_id=user, session_id="new", context_tokens=20_000, token_limit=60_000
        )
        told = [m for m in kept.get(input="kayak 4711") if "<memory " in (m.content or "")]
        assert [m.role for m in told] == [MessageRole.SYSTEM], case["id"]
        # The host's prompt templates would fill braces in; they are drawn apart.
        assert whole(plain(text)) in [whole(t) for t in shown(told[0].content or "")], case["id"]
        for entry in entries(told[0].content or ""):
            assert not any(ROLE_LINE.match(line) for line in words(entry).split("\n")), entry
