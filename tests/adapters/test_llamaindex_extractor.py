"""An LLM of LlamaIndex reads what the user said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.llms.callbacks import llm_chat_callback

from llamaindex_ltm import LLMExtractor
from ltm_core import ConfigError, ExtractionRequest, LongTermMemory, UnavailableError
from ltm_core.testing.extractor_contract import ExtractorContract, clause
from ltm_core.testing.llamaindex_model import ScriptedLLM

SAID = "平时就靠双簧管解压。"
ANSWER = '{"facts": [{"clause": "c1", "subject": "用户", "relation": "演奏", "object": "双簧管"}]}'
REQUEST = ExtractionRequest(clauses=(clause(SAID, language="zh"),))


class Picky(ScriptedLLM):
    """Takes the response formats named, raises for others."""

    takes: tuple[str, ...] = ()
    asked: list[str] = []  # noqa: RUF012

    @llm_chat_callback()
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        wanted = kwargs.get("response_format", {}).get("type", "text")
        self.asked.append(wanted)
        if wanted not in self.takes:
            raise ValueError(f"unknown argument response_format for {SAID}")
        answer: ChatResponse = super().chat(messages, **kwargs)
        return answer


def says(answer: str) -> ScriptedLLM:
    return ScriptedLLM(reply=lambda _: answer)


class TestContract(ExtractorContract):
    @pytest.fixture
    def extractor(self) -> Any:
        return LLMExtractor(says(ANSWER))


def test_what_the_model_finds_is_known() -> None:
    llm = says(f"好的！\n{ANSWER}")
    with LongTermMemory.open(
        ":memory:", embedder="none", timezone="UTC", extractor=LLMExtractor(llm), extract_in_background=False
    ) as memory:
        memory.observe(user_id="lin", session_id="s", user=f"{SAID}现在几点了？")
        report = memory.work()
        assert report.jobs_done == 1 and sum(report.changes.values()) + sum(report.rejected.values()) == 1
        assert [f.object for f in memory.facts(user_id="lin") if "双簧管" in f.text]
    system, asked = llm.prompts[0]
    assert system.role == "system" and "双簧管" in (asked.content or "") and "几点" not in (asked.content or "")


@pytest.mark.parametrize(
    ("takes", "modes"),
    [
        (("json_schema",), ["json_schema", "json_schema"]),
        (("text",), ["json_schema", "json_object", "text", "text"]),
    ],
)
def test_the_mode_that_works_is_remembered(takes: tuple[str, ...], modes: list[str]) -> None:
    llm = Picky(reply=lambda _: ANSWER, takes=takes, asked=[])
    extractor = LLMExtractor(llm)
    for _ in range(2):
        assert [f.object for f in extractor.extract(REQUEST)] == ["双簧管"]
    assert llm.asked == modes


def test_a_lost_connection_is_said_without_words() -> None:
    def fail(_: list[ChatMessage]) -> str:
        raise ConnectionError(SAID)

    llm = ScriptedLLM(reply=fail)
    with pytest.raises(UnavailableError) as e:
        LLMExtractor(llm).extract(REQUEST)
    assert len(llm.prompts) == 1 and "双簧管" not in str(e.value)


def test_names_and_wrong_models() -> None:
    assert LLMExtractor(says(ANSWER)).name == "scripted"
    with pytest.raises(ConfigError, match="LLM"):
        LLMExtractor("gpt-4o")  # type: ignore[arg-type]
