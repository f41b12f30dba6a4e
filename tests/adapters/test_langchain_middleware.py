"""LTMMiddleware in agents of langchain.agents.create_agent: what is stored, when, and for whom."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRetryMiddleware, SummarizationMiddleware, ToolRetryMiddleware
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command, interrupt

import ltm_core
from langchain_ltm import LTMMiddleware, ltm_tools
from langchain_ltm._turns import exchanges, waiting
from ltm_core import LongTermMemory
from ltm_core.errors import ConfigError, InvalidScopeError, UnavailableError
from ltm_core.testing.embedders import HashEmbedder
from ltm_core.testing.langchain_model import ScriptedChatModel

CONFIG: Any = {"configurable": {"thread_id": "t1", "user_id": "ana"}}


def call(name: str, **arguments: Any) -> AIMessage:
    return AIMessage(content="", tool_calls=[{"name": name, "args": arguments, "id": f"call-{name}"}])


def model(*replies: str | AIMessage | Callable[[list[BaseMessage]], str | AIMessage]) -> ScriptedChatModel:
    """Says these one after the other; the last one for ever."""
    left = list(replies) or ["Noted."]

    def reply(messages: list[BaseMessage]) -> str | AIMessage:
        said = left.pop(0) if len(left) > 1 else left[0]
        return said(messages) if callable(said) else said

    return ScriptedChatModel(reply=reply)


def raising(error: Exception) -> Callable[[list[BaseMessage]], str]:
    def fail(_: list[BaseMessage]) -> str:
        raise error

    return fail


def agent_for(
    memory: Any, llm: ScriptedChatModel, *tools: Any, saver: Any = None, before: Sequence[Any] = (), **options: Any
) -> Any:
    kept = LTMMiddleware(memory, **options)
    return create_agent(llm, list(tools), middleware=[kept, *before], checkpointer=saver, system_prompt="Be brief.")


def say(agent: Any, text: str, config: Any = None, **more: Any) -> str:
    done = agent.invoke({"messages": [("user", text)]}, CONFIG if config is None else config, **more)
    return str(done["messages"][-1].text)


def for_ana(config: Any) -> Any:
    """The host's configs of the past name a thread and a checkpoint, and no user."""
    return {"configurable": {**config["configurable"], "user_id": "ana"}}


def turns(memory: LongTermMemory, user_id: str = "ana", session_id: str | None = None) -> list[tuple[str, str]]:
    return [(m.role, m.content) for m in memory.messages(user_id=user_id, session_id=session_id)]


def shown(llm: ScriptedChatModel, index: int = -1) -> str:
    return "\n".join(m.text for m in llm.prompts[index])


@pytest.fixture
def saver() -> InMemorySaver:
    return InMemorySaver()


# what it is for ----------------------------------------------------------------------------------------------
def test_turns_are_stored_and_recalled_in_another_thread(memory: LongTermMemory, saver: InMemorySaver) -> None:
    llm = model("Nice place.")
    agent = agent_for(memory, llm, saver=saver)
    say(agent, "I live in Porto.")
    assert turns(memory) == [("user", "I live in Porto."), ("assistant", "Nice place.")]
    said, answered = memory.messages(user_id="ana").items
    assert answered.reply_to == said.id
    say(agent, "Where do I live?", {"configurable": {"thread_id": "t2", "user_id": "ana"}})
    system = llm.prompts[-1][0]
    assert system.type == "system"
    assert isinstance(system.content, str) and system.content.startswith("Be brief.") and "Porto" in system.content
    assert [m.type for m in llm.prompts[-1]] == ["system", "human"]
    say(agent, "Where do I live?", {"configurable": {"thread_id": "t3", "user_id": "ben"}})
    assert "Porto" not in shown(llm)


def test_nothing_leaks_into_state_streams_or_checkpoints(memory: LongTermMemory, saver: InMemorySaver) -> None:
    memory.observe(user_id="ana", session_id="old", user="I live in Porto.")
    llm = model("There.")
    agent = agent_for(memory, llm, saver=saver)
    out: list[Any] = []
    for mode in ("values", "updates", "messages", "custom", "tasks", "checkpoints"):
        given = {"messages": [("user", "Where do I live?")]}
        out += agent.stream(given, CONFIG, stream_mode=mode)
    assert "Porto" in shown(llm)
    assert "Porto" not in str(out)
    assert "Porto" not in str(agent.get_state(CONFIG)) + str(list(saver.list(CONFIG)))


