"""import_chat_store: conversations of the host's own stores."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import ChatMemoryBuffer, Memory
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore

from llamaindex_ltm import ImportReport, LTMChatStore, LTMMemory, aimport_chat_store, import_chat_store
from ltm_core import LongTermMemory
from ltm_core.errors import InvalidInputError, InvalidScopeError


def user(text: str) -> ChatMessage:
    return ChatMessage(role=MessageRole.USER, content=text)


def assistant(text: str) -> ChatMessage:
    return ChatMessage(role=MessageRole.ASSISTANT, content=text)


def stored(memory: LongTermMemory, user_id: str, session_id: str) -> list[str]:
    return [m.content for m in memory.messages(user_id=user_id, session_id=session_id)]


def test_a_simple_store_twice_and_grown(memory: LongTermMemory, tmp_path: Path) -> None:
    store = SimpleChatStore()
    talk = [user("I live in Porto."), assistant("Empty Response"), user("ok"), assistant("Good."), user("ok")]
    store.set_messages("monday", talk)
    store.set_messages("周二", [user("我对花生过敏。")])
    assert import_chat_store(store, memory, user_id="ana") == ImportReport(sessions=2, stored=5, known=0, left_out=1)
    assert stored(memory, "ana", "monday") == ["I live in Porto.", "ok", "Good.", "ok"]
    assert LTMMemory.from_defaults(memory, user_id="ana", session_id="周二").get_all()[0].content == "我对花生过敏。"
    facts = [(f.object, f.support_count) for f in memory.facts(user_id="ana")]
    assert len(facts) == 2
    # It went on, and its oldest message is gone; now read from the file it was saved to.
    store.set_messages("monday", [*talk[1:], assistant("Anything else?")])
    # As SimpleChatStore.persist writes it; with pydantic 2.14 that method fails.
    saved = {"store": {k: [m.model_dump(mode="json") for m in store.get_messages(k)] for k in store.get_keys()}}
    (tmp_path / "store.json").write_text(json.dumps({**saved, "class_name": "SimpleChatStore"}), encoding="utf-8")
    again = import_chat_store(tmp_path / "store.json", memory, user_id="ana")
    assert again == ImportReport(sessions=2, stored=1, known=4, left_out=1)
    assert stored(memory, "ana", "monday")[-1] == "Anything else?"
    assert [(f.object, f.support_count) for f in memory.facts(user_id="ana")] == facts


def test_core_memory_with_what_it_archived(memory: LongTermMemory, tmp_path: Path) -> None:
    kept = Memory.from_defaults(
        session_id="s1",
        async_database_uri=f"sqlite+aiosqlite:///{tmp_path / 'host.db'}",
        token_limit=40,
        token_flush_size=10,
        tokenizer_fn=str.split,
    )
    said = [m for i in range(9) for m in (user(f"question number {i} is here"), assistant(f"answer number {i}"))]
    before = datetime.now(UTC)
    for m in said:
        kept.put(m)
    after = datetime.now(UTC)
    assert len(kept.get()) < len(said), "some are archived"
    assert import_chat_store(kept, memory, user_id="ana").stored == len(said)
    assert stored(memory, "ana", "s1") == [m.content for m in said]
    assert all(before <= m.at <= after for m in memory.messages(user_id="ana", session_id="s1"))
    url = f"sqlite+aiosqlite:///{tmp_path / 'host.db'}"
    store = SQLAlchemyChatStore(table_name="llama_index_memory", async_database_uri=url)
    assert asyncio.run(aimport_chat_store(store, memory, user_id="ana")).known == len(said)
    assert import_chat_store(store, memory, user_id="ana", keys=["nobody"]).stored == 0


def test_many_turns_and_users_by_key(memory: LongTermMemory) -> None:
    store = SimpleChatStore()
    for who in ("ana", "ben"):
        store.set_messages(f"user:{who}", [user(f"{who} says {i}") for i in range(220)])
    report = import_chat_store(
        store, memory, user_id=lambda key: key.partition(":")[2], session_id=lambda key: f"imported from {key}"
    )
    assert report.stored == 440
    assert stored(memory, "ana", "imported from user:ana") == [f"ana says {i}" for i in range(220)]
    assert stored(memory, "ben", "imported from user:ben")[-1] == "ben says 219"


def test_other_sources(memory: LongTermMemory, tmp_path: Path) -> None:
    store = SimpleChatStore()
    store.set_messages("a", [user("one")])
    store.set_messages("b", [user("two")])
    buffer = ChatMemoryBuffer.from_defaults(chat_store=store, chat_store_key="b", tokenizer_fn=str.split)
    import_chat_store(buffer, memory, user_id="ana", session_id="s")
    assert stored(memory, "ana", "s") == ["two"]
    with LongTermMemory.open(tmp_path / "other", embedder="none", timezone="UTC") as other:
        import_chat_store(LTMChatStore(memory, user_id="ana"), other, user_id="ana")
        assert stored(other, "ana", "s") == ["two"]
    for bad in (object(), None, tmp_path / "absent.json", "absent.json"):
        with pytest.raises(InvalidInputError):
            import_chat_store(bad, memory, user_id="ana")
    with pytest.raises(InvalidScopeError):
        import_chat_store(store, memory, user_id=" ")


def test_what_was_forgotten_stays_forgotten(memory: LongTermMemory) -> None:
    store = SimpleChatStore()
    store.set_messages("s", [user("My locker code is 4417."), assistant("Noted.")])
    import_chat_store(store, memory, user_id="ana")
    memory.forget_user("ana")
    assert import_chat_store(store, memory, user_id="ana").stored == 0
    assert stored(memory, "ana", "s") == []
