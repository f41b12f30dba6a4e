"""LTMMemoryBlock in the host's own Memory."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.memory import InsertMethod, Memory

import ltm_core
from llamaindex_ltm import LTMMemoryBlock
from ltm_core import LongTermMemory
from ltm_core.errors import ConfigError, InvalidScopeError, UnavailableError
from ltm_core.testing.llamaindex_model import ScriptedLLM


def user(text: str) -> ChatMessage:
    return ChatMessage(role=MessageRole.USER, content=text)


def assistant(text: str) -> ChatMessage:
    return ChatMessage(role=MessageRole.ASSISTANT, content=text)


def words(text: str) -> list[str]:
    return text.split()


def host(block: LTMMemoryBlock | None, session: str, *, limit: int = 30_000, flush: int = 3000) -> Memory:
    return Memory.from_defaults(
        session_id=session,
        token_limit=limit,
        token_flush_size=flush,
        memory_blocks=[block] if block else [],
        tokenizer_fn=words,
    )


def said(memory: LongTermMemory, user_id: str, session_id: str) -> list[str]:
    return [m.content for m in memory.messages(user_id=user_id, session_id=session_id)]


def shown(messages: Sequence[ChatMessage]) -> str:
    return "\n".join(str(m) for m in messages)


def test_a_session_that_never_overflows_is_learnt_from(memory: LongTermMemory) -> None:
    block = LTMMemoryBlock(memory, user_id="ana")
    llm = ScriptedLLM(reply=lambda _: "Noted.")
    SimpleChatEngine.from_defaults(llm=llm, memory=host(block, "s1")).chat("I am allergic to peanuts.")
    assert said(memory, "ana", "s1") == ["I am allergic to peanuts."], "before the model answered"
    SimpleChatEngine.from_defaults(llm=llm, memory=host(block, "s2")).chat("What allergic things must I avoid?")
    assert "peanuts" in shown(llm.prompts[-1])


def test_the_question_of_a_context_engine_is_learnt_once(memory: LongTermMemory) -> None:
    # These engines ask for memories with the new words, and put them only when they were answered.
    block = LTMMemoryBlock(memory, user_id="ana")
    kept = host(block, "s1")
    for text in ("I live in Porto.", "ok", "ok"):
        kept.get(input=text)
        kept.get(input=text)
        kept.put_messages([user(text), assistant("Good.")])
    kept.get()
    assert said(memory, "ana", "s1") == ["I live in Porto.", "Good.", "ok", "Good.", "ok", "Good."]
    assert [f.support_count for f in memory.facts(user_id="ana")] == [1]


def test_an_agent_asks_again_with_words_it_has_put(memory: LongTermMemory) -> None:
    kept = host(LTMMemoryBlock(memory, user_id="ana"), "s1")
    kept.put(user("I live in Porto."))
    kept.get()
    kept.get(input="I live in Porto.")
    assert said(memory, "ana", "s1") == ["I live in Porto."]


def test_the_last_answer_is_learnt_when_it_is_asked_for(memory: LongTermMemory) -> None:
    block = LTMMemoryBlock(memory, user_id="ana")
    kept = host(block, "s1")
    kept.put_messages([user("Which train?"), assistant("The 8:12 to Leeds.")])
    assert said(memory, "ana", "s1") == []
    asyncio.run(block.alearn(kept))
    asyncio.run(block.alearn(kept))
    assert said(memory, "ana", "s1") == ["Which train?", "The 8:12 to Leeds."]


@pytest.mark.parametrize("asks", [True, False])
def test_what_is_flushed_is_stored_once(memory: LongTermMemory, asks: bool) -> None:
    block = LTMMemoryBlock(memory, user_id="ana")
    kept = host(block, "s1", limit=60, flush=20)
    turns = [m for i in range(12) for m in (user(f"I like the number {i} a lot"), assistant(f"answer number {i}"))]
    for turn in turns:
        kept.put(turn)
        if asks:
            kept.get()
    if not asks:
        asyncio.run(block.alearn(kept))
    assert said(memory, "ana", "s1") == [m.content for m in turns]
    assert len(kept.get_all()) == 24


def test_a_single_flushed_message_is_known(memory: LongTermMemory) -> None:
    block = LTMMemoryBlock(memory, user_id="ana")
    talk = [user("one"), assistant("two"), user("three")]
    asyncio.run(block.aget(talk, session_id="s1"))
    asyncio.run(block.aput([user("one")], from_short_term_memory=True, session_id="s1"))
    asyncio.run(block.aput([user("four")], from_short_term_memory=True, session_id="s1"))
    assert said(memory, "ana", "s1") == ["one", "two", "three", "four"]


def test_one_block_for_two_sessions_and_two_users(memory: LongTermMemory) -> None:
    block = LTMMemoryBlock(memory)

    async def talk(who: str, town: str) -> str:
        with ltm_core.scope(who):
            await block.aget([user(f"I live in {town}.")], session_id="one")
            await block.aget([user("Hello.")], session_id="two")
            return await block.aget([user("Where do I live?")], session_id="two")

    async def both() -> list[str]:
        return list(await asyncio.gather(talk("ana", "Porto"), talk("ben", "Leeds")))

    ana, ben = asyncio.run(both())
    assert "Porto" in ana and "Leeds" not in ana
    assert "Leeds" in ben and "Porto" not in ben
    assert said(memory, "ana", "one") == ["I live in Porto."]
    assert said(memory, "ben", "two") == ["Hello.", "Where do I live?"]
    with pytest.raises(InvalidScopeError):
        asyncio.run(block.aget([user("Where do I live?")], session_id="two"))


def test_what_the_host_shows_anyway_is_not_repeated(memory: LongTermMemory) -> None:
    block = LTMMemoryBlock(memory, user_id="ana")
    kept = host(block, "s1")
    kept.put_messages([user("My bike is red."), assistant("Nice.")])
    prompt = kept.get(input="What colour is my bike?")
    assert shown(prompt).count("red") == 1


def test_what_was_forgotten_is_not_learnt_again_from_the_hosts_history(memory: LongTermMemory) -> None:
    block = LTMMemoryBlock(memory, user_id="ana")
    kept = host(block, "s1")
    kept.put(user("My locker code is 4417."))
    kept.get()
    (fact, *_) = memory.facts(user_id="ana").items
    memory.forget(fact.id, user_id="ana")
    kept.put(assistant("Noted."))
    kept.get(input="Thank you.")
    assert not any("4417" in text for text in said(memory, "ana", "s1"))
    assert not any("4417" in f.text for f in memory.facts(user_id="ana"))


def test_reading_only(memory: LongTermMemory) -> None:
    block = LTMMemoryBlock(memory, user_id="ana", learns=False)
    memory.observe(user_id="ana", session_id="old", user="I live in Porto.")
    kept = host(block, "s1")
    assert "Porto" in shown(kept.get(input="Where do I live?"))
    assert said(memory, "ana", "s1") == []


@pytest.mark.parametrize("method", [InsertMethod.SYSTEM, InsertMethod.USER])
def test_memories_are_inert_in_the_hosts_template(memory: LongTermMemory, method: InsertMethod) -> None:
    memory.observe(user_id="ana", session_id="old", user="I write {query_str} and {{ x }} into my notes every day.")
    kept = host(LTMMemoryBlock(memory, user_id="ana"), "s1")
    kept.insert_method = method
    kept.put(user("What do I write into my notes every day?"))
    text = shown(kept.get())
    assert "{ query_str }" in text
    assert "{{ x }}" in text


def test_the_hosts_limit_shortens_the_memories(memory: LongTermMemory) -> None:
    for n in range(8):
        memory.observe(user_id="ana", session_id="old", user=f"I have a cat called Minou{n} who sleeps all day long.")
    block = LTMMemoryBlock(memory, user_id="ana")
    whole = asyncio.run(block.aget([user("What are my cats called?")], session_id="s1"))
    assert whole.count("\n- ") > 2
    small = asyncio.run(block.atruncate(whole, 20))
    assert small is not None
    assert 0 < small.count("\n- ") < whole.count("\n- ")
    assert small.splitlines()[-1] == whole.splitlines()[-1], "the fence is still closed"
    assert asyncio.run(block.atruncate(whole, 10_000)) is None
    assert asyncio.run(block.atruncate("", 5)) is None
    room = len(words(whole)) - 10
    kept = host(block, "s1", limit=room)
    assert len(words(shown(kept.get(input="What are my cats called?")))) <= room + 8


def test_a_broken_store_loses_no_flushed_turn(memory: LongTermMemory, caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        location = memory.location
        broken = True

        def __getattr__(self, name: str) -> object:
            return getattr(memory, name)

        def observe(self, **_: object) -> None:
            """Only the async twin is called."""

        async def aobserve(self, **options: object) -> object:
            if self.broken:
                raise UnavailableError("scripted failure")
            return await memory.aobserve(**options)  # type: ignore[arg-type]

    store = Broken()
    block = LTMMemoryBlock(store, user_id="ana")
    flushed = [user("My secret is Rosebud."), assistant("Ok.")]
    asyncio.run(block.aput(flushed, from_short_term_memory=True, session_id="s1"))
    assert asyncio.run(block.aget([user("Hello.")], session_id="s1")) == ""
    assert "Rosebud" not in caplog.text and caplog.messages
    store.broken = False
    asyncio.run(block.aput([user("More."), assistant("Yes.")], from_short_term_memory=True, session_id="s1"))
    assert said(memory, "ana", "s1") == ["My secret is Rosebud.", "Ok.", "More.", "Yes."]
    strict = LTMMemoryBlock(Broken(), user_id="ana", strict=True)
    with pytest.raises(UnavailableError):
        asyncio.run(strict.aput([user("Another one.")], session_id="s1"))


def test_options(memory: LongTermMemory, tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        LTMMemoryBlock(memory, location=tmp_path, user_id="ana")
    with pytest.raises(InvalidScopeError):
        LTMMemoryBlock(memory, user_id=" ")
    with pytest.raises(ValueError, match="usr_id"):
        LTMMemoryBlock(memory, usr_id="ana")
    again = LTMMemoryBlock.model_validate(LTMMemoryBlock(memory, user_id="ana", priority=2).model_dump())
    assert again._memory is memory
    assert again.priority == 2
