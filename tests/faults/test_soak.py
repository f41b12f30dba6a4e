"""Load from many processes and threads at once, for seconds here and for minutes by ``make soak``."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ltm_core.config import Config
from ltm_core.testing.soak import SoakReport, soak

BOUND = Config.make().busy_timeout_seconds


def told(report: SoakReport) -> None:
    print(report)
    assert report.calls["observe"] and report.calls["recall"] and report.calls["erase"]
    # Nobody waited longer than the product promises to wait for a lock.
    assert max(report.slowest.values()) < BOUND


@pytest.mark.slow
def test_ten_seconds_of_load(tmp_path: Path) -> None:
    told(soak(tmp_path / "data", seconds=6))


@pytest.mark.faults
@pytest.mark.timeout(7200)
def test_minutes_of_load(tmp_path: Path) -> None:
    told(soak(tmp_path / "data", seconds=float(os.environ.get("LTM_SOAK_SECONDS", "180"))))
