"""LTMConversationMemory in real chains of LangChain."""

from __future__ import annotations

import asyncio
import copy
import logging
import pickle
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langchain_classic.chains import ConversationChain, LLMChain
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder, PromptTemplate
from pydantic import ValidationError

import ltm_core
from langchain_ltm import LTMConversationMemory
from langchain_ltm._convert import from_messages, to_message, to_messages, words_of
from langchain_ltm._pending import Pending
from ltm_core import LongTermMemory, Message, Scope
from ltm_core.errors import ConfigError, InvalidInputError, InvalidScopeError, UnavailableError
from ltm_core.testing.embedders import HashEmbedder
from ltm_core.testing.langchain_model import ScriptedChatModel

pytestmark = [
    # The chain this adapter is for is deprecated by its host; users are to see that, tests need not.
    pytest.mark.filterwarnings("ignore:The class `ConversationChain` was deprecated"),
    pytest.mark.filterwarnings("ignore:The class `LLMChain` was deprecated"),
]

ROOT = Path(__file__).parents[2]
PLACED = ChatPromptTemplate.from_messages(
    [("system", "Be brief."), MessagesPlaceholder("history"), ("human", "{input}")]
)


def always(text: str) -> Callable[[list[BaseMessage]], str]:
    return lambda _: text


def model(reply: str | Callable[[list[BaseMessage]], str] = "Noted.") -> ScriptedChatModel:
    return ScriptedChatModel(reply=reply if callable(reply) else always(reply))


def chain_for(memory: Any, llm: ScriptedChatModel, **options: Any) -> Any:
    prompt = options.pop("prompt", None)
    kept = LTMConversationMemory(memory=memory, **options)
    return ConversationChain(llm=llm, memory=kept, **({"prompt": prompt} if prompt else {}))


def prompt_text(llm: ScriptedChatModel, index: int = -1) -> str:
    return "\n".join(m.text for m in llm.prompts[index])


def turns(memory: LongTermMemory, user_id: str, session_id: str | None = None) -> list[tuple[str, str]]:
    return [(m.role, m.content) for m in memory.messages(user_id=user_id, session_id=session_id)]


class FailsAt:
    """A memory that works, except for the named methods."""

    def __init__(self, inner: LongTermMemory, *failing: str) -> None:
        self.inner, self.failing, self.location = inner, failing, inner.location

    def __getattr__(self, name: str) -> Any:
        return self._fail if name in self.failing else getattr(self.inner, name)

    def _fail(self, **_: Any) -> None:
        raise UnavailableError("scripted failure")


# the chain it is made for ------------------------------------------------------------------------------------
def test_the_default_prompt_shows_what_was_said(memory: LongTermMemory) -> None:
    llm = model("Hello Ana.")
    chain = chain_for(memory, llm, user_id="ana")
    assert chain.predict(input="My name is Ana.") == "Hello Ana."
    chain.predict(input="Which name did I tell you?")
    shown = prompt_text(llm)
    assert "My name is Ana." in shown
    assert "Hello Ana." in shown
    assert shown.count("Which name did I tell you?") == 1
    assert turns(memory, "ana") == [
        ("user", "My name is Ana."),
        ("assistant", "Hello Ana."),
        ("user", "Which name did I tell you?"),
        ("assistant", "Hello Ana."),
    ]


def test_answers_reply_to_their_question(memory: LongTermMemory) -> None:
    chain = chain_for(memory, model(), user_id="ana")
    chain.predict(input="I live in Porto.")
    said, answered = memory.messages(user_id="ana").items
    assert answered.reply_to == said.id


def test_two_users_and_a_restart(tmp_path: Path) -> None:
    store = tmp_path / "store"

    def talk(user: str, session: str, text: str) -> str:
        llm = model()
        with LongTermMemory.open(store, embedder=HashEmbedder()) as opened:
            chain_for(opened, llm, user_id=user, session_id=session).predict(input=text)
        return prompt_text(llm)

    talk("ana", "s1", "I live in Porto.")
    talk("ben", "s1", "I live in Leeds.")
    ana, ben = talk("ana", "s2", "Where do I live?"), talk("ben", "s2", "Where do I live?")
    assert "Porto" in ana and "Leeds" not in ana
    assert "Leeds" in ben and "Porto" not in ben


