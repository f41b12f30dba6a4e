"""LTMMemory in real chat engines and agents of LlamaIndex."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from llama_index.core import Document, MockEmbedding, VectorStoreIndex
from llama_index.core.base.llms.types import (
    ChatMessage,
    DocumentBlock,
    ImageBlock,
    MessageRole,
    TextBlock,
)
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.chat_engine.types import ChatMode
from pydantic import ValidationError

import ltm_core
from llamaindex_ltm import LTMMemory
from llamaindex_ltm._convert import calls_of, to_chat_message, to_message
from llamaindex_ltm._trim import Shown, cost, split
from ltm_core import LongTermMemory, Message
from ltm_core.errors import ConfigError, InvalidScopeError, UnavailableError
from ltm_core.testing.embedders import HashEmbedder, SlowEmbedder
from ltm_core.testing.llamaindex_model import ScriptedLLM

try:
    from llama_index.core.base.llms.types import ThinkingBlock, ToolCallBlock
except ImportError:  # before 0.14.5
    ThinkingBlock = ToolCallBlock = None  # type: ignore[assignment, misc]

ROOT = Path(__file__).parents[2]
has_blocks = pytest.mark.skipif(ToolCallBlock is None, reason="this host has no blocks for tool calls")


def user(text: str) -> ChatMessage:
    return ChatMessage(role=MessageRole.USER, content=text)


def assistant(text: str, **kwargs: Any) -> ChatMessage:
    return ChatMessage(role=MessageRole.ASSISTANT, content=text, additional_kwargs=kwargs)


def calling(*ids: str) -> ChatMessage:
    if ToolCallBlock is None:
        return assistant("", tool_calls=[{"id": i, "function": {"name": "add", "arguments": "{}"}} for i in ids])
    calls = [ToolCallBlock(tool_call_id=i, tool_name="add", tool_kwargs={"a": 1, "b": "zwei"}) for i in ids]
    return ChatMessage(role=MessageRole.ASSISTANT, blocks=calls)


def result(id: str, text: str = "3") -> ChatMessage:
    return ChatMessage(role=MessageRole.TOOL, content=text, additional_kwargs={"tool_call_id": id})


def model(reply: str | Callable[[list[ChatMessage]], str] = "Noted.") -> ScriptedLLM:
    return ScriptedLLM(reply=reply if callable(reply) else lambda _: reply)


def spoken(messages: Sequence[ChatMessage]) -> list[tuple[str, str | None]]:
    return [(m.role.value, m.content) for m in messages]


def stored(memory: LongTermMemory, user_id: str, session_id: str | None = None) -> list[tuple[str, str]]:
    return [(m.role, m.content) for m in memory.messages(user_id=user_id, session_id=session_id)]


class FailsAt:
    """A memory that works, except for the named methods."""

    def __init__(self, inner: LongTermMemory, *failing: str) -> None:
        self.inner, self.failing, self.location = inner, list(failing), inner.location

    def __getattr__(self, name: str) -> Any:
        return self._fail if name in self.failing else getattr(self.inner, name)

    def _fail(self, **_: Any) -> None:
        raise UnavailableError("scripted failure")


# chat engines ------------------------------------------------------------------------------------------------
def engines(llm: ScriptedLLM) -> dict[str, Callable[[LTMMemory], Any]]:
    index = VectorStoreIndex.from_documents(
        [Document(text="The museum opens at nine.")], embed_model=MockEmbedding(embed_dim=8)
    )
    retriever = index.as_retriever()
    return {
        "simple": lambda m: SimpleChatEngine.from_defaults(llm=llm, memory=m, system_prompt="Be brief."),
        "context": lambda m: ContextChatEngine.from_defaults(retriever=retriever, llm=llm, memory=m),
        "condense_plus": lambda m: CondensePlusContextChatEngine.from_defaults(
            retriever=retriever, llm=llm, memory=m
        ),
        "condense": lambda m: CondenseQuestionChatEngine.from_defaults(
            query_engine=index.as_query_engine(llm=llm), llm=llm, memory=m
        ),
        "index": lambda m: index.as_chat_engine(chat_mode=ChatMode.CONTEXT, llm=llm, memory=m),
    }


@pytest.mark.parametrize("kind", ["simple", "context", "condense_plus", "condense", "index"])
@pytest.mark.parametrize("mode", ["chat", "stream", "achat", "astream"])
def test_every_engine_remembers_its_own_user(tmp_path: Path, kind: str, mode: str) -> None:
    llm = model("Noted.")
    make = engines(llm)[kind]

    def talk(who: str, session: str, text: str) -> str:
        """One turn in an own process's place: the store is opened anew."""
        before = len(llm.prompts)
        with LongTermMemory.open(tmp_path / "s", embedder=HashEmbedder(), timezone="UTC") as opened:
            kept = LTMMemory.from_defaults(opened, user_id=who, session_id=session)
            engine = make(kept)
            if mode == "chat":
                engine.chat(text)
            elif mode == "stream":
                streamed = engine.stream_chat(text)
                assert "".join(streamed.response_gen).strip()
                # The host writes the answer from a thread of its own.
                deadline = time.monotonic() + 20
                while len(kept.get_all()) < 2 and time.monotonic() < deadline:
                    time.sleep(0.01)
            elif mode == "achat":
                asyncio.run(engine.achat(text))
            else:
                asyncio.run(stream(engine, text))
            assert [m.role.value for m in kept.get_all()][:2] == ["user", "assistant"]
        return "\n".join(str(m) for p in llm.prompts[before:] for m in p)

    async def stream(engine: Any, text: str) -> None:
        streamed = await engine.astream_chat(text)
        async for _ in streamed.async_response_gen():
            pass
        task = getattr(streamed, "awrite_response_to_history_task", None)
        if task is not None:
            await task

    talk("ana", "s1", "I live in Porto.")
    talk("ben", "s1", "I live in Leeds.")
    ana, ben = talk("ana", "s2", "Where do I live?"), talk("ben", "s2", "Where do I live?")
    assert "Porto" in ana and "Leeds" not in ana
    assert "Leeds" in ben and "Porto" not in ben


