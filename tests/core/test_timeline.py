"""How what is known changed over time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ltm_core import LongTermMemory
from ltm_core.cli import app
from ltm_core.testing.clock import Clock

T0 = datetime(2026, 3, 2, 9, tzinfo=UTC)
EN = (
    (0, "I live in Lisbon."),
    (60, "I moved to Porto."),
    (120, "I love coffee."),
    (200, "I don't like coffee any more."),
)
ZH = ((0, "我住在上海。"), (60, "我搬到杭州了。"), (100, "我喜欢喝咖啡。"), (150, "我不喜欢喝咖啡了。"))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def memory(place: Path) -> Iterator[LongTermMemory]:
    with LongTermMemory.open(place, embedder="none", timezone="UTC", clock=Clock(T0 + timedelta(days=300))) as memory:
        for user, said in (("ana", EN), ("lin", ZH)):
            for day, text in said:
                memory.observe(user_id=user, session_id="s", user=text, at=T0 + timedelta(days=day))
        yield memory


def test_values_follow_each_other(memory: LongTermMemory) -> None:
    homes, likes = memory.timeline("ana")
    assert (homes.subject, homes.relation) == ("user", "lives_in") and homes.changed
    old, new = homes.spans
    assert (old.fact.object, old.state, old.since, old.until) == ("Lisbon", "replaced", T0, T0 + timedelta(days=60))
    assert (new.fact.object, new.state, new.until) == ("Porto", "holds", None)
    assert old.replaced_by == new.fact.id and old.replacement == new.fact and new.replaces == (old.fact.id,)
    assert [(s.fact.is_positive, s.fact.object) for s in likes.spans] == [(True, "coffee"), (False, "coffee")]


@pytest.mark.parametrize(
    ("user", "language", "lines"),
    [
        ("ana", "en", ["2026-03-02 to 2026-05-01  Lisbon  (replaced by Porto)", "since 2026-05-01  Porto"]),
        ("lin", "zh", ["2026-03-02 至 2026-05-01  上海  (被 杭州 取代)", "2026-05-01 起  杭州"]),
    ],
)
def test_it_is_told_in_both_languages(memory: LongTermMemory, user: str, language: str, lines: list[str]) -> None:
    (slot,) = memory.timeline(user, relation="lives_in")
    assert slot.text(language) == "\n  ".join(["user · lives_in", *lines])
    assert slot.text("fr") == slot.text("en")


def test_what_never_changed_is_shown_when_asked_for(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="s", user="I work at Siemens.", at=T0 + timedelta(days=210))
    assert [s.relation for s in memory.timeline("ana")] == ["lives_in", "likes"]
    assert [s.relation for s in memory.timeline("ana", changed_only=False)] == ["lives_in", "likes", "works_at"]
    assert list(memory.timeline("ana", subject="sister")) == [] and list(memory.timeline("nobody")) == []


def test_what_was_taken_back_says_so(memory: LongTermMemory) -> None:
    fact = next(f for f in memory.facts(user_id="ana") if f.object == "Porto")
    memory.suppress(fact.id, user_id="ana")
    assert [s.state for s in next(iter(memory.timeline("ana"))).spans] == ["replaced", "suppressed"]
    memory.unsuppress(fact.id, user_id="ana")
    memory.correct(fact_id=fact.id, right="I live in Braga.", user_id="ana")
    states = {s.fact.object: s.state for s in next(iter(memory.timeline("ana", relation="lives_in"))).spans}
    assert states["Porto"] == "retracted" and states["Braga"] == "holds"


def test_pages_hold_the_whole(memory: LongTermMemory) -> None:
    page = memory.timeline("ana", limit=1)
    assert len(page) == 1 and page.next_cursor == "1"
    assert list(page) == list(memory.timeline("ana"))
    assert memory.timeline("ana", limit=1, cursor="1").items == memory.timeline("ana").items[1:]


def test_the_command_shows_it(memory: LongTermMemory, place: Path) -> None:
    memory.close()
    run = CliRunner().invoke
    common = ["--store", str(place), "--embedder", "none", "--user"]
    assert "replaced by Porto" in run(app, ["timeline", *common, "ana"]).output
    assert "被 杭州 取代" in run(app, ["timeline", *common, "lin", "--language", "zh"]).output
    assert '"relation": "lives_in"' in run(app, ["timeline", *common, "ana", "--json"]).output
    assert "Nothing changed." in run(app, ["timeline", *common, "ana", "--subject", "sister"]).output
    assert run(app, ["timeline", *common, "ana", "--language", "fr"]).exit_code == 2