def test_another_process_remembers(tmp_path: Path, memory: LongTermMemory) -> None:
    chain_for(memory, model(), user_id="ana", session_id="s1").predict(input="I live in Porto.")
    script = """
import sys, warnings
warnings.simplefilter("ignore")
from langchain_classic.chains import ConversationChain
from langchain_ltm import LTMConversationMemory
from ltm_core import LongTermMemory
from ltm_core.testing.embedders import HashEmbedder
from ltm_core.testing.langchain_model import ScriptedChatModel
for user in ("ana", "ben"):
    llm = ScriptedChatModel(reply=lambda _: "ok")
    kept = LTMConversationMemory(
        memory=LongTermMemory.open(sys.argv[1], embedder=HashEmbedder()), user_id=user, session_id="s2"
    )
    ConversationChain(llm=llm, memory=kept).predict(input="Where do I live?")
    print(user, "Porto" in llm.prompts[0][0].text)
"""
    out = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "store")],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert out.stdout.split() == ["ana", "True", "ben", "False"]


def test_messages_placeholder_gets_one_leading_system_message(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="old", user="I live in Porto.")
    llm = model("Hi.")
    chain = chain_for(memory, llm, user_id="ana", return_messages=True, prompt=PLACED)
    chain.predict(input="Hello there, I am back.")
    chain.predict(input="Where do I live?")
    kinds = [m.type for m in llm.prompts[-1]]
    assert kinds == ["system", "system", "human", "ai", "human"]
    assert "Porto" in llm.prompts[-1][1].text
    assert [m.text for m in llm.prompts[-1][2:]] == ["Hello there, I am back.", "Hi.", "Where do I live?"]


def test_each_tier_may_have_a_variable(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="old", user="I live in Porto. The weather was lovely on my walk.")
    llm = model("Hi.")
    prompt = PromptTemplate.from_template("F:{facts}|E:{episodes}|H:{history}|Q:{input}")
    chain = chain_for(
        memory,
        llm,
        user_id="ana",
        prompt=prompt,
        tier_keys={"semantic": "facts", "episodic": "episodes", "working": "history"},
    )
    assert chain.memory.memory_variables == ["history", "facts", "episodes"]
    chain.predict(input="Hello again, old friend.")
    chain.predict(input="Where do I live?")
    facts, episodes, history, _ = re.split(r"\|[EHQ]:", prompt_text(llm))
    assert "Porto" in facts
    assert "Hello again, old friend." in history
    assert "Hello again" not in facts + episodes


@pytest.mark.parametrize("budget", [0, 1, 20, 60, 300])
def test_all_variables_together_stay_in_the_budget(memory: LongTermMemory, budget: int) -> None:
    from ltm_core.text.tokens import estimate_tokens

    for place in ("Porto", "Leeds", "Lima", "Oslo"):
        memory.observe(user_id="ana", session_id=place, user=f"I live in {place}. It is a fine place to walk.")
    keys = {"semantic": "facts", "episodic": "episodes", "working": "history"}
    for options in ({}, {"tier_keys": keys}):
        kept = LTMConversationMemory(memory=memory, user_id="ana", max_tokens=budget, **options)
        shown = kept.load_memory_variables({"input": "Where do I live?"})
        assert sum(estimate_tokens(t) for t in shown.values()) <= budget


# when a turn is stored ---------------------------------------------------------------------------------------
def test_a_model_error_keeps_the_words(memory: LongTermMemory) -> None:
    def fail(_: list[BaseMessage]) -> str:
        raise RuntimeError("model down")

    with pytest.raises(RuntimeError, match="model down"):
        chain_for(memory, model(fail), user_id="ana").predict(input="I am allergic to bees.")
    assert turns(memory, "ana") == [("user", "I am allergic to bees.")]
    assert "bees" in memory.context("allergies?", user_id="ana", session_id="s2").text