def test_the_prompt_of_the_simple_engine(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="old", user="I live in Porto.")
    llm = model("Hi.")
    engine = SimpleChatEngine.from_defaults(
        llm=llm, memory=LTMMemory.from_defaults(memory, user_id="ana"), system_prompt="Be brief."
    )
    engine.chat("Hello there, I am back.")
    engine.chat("Where do I live?")
    shown = llm.prompts[-1]
    assert [m.role.value for m in shown] == ["system", "system", "user", "assistant", "user"]
    assert "Porto" in (shown[1].content or "")
    assert spoken(shown[2:]) == [
        ("user", "Hello there, I am back."),
        ("assistant", "Hi."),
        ("user", "Where do I live?"),
    ]


def test_a_short_session_is_learnt_from(memory: LongTermMemory) -> None:
    engine = SimpleChatEngine.from_defaults(llm=model(), memory=LTMMemory.from_defaults(memory, user_id="ana"))
    engine.chat("I am allergic to peanuts.")
    other = LTMMemory.from_defaults(memory, user_id="ana", session_id="s2")
    assert "peanuts" in (other.get("What allergic things must I avoid?")[0].content or "")


def test_a_model_error_keeps_the_words(memory: LongTermMemory) -> None:
    def fail(_: list[ChatMessage]) -> str:
        raise RuntimeError("model down")

    kept = LTMMemory.from_defaults(memory, user_id="ana")
    with pytest.raises(RuntimeError, match="model down"):
        SimpleChatEngine.from_defaults(llm=model(fail), memory=kept).chat("I am allergic to bees.")
    assert spoken(kept.get_all()) == [("user", "I am allergic to bees.")]
    assert "bees" in memory.context("allergic?", user_id="ana", session_id="s2").text


def test_answers_write_no_facts(memory: LongTermMemory) -> None:
    kept = LTMMemory.from_defaults(memory, user_id="ana")
    engine = SimpleChatEngine.from_defaults(llm=model("I live in Dublin."), memory=kept)
    engine.chat("How do people reverse a list in Rust?")
    assert not memory.facts(user_id="ana")


