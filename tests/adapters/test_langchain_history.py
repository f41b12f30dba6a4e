"""LTMChatMessageHistory and ltm_recall in RunnableWithMessageHistory and plain LCEL chains."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory

import ltm_core
from langchain_ltm import LTMChatMessageHistory, ltm_history_factory, ltm_recall
from ltm_core import LongTermMemory
from ltm_core.errors import ConfigError, InvalidInputError, InvalidScopeError, UnavailableError
from ltm_core.testing.embedders import HashEmbedder
from ltm_core.testing.langchain_model import ScriptedChatModel

pytestmark = [
    # The host deprecates what this adapter is for; users are to see that, tests need not.
    pytest.mark.filterwarnings("ignore:RunnableWithMessageHistory is deprecated"),
]

PROMPT = ChatPromptTemplate.from_messages(
    [("system", "Be brief.\n{memory}"), MessagesPlaceholder("history"), ("human", "{input}")]
)
BARE = ChatPromptTemplate.from_messages([MessagesPlaceholder("history"), ("human", "{input}")])
Reply = str | Callable[[list[BaseMessage]], str]


def model(reply: Reply = "Noted.") -> ScriptedChatModel:
    return ScriptedChatModel(reply=reply if callable(reply) else lambda _: reply)


def chain_for(memory: Any, llm: ScriptedChatModel, *, step: Runnable[Any, Any] | None = None, **options: Any) -> Any:
    factory = ltm_history_factory(memory, **options)
    inner = RunnablePassthrough.assign(memory=step or ltm_recall()) | PROMPT | llm
    return RunnableWithMessageHistory(
        inner,
        factory,
        input_messages_key="input",
        history_messages_key="history",
        history_factory_config=factory.fields,
    )


def who(user_id: str = "ana", session_id: str = "s1") -> Any:
    return {"configurable": {"user_id": user_id, "session_id": session_id}}


def turns(memory: LongTermMemory, user_id: str = "ana", session_id: str | None = None) -> list[tuple[str, str]]:
    return [(m.role, m.content) for m in memory.messages(user_id=user_id, session_id=session_id)]


def spoken(messages: list[BaseMessage]) -> list[tuple[str, str]]:
    return [(m.type, m.text) for m in messages]


# in RunnableWithMessageHistory -------------------------------------------------------------------------------
def test_history_and_memories_reach_the_prompt(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="old", user="I live in Porto.")
    llm = model("Hello.")
    chain = chain_for(memory, llm)
    chain.invoke({"input": "Hi, it is me again."}, who())
    chain.invoke({"input": "Where do I live?"}, who())
    system, *rest = llm.prompts[-1]
    assert "Porto" in system.text and "it is me again" not in system.text
    assert spoken(rest) == [("human", "Hi, it is me again."), ("ai", "Hello."), ("human", "Where do I live?")]
    said = memory.messages(user_id="ana", session_id="s1").items
    assert [m.role for m in said] == ["user", "assistant"] * 2
    assert [m.reply_to for m in said[1::2]] == [m.id for m in said[::2]]


def test_users_are_apart_and_a_restart_changes_nothing(tmp_path: Path) -> None:
    for number, text in enumerate(("I live in {}.", "Where do I live?")):
        for user, town, other in (("ana", "Porto", "Leeds"), ("ben", "Leeds", "Porto")):
            llm = model("ok")
            with LongTermMemory.open(tmp_path / "store", embedder=HashEmbedder(), timezone="UTC") as opened:
                chain_for(opened, llm).invoke({"input": text.format(town)}, who(user, "shared"))
            shown = str(llm.prompts[-1])
            assert town in shown and other not in shown
            assert len(llm.prompts[-1]) == 2 + 2 * number


def test_async_streams_store_whole_messages(memory: LongTermMemory, tmp_path: Path) -> None:
    llm = model("Nice to hear that.")
    chain = chain_for(memory, llm)

    async def talk() -> None:
        async for _ in chain.astream({"input": "I live in Porto."}, who()):
            pass
        assert await chain.ainvoke({"input": "It is sunny."}, who())
        await asyncio.gather(*(chain.ainvoke({"input": f"I am user {n}."}, who(f"u{n}")) for n in range(8)))

    asyncio.run(talk())
    list(chain.stream({"input": "Where do I live?"}, who()))
    assert [(r, c.strip()) for r, c in turns(memory)] == [
        ("user", "I live in Porto."),
        ("assistant", "Nice to hear that."),
        ("user", "It is sunny."),
        ("assistant", "Nice to hear that."),
        ("user", "Where do I live?"),
        ("assistant", "Nice to hear that."),
    ]
    for number in range(8):
        assert turns(memory, f"u{number}") == [("user", f"I am user {number}."), ("assistant", "Nice to hear that.")]
    read = LTMChatMessageHistory(memory, user_id="ana", session_id="s1").messages
    assert {type(m) for m in read} == {HumanMessage, AIMessage}


def test_a_stream_closed_early_keeps_the_words(memory: LongTermMemory) -> None:
    chain = chain_for(memory, model("one two three"))

    async def stop() -> None:
        stream = chain.astream({"input": "I am allergic to bees."}, who())
        await anext(stream)
        await stream.aclose()

    asyncio.run(stop())
    assert turns(memory) == [("user", "I am allergic to bees.")]
    assert "bees" in memory.context("allergies?", user_id="ana", session_id="s2").text
    stream = chain.stream({"input": "I am allergic to nuts."}, who())
    next(stream)
    stream.close()
    assert turns(memory)[-1] == ("user", "I am allergic to nuts.")


def test_a_model_error_keeps_the_words_and_trying_again_is_one_turn(memory: LongTermMemory) -> None:
    calls: list[int] = []

    def fail_twice(_: list[BaseMessage]) -> str:
        calls.append(1)
        if len(calls) < 3:
            raise RuntimeError("model down")
        return "Careful, then."

    llm = model(fail_twice)
    chain = chain_for(memory, llm)
    for _ in range(2):
        with pytest.raises(RuntimeError):
            chain.invoke({"input": "I am allergic to bees."}, who())
    chain.invoke({"input": "I am allergic to bees."}, who())
    assert turns(memory) == [("user", "I am allergic to bees."), ("assistant", "Careful, then.")]


def test_a_step_that_is_retried_is_one_turn(memory: LongTermMemory) -> None:
    calls: list[int] = []

    def fail_once(_: list[BaseMessage]) -> str:
        calls.append(1)
        if len(calls) == 1:
            raise RuntimeError("model down")
        return "Fine."

    factory = ltm_history_factory(memory, user_id="ana")
    inner: Runnable[Any, Any] = RunnablePassthrough.assign(memory=ltm_recall()) | PROMPT | model(fail_once)
    chain = RunnableWithMessageHistory(
        inner.with_retry(stop_after_attempt=2, wait_exponential_jitter=False),
        factory,
        input_messages_key="input",
        history_messages_key="history",
    )
    chain.invoke({"input": "Hello."}, {"configurable": {"session_id": "s1"}})
    assert turns(memory) == [("user", "Hello."), ("assistant", "Fine.")]


def test_equal_inputs_at_once_are_turns_of_their_own(memory: LongTermMemory) -> None:
    together = threading.Barrier(3, timeout=20)

    def reply(_: list[BaseMessage]) -> str:
        together.wait()
        return "Good."

    chain = chain_for(memory, model(reply))
    chain.batch([{"input": "ok"}] * 3, config=[who()] * 3, max_concurrency=3)
    stored = memory.messages(user_id="ana").items
    said = [m.id for m in stored if m.role == "user"]
    assert len(said) == 3
    assert sorted(m.reply_to or "" for m in stored if m.role == "assistant") == sorted(said)


def test_batch_serves_many_users(memory: LongTermMemory) -> None:
    llm = model("ok")
    chain = chain_for(memory, llm)
    chain.batch([{"input": f"My name is Name{n}."} for n in range(6)], config=[who(f"u{n}") for n in range(6)])
    for number in range(6):
        assert turns(memory, f"u{number}") == [("user", f"My name is Name{number}."), ("assistant", "ok")]


def test_the_same_words_later_are_a_new_turn(memory: LongTermMemory) -> None:
    chain = chain_for(memory, model("Good."))
    for _ in range(3):
        chain.invoke({"input": "好的"}, who())
    assert turns(memory) == [("user", "好的"), ("assistant", "Good.")] * 3


def test_without_the_recall_step_turns_are_stored_at_the_end(memory: LongTermMemory) -> None:
    llm = model("Good.")
    chain = RunnableWithMessageHistory(
        BARE | llm,
        ltm_history_factory(memory, user_id="ana"),
        input_messages_key="input",
        history_messages_key="history",
    )
    config: Any = {"configurable": {"session_id": "s1"}}
    for _ in range(2):
        chain.invoke({"input": "ok"}, config)
    chain.invoke({"input": HumanMessage("third", id="m3")}, config)
    assert [c for _, c in turns(memory)] == ["ok", "Good.", "ok", "Good.", "third", "Good."]
    assert memory.messages(user_id="ana").items[4].id == "m3"


@pytest.mark.parametrize("recalling", [True, False])
def test_a_list_of_messages_without_a_history_key(memory: LongTermMemory, recalling: bool) -> None:
    """The host then cuts off as many messages as the history has at the end; the user's turn must not be lost."""
    llm = model("Good.")

    def asked(messages: list[BaseMessage]) -> list[BaseMessage]:
        return messages[-1:]

    step: Any = RunnablePassthrough() | asked | ltm_recall()

    def both(messages: list[BaseMessage], config: Any) -> list[BaseMessage]:
        if recalling:
            return [SystemMessage(step.invoke(messages, config) or "none"), *messages]
        return messages

    chain = RunnableWithMessageHistory(
        RunnableLambda(both) | llm, ltm_history_factory(memory, user_id="ana", window_turns=2)
    )
    for number in range(4):
        chain.invoke([HumanMessage(f"Sentence {number}.")], {"configurable": {"session_id": "s1"}})
    assert turns(memory) == [t for n in range(4) for t in (("user", f"Sentence {n}."), ("assistant", "Good."))]
    assert [m.text for m in llm.prompts[-1] if m.type == "human"] == ["Sentence 1.", "Sentence 2.", "Sentence 3."]