def test_asking_again_after_a_failure_is_the_same_turn(memory: LongTermMemory) -> None:
    calls: list[int] = []

    def fail_once(_: list[BaseMessage]) -> str:
        calls.append(1)
        if len(calls) == 1:
            raise RuntimeError("model down")
        return "Careful, then."

    chain = chain_for(memory, model(fail_once), user_id="ana")
    with pytest.raises(RuntimeError):
        chain.predict(input="I am allergic to bees.")
    chain.predict(input="I am allergic to bees.")
    assert turns(memory, "ana") == [("user", "I am allergic to bees."), ("assistant", "Careful, then.")]


def test_loading_twice_stores_once(memory: LongTermMemory) -> None:
    kept = LTMConversationMemory(memory=memory, user_id="ana")
    kept.load_memory_variables({"input": "I live in Porto."})
    again = kept.load_memory_variables({"input": "I live in Porto."})
    assert "Porto" not in again["history"]
    kept.save_context({"input": "I live in Porto."}, {"response": "Nice."})
    assert turns(memory, "ana") == [("user", "I live in Porto."), ("assistant", "Nice.")]


def test_the_same_words_after_other_words_are_a_new_turn(memory: LongTermMemory) -> None:
    kept = LTMConversationMemory(memory=memory, user_id="ana")
    kept.load_memory_variables({"input": "ok"})  # the model failed
    kept.load_memory_variables({"input": "I live in Porto."})
    kept.save_context({"input": "I live in Porto."}, {"response": "Nice."})
    kept.load_memory_variables({"input": "ok"})
    kept.save_context({"input": "ok"}, {"response": "Good."})
    assert [c for _, c in turns(memory, "ana")] == ["ok", "I live in Porto.", "Nice.", "ok", "Good."]


def test_a_chain_inside_a_chain_answers_its_own_turn(memory: LongTermMemory) -> None:
    kept = LTMConversationMemory(memory=memory, user_id="ana")
    kept.load_memory_variables({"input": "outer words"})
    kept.load_memory_variables({"input": "inner words"})
    kept.save_context({"input": "inner words"}, {"response": "inner answer"})
    kept.save_context({"input": "outer words"}, {"response": "outer answer"})
    stored = {m.id: m for m in memory.messages(user_id="ana")}
    pairs = [(stored[m.reply_to or ""].content, m.content) for m in stored.values() if m.role == "assistant"]
    assert pairs == [("inner words", "inner answer"), ("outer words", "outer answer")]
    assert len(stored) == 4


def test_waiting_turns() -> None:
    now = [0.0]
    pending, scope, other = Pending(lambda: now[0]), Scope(user_id="ana", session_id="s"), Scope(user_id="ben")
    a, b = ("thread", 1), ("thread", 2)
    pending.add(a, scope, "hi", "m1")
    assert pending.again(a, scope, "hi") == "m1"
    assert pending.again(b, scope, "hi") is None
    assert pending.again(a, other, "hi") is None
    now[0] = 601.0
    assert pending.again(a, scope, "hi") is None
    assert pending.take(b, scope, "hi") == "m1"
    assert pending.take(a, scope, "hi") is None
    for number in range(3000):
        pending.add(a, scope, str(number), f"m{number}")
    assert pending.take(a, scope, "0") is None
    assert pending.take(a, scope, "2999") == "m2999"
    pending.drop(scope)
    assert pending.take(a, scope, "2998") is None


def test_the_same_words_later_are_a_new_turn(memory: LongTermMemory) -> None:
    chain = chain_for(memory, model("Good."), user_id="ana")
    for _ in range(3):
        chain.predict(input="好的")
    assert turns(memory, "ana") == [("user", "好的"), ("assistant", "Good.")] * 3


def test_loading_without_input_stores_nothing(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="old", user="I live in Porto.")
    kept = LTMConversationMemory(memory=memory, user_id="ana")
    assert "Porto" in kept.load_memory_variables({})["history"]
    assert kept.load_memory_variables({"input": "  \n"})["history"] is not None
    assert len(turns(memory, "ana")) == 1