def test_a_new_engine_by_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with ltm_core.scope("ana", "s1"):
        engine = SimpleChatEngine.from_defaults(llm=model(), memory_cls=LTMMemory)
        engine.chat("I live in Porto.")
        assert spoken(engine.chat_history) == [("user", "I live in Porto."), ("assistant", "Noted.")]
    opened = ltm_core.handles.find("./ltm-data")
    assert len(stored(opened, "ana", "s1")) == 2
    opened.close()


def test_another_process_remembers(tmp_path: Path, memory: LongTermMemory) -> None:
    LTMMemory.from_defaults(memory, user_id="ana", session_id="s1").put(user("I live in Porto."))
    script = """
import sys
from llama_index.core.chat_engine import SimpleChatEngine
from llamaindex_ltm import LTMMemory
from ltm_core import LongTermMemory
from ltm_core.testing.embedders import HashEmbedder
from ltm_core.testing.llamaindex_model import ScriptedLLM
memory = LongTermMemory.open(sys.argv[1], embedder=HashEmbedder())
for user in ("ana", "ben"):
    llm = ScriptedLLM(reply=lambda _: "ok")
    kept = LTMMemory.from_defaults(memory, user_id=user, session_id="s2")
    SimpleChatEngine.from_defaults(llm=llm, memory=kept).chat("Where do I live?")
    print(user, "Porto" in str(llm.prompts[0]))
"""
    out = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "store")],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert out.stdout.split() == ["ana", "True", "ben", "False"]


# the host's rules --------------------------------------------------------------------------------------------
def test_get_with_and_without_input(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="old", user="I live in Porto.")
    kept = LTMMemory.from_defaults(memory, user_id="ana")
    assert kept.get() == []
    assert kept.get(initial_token_count=0, session_id="x", whatever=1) == []
    assert "Porto" in (kept.get(input="Where do I live?")[0].content or "")
    assert kept.get_all() == [], "reading stores nothing"
    kept.put(user("Where do I live?"))
    for shown in (kept.get(), kept.get(input="Where do I live?"), kept.get(input=user("Where do I live?"))):  # type: ignore[arg-type]
        assert [m.role.value for m in shown] == ["system", "user"]
        assert "Porto" in (shown[0].content or "")


def test_nothing_recalled_adds_no_message(memory: LongTermMemory) -> None:
    kept = LTMMemory.from_defaults(memory, user_id="ana")
    kept.put(user("Hello there."))
    assert spoken(kept.get()) == [("user", "Hello there.")]


def test_an_empty_memory_is_not_replaced(memory: LongTermMemory) -> None:
    kept = LTMMemory.from_defaults(memory, user_id="ana")
    assert bool(kept)
    assert not hasattr(kept, "__len__")
    engine = SimpleChatEngine.from_defaults(llm=model(), memory=kept)
    assert engine._memory is kept


def test_copies_are_fresh(memory: LongTermMemory) -> None:
    kept = LTMMemory.from_defaults(memory, user_id="ana")
    mine = user("Hello there.")
    kept.put(mine)
    for read in (kept.get, kept.get_all):
        first = read()[-1]
        block = first.blocks[0]
        assert isinstance(block, TextBlock)
        block.text = "changed"
        first.additional_kwargs["x"] = 1
        assert spoken(read()) == [("user", "Hello there.")]
        assert read()[-1].additional_kwargs == {}


def test_template_variables_in_memories_are_inert(memory: LongTermMemory) -> None:
    text = "My name is Ana and I write {query_str}, {context_str}, {existing_answer} and {a: 1} a lot."
    memory.observe(user_id="ana", session_id="old", user=text)
    llm = model()
    kept = LTMMemory.from_defaults(memory, user_id="ana")
    engines(llm)["context"](kept).chat("What is my name and what do I write a lot?")
    shown = "\n".join(str(m) for m in llm.prompts[-1])
    assert "{ query_str }, { context_str }, { existing_answer } and {a: 1}" in shown


def test_insert_as_user(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="old", user="I live in Porto.")
    kept = LTMMemory.from_defaults(memory, user_id="ana", insert_as="user")
    assert kept.get("Where do I live?")[0].role == MessageRole.USER