@pytest.mark.parametrize("recalling", [True, False])
def test_passing_the_whole_conversation_does_not_double_it(memory: LongTermMemory, recalling: bool) -> None:
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("history"), MessagesPlaceholder("input")])
    step: Any = RunnablePassthrough.assign(memory=ltm_recall(input_key="input"))
    chain = RunnableWithMessageHistory(
        (step | prompt if recalling else prompt) | model("Reply."),
        ltm_history_factory(memory, user_id="ana"),
        input_messages_key="input",
        history_messages_key="history",
    )
    talk: list[BaseMessage] = []
    for number in range(3):
        talk.append(HumanMessage(f"Sentence number {number}.", id=f"h{number}"))
        answer = chain.invoke({"input": list(talk)}, {"configurable": {"session_id": "s1"}})
        talk.append(AIMessage(answer.text))
    assert [c for _, c in turns(memory)] == [m.text for m in talk]


def test_a_chain_that_ends_in_text(memory: LongTermMemory) -> None:
    factory = ltm_history_factory(memory)
    chain = RunnableWithMessageHistory(
        RunnablePassthrough.assign(memory=ltm_recall()) | PROMPT | model("Good.") | StrOutputParser(),
        factory,
        input_messages_key="input",
        history_messages_key="history",
        history_factory_config=factory.fields,
    )
    assert chain.invoke({"input": "Hello."}, who()) == "Good."
    assert turns(memory) == [("user", "Hello."), ("assistant", "Good.")]


