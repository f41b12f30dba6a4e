"""LTMChatStore and LTMDBChatStore under the host's own memories."""

from __future__ import annotations

import asyncio
import copy
import inspect
import json
import pickle
import threading
from collections.abc import Sequence

import pytest
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.memory import ChatMemoryBuffer, Memory, StaticMemoryBlock
from llama_index.core.storage.chat_store.base_db import MessageStatus

import ltm_core
from llamaindex_ltm import LTMChatStore, LTMDBChatStore, LTMMemory
from ltm_core import LongTermMemory
from ltm_core.errors import InvalidInputError, InvalidScopeError
from ltm_core.testing.llamaindex_model import ScriptedLLM

takes_stores = pytest.mark.skipif(
    "chat_store" not in inspect.signature(Memory.from_defaults).parameters,
    reason="Memory takes a store of one's own since llama-index-core 0.14.24",
)


def user(text: str) -> ChatMessage:
    return ChatMessage(role=MessageRole.USER, content=text)


def assistant(text: str) -> ChatMessage:
    return ChatMessage(role=MessageRole.ASSISTANT, content=text)


def texts(messages: Sequence[ChatMessage] | None) -> list[str | None]:
    return [m.content for m in messages or ()]


# the store of ChatMemoryBuffer -------------------------------------------------------------------------------
def test_a_buffer_on_it_survives_and_teaches(memory: LongTermMemory) -> None:
    llm = ScriptedLLM(reply=lambda _: "Noted.")
    for text in ("I live in Porto.", "And I am vegan."):
        buffer = ChatMemoryBuffer.from_defaults(
            chat_store=LTMChatStore(memory, user_id="ana"), chat_store_key="s1", tokenizer_fn=str.split
        )
        SimpleChatEngine.from_defaults(llm=llm, memory=buffer).chat(text)
    assert texts(buffer.get_all()) == ["I live in Porto.", "Noted.", "And I am vegan.", "Noted."]
    assert len(memory.facts(user_id="ana")) == 2
    buffer.reset()
    assert buffer.get_all() == []
    assert len(memory.facts(user_id="ana")) == 2
    other = LTMMemory.from_defaults(memory, user_id="ana", session_id="s2")
    assert "Porto" in (other.get("Where do I live?")[0].content or "")


def test_every_method_and_its_async_form(memory: LongTermMemory) -> None:
    def sync_way(store: LTMChatStore) -> list[object]:
        out: list[object] = []
        store.set_messages("s", [user("a"), assistant("b"), user("c")])
        store.add_message("s", assistant("d"))
        out.append(texts(store.get_messages("s", initial_token_count=3)))
        gone, last, none = (
            store.delete_message("s", 1),
            store.delete_last_message("s"),
            store.delete_message("s", 9),
        )
        out.append((gone and gone.content, last and last.content, none))
        out.append(texts(store.get_messages("s")))
        out += [store.get_keys(), texts(store.delete_messages("s")), store.delete_messages("s"), store.get_keys()]
        return [*out, store.delete_last_message("s")]

    async def async_way(store: LTMChatStore) -> list[object]:
        out: list[object] = []
        await store.aset_messages("s", [user("a"), assistant("b"), user("c")])
        await store.async_add_message("s", assistant("d"))
        out.append(texts(await store.aget_messages("s")))
        gone = await store.adelete_message("s", 1)
        last = await store.adelete_last_message("s")
        none = await store.adelete_message("s", 9)
        out.append((gone and gone.content, last and last.content, none))
        out.append(texts(await store.aget_messages("s")))
        out += [await store.aget_keys(), texts(await store.adelete_messages("s")), await store.adelete_messages("s")]
        return [*out, await store.aget_keys(), await store.adelete_last_message("s")]

    expected = [["a", "b", "c", "d"], ("b", "d", None), ["a", "c"], ["s"], ["a", "c"], None, [], None]
    assert sync_way(LTMChatStore(memory, user_id="ana")) == expected
    assert asyncio.run(async_way(LTMChatStore(memory, user_id="ben"))) == expected
    # What left the window is still remembered.
    assert len(memory.messages(user_id="ana")) == 4


def test_messages_are_copies_and_keys_are_checked(memory: LongTermMemory) -> None:
    store = LTMChatStore(memory, user_id="ana")
    given = [user("a")]
    store.set_messages("s", given)
    given.append(user("b"))
    store.get_messages("s")[0].additional_kwargs["x"] = 1
    assert store.get_messages("s")[0].additional_kwargs == {}
    assert texts(store.get_messages("s")) == ["a"]
    for key in ("", "  "):
        with pytest.raises(InvalidScopeError):
            store.get_messages(key)
    with pytest.raises(NotImplementedError):
        store.add_message("s", user("x"), idx=0)


def test_one_store_for_all_users(memory: LongTermMemory) -> None:
    store = LTMChatStore(memory)
    with pytest.raises(InvalidScopeError):
        store.get_messages("s")
    for who in ("ana", "ben"):
        with ltm_core.scope(who):
            store.add_message("s", user(f"I am {who}."))
    with ltm_core.scope("ben"):
        assert texts(store.get_messages("s")) == ["I am ben."]
        assert store.get_keys() == ["s"]
    with ltm_core.scope("cai"):
        assert store.get_keys() == []