def test_reset_empties_the_window_only(memory: LongTermMemory) -> None:
    kept = LTMMemory.from_defaults(memory, user_id="ana", session_id="s1")
    other = LTMMemory.from_defaults(memory, user_id="ana", session_id="s2")
    kept.put(user("I live in Porto."))
    other.put(user("Hello."))
    kept.reset()
    assert kept.get_all() == []
    assert len(other.get_all()) == 1
    assert "Porto" in (kept.get("Where do I live?")[0].content or "")


def test_set_replaces_the_window_and_learns_once(memory: LongTermMemory) -> None:
    talk = [user("I am vegan."), assistant("Noted.")]
    kept = LTMMemory.from_defaults(memory, user_id="ana")
    for number in range(3):
        # A stateless server sends the whole conversation each time.
        kept.set(list(talk))
        assert spoken(kept.get_all()) == spoken(talk)
        talk += [user(f"Question number {number}?"), assistant(f"Answer number {number}.")]
        kept.put_messages(talk[-2:])
    assert len(stored(memory, "ana")) == 8
    assert [f.support_count for f in memory.facts(user_id="ana")] == [1]
    kept.set([user("A new start.")])
    assert spoken(kept.get_all()) == [("user", "A new start.")]
    kept.set([])
    assert kept.get_all() == []
    assert len(stored(memory, "ana")) == 9


def test_set_knows_a_conversation_without_its_end_and_with_another(memory: LongTermMemory) -> None:
    kept = LTMMemory.from_defaults(memory, user_id="ana")
    talk = [m for words in ("I am vegan.", "ok", "ok") for m in (user(words), assistant("Good."))]
    kept.put_messages(talk)
    for part in (talk, talk[:4], talk[:1], talk[2:]):
        kept.set(part)
        assert spoken(kept.get_all()) == spoken(part)
        assert len(stored(memory, "ana")) == 6
    kept.reset()
    kept.set(talk[:2])
    assert spoken(kept.get_all()) == spoken(talk[:2])
    assert len(stored(memory, "ana")) == 6
    other_end = [*talk[:2], user("Something else?")]
    kept.set(other_end)
    assert spoken(kept.get_all()) == spoken(other_end)
    assert len(stored(memory, "ana")) == 7
    assert [f.support_count for f in memory.facts(user_id="ana")] == [1]


def test_an_empty_chat_history_wipes_nothing(memory: LongTermMemory) -> None:
    LTMMemory.from_defaults(memory, user_id="ana").put(user("Hello."))
    again = LTMMemory.from_defaults(memory, user_id="ana", chat_history=[])
    assert spoken(again.get_all()) == [("user", "Hello.")]
    third = LTMMemory.from_defaults(memory, user_id="ana", chat_history=[user("Bye.")])
    assert spoken(third.get_all()) == [("user", "Bye.")]


def test_noise_is_not_learnt(memory: LongTermMemory) -> None:
    kept = LTMMemory.from_defaults(memory, user_id="ana")
    kept.put_messages(
        [
            user("What is 1 + 2?"),
            assistant("Empty Response"),
            assistant("Thought: I add.\nAction: add\nAction Input: {}\nObservation: 3\nThought: done\nAnswer: three"),
            assistant("Thought: I add.\nAction: add\nAction Input: {}"),
            assistant(""),
            ChatMessage(role=MessageRole.SYSTEM, content="<memory 0123abcd>\n- I am vegan\n</memory 0123abcd>"),
            user("<memory 0123abcd>\n- I am vegan\n</memory 0123abcd>\nAnd 3 + 4?"),
        ]
    )
    assert spoken(kept.get_all()) == [
        ("user", "What is 1 + 2?"),
        ("assistant", "three"),
        ("user", "And 3 + 4?"),
    ]
    assert not memory.facts(user_id="ana")


def test_tool_noise_is_not_recalled(memory: LongTermMemory) -> None:
    kept = LTMMemory.from_defaults(memory, user_id="ana", session_id="s1")
    kept.put_messages(
        [
            user("How is the weather in Lima?"),
            calling("c1"),
            result("c1", "Lima weather: foggy zebra"),
            assistant("Foggy."),
        ]
    )
    other = LTMMemory.from_defaults(memory, user_id="ana", session_id="s2")
    shown = "\n".join(m.content or "" for m in other.get("weather in Lima zebra add"))
    assert "zebra" not in shown
    assert "tool call" not in shown


