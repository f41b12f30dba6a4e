"""LTMRetriever and ltm_tools: the host's own suites, and whose memory they serve."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.tools import BaseTool
from langchain_tests.integration_tests import RetrieversIntegrationTests, ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests
from pydantic import ValidationError

import ltm_core
from langchain_ltm import LTMRetriever, ltm_tools
from ltm_core import LongTermMemory
from ltm_core.errors import ConfigError, InvalidScopeError, UnavailableError
from ltm_core.testing.langchain_model import ScriptedChatModel

SAID = (
    "I live in Porto.",
    "My cat is called Tom.",
    "We walked along the river and it was sunny.",
    "我喜欢爵士乐。",
    "The soup was too salty.",
)


@pytest.fixture
def told(memory: LongTermMemory) -> LongTermMemory:
    for text in SAID:
        memory.observe(user_id="ana", session_id="s1", user=text)
    memory.observe(user_id="ben", session_id="s1", user="I live in Leeds.")
    return memory


class _Opened:
    """A memory with something in it, for the suites of the host, which make their objects themselves."""

    @pytest.fixture(autouse=True)
    def _open(self, told: LongTermMemory) -> None:
        self.memory = told


class TestStandardRetriever(_Opened, RetrieversIntegrationTests):
    """langchain-tests, as it is."""

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return LTMRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"memory": self.memory, "user_id": "ana"}

    @property
    def retriever_query_example(self) -> str:
        return "quantum chromodynamics"


ARGUMENTS: dict[str, dict[str, Any]] = {
    "recall": {"query": "Where do I live?"},
    "remember": {"text": "I like green tea."},
    "correct": {"wrong": "Porto", "right": "Lisbon"},
    "forget": {"text": "Tom"},
}


class _Tools(_Opened):
    @pytest.fixture(autouse=True, params=ARGUMENTS)
    def _choose(self, request: pytest.FixtureRequest) -> None:
        self.name = request.param

    @property
    def tool_constructor(self) -> BaseTool:
        (made,) = ltm_tools(self.memory, user_id="ana", include=[self.name])
        return made

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return ARGUMENTS[self.name]


class TestStandardToolUnits(_Tools, ToolsUnitTests):
    """langchain-tests, as it is."""


class TestStandardTools(_Tools, ToolsIntegrationTests):
    """langchain-tests, as it is."""


# retriever ---------------------------------------------------------------------------------------------------
def test_documents_say_where_they_come_from(told: LongTermMemory) -> None:
    found = LTMRetriever(memory=told, user_id="ana", k=2).invoke("Where do I live?")
    assert [d.page_content for d in found] == ["I live in Porto", "I live in Porto."]
    (fact,) = [d for d in found if d.metadata["tier"] == "semantic"]
    assert fact.id == fact.metadata["source_id"] == told.facts(user_id="ana").items[0].id
    assert 0 < fact.metadata["similarity"] <= 1 and fact.metadata["at"].endswith("+00:00")
    assert fact.metadata["source_message_ids"]


def test_a_floor_keeps_out_what_is_far(told: LongTermMemory) -> None:
    far = "quantum chromodynamics lattice"
    retriever = LTMRetriever(memory=told, user_id="ana")
    assert len(retriever.invoke(far)) == 4
    assert retriever.invoke(far, min_similarity=0.99) == []
    assert LTMRetriever(memory=told, user_id="ana", min_similarity="calibrated").invoke(far) == []
    assert {
        d.metadata["tier"] for d in LTMRetriever(memory=told, user_id="ana", tier="semantic").invoke("Porto")
    } == {"semantic"}


def test_without_vectors_words_are_found() -> None:
    with LongTermMemory.open(":memory:", embedder="none", timezone="UTC") as opened:
        for number in range(6):
            opened.observe(user_id="ana", session_id="s", user=f"Sentence about topic {number}.")
        assert len(LTMRetriever(memory=opened, user_id="ana", k=3).invoke("topic")) == 3


def test_the_user_comes_from_the_call(told: LongTermMemory) -> None:
    retriever = LTMRetriever(memory=told, k=1)
    assert "Leeds" in retriever.invoke("Where do I live?", {"configurable": {"user_id": "ben"}})[0].page_content
    with ltm_core.scope("ana"):
        assert "Porto" in retriever.invoke("Where do I live?")[0].page_content
    with pytest.raises(InvalidScopeError):
        retriever.invoke("Where do I live?")
    with pytest.raises(InvalidScopeError):
        LTMRetriever(memory=told, user_id="ana").invoke("x", {"configurable": {"user_id": "ben"}})


def test_in_a_chain_with_many_users_at_once(told: LongTermMemory) -> None:
    llm = ScriptedChatModel(reply=lambda messages: messages[-1].text)

    def joined(documents: list[Any]) -> str:
        return " ".join(d.page_content for d in documents)

    prompt = ChatPromptTemplate.from_template("{found}")
    chain: Any = (
        {"found": LTMRetriever(memory=told) | RunnableLambda(joined), "q": RunnablePassthrough()} | prompt | llm
    )
    configs = [{"configurable": {"user_id": u}} for u in ("ana", "ben")] * 3
    for answers in (
        chain.batch(["Where do I live?"] * 6, config=configs),
        asyncio.run(chain.abatch(["Where do I live?"] * 6, config=configs)),
    ):
        for index, answer in enumerate(answers):
            assert ("Porto" in answer.text) == (index % 2 == 0)
            assert ("Leeds" in answer.text) == (index % 2 == 1)


def test_wrong_retriever_options_are_refused(told: LongTermMemory) -> None:
    for options in ({"usr_id": "ana"}, {"k": 0}, {"min_similarity": "near"}, {"tier": "working"}):
        with pytest.raises(ValidationError):
            LTMRetriever(memory=told, **options)
    with pytest.raises(ConfigError):
        LTMRetriever(memory="./ltm-data")
    with pytest.raises(InvalidScopeError):
        LTMRetriever(memory=told, user_id=" ")


class Broken:
    def search(self, **_: Any) -> None:
        raise UnavailableError("scripted failure")

    remember = context = correct = forget_matching = search


def test_a_broken_store_gives_no_documents() -> None:
    assert LTMRetriever(memory=Broken(), user_id="ana").invoke("x") == []
    with pytest.raises(UnavailableError):
        LTMRetriever(memory=Broken(), user_id="ana", strict=True).invoke("x")


# tools -------------------------------------------------------------------------------------------------------
@pytest.fixture
def tools(told: LongTermMemory) -> Iterator[dict[str, BaseTool]]:
    yield {t.name: t for t in ltm_tools(told, user_id="ana")}


def test_remember_recall_correct_forget(told: LongTermMemory, tools: dict[str, BaseTool]) -> None:
    assert "Porto" in tools["recall"].invoke({"query": "Where do I live?"})
    assert tools["remember"].invoke({"text": "我对花生过敏。"}).startswith("Remembered")
    assert "花生" in asyncio.run(tools["recall"].ainvoke({"query": "我不能吃什么？"}))
    assert "Lisbon" in tools["correct"].invoke({"wrong": "Porto", "right": "Lisbon"})
    assert "Lisbon" in tools["recall"].invoke({"query": "Where do I live?"})
    assert tools["forget"].invoke({"text": "Tom"}) == "Forgotten."
    assert "Tom" not in str([m.content for m in told.messages(user_id="ana")])
    assert tools["forget"].invoke({"text": "Tom"}) == "Nothing with these words is remembered."
    assert tools["recall"].invoke({"query": "xyzzy"}) == "Nothing fitting is remembered."


def test_the_model_cannot_choose_the_user(told: LongTermMemory, tools: dict[str, BaseTool]) -> None:
    for made in tools.values():
        schema: Any = made.tool_call_schema
        assert not {"user_id", "session_id", "memory"} & set(schema.model_json_schema()["properties"])
    with pytest.raises(ValidationError):
        tools["recall"].invoke({"query": "Where do I live?", "user_id": "ben"})
    shared = {t.name: t for t in ltm_tools(told)}
    for user, town in (("ana", "Porto"), ("ben", "Leeds")):
        assert town in shared["recall"].invoke({"query": "Where do I live?"}, {"configurable": {"user_id": user}})
        with ltm_core.scope(user):
            assert town in asyncio.run(shared["recall"].ainvoke({"query": "Where do I live?"}))
    with pytest.raises(InvalidScopeError):
        shared["recall"].invoke({"query": "Where do I live?"})


def test_a_word_that_stands_everywhere_erases_nothing(told: LongTermMemory, tools: dict[str, BaseTool]) -> None:
    for number in range(8):
        told.observe(user_id="ana", session_id="s1", user=f"The garden number {number} was green.")
    before = told.stats().messages
    assert tools["forget"].invoke({"text": "garden"}).startswith("Not done: these words stand in")
    assert told.stats().messages == before and "garden" in str([m.content for m in told.messages(user_id="ana")])


def test_corrections_that_fit_nothing_or_several(told: LongTermMemory, tools: dict[str, BaseTool]) -> None:
    assert tools["correct"].invoke({"wrong": "Atlantis", "right": "Lisbon"}).startswith("Not done: nothing like")
    told.observe(user_id="ana", session_id="s1", user="My sister lives in Porto.")
    several = tools["correct"].invoke({"wrong": "Porto", "right": "Lisbon"})
    assert several.startswith("Not done: this fits several facts") and "sister" in several
    assert tools["correct"].invoke({"wrong": "Tom", "right": " "}).startswith("Not done: right must not be blank")


def test_what_cannot_be_done_is_said(told: LongTermMemory) -> None:
    told.pause("ana")
    (remember,) = ltm_tools(told, user_id="ana", include=["remember"])
    assert remember.invoke({"text": "I like tea."}).startswith("Not done:")
    for made in ltm_tools(Broken(), user_id="ana", prefix="memory_"):
        assert made.name.startswith("memory_")
    (recall,) = ltm_tools(Broken(), user_id="ana", include=["recall"])
    assert recall.invoke({"query": "x"}) == "Not done: the memory could not be reached."
    (strict,) = ltm_tools(Broken(), user_id="ana", include=["recall"], strict=True)
    with pytest.raises(UnavailableError):
        strict.invoke({"query": "x"})
    with pytest.raises(ConfigError):
        ltm_tools(told, include=["burn"])  # type: ignore[list-item]
    with pytest.raises(ConfigError):
        ltm_tools("./ltm-data")


def test_what_the_model_does_is_told_from_what_the_user_does(told: LongTermMemory) -> None:
    actors: dict[str, str] = {}

    class Noting:
        def __getattr__(self, name: str) -> Any:
            def call(**options: Any) -> Any:
                actors[name] = options.get("actor", "")
                return getattr(told, name)(**options)

            return call

    for made in ltm_tools(Noting(), user_id="ana"):
        made.invoke(ARGUMENTS[made.name])
    assert {n: actors[n] for n in ("remember", "correct", "forget_matching")} == dict.fromkeys(
        ("remember", "correct", "forget_matching"), "assistant tool"
    )
