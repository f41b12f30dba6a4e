"""The examples run as they stand: with the scripted model, and against an endpoint over HTTP."""

from __future__ import annotations

import asyncio
import os
import re
import runpy
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

from langchain_ltm import LTMMiddleware, ltm_history_factory, ltm_recall, ltm_tools
from ltm_core import LongTermMemory
from ltm_core.testing.chat_server import ChatServer, Said, ToolCall
from ltm_core.testing.langchain_model import ScriptedChatModel

ROOT = Path(__file__).parents[2]
CLASSIC, LCEL, AGENT, GRAPH = (
    "langchain_conversation.py",
    "langchain_lcel.py",
    "langchain_agent.py",
    "langgraph_chat.py",
)


def scripted(messages: list[dict[str, Any]]) -> Said:
    """Asks for the tool when told to remember, else says what it was shown first."""
    last = messages[-1]
    if last["role"] == "user" and str(last["content"]).startswith("Remember"):
        return ToolCall("remember", {"text": "I am allergic to peanuts."})
    return f"I was shown:\n{messages[0]['content']}"


@pytest.fixture
def server() -> Iterator[ChatServer]:
    running = ChatServer(scripted)
    with running:
        yield running


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs an example as ``python NAME FOLDER`` does; returns what it printed."""

    def run_it(name: str, folder: Path, server: ChatServer | None = None) -> str:
        for key in [k for k in os.environ if k.startswith(("OPENAI_", "LANGSMITH_", "LANGCHAIN_"))]:
            monkeypatch.delenv(key)
        if server is not None:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setattr(sys, "argv", [name, str(folder)])
        import_module("langchain_classic.chains")  # which sets a filter of its own for its warnings
        with warnings.catch_warnings():
            # The host deprecates the classes that the example is about.
            warnings.simplefilter("ignore")
            runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")
        return capsys.readouterr().out

    return run_it


def part(out: str, title: str) -> str:
    """What was printed under the last line that begins so."""
    return out.rpartition(title)[2].partition("\n[")[0]


@pytest.mark.parametrize("http", [False, True], ids=["scripted", "http"])
@pytest.mark.parametrize("name", [CLASSIC, LCEL, AGENT, GRAPH])
def test_an_example_runs(name: str, http: bool, tmp_path: Path, server: ChatServer, run: Callable[..., str]) -> None:
    out = run(name, tmp_path, server if http else None)
    asked = "[friday] " if name == CLASSIC else "[ana, friday] "
    assert "Porto" in part(out, asked)
    if name == AGENT:
        assert "peanuts" in part(out, asked) and "peanuts" not in part(out, "[ben, friday] ").partition("\n")[2]
    if name != CLASSIC:
        assert "Porto" not in part(out, "[ben, friday] ")
    assert len(server.chats) == (0 if not http else {CLASSIC: 2, AGENT: 5}.get(name, 4))


def test_the_graph_goes_on_after_a_restart(tmp_path: Path, run: Callable[..., str]) -> None:
    for count in (8, 16):
        run(GRAPH, tmp_path)
        with LongTermMemory.open(tmp_path, timezone="UTC") as memory:
            assert memory.stats().messages == count


def blocks() -> list[str]:
    text = (ROOT / "docs" / "langchain.md").read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("index", range(5))
def test_the_page_says_what_works(index: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(blocks()) == 5
    monkeypatch.chdir(tmp_path)
    llm = ScriptedChatModel(reply=lambda messages: "I see.")
    given = {"llm": llm, "old_history": [HumanMessage("I live in Porto.")]}
    names: dict[str, Any] = {**given, "memory": LongTermMemory.open(tmp_path / "own")} if index == 4 else given
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(blocks()[index], f"langchain.md#{index}", "exec"), names)
        if index == 2:
            names["chain"].predict(input="I live in Porto.")
    with names["memory"] as memory:
        told = [f.object for f in memory.facts(user_id="ana")]
        # The page's fourth example only keeps house.
        assert told == ([] if index == 3 else ["Porto"])


# the HTTP path in this process -------------------------------------------------------------------------------
def endpoint(server: ChatServer, **options: Any) -> ChatOpenAI:
    return ChatOpenAI(model="m", base_url=server.base_url, api_key="none", max_retries=1, **options)


@pytest.mark.filterwarnings("ignore:RunnableWithMessageHistory is deprecated")
def test_streams_over_http(memory: LongTermMemory, server: ChatServer) -> None:
    prompt = ChatPromptTemplate.from_messages(
        [("system", "{memory}"), MessagesPlaceholder("history"), ("human", "{input}")]
    )
    chain: Any = RunnableWithMessageHistory(
        RunnablePassthrough.assign(memory=ltm_recall()) | prompt | endpoint(server),
        ltm_history_factory(memory, user_id="ana"),
        input_messages_key="input",
        history_messages_key="history",
    )
    config: Any = {"configurable": {"session_id": "s1"}}

    async def talk() -> str:
        stream = chain.astream({"input": "I am allergic to bees."}, config)
        await anext(stream)
        await stream.aclose()
        return "".join([p.text async for p in chain.astream({"input": "What am I allergic to?"}, config)])

    shown = asyncio.run(talk())
    assert shown == "I was shown:\n", "the history shows it; it is not recalled as well"
    assert [m.role for m in memory.messages(user_id="ana")] == ["user", "user", "assistant"]
    assert server.chats[-1].body["stream"] is True
    assert server.chats[-1].body["messages"][1]["content"] == "I am allergic to bees."


@pytest.mark.parametrize("streaming", [False, True])
def test_an_agent_over_http_with_tools_and_failures(
    memory: LongTermMemory, server: ChatServer, streaming: bool
) -> None:
    agent: Any = create_agent(
        endpoint(server, streaming=streaming),
        ltm_tools(memory),
        middleware=[LTMMiddleware(memory)],
        checkpointer=InMemorySaver(),
    )
    config: Any = {"configurable": {"thread_id": "t1", "user_id": "ana"}}
    server.fail(503)
    given: Any = {"messages": [("user", "Remember that I am allergic to peanuts.")]}

    async def go() -> Any:
        return await agent.ainvoke(given, config)

    done = asyncio.run(go())
    assert [m.type for m in done["messages"]] == ["human", "ai", "tool", "ai"]
    assert [m.role for m in memory.messages(user_id="ana")][-2:] == ["user", "assistant"]
    assert any("peanuts" in f.text for f in memory.facts(user_id="ana"))
    first, failed = server.chats[1].body, server.chats[0].body
    assert {t["function"]["name"] for t in first["tools"]} == {"remember", "recall", "correct", "forget"}
    assert failed["messages"] == first["messages"], "asked again with the same bytes"
    server.fail(500, times=2)
    with pytest.raises(Exception, match="scripted"):
        agent.invoke({"messages": [("user", "I live in Porto.")]}, config)
    assert memory.messages(user_id="ana", newest_first=True).items[0].content == "I live in Porto."