# faithful messages -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "message",
    [
        user("Hello\nthere  "),
        ChatMessage(role=MessageRole.USER, blocks=[TextBlock(text="a"), TextBlock(text=""), TextBlock(text="b")]),
        ChatMessage(
            role=MessageRole.USER,
            blocks=[TextBlock(text="My new bike"), ImageBlock(url="https://x.test/b.png", detail="low")],
        ),
        calling("c1", "c2"),
        assistant("", tool_calls=[{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]),
        result("c1"),
        result("c2", ""),
        ChatMessage(role=MessageRole.MODEL, content="Hi.", additional_kwargs={"refusal": None, "n": [1, {"x": "é"}]}),
        ChatMessage(role=MessageRole.DEVELOPER, content="Be brief."),
    ],
)
def test_messages_come_back_as_they_were(memory: LongTermMemory, message: ChatMessage) -> None:
    kept = LTMMemory.from_defaults(memory, user_id="ana")
    kept.put(message)
    (back,) = kept.get_all()
    expected = message.model_copy(deep=True)
    expected.additional_kwargs = {k: v for k, v in expected.additional_kwargs.items() if v is not None}
    if "tool_calls" in message.additional_kwargs:
        back.blocks = [b for b in back.blocks if not isinstance(b, TextBlock) or b.text]
        expected.blocks = []
    assert back == expected


@has_blocks
def test_a_call_beside_words_comes_back_as_it_was(memory: LongTermMemory) -> None:
    call = ToolCallBlock(tool_call_id=None, tool_name="f", tool_kwargs="raw [x]")
    message = ChatMessage(role=MessageRole.ASSISTANT, blocks=[TextBlock(text="Wait."), call])
    kept = LTMMemory.from_defaults(memory, user_id="ana")
    kept.put(message)
    assert kept.get_all() == [message]


def test_no_bytes_of_pictures_are_stored(memory: LongTermMemory) -> None:
    picture = b"\x89PNG\r\n\x1a\n" + b"0123456789" * 20_000
    kept = LTMMemory.from_defaults(memory, user_id="ana")
    blocks = [
        TextBlock(text="This is my new bike"),
        ImageBlock(image=picture),
        DocumentBlock(data=b"%PDF-1.4 " + b"x" * 9_000),
        *([ThinkingBlock(content="a thought")] if ThinkingBlock is not None else []),
    ]
    kept.put(ChatMessage(role=MessageRole.USER, blocks=blocks))
    (back,) = kept.get_all()
    assert back.content == "This is my new bike\n[image]\n[document]"
    (row,) = memory.messages(user_id="ana")
    assert len(json.dumps(dict(row.metadata))) < 1000


@has_blocks
def test_what_was_forgotten_does_not_come_back(memory: LongTermMemory) -> None:
    kept = LTMMemory.from_defaults(memory, user_id="ana")
    call = ToolCallBlock(tool_call_id="c1", tool_name="book", tool_kwargs={"note": "allergic to peanuts", "n": 2})
    kept.put_messages(
        [
            ChatMessage(
                role=MessageRole.USER,
                blocks=[TextBlock(text="I am allergic to peanuts."), ImageBlock(url="https://x.test/b.png")],
            ),
            ChatMessage(role=MessageRole.ASSISTANT, blocks=[call]),
            result("c1", "Booked, no peanuts."),
        ]
    )
    (fact,) = [f for f in memory.facts(user_id="ana") if "peanuts" in f.object]
    memory.forget(fact.id, user_id="ana")
    shown = kept.get_all()
    assert "peanuts" not in str([m.model_dump(mode="json") for m in shown])
    assert isinstance(shown[0].blocks[1], ImageBlock)
    asked = shown[1].blocks[0]
    assert isinstance(asked, ToolCallBlock) and isinstance(asked.tool_kwargs, dict)
    assert asked.tool_kwargs["n"] == 2
    assert "peanuts" not in json.dumps(dict(memory.messages(user_id="ana").items[1].metadata))


