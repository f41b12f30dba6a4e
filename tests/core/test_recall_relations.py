"""What a question asks for is named as the write path names it."""

from __future__ import annotations

import tomllib
from importlib.resources import files

import pytest

from ltm_core.recall.cues import relation_cues

KNOWN = tomllib.loads((files("ltm_core.lexicon") / "write" / "relations.toml").read_text("utf-8"))["relation"]
ELSEWHERE = {"contact"}
"""Open vocabulary that deployments use often."""


@pytest.mark.parametrize("language", ["en", "zh", "ja"])
def test_every_relation_of_a_question_is_one_the_write_path_knows(language: str) -> None:
    asked = {name for names, _ in relation_cues(language) for name in names}
    assert len(asked) > 40
    assert asked - KNOWN.keys() - ELSEWHERE == set()