def test_recalled_text_is_never_learnt_again(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="s0", user="I have two cats.")
    facts = len(memory.facts(user_id="ana"))
    llm = model("I see.")
    chain = chain_for(memory, llm)
    for number in range(10):
        chain.invoke({"input": ("How are my cats?", "Do I have cats?")[number % 2]}, who())
        LTMChatMessageHistory(memory, user_id="ana", session_id="s2").add_messages(llm.prompts[-1])
    assert "two cats" in llm.prompts[-1][0].text
    assert len(memory.facts(user_id="ana")) == facts
    assert not any("<memory" in c for _, c in turns(memory))


# the recall step alone ---------------------------------------------------------------------------------------
def test_recall_in_a_plain_chain(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="old", user="I live in Porto.")
    llm = model("ok")
    prompt = ChatPromptTemplate.from_messages([("system", "{memory}"), ("human", "{question}")])
    chain = RunnablePassthrough.assign(memory=ltm_recall(memory, observe=False)) | prompt | llm
    chain.invoke({"question": "Where do I live?"}, who())
    assert "Porto" in llm.prompts[-1][0].text
    asyncio.run(chain.ainvoke({"question": "Where do I live?"}, who("ben")))
    assert "Porto" not in llm.prompts[-1][0].text
    assert len(turns(memory)) == 1
    assert "Porto" in ltm_recall(memory, user_id="ana").invoke("Where do I live?")
    assert turns(memory)[-1] == ("user", "Where do I live?")