def test_huge_and_strange_keywords_are_left_out(memory: LongTermMemory) -> None:
    kept = LTMMemory.from_defaults(memory, user_id="ana", strict=True)
    kept.put(assistant("Hi.", big="x" * 50_000, strange=object(), fine="yes"))
    (back,) = kept.get_all()
    assert back.additional_kwargs == {"fine": "yes"}


# budget ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("limit", [0, 10, 40, 100, 300, 2000])
def test_history_and_memory_together_stay_in_the_limit(memory: LongTermMemory, limit: int) -> None:
    for place in ("Porto", "Leeds", "Lima", "Oslo"):
        memory.observe(user_id="ana", session_id=place, user=f"I live in {place}. It is a fine place to walk.")
    kept = LTMMemory.from_defaults(memory, user_id="ana", token_limit=limit)
    for number in range(12):
        kept.put_messages([user(f"Tell me about number {number}, will you?"), assistant("It is a number. " * 5)])
    for already in (0, 25, 5000):
        shown = kept.get("Where do I live?", initial_token_count=already)
        assert sum(cost(m, kept._count) for m in shown) <= max(0, limit - already) + 4
        spoken_roles = [m.role.value for m in shown if m.role != MessageRole.SYSTEM]
        assert not spoken_roles or spoken_roles[0] == "user"


def test_the_words_to_answer_are_always_shown(memory: LongTermMemory) -> None:
    kept = LTMMemory.from_defaults(memory, user_id="ana", token_limit=5)
    kept.put_messages([user("Hello."), assistant("Hi."), user("A long question. " * 50)])
    assert spoken(kept.get()) == [("user", "A long question. " * 50)]


def test_a_model_sets_the_limit(memory: LongTermMemory) -> None:
    llm = ScriptedLLM(reply=lambda _: "", context_window=4000)
    assert LTMMemory.from_defaults(memory, user_id="ana", llm=llm).token_limit == 3000
    assert LTMMemory.from_defaults(memory, user_id="ana", llm=llm, token_limit=9).token_limit == 9
    assert LTMMemory.from_defaults(memory, user_id="ana").token_limit == 30_000
    words = LTMMemory.from_defaults(memory, user_id="ana", tokenizer_fn=str.split)
    assert words._count("one two three") == 3


def test_tool_calls_are_counted() -> None:
    legacy = assistant("", tool_calls=[{"id": "c", "function": {"arguments": "word " * 500}}])
    messages = [legacy]
    if ToolCallBlock is not None:
        call = ToolCallBlock(tool_call_id="c", tool_name="f", tool_kwargs={"text": "word " * 500})
        messages.append(ChatMessage(role=MessageRole.ASSISTANT, blocks=[call]))
    for message in messages:
        assert cost(message, lambda t: len(t.split())) >= 500


_KINDS = st.lists(st.sampled_from(["user", "answer", "call", "call2", "result", "stray", "system"]), max_size=14)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(kinds=_KINDS, budget=st.integers(0, 200))
def test_calls_and_results_stay_together_at_any_budget(kinds: list[str], budget: int) -> None:
    messages: list[ChatMessage] = []
    open_ids: list[str] = []
    for number, kind in enumerate(kinds):
        if kind == "user":
            messages.append(user(f"question {number}"))
        elif kind == "answer":
            messages.append(assistant(f"answer {number}"))
        elif kind == "system":
            messages.append(ChatMessage(role=MessageRole.SYSTEM, content="be brief"))
        elif kind == "stray":
            messages.append(result("nobody"))
        elif kind == "result":
            messages.append(result(open_ids.pop(0) if open_ids else "nobody"))
        else:
            open_ids = [f"c{number}-{i}" for i in range(1 if kind == "call" else 2)]
            messages.append(calling(*open_ids))
    window = split([Shown(str(i), m, cost(m, lambda t: len(t.split()))) for i, m in enumerate(messages)])
    shown = [s.message for s in window.within(max(0, budget - window.fixed))]
    waiting: list[str] = []
    for message in shown:
        if message.role == MessageRole.SYSTEM:
            continue
        if message.role == MessageRole.TOOL:
            assert message.additional_kwargs["tool_call_id"] in waiting
            waiting.remove(message.additional_kwargs["tool_call_id"])
        else:
            assert not waiting
            waiting = calls_of(message)
    assert not waiting
    assert [id(m) for m in shown if m.role == MessageRole.SYSTEM] == [
        id(m) for m in messages if m.role == MessageRole.SYSTEM
    ]
    if messages and messages[-1].role == MessageRole.USER:
        assert shown[-1] is messages[-1]


