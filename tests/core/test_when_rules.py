"""Leaning, zones, the parameters' readers, and the promises that hold for any text."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm_core.errors import InvalidTimeError
from ltm_core.when import TimeMention, find_times, parse_instant, parse_range, resolve_words, zone_of

SHANGHAI = ZoneInfo("Asia/Shanghai")
NEW_YORK = ZoneInfo("America/New_York")
NOW = datetime(2026, 6, 17, 10, 30, tzinfo=SHANGHAI)


def only(text: str, now: datetime = NOW, **options: object) -> TimeMention:
    (found,) = find_times(text, now=now, **options)  # type: ignore[arg-type]
    return found


def day(text: str, now: datetime = NOW, **options: object) -> str:
    return only(text, now, **options).since.date().isoformat()


# ---- the bug log
def test_yesterday_keeps_its_words_beside_the_date() -> None:
    text = "I bought a kayak yesterday."
    now = datetime(2025, 3, 5, 9, tzinfo=UTC)
    shown = resolve_words(text, find_times(text, now=now))
    assert shown == "I bought a kayak yesterday [2025-03-04]."


def test_days_are_the_users_not_utcs() -> None:
    now = datetime(2025, 3, 10, 7, tzinfo=timezone(timedelta(hours=8)))
    past, future = find_times("上周三我去看了牙医，明天要复诊。", now=now)
    assert past.since == datetime(2025, 3, 5, tzinfo=now.tzinfo)
    assert future.since == datetime(2025, 3, 11, tzinfo=now.tzinfo)
    assert day("昨日、京都から帰ってきました。", now) == "2025-03-09"


def test_old_message_is_read_at_its_own_time() -> None:
    now = datetime(2023, 12, 31, 23, 50, tzinfo=UTC)
    assert day("I ran a marathon this morning.", now) == "2023-12-31"


# ---- other days to stand on
@pytest.mark.parametrize(
    ("now", "text", "since"),
    [
        ("2026-01-01T00:30", "去年夏天", "2025-06-01"),
        ("2026-01-01T00:30", "last week", "2025-12-22"),
        ("2026-01-15T12:00", "this winter", "2025-12-01"),
        ("2026-01-15T12:00", "去年冬天", "2025-12-01"),
        ("2026-01-15T12:00", "上个月", "2025-12-01"),
        ("2026-01-15T12:00", "last summer", "2025-06-01"),
        ("2026-01-15T12:00", "Q4 last year", "2025-10-01"),
        ("2026-03-31T12:00", "a month ago", "2026-02-01"),
        ("2026-03-31T12:00", "in the last month", "2026-02-28"),
        ("2026-06-21T09:00", "这周日", "2026-06-21"),
        ("2026-06-21T09:00", "上周日", "2026-06-14"),
        ("2026-06-21T09:00", "下周一", "2026-06-22"),
        ("2026-06-21T09:00", "last Sunday", "2026-06-14"),
        ("2026-06-21T09:00", "this weekend", "2026-06-20"),
        ("2026-06-22T09:00", "last Friday", "2026-06-19"),
        ("2026-06-22T09:00", "last weekend", "2026-06-20"),
        ("2026-06-22T09:00", "上周末", "2026-06-20"),
        ("2024-02-29T09:00", "a year ago today", "2023-02-28"),
        ("2025-06-17T09:00", "2月29日", "2024-02-29"),
        ("2026-12-31T23:59", "明天", "2027-01-01"),
        ("2026-12-31T23:59", "下个月", "2027-01-01"),
        ("2026-05-31T09:00", "the 31st of last month", None),
    ],
)
def test_other_references(now: str, text: str, since: str | None) -> None:
    found = find_times(text, now=datetime.fromisoformat(now).replace(tzinfo=SHANGHAI))
    whole = [m for m in found if m.text == text]
    assert [m.since.date().isoformat() for m in whole] == ([since] if since else [])


# ---- leaning
@pytest.mark.parametrize(
    ("text", "past", "future"),
    [
        ("3月", "2026-03-01", "2027-03-01"),
        ("Friday", "2026-06-12", "2026-06-19"),
        ("in March", "2026-03-01", "2027-03-01"),
        ("周五", "2026-06-12", "2026-06-19"),
        ("Wednesday", "2026-06-10", "2026-06-24"),
        ("12月25日", "2025-12-25", "2026-12-25"),
        ("中秋节", "2025-10-06", "2026-09-25"),
        ("Halloween", "2025-10-31", "2026-10-31"),
        ("周末", "2026-06-13", "2026-06-20"),
        ("on the 20th", "2026-05-20", "2026-06-20"),
        ("6月17日", "2026-06-17", "2026-06-17"),
    ],
)
def test_ambiguous_form_leans_as_told(text: str, past: str, future: str) -> None:
    assert day(text) == past
    assert day(text, prefer="future") == future


@pytest.mark.parametrize(
    ("text", "prefer", "since"),
    [
        ("I will go on Friday", "past", "2026-06-19"),
        ("I went on Friday", "future", "2026-06-12"),
        ("周五要交报告", "past", "2026-06-19"),
        ("周五交了报告", "future", "2026-06-12"),
        ("下次聚会是10月3号", "past", "2026-10-03"),
        ("Pay the rent by the 20th", "past", "2026-06-20"),
        ("周五之前写完", "past", "2026-06-19"),
        ("金曜日に行く予定です", "past", "2026-06-19"),
        ("金曜日に行きました", "future", "2026-06-12"),
        ("重要的周五会议", "past", "2026-06-12"),
    ],
)
def test_tense_beats_the_preference(text: str, prefer: str, since: str) -> None:
    assert day(text, prefer=prefer) == since


def test_direction_and_relativity() -> None:
    assert [only(t).direction for t in ("昨天", "今天", "明天", "the last 10 days", "next week")] == [
        "past",
        "present",
        "future",
        "past",
        "future",
    ]
    assert only("2024年3月5日").relative is False
    assert only("in 2019").relative is False
    assert only("3月5日").relative is True
    assert only("from March to May 2024").relative is False


def test_several_mentions_stand_in_order() -> None:
    text = "昨天买了书，明天上午10点要去上海，2019年去过。"
    assert [m.text for m in find_times(text, now=NOW)] == ["昨天", "明天上午10点", "2019年"]


def test_language_hint_decides_kanji_only_texts() -> None:
    assert day("来月", language="ja") == "2026-07-01"
    assert day("3日前", language="ja") == "2026-06-14"


# ---- zones and clock changes
def test_day_of_a_clock_change_is_whole() -> None:
    now = datetime(2026, 3, 9, 12, tzinfo=NEW_YORK)
    found = only("yesterday", now)
    assert found.since == datetime(2026, 3, 8, tzinfo=NEW_YORK)
    assert found.until.astimezone(UTC) - found.since.astimezone(UTC) == timedelta(hours=23)


def test_skipped_hour_becomes_the_one_shown_instead() -> None:
    now = datetime(2026, 3, 9, 12, tzinfo=NEW_YORK)
    found = only("yesterday at 2:30am", now)
    assert found.since.isoformat() == "2026-03-08T03:30:00-04:00"
    assert found.since.astimezone(UTC) < found.until.astimezone(UTC)
    hour = only("2 am on March 8", now)
    assert hour.since.astimezone(UTC) < hour.until.astimezone(UTC)


def test_hours_are_elapsed_hours() -> None:
    now = datetime(2026, 3, 8, 4, 0, tzinfo=NEW_YORK)
    assert only("3 hours ago", now).since.isoformat() == "2026-03-08T00:00:00-05:00"


def test_naive_now_is_refused() -> None:
    with pytest.raises(InvalidTimeError):
        find_times("today", now=datetime(2026, 6, 17))  # noqa: DTZ001


# ---- parameters
def test_instant_from_text_and_datetime() -> None:
    expected = datetime(2023, 5, 7, 16, tzinfo=UTC)
    assert parse_instant("2023-05-08", zone=SHANGHAI) == expected
    assert parse_instant("2023-05-08T00:00", zone=SHANGHAI) == expected
    assert parse_instant(datetime(2023, 5, 8), zone=SHANGHAI) == expected  # noqa: DTZ001
    assert parse_instant("2023-05-07T16:00:00Z", zone=SHANGHAI) == expected
    assert parse_instant(expected, zone=SHANGHAI).tzinfo is UTC


@pytest.mark.parametrize("value", ["", "soon", "2023-13-01", "1", "0001-01-01T00:00", "\ud800", "x" * 400])
def test_unreadable_instant_is_refused(value: str) -> None:
    with pytest.raises(InvalidTimeError) as caught:
        parse_instant(value, zone=SHANGHAI)
    assert len(str(caught.value)) < 120


@pytest.mark.parametrize("value", [None, 5, 5.0, b"2023-05-08"])
def test_instant_of_another_type_is_refused(value: object) -> None:
    with pytest.raises(InvalidTimeError, match=type(value).__name__):
        parse_instant(value, zone=SHANGHAI)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("last week", "2026-06-08", "2026-06-15"),
        ("上个月", "2026-05-01", "2026-06-01"),
        ("2024", "2024-01-01", "2025-01-01"),
        ("March", "2026-03-01", "2026-04-01"),
        ("in March 2024", "2024-03-01", "2024-04-01"),
        ("2023-05-08", "2023-05-08", "2023-05-09"),
        ("the weekend", "2026-06-13", "2026-06-15"),
        ("since Monday", "2026-06-15", "2026-06-18"),
        ("夏天", "2026-06-01", "2026-09-01"),
        ("先週の", "2026-06-08", "2026-06-15"),
        ("在去年夏天", "2025-06-01", "2025-09-01"),
        ("1990s", "1990-01-01", "2000-01-01"),
    ],
)
def test_range_in_words(text: str, since: str, until: str) -> None:
    low, high = parse_range(text, now=NOW)
    assert (low.date().isoformat(), high.date().isoformat()) == (since, until)


@pytest.mark.parametrize("text", ["", "soon", "yesterday and tomorrow", "the day Bob left yesterday", "2026-02-30"])
def test_unparsable_range_is_named(text: str) -> None:
    with pytest.raises(InvalidTimeError) as caught:
        parse_range(text, now=NOW)
    assert repr(text) in str(caught.value)


def test_zones() -> None:
    assert zone_of("Asia/Shanghai") is SHANGHAI
    for name in ("", "Mars/Base", "America", "../etc/passwd", "\0", "\ud800", "/etc/passwd", "a" * 500):
        with pytest.raises(InvalidTimeError) as caught:
            zone_of(name)
        assert len(str(caught.value)) < 100


def test_words_get_the_date_they_mean() -> None:
    text = "上周三看了牙医，去年搬的家，2019年毕业；last month was hot, last week too"
    assert resolve_words(text, find_times(text, now=NOW)) == (
        "上周三[2026-06-10]看了牙医，去年[2025]搬的家，2019年毕业；"
        "last month [2026-05] was hot, last week [2026-06-08..2026-06-14] too"
    )
    assert resolve_words("tonight at 8", find_times("tonight at 8", now=NOW)).endswith("[2026-06-17 20:00]")
    assert resolve_words("nothing", ()) == "nothing"


# ---- any text
PIECES = st.sampled_from(
    [
        "上",
        "下",
        "个",
        "周",
        "三",
        "月",
        "年",
        "前",
        "后",
        "3",
        "2024",
        "今天",
        "昨晚",
        "点",
        "半",
        "到",
        "从",
        "以来",
        "最近",
        "last",
        "next",
        "week",
        "Friday",
        "March",
        "may",
        "at",
        "3:30",
        "pm",
        "ago",
        "in",
        "two",
        "days",
        "from",
        "to",
        "between",
        "and",
        "since",
        "5th",
        "the",
        "Q3",
        "先週",
        "から",
        "令和",
        "元年",
        "30日",
        "99",
        "9999",
        "years",
        "二十",
        "几",
        "号",
        "国庆",
        ",",
        "。",
    ]
)
MIXED = st.lists(st.one_of(PIECES, st.sampled_from(["", " ", "\n"])), max_size=30).map("".join)
ANYTHING = st.one_of(st.text(st.characters(exclude_categories=()), max_size=200), MIXED)
MOMENTS = st.datetimes(min_value=datetime(1, 1, 3), max_value=datetime(9999, 12, 29))  # noqa: DTZ001


@settings(max_examples=300, deadline=None)
@given(
    text=ANYTHING,
    moment=MOMENTS,
    zone=st.sampled_from([SHANGHAI, NEW_YORK, UTC]),
    prefer=st.sampled_from(["past", "future"]),
)
def test_any_text_is_read_without_raising(text: str, moment: datetime, zone: ZoneInfo, prefer: str) -> None:
    now = moment.replace(tzinfo=zone)
    found = find_times(text, now=now, prefer=prefer)  # type: ignore[arg-type]
    end = 0
    for mention in found:
        assert end <= mention.start < mention.end <= len(text)
        assert text[mention.start : mention.end] == mention.text
        assert mention.since.astimezone(UTC) < mention.until.astimezone(UTC)
        assert mention.since.tzinfo is zone
        end = mention.end
    assert resolve_words(text, found).replace("[", "").startswith(text[:0])
    try:
        low, high = parse_range(text, now=now)
        assert low < high
    except InvalidTimeError:
        pass


WEEKLY = [
    "昨天",
    "上周三",
    "下周末",
    "last week",
    "next Friday",
    "3 days ago",
    "in two weeks",
    "Friday",
    "先週の水曜日",
    "周五晚上8点",
    "the last 10 days",
    "since Monday",
    "this weekend",
    "大前天",
]


@settings(max_examples=60, deadline=None)
@given(text=st.sampled_from(WEEKLY), weeks=st.integers(-500, 500))
def test_weekly_forms_move_with_the_week(text: str, weeks: int) -> None:
    shift = timedelta(weeks=weeks)
    here, there = only(text), only(text, NOW + shift)
    assert (there.since, there.until) == (here.since + shift, here.until + shift)


# ---- time taken
@pytest.mark.parametrize("piece", ["1", "上", "上个", "一", "2024-", "in ", "last ", "\0", "\ud800", "半", "three "])
def test_long_text_without_times_is_read_at_once(piece: str) -> None:
    text = (piece * 200_000)[:200_000]
    find_times(piece, now=NOW)
    started = time.perf_counter()
    find_times(text, now=NOW)
    assert time.perf_counter() - started < 3  # well under one second on an idle core


@pytest.mark.parametrize(
    "piece", ["下午3点到", "3点到", "3pm to ", "今天3点", "3月到", "from March ", "从3月", "周五晚上", "at 3 "]
)
def test_long_chains_of_times_are_read(piece: str) -> None:
    started = time.perf_counter()
    find_times(piece * 2000, now=NOW)
    assert time.perf_counter() - started < 5


# ---- what is coming up lies ahead, whatever else the clause tells
@pytest.mark.parametrize("prefer", ["past", "future"])
@pytest.mark.parametrize(
    ("text", "since"),
    [
        ("I've got a webinar on AI ethics in hiring coming up on March 20, hosted by the council", "2024-03-20"),
        ("I have a recital coming up on March 20.", "2024-03-20"),
        ("My birthday is coming up on March 20", "2024-03-20"),
        ("The race I signed up for is coming up on March 20", "2024-03-20"),
        ("The flight we booked and paid is scheduled for March 20.", "2024-03-20"),
        ("我报了名的比赛，快到3月20号了，有点紧张", "2024-03-20"),
        ("The race was coming up on March 20 when I broke my toe", "2023-03-20"),
        ("I got my degree on March 20", "2023-03-20"),
    ],
)
def test_what_is_coming_up_lies_ahead(text: str, since: str, prefer: str) -> None:
    assert day(text, datetime(2024, 3, 15, 9, tzinfo=UTC), prefer=prefer) == since


@pytest.mark.parametrize(
    "text", ["She’s got an exam on March 20", "I've got a lesson on March 20", "I have got one March 20"]
)
def test_what_somebody_has_got_is_no_past(text: str) -> None:
    assert day(text, datetime(2024, 3, 15, 9, tzinfo=UTC), prefer="future") == "2024-03-20"
