"""Export and import: everything comes along, nothing twice, and a file cannot say what only we may say."""

from __future__ import annotations

import asyncio
import io
import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ltm_core import ConflictError, InvalidInputError, InvalidScopeError, LongTermMemory
from ltm_core.testing.clock import Clock

T0 = datetime(2026, 3, 1, 9, tzinfo=UTC)
Make = Callable[..., LongTermMemory]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[LongTermMemory] = []

    def opened(name: str, **options: Any) -> LongTermMemory:
        given = {"embedder": "none", "timezone": "UTC", "clock": Clock(T0), **options}
        made.append(LongTermMemory.open(tmp_path / name, **given))
        return made[-1]

    yield opened
    for memory in made:
        memory.close()


def rich(memory: LongTermMemory, user: str = "ana") -> None:
    """A bit of everything a user can have, in both languages."""
    clock = memory._runtime.clock
    assert isinstance(clock, Clock)
    meta = {"k": [1, {"x": None}], "名": "值", "nul": "a\0b"}
    say = memory.observe
    say(
        user_id=user,
        session_id="s1",
        user="I live in Lisbon and my sister lives in Cork.",
        message_id="m1",
        metadata=meta,
    )
    say(user_id=user, session_id="s1", assistant="Nice.", reply_to="m1")
    say(
        user_id=user,
        session_id="s2",
        user="I moved to Porto.",
        message_id="m1",
        agent_id="a",
        task_id="t",
        app_id="p",
    )
    say(
        user_id=user,
        session_id="s2",
        user="我叫王磊，住在上海，对花生过敏。我的订单号是 ORD-2024-00817。",
        timezone="Asia/Shanghai",
    )
    say(user_id=user, session_id="s2", user="好的", at=T0)
    say(user_id=user, session_id="s2", assistant="好的", at=T0)
    say(user_id=user, session_id="s2", user="I'm in Berlin this week.", ttl=3600)
    say(
        user_id=user,
        session_id="s3",
        messages=[{"role": "system", "content": "Be kind."}, {"role": "tool", "content": "42"}],
    )
    say(user_id=user, session_id="s3", user="I love tea.", message_id="e1")
    say(user_id=user, session_id="s3", user="I love coffee.", message_id="e1")
    memory.remember("I prefer window seats", user_id=user, tags=("travel", "座位"), expires_at=T0 + timedelta(days=9))
    for status in ("shipped", "delivered"):
        memory.assert_fact("order:ORD-2024-00817", "status", status, user_id=user, source="erp")
    memory.set_slot("city", {"n": 1}, user_id=user, session_id="s2", ttl=10**6)
    cork = next(f for f in memory.facts(user_id=user) if f.object == "Cork")
    memory.suppress(cork.id, user_id=user)
    memory.correct(wrong="上海", right="杭州", user_id=user)
    peanuts = next(f for f in memory.facts(user_id=user) if f.object == "花生")
    memory.forget(peanuts.id, user_id=user)
    lisbon = next(f for f in memory.facts(user_id=user, include_superseded=True) if f.object == "Lisbon")
    memory.restore(lisbon.id, user_id=user)
    memory.context("tea", user_id=user)
    memory.end_session("s1", user_id=user)
    documents(memory, user)


def documents(memory: LongTermMemory, user: str) -> None:
    """Replaced, overwritten, deleted and put again, with and without an end and an index."""
    put = memory.put_document
    put(("笔记", "a.b"), "", {}, user_id=user, index=False)
    put(("notes",), "k", {"n": 1}, user_id=user)
    put(
        ("notes",),
        "trip",
        {"text": "Cork, then 花生 in 上海", "n": [1, 2.5, None, True], "nul": "a\0b"},
        user_id=user,
    )
    put(("notes",), "k", {"标题": "会议", "deep": {"a.b": [{"x": "y"}]}}, user_id=user, index=["标题", "deep[*]"])
    put(("notes",), "soon", {"text": "short"}, user_id=user, ttl=1e-3)
    put(("notes",), "later", {"text": "long"}, user_id=user, ttl=10**6 + 0.25)
    put(("notes",), "gone", {"text": "first"}, user_id=user)
    memory.delete_document(("notes",), "gone", user_id=user)
    put(("notes",), "gone", {"text": "second"}, user_id=user)