def test_a_long_conversation_is_read_from_its_end(memory: LongTermMemory) -> None:
    kept = LTMMemory.from_defaults(memory, user_id="ana", token_limit=400)
    kept.put(ChatMessage(role=MessageRole.SYSTEM, content="Answer in French."))
    kept.put_messages([m for i in range(300) for m in (user(f"Question {i}?"), assistant(f"Answer {i}."))])
    shown = kept.get()
    assert "Answer in French." in [m.content for m in shown[:2]]
    assert shown[-1].content == "Answer 299."
    assert len(kept.get_all()) == 601


# options -----------------------------------------------------------------------------------------------------
def test_unknown_options_are_refused(memory: LongTermMemory, tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        LTMMemory.from_defaults(memory, usr_id="ana")  # type: ignore[call-arg]
    with pytest.raises(ValidationError):
        LTMMemory(memory, usr_id="ana")
    with pytest.raises(ConfigError):
        LTMMemory.from_defaults(memory, location=tmp_path, user_id="ana")
    with pytest.raises(ConfigError):
        LTMMemory.from_defaults(object(), user_id="ana")
    with pytest.raises(ValidationError):
        LTMMemory.from_defaults(memory, user_id="ana", insert_as="tool")  # type: ignore[arg-type]


@pytest.mark.parametrize("who", ["", "  "])
def test_blank_users_are_refused(memory: LongTermMemory, who: str) -> None:
    with pytest.raises(InvalidScopeError):
        LTMMemory.from_defaults(memory, user_id=who)


def test_without_a_user_there_is_no_memory(memory: LongTermMemory) -> None:
    kept = LTMMemory.from_defaults(memory)
    for call in (kept.get, kept.get_all, kept.reset, lambda: kept.put(user("x")), lambda: kept.set([])):
        with pytest.raises(InvalidScopeError):
            call()
    with ltm_core.scope("ana", "s7"):
        kept.put(user("Hello."))
    assert stored(memory, "ana", "s7") == [("user", "Hello.")]
    with ltm_core.scope("ben"), pytest.raises(InvalidScopeError):
        LTMMemory.from_defaults(memory, user_id="ana").get()


# failures ----------------------------------------------------------------------------------------------------
def test_a_broken_store_does_not_break_the_chat(memory: LongTermMemory, caplog: pytest.LogCaptureFixture) -> None:
    broken = FailsAt(memory, "observe", "context", "messages")
    llm = model("Still here.")
    kept = LTMMemory.from_defaults(broken, user_id="ana")
    engine = SimpleChatEngine.from_defaults(llm=llm, memory=kept)
    with caplog.at_level(logging.WARNING, logger="ltm"):
        assert str(engine.chat("My secret is Rosebud.")) == "Still here."
    assert spoken(llm.prompts[-1]) == [("user", "My secret is Rosebud.")], "the model is asked what the user said"
    assert caplog.messages
    assert not any("Rosebud" in m for m in caplog.messages)
    broken.failing.clear()
    engine.chat("And now?")
    assert [c for _, c in stored(memory, "ana")] == [
        "My secret is Rosebud.",
        "Still here.",
        "And now?",
        "Still here.",
    ]
    strict = LTMMemory.from_defaults(FailsAt(memory, "observe"), user_id="ana", strict=True)
    with pytest.raises(UnavailableError):
        strict.put(user("x"))


# async and threads -------------------------------------------------------------------------------------------
def test_the_loop_is_not_blocked(tmp_path: Path) -> None:
    slow = SlowEmbedder(0.2, HashEmbedder())
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.005)
            longest = max(longest, time.perf_counter() - before)

    async def talk(kept: LTMMemory) -> None:
        watcher = asyncio.create_task(watch())
        await kept.aput(user("I live in Porto."))
        await kept.aget(input="Where do I live?")
        await kept.aput_messages([assistant("Nice.")])
        await kept.aset([user("I live in Porto."), assistant("Nice.")])
        assert len(await kept.aget_all()) == 2
        await kept.areset()
        assert await kept.aget_all() == []
        watcher.cancel()

    with LongTermMemory.open(tmp_path / "s", embedder=slow) as opened:
        kept = LTMMemory.from_defaults(opened, user_id="ana")
        kept.put(user("Warm up."))
        kept.get("Warm up?")
        asyncio.run(talk(kept))
    # The slow calls take 200 ms each; the rest is the scheduler of a busy machine.
    assert longest < 0.15


