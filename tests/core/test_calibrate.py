"""The floor on similarity: what pairs call for, where it is kept, what the command says."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from ltm_core import InvalidInputError, LongTermMemory, UnavailableError
from ltm_core.cli import app
from ltm_core.recall.calibration import Rule, Scored, calibrate, rule_of
from ltm_core.recall.data import Floor, floor
from ltm_core.recall.pairs import Pair, json_rows, pairs_of
from ltm_core.testing.embedders import HashEmbedder

ROOT = Path(__file__).parents[2]
PRESENT = Floor(similarity=0.6, coverage=0.45, mixed_similarity=0.3, mixed_coverage=0.28)
PAIRS = [
    {"query": "Where do I live?", "text": "I live in Lisbon now.", "label": 1},
    {"query": "Where do I live?", "text": "The tram was late.", "label": 0},
    {"query": "我住在哪里？", "text": "我住在里斯本。", "relevant": True},
    {"query": "我住在哪里？", "text": "电车晚点了。", "relevant": False},
]


def seen(related: list[float], unrelated: list[float], coverage: float = 0.0) -> Scored:
    cosine = np.array([*related, *unrelated], dtype=np.float32)
    labels = np.array([True] * len(related) + [False] * len(unrelated))
    return Scored(cosine=cosine, coverage=np.full(len(cosine), coverage, dtype=np.float32), relevant=labels)


def picked(scored: Scored, rule: Rule) -> float:
    return calibrate(scored, present=PRESENT, rule=rule, embedder="e")[1].similarity


def test_each_rule_picks_its_threshold() -> None:
    pairs = seen([0.9, 0.8, 0.7, 0.3], [0.75, 0.2, 0.1, 0.0])
    assert picked(pairs, rule_of(max_false_positives=0.0)) == pytest.approx(0.775)
    assert picked(pairs, rule_of(max_false_positives=0.25)) == pytest.approx(0.25)
    assert picked(pairs, rule_of(min_precision=0.8)) == pytest.approx(0.25)
    assert picked(pairs, rule_of(min_precision=0.9)) == pytest.approx(0.775)
    assert picked(pairs, rule_of(beta=1.0)) == pytest.approx(0.25)
    assert picked(pairs, rule_of(beta=0.1)) == pytest.approx(0.775)


def test_the_default_rule_lets_no_unrelated_pair_of_a_few_pass() -> None:
    assert picked(seen([0.9, 0.5], [0.6, 0.2]), rule_of()) == pytest.approx(0.75)


def test_the_account_names_precision_and_recall_at_the_floor() -> None:
    _, account = calibrate(
        seen([0.9, 0.8, 0.2], [0.3, 0.1]), present=PRESENT, rule=rule_of(max_false_positives=0), embedder="e"
    )
    row = next(r for r in account.thresholds if r.threshold == account.similarity)
    assert (row.precision, row.false_positives, row.passed) == (1.0, 0.0, 2)
    assert row.recall == pytest.approx(2 / 3)
    assert [r.threshold for r in account.thresholds] == sorted({r.threshold for r in account.thresholds})
    assert (account.pairs, account.related) == (5, 3)


def test_pairs_that_share_words_have_a_threshold_of_their_own() -> None:
    apart = seen([0.8] * 12, [0.1] * 12)
    shared = seen([0.4] * 12, [0.2] * 12, coverage=0.3)
    both = Scored(
        cosine=np.concatenate([apart.cosine, shared.cosine]),
        coverage=np.concatenate([apart.coverage, shared.coverage]),
        relevant=np.concatenate([apart.relevant, shared.relevant]),
    )
    chosen, _ = calibrate(both, present=PRESENT, rule=rule_of(max_false_positives=0), embedder="e")
    assert chosen.similarity == pytest.approx(0.3) and chosen.mixed_similarity == pytest.approx(0.3)
    assert (chosen.coverage, chosen.mixed_coverage) == (PRESENT.coverage, PRESENT.mixed_coverage)
    few, _ = calibrate(apart, present=PRESENT, rule=rule_of(max_false_positives=0), embedder="e")
    assert few.mixed_similarity == pytest.approx(few.similarity / 2, abs=0.001)


def test_pairs_that_do_not_separate_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="do not separate"):
        picked(seen([0.1, 0.2], [0.9, 0.8]), rule_of())


@given(
    st.lists(st.floats(0, 1, width=32), min_size=1, max_size=30),
    st.lists(st.floats(0, 1, width=32), min_size=1, max_size=30),
    st.floats(0, 1),
)
@settings(deadline=None)
def test_the_bound_holds_at_the_picked_threshold(related: list[float], unrelated: list[float], most: float) -> None:
    pairs = seen(related, unrelated)
    try:
        threshold = picked(pairs, rule_of(max_false_positives=most))
    except InvalidInputError:
        # Only when even the best related pair cannot pass without too many unrelated ones, to the third decimal.
        best = np.float32(max(related) - 0.001)
        assert (np.array(unrelated, dtype=np.float32) >= best).sum() > most * len(unrelated)
        return
    passing = np.array(unrelated, dtype=np.float32) >= np.float32(threshold)
    assert passing.sum() <= most * len(unrelated)
    assert (np.array(related, dtype=np.float32) >= np.float32(threshold)).any()


def test_bad_rows_are_named_by_line_and_nothing_is_taken() -> None:
    rows = json_rows(
        [
            '{"query": "a", "text": "b", "label": 1}',
            "not json",
            "",
            '{"query": " ", "text": "b", "label": 1}',
            '{"query": "a", "text": "b"}',
            '{"query": "a", "text": "c", "label": 0.5}',
            '{"query": "a", "text": "b", "label": 0}',
            "[1]",
        ]
    )
    with pytest.raises(InvalidInputError) as caught:
        pairs_of(rows, cross=False)
    message = str(caught.value)
    assert message.startswith("6 rows")
    for part in ("line 2: not a", "line 4: query", "line 5: neither", "line 6: label", "line 7: the pair of line 1"):
        assert part in message


def test_labels_may_be_words_and_both_names_must_agree() -> None:
    rows = [{"query": "a", "text": "b", "label": "Yes"}, {"query": "a", "text": "c", "relevant": "irrelevant"}]
    assert [p.relevant for p in pairs_of(enumerate(rows), cross=False)] == [True, False]
    with pytest.raises(InvalidInputError, match="differ"):
        pairs_of([(1, {"query": "a", "text": "b", "label": 1, "relevant": 0})], cross=False)


def test_cross_makes_unrelated_pairs_of_other_questions() -> None:
    rows = [(1, {"query": "a", "text": "x", "label": 1}), (2, {"query": "b", "text": "y", "label": 1})]
    with pytest.raises(InvalidInputError, match="none of them unrelated"):
        pairs_of(rows, cross=False)
    assert set(pairs_of(rows, cross=True)) == {
        Pair(query="a", text="x", relevant=True),
        Pair(query="b", text="y", relevant=True),
        Pair(query="a", text="y", relevant=False),
        Pair(query="b", text="x", relevant=False),
    }


@pytest.mark.parametrize("options", [{"beta": 0}, {"beta": 11}, {"min_precision": 2}, {"max_false_positives": -1}])
def test_a_rule_outside_its_range_is_refused(options: dict[str, float]) -> None:
    with pytest.raises(InvalidInputError):
        rule_of(**options)


def test_one_rule_only() -> None:
    with pytest.raises(InvalidInputError, match="give one"):
        rule_of(beta=1, min_precision=0.9)


def opened(place: Path | str, **options: Any) -> LongTermMemory:
    return LongTermMemory.open(place, embedder=HashEmbedder(), timezone="UTC", **options)


def test_a_written_floor_holds_here_and_at_the_next_open(tmp_path: Path) -> None:
    with opened(tmp_path / "m") as memory, opened(tmp_path / "m") as other:
        before = memory._runtime.floor
        dry = memory.calibrate(PAIRS, dry_run=True)
        assert not dry.written and memory._runtime.floor == before == floor("hash/1")
        found = memory.calibrate(PAIRS)
        assert found.written and found.similarity == dry.similarity
        assert memory._runtime.floor is not None and memory._runtime.floor.similarity == found.similarity
        assert other._runtime.floor == before
    with opened(tmp_path / "m") as again:
        assert again._runtime.floor is not None and again._runtime.floor.similarity == found.similarity
    with LongTermMemory.open(tmp_path / "m", embedder="none", timezone="UTC") as keywords:
        assert keywords._runtime.floor == floor("none")


def test_recall_uses_the_calibrated_floor(tmp_path: Path) -> None:
    def pairs(related: str, unrelated: str) -> list[dict[str, Any]]:
        rows = ((related, True), (unrelated, False))
        return [{"query": "overgeneralization", "text": t, "label": r} for t, r in rows]

    with opened(tmp_path / "m") as memory:
        # The same letters in another word: near for this embedder, and no shared term.
        memory.observe(user_id="ana", session_id="s", user="Generalizability.")
        memory.calibrate(pairs("overgeneralization", "generalizability"))
        assert not memory.search("overgeneralization", user_id="ana")
        memory.calibrate(pairs("generalizability", "lunch was fine"))
        found = memory.search("overgeneralization", user_id="ana")
        assert [i.text for i in found] == ["Generalizability."]
        least = found[0].similarity
        assert least is not None and memory._runtime.floor is not None
        assert least >= memory._runtime.floor.similarity


def test_without_an_embedder_there_is_nothing_to_calibrate() -> None:
    with (
        LongTermMemory.open(":memory:", embedder="none", timezone="UTC") as memory,
        pytest.raises(InvalidInputError, match="no embedder"),
    ):
        memory.calibrate(PAIRS)


def test_a_read_only_store_is_calibrated_dry(tmp_path: Path) -> None:
    opened(tmp_path / "m").close()
    with opened(tmp_path / "m", read_only=True) as memory:
        assert not memory.calibrate(PAIRS, dry_run=True).written
        with pytest.raises(UnavailableError):
            memory.calibrate(PAIRS)


def test_the_packaged_floor_is_what_the_command_gives_on_the_packaged_pairs() -> None:
    found = runpy.run_path(str(ROOT / "scripts/calibrate_floors.py"))["calibration"]()
    packaged = floor("use-multilingual-v3/0.2.1")
    assert (found.similarity, found.mixed_similarity) == pytest.approx(
        (packaged.similarity, packaged.mixed_similarity), abs=0.002
    )
    assert (found.related, found.pairs) == (128, 4096)


# the command ------------------------------------------------------------------------------------------
@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LTM_STORE", str(tmp_path / "store"))
    monkeypatch.delenv("LTM_EMBEDDER", raising=False)
    monkeypatch.delenv("LTM_CONFIG", raising=False)
    path = tmp_path / "pairs.jsonl"
    path.write_text("\n".join(json.dumps(p, ensure_ascii=False) for p in PAIRS), encoding="utf-8")
    return path


def test_the_command_prints_and_writes(file: Path, tmp_path: Path) -> None:
    dry = CliRunner().invoke(app, ["calibrate", str(file), "--dry-run"])
    assert dry.exit_code == 0 and "<- floor" in dry.output and "Nothing was written" in dry.output
    assert not (tmp_path / "store").exists()
    refused = CliRunner().invoke(app, ["calibrate", str(file)])
    assert refused.exit_code == 3 and "holds no store" in refused.output
    LongTermMemory.open(tmp_path / "store", timezone="UTC").close()
    done = CliRunner().invoke(app, ["calibrate", str(file), "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["written"] and found["embedder"].startswith("use-multilingual-v3")
    with LongTermMemory.open(tmp_path / "store", timezone="UTC") as memory:
        assert memory._runtime.floor is not None and memory._runtime.floor.similarity == found["similarity"]


def test_the_command_names_bad_lines(file: Path) -> None:
    file.write_text(file.read_text(encoding="utf-8") + '\n{"query": "x"}\n', encoding="utf-8")
    done = CliRunner().invoke(app, ["calibrate", str(file), "--dry-run"])
    assert done.exit_code == 2 and "line 5: text is missing" in done.output
    missing = CliRunner().invoke(app, ["calibrate", str(file) + ".not", "--dry-run"])
    assert missing.exit_code == 2 and "cannot be read" in missing.output
