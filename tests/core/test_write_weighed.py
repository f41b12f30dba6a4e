"""Facts that no rule ends, and that a sentence ends when everything that speaks for and against it is weighed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from ltm_core.types import Fact
from ltm_core.write.endings.traits import TRAITS
from ltm_core.write.learned.weighing import MOST, load_weighing

CurrentAfter = Callable[[Sequence[str]], list[Fact]]


@pytest.mark.parametrize(
    ("turns", "gone"),
    [
        (
            ["I've got a part time gig walking greyhounds for the rescue", "not walking the greyhounds any more"],
            "gig",
        ),
        (["我们测试环境开着腾讯云的一台轻量服务器", "那台轻量我销毁了，不再续了"], "腾讯云"),
        (["我爸在乡里的粮站干了一辈子", "我爸看见了说不是粮站，是供销社，我小时候老搞混"], "在乡里的粮站"),
        (["家裡請了外籍看護照顧阿嬤", "看護合約到期回印尼了，沒有再請"], "外籍看護"),
    ],
)
def test_what_is_over_is_not_known_as_true(current_after: CurrentAfter, turns: list[str], gone: str) -> None:
    assert any(gone in f.text for f in current_after(turns[:1]))
    facts = current_after(turns)
    assert not any(gone in f.text and f.is_positive for f in facts), [f.text for f in facts]


@pytest.mark.parametrize(
    ("turns", "stays"),
    [
        (["我家老大穿三十三码的鞋", "老二现在得穿三十码了"], "三十三"),
        (["我们社团每周二活动", "公司例会挪到周五了"], "周二"),
        (["My gym costs 25 euros a month.", "The trainer at the gym charges 40 euros an hour now."], "25 euros"),
        (["We bank with Lloyds.", "My parents moved everything over to Nationwide."], "Lloyds"),
    ],
)
def test_what_is_told_of_another_ends_nothing(current_after: CurrentAfter, turns: list[str], stays: str) -> None:
    facts = current_after(turns)
    assert any(stays in f.text for f in facts), [f.text for f in facts]


def test_the_weights_are_of_these_traits() -> None:
    weighing = load_weighing()
    assert weighing.traits == TRAITS
    assert set(weighing.nets) == {"en", "zh"}
    assert 0.5 < weighing.thresholds["ends"] <= weighing.thresholds["too"] < 1


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_row_counts_for_itself_and_not_without_end(language: str) -> None:
    weighing = load_weighing()
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(5, len(TRAITS))).astype(np.float32)
    together = weighing.probabilities(rows, language)
    alone = [float(weighing.probabilities(rows[i : i + 1], language)[0]) for i in range(len(rows))]
    np.testing.assert_allclose(together, alone, rtol=1e-4)
    net = weighing.nets[language][0]
    far = net.mean + np.float32(MOST) / net.scale
    further = net.mean + np.float32(50 * MOST) / net.scale
    np.testing.assert_allclose(net.log_odds(far[None]), net.log_odds(further[None]), rtol=1e-3)