def test_recall_needs_a_memory_and_a_clear_input(memory: LongTermMemory) -> None:
    with pytest.raises(ConfigError, match="memory="):
        ltm_recall().invoke("Hi.", who())
    with pytest.raises(InvalidScopeError):
        ltm_recall(memory).invoke("Hi.")
    with pytest.raises(InvalidInputError, match="input_key"):
        ltm_recall(memory).invoke({"a": "x", "b": "y"}, who())


# the history alone -------------------------------------------------------------------------------------------
def test_the_window(memory: LongTermMemory) -> None:
    history = LTMChatMessageHistory(memory, user_id="ana", session_id="s1", window_turns=3)
    assert history.messages == []
    for number in range(20):
        history.add_user_message(f"Sentence {number}.")
        history.add_ai_message(f"Reply {number}.")
    assert spoken(history.messages) == [
        (kind, f"{word} {n}.") for n in (17, 18, 19) for kind, word in (("human", "Sentence"), ("ai", "Reply"))
    ]
    assert isinstance(history.messages, list)
    assert history.messages == asyncio.run(history.aget_messages())
    whole = LTMChatMessageHistory(memory, user_id="ana", session_id="s1")
    assert len(whole.messages) == 2 * memory.config.window_turns
    stored = memory.messages(user_id="ana").items
    assert all(a.reply_to == u.id for u, a in zip(stored[::2], stored[1::2], strict=True))
    history.clear()
    assert history.messages == [] and len(turns(memory)) == 40


def test_ids_names_chunks_pictures_and_tools(memory: LongTermMemory) -> None:
    history = LTMChatMessageHistory(memory, user_id="ana", session_id="s1")
    pictured: list[str | dict[str, Any]] = [
        {"type": "text", "text": "This is my new bike"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "iVBORw0KGgo" * 20_000}},
    ]
    history.add_messages([HumanMessage(pictured, id="h1"), AIMessageChunk(content="Lovely.", id="a1")])
    history.add_messages([HumanMessage(pictured, id="h1"), AIMessageChunk(content="Lovely.", id="a1")])
    asked = AIMessage("", tool_calls=[{"name": "f", "args": {"x": 1}, "id": "c1"}])
    history.add_messages(
        [HumanMessage("Sum?"), asked, ToolMessage("I live in Dublin. 42", tool_call_id="c1"), AIMessage("42.")]
    )
    assert spoken(history.messages) == [
        ("human", "This is my new bike\n[image]"),
        ("ai", "Lovely."),
        ("human", "Sum?"),
        ("ai", "42."),
    ]
    assert [m.id for m in history.messages[:2]] == ["h1", "a1"]
    assert [f.object for f in memory.facts(user_id="ana") if "Dublin" in f.text] == []
    history.add_messages([])
    history.add_messages([SystemMessage("Be brief."), HumanMessage(" ")])
    assert len(turns(memory)) == 5


