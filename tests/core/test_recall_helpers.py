"""A reranker and a rewriter: what they change, and that recall goes on without them."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

import pytest

from ltm_core import ConfigError, ContextItem, LongTermMemory, Message, MissingExtraError
from ltm_core.recall.bounded import MOST_RUNNING, Bounded
from ltm_core.recall.rerankers import resolve_reranker
from ltm_core.recall.rewriters import queries_in, resolve_rewriter
from ltm_core.testing.openai_server import OpenAIServer

TURNS = [
    "The kayak trip on the lake was wonderful.",
    "I bought a kayak paddle for the lake.",
    "My kayak is stored near the lake in a shed.",
    "Our dog barks at kayak people on the lake.",
]


class Judge:
    """Prefers the texts that hold its word."""

    name = "judge"

    def __init__(self, word: str) -> None:
        self.word = word
        self.calls: list[tuple[str, list[str]]] = []

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        self.calls.append((query, list(texts)))
        return [7.0 if self.word in t else -3.0 for t in texts]


def opened(**options: Any) -> LongTermMemory:
    memory = LongTermMemory.open(":memory:", embedder="none", timezone="UTC", **options)
    for n, text in enumerate(TURNS):
        memory.observe(user_id="ana", session_id=f"s{n}", user=text, at=f"2025-03-0{n + 1}T09:00:00Z")
    return memory


def episodes(memory: LongTermMemory) -> list[ContextItem]:
    return memory.search("kayak on the lake", user_id="ana", tiers=("episodic",))


@pytest.mark.parametrize("word", ["paddle", "shed", "barks", "wonderful"])
def test_the_reranker_decides_the_order(word: str) -> None:
    judge = Judge(word)
    with opened(reranker=judge) as memory:
        found = episodes(memory)
        assert word in found[0].text and found[0].signals["rerank"] == 1.0
        assert len(found) == 4 and all(0 <= i.score <= 1 for i in found)
        query, texts = judge.calls[0]
        assert query == "kayak on the lake" and len(texts) == 4
        assert any(t.startswith("[2025-03-01] user: ") for t in texts)


def test_context_and_explain_tell_of_it() -> None:
    with opened(reranker=Judge("shed")) as memory:
        context = memory.context("kayak on the lake", user_id="ana", tiers=("episodic",))
        assert context.episodic[0].text == TURNS[2]
        assert "judge judged 4 of 4 candidates" in context.explain() and "rerank 1.00" in context.explain()


def test_facts_are_judged_too() -> None:
    judge = Judge("paddle")
    with opened(reranker=judge) as memory:
        found = memory.search("kayak on the lake", user_id="ana", tiers=("semantic",))
        assert found and "paddle" in found[0].text and found[0].signals["rerank"] == 1.0


def test_equal_scores_keep_the_order_and_the_same_call_gives_the_same() -> None:
    with opened() as plain, opened(reranker=Judge("nothing of it")) as memory:
        expected = [i.text for i in episodes(plain)]
        for _ in range(3):
            assert [i.text for i in episodes(memory)] == expected


def test_an_unrelated_question_stays_empty_and_is_not_judged() -> None:
    judge = Judge("kayak")
    with opened(reranker=judge) as memory:
        assert memory.search("quantum chromodynamics", user_id="ana") == []
        assert memory.search("", user_id="ana") == []
        assert judge.calls == []


def test_only_the_best_are_judged() -> None:
    judge = Judge("shed")
    with opened(reranker=judge, rerank_candidates=2) as memory:
        found = episodes(memory)
        assert len(judge.calls[0][1]) == 2 and len(found) == 4
        assert sum("rerank" in i.signals for i in found) == 2


def test_what_was_replaced_stays_below_what_replaced_it() -> None:
    judge = Judge("Lisbon")
    with LongTermMemory.open(":memory:", embedder="none", timezone="UTC", reranker=judge) as memory:
        memory.observe(user_id="ana", session_id="a", user="I live in Lisbon.", at="2025-01-01T09:00:00Z")
        memory.observe(user_id="ana", session_id="b", user="I moved to Porto.", at="2025-02-01T09:00:00Z")
        found = memory.search("Where do I live, Lisbon or Porto? I moved", user_id="ana", tiers=("episodic",))
        assert judge.calls
        texts = [i.text for i in found]
        assert texts.index("I moved to Porto.") < texts.index("I live in Lisbon.")


class Broken:
    name = "broken"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def rerank(self, query: str, texts: Sequence[str]) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    "answer", [RuntimeError("secret words"), [1.0], [], [float("nan")] * 4, [float("inf")] * 4, None, ["x"] * 4]
)
def test_a_reranker_that_fails_changes_nothing(answer: Any, caplog: pytest.LogCaptureFixture) -> None:
    with opened() as plain, opened(reranker=Broken(answer)) as memory, caplog.at_level(logging.WARNING, "ltm"):
        expected = [i.text for i in episodes(plain)]
        assert [i.text for i in episodes(memory)] == expected
        assert "broken failed" in caplog.text and "secret" not in caplog.text
        assert (
            "the order is recall's own"
            in memory.context("kayak on the lake", user_id="ana", tiers=("episodic",)).explain()
        )


def test_a_reranker_that_hangs_is_not_waited_for() -> None:
    gate = threading.Event()

    class Hanging:
        name = "hanging"

        def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
            gate.wait(30)
            return [0.0] * len(texts)

    try:
        with opened(reranker=Hanging(), rerank_seconds=0.05) as memory:
            began = time.monotonic()
            assert len(episodes(memory)) == 4
            assert time.monotonic() - began < 10
            # The store is not held open by the call that hangs.
            assert memory.forget_user("ana").bytes_clean
    finally:
        gate.set()


def test_hanging_calls_are_bounded_in_number() -> None:
    gate = threading.Event()
    bounded = Bounded(Judge("x"), 0.01)
    try:
        told = [bounded(lambda _: gate.wait(30))[1] for _ in range(MOST_RUNNING + 1)]
    finally:
        gate.set()
    assert all("no answer" in t for t in told[:-1]) and "have not ended" in told[-1]
    end = time.monotonic() + 10
    while bounded(lambda _: 1)[0] != 1:
        assert time.monotonic() < end
        time.sleep(0.01)


def test_what_cannot_rerank_is_refused_with_what_is_possible() -> None:
    for given in ("cross-encoder:", "bge", object(), Judge, 7):
        with pytest.raises(ConfigError, match="cross-encoder:<model or folder>"):
            LongTermMemory.open(":memory:", embedder="none", timezone="UTC", reranker=given)


def test_a_cross_encoder_needs_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtraError, match=r"ltm-core\[sentence-transformers\]"):
        resolve_reranker("cross-encoder:owner/model")


def test_objects_that_score_pairs_are_taken() -> None:
    class Array:
        def tolist(self) -> list[list[float]]:
            return [[0.5], [0.25]]

    class LangChainLike:
        def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
            return [float(len(b)) for _, b in text_pairs]

    class CrossEncoderLike:
        def predict(self, pairs: list[tuple[str, str]]) -> Array:
            return Array()

    first, second = resolve_reranker(LangChainLike()), resolve_reranker(CrossEncoderLike())
    assert first is not None and list(first.rerank("q", ["a", "bb"])) == [1.0, 2.0]
    assert second is not None and list(second.rerank("q", ["a", "bb"])) == [0.5, 0.25]


def test_postprocessors_of_llamaindex_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    class Node:
        def __init__(self, text: str, id_: str) -> None:
            self.text, self.node_id = text, id_

    class Scored:
        def __init__(self, node: Node, score: float | None) -> None:
            self.node, self.score = node, score

    schema = ModuleType("llama_index.core.schema")
    schema.TextNode = Node  # type: ignore[attr-defined]
    schema.NodeWithScore = Scored  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "llama_index.core.schema", schema)

    class TopTwo:
        def postprocess_nodes(self, nodes: list[Scored], query_str: str) -> list[Scored]:
            for n in nodes:
                n.score = float(len(n.node.text))
            return sorted(nodes, key=lambda n: -(n.score or 0))[:2]

    reranker = resolve_reranker(TopTwo())
    assert reranker is not None and list(reranker.rerank("q", ["a", "ccc", "bb"])) == [1.0, 3.0, 2.0]


# rewriting --------------------------------------------------------------------------------------------
class Writer:
    name = "writer"

    def __init__(self, *answer: str) -> None:
        self.answer = answer
        self.calls: list[tuple[str, tuple[Message, ...], tuple[str, ...]]] = []

    def rewrite(self, query: str, turns: Sequence[Message], entities: Sequence[str]) -> Sequence[str]:
        self.calls.append((query, tuple(turns), tuple(entities)))
        return self.answer


def talking(**options: Any) -> LongTermMemory:
    memory = LongTermMemory.open(":memory:", embedder="none", timezone="UTC", **options)
    memory.observe(user_id="ana", session_id="old", user="The invoice INV-2231 from Acme was paid in March.")
    memory.observe(user_id="ana", session_id="old2", user="我上周去看了牙医，补了一颗牙。")
    memory.observe(user_id="ana", session_id="now", user="Hello again!", assistant="Hi Ana, how can I help?")
    memory.set_slot("topic", "billing", user_id="ana", session_id="now")
    return memory


VAGUE = ["上次那个事怎么样了？", "What about that thing?"]


@pytest.mark.parametrize("question", VAGUE)
def test_a_vague_question_is_read_as_the_rewriter_says(question: str) -> None:
    with talking(rewriter=(writer := Writer("Was the Acme invoice paid?", "牙医 补牙"))) as memory:
        context = memory.context(question, user_id="ana", session_id="now")
        shown = context.text
        assert "INV-2231" in shown and "补了一颗牙" in shown
        assert "writer read the question as: Was the Acme invoice paid? | 牙医 补牙" in context.explain()
        assert context.query == question
        query, turns, entities = writer.calls[0]
        assert query == question and [t.content for t in turns] == ["Hello again!", "Hi Ana, how can I help?"]
        assert "topic = billing" in entities


def test_the_question_being_answered_is_no_turn_before_it() -> None:
    with talking(rewriter=(writer := Writer("Acme invoice"))) as memory:
        memory.observe(user_id="ana", session_id="now", user=VAGUE[1])
        context = memory.context(user_id="ana", session_id="now")
        assert "INV-2231" in context.text
        query, turns, _ = writer.calls[0]
        assert query == VAGUE[1] and VAGUE[1] not in [t.content for t in turns]


def test_a_question_with_a_topic_is_not_rewritten() -> None:
    with talking(rewriter=(writer := Writer("anything"))) as memory:
        for question in ("Was the Acme invoice paid?", "牙医怎么说？", "", "hello"):
            memory.context(question, user_id="ana", session_id="now")
        memory.context(user_id="ana")
        assert writer.calls == []


@pytest.mark.parametrize("answer", [(), ("",), (VAGUE[1],), ("x" * 501,), (" what about THAT thing? ",)])
def test_an_answer_that_says_nothing_new_is_not_used(answer: tuple[str, ...]) -> None:
    with talking() as plain, talking(rewriter=Writer(*answer)) as memory:
        expected = [i.text for i in plain.context(VAGUE[1], user_id="ana", session_id="now").items]
        context = memory.context(VAGUE[1], user_id="ana", session_id="now")
        assert [i.text for i in context.items] == expected
        assert "did not know" in context.explain()


def test_at_most_so_many_questions_are_taken() -> None:
    with talking(rewriter=Writer("invoice", "dentist", "Acme", "March"), rewrite_queries=2) as memory:
        explained = memory.context(VAGUE[1], user_id="ana", session_id="now").explain()
        assert "invoice | dentist" in explained and "Acme |" not in explained


@pytest.mark.parametrize("error", [RuntimeError("secret"), None])
def test_a_rewriter_that_fails_is_gone_without(error: Exception | None, caplog: pytest.LogCaptureFixture) -> None:
    class Failing:
        name = "failing"

        def rewrite(self, query: str, turns: Sequence[Message], entities: Sequence[str]) -> Any:
            if error is not None:
                raise error
            return None

    with talking() as plain, talking(rewriter=Failing()) as memory, caplog.at_level(logging.WARNING, "ltm"):
        expected = [i.text for i in plain.context(VAGUE[0], user_id="ana", session_id="now").items]
        context = memory.context(VAGUE[0], user_id="ana", session_id="now")
        assert [i.text for i in context.items] == expected
        assert "failing failed" in caplog.text and "secret" not in caplog.text
        assert "words of the conversation" in context.explain()


def test_another_user_is_never_shown_to_the_rewriter() -> None:
    with talking(rewriter=(writer := Writer("Acme invoice"))) as memory:
        memory.observe(user_id="ben", session_id="now", user="My code is B-7781.", assistant="Noted.")
        context = memory.context(VAGUE[1], user_id="ben", session_id="now")
        assert "Acme" not in context.text
        assert "invoice" not in str(writer.calls)


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


def test_an_openai_server_rewrites(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k-123")
    answer = 'Sure: {"queries": ["Was the Acme invoice paid?"]}'
    server.route("/v1/chat/completions", lambda body: {"choices": [{"message": {"content": answer}}]})
    with talking(rewriter=f"openai:{server.base_url}#tiny") as memory:
        assert "INV-2231" in memory.context(VAGUE[1], user_id="ana", session_id="now").text
    request = server.requests[-1]
    assert request.headers["authorization"] == "Bearer k-123"
    assert (request.body["model"], request.body["temperature"]) == ("tiny", 0)
    assert "Hello again!" in request.body["messages"][1]["content"]


def test_a_server_that_fails_or_hangs_costs_nothing_but_its_time(server: OpenAIServer) -> None:
    with talking(rewriter=f"openai:{server.base_url}#tiny", rewrite_seconds=0.3) as memory:
        server.fail(500)
        assert "Hello again!" in memory.context(VAGUE[1], user_id="ana", session_id="now").text
        server.garbage({"choices": []})
        assert "failed" in memory.context(VAGUE[1], user_id="ana", session_id="now").explain()
        server.hang(20)
        assert "no answer within 0.3 s" in memory.context(VAGUE[1], user_id="ana", session_id="now").explain()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"queries": ["a", "b"]}', ["a", "b"]),
        ('```json\n{"queries": ["a"]}\n```', ["a"]),
        ('["a"]', ["a"]),
        ('{"queries": "a"}', ["a"]),
        ('{"queries": []}', []),
        ("1. first\n- second", ["first", "second"]),
    ],
)
def test_answers_of_many_shapes_are_read(text: str, expected: list[str]) -> None:
    assert queries_in(text) == expected


def test_what_cannot_rewrite_is_refused_without_repeating_it() -> None:
    for given in ("openai:http://x", "openai:ftp://x#m", "openai:http://u:secret@x#m", "gpt", object(), Writer, 7):
        with pytest.raises(ConfigError) as caught:
            resolve_rewriter(given)
        assert "secret" not in str(caught.value)


def test_models_of_frameworks_are_taken_by_their_methods() -> None:
    class LangChainLike:
        def invoke(self, messages: list[tuple[str, str]]) -> Any:
            assert [role for role, _ in messages] == ["system", "human"]

            class Answer:
                content = [{"type": "reasoning"}, {"type": "text", "text": '{"queries": ["a"]}'}]  # noqa: RUF012

            return Answer()

    class LlamaIndexLike:
        def chat(self, messages: Any) -> None:
            raise AssertionError

        def complete(self, prompt: str) -> Any:
            class Answer:
                text = '["b"]'

            return Answer()

    first, second = resolve_rewriter(LangChainLike()), resolve_rewriter(LlamaIndexLike())
    assert first is not None and first.rewrite("q", [], []) == ["a"] and first.name == "LangChainLike"
    assert second is not None and second.rewrite("q", [], []) == ["b"]
