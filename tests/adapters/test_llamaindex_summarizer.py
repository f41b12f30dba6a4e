"""An LLM of LlamaIndex sums up what was said."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage

from llamaindex_ltm import LLMSummarizer
from ltm_core import ConfigError, LongTermMemory, UnavailableError
from ltm_core.testing.chat_server import ChatServer
from ltm_core.testing.clock import Clock
from ltm_core.testing.llamaindex_model import ScriptedLLM
from ltm_core.testing.summarizer_contract import SummarizerContract, request

ANSWER = '{"sentences": [{"text": "用户和小林一起练双簧管。", "sources": ["t1", "t2"]}]}'
SAID = ("我和小林一起练双簧管。", "小林带来了双簧管的新哨片。", "我们练双簧管练到中午。")
T0 = datetime(2026, 3, 2, 9, tzinfo=UTC)


def says(answer: str) -> ScriptedLLM:
    return ScriptedLLM(reply=lambda _: answer)


class TestContract(SummarizerContract):
    @pytest.fixture
    def summarizer(self) -> Any:
        return LLMSummarizer(says(ANSWER))


def consolidated(summarizer: Any) -> list[str]:
    with LongTermMemory.open(
        ":memory:",
        embedder="none",
        timezone="UTC",
        summarizer=summarizer,
        clock=Clock(T0),
        consolidate_after_days=1,
        consolidate_min_turns=3,
    ) as memory:
        for n, text in enumerate(SAID):
            memory.observe(user_id="lin", session_id="s", user=text, at=T0 + timedelta(minutes=n))
        memory.maintain(T0 + timedelta(days=3))
        with memory._runtime.store.read("lin") as reader:
            return [f"{s.made_by}: {s.text}" for s in reader.summaries()]


def test_what_the_model_says_is_kept() -> None:
    llm = says(f"好的！\n{ANSWER}")
    assert consolidated(LLMSummarizer(llm)) == ["scripted: 2026-03-02 用户和小林一起练双簧管。"]
    system, asked = llm.prompts[0]
    assert system.role == "system" and all(text in (asked.content or "") for text in SAID)


def test_over_http_with_a_real_client() -> None:
    like = pytest.importorskip("llama_index.llms.openai_like")
    server = ChatServer(lambda _: ANSWER)
    with server:
        llm = like.OpenAILike(api_base=server.base_url, api_key="sk-test", model="small", is_chat_model=True)
        assert consolidated(LLMSummarizer(llm)) == ["small: 2026-03-02 用户和小林一起练双簧管。"]
        assert server.chats[0].body["response_format"]["json_schema"]["name"] == "summary"


@pytest.mark.parametrize("answer", ["", "没有", '{"sentences": ["用户去了拉萨市。"]}'])
def test_a_useless_answer_leaves_the_users_words(answer: str) -> None:
    (told,) = consolidated(LLMSummarizer(says(answer)))
    assert told.startswith("extractive: 2026-03-02 用户: ")


def test_a_lost_connection_is_said_without_words() -> None:
    def fail(_: list[ChatMessage]) -> str:
        raise ConnectionError(SAID[0])

    with pytest.raises(UnavailableError) as e:
        LLMSummarizer(ScriptedLLM(reply=fail)).summarize(request(*SAID, language="zh"))
    assert "双簧管" not in str(e.value)


def test_names_and_wrong_models() -> None:
    assert LLMSummarizer(says(ANSWER)).name == "scripted"
    with pytest.raises(ConfigError, match="LLM"):
        LLMSummarizer("gpt-4o")  # type: ignore[arg-type]
