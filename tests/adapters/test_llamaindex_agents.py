"""LTMMemory in agents and agent workflows."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import Memory
from llama_index.core.workflow import Context, JsonSerializer

import ltm_core
from llamaindex_ltm import LTMMemory, LTMMemoryBlock
from ltm_core import LongTermMemory
from ltm_core.testing.embedders import HashEmbedder
from ltm_core.testing.llamaindex_model import ScriptedAgentLLM, ScriptedLLM


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def calls_add_once(messages: list[ChatMessage]) -> tuple[str, dict[str, Any]] | None:
    return None if messages[-1].role == MessageRole.TOOL else ("add", {"a": 1, "b": 2})


def function_llm(answer: str = "The sum is 3.") -> ScriptedAgentLLM:
    return ScriptedAgentLLM(reply=lambda _: answer, calls=calls_add_once)


def react_llm() -> ScriptedLLM:
    def reply(messages: list[ChatMessage]) -> str:
        if "Observation: 3" in str(messages[-1]):
            return "Thought: I can answer without using any more tools.\nAnswer: three"
        return 'Thought: I need a tool.\nAction: add\nAction Input: {"a": 1, "b": 2}'

    return ScriptedLLM(reply=reply)


def prompts(llm: ScriptedLLM) -> str:
    return "\n".join(str(m) for p in llm.prompts for m in p)


def spoken(messages: Sequence[ChatMessage]) -> list[tuple[str, str | None]]:
    return [(m.role.value, m.content) for m in messages]


KINDS = ("function", "function, not streaming", "react", "react, with a prompt", "workflow")


def agent(kind: str, llm: Any) -> Any:
    if kind.startswith("react"):
        prompt = "Be brief." if kind == "react, with a prompt" else None
        return ReActAgent(tools=[add], llm=llm, system_prompt=prompt)
    if kind == "workflow":
        return AgentWorkflow.from_tools_or_functions([add], llm=llm)
    return FunctionAgent(tools=[add], llm=llm, streaming=kind == "function")


@pytest.mark.parametrize("kind", [*KINDS])
def test_every_agent_remembers_its_own_user(tmp_path: Path, kind: str) -> None:
    def run(who: str, session: str, text: str) -> tuple[str, list[tuple[str, str | None]]]:
        """One run in an own process's place: the store is opened anew."""
        llm = react_llm() if kind.startswith("react") else function_llm()
        with LongTermMemory.open(tmp_path / "s", embedder=HashEmbedder(), timezone="UTC") as opened:
            # This agent drops a first system message when it has no prompt of its own.
            role: Literal["system", "user"] = "user" if kind == "react" else "system"
            kept = LTMMemory.from_defaults(opened, user_id=who, session_id=session, insert_as=role)

            async def once() -> None:
                await agent(kind, llm).run(text, memory=kept)

            asyncio.run(once())
            return prompts(llm), spoken(kept.get_all())

    _, said = run("ana", "s1", "I live in Porto. What is 1 + 2?")
    if kind.startswith("react"):
        assert said == [("user", "I live in Porto. What is 1 + 2?"), ("assistant", "three")]
    else:
        assert [role for role, _ in said] == ["user", "assistant", "tool", "assistant"]
        assert said[-1] == ("assistant", "The sum is 3.")
    run("ben", "s1", "I live in Leeds. What is 1 + 2?")
    ana, _ = run("ana", "s2", "Where do I live, and what is 1 + 2?")
    ben, _ = run("ben", "s2", "Where do I live, and what is 1 + 2?")
    assert "Porto" in ana and "Leeds" not in ana
    assert "Leeds" in ben and "Porto" not in ben
    for noise in ("Action Input", "tool call", "call1"):
        assert noise not in ana.split("</memory")[0].split("<memory")[-1]


def test_a_memory_that_a_react_agent_drops_says_so(memory: LongTermMemory, caplog: pytest.LogCaptureFixture) -> None:
    kept = LTMMemory.from_defaults(memory, user_id="ana")

    async def run() -> None:
        await agent("react", react_llm()).run("What is 1 + 2?", memory=kept)

    for _ in range(2):
        asyncio.run(run())
    assert [m for m in caplog.messages if 'insert_as="user"' in m] == [caplog.messages[0]]


def test_a_context_that_is_saved_and_restored(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="old", user="I live in Porto.")
    llm = function_llm()
    made = FunctionAgent(tools=[add], llm=llm, initial_state={"k": "STATE"})
    kept = LTMMemory.from_defaults(memory, user_id="ana", session_id="agent")

    async def run() -> LTMMemory:
        context = Context(made)
        await made.run("Where do I live, and what is 1 + 2?", memory=kept, ctx=context)
        saved = json.loads(json.dumps(context.to_dict(serializer=JsonSerializer())))
        again = Context.from_dict(made, saved, serializer=JsonSerializer())
        await made.run("Where do I live again?", ctx=again)
        restored: LTMMemory = await again.store.get("memory")
        return restored

    restored = asyncio.run(run())
    assert isinstance(restored, LTMMemory)
    assert [m.role.value for m in restored.get_all()] == ["user", "assistant", "tool", "assistant"] * 2
    # The host writes its state into the message it was given; what is stored is what the user said.
    assert restored.get_all()[0].content == "Where do I live, and what is 1 + 2?"
    assert "STATE" in prompts(llm)
    assert "Porto" in prompts(llm)