def test_words_survive_a_failing_model(memory: LongTermMemory, saver: InMemorySaver) -> None:
    llm = model(raising(RuntimeError("model down")), "Careful, then.")
    agent = agent_for(memory, llm, saver=saver)
    with pytest.raises(RuntimeError, match="model down"):
        say(agent, "I am allergic to bees.")
    assert turns(memory) == [("user", "I am allergic to bees.")]
    agent.invoke(None, CONFIG)
    assert turns(memory) == [("user", "I am allergic to bees."), ("assistant", "Careful, then.")]


def test_a_stream_closed_early_keeps_the_words(memory: LongTermMemory, saver: InMemorySaver) -> None:
    agent = agent_for(memory, model("one two three"), saver=saver)

    async def stop() -> None:
        given = {"messages": [("user", "I am allergic to bees.")]}
        stream = agent.astream(given, CONFIG, stream_mode="messages")
        await anext(stream)
        await stream.aclose()

    asyncio.run(stop())
    assert turns(memory)[0] == ("user", "I am allergic to bees.")
    assert "bees" in memory.context("allergies?", user_id="ana", session_id="s2").text


# nothing twice -----------------------------------------------------------------------------------------------
@tool
def lookup(word: str) -> str:
    """Look a word up."""
    return f"I live in Dublin, says the page about {word}."


@tool
def approve(what: str) -> str:
    """Ask a person."""
    return f"person said {interrupt(what)}"


def test_a_tool_loop_is_one_turn_and_its_results_are_no_facts(memory: LongTermMemory, saver: InMemorySaver) -> None:
    llm = model(call("lookup", word="home"), "You should ask the town hall.")
    agent = agent_for(memory, llm, lookup, saver=saver)
    say(agent, "What does the page say?")
    assert turns(memory) == [("user", "What does the page say?"), ("assistant", "You should ask the town hall.")]
    assert not memory.facts(user_id="ana")
    assert memory.messages(user_id="ana").items[1].metadata == {"tools_used": ["lookup"]}
    assert llm.prompts[0][0].text == llm.prompts[1][0].text, "a provider's prompt cache must hold in a tool loop"


def test_the_memories_of_a_tool_loop_have_the_same_bytes(memory: LongTermMemory, saver: InMemorySaver) -> None:
    memory.observe(user_id="ana", session_id="old", user="I live in Porto.")
    llm = model(call("lookup", word="home"), call("lookup", word="town"), "Porto.")
    agent = agent_for(memory, llm, lookup, saver=saver)
    say(agent, "Where do I live?")
    assert "Porto" in llm.prompts[0][0].text
    assert len({p[0].text for p in llm.prompts}) == 1


def test_a_confirmed_answer_from_a_tool_is_no_solution(memory: LongTermMemory, saver: InMemorySaver) -> None:
    proposal = "Press the reset button for ten seconds, then restart the router."
    for user, first in (("ana", proposal), ("ben", call("lookup", word="router"))):
        llm = model(first, proposal, "Good.") if user == "ben" else model(first, "Good.")
        config: Any = {"configurable": {"thread_id": user, "user_id": user}}
        agent = agent_for(memory, llm, lookup, saver=saver)
        say(agent, "How do I fix my router?", config)
        say(agent, "That worked, thanks!", config)
    assert [f.kind for f in memory.facts(user_id="ana")] == ["solution"]
    assert not memory.facts(user_id="ben")


def test_resuming_after_an_interrupt_stores_once(memory: LongTermMemory, saver: InMemorySaver) -> None:
    agent = agent_for(memory, model(call("approve", what="trip"), "Booked."), approve, saver=saver)
    agent.invoke({"messages": [("user", "Book the trip to Lima.")]}, CONFIG)
    assert turns(memory) == [("user", "Book the trip to Lima.")]
    agent.invoke(Command(resume="yes"), CONFIG)
    assert turns(memory) == [("user", "Book the trip to Lima."), ("assistant", "Booked.")]


def test_regenerating_replaces_the_answer(memory: LongTermMemory, saver: InMemorySaver) -> None:
    agent = agent_for(memory, model("One.", "Two.", "Three."), saver=saver)
    say(agent, "Name a number.")
    (before_model,) = [s for s in agent.get_state_history(CONFIG) if s.next == ("model",)]
    agent.invoke(None, for_ana(before_model.config))
    assert turns(memory) == [("user", "Name a number."), ("assistant", "Two.")]
    last = agent.get_state(CONFIG).values["messages"][-1]
    agent.update_state(CONFIG, {"messages": [RemoveMessage(id=last.id)]}, as_node="__start__")
    agent.invoke(None, CONFIG)
    assert turns(memory) == [("user", "Name a number."), ("assistant", "Three.")]


