"""When and how often something is done is over with it, if it was told without words of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from ltm_core import Fact


@pytest.mark.parametrize(
    ("turns", "gone", "stays"),
    [
        (["I sing in the cathedral choir, every Thursday", "I've left the cathedral choir"], ["Thursday"], []),
        (["I play squash, twice a week", "I've stopped playing squash"], ["twice"], []),
        (["我在老年大学学国画，每周三下午上课", "国画不学了"], ["周三"], []),
        (["我每年都献血，早上一杯豆浆", "豆浆不喝了"], [], ["献血"]),
        # another thing at another time
        (["我周一跑步，周三游泳", "跑步不跑了"], [], ["游泳"]),
        (["I run on Mondays, every Friday I swim", "I've stopped running"], [], ["swim"]),
        # a new value leaves the time as it was
        (["My yoga is at the Hive, every Tuesday", "My yoga is at the Barn now"], [], ["Tuesday"]),
    ],
)
def test_when_it_was_done_is_over_with_it(
    current_after: Callable[[Sequence[str]], list[Fact]],
    turns: Sequence[str],
    gone: Sequence[str],
    stays: Sequence[str],
) -> None:
    told = " | ".join(f.text for f in current_after(turns))
    assert not [w for w in gone if w in told], told
    assert all(w in told for w in stays), told