def test_a_hand_off_and_what_is_learnt_of_it(memory: LongTermMemory) -> None:
    def calls(messages: list[ChatMessage]) -> tuple[str, dict[str, Any]] | None:
        said = str(messages)
        if "Agent second is now handling" in said:
            return None
        return "handoff", {"to_agent": "second", "reason": "numbers"}

    llm = ScriptedAgentLLM(reply=lambda _: "Seven.", calls=calls)
    first = FunctionAgent(name="first", description="greets", llm=llm, can_handoff_to=["second"])
    second = FunctionAgent(name="second", description="counts", llm=llm)
    flow = AgentWorkflow(agents=[first, second], root_agent="first")
    kept = LTMMemory.from_defaults(memory, user_id="ana", session_id="s1")

    async def run() -> str:
        return str(await flow.run("I live in Porto. How many bridges has it?", memory=kept))

    assert asyncio.run(run()) == "Seven."
    assert kept.get_all()[-1].content == "Seven."
    assert [f.object for f in memory.facts(user_id="ana")] == ["Porto"]
    other = LTMMemory.from_defaults(memory, user_id="ana", session_id="s2")
    recalled = other.get("Which agent is now handling the request about numbers and bridges?")
    assert not any("handoff" in (m.content or "") or "now handling" in (m.content or "") for m in recalled)


def test_too_many_iterations_keep_the_words(memory: LongTermMemory) -> None:
    llm = ScriptedAgentLLM(reply=lambda _: "", calls=lambda _: ("add", {"a": 1, "b": 2}))
    kept = LTMMemory.from_defaults(memory, user_id="ana")

    async def run() -> None:
        await FunctionAgent(tools=[add], llm=llm).run("I am allergic to bees.", memory=kept, max_iterations=2)

    with pytest.raises(Exception, match=r"[Mm]ax"):
        asyncio.run(run())
    assert spoken(kept.get_all()) == [("user", "I am allergic to bees.")]
    assert "bees" in memory.context("allergic?", user_id="ana", session_id="s2").text


def test_chat_history_on_every_run_is_learnt_once(memory: LongTermMemory) -> None:
    made = FunctionAgent(tools=[], llm=ScriptedAgentLLM(reply=lambda _: "Yes.", calls=lambda _: None))
    history: list[ChatMessage] = []

    async def turn(text: str) -> None:
        # A stateless server: a new memory each time, and the whole conversation from the browser.
        kept = LTMMemory.from_defaults(memory, user_id="ana", session_id="s1")
        await made.run(text, chat_history=list(history), memory=kept)
        history.extend([ChatMessage(role="user", content=text), ChatMessage(role="assistant", content="Yes.")])

    for text in ("I am vegan.", "ok", "Are you there?"):
        asyncio.run(turn(text))
    assert len(memory.messages(user_id="ana")) == 6
    assert [f.support_count for f in memory.facts(user_id="ana")] == [1]


def test_another_users_context_is_refused_inside_a_scope(memory: LongTermMemory) -> None:
    # The host ignores a new memory= on a used context; the scope of the request catches it.
    made = FunctionAgent(tools=[], llm=ScriptedAgentLLM(reply=lambda _: "Yes.", calls=lambda _: None))

    async def run() -> None:
        context = Context(made)
        with ltm_core.scope("ana"):
            await made.run("Hello.", memory=LTMMemory.from_defaults(memory, user_id="ana"), ctx=context)
        with ltm_core.scope("ben"):
            await made.run("Hello.", memory=LTMMemory.from_defaults(memory, user_id="ben"), ctx=context)

    # Older hosts wrap what a step raises.
    with pytest.raises(Exception, match="belongs to another user"):
        asyncio.run(run())
    assert not memory.messages(user_id="ben")


def test_one_memory_serves_whoever_asks(memory: LongTermMemory) -> None:
    kept = LTMMemory.from_defaults(memory)
    llm = ScriptedAgentLLM(reply=lambda _: "Yes.", calls=lambda _: None)
    made = FunctionAgent(tools=[], llm=llm)

    async def ask(who: str, town: str) -> None:
        with ltm_core.scope(who):
            await made.run(f"I live in {town}.", memory=kept)
            await made.run("Where do I live?", memory=kept)

    async def both() -> None:
        await asyncio.gather(*(ask(f"user{i}", f"Town{i}") for i in range(6)))

    asyncio.run(both())
    for i in range(6):
        assert [f.object for f in memory.facts(user_id=f"user{i}")] == [f"Town{i}"]
        texts = [m.content for m in memory.messages(user_id=f"user{i}")]
        assert texts == [f"I live in Town{i}.", "Yes.", "Where do I live?", "Yes."]


def test_a_memory_block_in_an_agent(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="old", user="I live in Porto.")
    llm = function_llm()
    kept = Memory.from_defaults(
        session_id="s1", memory_blocks=[LTMMemoryBlock(memory, user_id="ana")], tokenizer_fn=str.split
    )

    async def run() -> None:
        await FunctionAgent(tools=[add], llm=llm).run("Where do I live? I am vegan.", memory=kept)

    asyncio.run(run())
    assert "Porto" in prompts(llm)
    assert [m.content for m in memory.messages(user_id="ana", session_id="s1")].count(
        "Where do I live? I am vegan."
    ) == 1
    assert any("vegan" in f.text for f in memory.facts(user_id="ana"))
