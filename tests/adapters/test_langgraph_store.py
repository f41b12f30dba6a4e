"""LTMStore: LangGraph's store inside the wall, with the operations of its own InMemoryStore."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.prebuilt import ToolRuntime
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    SearchOp,
    get_text_at_path,
)
from langgraph.store.memory import InMemoryStore

from langchain_ltm import LTMStore, namespace_label
from langchain_ltm.store import SHARED_USER
from ltm_core import ConfigError, InvalidInputError, InvalidScopeError, LongTermMemory, scope
from ltm_core.documents.paths import texts
from ltm_core.testing.clock import Clock
from ltm_core.testing.embedders import HashEmbedder

HASH = HashEmbedder()


@pytest.fixture
def store(memory: LongTermMemory) -> LTMStore:
    return LTMStore(memory, user_id="ana")


# op by op against the reference ------------------------------------------------------------------------------
LABELS = st.sampled_from(["a", "b", "用户", "x/y", "*x"])
SPACES = st.lists(LABELS, min_size=1, max_size=3).map(tuple)
KEYS = st.sampled_from(["k1", "k2", "键"])
WORDS = st.sampled_from(["green tea", "red bicycle", "杭州的会议", "blue door", ""])
VALUES = st.fixed_dictionaries(
    {"n": st.integers(-3, 3), "text": WORDS},
    optional={
        "tag": st.sampled_from(["x", "y", None]),
        "deep": st.fixed_dictionaries({"l": st.lists(WORDS, max_size=2, unique=True)}),
    },
)
FILTERS = st.one_of(
    st.none(),
    st.fixed_dictionaries({"n": st.integers(-3, 3)}),
    st.fixed_dictionaries(
        {
            "n": st.dictionaries(
                st.sampled_from(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"]), st.integers(-3, 3), min_size=1
            )
        }
    ),
    st.fixed_dictionaries({"tag": st.sampled_from(["x", None, {"$ne": "y"}])}),
    st.fixed_dictionaries({"deep": st.fixed_dictionaries({"l": st.lists(WORDS, max_size=2, unique=True)})}),
)
PATHS = st.lists(st.sampled_from(["*", "a", "用户", "b"]), min_size=1, max_size=2).map(tuple)
CONDITIONS = st.builds(MatchCondition, match_type=st.sampled_from(["prefix", "suffix"]), path=PATHS)
LIMITS = st.sampled_from([1, 2, 10])
OPS = st.one_of(
    st.builds(
        PutOp,
        namespace=SPACES,
        key=KEYS,
        value=st.one_of(VALUES, VALUES, st.none()),
        index=st.sampled_from([None, False, ["deep.l[*]"]]),
        ttl=st.none(),
    ),
    st.builds(GetOp, namespace=SPACES, key=KEYS),
    st.builds(
        SearchOp,
        namespace_prefix=st.lists(LABELS, max_size=2).map(tuple),
        filter=FILTERS,
        limit=LIMITS,
        offset=st.sampled_from([0, 0, 1, 3]),
        query=st.sampled_from([None, "green tea", "door"]),
    ),
    st.builds(
        ListNamespacesOp,
        match_conditions=st.one_of(st.none(), st.lists(CONDITIONS, max_size=2).map(tuple)),
        max_depth=st.sampled_from([None, 1, 2]),
        limit=LIMITS,
        offset=st.sampled_from([0, 1]),
    ),
)


def told(result: Any) -> Any:
    return None if result is None else (result.namespace, result.key, result.value)


def compare(op: Op, mine: Any, theirs: Any, everything: list[Any]) -> None:
    if isinstance(op, GetOp):
        assert told(mine) == told(theirs)
    elif isinstance(op, ListNamespacesOp):
        assert mine == theirs
    elif isinstance(op, SearchOp):
        # The reference has its own order without a query, and repeats what has no score on every page: compared
        # are the whole result, and that ours pages through it.
        assert [told(i) for i in mine] == [told(i) for i in everything[op.offset : op.offset + op.limit]]
        scores = {(i.namespace, i.key): i.score for i in theirs}
        assert {(i.namespace, i.key) for i in everything} == set(scores)
        for item in everything:
            wanted = scores[item.namespace, item.key]
            if item.score is None:  # a blank text has no vector here, and one of zeros there
                assert wanted is None or wanted == pytest.approx(0, abs=5e-3)
            else:
                assert item.score == pytest.approx(wanted, abs=5e-3)
        known = [i.score for i in everything if i.score is not None]
        assert known == sorted(known, reverse=True)
        assert [i.score for i in everything[len(known) :]] == [None] * (len(everything) - len(known))
    else:
        assert mine is None and theirs is None


def asked(store: InMemoryStore, ops: list[Op]) -> list[Any]:
    """The reference's results, with two of its faults passed by: it goes on listing namespaces that are empty or
    were only asked for, and fails on two puts of one text in one batch."""
    results: dict[int, Any] = {}
    for i, op in [(i, op) for i, op in enumerate(ops) if not isinstance(op, PutOp)]:
        (results[i],) = store.batch([op])
        drop_empty(store)
    for put in {(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}.values():
        store.batch([put])
    drop_empty(store)
    return [results.get(i) for i in range(len(ops))]


def drop_empty(store: InMemoryStore) -> None:
    for space in [n for n, items in store._data.items() if not items]:
        del store._data[space]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=st.lists(st.lists(OPS, min_size=1, max_size=5), min_size=1, max_size=4), use_async=st.booleans())
def test_it_does_what_the_reference_does(memory: LongTermMemory, batches: list[list[Op]], use_async: bool) -> None:
    user = f"user {memory.stats().users}"
    memory.put_document(("wall",), "k", {"text": "green tea"}, user_id=f"{user} beside")
    mine = LTMStore(memory, user_id=user, index={"fields": ["text"]})
    theirs = InMemoryStore(
        index={"dims": 64, "embed": lambda t: HASH.embed_documents(t).tolist(), "fields": ["text"]}
    )
    for ops in batches:
        whole = [op._replace(limit=1000, offset=0) if isinstance(op, SearchOp) else op for op in ops]
        everything = mine.batch([op for op in whole if isinstance(op, SearchOp)])
        results = asyncio.run(mine.abatch(ops)) if use_async else mine.batch(ops)
        for op, a, b in zip(ops, results, asked(theirs, whole), strict=True):
            found = everything.pop(0) if isinstance(op, SearchOp) else None
            compare(op, a, b, found if isinstance(found, list) else [])


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    value=st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
        ),
    ).filter(lambda v: isinstance(v, dict)),
    path=st.lists(
        st.sampled_from(["a", "b", ".c", "[0]", "[-1]", "[*]", "[x]", "*", ".", "{a,b.c}", "[9]"]),
        min_size=1,
        max_size=4,
    ).map("".join),
)
def test_paths_are_read_as_langgraph_reads_them(value: dict[str, Any], path: str) -> None:
    expected = [t for t in get_text_at_path(value, path) if t.strip()]
    assert list(texts(value, [path])) == expected


def test_reads_of_a_batch_see_what_was_there_before_it(store: LTMStore) -> None:
    store.put(("a",), "k", {"v": 1})
    ops: list[Op] = [
        PutOp(("a",), "k", {"v": 2}),
        GetOp(("a",), "k"),
        PutOp(("a",), "k", {"v": 3}),
        SearchOp(("a",)),
        PutOp(("b",), "k", {"v": 4}),
        ListNamespacesOp(),
    ]
    results: list[Any] = store.batch(ops)
    assert [results[i] for i in (0, 2, 4)] == [None] * 3
    assert results[1].value == {"v": 1} and [i.value for i in results[3]] == [{"v": 1}] and results[5] == [("a",)]
    assert store.get(("a",), "k").value == {"v": 3}  # type: ignore[union-attr]
    assert store.batch([]) == []
    with pytest.raises(ValueError, match="Unknown operation"):
        store.batch([PutOp(("a",), "never", {}), "get"])  # type: ignore[list-item]
    assert store.get(("a",), "never") is None


def test_a_batch_of_one_user_is_all_or_nothing(store: LTMStore) -> None:
    with pytest.raises(InvalidInputError):
        store.batch([PutOp(("a",), "fine", {"v": 1}), PutOp(("a",), "odd", {"v": object()})])
    assert store.search(()) == []


def test_times_are_kept(store: LTMStore) -> None:
    store.put(("a",), "k", {"v": 1})
    first = store.get(("a",), "k")
    store.put(("a",), "k", {"v": 2})
    again = store.get(("a",), "k")
    assert first is not None and again is not None
    assert again.created_at == first.created_at and again.updated_at > first.updated_at
    assert first.created_at.tzinfo is not None


def test_a_missing_field_does_not_pass_a_comparison(store: LTMStore) -> None:
    store.put(("a",), "with", {"n": 5})
    store.put(("a",), "without", {})
    assert [i.key for i in store.search(("a",), filter={"n": {"$gt": 1}})] == ["with"]
    assert [i.key for i in store.search(("a",), filter={"n": {"$in": [5, 6]}})] == ["with"]
    with pytest.raises(ValueError, match="unknown operator"):
        store.search(("a",), filter={"n": {"$regex": "x"}})


# the wall ------------------------------------------------------------------------------------------------------
def test_two_bound_users_never_meet(memory: LongTermMemory, store: LTMStore) -> None:
    other = LTMStore(memory, user_id="ben")
    store.put(("a",), "k", {"text": "of ana"})
    other.put(("a",), "k", {"text": "of ben"})
    store.put(("only",), "k", {"text": "of ana"})
    assert [i.value for i in other.search((), query="ana")] == [{"text": "of ben"}]
    assert other.get(("only",), "k") is None and other.list_namespaces() == [("a",)]
    other.delete(("only",), "k")
    assert store.get(("only",), "k") is not None
    memory.forget_user("ana")
    assert store.search(()) == [] and len(other.search(())) == 1


@pytest.mark.parametrize(
    "user",
    ["ana@example.org", "a.b", "a%2Eb", "a%b", "a/b", "a b", "A", "用户", "\U0001f600", "langgraph", "*", "7", "é"],
)
def test_any_user_id_is_a_label(memory: LongTermMemory, user: str) -> None:
    labelled = LTMStore(memory, user_label=1)
    place = ("memories", namespace_label(user))
    labelled.put(place, "k", {"of": user})
    assert labelled.get(place, "k").value == {"of": user}  # type: ignore[union-attr]
    assert [i.namespace for i in labelled.search(place)] == [place]
    assert labelled.list_namespaces(prefix=place) == [place]
    (document,) = memory.search_documents(user_id=user)
    assert document.value == {"of": user} and list(memory.document_owners()) == [user]
    first = LTMStore(memory, user_label=0)
    first.put((namespace_label(user), "x"), "k", {})
    assert memory.get_document((namespace_label(user), "x"), "k", user_id=user) is not None


def test_labels_of_users_are_all_different() -> None:
    users = ["a.b", "a%2Eb", "a%252Eb", "a", "A", "*", "%2A", "langgraph", "%6Canggraph", "７", "7"]
    assert len({namespace_label(u) for u in users}) == len(users)
    assert namespace_label(7) == "7" and namespace_label("ana") == "ana"
    for user in ("", " ", None, "a\0"):
        with pytest.raises(InvalidScopeError):
            namespace_label(user)  # type: ignore[arg-type]


def every(store: LTMStore, space: tuple[str, ...]) -> list[Any]:
    return [
        lambda: store.put(space, "k", {}),
        lambda: store.get(space, "k"),
        lambda: store.delete(space, "k"),
        lambda: store.search(space),
        lambda: store.list_namespaces(prefix=space),
        lambda: asyncio.run(store.aput(space, "k", {})),
        lambda: asyncio.run(store.asearch(space)),
        lambda: store.batch([PutOp(("memories", "ana"), "never", {}), GetOp(space, "k")]),
    ]


@pytest.mark.parametrize(
    "space", [("memories",), ("memories", "a%b"), ("memories", "%61na"), ("memories", "%FF"), ("memories", " ")]
)
def test_a_namespace_without_a_user_is_refused(memory: LongTermMemory, space: tuple[str, ...]) -> None:
    store = LTMStore(memory, user_label=1)
    store.put(("memories", "ana"), "k", {})
    for call in every(store, space):
        with pytest.raises(InvalidScopeError):
            call()
    listings: list[Callable[[], Any]] = [
        lambda: store.list_namespaces(),
        lambda: store.list_namespaces(prefix=("memories", "*")),
        lambda: store.list_namespaces(suffix=("ana",)),
        lambda: store.search(()),
    ]
    for listing in listings:
        with pytest.raises(InvalidScopeError):
            listing()
    assert [d.key for d in memory.search_documents(user_id="ana")] == ["k"]


def test_crossing_users_is_asked_for(memory: LongTermMemory) -> None:
    store = LTMStore(memory, user_label=1, cross_user=True)
    for user in ("ana", "ben.x"):
        for i in range(3):
            store.put(("memories", namespace_label(user)), f"k{i}", {"text": f"{user} {i}", "n": i})
    store.put(("rules",), "tone", {"text": "be kind"})
    # Another store on the same memory uses namespaces of another shape.
    LTMStore(memory, user_id="ben.x").put(("memories", "ana"), "k0", {"text": "not of ana"})
    memory.put_document(("x",), "k", {"text": "no user"}, user_id="ben.x")
    found = store.search((), limit=50)
    assert sorted((i.namespace[1:], i.key) for i in found) == [
        ((), "tone"),
        *[(("ana",), f"k{i}") for i in range(3)],
        *[(("ben%2Ex",), f"k{i}") for i in range(3)],
    ]
    for item in found:
        assert store.get(item.namespace, item.key).value == item.value  # type: ignore[union-attr]
    assert [i.value["n"] for i in store.search(("memories",), filter={"n": {"$gt": 1}})] == [2, 2]
    assert [i.key for i in store.search((), limit=2, offset=2)] == [i.key for i in found][2:4]
    assert store.search(("memories",), query="ben.x 2", limit=1)[0].value["text"] == "ben.x 2"
    assert store.list_namespaces() == [("memories", "ana"), ("memories", "ben%2Ex"), ("rules",)]
    assert store.list_namespaces(max_depth=1) == [("memories",), ("rules",)]
    assert [d.key for d in memory.search_documents(user_id=SHARED_USER)] == ["tone"]
    with pytest.raises(InvalidScopeError):
        store.get(("memories", namespace_label(SHARED_USER)), "tone")
    assert LTMStore(memory, user_label=1).search(("memories", "ana")) == store.search(("memories", "ana"))


def test_the_scope_around_it_is_served_and_kept_to(memory: LongTermMemory) -> None:
    free, bound, labelled = LTMStore(memory), LTMStore(memory, user_id="ana"), LTMStore(memory, user_label=1)
    with pytest.raises(InvalidScopeError, match="no user"):
        free.get(("a",), "k")
    with scope("ana"):
        free.put(("a",), "k", {"v": 1})
        assert bound.get(("a",), "k") is not None
        labelled.put(("m", "ana"), "k", {})
    with scope("ben"):
        assert free.get(("a",), "k") is None
        for other, space in ((bound, ("a",)), (labelled, ("m", "ana"))):
            with pytest.raises(InvalidScopeError):
                other.get(space, "k")


@pytest.mark.parametrize(
    "options",
    [
        {"user_id": "a", "user_label": 1},
        {"user_label": -1},
        {"user_label": True},
        {"user_label": "1"},
        {"user_id": "a", "cross_user": True},
        {"user_id": "a", "index": {"embed": "openai:x", "dims": 3}},
        {"user_id": "a", "index": ["text"]},
        {"user_id": "a", "index": {"fields": "text"}},
    ],
)
def test_bad_options_are_refused(memory: LongTermMemory, options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        LTMStore(memory, **options)


def test_other_bad_input_is_refused(memory: LongTermMemory, store: LTMStore) -> None:
    with pytest.raises(ConfigError, match="LongTermMemory"):
        LTMStore({}, user_id="a")
    with pytest.raises(InvalidScopeError):
        LTMStore(memory, user_id=" ")
    bad: list[Op] = [GetOp(("a.b",), "k"), SearchOp(("a", "")), PutOp(("\0",), "k", {})]
    for op in bad:
        with pytest.raises(InvalidNamespaceError):
            store.batch([op])
    with pytest.raises(InvalidNamespaceError):
        store.put(("langgraph",), "k", {})
    with pytest.raises(ValueError, match="namespace"):
        store.batch([PutOp((), "k", {})])


# time ------------------------------------------------------------------------------------------------------------
@pytest.fixture
def clock() -> Clock:
    return Clock(datetime(2026, 3, 1, 9, tzinfo=UTC))


@pytest.fixture
def timed(tmp_path: Path, clock: Clock) -> Iterator[LongTermMemory]:
    with LongTermMemory.open(tmp_path / "timed", embedder=HASH, clock=clock, timezone="UTC") as opened:
        yield opened


def test_a_life_is_minutes_and_begins_again_when_read(timed: LongTermMemory, clock: Clock) -> None:
    store = LTMStore(timed, user_id="ana", ttl={"default_ttl": 10, "refresh_on_read": True})
    store.put(("a",), "short", {})
    store.put(("a",), "own", {}, ttl=2)
    store.put(("a",), "ever", {}, ttl=None)
    clock.now += timedelta(minutes=9)
    assert store.get(("a",), "own") is None
    assert store.get(("a",), "short") is not None
    clock.now += timedelta(minutes=9)
    assert [i.key for i in store.search(("a",), refresh_ttl=False)] == ["short", "ever"]
    clock.now += timedelta(minutes=2)
    assert [i.key for i in store.search(("a",))] == ["ever"]
    assert store.list_namespaces() == [("a",)]
    assert store.sweep_ttl() == 2 and store.sweep_ttl() == 0
    still = LTMStore(timed, user_id="ana", ttl={"default_ttl": 10, "refresh_on_read": False})
    still.put(("b",), "k", {})
    clock.now += timedelta(minutes=9)
    assert still.get(("b",), "k") is not None
    clock.now += timedelta(minutes=2)
    assert still.get(("b",), "k") is None


def test_a_sweeper_runs_until_it_is_stopped(timed: LongTermMemory, clock: Clock) -> None:
    store = LTMStore(timed, user_id="ana", ttl={"sweep_interval_minutes": 1})
    assert LTMStore(timed, user_id="ana").start_ttl_sweeper() is None
    store.put(("a",), "k", {}, ttl=1)
    clock.now += timedelta(minutes=2)
    thread = store.start_ttl_sweeper(0.0005)
    assert thread is not None and store.start_ttl_sweeper() is thread
    for _ in range(500):
        if timed.stats().documents == 0:
            break
        thread.join(0.01)
    assert timed.stats().documents == 0
    assert store.stop_ttl_sweeper(10) and not thread.is_alive() and store.stop_ttl_sweeper()


# searching by meaning --------------------------------------------------------------------------------------------
def test_a_query_uses_the_fields_of_the_store_or_of_the_put(memory: LongTermMemory) -> None:
    store = LTMStore(memory, user_id="ana", index={"fields": ["text", "notes[*].text"]})
    store.put(("a",), "by field", {"text": "green tea", "other": "red bicycle"})
    store.put(("a",), "by list", {"notes": [{"text": "blue door"}, {"text": "red bicycle"}]})
    store.put(("a",), "own", {"text": "red bicycle", "title": "yellow house"}, index=["title"])
    store.put(("a",), "not", {"text": "red bicycle"}, index=False)
    found = {i.key: i.score for i in store.search(("a",), query="red bicycle")}
    assert next(iter(found)) == "by list" and list(found)[-1] == "not"
    assert found["by list"] == pytest.approx(1, abs=5e-3) and found["not"] is None
    assert (found["own"] or 0) < 0.7 and (found["by field"] or 0) < 0.7
    plain = LTMStore(memory, user_id="ana", index=False)
    assert [i.score for i in plain.search(("a",), query="red bicycle")] == [None] * 4
    plain.put(("b",), "k", {"text": "red bicycle"})
    assert store.search(("b",), query="red bicycle")[0].score is None


def test_meaning_is_found_by_default_in_both_languages(tmp_path: Path) -> None:
    with LongTermMemory.open(tmp_path / "meaning", timezone="UTC") as memory:
        store = LTMStore(memory, user_id="ana")
        for i, text in enumerate(
            [
                "User prefers window seats on long flights",
                "The cat is called Miso",
                "他对花生过敏",
                "她每周三上瑜伽课",
            ]
        ):
            store.put(("memories", "ana"), str(i), {"kind": "Memory", "content": text})
        for query, best in [
            ("What is the pet's name?", "1"),
            ("which seat on the plane", "0"),
            ("什么食物不能吃", "2"),
        ]:
            assert store.search(("memories",), query=query)[0].key == best


# in graphs -------------------------------------------------------------------------------------------------------
def test_a_graph_remembers_across_restarts_and_users(tmp_path: Path) -> None:
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import START, StateGraph
    from langgraph.runtime import Runtime
    from typing_extensions import TypedDict

    class State(TypedDict):
        text: str
        found: list[str]

    class Who(TypedDict):
        user_id: str

    def keep(state: State, runtime: Runtime[Who]) -> State:
        assert runtime.store is not None
        place = ("memories", namespace_label(runtime.context["user_id"]))
        runtime.store.put(place, state["text"], {"text": state["text"]})
        return {"text": state["text"], "found": [i.key for i in runtime.store.search(place, query=state["text"])]}

    async def akeep(state: State, runtime: Runtime[Who]) -> State:
        assert runtime.store is not None
        place = ("memories", namespace_label(runtime.context["user_id"]))
        await runtime.store.aput(place, state["text"], {"text": state["text"]})
        found = await runtime.store.asearch(place, query=state["text"])
        return {"text": state["text"], "found": [i.key for i in found]}

    def graph(memory: LongTermMemory, node: Any) -> Any:
        builder = StateGraph(State, context_schema=Who)
        builder.add_node("keep", node)
        builder.add_edge(START, "keep")
        return builder.compile(checkpointer=InMemorySaver(), store=LTMStore(memory, user_label=1))

    def options(user: str) -> dict[str, Any]:
        return {"config": {"configurable": {"thread_id": user}}, "context": {"user_id": user}}

    for text, expected in (("tea", ["tea"]), ("coffee", ["coffee", "tea"])):
        with LongTermMemory.open(tmp_path / "g", embedder=HASH, timezone="UTC") as memory:
            for user in ("ana@example.org", "ben"):
                done = graph(memory, keep).invoke({"text": f"{text} of {user}", "found": []}, **options(user))
                assert done["found"] == [f"{t} of {user}" for t in expected]
    with LongTermMemory.open(tmp_path / "g", embedder=HASH, timezone="UTC") as memory:

        async def both() -> list[Any]:
            runs = [
                graph(memory, akeep).ainvoke({"text": f"milk {u}", "found": []}, **options(u))
                for u in ("ana@example.org", "ben")
            ]
            return await asyncio.gather(*runs)

        for done, user in zip(asyncio.run(both()), ("ana@example.org", "ben"), strict=True):
            assert sorted(done["found"]) == sorted([f"coffee of {user}", f"tea of {user}", f"milk {user}"])


def test_an_agent_keeps_what_its_tools_store(memory: LongTermMemory) -> None:
    agents = pytest.importorskip("langchain.agents")

    @tool
    def note(text: str, runtime: ToolRuntime) -> str:
        """Keep a note."""
        user = runtime.config["configurable"]["user_id"]
        assert runtime.store is not None
        runtime.store.put(("notes", namespace_label(user)), text, {"text": text})
        found = runtime.store.search(("notes", namespace_label(user)), query=text)
        return f"kept {len(found)}"

    class Model(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            return self

    for user, expected in (("ana@example.org", "kept 1"), ("ben", "kept 1"), ("ana@example.org", "kept 2")):
        call = {"name": "note", "args": {"text": f"{user} {expected}"}, "id": "c1"}
        model = Model(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("done")]))
        agent = agents.create_agent(model, [note], store=LTMStore(memory, user_label=1))
        config: Any = {"configurable": {"user_id": user}}
        done = agent.invoke({"messages": [("user", "keep it")]}, config)
        assert [m.text for m in done["messages"] if m.type == "tool"] == [expected]
    assert [d.key for d in memory.search_documents(user_id="ben")] == ["ben kept 1"]


def test_the_loop_is_not_blocked(memory: LongTermMemory) -> None:
    """A slow embedder holds up its own call only."""
    import time

    class Slow(HashEmbedder):
        def embed_documents(self, texts: Any) -> Any:
            time.sleep(0.3)
            return super().embed_documents(texts)

    async def go(store: LTMStore) -> float:
        longest, last = 0.0, time.perf_counter()
        task = asyncio.create_task(store.aput(("a",), "k", {"text": "x"}))
        while not task.done():
            await asyncio.sleep(0.005)
            now = time.perf_counter()
            longest, last = max(longest, now - last), now
        await task
        return longest

    with LongTermMemory.open(":memory:", embedder=Slow(), timezone="UTC") as slow:
        assert asyncio.run(go(LTMStore(slow, user_id="ana"))) < 0.25


def test_langmem_works_on_it(memory: LongTermMemory) -> None:
    pytest.importorskip("langmem")
    with warnings.catch_warnings():
        # langmem's own dependencies use deprecated names of langgraph.
        warnings.simplefilter("ignore")
        from langmem import create_manage_memory_tool, create_search_memory_tool

        store = LTMStore(memory, user_label=1)
        place = ("memories", "{user_id}")
        manage = create_manage_memory_tool(place, store=store)
        find = create_search_memory_tool(place, store=store)

        def config(user: str) -> Any:
            return {"configurable": {"user_id": namespace_label(user)}}

        for user, text in (("ana@example.org", "likes green tea"), ("ben", "likes coffee")):
            manage.invoke({"content": text, "action": "create"}, config(user))
        found = find.invoke({"query": "green tea"}, config("ana@example.org"))
        assert "green tea" in found and "coffee" not in found
        assert "coffee" in asyncio.run(find.ainvoke({"query": "green tea"}, config("ben")))
        (item,) = store.search(("memories", namespace_label("ben")))
        manage.invoke({"content": "likes cocoa", "action": "update", "id": item.key}, config("ben"))
        assert "cocoa" in find.invoke({"query": "drink"}, config("ben"))
        manage.invoke({"action": "delete", "id": item.key}, config("ben"))
        assert store.search(("memories", "ben")) == []
    memory.forget_user("ana@example.org")
    assert list(memory.document_owners()) == []