def lines(memory: LongTermMemory, user: str = "ana") -> list[str]:
    return list(memory.export_user(user))


def told(memory: LongTermMemory, user: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines(memory, user)]


def asked(memory: LongTermMemory, user: str) -> list[str]:
    questions = ("Where do I live?", "我住在哪里？", "order ORD-2024-00817", "coffee or tea", "Berlin", None)
    texts = [memory.context(q, user_id=user, session_id="s2", at=T0 + timedelta(hours=1)).text for q in questions]
    return [re.sub(r"memory [a-p]+", "memory", t) for t in texts]


def test_an_export_comes_back_as_it_was(make: Make) -> None:
    one, two = make("one"), make("two", clock=Clock(T0 + timedelta(hours=1)))
    rich(one)
    before = lines(one)
    result = two.import_user(before, user_id="bob", trust=True, actor="me", reason="moved")
    assert result.complete and not result.refused and not result.lines and not result.known
    after = lines(two, "bob")
    assert after[1:] == before[1:]
    assert json.loads(before[0]).keys() == {"type", "format", "version", "exported_at"}
    kinds = {json.loads(line)["type"] for line in before}
    assert kinds == {"header", "user", "session", "slot", "message", "fact", "change", "document", "end"}
    facts = {f.id: f for f in one.facts(user_id="ana", include_superseded=True)}
    moved = {f.id: f for f in two.facts(user_id="bob", include_superseded=True)}
    assert facts.keys() == moved.keys() and all(f.user_id == "bob" for f in moved.values())
    assert asked(one, "ana") == asked(two, "bob")
    for moment in (T0 + timedelta(milliseconds=k) for k in range(0, 400, 20)):
        then = [f.id for f in one.facts(user_id="ana", known_at=moment)]
        assert then == [f.id for f in two.facts(user_id="bob", known_at=moment)]
    kept = [one.search_documents(user_id="ana"), two.search_documents(user_id="bob")]
    assert kept[0] == kept[1] and [d.key for d in kept[0]] == ["", "k", "trip", "later", "gone"]
    assert two.doctor().healthy
    window = [m.id for m in one.messages(user_id="ana", window_only=True)]
    assert window == [m.id for m in two.messages(user_id="bob", window_only=True)] != []


def test_an_export_names_no_user_no_vector_and_no_number_of_the_store(make: Make) -> None:
    memory = make("one", embedder=None)
    memory.observe(user_id="ana-secret-id", session_id="s", user="I live in Porto.", message_id="m1")
    text = "".join(lines(memory, "ana-secret-id"))
    assert "ana-secret-id" not in text and "vector" not in text and "cursor" not in text
    assert memory._runtime.store.mac("m1") not in text and '"item"' not in text and '"sequence"' not in text
    assert [json.loads(line)["type"] for line in memory.export_user("nobody")] == ["header", "end"]


def test_importing_again_changes_nothing(make: Make) -> None:
    one, two = make("one"), make("two", clock=Clock(T0 + timedelta(hours=1)))
    rich(one)
    file = lines(one)
    two.import_user(file, user_id="bob", trust=True)
    first = lines(two, "bob")
    again = two.import_user(file, user_id="bob", trust=True)
    assert not again.imported and sum(again.known.values()) == len(file) - 2 and not again.refused
    assert lines(two, "bob")[1:] == first[1:]
    home = one.import_user(file, user_id="ana", trust=True)
    assert not home.imported and not home.refused and lines(one)[1:] == file[1:]


