"""A chat model of LangChain reads what the user said."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import RunnableLambda

from langchain_ltm import ChatModelExtractor
from ltm_core import ConfigError, ExtractionRequest, LongTermMemory, UnavailableError
from ltm_core.testing.extractor_contract import ExtractorContract, clause
from ltm_core.testing.langchain_model import ScriptedChatModel

SAID = "With my oboe I can breathe again."
ANSWER = '{"facts": [{"clause": "c1", "subject": "user", "relation": "plays", "object": "oboe"}]}'
REQUEST = ExtractionRequest(clauses=(clause(SAID),))


class RefusedError(Exception):
    """As providers raise it."""

    def __init__(self, status_code: int) -> None:
        super().__init__(f"{status_code} {SAID}")
        self.status_code = status_code


class Picky(ScriptedChatModel):
    """Takes the response formats named, raises for others."""

    takes: tuple[str, ...] = ()
    status: int = 400
    asked: list[str] = []  # noqa: RUF012

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        wanted = kwargs.get("response_format", {}).get("type", "text")
        self.asked.append(wanted)
        if wanted not in self.takes:
            raise RefusedError(self.status)
        return super()._generate(messages, *args, **kwargs)


def says(answer: str) -> ScriptedChatModel:
    return ScriptedChatModel(reply=lambda _: answer)


class TestContract(ExtractorContract):
    @pytest.fixture
    def extractor(self) -> Any:
        return ChatModelExtractor(says(ANSWER))


@contextmanager
def opened(extractor: Any) -> Iterator[LongTermMemory]:
    with LongTermMemory.open(
        ":memory:", embedder="none", timezone="UTC", extractor=extractor, extract_in_background=False
    ) as memory:
        yield memory


def test_what_the_model_finds_is_known() -> None:
    model = says(f"```json\n{ANSWER}\n```")
    with opened(ChatModelExtractor(model)) as memory:
        memory.observe(user_id="ana", session_id="s", user=f"{SAID} Is it late?")
        assert memory.work().changes == {"add": 1}
        (fact,) = memory.facts(user_id="ana")
        assert (fact.relation, fact.object, fact.rule) == ("plays", "oboe", "llm/ScriptedChatModel")
    system, human = model.prompts[0]
    assert system.type == "system" and SAID in str(human.content) and "late" not in str(human.content)


@pytest.mark.parametrize(
    ("takes", "modes"),
    [
        (("json_schema",), ["json_schema", "json_schema"]),
        (("json_object",), ["json_schema", "json_object", "json_object"]),
        (("text",), ["json_schema", "json_object", "text", "text"]),
    ],
)
def test_the_mode_that_works_is_remembered(takes: tuple[str, ...], modes: list[str]) -> None:
    model = Picky(reply=lambda _: ANSWER, takes=takes, asked=[])
    extractor = ChatModelExtractor(model)
    for _ in range(2):
        assert [f.object for f in extractor.extract(REQUEST)] == ["oboe"]
    assert model.asked == modes


@pytest.mark.parametrize("status", [401, 429])
def test_a_refused_key_or_a_busy_server_is_asked_once(status: int) -> None:
    model = Picky(reply=lambda _: ANSWER, status=status, asked=[])
    with pytest.raises(UnavailableError) as e:
        ChatModelExtractor(model).extract(REQUEST)
    assert model.asked == ["json_schema"] and "oboe" not in str(e.value)


@pytest.mark.parametrize("error", [TimeoutError, ConnectionError])
def test_a_lost_connection_is_said_without_words(error: type[Exception]) -> None:
    def fail(_: list[BaseMessage]) -> str:
        raise error(SAID)

    model = ScriptedChatModel(reply=fail)
    with pytest.raises(UnavailableError) as e:
        ChatModelExtractor(model).extract(REQUEST)
    assert len(model.prompts) == 1 and "oboe" not in str(e.value)


def test_content_in_blocks_is_read_without_the_reasoning() -> None:
    blocks: Any = [{"type": "reasoning", "text": '{"facts": []}'}, {"type": "text", "text": ANSWER}]
    model = ScriptedChatModel(reply=lambda _: AIMessage(content=blocks))
    assert [f.object for f in ChatModelExtractor(model).extract(REQUEST)] == ["oboe"]


def test_a_chain_that_happens_to_run_does_not_see_the_call() -> None:
    seen: list[str] = []

    class Listener(BaseCallbackHandler):
        def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
            seen.append("asked")

    extractor = ChatModelExtractor(says(ANSWER))
    chain: Callable[..., Any] = RunnableLambda(lambda _: extractor.extract(REQUEST)).invoke
    assert chain("x", config={"callbacks": [Listener()]}) and seen == []


def test_names_and_wrong_models() -> None:
    assert ChatModelExtractor(says(ANSWER), name="qwen\n2.5").name == "qwen 2.5"
    with pytest.raises(ConfigError, match="BaseChatModel"):
        ChatModelExtractor("gpt-4o")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="ChatModelExtractor"):
        LongTermMemory.open(":memory:", extractor=says(ANSWER), embedder="none")
