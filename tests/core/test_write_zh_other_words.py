"""Chinese that ends or changes something under another word than it was told by: "那台车", "培训课", "骑手那份活儿".

Each turn is a session of its own, ten days after the one before.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.embed.base import Embedder
from ltm_core.types import Fact

BEGIN = datetime(2025, 3, 3, 2, tzinfo=UTC)


def told(tmp_path: Path, encoder: Embedder, turns: Sequence[str]) -> list[Fact]:
    """What is current and positive after the turns."""
    with LongTermMemory.open(tmp_path / "store", embedder=encoder, timezone="Asia/Shanghai") as memory:
        for n, words in enumerate(turns):
            at = BEGIN + timedelta(days=10 * n)
            memory.observe(user_id="u", session_id=f"s{n}", user=words, at=at)
        return [f for f in memory.facts(user_id="u") if f.is_positive]


def holds(facts: Sequence[Fact], words: str) -> bool:
    return any(words in f"{f.object} {f.text}" for f in facts)


@pytest.mark.parametrize(
    ("was", "now", "over"),
    [
        ("我有台铃木摩托", "那台车转给老乡了", "铃木"),
        ("我在学而思上奥数班", "补习课全部结束了", "奥数"),
        ("我在饿了么送外卖", "骑手那份工作我已经辞了", "饿了么"),
        ("我妈的糖尿病一直找罗主任看", "给我妈换了个大夫", "罗主任"),
        ("我家老大穿三十三码的鞋", "老大现在得穿三十五码了", "三十三"),
        ("我开一辆红色的飞度", "现在开的是问界M5", "飞度"),
        ("我在电子厂做质检", "那份活儿我不干了", "质检"),
    ],
)
def test_what_is_named_by_another_word_is_over(
    tmp_path: Path, encoder: Embedder, was: str, now: str, over: str
) -> None:
    assert holds(told(tmp_path / "before", encoder, [was]), over)
    facts = told(tmp_path, encoder, [was, now])
    assert not holds(facts, over), facts


@pytest.mark.parametrize(
    ("was", "now", "kept"),
    [
        ("我有台铃木摩托", "我弟那台车转给老乡了", "铃木"),
        ("我在学而思上奥数班", "补习课还没结束", "奥数"),
        ("我在饿了么送外卖", "我同学骑手那份工作辞了", "饿了么"),
        ("我家老大穿三十三码的鞋", "老二现在得穿三十码了", "三十三"),
        ("我在电子厂做质检", "那份活儿我还没辞", "质检"),
        ("我在电子厂做质检", "周末端盘子那份兼职我不干了", "质检"),
    ],
)
def test_what_is_another_thing_goes_on(tmp_path: Path, encoder: Embedder, was: str, now: str, kept: str) -> None:
    facts = told(tmp_path, encoder, [was, now])
    assert holds(facts, kept), facts