def test_time_travel_over_many_turns_writes_nothing_twice(memory: LongTermMemory, saver: InMemorySaver) -> None:
    agent = agent_for(memory, model("ok"), saver=saver)
    for number in range(12):
        say(agent, f"Sentence number {number}.")
    first = [s for s in agent.get_state_history(CONFIG) if s.next == ("model",)][-1]
    agent.invoke(None, for_ana(first.config))
    assert len(turns(memory)) == 24


def test_an_edited_message_edits_the_turn(memory: LongTermMemory, saver: InMemorySaver) -> None:
    agent = agent_for(memory, model("Nice."), saver=saver)
    agent.invoke({"messages": [HumanMessage("I live in Porto.", id="h1")]}, CONFIG)
    start = next(s for s in agent.get_state_history(CONFIG) if s.next == ("LTMMiddleware.before_agent",))
    fork = agent.update_state(start.config, {"messages": [HumanMessage("I live in Lisbon.", id="h1")]})
    agent.invoke(None, for_ana(fork))
    assert turns(memory) == [("user", "I live in Lisbon."), ("assistant", "Nice.")]
    assert [f.object for f in memory.facts(user_id="ana")] == ["Lisbon"]


def test_retries_write_nothing_twice(memory: LongTermMemory, saver: InMemorySaver) -> None:
    calls: list[int] = []

    @tool
    def shaky() -> str:
        """Fails once."""
        calls.append(1)
        if len(calls) == 1:
            raise RuntimeError("once")
        return "fine"

    llm = model(raising(RuntimeError("busy")), call("shaky"), raising(RuntimeError("busy")), "Done.")
    retries = [ModelRetryMiddleware(max_retries=2, initial_delay=0), ToolRetryMiddleware(initial_delay=0)]
    agent = agent_for(memory, llm, shaky, saver=saver, before=retries)
    assert say(agent, "Try it.") == "Done."
    assert turns(memory) == [("user", "Try it."), ("assistant", "Done.")]


def test_the_same_words_said_again_are_a_new_turn(memory: LongTermMemory, saver: InMemorySaver) -> None:
    agent = agent_for(memory, model("Good."), saver=saver)
    for _ in range(3):
        say(agent, "好的")
    assert turns(memory) == [("user", "好的"), ("assistant", "Good.")] * 3


def test_without_a_checkpointer_the_whole_list_is_recognised(memory: LongTermMemory) -> None:
    llm = model("Answer 1.", raising(RuntimeError("down")), "Answer 2.", "Answer 2b.", call("lookup", word="x"), "3.")
    agent = agent_for(memory, llm, lookup)
    config: Any = {"configurable": {"user_id": "ana", "session_id": "s"}}
    talk: list[Any] = [("user", "I live in Porto.")]
    talk = agent.invoke({"messages": talk}, config)["messages"]
    asked = [*[(m.type, m.text) for m in talk], ("user", "Where do I live?")]
    with pytest.raises(RuntimeError):
        agent.invoke({"messages": asked}, config)
    agent.invoke({"messages": asked}, config)
    done = agent.invoke({"messages": asked}, config)["messages"]
    again = [(m.type, m.text) for m in done]
    agent.invoke({"messages": [*again, ("user", "And what says the page?")]}, config)
    assert turns(memory) == [
        ("user", "I live in Porto."),
        ("assistant", "Answer 1."),
        ("user", "Where do I live?"),
        ("assistant", "Answer 2b."),
        ("user", "And what says the page?"),
        ("assistant", "3."),
    ]


def test_stable_ids_of_a_client_are_used_when_it_says_so(memory: LongTermMemory) -> None:
    agent = agent_for(memory, model("Nice."), stable_ids=True)
    for words in ("I live in Porto.", "I live in Lisbon."):
        agent.invoke({"messages": [HumanMessage(words, id="h1")]}, CONFIG)
    assert turns(memory) == [("user", "I live in Lisbon."), ("assistant", "Nice.")]


