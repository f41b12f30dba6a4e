"""import_history: conversations that other histories hold become memory."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from langchain_core.chat_history import BaseChatMessageHistory, InMemoryChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

import ltm_core
from langchain_ltm import ImportReport, aimport_history, import_history
from ltm_core import LongTermMemory
from ltm_core.errors import ConfigError, InvalidInputError, InvalidScopeError

pytestmark = [
    pytest.mark.filterwarnings("ignore:The class `InMemoryChatMessageHistory` was deprecated"),
    # The host's community package says so when it is imported.
    pytest.mark.filterwarnings("ignore:`langchain-community` is being sunset"),
]

TALK: list[BaseMessage] = [
    SystemMessage("Be brief."),
    HumanMessage("I live in Porto."),
    AIMessage("Nice."),
    HumanMessage("ok"),
    AIMessage("Good."),
    HumanMessage("ok"),
    AIMessage("Good."),
    HumanMessage("我对花生过敏。"),
    AIMessage("记住了。"),
]


def spoken(memory: LongTermMemory, user_id: str = "ana") -> list[tuple[str, str]]:
    return [(m.role, m.content) for m in memory.messages(user_id=user_id)]


def in_file(tmp_path: Path) -> BaseChatMessageHistory:
    from langchain_community.chat_message_histories import FileChatMessageHistory

    return FileChatMessageHistory(str(tmp_path / "talk.json"))


def in_sql(tmp_path: Path) -> BaseChatMessageHistory:
    from langchain_community.chat_message_histories import SQLChatMessageHistory

    return SQLChatMessageHistory(session_id="s", connection=f"sqlite:///{tmp_path / 'talk.db'}")


def in_ram(tmp_path: Path) -> BaseChatMessageHistory:
    return InMemoryChatMessageHistory()


@pytest.mark.parametrize("kind", [in_file, in_sql, in_ram])
def test_a_history_becomes_memory_once(memory: LongTermMemory, tmp_path: Path, kind: Any) -> None:
    history = kind(tmp_path)
    history.add_messages(TALK)
    progress: list[tuple[int, int]] = []

    def note(done: int, total: int) -> None:
        progress.append((done, total))

    first = import_history(history, memory=memory, user_id="ana", session_id="old", progress=note, batch_size=3)
    assert first == ImportReport(read=9, stored=8, known=0, edited=0, erased=0, left_out=1, facts=2)
    assert progress == [(4, 8), (8, 8)]
    assert spoken(memory) == [("user" if m.type == "human" else "assistant", m.text) for m in TALK[1:]]
    stored = memory.messages(user_id="ana").items
    assert [m.reply_to for m in stored[1::2]] == [m.id for m in stored[::2]]
    assert "Porto" in memory.context("Where do I live?", user_id="ana", session_id="new").text
    assert "花生" in memory.context("我不能吃什么？", user_id="ana", session_id="new").text
    again = import_history(history, memory=memory, user_id="ana", session_id="old")
    assert (again.stored, again.known) == (0, 8)
    history.add_messages([HumanMessage("ok"), AIMessage("Good.")])
    grown = import_history(history, memory=memory, user_id="ana", session_id="old")
    assert (grown.stored, grown.known, len(spoken(memory))) == (2, 8, 10)


def test_a_cut_history_doubles_nothing(memory: LongTermMemory) -> None:
    import_history(TALK, memory=memory, user_id="ana")
    for start in range(len(TALK)):
        assert import_history(TALK[start:], memory=memory, user_id="ana").stored == 0


def test_going_on_after_a_break(memory: LongTermMemory) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_history(TALK, memory=memory, user_id="ana", progress=stop, batch_size=2)
    assert len(spoken(memory)) == 2
    report = import_history(TALK, memory=memory, user_id="ana", batch_size=2)
    assert (report.stored, report.known) == (6, 2)


def test_what_was_forgotten_stays_forgotten(memory: LongTermMemory) -> None:
    import_history(TALK, memory=memory, user_id="ana", session_id="old")
    memory.forget_matching("Porto", user_id="ana", dry_run=False, sources="delete")
    report = import_history(TALK, memory=memory, user_id="ana", session_id="old")
    assert report.stored == 0 and report.erased >= 1
    assert "Porto" not in str(spoken(memory))
    memory.forget_user("ana")
    assert import_history(TALK, memory=memory, user_id="ana", session_id="old").stored == 0
    assert spoken(memory) == []


def test_times(memory: LongTermMemory) -> None:
    start = datetime(2024, 3, 5, 9, tzinfo=UTC)

    def at(message: BaseMessage, index: int) -> datetime:
        return start + timedelta(minutes=index)

    talk = [HumanMessage("I moved to Porto yesterday."), AIMessage("Nice.")]
    import_history(talk, memory=memory, user_id="ana", at=at, timezone="Europe/Lisbon")
    assert [m.at for m in memory.messages(user_id="ana")] == [start, start + timedelta(minutes=1)]
    (fact,) = memory.facts(user_id="ana").items
    assert fact.valid_from.date().isoformat() == "2024-03-04"


def test_ids_and_edits_and_tools(memory: LongTermMemory) -> None:
    asked = AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "c1"}])
    talk = [HumanMessage("I live in Porto.", id="h1"), asked, ToolMessage("I live in Dublin.", tool_call_id="c1")]
    import_history(talk, memory=memory, user_id="ana")
    talk[0] = HumanMessage("I live in Lisbon.", id="h1")
    report = import_history(talk, memory=memory, user_id="ana")
    assert (report.edited, report.known, report.stored) == (1, 1, 0)
    assert [f.object for f in memory.facts(user_id="ana")] == ["Lisbon"]


def test_async_and_whom_it_serves(memory: LongTermMemory) -> None:
    history = InMemoryChatMessageHistory(messages=TALK)

    async def run() -> None:
        with ltm_core.scope("ben", "s7"):
            assert (await aimport_history(history, memory=memory)).stored == 8
        assert (await aimport_history(TALK, memory=memory, user_id="ana")).stored == 8

    asyncio.run(run())
    assert {m.session_id for m in memory.messages(user_id="ben")} == {"s7"}
    with pytest.raises(InvalidScopeError):
        import_history(TALK, memory=memory)
    with pytest.raises(InvalidInputError):
        import_history(TALK, memory=memory, user_id="ana", batch_size=0)
    memory.pause("ana")
    assert import_history(TALK, memory=memory, user_id="ana").left_out == 9


def test_something_else_than_a_memory_is_refused() -> None:
    with pytest.raises(ConfigError):
        import_history(TALK, memory="./ltm-data", user_id="ana")
