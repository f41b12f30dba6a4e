"""What recall works out of a turn lives as long as the turn and is the same as worked out anew."""

from __future__ import annotations

import gc
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from ltm_core.recall import derived as module
from ltm_core.recall.dates import shown_dates, with_dates
from ltm_core.recall.derived import derived
from ltm_core.testing.builders import message
from ltm_core.text.terms import terms

SAID = datetime(2025, 3, 5, 23, 30, tzinfo=UTC)


def test_it_is_worked_out_once_per_turn() -> None:
    row, twin = message("m1", "Yesterday I sold the oboe."), message("m1", "Yesterday I sold the oboe.")
    assert derived(row) is derived(row)
    assert derived(row) is not derived(twin)
    assert derived(row).terms == frozenset(terms(row.content))


def test_dates_are_those_of_the_day_in_the_speakers_zone() -> None:
    own = derived(message("m1", "昨天我卖掉了双簧管。"))
    there = SAID.astimezone(ZoneInfo("Asia/Shanghai"))
    assert [shown for _, shown in own.dates(SAID, "zh")] == [" [2025-03-04]"]
    assert [shown for _, shown in own.dates(there, "zh")] == [" [2025-03-05]"]
    assert own.dates(SAID, "zh") == shown_dates(own.content, SAID, "zh")


def test_a_focus_moves_with_the_dates_before_it() -> None:
    text = "Yesterday I sold the oboe and last week the horn."
    start = text.index("the oboe")
    shown, (a, b) = with_dates(text, shown_dates(text, SAID, "en"), focus=(start, start + len("the oboe")))
    assert shown.startswith("Yesterday [2025-03-04] I sold")
    assert shown[a:b] == "the oboe"


def test_nothing_stays_of_a_turn_that_nobody_holds() -> None:
    gc.collect()  # what earlier tests held is gone before it is counted
    before = len(module._known)
    row = message("m1", "Yesterday I sold the oboe.")
    assert derived(row).terms
    assert len(module._known) == before + 1
    del row
    gc.collect()
    assert len(module._known) == before
