"""``ltm eval --quick``: twenty facts, a question about each, and a code that a script can go by."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ltm_core import quick
from ltm_core.cli import app
from ltm_core.embed.resolve import resolve_embedder
from ltm_core.quick import ENOUGH, Answer, Pair, ask, pairs

MUTE = resolve_embedder("none")


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["eval", "--quick", *arguments])


def test_ten_pairs_of_each_language_that_do_not_give_themselves_away() -> None:
    known = pairs()
    assert Counter(p.lang for p in known) == {"en": 10, "zh": 10}
    assert len({p.id for p in known}) == len({p.question for p in known}) == 20
    for pair in known:
        assert all(any(w in said for said in pair.said) for w in pair.words), pair.id
        assert not any(w in pair.question for w in pair.words), pair.id
        others = [s for p in known if p is not pair and p.lang == pair.lang for s in p.said]
        assert not any(w in said for w in pair.words for said in others), pair.id


def test_the_built_in_embedder_finds_enough() -> None:
    done = run("--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.output)
    assert told["asked"] == 20 and ENOUGH <= told["found"] == sum(a["found"] for a in told["answers"])


def test_words_alone_find_less() -> None:
    done = run("--embedder", "none", "--failures")
    assert done.output.count("NOT FOUND") >= 2 and "en-pet: " in done.output


def test_what_was_never_said_is_not_found() -> None:
    said = Pair(id="a", lang="en", said=("I live in Porto.",), question="Where do I live?", words=("Porto",))
    unsaid = Pair(id="b", lang="en", said=("It rains.",), question="Where do I live?", words=("Berlin",))
    found = list(ask([said, unsaid], embedder=MUTE))
    assert [a.found for a in found] == [True, False]
    assert "Porto" in found[0].context


@pytest.mark.parametrize(("found", "code"), [(20, 0), (ENOUGH, 0), (ENOUGH - 1, 1), (0, 1)])
def test_the_code_follows_the_count(found: int, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def answered(asked: Sequence[Pair], *, embedder: object) -> Iterator[Answer]:
        return (Answer(pair=p, found=n < found, context="") for n, p in enumerate(asked))

    monkeypatch.setattr(quick, "ask", answered)
    done = run("--embedder", "none")
    assert done.exit_code == code and f"{found} of 20 found" in done.output


def test_a_file_and_quick_are_one_too_many(tmp_path: Path) -> None:
    done = run(str(tmp_path))
    assert done.exit_code == 2 and "--quick" in done.output
