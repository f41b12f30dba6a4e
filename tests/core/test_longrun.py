"""Seven hundred nights in small: what matters stays, the rest goes, and the store stops growing."""

from __future__ import annotations

from pathlib import Path

from benchmarks.longrun import FOR_GOOD, simulate


def test_penicillin_is_there_after_seven_hundred_nights(tmp_path: Path) -> None:
    rows = list(
        simulate(
            tmp_path / "s",
            days=700,
            turns=1,
            talk_every=3,
            asks=0,
            embedder="none",
            forgetting=("decay", "capacity"),
        )
    )
    last = rows[-1]
    assert last["day"] == 700
    assert not [t.answer for t in FOR_GOOD if t.text in last["missing"]]
    # 466 turns of small talk were said; what fades in four months is gone.
    assert last["turns"] < 250 and last["turns"] - rows[len(rows) // 2]["turns"] < 60