def test_twenty_turns_store_twenty_turns(memory: LongTermMemory, saver: InMemorySaver) -> None:
    """The recalled block is in every prompt and never becomes a memory itself."""
    memory.observe(user_id="ana", session_id="s1", user="I have two cats.")
    facts = len(memory.facts(user_id="ana"))
    llm = model("I see.")
    agent = agent_for(memory, llm, saver=saver)
    for number in range(20):
        say(agent, ("How are my cats?", "Do I have cats?")[number % 2])
    assert all("two cats" in shown(llm, i) for i in range(20))
    assert len(memory.facts(user_id="ana")) == facts
    assert len(turns(memory, session_id="t1")) == 40
    assert not any("<memory" in c for _, c in turns(memory))


def test_summaries_are_no_turns(memory: LongTermMemory, saver: InMemorySaver) -> None:
    summary = SummarizationMiddleware(
        model("SUMMARY: I live in Dublin."), trigger=("messages", 4), keep=("messages", 1)
    )
    llm = model("ok")
    agent = agent_for(memory, llm, lookup, saver=saver, before=[summary])
    for number in range(5):
        say(agent, f"Sentence number {number}.")
    assert turns(memory) == [t for n in range(5) for t in (("user", f"Sentence number {n}."), ("assistant", "ok"))]
    assert not memory.facts(user_id="ana")
    assert any("SUMMARY" in shown(llm, i) for i in range(len(llm.prompts)))


def test_a_question_that_was_summarised_away_gets_its_answer(memory: LongTermMemory, saver: InMemorySaver) -> None:
    summary = SummarizationMiddleware(model("SUMMARY"), trigger=("messages", 3), keep=("messages", 2))
    llm = model(call("lookup", word="a"), call("lookup", word="b"), "In the end.")
    agent = agent_for(memory, llm, lookup, saver=saver, before=[summary])
    say(agent, "Look two words up.")
    said, answered = memory.messages(user_id="ana").items
    assert (said.content, answered.content, answered.reply_to) == ("Look two words up.", "In the end.", said.id)
    kept = agent.get_state(CONFIG).values["messages"]
    assert not any(m.id == said.id for m in kept)


# whom it serves ----------------------------------------------------------------------------------------------
@dataclass
class Who:
    user_id: str
    session_id: str | None = None


@pytest.mark.parametrize(
    ("options", "config", "context"),
    [
        ({"user_id": "ana"}, {}, None),
        ({}, {"configurable": {"user_id": "ana"}}, None),
        ({}, {}, Who("ana")),
        ({}, {}, {"user_id": "ana"}),
        ({"user_id": "ana"}, {"configurable": {"user_id": "ana"}}, {"user_id": "ana"}),
    ],
)
def test_where_the_user_is_named(memory: LongTermMemory, options: Any, config: Any, context: Any) -> None:
    agent: Any = create_agent(model(), middleware=[LTMMiddleware(memory, **options)], context_schema=Who)
    agent.invoke({"messages": [("user", "Hello there.")]}, config, context=context)
    assert len(turns(memory, "ana", "default")) == 2


def test_the_session_is_named_or_the_thread(memory: LongTermMemory, saver: InMemorySaver) -> None:
    agent: Any = create_agent(model(), middleware=[LTMMiddleware(memory)], context_schema=Who, checkpointer=saver)
    given: Any = {"messages": [("user", "Hello.")]}
    agent.invoke(given, {"configurable": {"thread_id": "t1"}}, context=Who("ana", "chosen"))
    agent.invoke(given, {"configurable": {"thread_id": "t2"}}, context=Who("ana"))
    with ltm_core.scope("ana", "around"):
        create_agent(model(), middleware=[LTMMiddleware(memory)]).invoke(given)
    assert {s.id for s in memory.sessions(user_id="ana")} == {"chosen", "t2", "around"}


@pytest.mark.parametrize(
    ("options", "config", "context"),
    [
        ({}, {}, None),
        ({}, {"configurable": {"user_id": ""}}, None),
        ({}, {"configurable": {"user_id": " "}}, {"user_id": None}),
        ({"user_id": "ana"}, {"configurable": {"user_id": "ben"}}, None),
        ({}, {"configurable": {"user_id": "ben"}}, {"user_id": "ana"}),
    ],
)
def test_no_user_or_two_are_refused(memory: LongTermMemory, options: Any, config: Any, context: Any) -> None:
    agent: Any = create_agent(model(), middleware=[LTMMiddleware(memory, **options)], context_schema=dict)
    with pytest.raises(InvalidScopeError):
        agent.invoke({"messages": [("user", "Hello.")]}, config, context=context)
    assert memory.stats().messages == 0