def test_saving_without_loading_stores_both(memory: LongTermMemory) -> None:
    kept = LTMConversationMemory(memory=memory, user_id="ana")
    kept.save_context({"input": "I live in Porto."}, {"output": "Nice."})
    said, answered = memory.messages(user_id="ana").items
    assert (said.content, answered.content, answered.reply_to) == ("I live in Porto.", "Nice.", said.id)


def test_saving_in_another_thread_finds_the_turn(memory: LongTermMemory) -> None:
    kept = LTMConversationMemory(memory=memory, user_id="ana")
    kept.load_memory_variables({"input": "I live in Porto."})
    with ThreadPoolExecutor(1) as pool:
        pool.submit(kept.save_context, {"input": "I live in Porto."}, {"output": "Nice."}).result()
    assert turns(memory, "ana") == [("user", "I live in Porto."), ("assistant", "Nice.")]


def test_a_batch_of_equal_inputs_is_as_many_turns(memory: LongTermMemory) -> None:
    together = threading.Barrier(4, timeout=20)

    def reply(_: list[BaseMessage]) -> str:
        together.wait()
        return "Good."

    chain = chain_for(memory, model(reply), user_id="ana")
    chain.batch([{"input": "ok"}] * 4, config={"max_concurrency": 4})
    stored = memory.messages(user_id="ana").items
    said = [m.id for m in stored if m.role == "user"]
    assert len(said) == 4
    assert sorted(m.reply_to or "" for m in stored if m.role == "assistant") == sorted(said)


def test_a_batch_answers_each_its_own(memory: LongTermMemory) -> None:
    def reply(messages: list[BaseMessage]) -> str:
        asked = re.findall(r"Human: (\w+)", messages[-1].text)[-1]
        return f"about {asked}"

    chain = chain_for(memory, model(reply), user_id="ana")
    chain.batch([{"input": f"topic{i}"} for i in range(12)], config={"max_concurrency": 6})
    stored = {m.id: m for m in memory.messages(user_id="ana")}
    pairs = {(stored[m.reply_to or ""].content, m.content) for m in stored.values() if m.role == "assistant"}
    assert pairs == {(f"topic{i}", f"about topic{i}") for i in range(12)}


def test_fifty_users_at_once_keep_their_names(memory: LongTermMemory) -> None:
    """One shared chain; who speaks comes from the surrounding scope."""
    llm = model()
    chain = chain_for(memory, llm, session_id="shared")

    async def talk(number: int) -> None:
        with ltm_core.scope(f"user{number}"):
            await chain.ainvoke({"input": f"My name is Name{number}."})
            await chain.ainvoke({"input": f"What is my name? (asks {number})"})

    async def all_of_them() -> None:
        await asyncio.gather(*(talk(i) for i in range(50)))

    asyncio.run(all_of_them())
    asked = 0
    for messages in llm.prompts:
        text = messages[-1].text
        who = re.search(r"asks (\d+)", text)
        if who:
            asked += 1
            assert set(re.findall(r"Name\d+", text)) == {f"Name{who[1]}"}
    assert asked == 50


def test_async_and_streaming(memory: LongTermMemory) -> None:
    llm = model("Nice place.")
    chain = chain_for(memory, llm, user_id="ana")

    async def talk() -> None:
        await chain.ainvoke({"input": "I live in Porto."})
        async for _ in chain.astream({"input": "It is sunny."}):
            pass
        for _ in chain.stream({"input": "Where do I live?"}):
            pass
        await chain.memory.aclear()

    asyncio.run(talk())
    assert [m.role for m in memory.messages(user_id="ana")] == ["user", "assistant"] * 3
    assert "Porto" in prompt_text(llm)
    assert not memory.messages(user_id="ana", session_id="default", window_only=True)


def test_a_stream_closed_early_keeps_the_words(memory: LongTermMemory) -> None:
    chain = chain_for(memory, model(), user_id="ana")

    async def stop() -> None:
        stream = chain.astream({"input": "I am allergic to bees."})
        await anext(stream)
        await stream.aclose()

    asyncio.run(stop())
    assert turns(memory, "ana")[0] == ("user", "I am allergic to bees.")