def test_a_file_that_was_cut_off_can_be_imported_again(make: Make) -> None:
    one = make("one")
    rich(one)
    file = lines(one)
    for n, cut in enumerate(range(1, len(file), 5)):
        two = make(f"two{n}", clock=Clock(T0 + timedelta(hours=1)))
        half = two.import_user([*file[:cut], file[cut][: len(file[cut]) // 2]], user_id="bob", trust=True)
        assert not half.complete and half.refused == {"not JSON in UTF-8": 1}
        assert two.import_user(file, user_id="bob", trust=True).complete
        assert lines(two, "bob")[1:] == file[1:]


def test_equal_changes_of_one_instant_all_come_along(make: Make) -> None:
    one, two = make("one", clock=Clock(T0, timedelta(0))), make("two", clock=Clock(T0, timedelta(0)))
    for _ in range(4):
        one.assert_fact("order:1", "status", "open", user_id="ana", source="erp")
    file = lines(one)
    changes = [line for line in file if '"type":"change"' in line]
    assert len(changes) > len(set(changes))
    for _ in range(2):
        two.import_user(file, user_id="ana", trust=True)
        assert lines(two)[1:] == file[1:]


def test_it_streams(make: Make) -> None:
    one = make("one")
    for n in range(450):
        one.observe(user_id="ana", session_id=f"s{n % 3}", user=f"ok {n}")
    read = 0
    store = one._runtime.store
    inner = store.read

    def counted(user_id: str) -> Any:
        nonlocal read
        read += 1
        return inner(user_id)

    store.read = counted  # type: ignore[method-assign]
    export = one.export_user("ana")
    first = [next(export) for _ in range(8)]
    reads_at_first = read
    one.forget_user("ana")
    rest = list(export)
    assert len(first) == 8 and reads_at_first < 6 and len(rest) < 250, "pages are read when they are asked for"
    assert json.loads(rest[-1])["type"] == "end"


def test_async_iteration(make: Make) -> None:
    memory = make("one")
    memory.observe(user_id="ana", session_id="s", user="I live in Porto.")

    async def collect() -> list[str]:
        return [line async for line in await memory.aexport_user("ana")]

    assert asyncio.run(collect())[1:] == lines(memory)[1:]


def test_the_user_is_the_argument(make: Make) -> None:
    one, two = make("one"), make("two")
    rich(one)
    file = lines(one)
    two.bind("bob", actor="desk").import_user(file, trust=True)
    assert [u.user_id for u in two.audit()] == ["bob"] and two._runtime.store.operations().users() == ["bob"]
    forged = [file[0], *(json.dumps({**json.loads(line), "user_id": "eve"}) for line in file[1:-1])]
    result = make("three").import_user(forged, user_id="cy", trust=True)
    assert result.refused == {"unknown field": len(file) - 2}
    with pytest.raises(InvalidScopeError):
        two.import_user(file, user_id=" ")


HEADER = '{"type":"header","format":"ltm-core export","version":1,"exported_at":"2026-03-01T00:00:00+00:00"}'
SAID = {
    "type": "message", "id": "m1", "caller_id": True, "session": "s1", "role": "user",
    "content": "I live in Porto.", "at": "2026-03-01T00:00:00+00:00", "timezone": "UTC",
    "recorded_at": "2026-03-01T00:00:00+00:00", "act": "statement", "language": "en", "importance": "high",
    "in_window": True,
}  # fmt: skip
NOTE = {
    "type": "document", "namespace": ["notes"], "key": "k", "value": {"text": "I live in Porto."}, "fields": ["$"],
    "created_at": "2026-03-01T00:00:00+00:00", "updated_at": "2026-03-01T00:00:00+00:00",
}  # fmt: skip
FACT = {
    "type": "fact", "id": "f1", "session": "s1", "subject": "user", "relation": "lives_in", "object": "Porto",
    "normalized": "porto", "text": "I live in Porto", "kind": "fact", "is_positive": True, "is_about_user": True,
    "modality": "asserted", "asserted_by": "user", "confidence": 0.9, "importance": "high",
    "valid_from": "2026-03-01T00:00:00+00:00", "recorded_at": "2026-03-01T00:00:00+00:00",
    "last_seen_at": "2026-03-01T00:00:00+00:00", "support_count": 7, "access_count": 3, "rule": "x",
    "evidence": [["m1", 0, 16]], "sources": ["m1"],
}  # fmt: skip


def line(base: dict[str, Any] = SAID, **fields: Any) -> str:
    return json.dumps({**base, **fields})


BAD = [
    ("not json at all", "not JSON in UTF-8"),
    (b"\xff\xfe\x00", "not JSON in UTF-8"),
    ("[1]", "not a JSON object"),
    ('{"type":"planet"}', "unknown type"),
    ('{"type":["message"]}', "unknown type"),
    (line(extra=1), "unknown field"),
    (line(content=7), "content: not text"),
    (line(content=None), "content: not text"),
    (line(content="x" * 1001), "content: 1001 characters, at most 1000 are allowed"),
    (line(content="a\0b"), "content: a NUL or a lone surrogate"),
    (line(content="a\ud800"), "content: a NUL or a lone surrogate"),
    (line(id="x" * 65), "id: id has 65 characters, at most 64 are allowed"),
    (line(id=" "), "id: id must not be blank"),
    (line(session=5), "session: not text"),
    (line(role="root"), "role: none of the known values"),
    (line(role=[]), "role: none of the known values"),
    (line(at="yesterday"), "at: no instant in ISO 8601"),
    (line(at="2026-03-01T00:00:00"), "at: an instant without its zone"),
    (line(at="0001-01-01T00:00:00+14:00"), "at: no instant in ISO 8601"),
    (line(at=1e9), "at: not text"),
    (line(in_window="yes"), "in_window: neither true nor false"),
    (line(metadata={"k": "v" * 300}), "metadata: metadata has 309 bytes as JSON, at most 256 are allowed"),
    (line(metadata=[1]), "metadata: metadata must be a mapping with text keys"),
    (line(metadata={"k": 1}).replace('{"k": 1}', '{"k": NaN}'), "NaN or infinity"),
    (line(anchors=[{"type": "identifier"}]), "anchors: text: missing"),
    (line(FACT, confidence=1.5), "confidence: no number from 0 to 1"),
    (line(FACT, support_count=-1), "support_count: no whole number from 0 to 2147483647"),
    (line(FACT, support_count=2**70), "support_count: no whole number from 0 to 2147483647"),
    (line(FACT, evidence=[["m1", 9, 2]]), "evidence: a span that ends before it begins"),
    (line(FACT, evidence="m1"), "evidence: no list of at most 10000"),
    (line(FACT, earlier=[{"known_until": "2026-03-01T00:00:00Z"}]), "earlier: valid_from: missing"),
    (line(NOTE, namespace=[]), "namespace: no list of at least one label"),
    (line(NOTE, namespace="notes"), "namespace: no list of at least one label"),
    (line(NOTE, namespace=["a"] * 65), "namespace: label has 65 labels, at most 64 are allowed"),
    (line(NOTE, namespace=["a", ""]), "namespace: label[1] has 0 characters, 1 to 64 are allowed"),
    (line(NOTE, namespace=["a", 7]), "namespace: label[1] must be text, not int"),
    (line(NOTE, key="x" * 65), "key: key has 65 characters, at most 64 are allowed"),
    (line(NOTE, key="a\0"), "key: key contains a NUL or a lone surrogate"),
    (line(NOTE, value=[1]), "value: value must be a mapping, not list"),
    (line(NOTE, value=None), "value: value must be a mapping, not NoneType"),
    (line(NOTE, value={"a": "\ud800"}), "value: value holds half of a surrogate pair"),
    (line(NOTE, value={"a": 1}).replace('{"a": 1}', '{"a": 1e999}'), "value: a number in a value must be finite"),
    (
        line(NOTE, value={"a": "x" * 1000}),
        "value: value has 1009 bytes as JSON, at most 1000 are allowed (max_document_bytes)",
    ),
    (line(NOTE, fields="$"), "fields: no list of paths"),
    (line(NOTE, fields=[" "]), "fields: a path to index has 1 to 512 characters"),
    (line(NOTE, fields=["a"] * 65), "fields: index must be True, False or a list of at most 64 paths"),
    (line(NOTE, ttl=0), "ttl: no number of seconds up to 316192377600"),
    (line(NOTE, ttl=1e300), "ttl: no number of seconds up to 316192377600"),
    (line(NOTE, ttl=1e-9), "ttl must be more than 0 seconds"),
    (
        line(NOTE, ttl=8000 * 366 * 86_400),
        "ttl must be a number of seconds or a timedelta, and end before the year 9999",
    ),
    (line(NOTE, ttl=True), "ttl: no number of seconds up to 316192377600"),
    (line(NOTE, expires_at="soon"), "expires_at: no instant in ISO 8601"),
    (line({k: v for k, v in NOTE.items() if k != "fields"}), "fields: missing"),
    ('{"type":"message"}', "id: missing"),
    ("[" * 100_000 + "]" * 100_000, "nested too deep"),
    ('{"type":"message","metadata":' + '{"a":' * 500 + "1" + "}" * 500 + "}", "nested too deep"),
    ('{"type":"message","id":' + "9" * 5000 + "}", "not JSON in UTF-8"),
    (HEADER, "a second header"),
]


@pytest.mark.parametrize(("bad", "why"), BAD, ids=[w for _, w in BAD])
def test_a_bad_line_is_refused_by_number_and_the_others_are_taken(make: Make, bad: str | bytes, why: str) -> None:
    memory = make(
        "one", max_message_characters=1000, max_id_characters=64, max_metadata_bytes=256, max_document_bytes=1000
    )
    good = line(content="I play the oboe.", id="good")
    result = memory.import_user([HEADER, bad, good], user_id="ana", trust=True)
    assert [(r.line, r.reason) for r in result.lines] == [(2, why)] and result.refused == {why: 1}
    assert result.imported == {"message": 1} and [m.id for m in memory.messages(user_id="ana")] == ["good"]


def test_a_line_that_is_too_long_is_not_read_into_memory(make: Make) -> None:
    memory = make("one", max_import_line_bytes=65_536)
    long = line(content="secret words " * 800_000)
    whole = "\n".join([HEADER, long, line(id="good")]) + "\n"
    for source in (io.BytesIO(whole.encode()), io.StringIO(whole), whole.splitlines()):
        result = memory.import_user(source, user_id="ana", trust=True)
        assert [(r.line, r.reason) for r in result.lines] == [(2, "longer than 65536 bytes (max_import_line_bytes)")]
    assert [m.id for m in memory.messages(user_id="ana")] == ["good"]
    assert "secret" not in repr(result)


@pytest.mark.parametrize(
    "file",
    [[], [""], [line()], ["{}"], [HEADER.replace(":1,", ":2,")], [HEADER.replace("ltm-core", "other")], ["\x00"]],
)
def test_what_is_no_export_raises_before_anything_is_written(make: Make, file: list[str]) -> None:
    memory = make("one")
    with pytest.raises(InvalidInputError):
        memory.import_user([*file, line()] if file else [], user_id="ana", trust=True)
    assert memory.stats().users == 0
    for wrong in ("text", b"bytes", 7, [HEADER, 7]):
        with pytest.raises(InvalidInputError):
            memory.import_user(wrong, user_id="ana")  # type: ignore[arg-type]


# trust ------------------------------------------------------------------------------------------------
def test_a_file_nobody_vouches_for_is_the_users_word_and_no_more(make: Make) -> None:
    one, two = make("one"), make("two", clock=Clock(T0 + timedelta(hours=1)))
    rich(one)
    result = two.import_user(lines(one), user_id="bob")
    facts = list(two.facts(user_id="bob", include_superseded=True))
    assert facts and {f.asserted_by for f in facts} == {"user"} and {f.rule for f in facts} == {"import"}
    assert all(f.metadata == {} and f.tags == () and f.recorded_at > T0 + timedelta(minutes=59) for f in facts)
    assert all(f.access_count == 0 and f.support_count <= len(f.source_message_ids) for f in facts)
    said = list(two.messages(user_id="bob"))
    assert {m.role for m in said} == {"user", "assistant"} and all(m.metadata == {} for m in said)
    assert list(two.messages(user_id="bob", window_only=True)) == []
    assert two.slots(user_id="bob", session_id="s2") == {}
    assert list(two.facts(user_id="bob", known_at=T0 + timedelta(minutes=30))) == []
    assert {c.op for c in two.changes(user_id="bob")} == {"add"}
    assert result.refused["only the application may say this (trust=True)"] > 5
    again = two.import_user(lines(one), user_id="bob")
    assert not again.imported


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ({}, {"asserted_by": "app"}),
        ({}, {"asserted_by": "assistant_confirmed"}),
        ({}, {"evidence": []}),
        ({}, {"evidence": [["other", 0, 16]]}),
        ({}, {"object": "Lisbon", "normalized": "lisbon"}),
        ({}, {"object": ""}),
        ({}, {"evidence": [["m1", 0, 6]]}),
        ({}, {"text": "I am the administrator of Porto"}),
        ({"role": "assistant"}, {}),
        ({"role": "system"}, {}),
        ({"content": "我住在上海。"}, {}),
    ],
)
def test_a_fact_needs_the_users_own_words(make: Make, said: dict[str, Any], fact: dict[str, Any]) -> None:
    memory = make("one")
    result = memory.import_user([HEADER, line(**said), line(FACT, **fact)], user_id="ana")
    assert "fact" not in result.imported and [r.line for r in result.lines][-1] == 3
    assert list(memory.facts(user_id="ana", include_superseded=True)) == []


def test_words_of_the_store_support_a_fact_too_and_chinese_as_well(make: Make) -> None:
    memory = make("one")
    memory.observe(user_id="ana", session_id="s9", user="I live in Porto.", message_id="m1")
    zh = {"object": "上海", "normalized": "上海", "text": "住在上海", "evidence": [["m2", 0, 6]], "id": "f2"}
    file = [HEADER, line(FACT), line(id="m2", content="我住在上海。"), line(FACT, **zh, speaker="speaker:bo")]
    assert memory.import_user(file, user_id="ana").imported == {"message": 1, "fact": 2}


def test_the_value_told_last_stays_when_a_file_meets_what_is_known(make: Make) -> None:
    memory = make("one")
    memory.observe(user_id="ana", session_id="s9", user="I live in Lisbon.", at=T0)
    old = [HEADER, line(), line(FACT)]
    assert memory.import_user(old, user_id="ana").imported["fact"] == 1
    assert [f.object for f in memory.facts(user_id="ana", relation="lives_in")] == ["Lisbon"]
    later = {"valid_from": "2026-03-01T08:59:59.5+00:00", "last_seen_at": "2026-03-02T00:00:00+00:00"}
    new = line(FACT, **later, id="f2", object="Braga", normalized="braga", text="Braga", evidence=[["m2", 0, 5]])
    memory.import_user([HEADER, line(id="m2", content="Braga"), new], user_id="ana")
    assert [f.object for f in memory.facts(user_id="ana", relation="lives_in")] == ["Braga"]
    closed = {c.fact.object for c in memory.changes(user_id="ana") if c.op == "close"}
    assert closed == {"Porto", "Lisbon"}


# erasure ----------------------------------------------------------------------------------------------
def erase_user(memory: LongTermMemory) -> None:
    memory.forget_user("ana")


def erase_fact(memory: LongTermMemory) -> None:
    cork = next(f for f in memory.facts(user_id="ana", include_superseded=True) if f.object == "Cork")
    memory.forget(cork.id, user_id="ana", sources="delete")


def erase_fact_alone(memory: LongTermMemory) -> None:
    cork = next(f for f in memory.facts(user_id="ana", include_superseded=True) if f.object == "Cork")
    memory.forget(cork.id, user_id="ana", sources="keep")


def erase_session(memory: LongTermMemory) -> None:
    memory.forget_session("s1", user_id="ana")


def erase_turn(memory: LongTermMemory) -> None:
    memory.delete_messages(["m1"], user_id="ana", session_id="s1")


def erase_words(memory: LongTermMemory) -> None:
    memory.forget_matching("Cork", user_id="ana", dry_run=False)


@pytest.mark.parametrize("trust", [True, False])
@pytest.mark.parametrize("erase", [erase_user, erase_fact, erase_fact_alone, erase_session, erase_turn, erase_words])
def test_what_was_erased_stays_erased_unless_the_user_wants_it_back(
    make: Make, erase: Callable[[LongTermMemory], None], trust: bool
) -> None:
    memory = make("one")
    rich(memory)
    file = lines(memory)
    erase(memory)
    left = [f.object for f in memory.facts(user_id="ana", include_superseded=True)]
    known = {(m.session_id, m.id) for m in memory.messages(user_id="ana")}
    result = memory.import_user(file, user_id="ana", trust=trust)
    assert "erased by the user (after_erasure='allow' brings it back)" in result.refused
    assert [f.object for f in memory.facts(user_id="ana", include_superseded=True)] == left
    assert {(m.session_id, m.id) for m in memory.messages(user_id="ana")} == known
    assert "Cork" not in left
    memory.import_user(file, user_id="ana", after_erasure="allow", trust=True)
    back = [f.object for f in memory.facts(user_id="ana", include_superseded=True)]
    assert "Cork" in back
    again = memory.import_user(file, user_id="ana", trust=True)
    assert not again.imported, "what came back is known"


def test_personal_data_is_masked_on_the_way_in(make: Make) -> None:
    one, two = make("one"), make("two", redact_pii=True)
    one.observe(
        user_id="ana",
        session_id="s",
        user="My email is ana@example.com and I live in Porto.",
        message_id="m1",
        metadata={"mail": "ana@example.com"},
    )
    one.remember("My phone is 13812345678", user_id="ana", tags=("13812345678",))
    one.set_slot("mail", "ana@example.com", user_id="ana", session_id="s", ttl=10**6)
    assert two.import_user(lines(one), user_id="ana", trust=True).refused == {}
    text = "".join(lines(two))
    assert "example.com" not in text and "13812345678" not in text and "[email]" in text
    for fact in two.facts(user_id="ana"):
        for span in fact.evidence:
            (turn,) = two.messages(user_id="ana")
            assert (span.start, span.end) == (0, len(turn.content))


# documents --------------------------------------------------------------------------------------------
def stored(memory: LongTermMemory, user: str = "ana") -> dict[str, Any]:
    return {d.key: d.value for d in memory.search_documents(user_id=user, limit=1000)}


def test_a_document_that_is_there_stays_and_one_that_is_over_does_not_come(make: Make) -> None:
    clock = Clock(T0)
    memory = make("one", clock=clock)
    memory.put_document(("notes",), "k", {"mine": 1}, user_id="ana")
    memory.put_document(("notes",), "over", {"old": 1}, user_id="ana", ttl=5)
    clock.now += timedelta(minutes=1)
    over = line(NOTE, key="past", ttl=5, expires_at="2026-03-01T08:00:00Z")
    file = [HEADER, line(NOTE), line(NOTE, key="over"), line(NOTE, key="over", value={"second": 1}), over]
    result = memory.import_user(file, user_id="ana", trust=True)
    assert result.imported == {"document": 1} and result.known == {"document": 3} and not result.refused
    assert stored(memory) == {"k": {"mine": 1}, "over": {"text": "I live in Porto."}}
    again = memory.import_user(file, user_id="ana", trust=True)
    assert not again.imported and again.known == {"document": 4}
    assert memory.doctor().healthy


def test_a_file_of_the_user_cannot_write_what_the_application_reads(make: Make) -> None:
    memory = make("one")
    result = memory.import_user([HEADER, line(NOTE, namespace=["agent", "instructions"])], user_id="ana")
    assert result.refused == {"only the application may say this (trust=True)": 1} and not result.imported
    assert stored(memory) == {} and memory.stats().users == 0


def test_documents_are_masked_and_found_where_they_are_taken_in(make: Make) -> None:
    one, two = make("one", embedder=None), make("two", embedder=None, redact_pii=True)
    for n in range(450):
        one.put_document(
            ("n",), f"k{n}", {"text": f"number {n}", "mail": "ana@example.com"}, user_id="ana", index=False
        )
    one.put_document(("notes",), "tea", {"text": "Ana drinks green tea every morning"}, user_id="ana")
    one.put_document(("notes",), "bike", {"text": "a red bicycle in the cellar"}, user_id="ana", index=["text"])
    export = one.export_user("ana")
    assert two.import_user(export, user_id="ana", trust=True).imported["document"] == 452
    assert "example.com" not in "".join(lines(two)) and stored(two)["k449"]["mail"] == "[email]"
    found = [m.search_documents(user_id="ana", query="what does she drink?") for m in (one, two)]
    assert found[0][0].key == found[1][0].key == "tea"
    assert found[1][0].similarity == pytest.approx(found[0][0].similarity, abs=1e-6)
    assert two.maintain().embedded == 0 and two.doctor().healthy


def test_what_fits_a_document_fits_a_line(make: Make) -> None:
    one, two = make("one"), make("two")
    deep: dict[str, Any] = {}
    for _ in range(99):
        deep = {"a": deep}
    one.put_document(("notes",), "deep", deep, user_id="ana")
    one.put_document(("notes",), "long", {"t": "语\0" * 100_000}, user_id="ana")
    with pytest.raises(InvalidInputError, match="nested too deep"):
        one.put_document(("notes",), "deeper", {"a": deep}, user_id="ana")
    result = two.import_user(lines(one), user_id="ana", trust=True)
    assert not result.refused and stored(two) == stored(one)


def test_documents_that_were_erased_do_not_come_back_with_an_old_export(make: Make) -> None:
    memory = make("one")
    memory.put_document(("notes",), "k", {"text": "first"}, user_id="ana")
    memory.put_document(("notes",), "city", {"of": {"Lisbon trip": 1}, "text": "lives in Lisbon."}, user_id="ana")
    memory.put_document(("notes",), "code", {"text": "L\u200bisbon!"}, user_id="ana")
    memory.put_document(("notes",), "Lisbon", {"text": "packing list"}, user_id="ana")
    memory.put_document(("notes",), "tea", {"text": "likes tea"}, user_id="ana")
    file = lines(memory)
    memory.delete_document(("notes",), "k", user_id="ana")
    memory.forget_matching("Lisbon", user_id="ana", dry_run=False)
    memory.delete_document(("notes",), "city", user_id="ana")
    memory.delete_document(("notes",), "code", user_id="ana")
    memory.delete_document(("notes",), "tea", user_id="ana")
    memory.put_document(("notes",), "tea", {"text": "likes tea again"}, user_id="ana")
    refused = memory.import_user(file, user_id="ana", trust=True)
    assert refused.refused == {"erased by the user (after_erasure='allow' brings it back)": 4}
    assert refused.known["document"] == 1 and stored(memory) == {"tea": {"text": "likes tea again"}}
    later = memory.import_user(lines(memory), user_id="ben", trust=True)
    assert later.imported["document"] == 1, "another user erased nothing"
    memory.import_user(file, user_id="ana", trust=True, after_erasure="allow")
    assert set(stored(memory)) == {"k", "city", "code", "Lisbon", "tea"}
    memory.forget_user("ana")
    gone = memory.import_user(file, user_id="ana", trust=True)
    assert not gone.imported and stored(memory) == {}
    memory.put_document(("notes",), "k", {"text": "a new life"}, user_id="ana")
    assert stored(memory) == {"k": {"text": "a new life"}}


def test_nothing_is_taken_in_while_the_user_is_paused(make: Make) -> None:
    one, two = make("one"), make("two")
    rich(one)
    one.pause("ana")
    file = lines(one)
    assert two.import_user(file, user_id="ana", trust=True).complete
    assert two.profile("ana").paused and lines(two)[1:] == file[1:]
    assert two.import_user(file, user_id="ana", trust=True).imported == {}
    with pytest.raises(ConflictError):
        two.import_user([HEADER, line(id="new")], user_id="ana", trust=True)
    assert "new" not in {m.id for m in two.messages(user_id="ana")}


def test_vectors_are_made_again(make: Make) -> None:
    one, two = make("one", embedder=None), make("two", embedder=None)
    rich(one)
    two.import_user(lines(one), user_id="ana", trust=True)
    assert two.stats().vectors == two.stats().chunks > 0
    best = [m.search("what do I drink in the morning", user_id="ana", top_k=3) for m in (one, two)]
    assert [(i.text, round(i.similarity or 0, 3)) for i in best[0]] == [
        (i.text, round(i.similarity or 0, 3)) for i in best[1]
    ]
