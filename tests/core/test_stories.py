"""The scorer of stories and ``ltm eval``: what counts as right, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ltm_core.cli import app
from ltm_core.errors import InvalidInputError
from ltm_core.stories import Score, load, macro, score, score_all

AT = "2026-03-02T10:00:00+00:00"


def story(*said: str, **labels: Any) -> dict[str, Any]:
    turns = [
        {"session": "s1", "at": AT.replace("10:", f"{10 + i}:"), "role": "user", "text": t}
        for i, t in enumerate(said)
    ]
    return {"id": "s", "lang": "en", "kind": "move", "turns": turns, **labels}


def test_what_is_and_what_is_no_longer_true() -> None:
    made = score(
        story(
            "I live in Porto.",
            "I moved to Braga.",
            current=[{"subject": "user", "relation": "lives_in", "object_contains": ["Braga"]}],
            not_current=[{"object_contains": "Porto", "polarity": "positive"}],
            anchors=[{"turn": 1, "kind": "stated_fact", "contains": "Braga"}],
        )
    )
    assert (made.current, made.wanted, made.stale, made.denied, made.ended) == (1, 1, 0, 1, 0)
    assert (made.found, made.anchors, made.false, made.crashes) == (1, 1, 0, 0)
    assert made.failures == []


def test_an_empty_memory_scores_nothing_and_a_wrong_anchor_counts() -> None:
    missing = score(story("What is a fjord?", current=[{"object_contains": "fjord"}]))
    assert missing.recall == 0
    wrong = score(story("I live in Porto.", no_anchor_turns=[0], no_facts=True))
    assert wrong.anchor_precision == 0
    assert wrong.stale == 1
    assert all("s" in line for line in wrong.failures)


def test_a_fact_that_was_ended_without_cause_is_collateral() -> None:
    made = score(
        story("I live in Porto.", "I moved to Braga.", current=[{"relation": "lives_in", "object_contains": "Porto"}])
    )
    assert (made.current, made.ended) == (0, 1)


def test_kinds_count_once_each() -> None:
    scores = score_all([
        {**story("I live in Porto.", current=[{"object_contains": "Porto"}]), "kind": "plain"},
        story("Is it far?", current=[{"object_contains": "Porto"}]),
        story("Is it near?", current=[{"object_contains": "Porto"}]),
    ])  # fmt: skip
    assert macro(scores, "en")["recall"] == 0.5
    total = Score()
    for s in scores.values():
        total.add(s)
    assert (total.stories, total.wanted, total.current) == (3, 3, 1)


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"lang": "en", "kind": "x", "turns": []}', '{"turns": [{"at": "2026-01-01"}]}']
)
def test_a_line_that_is_no_story_is_named(line: str, tmp_path: Path) -> None:
    file = tmp_path / "stories.jsonl"
    file.write_text(json.dumps(story("Hi.")) + "\n" + line + "\n", encoding="utf-8")
    with pytest.raises(InvalidInputError, match="line 2"):
        list(load(file))


def test_eval_prints_a_row_per_kind_and_language(tmp_path: Path) -> None:
    file = tmp_path / "stories.jsonl"
    told = story("I live in Porto.", current=[{"object_contains": "Porto"}])
    file.write_text(json.dumps(told) + "\n", encoding="utf-8")
    shown = CliRunner().invoke(app, ["eval", str(file), "--embedder", "none"])
    assert shown.exit_code == 0, shown.output
    assert "move" in shown.output
    assert "en: mean over kinds: facts 1.000" in shown.output
    as_json = json.loads(CliRunner().invoke(app, ["eval", str(file), "--embedder", "none", "--json"]).stdout)
    assert as_json["kinds"][0] == as_json["kinds"][0] | {"language": "en", "kind": "move", "current": 1, "wanted": 1}
    assert as_json["languages"]["en"]["recall"] == 1
    absent = CliRunner().invoke(app, ["eval", str(tmp_path / "none.jsonl")])
    assert absent.exit_code == 2
