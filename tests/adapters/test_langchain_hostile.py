"""Hostile memories through LangChain's memory: what reaches the prompt parses back to what was said."""

from __future__ import annotations

import json
from pathlib import Path

from langchain_core.messages import SystemMessage

from langchain_ltm import LTMConversationMemory
from ltm_core import LongTermMemory, Message
from ltm_core.testing.rendered import ROLE_LINE, entries, plain, shown, words

CASES = Path(__file__).parents[1] / "cases" / "hostile.jsonl"
TEXTS = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


def test_what_the_chain_shows_parses_back(memory: LongTermMemory) -> None:
    for number, case in enumerate(TEXTS):
        user, text = f"shown {case['id']}", case["text"] + " kayak 4711"
        memory.observe(user_id=user, session_id="old", messages=[Message(role="assistant", content=text)])
        for as_messages in (False, True) if number % 6 == 0 else (False,):
            kept = LTMConversationMemory(
                memory=memory,
                user_id=user,
                session_id=f"new {as_messages}",
                return_messages=as_messages,
                max_tokens=20_000,
            )
            history = kept.load_memory_variables({"input": "kayak 4711"})["history"]
            if as_messages:
                assert [type(m) for m in history] == [SystemMessage]
                history = history[0].content
            assert plain(text) in shown(history), case["id"]
            for entry in entries(history):
                assert not any(ROLE_LINE.match(line) for line in words(entry).split("\n")), entry