def test_async_methods(memory: LongTermMemory) -> None:
    history = LTMChatMessageHistory(memory, user_id="ana", session_id="s1")

    async def talk() -> None:
        await history.aobserve("I live in Porto.")
        await history.aadd_messages([HumanMessage("I live in Porto."), AIMessage("Nice.")])
        assert spoken(await history.aget_messages()) == [("human", "I live in Porto."), ("ai", "Nice.")]
        await history.aclear()
        assert await history.aget_messages() == []

    asyncio.run(talk())
    assert len(turns(memory)) == 2
    history.observe(HumanMessage("Bye."))
    assert turns(memory)[-1] == ("user", "Bye.")


def test_threads_on_one_history(memory: LongTermMemory) -> None:
    history = LTMChatMessageHistory(memory, user_id="ana", session_id="s1", window_turns=50)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: history.add_messages([HumanMessage(f"Q{n}"), AIMessage(f"A{n}")]), range(12)))
    stored = {m.id: m for m in memory.messages(user_id="ana")}
    pairs = {(stored[m.reply_to or ""].content, m.content) for m in stored.values() if m.role == "assistant"}
    assert pairs == {(f"Q{n}", f"A{n}") for n in range(12)}


# the factory -------------------------------------------------------------------------------------------------
class NoIO:
    """A memory that must not be asked anything."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._refuse

    def _refuse(self, **_: Any) -> None:
        raise AssertionError("the factory reads or writes")


def test_the_factory_does_no_io_and_refuses_blank_ids() -> None:
    factory = ltm_history_factory(NoIO())
    assert [f.id for f in factory.fields] == ["user_id", "session_id"]
    assert factory("ana", "s").scope == factory(user_id="ana", session_id="s").scope
    for ids in ({"user_id": "", "session_id": "s"}, {"user_id": "ana", "session_id": " "}):
        with pytest.raises(InvalidScopeError):
            factory(**ids)
    with pytest.raises(InvalidInputError):
        factory(user_id=None, session_id="s")
    one = ltm_history_factory(NoIO(), user_id="ana")
    assert one("s").scope.session_id == "s" and [f.id for f in one.fields] == ["session_id"]
    with pytest.raises(ConfigError):
        ltm_history_factory("./ltm-data")
    with pytest.raises(ConfigError):
        ltm_history_factory(NoIO(), window_turns=0)
    with ltm_core.scope("ben"), pytest.raises(InvalidScopeError):
        one("s")


@pytest.mark.parametrize("given", [{}, {"session_id": "s1"}, {"user_id": "", "session_id": "s1"}])
def test_a_call_without_a_user_is_refused(memory: LongTermMemory, given: Any) -> None:
    llm = model()
    with pytest.raises(ValueError, match="user_id"):
        chain_for(memory, llm).invoke({"input": "Hi."}, {"configurable": given})
    assert llm.prompts == []


# failures ----------------------------------------------------------------------------------------------------
class Broken:
    """A memory whose every call fails."""

    def observe(self, **_: Any) -> None:
        raise UnavailableError("scripted failure")

    messages = context = clear_window = observe


def test_a_broken_store_does_not_lose_the_answer(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="ltm"):
        done = chain_for(Broken(), model("Still here.")).invoke({"input": "My secret is Rosebud."}, who())
    assert done.text == "Still here."
    assert len(caplog.messages) == 4
    assert not any("Rosebud" in m for m in caplog.messages)
    with pytest.raises(UnavailableError):
        LTMChatMessageHistory(Broken(), user_id="ana", strict=True).add_messages([HumanMessage("Hi.")])