def test_two_loops_in_two_threads(memory: LongTermMemory) -> None:
    failures: list[BaseException] = []

    def run(who: str) -> None:
        async def talk() -> None:
            kept = LTMMemory.from_defaults(memory, user_id=who)
            await kept.aput(user(f"My name is {who}."))
            assert spoken(await kept.aget_all()) == [("user", f"My name is {who}.")]
            await kept.areset()

        try:
            asyncio.run(talk())
        except Exception as e:  # noqa: BLE001  told to the thread that waits
            failures.append(e)

    threads = [threading.Thread(target=run, args=(f"user{i}",)) for i in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(30)
    assert not failures


def test_ten_writers_lose_and_double_nothing(memory: LongTermMemory) -> None:
    async def write() -> None:
        writers = [LTMMemory.from_defaults(memory, user_id="ana") for _ in range(10)]
        texts = [f"sentence {i}" for i in range(50)]
        await asyncio.gather(*(writers[n % 10].aput(user(t)) for n, t in enumerate(texts)))

    asyncio.run(write())
    texts = [c for _, c in stored(memory, "ana")]
    assert len(texts) == 50
    assert len(set(texts)) == 50


# copies ------------------------------------------------------------------------------------------------------
def test_dicts_pickles_and_copies_reconnect(memory: LongTermMemory, tmp_path: Path) -> None:
    kept = LTMMemory.from_defaults(memory, user_id="ana", session_id="s", token_limit=777, insert_as="user")
    kept.put(user("Hello."))
    data = json.loads(json.dumps(kept.to_dict()))
    assert data == {
        "location": str(tmp_path / "store"),
        "user_id": "ana",
        "session_id": "s",
        "token_limit": 777,
        "context_tokens": 1200,
        "insert_as": "user",
        "strict": False,
        "class_name": "LTMMemory",
    }
    copies = [LTMMemory.from_dict(data), pickle.loads(pickle.dumps(kept)), copy.copy(kept), copy.deepcopy(kept)]
    for other in copies:
        assert other._memory is memory
        assert other.token_limit == 777
        assert spoken(other.get_all()) == [("user", "Hello.")]


def test_a_store_in_memory_is_found_while_it_lives() -> None:
    embedder = HashEmbedder()
    with (
        LongTermMemory.open(":memory:", embedder=embedder) as one,
        LongTermMemory.open(":memory:", embedder=embedder) as two,
    ):
        data = [LTMMemory.from_defaults(m, user_id="ana").to_dict() for m in (one, two)]
        assert [LTMMemory.from_dict(d)._memory for d in data] == [one, two]
    with pytest.raises(UnavailableError):
        LTMMemory.from_dict(data[0])


def test_no_password_leaves_the_process() -> None:
    from ltm_core.handles import without_password

    assert (
        without_password("postgresql://ana:Rosebud@db.test:5432/ltm?x=1") == "postgresql://ana@db.test:5432/ltm?x=1"
    )
    assert without_password("/data/ltm") == "/data/ltm"


# conversion --------------------------------------------------------------------------------------------------
def test_a_text_that_no_longer_fits_its_shape_comes_back_as_text() -> None:
    kept = to_message(ChatMessage(role=MessageRole.USER, blocks=[TextBlock(text="a"), TextBlock(text="b")]))
    assert kept is not None
    edited = Message(role="user", content="something longer", metadata=kept.metadata)
    assert spoken([to_chat_message(edited)]) == [("user", "something longer")]
