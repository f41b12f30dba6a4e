"""Expressions and their ranges, worked out by hand; and texts that only look like times."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from ltm_core.when import find_times

NOW = datetime(2026, 6, 17, 10, 30, tzinfo=ZoneInfo("Asia/Shanghai"))
TABLES = Path(__file__).parent / "when_tables"


def rows(name: str) -> list[str]:
    lines = (TABLES / f"{name}.txt").read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize("row", [*rows("zh"), *rows("en"), *rows("ja")])
def test_expression_has_its_range(row: str) -> None:
    text, words, since, until, precision = (cell.strip() for cell in row.split("|"))
    found = find_times(text, now=NOW)
    assert [m.text for m in found] == [words]
    zone = NOW.tzinfo
    assert found[0].since == datetime.fromisoformat(since).replace(tzinfo=zone)
    assert found[0].until == datetime.fromisoformat(until).replace(tzinfo=zone)
    assert found[0].precision == precision


@pytest.mark.parametrize("text", rows("none"))
def test_look_alike_is_no_time(text: str) -> None:
    assert find_times(text, now=NOW) == ()


def test_tables_are_as_long_as_they_claim() -> None:
    assert len(rows("zh")) >= 80
    assert len(rows("en")) >= 80
    assert len(rows("ja")) >= 25


@pytest.mark.parametrize(
    ("words", "other"),
    [
        ("上个月", "上個月"),
        ("上周三", "上週三"),
        ("两个小时后", "兩個小時後"),
        ("圣诞节", "聖誕節"),
        ("这周末", "這週末"),
        ("2024年3月5日", "２０２４年３月５日"),
        ("3:30pm", "３：３０ｐｍ"),
        ("3月15日", "三月十五日"),
    ],
)
def test_another_writing_means_the_same(words: str, other: str) -> None:
    one, two = find_times(words, now=NOW), find_times(other, now=NOW)
    assert len(one) == len(two) == 1
    assert (one[0].since, one[0].until) == (two[0].since, two[0].until)