def test_many_users_at_once_keep_their_names(memory: LongTermMemory) -> None:
    llm = model("ok")
    agent = agent_for(memory, llm, saver=InMemorySaver())

    async def talk(number: int) -> None:
        config = {"configurable": {"thread_id": f"t{number}", "user_id": f"user{number}"}}
        later = {"configurable": {"thread_id": f"later{number}", "user_id": f"user{number}"}}
        await agent.ainvoke({"messages": [("user", f"My name is Name{number}.")]}, config)
        await agent.ainvoke({"messages": [("user", f"asks{number}: What is my name?")]}, later)

    async def all_of_them() -> None:
        await asyncio.gather(*(talk(i) for i in range(10)))

    asyncio.run(all_of_them())
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda i: asyncio.run(talk(i)), range(10, 16)))
    asked = [shown(llm, i) for i in range(len(llm.prompts)) if "asks" in llm.prompts[i][-1].text]
    assert len(asked) == 16
    for text in asked:
        number = text.rpartition("asks")[2].partition(":")[0]
        assert {w.strip(".,") for w in text.split() if w.startswith("Name")} == {f"Name{number}"}


# restart, savers, async --------------------------------------------------------------------------------------
def test_a_restart_with_a_sqlite_checkpointer(tmp_path: Path) -> None:
    seen: list[str] = []
    for text in ("I live in Porto.", "What is the weather?", "Where do I live?"):
        llm = model("ok")
        with (
            SqliteSaver.from_conn_string(str(tmp_path / "threads.db")) as saver,
            LongTermMemory.open(tmp_path / "store", embedder=HashEmbedder(), timezone="UTC") as opened,
        ):
            for user in ("ana", "ben"):
                if user == "ana" or "Porto" not in text:
                    say(
                        agent_for(opened, llm, saver=saver),
                        text,
                        {"configurable": {"thread_id": user, "user_id": user}},
                    )
            assert len(turns(opened)) == 2 * (len(seen) + 1)
        seen.append(shown(llm))
    assert "Porto" not in seen[2], "the last prompt is Ben's"


def test_async_with_a_sqlite_checkpointer(memory: LongTermMemory, tmp_path: Path) -> None:
    llm = model(call("lookup", word="x"), "Done.")

    async def run() -> None:
        async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:
            agent = agent_for(memory, llm, lookup, saver=saver)
            parts = [p async for p in agent.astream({"messages": [("user", "Look x up.")]}, CONFIG)]
            assert parts

    asyncio.run(run())
    assert turns(memory) == [("user", "Look x up."), ("assistant", "Done.")]


# options -----------------------------------------------------------------------------------------------------
def test_several_instances(memory: LongTermMemory, tmp_path: Path, saver: InMemorySaver) -> None:
    with LongTermMemory.open(tmp_path / "team", embedder=HashEmbedder(), timezone="UTC") as team:
        team.remember("The office closes at six.", user_id="team")
        memory.remember("I live in Porto.", user_id="ana")
        llm = model("ok")
        both = [
            LTMMiddleware(memory, user_id="ana"),
            LTMMiddleware(team, user_id="team", name="TeamMemory"),
        ]
        agent: Any = create_agent(llm, middleware=both, checkpointer=saver)
        config: Any = {"configurable": {"thread_id": "t"}}
        agent.invoke({"messages": [("user", "Where do I live, and when does the office close?")]}, config)
        assert "Porto" in shown(llm) and "closes at six" in shown(llm)


def test_personal_data_is_masked_before_it_is_stored(memory: LongTermMemory, saver: InMemorySaver) -> None:
    agent = agent_for(memory, model("I noted 13812345678."), saver=saver, redact_pii=True)
    assert say(agent, "My phone is 13812345678.") == "I noted 13812345678."
    say(agent, "我的邮箱是 ana@example.com。")
    text = str(turns(memory))
    assert "13812345678" not in text and "ana@example.com" not in text
    assert "[phone]" in text and "[email]" in text
    own = agent_for(memory, model("ok"), saver=saver, redact_pii=lambda text: text.replace("Rosebud", "…"))
    say(own, "The code word is Rosebud.", {"configurable": {"thread_id": "t9", "user_id": "ben"}})
    assert turns(memory, "ben")[0] == ("user", "The code word is ….")


