"""Where the learned gate is known to err: what should be kept and is not, or the other way round."""

from __future__ import annotations

from pathlib import Path

import pytest

from ltm_core import LongTermMemory


def known(tmp_path: Path, words: str) -> list[str]:
    """What is kept of one message."""
    with LongTermMemory.open(tmp_path / "s", timezone="UTC") as memory:
        memory.observe(user_id="u", session_id="a", user=words)
        return [f.text for f in memory.facts(user_id="u")]


@pytest.mark.parametrize("words", ["The cinema shows old films."])
@pytest.mark.xfail(reason="the learned gate takes it for lasting", strict=False)
def test_what_goes_on_elsewhere_or_today_is_no_fact(tmp_path: Path, words: str) -> None:
    assert not known(tmp_path, words)


def test_visitors_of_today_are_no_fact(tmp_path: Path) -> None:
    assert not known(tmp_path, "家里来客人了")


@pytest.mark.parametrize(
    ("words", "kept"), [("团队在三个时区，会只能早上开", "时区"), ("家里楼梯窄，大件上不来", "楼梯")]
)
@pytest.mark.xfail(reason="the learned gate takes it for trouble of today", strict=False)
def test_what_is_always_in_the_way_is_a_fact(tmp_path: Path, words: str, kept: str) -> None:
    assert any(kept in text for text in known(tmp_path, words))
