"""Faults that people reported of LlamaIndex's own memories (run-llama/llama_index, by number): ours is without."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, MessageRole, TextBlock
from llama_index.core.chat_engine import CondensePlusContextChatEngine, ContextChatEngine, SimpleChatEngine
from llama_index.core.memory import Memory
from llama_index.core.storage.chat_store import SimpleChatStore

from llamaindex_ltm import (
    LTMChatStore,
    LTMDBChatStore,
    LTMEmbedding,
    LTMMemory,
    LTMMemoryBlock,
    LTMNodePostprocessor,
    import_chat_store,
)
from ltm_core import LongTermMemory
from ltm_core.errors import UnavailableError
from ltm_core.testing.embedders import HashEmbedder
from ltm_core.testing.llamaindex_model import ScriptedLLM


def user(text: str) -> ChatMessage:
    return ChatMessage(role=MessageRole.USER, content=text)


def assistant(text: str, **kwargs: Any) -> ChatMessage:
    return ChatMessage(role=MessageRole.ASSISTANT, content=text, additional_kwargs=kwargs)


def texts(messages: Sequence[ChatMessage]) -> list[str | None]:
    return [m.content for m in messages]


def model(answer: str = "Noted.") -> ScriptedLLM:
    return ScriptedLLM(reply=lambda _: answer)


def shown(messages: Sequence[ChatMessage]) -> str:
    return "\n".join(str(m) for m in messages)


def test_22701_a_shared_block_sticks_to_no_session(memory: LongTermMemory) -> None:
    blocks = {who: LTMMemoryBlock(memory, user_id=who) for who in ("ana", "ben")}
    asyncio.run(blocks["ana"].aget([user("My cat is called Minou.")], session_id="A"))
    asyncio.run(blocks["ben"].aget([user("Hello.")], session_id="A"))
    question = [user("What is my cat called?")]
    assert "Minou" in asyncio.run(blocks["ana"].aget(question, session_id="B"))
    assert "Minou" not in asyncio.run(blocks["ben"].aget(question, session_id="A"))


def test_22867_a_block_that_fails_at_the_flush_gets_the_turns_later(memory: LongTermMemory) -> None:
    class Flaky:
        location, failures = memory.location, 3

        def __getattr__(self, name: str) -> Any:
            return getattr(memory, name)

        async def aobserve(self, **options: Any) -> Any:
            if self.failures:
                self.failures -= 1
                raise UnavailableError("scripted failure")
            return await memory.aobserve(**options)

        def observe(self, **_: Any) -> None:
            """Only the async twin is called."""

    block = LTMMemoryBlock(Flaky(), user_id="ana")
    host = Memory.from_defaults(
        session_id="s", token_limit=30, token_flush_size=8, memory_blocks=[block], tokenizer_fn=str.split
    )
    said = [m for i in range(14) for m in (user(f"question number {i} is here"), assistant(f"answer number {i}"))]
    for m in said:
        host.put(m)
    asyncio.run(block.alearn(host))
    assert [m.content for m in memory.messages(user_id="ana")] == texts(said)


def test_23144_a_system_message_is_never_pushed_out(memory: LongTermMemory) -> None:
    kept = LTMMemory.from_defaults(memory, user_id="ana", token_limit=120)
    kept.put(ChatMessage(role=MessageRole.SYSTEM, content="Answer in French."))
    for i in range(40):
        kept.put_messages([user(f"Question number {i}?"), assistant("A long answer. " * 5)])
    # Memories come before it when they fit beside it, which the marks of their fence decide.
    assert next(t for t in texts(kept.get()) if t and not t.startswith("<memory ")) == "Answer in French."


def test_21950_and_13715_tool_calls_are_counted_and_not_torn_apart(memory: LongTermMemory) -> None:
    kept = LTMMemory.from_defaults(memory, user_id="ana", token_limit=50)
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": json.dumps({"x": "word " * 2000})}}
    kept.put_messages(
        [
            user("Do it."),
            assistant("", tool_calls=[call]),
            ChatMessage(role=MessageRole.TOOL, content="done", additional_kwargs={"tool_call_id": "c1"}),
            assistant("Done."),
            user("Thanks, and now?"),
        ]
    )
    assert texts(kept.get()) == ["Thanks, and now?"]


def test_22401_an_error_is_told_as_it_is(memory: LongTermMemory) -> None:
    class Broken:
        location = memory.location

        def __getattr__(self, name: str) -> Any:
            return getattr(memory, name)

        def observe(self, **_: Any) -> None:
            raise RuntimeError("the disk is on fire")

    async def inside_a_loop() -> None:
        with pytest.raises(RuntimeError, match="the disk is on fire"):
            LTMMemory.from_defaults(Broken(), user_id="ana", strict=True).put(user("x"))

    asyncio.run(inside_a_loop())


def test_23184_first_operations_at_once(tmp_path: Path) -> None:
    with LongTermMemory.open(tmp_path / "new", embedder=HashEmbedder(), timezone="UTC") as opened:

        async def all_at_once() -> None:
            stores = [LTMDBChatStore(opened, user_id="ana", strict=True) for _ in range(8)]
            await asyncio.gather(*(s.add_message("s", user(f"message {i}")) for i, s in enumerate(stores)))

        asyncio.run(all_at_once())
        assert len(opened.messages(user_id="ana")) == 8


@pytest.mark.parametrize("kind", [ContextChatEngine, CondensePlusContextChatEngine])
def test_20894_and_16857_no_documents_and_still_an_answer(memory: LongTermMemory, kind: Any) -> None:
    memory.observe(user_id="ana", session_id="old", user="I live in Porto.")
    retriever = VectorStoreIndex.from_documents([], embed_model=LTMEmbedding(HashEmbedder())).as_retriever()
    bare = LTMMemory.from_defaults(memory, user_id="ana", session_id="bare")
    engine = kind.from_defaults(retriever=retriever, llm=model(), memory=bare)
    if str(engine.chat("Where do I live?")) == "Empty Response":
        assert texts(bare.get_all()) == ["Where do I live?"], "the host's placeholder is not learnt"
    helped = kind.from_defaults(
        retriever=retriever,
        llm=model("In Porto."),
        memory=LTMMemory.from_defaults(memory, user_id="ana", session_id="helped"),
        node_postprocessors=[LTMNodePostprocessor(memory, user_id="ana", tiers=("semantic", "episodic"))],
    )
    assert str(helped.chat("Where do I live?")) == "In Porto."


@pytest.mark.parametrize("question", ["Where do I live?", user("Where do I live?")])
def test_19050_and_23180_the_present_words_drive_the_recall(memory: LongTermMemory, question: Any) -> None:
    memory.observe(user_id="ana", session_id="old", user="I live in Porto.")
    kept = LTMMemory.from_defaults(memory, user_id="ana")
    kept.put_messages([user("Tell me a joke."), assistant("No.")])
    assert "Porto" in shown(kept.get(input=question))


def test_20895_a_stream_that_nobody_reads(memory: LongTermMemory) -> None:
    kept = LTMMemory.from_defaults(memory, user_id="ana")
    SimpleChatEngine.from_defaults(llm=model("One two three."), memory=kept).stream_chat("Count.")
    deadline = time.monotonic() + 20
    while len(kept.get_all()) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert texts(kept.get_all()) == ["Count.", "One two three."]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_model_that_dies_in_mid_stream(memory: LongTermMemory) -> None:
    class Dies(ScriptedLLM):
        def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
            def parts() -> Any:
                yield from super(Dies, self).stream_chat(messages, **kwargs)
                raise RuntimeError("model down")

            return parts()

    kept = LTMMemory.from_defaults(memory, user_id="ana")
    engine = SimpleChatEngine.from_defaults(llm=Dies(reply=lambda _: "One two."), memory=kept)
    streamed = engine.stream_chat("I am allergic to bees.")
    with pytest.raises(Exception, match=r"model down|died|terminated"):
        for _ in streamed.response_gen:
            pass
        if streamed.exception:
            raise streamed.exception
    assert "bees" in memory.context("allergic?", user_id="ana", session_id="s2").text


def test_23151_other_blocks_of_a_message_are_kept(memory: LongTermMemory) -> None:
    kept = LTMMemory.from_defaults(memory, user_id="ana")
    blocks = [TextBlock(text="My bike"), ImageBlock(url="https://x.test/b.png"), TextBlock(text="is red")]
    kept.put(ChatMessage(role=MessageRole.USER, blocks=blocks))
    assert kept.get_all()[0].blocks == blocks


def test_22345_reading_writes_and_loses_nothing(memory: LongTermMemory) -> None:
    kept = LTMMemory.from_defaults(memory, user_id="ana", token_limit=60)
    kept.put_messages([m for i in range(10) for m in (user(f"Question {i}?"), assistant(f"Answer {i}."))])
    before = texts(kept.get_all())
    for _ in range(3):
        kept.get(input="Question?")
    assert texts(kept.get_all()) == before
    assert len(memory.messages(user_id="ana")) == 20


def test_13308_an_empty_history_erases_nothing(memory: LongTermMemory) -> None:
    LTMMemory.from_defaults(memory, user_id="ana").put(user("Hello."))
    kept = LTMMemory.from_defaults(memory, user_id="ana", chat_history=[])
    assert texts(kept.get_all()) == ["Hello."]


def test_7542_one_engine_for_many_users_needs_a_name(memory: LongTermMemory) -> None:
    import ltm_core

    engine = SimpleChatEngine.from_defaults(llm=model(), memory=LTMMemory.from_defaults(memory))
    with pytest.raises(ltm_core.InvalidScopeError):
        engine.chat("Hello.")

    async def ask(who: str) -> None:
        with ltm_core.scope(who, "s"):
            await engine.achat(f"My name is {who}.")

    async def all_users() -> None:
        await asyncio.gather(*(ask(f"User{i}") for i in range(10)))

    asyncio.run(all_users())
    for i in range(10):
        assert [m.content for m in memory.messages(user_id=f"User{i}")] == [f"My name is User{i}.", "Noted."]


def test_a_store_gives_out_no_live_lists(memory: LongTermMemory) -> None:
    # SimpleChatStore keeps the caller's list and returns it.
    for store in (LTMChatStore(memory, user_id="ana"), LTMChatStore(memory, user_id="ben")):
        mine = [user("Hello.")]
        store.set_messages("s", mine)
        mine.clear()
        store.get_messages("s").clear()
        assert texts(store.get_messages("s")) == ["Hello."]


def test_1204_memory_for_a_query_engine(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="old", user="I live in Porto.")
    index = VectorStoreIndex.from_documents([], embed_model=LTMEmbedding(HashEmbedder()))
    llm = model()
    index.as_query_engine(llm=llm, node_postprocessors=[LTMNodePostprocessor(memory, user_id="ana")]).query(
        "Where do I live?"
    )
    assert "Porto" in shown(llm.prompts[-1])


def test_no_condensing_call_when_nothing_is_known(memory: LongTermMemory) -> None:
    retriever = VectorStoreIndex.from_documents([], embed_model=LTMEmbedding(HashEmbedder())).as_retriever()
    llm = model()
    kept = LTMMemory.from_defaults(memory, user_id="ana")
    engine = CondensePlusContextChatEngine.from_defaults(
        retriever=retriever, llm=llm, memory=kept, node_postprocessors=[LTMNodePostprocessor(memory, user_id="ana")]
    )
    engine.chat("Hello there.")
    assert len(llm.prompts) <= 1


def test_an_import_and_the_chat_after_it(memory: LongTermMemory, caplog: pytest.LogCaptureFixture) -> None:
    store = SimpleChatStore()
    store.set_messages("s", [user("I live in Porto."), assistant("Noted.")])
    with caplog.at_level(logging.WARNING, logger="ltm"):
        import_chat_store(store, memory, user_id="ana")
        kept = LTMMemory.from_defaults(memory, user_id="ana", session_id="s")
        SimpleChatEngine.from_defaults(llm=model(), memory=kept).chat("And I am vegan.")
    assert texts(kept.get_all()) == ["I live in Porto.", "Noted.", "And I am vegan.", "Noted."]
    assert not caplog.messages