# what chains pass --------------------------------------------------------------------------------------------
def test_further_keys_are_ignored(memory: LongTermMemory) -> None:
    llm = model()
    prompt = PromptTemplate.from_template("{tone} {history} {input}")
    chain = LLMChain(llm=llm, prompt=prompt, memory=LTMConversationMemory(memory=memory, user_id="ana"))
    chain.invoke({"input": "I live in Porto.", "tone": "friendly"})
    chain.invoke({"input": "It is sunny.", "tone": "friendly"})
    assert [c for _, c in turns(memory, "ana")] == ["I live in Porto.", "Noted.", "It is sunny.", "Noted."]


@pytest.mark.parametrize(
    ("inputs", "outputs", "options"),
    [
        ({"anything": "Hi."}, {"whatever": "Hello."}, {}),
        ({"question": "Hi.", "k": 3}, {"answer": "Hello.", "source_documents": []}, {}),
        ({"query": "Hi.", "k": 3}, {"result": "Hello.", "n": 1}, {}),
        ({"input": "Hi.", "query": "no"}, {"output": "Hello.", "intermediate_steps": []}, {}),
        ({"a": "Hi.", "b": "no"}, {"x": "Hello.", "y": "no"}, {"input_key": "a", "output_key": "x"}),
        ({"input": HumanMessage("Hi.")}, {"response": AIMessage("Hello.")}, {}),
        ({"input": "Hi.", "history": "old text", "stop": ["x"]}, {"text": AIMessageChunk(content="Hello.")}, {}),
        ({"input": [{"type": "text", "text": "Hi."}]}, {"response": [{"type": "text", "text": "Hello."}]}, {}),
    ],
)
def test_keys_and_values(
    memory: LongTermMemory, inputs: dict[str, Any], outputs: dict[str, Any], options: dict[str, Any]
) -> None:
    kept = LTMConversationMemory(memory=memory, user_id="ana", **options)
    kept.load_memory_variables(inputs)
    kept.save_context({**inputs, "history": "injected"}, outputs)
    assert turns(memory, "ana") == [("user", "Hi."), ("assistant", "Hello.")]


def test_an_unclear_input_is_refused_before_the_model_is_asked(memory: LongTermMemory) -> None:
    kept = LTMConversationMemory(memory=memory, user_id="ana")
    with pytest.raises(InvalidInputError, match="input_key"):
        kept.load_memory_variables({"a": "x", "b": "y"})


def test_pictures_leave_a_marker_and_no_bytes(memory: LongTermMemory) -> None:
    data = "data:image/png;base64," + "iVBORw0KGgo" * 20_000
    for url in ("https://x.test/b.png", data):
        kept = LTMConversationMemory(memory=memory, user_id="ana")
        content: list[str | dict[str, Any]] = [
            {"type": "text", "text": "This is my new bike"},
            {"type": "image_url", "image_url": {"url": url}},
        ]
        said = HumanMessage(content=content)
        kept.load_memory_variables({"input": said})
        kept.save_context({"input": said}, {"response": "Lovely."})
    said_texts = [c for r, c in turns(memory, "ana") if r == "user"]
    assert said_texts == [
        "This is my new bike\n[image: https://x.test/b.png]",
        "This is my new bike\n[image]",
    ]


def test_passing_the_whole_conversation_does_not_double_it(memory: LongTermMemory) -> None:
    talk: list[BaseMessage] = []
    for number in range(3):
        talk.append(HumanMessage(f"Sentence number {number}.", id=f"h{number}"))
        kept = LTMConversationMemory(memory=memory, user_id="ana")
        kept.load_memory_variables({"input": list(talk)})
        answer = AIMessage(f"Reply number {number}.")
        kept.save_context({"input": list(talk)}, {"response": answer})
        talk.append(answer)
    assert len(turns(memory, "ana")) == 6


