"""A later message states another value of the same thing: it stands above the older one, which is labelled."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from ltm_core.config import Config
from ltm_core.recall.service import RecallRequest, recall_context, recall_search
from ltm_core.recall.values import values_of
from ltm_core.recall.wanted import wanted
from ltm_core.testing.fake_reader import FakeReader
from ltm_core.types import Context, Scope

NOW = datetime(2025, 4, 20, 9, tzinfo=UTC)
THEN = datetime(2025, 3, 5, 9, tzinfo=UTC)

UPDATES = [
    (
        "My vinyl shelf holds 320 records at this point, how should I sort them?",
        "After the flea market the vinyl shelf is up to 341 records, any tips for cleaning them?",
        "How many records are on my vinyl shelf?",
    ),
    (
        "The dentist appointment for Leo is on May 6 at 2 PM, what should I bring?",
        "They called, Leo's dentist appointment was rescheduled to May 6 at 10:30 AM, can you note that?",
        "What time is Leo's dentist appointment?",
    ),
    (
        "I set the kitchen renovation budget at $18,000, can you suggest a contractor?",
        "With the new kitchen renovation budget of $21,500 I could get stone worktops, what do you think?",
        "What is the budget for my kitchen renovation?",
    ),
    (
        "Our unit test coverage is 64% according to the report, is that bad?",
        "Unit test coverage improved to 81% this week, should we stop there?",
        "What is our unit test coverage?",
    ),
    (
        "The handover of the Riga flat is planned for June 3, what papers do I need?",
        "The handover of the Riga flat got postponed to June 17, so do I still need the papers?",
        "When is the handover of the Riga flat?",
    ),
    (
        "We deploy the billing service on release 4.2.0, is that one stable?",
        "The billing service now runs on release 4.3.1, can you list what is new?",
        "Which release version does the billing service run on?",
    ),
    (
        "我的集邮册里有126枚邮票，怎么分类比较好？",
        "集邮册里的邮票增加到143枚了，帮我想想怎么保存。",
        "我的集邮册里有多少枚邮票？",
    ),
    (
        "和装修队的碰面定在5月6日下午2点，要准备什么？",
        "和装修队的碰面改到5月6日下午4点了，帮我记一下。",
        "和装修队碰面是几点？",
    ),
    (
        "厨房翻新的预算是3万元，够不够？",
        "厨房翻新的预算调整到4万5千元了，可以换石英石台面吗？",
        "厨房翻新的预算是多少？",
    ),
    ("单元测试覆盖率是64%，算低吗？", "这周单元测试覆盖率提升到81%了，还要继续吗？", "我们的单元测试覆盖率是多少？"),
    ("房子交接定在6月3日，要带哪些材料？", "房子交接推迟到6月17日了，材料还一样吗？", "房子交接是哪天？"),
    ("训练营要上12节课，我该怎么安排？", "训练营现在变成15节课了，时间有点紧。", "训练营一共多少节课？"),
]

ALIKE = [
    (
        "My vinyl shelf holds 320 records at this point, how should I sort them?",
        "I sold 12 comics at the flea market and bought a lamp for the shelf.",
        "How many records are on my vinyl shelf?",
    ),
    (
        "I ran 5 km along the river on Monday and felt great.",
        "I ran 8 km in the forest on Thursday and it was muddy.",
        "Where did I run along the river?",
    ),
    (
        "The dentist appointment for Leo is on May 6 at 2 PM, what should I bring?",
        "The parents' evening at school is on May 8 at 6 PM, what should I ask there?",
        "What time is Leo's dentist appointment?",
    ),
    (
        "Hotel Miramar costs 90 euros a night.",
        "Hotel Bellavista costs 140 euros a night.",
        "How much does Hotel Miramar cost a night?",
    ),
    ("我的集邮册里有126枚邮票，怎么分类比较好？", "昨天在集市卖掉了12本旧漫画。", "我的集邮册里有多少枚邮票？"),
    ("和装修队的碰面定在5月6日下午2点。", "家长会定在5月8日下午6点。", "和装修队碰面是几点？"),
    ("海景酒店一晚600元。", "山景酒店一晚900元。", "海景酒店一晚多少钱？"),
]


def told(*lines: str, names: tuple[str | None, ...] = ()) -> FakeReader:
    reader = FakeReader()
    for i, text in enumerate(lines):
        more = {"name": names[i]} if names else {}
        reader.say(text, at=THEN + timedelta(days=i), session_id=f"s{i}", **more)  # type: ignore[arg-type]
    return reader


def context(reader: FakeReader, query: str) -> Context:
    return recall_context(
        reader,  # type: ignore[arg-type]
        RecallRequest(scope=Scope(user_id="ana"), query=query, now=NOW),
        max_tokens=1000,
        token_counter=lambda text: (len(text) + 2) // 3,
        format="text",
        config=Config(),
        query_vector=None,
        embedder_name="test",
        fence_mark="7f3a9c21",
    )


def found(reader: FakeReader, query: str) -> list[str]:
    request = RecallRequest(scope=Scope(user_id="ana"), query=query, now=NOW)
    hits = recall_search(
        reader,  # type: ignore[arg-type]
        request,
        config=Config(),
        query_vector=None,
        embedder_name="test",
    )
    return [i for h in hits for i in h.source_message_ids]


@pytest.mark.parametrize(("old", "new", "query"), UPDATES)
def test_the_newer_value_stands_above_and_the_older_one_is_labelled(old: str, new: str, query: str) -> None:
    reader = told(old, new)
    ids = found(reader, query)
    assert ids.index("m2") < ids.index("m1")
    shown = context(reader, query)
    assert {i.source_id: i.is_current for i in shown.episodic} == {"m2": True, "m1": False}
    label = "以前" if shown.language == "zh" else "previously"
    labelled = [x for x in shown.text.split("\n") if f", {label}] " in x]
    assert len(labelled) == 1
    assert old[:8] in labelled[0]


@pytest.mark.parametrize(
    ("old", "new", "query"), [(new, old, query) for old, new, query in UPDATES[:2] + UPDATES[6:8]]
)
def test_the_order_of_time_decides_not_the_words(old: str, new: str, query: str) -> None:
    ids = found(told(old, new), query)
    assert ids.index("m2") < ids.index("m1")
    assert not any(i.source_id == "m2" and not i.is_current for i in context(told(old, new), query).episodic)


@pytest.mark.parametrize(("old", "new", "query"), ALIKE)
def test_the_same_topic_alone_overtakes_nothing(old: str, new: str, query: str) -> None:
    assert all(i.is_current for i in context(told(old, new), query).episodic)


def test_another_speaker_restates_nothing() -> None:
    old, new, query = UPDATES[0]
    shown = context(told(old, new, names=("Ana", "Ben")), query)
    assert all(i.is_current for i in shown.episodic)


def test_a_question_about_the_state_before_keeps_the_order_but_the_label_stays() -> None:
    reader = told(UPDATES[2][0], UPDATES[2][1])
    shown = context(reader, "What was the kitchen renovation budget originally, before it changed?")
    assert {i.source_id: i.is_current for i in shown.episodic}["m1"] is False


def test_of_three_statements_only_the_last_is_current() -> None:
    reader = told(
        "The choir has 24 singers, how do we seat them?",
        "The choir grew to 27 singers, how do we seat them now?",
        "The choir has now reached 31 singers, do we need risers?",
    )
    shown = context(reader, "How many singers does the choir have?")
    assert [i.source_id for i in shown.episodic if i.is_current] == ["m3"]
    assert found(reader, "How many singers does the choir have?")[0] == "m3"


def test_a_fact_that_holds_the_old_value_is_labelled_and_below_too() -> None:
    reader = told(UPDATES[4][0], UPDATES[4][1])
    said = "The handover of the Riga flat is planned for June 3"
    reader.know(said, at=THEN, relation="status", object="June 3", source_message_ids=("m1",))
    beside = "The Riga flat has two rooms"
    reader.know(beside, at=THEN, relation="owns", object="two rooms", source_message_ids=("m1",))
    shown = context(reader, UPDATES[4][2])
    assert {i.text: i.is_current for i in shown.semantic}[said] is False
    assert {i.text: i.is_current for i in shown.semantic}.get(beside, True)
    assert found(reader, UPDATES[4][2])[0] == "m2"


def test_it_was_moved_overtakes_the_date_even_without_a_new_one() -> None:
    reader = told(
        "The pottery workshop at Glazehouse is on May 12, what should I wear?",
        "Remind me, to what date was the pottery workshop at Glazehouse postponed?",
    )
    shown = context(reader, "When is the pottery workshop at Glazehouse?")
    assert {i.source_id: i.is_current for i in shown.episodic}["m1"] is False


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("It costs $1,250 a month", "money", "1250"),
        ("预算是3万元", "money", "30000"),
        ("覆盖率是百分之64", "share", "64"),
        ("It takes 6-9 months", "amount", "6-9"),
        ("twenty-five chairs", "amount", "25"),
        ("二十五把椅子", "amount", "25"),
        ("We run v2.3.1", "version", "2.3.1"),
        ("the call is on May 6 at 3 PM", "clock", "15:00"),
        ("締め切りは6月3日です", "date", "06-03/06-04"),
    ],
)
def test_values_are_read_and_written_one_way(text: str, kind: str, value: str) -> None:
    assert (kind, value) in [(v.kind, v.value) for v in values_of(text, said=THEN)]


@pytest.mark.parametrize("text", ["P(heart) = 13/52", "ORD-2024-77", "in 2024", "```\nx = 42 apples\n```"])
def test_formulas_names_and_code_state_no_value(text: str) -> None:
    assert not values_of(text, said=THEN)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What time is it?", "clock"),
        ("哪天交房？", "date"),
        ("Which version do we run?", "version"),
        ("预算是多少？", "money"),
        ("会議は何時ですか", "clock"),
    ],
)
def test_the_question_names_the_kind_of_value(question: str, kind: str) -> None:
    assert kind in wanted(question).kinds


def test_a_question_for_no_value_asks_for_no_kind() -> None:
    assert not wanted("Have I ever played the oboe?").kinds


def test_what_states_no_value_and_rests_on_an_overtaken_message_is_not_shown_as_if_it_held() -> None:
    reader = told(UPDATES[0][0], UPDATES[0][1])
    fragment, value = "The vinyl shelf is in order", "The vinyl shelf holds 12 boxes"
    for text in (fragment, value):
        reader.know(text, at=THEN, relation="owns", object=text[-8:], source_message_ids=("m1",))
    shown = context(reader, UPDATES[0][2])
    assert fragment not in {i.text for i in shown.semantic}
    assert value in {i.text for i in shown.semantic}
    assert "what its message stated was restated" in {d.reason for d in shown.dropped}
    # About anything else it is a fact like any other.
    assert fragment in {i.text for i in context(reader, "Is my vinyl shelf in order?").semantic}
