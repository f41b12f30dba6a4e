"""The lexicon's data is whole, and the words that expressions need are up to date."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

import pytest

from ltm_core.lexicon import default_lexicon
from ltm_core.write.analyse import analyse
from ltm_core.write.plan import Utterance
from ltm_core.write.words.expressions import Expression, Index, Lazy, compiled, digest, triggers
from ltm_core.write.words.load import expressions, named_expressions
from ltm_core.write.words.norm import normal

NOW = datetime(2026, 6, 17, tzinfo=UTC)


def test_every_expression_compiles_and_has_fresh_needed_words() -> None:
    sources, named = expressions(), named_expressions()
    for source in (*sources, *named):
        compiled(source)
    known = set(triggers())
    digests = {digest(s) for s in sources}
    assert known <= digests | {digest(s) for s in named}, "run scripts/build_triggers.py"
    assert len(known & digests) > 0.9 * len(digests), "run scripts/build_triggers.py"


SAID = [
    json.loads(line)
    for name in ("stories_lines_en_a", "stories_lines_zh_a")
    for line in (Path(__file__).parents[1] / "cases" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()[::12]
]


def test_what_lacks_the_needed_words_would_not_have_matched() -> None:
    said = [normal(turn["text"]) for story in SAID for turn in story["turns"]]
    for source in expressions():
        lazy = Lazy.of(source)
        possible, real = Index([lazy]), compiled(source)
        assert not [t for t in said if not possible.possible(t) and real.search(t)], source
    for source in named_expressions():
        named, real = Expression(source), compiled(source)
        assert not [t for t in said if not named.search(t) and real.search(t)], source


def test_every_pattern_speaks_of_a_relation_or_of_parts() -> None:
    lexicon = default_lexicon()
    composite = {
        "moved",
        "lived_in",
        "works_in",
        "job",
        "device",
        "favorite",
        "pet_name",
        "kin_name",
        "kin_studies_at",
        "person_role",
        "shift_job",
    }
    open_ended = {"current_location", "name", "status", "identifier", "knows"}
    for rules in lexicon.languages.values():
        for p in (*rules.patterns, *rules.frames, *rules.standing):
            listed = lexicon.relations.keys() | composite | open_ended
            assert p.relation in listed or f"{p.relation.split(':')[0]}:*" in listed, p.name


def test_traditional_characters_keep_their_places() -> None:
    words = "我們搬到臺灣了，這裡的飯很好吃"
    assert len(normal(words)) == len(words) and "我们搬到台湾了" in normal(words)


def test_gate_names_its_training_run() -> None:
    data = json.loads(files("ltm_core.lexicon").joinpath("write", "gate.json").read_text(encoding="utf-8"))
    assert default_lexicon().gate.version == data["version"]


HARD = {
    "base64": "QUJD" * 20_000,
    "table": "| a | I live in Oslo | c |\n" * 2000,
    "tags": "<a>" * 20_000,
    "newlines": "\n" * 50_000,
    "commas": "，" * 20_000,
    "quotes": '"' * 20_000,
    "one_word": "我" * 30_000,
    "clauses": "and I " * 4000,
}


@pytest.mark.parametrize("name", HARD)
def test_time_is_linear(name: str) -> None:
    def seconds(text: str) -> float:
        began = time.process_time()
        analyse(
            Utterance(message_id="m", role="user", content=text, at=NOW),
            lexicon=default_lexicon(),
            fact_threshold=0.6,
        )
        return time.process_time() - began

    text = HARD[name]
    seconds("I live in Oslo.")
    half, whole = seconds(text[: len(text) // 2]), seconds(text)
    assert whole < 4 * half + 0.2