def test_recalled_text_is_never_learnt_again(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="s1", user="I have two cats.")
    facts = len(memory.facts(user_id="ana"))
    llm = model("I see.")
    chain = chain_for(memory, llm, user_id="ana", session_id="s2", return_messages=True, prompt=PLACED)
    for number in range(20):
        chain.predict(input=("How are my cats?", "Do I have cats?")[number % 2])
        # A host that captures everything: the whole prompt, our block included, comes back as the input.
        captured = [*llm.prompts[-1], AIMessage("I see.")]
        chain.memory.load_memory_variables({"input": captured})
    assert any("two cats" in m.text for m in llm.prompts[-1])
    assert len(memory.facts(user_id="ana")) == facts
    stored = turns(memory, "ana", "s2")
    assert not any("<memory" in c for _, c in stored)
    assert sum(1 for r, _ in stored if r == "user") == 20


def test_answers_write_no_facts(memory: LongTermMemory) -> None:
    chain = chain_for(memory, model("I usually write it. I live in Dublin."), user_id="ana")
    chain.predict(input="How do people reverse a list in Rust?")
    assert not memory.facts(user_id="ana")


# options -----------------------------------------------------------------------------------------------------
def test_misspelt_options_are_refused(memory: LongTermMemory) -> None:
    with pytest.raises(ValidationError):
        LTMConversationMemory(memory=memory, usr_id="ana")
    with pytest.raises(ConfigError):
        LTMConversationMemory(memory="./ltm-data", user_id="ana")
    with pytest.raises(ConfigError):
        LTMConversationMemory(memory=memory, user_id="ana", tier_keys={"semantic": "a", "working": "a"})
    with pytest.raises(ValidationError):
        LTMConversationMemory(memory=memory, user_id="ana", tier_keys={"sematic": "a"})


@pytest.mark.parametrize("user", ["", "  ", "\n"])
def test_blank_users_are_refused(memory: LongTermMemory, user: str) -> None:
    with pytest.raises(InvalidScopeError):
        LTMConversationMemory(memory=memory, user_id=user)
    with pytest.raises(InvalidScopeError), ltm_core.scope(user):
        pass


def test_without_a_user_there_is_no_memory(memory: LongTermMemory) -> None:
    kept = LTMConversationMemory(memory=memory)
    with pytest.raises(InvalidScopeError):
        kept.load_memory_variables({"input": "hi"})
    with ltm_core.scope("ana", "s7"):
        kept.load_memory_variables({"input": "I live in Porto."})
        kept.save_context({"input": "I live in Porto."}, {"response": "Nice."})
    assert len(turns(memory, "ana", "s7")) == 2


def test_a_memory_is_not_used_for_another_user(memory: LongTermMemory) -> None:
    kept = LTMConversationMemory(memory=memory, user_id="ana")
    with ltm_core.scope("ben"), pytest.raises(InvalidScopeError):
        kept.load_memory_variables({"input": "hi"})
    assert LTMConversationMemory(memory=memory, user_id=7).user_id == "7"


def test_clear_empties_the_window_only(memory: LongTermMemory) -> None:
    chain_for(memory, model(), user_id="ana", session_id="other").predict(input="Hello from the other one.")
    chain = chain_for(memory, model(), user_id="ana")
    chain.predict(input="I live in Porto.")
    chain.memory.clear()
    assert not memory.messages(user_id="ana", session_id="default", window_only=True)
    assert memory.messages(user_id="ana", session_id="other", window_only=True)
    assert "Porto" in chain.memory.load_memory_variables({"input": "Where do I live?"})["history"]


# failures ----------------------------------------------------------------------------------------------------
def test_a_broken_store_does_not_lose_the_answer(memory: LongTermMemory, caplog: pytest.LogCaptureFixture) -> None:
    llm = model("Still here.")
    broken = FailsAt(memory, "observe", "context")
    chain = chain_for(broken, llm, user_id="ana")
    with caplog.at_level(logging.WARNING, logger="ltm"):
        assert chain.predict(input="My secret is Rosebud.") == "Still here."
    assert caplog.messages
    assert not any("Rosebud" in m for m in caplog.messages)
    strict = chain_for(broken, llm, user_id="ana", strict=True)
    with pytest.raises(UnavailableError):
        strict.predict(input="Hi.")