def test_the_store_comes_back_from_its_dict(memory: LongTermMemory) -> None:
    store = LTMChatStore(memory, user_id="ana")
    store.add_message("s", user("a"))
    data = json.loads(json.dumps(store.to_dict()))
    for again in (LTMChatStore.from_dict(data), pickle.loads(pickle.dumps(store)), copy.deepcopy(store)):
        assert again._memory is memory
        assert texts(again.get_messages("s")) == ["a"]


@pytest.mark.parametrize("kind", ["store", "db"])
def test_ten_writers_lose_and_double_nothing(memory: LongTermMemory, kind: str) -> None:
    def write(writer: int) -> None:
        mine = [user(f"writer {writer} says {n}") for n in range(8)]
        if kind == "store":
            store = LTMChatStore(memory, user_id="ana", strict=True)
            for m in mine:
                store.add_message("s", m)
        else:

            async def put() -> None:
                db = LTMDBChatStore(memory, user_id="ana", strict=True)
                for n, m in enumerate(mine):
                    await db.add_message("s", m)
                    if n % 4 == 3:
                        await db.archive_oldest_messages("s", 1)

            asyncio.run(put())

    asyncio.run(LTMDBChatStore(memory, user_id="ana").add_message("s", user("the first")))
    threads = [threading.Thread(target=write, args=(i,)) for i in range(10)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    everything = [m.content for m in memory.messages(user_id="ana", session_id="s")]
    assert sorted(everything) == sorted(["the first", *(f"writer {w} says {n}" for w in range(10) for n in range(8))])
    db = LTMDBChatStore(memory, user_id="ana")
    assert asyncio.run(db.count_messages("s", status=None)) == 81
    assert asyncio.run(db.count_messages("s")) >= (81 if kind == "store" else 61)


# the store of core Memory ------------------------------------------------------------------------------------
@takes_stores
def test_core_memory_on_it_learns_on_arrival(memory: LongTermMemory) -> None:
    llm = ScriptedLLM(reply=lambda _: "Noted.")

    def host() -> Memory:
        store = LTMDBChatStore(memory, user_id="ana")
        return Memory.from_defaults(session_id="s1", chat_store=store, tokenizer_fn=str.split)

    SimpleChatEngine.from_defaults(llm=llm, memory=host()).chat("I live in Porto.")
    assert [f.object for f in memory.facts(user_id="ana")] == ["Porto"]
    again = host()
    assert texts(again.get_all()) == ["I live in Porto.", "Noted."]
    again.reset()
    assert again.get_all() == []
    again.put(user("Hello."))
    assert texts(again.get_all()) == ["Hello."]
    again.set([user("A new start."), assistant("Yes.")])
    assert texts(again.get_all()) == ["A new start.", "Yes."]
    assert [f.support_count for f in memory.facts(user_id="ana")] == [1]


@takes_stores
def test_core_memory_flushes_on_it(memory: LongTermMemory) -> None:
    store = LTMDBChatStore(memory, user_id="ana")
    kept = Memory.from_defaults(
        session_id="s1",
        chat_store=store,
        token_limit=40,
        token_flush_size=10,
        tokenizer_fn=str.split,
        memory_blocks=[StaticMemoryBlock(name="static", static_content="FACT")],
    )
    said = [m for i in range(12) for m in (user(f"question number {i} is here"), assistant(f"answer number {i}"))]
    for m in said:
        kept.put(m)
    assert texts(kept.get_all()) == texts(said)
    prompts = [kept.get() for _ in range(2)]
    assert 1 < len(prompts[0]) < 12
    assert texts(prompts[0]) == texts(prompts[1]), "the host writes into the messages that it reads"

    async def counts() -> list[int]:
        return [await store.count_messages("s1", s) for s in (MessageStatus.ACTIVE, MessageStatus.ARCHIVED, None)]

    active, archived, both = asyncio.run(counts())
    assert active and archived and active + archived == both == 24
    kept.reset()
    assert asyncio.run(counts()) == [0, 0, 0]
    kept.put(user("Hello again."))
    assert texts(kept.get_all()) == ["Hello again."]


def test_the_methods_of_the_db_store(memory: LongTermMemory) -> None:
    store = LTMDBChatStore(memory, user_id="ana")

    async def run() -> None:
        await store.add_messages("s", [user("a"), assistant("b"), user("c"), assistant("d")])
        assert texts(await store.get_messages("s", limit=2, offset=1)) == ["b", "c"]
        assert texts(await store.archive_oldest_messages("s", 2)) == ["a", "b"]
        assert texts(await store.get_messages("s", MessageStatus.ARCHIVED)) == ["a", "b"]
        assert texts(await store.get_messages("s")) == ["c", "d"]
        assert texts(await store.delete_oldest_messages("s", 1)) == ["c"]
        gone = await store.delete_message("s", 0)
        assert gone is not None and gone.content == "d"
        assert await store.delete_message("s", 0) is None
        assert await store.delete_message("s", -1) is None
        assert await store.archive_oldest_messages("s", 0) == []
        assert await store.get_keys() == []
        await store.set_messages("s", [user("a"), assistant("x")])
        assert await store.get_keys() == ["s"]
        for call in (
            store.delete_messages("s", MessageStatus.ARCHIVED),
            store.add_message("s", user("y"), MessageStatus.ARCHIVED),
            store.set_messages("s", [], MessageStatus.ARCHIVED),
        ):
            with pytest.raises(InvalidInputError):
                await call
        await store.delete_messages("s")
        assert await store.get_messages("s", None) == []

    asyncio.run(run())
    assert len(memory.messages(user_id="ana")) == 5