def test_its_tools_serve_the_same_user(memory: LongTermMemory, saver: InMemorySaver) -> None:
    llm = model(call("remember", text="I live in Porto."), "I will remember.")
    agent = agent_for(memory, llm, saver=saver, tools=ltm_tools(memory))
    for context in ({"user_id": "ana"},):
        agent.invoke(
            {"messages": [("user", "What can you do?")]}, {"configurable": {"thread_id": "t"}}, context=context
        )
    assert [f.object for f in memory.facts(user_id="ana")] == ["Porto"]


def test_system_prompts_of_every_shape(memory: LongTermMemory) -> None:
    from langchain_core.messages import SystemMessage

    memory.observe(user_id="ana", session_id="old", user="I live in Porto.")
    parts = SystemMessage(content=[{"type": "text", "text": "Be brief."}])
    for prompt in (None, "Be brief.", parts):
        llm = model("ok")
        agent: Any = create_agent(llm, middleware=[LTMMiddleware(memory)], system_prompt=prompt)
        agent.invoke({"messages": [("user", "Where do I live?")]}, CONFIG)
        systems = [m for m in llm.prompts[0] if m.type == "system"]
        assert len(systems) == 1 and "Porto" in systems[0].text
        assert prompt is None or systems[0].text.startswith("Be brief.")


def test_wrong_options_are_refused(memory: LongTermMemory) -> None:
    with pytest.raises(ConfigError):
        LTMMiddleware("./ltm-data")
    with pytest.raises(InvalidScopeError):
        LTMMiddleware(memory, user_id=" ")
    with pytest.raises(TypeError):
        LTMMiddleware(memory, usr_id="ana")  # type: ignore[call-arg]
    with pytest.raises(AssertionError):
        create_agent(model(), middleware=[LTMMiddleware(memory), LTMMiddleware(memory)])


class Broken:
    """A memory whose every call fails."""

    def observe(self, **_: Any) -> None:
        raise UnavailableError("scripted failure")

    context = messages = observe


def test_a_broken_store_does_not_lose_the_answer(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="ltm"):
        assert say(agent_for(Broken(), model("Still here.")), "My secret is Rosebud.") == "Still here."
    assert len(caplog.messages) == 3
    assert not any("Rosebud" in m for m in caplog.messages)
    with pytest.raises(UnavailableError):
        say(agent_for(Broken(), model("Still here."), strict=True), "Hi.")


def test_an_answer_whose_question_was_not_stored_brings_it(memory: LongTermMemory, saver: InMemorySaver) -> None:
    class Late:
        """Down until the model was asked."""

        up = False
        context = memory.context

        def observe(self, **options: Any) -> Any:
            if not self.up:
                raise UnavailableError("not yet")
            return memory.observe(**options)

    late = Late()

    def reply(_: list[BaseMessage]) -> str:
        late.up = True
        return "Nice."

    say(agent_for(late, model(reply), saver=saver), "I live in Porto.")
    assert turns(memory) == [("user", "I live in Porto."), ("assistant", "Nice.")]


# reading lists of messages -----------------------------------------------------------------------------------
def test_exchanges() -> None:
    def same(text: str) -> str:
        return text

    asked = call("f")
    talk: list[BaseMessage] = [
        HumanMessage("sum", additional_kwargs={"lc_source": "summarization"}),
        HumanMessage("a", id="1"),
        AIMessage("wait", tool_calls=asked.tool_calls),
        ToolMessage("42", tool_call_id="call-f", name="f"),
        AIMessage("b"),
        HumanMessage("c"),
        HumanMessage("d"),
        AIMessage("first"),
        AIMessage("e"),
    ]
    read = exchanges(talk, same)
    assert [(m.role, m.content) for m in read] == [
        ("user", "a"), ("assistant", "b"), ("user", "c"), ("user", "d"), ("assistant", "e"),
    ]  # fmt: skip
    assert read[1].metadata == {"tools_used": ["f"]} and read[4].metadata == {}
    assert [m.content for m in waiting(talk[:7], same)] == ["c", "d"]
    assert waiting(talk, same) == []
    assert [m.content for m in exchanges([*talk, asked, ToolMessage("x", tool_call_id="call-f")], same)][-1] == "d"


@pytest.fixture(autouse=True)
def _no_trace(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("LANGSMITH_TRACING", raising=False)
    yield
