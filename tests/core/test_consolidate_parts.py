"""The pure parts of consolidation: which turns are due, what they are about, what is said of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm_core.keep.consolidate import topics as clustering
from ltm_core.keep.consolidate.checked import checked, unsupported
from ltm_core.keep.consolidate.due import Rules, due_days, due_weeks, first_day, period
from ltm_core.keep.consolidate.extractive import ExtractiveSummarizer
from ltm_core.keep.consolidate.plan import exchanges
from ltm_core.keep.consolidate.retire import retirable
from ltm_core.keep.consolidate.topics import topics
from ltm_core.keep.consolidate.wording import topic_of
from ltm_core.keep.redaction import FILLER
from ltm_core.lexicon import default_lexicon
from ltm_core.protocols import SummaryRequest, SummarySentence, SummaryTurn
from ltm_core.store.base import MessageRow
from ltm_core.store.rows import SummaryRow
from ltm_core.testing.builders import message, summary
from ltm_core.types import Anchor, Evidence

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
RULES = Rules(after_days=7, min_turns=3, weekly_after_days=28)


def said(n: int, *, day: int = 0, **fields: Any) -> MessageRow:
    return message(
        f"m{day}.{n}", f"turn {n}", at=MONDAY + timedelta(days=day, minutes=n), item=100 * day + n + 1, **fields
    )


# due -----------------------------------------------------------------------------------------------------
def test_a_day_is_due_when_it_is_old_and_full_enough() -> None:
    rows = [said(n) for n in range(3)] + [said(n, day=1) for n in range(2)] + [said(n, day=2) for n in range(4)]
    night = MONDAY.replace(hour=0)
    assert [d.on.day for d in due_days(rows, RULES, now=night + timedelta(days=7, hours=23))] == []
    assert [d.on.day for d in due_days(rows, RULES, now=night + timedelta(days=8))] == [2]
    assert [d.on.day for d in due_days(rows, RULES, now=night + timedelta(days=30))] == [2, 4]


def test_a_day_is_where_the_user_was() -> None:
    rows = [replace(said(n), at=datetime(2026, 3, 2, 23, n, tzinfo=UTC), timezone="Asia/Shanghai") for n in range(3)]
    (day,) = due_days(rows, RULES, now=MONDAY + timedelta(days=30))
    assert day.on == date(2026, 3, 3)
    begins, ends = period(day.on, 1, day.timezone)
    assert all(begins <= r.at < ends for r in rows)


def test_labels_are_never_told_together() -> None:
    rows = [said(n, agent_id="a") for n in range(3)] + [said(n + 3) for n in range(3)]
    found = due_days(rows, RULES, now=MONDAY + timedelta(days=30))
    assert {d.labels: len(d.rows) for d in found} == {("a", None, None): 3, (None, None, None): 3}


def test_what_says_nothing_any_more_does_not_count() -> None:
    now = MONDAY + timedelta(days=30)
    rows = [said(0), said(1), replace(said(2), content=FILLER * 4)]
    assert due_days(rows, RULES, now=now) == ()
    assert due_days([said(0), said(1), said(2, expires_at=now)], RULES, now=now) == ()
    assert due_days([said(n, role="assistant") for n in range(5)], RULES, now=now) == ()
    assert due_days([said(0), said(1), said(2, role="tool")], RULES, now=now) == ()


def test_too_many_turns_make_the_oldest_days_due_early() -> None:
    rules = replace(RULES, over_turns=5)
    rows = [said(n, day=d) for d in range(3) for n in range(4)]
    found = due_days(rows, rules, now=MONDAY + timedelta(days=3))
    assert [d.on.day for d in found] == [2, 3]
    assert due_days(rows, replace(rules, over_turns=12), now=MONDAY + timedelta(days=3)) == ()
    assert [d.on.day for d in due_days(rows[:4], rules, now=MONDAY + timedelta(days=3), waiting=6)] == [2]
    assert due_days([said(n) for n in range(9)], rules, now=MONDAY + timedelta(hours=3)) == (), "the day goes on"


def told(id: str, day: int, **fields: Any) -> SummaryRow:
    begins, ends = period((MONDAY + timedelta(days=day)).date(), 1, "UTC")
    return summary(id, id, [said(0, day=day)], begins=begins, ends=ends, **{"recallable_at": MONDAY, **fields})


def test_a_week_is_due_with_several_days_that_can_be_recalled() -> None:
    rows = [told("a", 0), told("b", 3), told("c", 3, recallable_at=None), told("d", 8), told("e", 4, level="week")]
    now = MONDAY.replace(hour=0) + timedelta(days=7 + 28)
    assert due_weeks(rows, RULES, now=now - timedelta(seconds=1)) == ()
    (week,) = due_weeks(rows, RULES, now=now)
    assert week.monday == MONDAY.date() and [d.id for d in week.days] == ["a", "b"]
    assert due_weeks(rows, replace(RULES, weekly_after_days=0), now=now) == ()
    assert due_weeks([told("a", 0), told("b", 0)], RULES, now=now) == (), "two topics of one day"
    assert first_day(told("x", 3)) == date(2026, 3, 5)


# topics --------------------------------------------------------------------------------------------------
def around(seed: int, count: int, spread: float = 0.1) -> list[np.ndarray[Any, Any]]:
    random = np.random.default_rng(seed)
    middle = random.standard_normal(128)
    return [(middle + spread * random.standard_normal(128)).astype(np.float32) for _ in range(count)]


def test_turns_are_grouped_by_meaning() -> None:
    pytest.importorskip("scipy")
    a, b, c = around(1, 5), around(2, 4), around(3, 3)
    vectors = [a[0], b[0], c[0], *a[1:], *b[1:], *c[1:]]
    found = topics(vectors, ["s"] * 12, least=2)
    assert found == [[0, 3, 4, 5, 6], [1, 7, 8, 9], [2, 10, 11]]
    assert [len(g) for g in topics(vectors, ["s"] * 12, least=5)] in ([5, 7], [12], [9, 3], [8, 4]) and (
        min(map(len, topics(vectors, ["s"] * 12, least=5))) >= 5
    )


def test_one_topic_stays_one() -> None:
    pytest.importorskip("scipy")
    assert topics(around(1, 8), ["s"] * 8, least=2) == [list(range(8))]
    assert topics([], [], least=2) == [] and topics(around(1, 1), ["s"], least=2) == [[0]]


@pytest.mark.parametrize("why", ["no vectors", "no scipy"])
def test_without_meaning_a_session_is_a_topic(why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors: list[Any] = [*around(1, 3), *around(2, 3)]
    if why == "no vectors":
        vectors[4] = None
    else:
        import builtins

        real = builtins.__import__

        def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
            if name.startswith("scipy"):
                raise ImportError(name)
            return real(name, *args, **kwargs)

        monkeypatch.setattr(builtins, "__import__", refuse)
    assert topics(vectors, list("ababab"), least=2) == [[0, 2, 4], [1, 3, 5]]


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 6), st.booleans())
@settings(max_examples=30, deadline=None)
def test_every_member_has_one_topic(seed: int, count: int, least: int, gaps: bool) -> None:
    random = np.random.default_rng(seed)
    vectors: list[Any] = [random.standard_normal(8).astype(np.float32) for _ in range(count)]
    if gaps:
        vectors[count // 2] = None
    found = topics(vectors, [i % 3 for i in range(count)], least=least)
    assert sorted(i for g in found for i in g) == list(range(count))
    assert len(found) == 1 or min(map(len, found)) >= least
    assert found == topics(vectors, [i % 3 for i in range(count)], least=least)


def test_more_than_can_be_compared_go_by_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clustering, "MOST", 5)
    assert topics(around(1, 6), list("aabbcc"), least=2) == [[0, 1], [2, 3], [4, 5]]


def test_an_answer_belongs_to_what_it_answers() -> None:
    rows = [
        replace(said(0), content="I went to the climbing gym."),
        replace(said(1), content="Sounds good!", role="assistant"),
        replace(said(2), content="ok"),
        replace(said(3), content="I cook ramen on Sunday.", session_id="s2"),
        replace(said(4), content="My fingers are sore today."),
    ]
    assert [[m.item for m in part] for part in exchanges(rows)] == [[1, 2, 3], [4], [5]]


# sentences -----------------------------------------------------------------------------------------------
def turn(n: int, text: str, **fields: Any) -> SummaryTurn:
    values: dict[str, Any] = {"speaker": "user", "role": "user", "on": date(2026, 3, 2), "language": "en"}
    return SummaryTurn(id=f"t{n}", text=text, **{**values, **fields})


def asked(*texts: str | SummaryTurn, **fields: Any) -> SummaryRequest:
    turns = tuple(turn(n, t) if isinstance(t, str) else t for n, t in enumerate(texts, 1))
    day = date(2026, 3, 2)
    return SummaryRequest(turns=turns, begins=day, ends=day, **{"language": "en", **fields})


EN = (
    "I went to the climbing gym with Marta today.",
    "Nice weather, by the way.",
    "The climbing wall at the gym has new purple routes. I managed the V4 route after six tries!",
    "What shoes are best for climbing routes?",
    "Marta wants to go climbing at the gym again on Thursday.",
)
ZH = (
    "今天和小林去了攀岩馆。",
    "嗯嗯。",
    "攀岩馆的墙换了紫色的新线路。我试了六次才爬上V4那条线路！",
    "攀岩穿什么鞋最好？",
    "小林想周四再去攀岩馆爬一次。",
)


@pytest.mark.parametrize("texts", [EN, ZH], ids=["en", "zh"])
def test_the_summary_is_made_of_the_users_own_sentences(texts: tuple[str, ...]) -> None:
    request = asked(*texts, target_tokens=40)
    found = ExtractiveSummarizer().summarize(request)
    assert 1 < len(found) < 5
    for s in found:
        (source,) = s.sources
        assert s.text in next(t.text for t in request.turns if t.id == source)
        assert "?" not in s.text and "？" not in s.text
    assert [s.sources for s in found] == sorted(s.sources for s in found)
    assert found == ExtractiveSummarizer().summarize(request)


def test_what_is_central_comes_first_and_nothing_twice() -> None:
    one = ExtractiveSummarizer().summarize(asked(*EN, target_tokens=10))
    assert len(one) == 1 and "climbing" in one[0].text
    repeated = asked("I love the blue heron.", "I love the blue heron.", "I love the blue heron!", target_tokens=400)
    assert len(ExtractiveSummarizer().summarize(repeated)) == 1


def test_what_is_no_sentence_is_not_quoted() -> None:
    texts = ["ok", f"my card is {FILLER * 8} and more words", "```\nlong code block here\n```", "word " * 200]
    assert ExtractiveSummarizer().summarize(asked(*texts)) == ()
    assert ExtractiveSummarizer().summarize(asked("What should I cook for dinner tonight?")) != ()
    answer = turn(1, "Sounds really good to me!", role="assistant", speaker="assistant")
    assert ExtractiveSummarizer().summarize(asked(answer)) == ()


WORDS = st.sampled_from(
    ["Porto", "Marta", "climbing", "the", "gym", "1,250", "ORD-2024-00817", "on", "Thursday", "我", "攀岩馆", "去了",
     "三十", "V4", "2026", "小林", "ramen", "is", "not", "?", "!", ".", "。", "\n"]
)  # fmt: skip


@given(st.lists(st.lists(WORDS, min_size=1, max_size=14), min_size=1, max_size=6), st.integers(1, 200))
@settings(max_examples=60, deadline=None)
def test_every_word_of_an_extractive_summary_stands_in_its_source(texts: list[list[str]], tokens: int) -> None:
    request = asked(*(" ".join(t) for t in texts), target_tokens=tokens)
    turns = {t.id: t.text for t in request.turns}
    found = ExtractiveSummarizer().summarize(request)
    assert all(s.text in turns[s.sources[0]] for s in found)
    rejected: Counter[str] = Counter()
    kept = checked(found, request, rejected)
    assert len(kept) == len(found) and not rejected, "what it quotes passes the checks for models"


# what a model says ---------------------------------------------------------------------------------------
SOURCES = asked(
    "I moved to Porto with my sister in 2019 and pay 1,250 euros for the flat.",
    "My order ORD-2024-00817 has not arrived, it should weigh thirty kilos.",
    "小林想周四再去攀岩馆，我下个月要去杭州出差三十二天。",
)


@pytest.mark.parametrize(
    "text",
    [
        "The user moved to Porto with a sister in 2019.",
        "User pays 1,250 euros for the flat in Porto.",
        "They moved to Porto.",
        "Order ORD-2024-00817 has not arrived.",
        "On 2026-03-02 the user said the order should weigh thirty kilos.",
        "用户下个月要去杭州出差三十二天。",
        "小林想再去攀岩馆。",
    ],
)
def test_what_the_turns_hold_stands(text: str) -> None:
    assert unsupported(text, SOURCES.turns) == ""


@pytest.mark.parametrize(
    "text",
    [
        "The user moved to Lisbon with a sister in 2019.",
        "Sarah moved to Porto.",
        "The user moved to Porto in 2018.",
        "The user pays 1,350 euros for the flat.",
        "Order ORD-2024-00818 has not arrived.",
        "The order should weigh forty kilos.",
        "The user enjoys gardening, cooking dinner outside, painting landscapes.",
        "用户下个月要去杭州出差三十五天。",
        "用户下个月要去苏州市出差。",
        "王伟想再去攀岩馆。",
        "用户最近心情低落并且经常失眠。",
    ],
)
def test_what_no_turn_holds_is_dropped(text: str) -> None:
    assert unsupported(text, SOURCES.turns) != ""
    rejected: Counter[str] = Counter()
    kept = checked([SummarySentence(text=text), SummarySentence(text="They moved to Porto.")], SOURCES, rejected)
    assert [s.text for s in kept] == ["They moved to Porto."] and rejected.total() == 1


def test_a_sentence_rests_on_the_turns_it_names_or_resembles() -> None:
    def sources(*given: str) -> tuple[str, ...]:
        (kept,) = checked([SummarySentence(text="They moved to Porto.", sources=given)], SOURCES, Counter())
        return kept.sources

    assert sources("t1") == ("t1",) and sources("t9") == ("t1",) and sources("t1", "t1", "x") == ("t1",)
    assert checked([SummarySentence(text="They moved to Porto.", sources=("t2",))], SOURCES, Counter()) == ()
    text = "They moved to Porto. They pay 1,250 euros. They live in Berlin."
    assert [s.text for s in checked(text, SOURCES, Counter())] == ["They moved to Porto.", "They pay 1,250 euros."]


def test_what_is_no_answer_is_counted() -> None:
    given: list[Any] = [None, SummarySentence(text=" "), SummarySentence(text="They " * 400), 7]
    rejected: Counter[str] = Counter()
    assert checked(given, SOURCES, rejected) == () and rejected.total() == 4
    many = [SummarySentence(text=f"They moved to Porto{'!' * n}") for n in range(40)]
    assert len(checked(many, SOURCES, rejected)) == 24 and rejected["too many"] == 16


# words and turns -----------------------------------------------------------------------------------------
def test_the_topic_is_a_few_of_its_own_words() -> None:
    assert set(topic_of(EN[:1]).split()) <= set(EN[0].replace(".", "").split())
    zh = topic_of(["攀岩馆的墙换了紫色的新线路。"])
    assert zh and all(w in "攀岩馆的墙换了紫色的新线路" for w in zh.split())
    assert topic_of([]) == "" and topic_of(["ok"]) in ("", "ok")


def test_what_matters_is_never_retired() -> None:
    anchor = Anchor(kind="explicit_request", text="x", evidence=Evidence(message_id="m", start=0, end=1), reason="r")
    plain = replace(said(0), in_window=False)
    rows = [
        plain,
        replace(said(1), in_window=False),  # anchored
        replace(said(2), in_window=False),  # supports a fact
        replace(said(3), in_window=False, content="my order is ORD-2024-00817"),
        replace(said(4), in_window=False, importance="high"),
        replace(said(5), in_window=False, archived_at=MONDAY),
        said(6),  # in a window
        replace(said(7), in_window=False, retired_at=MONDAY),
        replace(said(8), in_window=False, doc_type="contract"),
    ]
    found = retirable(rows, anchored={2: [anchor]}, supporting={"m0.2"}, lexicon=default_lexicon())
    assert found == [plain.item]


def test_a_turn_is_retired_for_the_words_its_own_lines_hold() -> None:
    rows = [
        replace(said(0), in_window=False, content="The purple route took me six tries."),
        replace(said(1), in_window=False, content="The purple route is in the corner beside the old red one."),
        replace(said(2), in_window=False, content="ok!", role="assistant"),
    ]
    row = summary("y", rows[0].content, rows)
    row = replace(row, lines=(replace(row.lines[0], sources=(0,)),))

    def going(coverage: float) -> list[int]:
        return retirable(rows, anchored={}, supporting=(), lexicon=default_lexicon(), summary=row, coverage=coverage)

    assert going(0.5) == [1, 3] and going(0) == [1, 2, 3]
