"""A chat model of LangChain sums up what was said."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableLambda

from langchain_ltm import ChatModelSummarizer
from ltm_core import ConfigError, LongTermMemory, UnavailableError
from ltm_core.testing.chat_server import ChatServer
from ltm_core.testing.clock import Clock
from ltm_core.testing.langchain_model import ScriptedChatModel
from ltm_core.testing.summarizer_contract import SummarizerContract, request

ANSWER = '{"sentences": [{"text": "The user practises the oboe with Marta.", "sources": ["t1", "t2"]}]}'
SAID = ("I practise the oboe with Marta.", "Marta brings a new reed for the oboe.", "We play the oboe until noon.")
T0 = datetime(2026, 3, 2, 9, tzinfo=UTC)


def says(answer: str) -> ScriptedChatModel:
    return ScriptedChatModel(reply=lambda _: answer)


class TestContract(SummarizerContract):
    @pytest.fixture
    def summarizer(self) -> Any:
        return ChatModelSummarizer(says(ANSWER))


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
            memory.observe(user_id="ana", session_id="s", user=text, at=T0 + timedelta(minutes=n))
        memory.maintain(T0 + timedelta(days=3))
        found = memory.search("oboe Marta reed", user_id="ana", at=T0 + timedelta(days=3))
        with memory._runtime.store.read("ana") as reader:
            assert found and len(reader.summaries()) == 1
            return [f"{s.made_by}: {s.text}" for s in reader.summaries()]


def test_what_the_model_says_is_kept() -> None:
    model = says(f"<think>hm</think>```json\n{ANSWER}\n```")
    assert consolidated(ChatModelSummarizer(model)) == [
        "ScriptedChatModel: 2026-03-02 The user practises the oboe with Marta."
    ]
    system, human = model.prompts[0]
    assert system.type == "system" and all(text in str(human.content) for text in SAID)


def test_over_http_with_a_real_client() -> None:
    pytest.importorskip("langchain_openai")
    from langchain_openai import ChatOpenAI

    server = ChatServer(lambda _: ANSWER)
    with server:
        model = ChatOpenAI(base_url=server.base_url, api_key="sk-test", model="small", temperature=0)
        assert consolidated(ChatModelSummarizer(model)) == [
            "small: 2026-03-02 The user practises the oboe with Marta."
        ]
        asked = server.chats[0].body
        assert asked["response_format"]["json_schema"]["name"] == "summary"


@pytest.mark.parametrize("answer", ["", "no JSON here", '{"sentences": []}'])
def test_a_useless_answer_leaves_the_users_words(answer: str) -> None:
    (told,) = consolidated(ChatModelSummarizer(says(answer)))
    assert told.startswith("extractive: 2026-03-02 User: ")


def test_a_lost_connection_is_said_without_words() -> None:
    def fail(_: list[BaseMessage]) -> str:
        raise ConnectionError(SAID[0])

    with pytest.raises(UnavailableError) as e:
        ChatModelSummarizer(ScriptedChatModel(reply=fail)).summarize(request(*SAID))
    assert "oboe" not in str(e.value)


def test_a_chain_that_happens_to_run_does_not_see_the_call() -> None:
    seen: list[str] = []

    class Listener(BaseCallbackHandler):
        def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
            seen.append("asked")

    summarizer = ChatModelSummarizer(says(ANSWER))
    chain: Callable[..., Any] = RunnableLambda(lambda _: summarizer.summarize(request(*SAID))).invoke
    assert chain("x", config={"callbacks": [Listener()]}) and seen == []


def test_names_and_wrong_models() -> None:
    assert ChatModelSummarizer(says(ANSWER), name="qwen\n2.5").name == "qwen 2.5"
    with pytest.raises(ConfigError, match="BaseChatModel"):
        ChatModelSummarizer("gpt-4o")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="ChatModelSummarizer"):
        LongTermMemory.open(":memory:", summarizer=says(ANSWER), embedder="none")