def test_a_failing_recall_still_stores(memory: LongTermMemory) -> None:
    failing = FailsAt(memory, "context")
    chain = chain_for(failing, model("Yes."), user_id="ana", return_messages=True, prompt=PLACED)
    assert chain.predict(input="I live in Porto.") == "Yes."
    assert turns(memory, "ana") == [("user", "I live in Porto."), ("assistant", "Yes.")]
    tiers = {"semantic": "facts", "working": "history"}
    kept = LTMConversationMemory(memory=failing, user_id="ana", return_messages=True, tier_keys=tiers)
    assert kept.load_memory_variables({"input": "Hi."}) == {"history": [], "facts": ""}


# copies ------------------------------------------------------------------------------------------------------
def test_copies_share_the_memory(memory: LongTermMemory) -> None:
    kept = LTMConversationMemory(memory=memory, user_id="ana", max_tokens=77)
    for other in (copy.copy(kept), copy.deepcopy(kept), kept.model_copy(), pickle.loads(pickle.dumps(kept))):
        assert other.memory is memory
        assert (other.user_id, other.max_tokens) == ("ana", 77)
    assert "memory" not in kept.model_dump()
    assert copy.deepcopy(chain_for(memory, model(), user_id="ana").memory).memory is memory


def test_a_pickle_connects_by_location(tmp_path: Path) -> None:
    store = tmp_path / "store"
    first = LongTermMemory.open(store)
    data = pickle.dumps(LTMConversationMemory(memory=first, user_id="ana"))
    first.close()
    restored = pickle.loads(data)
    assert restored.memory is not first
    restored.save_context({"input": "I live in Porto."}, {"response": "Nice."})
    assert len(turns(restored.memory, "ana")) == 2
    restored.memory.close()
    with LongTermMemory.open(":memory:", embedder=HashEmbedder()) as in_ram:
        lost = pickle.dumps(LTMConversationMemory(memory=in_ram, user_id="ana"))
        assert pickle.loads(lost).memory is in_ram
    with pytest.raises(UnavailableError):
        pickle.loads(lost)


# conversion --------------------------------------------------------------------------------------------------
def test_messages_convert() -> None:
    assert to_message(AIMessageChunk(content="Hi.", id="r1")) == Message(role="assistant", content="Hi.", id="r1")
    assert to_message(HumanMessage("")) is None
    assert to_message(RemoveMessage(id="x")) is None
    assert to_message(HumanMessage("sum", additional_kwargs={"lc_source": "summarization"})) is None
    block = "<memory 0123abcd>\nI have two cats\n</memory 0123abcd>"
    assert to_message(SystemMessage(block)) is None
    kept = to_message(HumanMessage(f"{block}\nHello."))
    assert kept is not None and kept.content == "Hello."
    tool = to_message(ToolMessage("42", tool_call_id="c1"))
    assert tool is not None and tool.role == "tool"
    asked = AIMessage("Wait.", tool_calls=[{"name": "f", "args": {}, "id": "c1"}])
    assert [m.role for m in to_messages([asked, ToolMessage("42", tool_call_id="c1")])] == ["assistant", "tool"]


def test_tool_turns_are_not_shown_without_their_arguments() -> None:
    said: Sequence[Message] = [
        Message(role="user", content="Sum?"),
        Message(role="assistant", content="Wait."),
        Message(role="tool", content="42"),
        Message(role="assistant", content="42."),
    ]
    assert [(m.type, m.content) for m in from_messages(said)] == [("human", "Sum?"), ("ai", "42.")]


def test_words_of_values() -> None:
    assert words_of(None) == ""
    assert words_of(7) == "7"
    assert words_of([HumanMessage("a"), AIMessage("b")]) == "a\nb"
    assert words_of({"key": "value"}) == "{'key': 'value'}"
    assert words_of([]) == ""
