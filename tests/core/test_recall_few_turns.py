"""What only a fact holds is found, however little the turns beside it say."""

from __future__ import annotations

from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.testing.embedders import HashEmbedder


@pytest.mark.parametrize("embedder", ["none", HashEmbedder()])
@pytest.mark.parametrize("turns", [(), ("Good weather today.",), ("Good weather today.", "I saw a heron.")])
def test_a_fact_is_found_beside_turns_about_other_things(
    tmp_path: Path, embedder: object, turns: tuple[str, ...]
) -> None:
    with LongTermMemory.open(tmp_path / "s", embedder=embedder, timezone="UTC") as memory:
        memory.assert_fact(
            "order:7", "status", "shipped", text="The quokka parcel was shipped", user_id="ana", source="t"
        )
        for text in turns:
            memory.observe(user_id="ana", session_id="s", user=text)
        found = memory.search("quokka parcel shipped", user_id="ana")
        assert [i.tier for i in found][:1] == ["semantic"] and found[0].score > 0
        assert "quokka" in memory.context("Where is the quokka parcel?", user_id="ana").text
