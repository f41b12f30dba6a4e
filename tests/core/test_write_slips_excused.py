"""A slip put right beside its excuse, by what else the wrong value is of, or by how a character is written; and the
name one wants to be called by, beside words that speak of one's name."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.embed.base import Embedder
from ltm_core.types import Message


def known(turns: list[str], encoder: Embedder, tmp_path: Path) -> str:
    """All that is known to hold after the turns."""
    clock = [datetime(2025, 3, 3, 9, tzinfo=UTC)]
    with LongTermMemory.open(tmp_path, clock=lambda: clock[0], embedder=encoder, timezone="UTC") as memory:
        for turn in turns:
            clock[0] += timedelta(minutes=3)
            memory.observe(user_id="u", session_id="s", messages=[Message(role="user", content=turn, at=clock[0])])
        facts = memory.facts(user_id="u")
    return " / ".join(f.text for f in facts if f.is_positive)


@pytest.mark.parametrize(
    ("turns", "right", "wrong"),
    [
        (["My flight is at 7:15.", "Brain fog. 17:15."], "17:15", "at 7:15"),
        (["My locker number is 43.", "Slip of the thumb, 34."], "34", "43"),
        (["Our daughter's school is Hillcrest.", "Silly me, it's Hillside."], "Hillside", "Hillcrest"),
        (["We've got 70 ewes.", "Finger slipped on the seven. 17 ewes."], "17", "70"),
        (["My eye test is at half past four.", "Read the letter again. It's ten past three."], "ten past three",
         "half past four"),
        (["我老婆叫陈晓雯，做会计的", "字打错了，是陈晓文，文章的文"], "陈晓文", "晓雯"),
        (["我回老家坐的是K1387", "说串了，那是我姐坐的，我坐的是K1873"], "K1873", "K1387"),
        (["我们学校下午第一节课是2:40", "错了，2:40是午休起床，第一节是2:10"], "2:10", "2:40"),
        (["我的高铁是早上6:20", "看错行了，应该是16:20，下午的"], "下午16:20", "早上6:20"),
        (["我车牌尾号是3", "等下，尾号3是旧车的，我这辆尾号是9"], "9", "是3"),
        (["我上班坐地铁，单程50分钟", "手滑，单程15分钟，哪有那么久"], "15分钟", "50"),
        (["我每天吃5毫克叶酸", "看了眼药盒，是0.4毫克，刚才看走眼了"], "0.4毫克", "5毫克叶酸 "),
    ],
)  # fmt: skip
def test_a_slip_with_its_excuse(turns: list[str], right: str, wrong: str, encoder: Embedder, tmp_path: Path) -> None:
    now = known(turns, encoder, tmp_path)
    assert right in now
    assert wrong not in now


@pytest.mark.parametrize(
    ("turns", "still"),
    [
        (["I have two cats.", "Brain fog at work today, I forgot the meeting at 3."], "two cats"),
        (["My locker number is 43.", "Spellcheck is useless today."], "43"),
        (["我车牌尾号是3", "等下，隔壁小王是开网约车的"], "3"),
        (["我住6号楼", "等一下，3号楼是幼儿园"], "6号楼"),
    ],
)
def test_other_words_put_nothing_right(turns: list[str], still: str, encoder: Embedder, tmp_path: Path) -> None:
    assert still in known(turns, encoder, tmp_path)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("Don't call me Mrs Lowe please, it makes me feel ancient. Kit will do.", "Kit"),
        ("At the clinic I'm Dr Okafor, here just say Ada.", "Ada"),
        ("My name's Philippa but please use Pippa.", "Pippa"),
        ("Skip the Professor, would you? Just Ingrid.", "Ingrid"),
        ("It's Caoimhe, but you can shorten it to Kee.", "Kee"),
        ("My full name's Konstantinos, Kostas is fine.", "Kostas"),
    ],
)
def test_the_name_that_is_wanted(words: str, name: str, encoder: Embedder, tmp_path: Path) -> None:
    clock = datetime(2025, 3, 3, 9, tzinfo=UTC)
    with LongTermMemory.open(tmp_path, clock=lambda: clock, embedder=encoder, timezone="UTC") as memory:
        memory.observe(user_id="u", session_id="s", messages=[Message(role="user", content=words, at=clock)])
        called = [f.object for f in memory.facts(user_id="u") if f.relation == "calls_user" and f.is_positive]
    assert called == [name]


@pytest.mark.parametrize(
    "words",
    [
        "It's Excel, but you can use Word.",
        "My name is Paul. Just Python please.",
        "My sister's name is Anne. Monday will do.",
        "The course starts on Friday. Tuesday works for me.",
        "My name's Ann. Paris is perfect in spring.",
    ],
)
def test_no_name_is_wanted(words: str, encoder: Embedder, tmp_path: Path) -> None:
    clock = datetime(2025, 3, 3, 9, tzinfo=UTC)
    with LongTermMemory.open(tmp_path, clock=lambda: clock, embedder=encoder, timezone="UTC") as memory:
        memory.observe(user_id="u", session_id="s", messages=[Message(role="user", content=words, at=clock)])
        assert not [f for f in memory.facts(user_id="u") if f.relation == "calls_user"]
