"""The benchmark's own parts: a published file read into one shape, and figures that merged hits cannot inflate."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.corpora import longmemeval
from benchmarks.metrics import recall_at
from benchmarks.recall import Table, held_share


def test_longmemeval_gives_each_question_its_own_sessions(tmp_path: Path) -> None:
    record = {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "Which tea do I drink?",
        "question_date": "2023/05/30 (Tue) 10:00",
        "haystack_session_ids": ["a", "b"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 11:00"],
        "haystack_sessions": [
            [{"role": "user", "content": "I like sencha."}, {"role": "assistant", "content": "Noted."}],
            [{"role": "user", "content": "It rains."}, {"role": "assistant", "content": ""}],
        ],
        "answer_session_ids": ["a"],
    }
    unanswerable = {**record, "question_id": "q2_abs"}
    file = tmp_path / "longmemeval_s.json"
    file.write_text(json.dumps([record, unanswerable]), encoding="utf-8")
    (one,) = longmemeval(file)
    assert [(t.id, t.session) for t in one.turns] == [("a:0:0", "a:0"), ("a:0:1", "a:0"), ("b:1:0", "b:1")]
    assert one.turns[0].at == datetime(2023, 5, 20, 2, 21, tzinfo=UTC)
    assert one.questions[0].gold == {"a:0"}
    assert one.now == datetime(2023, 5, 30, 10, tzinfo=UTC)


def test_a_message_counts_once_before_the_cut() -> None:
    assert recall_at(["a", "a", "a", "b"], frozenset({"b"}), 2) == 1.0
    assert recall_at(["a", "c", "b"], frozenset({"a", "b"}), 2) == 0.5


def test_each_category_has_an_interval() -> None:
    table = Table("t")
    for conversation in range(6):
        table.add("R@10", "one", str(conversation), 1.0)
        table.add("R@10", "two", str(conversation), float(conversation % 2))
    lines = list(table.lines())
    assert any(line.strip().startswith("one") and "[100.0, 100.0]" in line for line in lines)
    assert any(line.strip().startswith("two") and "  50.0 " in line and "n=6" in line for line in lines)


def test_a_text_is_readable_as_far_as_its_words_are_shown() -> None:
    assert held_share("blue kayak", Counter(["blue", "kayak"])) == 1.0
    assert held_share("blue kayak", Counter(["blue"])) == 0.5
    assert held_share("", Counter()) == 1.0
