"""References to earlier conversations: the name of the thing, and only what was said before."""

from __future__ import annotations

import operator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory, Message
from ltm_core.lexicon import default_lexicon
from ltm_core.write.analyse import analyse
from ltm_core.write.plan import Turn, Utterance

NOW = datetime(2025, 3, 4, tzinfo=UTC)
ANSWER = Turn(id="a", role="assistant", content="Sure.")


def named(words: str, *, said: bool | None = True, before: tuple[Turn, ...] = ()) -> list[str]:
    def said_earlier(text: str) -> bool:
        return bool(said)

    utterance = Utterance(
        message_id="m",
        role="user",
        content=words,
        at=NOW,
        before=before,
        said_earlier=None if said is None else said_earlier,
    )
    seen = analyse(utterance, lexicon=default_lexicon(), fact_threshold=0.6)
    return [a.text for a in seen.anchors if a.kind == "cross_session_reference"]


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("You told me last month lavender would cope with clay. Does rosemary?", "lavender"),
        ("The podcast you recommended the other day was superb", "podcast"),
        ("remember when you said to start with a spreadsheet?", "spreadsheet"),
        ("Picking up our conversation about the allotment, when do I dig?", "allotment"),
        ("We chose the title you came up with last time, Salt Road.", "Salt Road"),
        ("I talked to you on Tuesday about my parking fine", "parking fine"),
        ("Last time you explained compound interest to me, now what?", "compound interest"),
        ("that stretching routine again, the one from the other night", "stretching routine"),
        ("how long does the marinade you gave me last week keep?", "marinade"),
        ("As I was telling you before, the greenhouse. It leaks", "greenhouse"),
        ("update on the gutters, no more overflowing", "gutters"),
        ("Regarding the borehole I told you of in May, which pump?", "borehole"),
        ("the stage fright which I had discussed with you before is less now", "stage fright"),
        ("The mop bucket idea is genius", "mop bucket idea"),
        ("tried that vinegar soak of yours, spotless", "vinegar soak"),
        ("as we discussed before for the toast, make it shorter", "toast"),
        ("can we go on from where we stopped last session with fractions", "fractions"),
        ("Remember that fence business? He took it down!", "fence business"),
        ("back to the Keats essay, how do I end it", "Keats essay"),
        ("so the Argos interview came through", "Argos interview"),
        ("made your almond cake, it sold out", "almond cake"),
        ("can you pull up the cover letter again", "cover letter"),
        ("following on from the meal plan, what do I buy?", "meal plan"),
        ("printer again. it jams", "printer"),
        ("we painted Second Wind on her, the name you gave us", "Second Wind"),
        ("carry on with the quiz questions we were doing on Monday", "quiz questions"),
        ("之前你给我排的大理那条线，帮我再看看", "大理那条线"),
        ("上回咱们商量的砍掉一个章节，导师同意了", "砍掉一个章节"),
        ("前几天你起的“半山书屋”我去注册了", "半山书屋"),
        ("你教我的先抑后扬那一招，真管用", "先抑后扬那一招"),
        ("你上個月推薦的那把二胡買不到", "二胡"),
        ("上次跟你说的漏水那事儿不见好转", "漏水那事儿"),
        ("上次聊的那家理发馆搬了", "理发馆"),
        ("上周你写的那个备份脚本，跑到一半就停", "备份脚本"),
    ],
)
def test_the_thing_is_named(words: str, what: str) -> None:
    assert named(words) == [what]


@pytest.mark.parametrize(
    "words",
    [
        "what did you say last time?",
        "My colleague told me last week that lavender copes with clay",
        "My wife and I talked about the extension last night",
        "You said you can't open links",
        "I remember when we had a goat",
        "you said above that x is 3",
        "back to the office tomorrow",
        "still on the train",
        "your last answer was too long",
        "going back to school in September",
        "remember when phones had buttons",
        "你上次说了啥",
        "同事上次说的那家理发馆在哪",
        "老师上次讲的那道题我还不会",
        "昨天教练直接把我骂醒了",
        "从下周一起我的日报改成晚八点发",
        "你说的对",
        "你刚才说的第二点再讲讲",
        "那天帮我提醒一声",
    ],
)
def test_what_names_nothing_or_was_said_by_others_is_none(words: str) -> None:
    assert named(words) == []


def test_what_was_said_in_this_session_or_never_is_none() -> None:
    assert named("The recipe you gave me is too salty", before=(ANSWER,)) == []
    assert named("The recipe you gave me is too salty") == ["recipe"]
    assert named("The recipe you gave me last week is too salty", before=(ANSWER,)) == ["recipe"]
    assert named("The recipe you gave me last week is too salty", said=False) == ["recipe"]
    assert named("The recipe you gave me is too salty", said=False) == []
    assert named("昨天那个快递到了", said=False) == []
    assert named("昨天那个快递到了") == ["快递"]


def test_a_reference_states_nothing_of_itself(tmp_path: Path) -> None:
    with LongTermMemory.open(tmp_path / "m") as memory:
        said = [
            ("s1", "user", "Suggest a name for my bakery", NOW),
            ("s1", "assistant", "How about Salt Road?", NOW),
            ("s2", "user", "We finally took the name you suggested last time, Salt Road.", NOW + timedelta(days=4)),
        ]
        anchors = [
            memory.observe(
                user_id="u",
                session_id=s,
                messages=[Message(role=role, content=text, at=at)],  # type: ignore[arg-type]
            ).anchors
            for s, role, text, at in said
        ]
        (kept,) = [a for a in anchors[2] if a.kind != "confirmation"]
        assert kept.kind == "cross_session_reference" and "Salt Road" in kept.text


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("上次你推荐的那家面馆关门了", ["面馆"]),
        ("上次那家面馆关门了", []),
        ("You suggested a noodle bar last week, and it has shut", ["noodle bar"]),
        ("The noodle bar shut last week", []),
    ],
)
def test_in_a_first_session_only_what_the_assistant_is_told_that_it_said_is_one(
    tmp_path: Path, words: str, what: list[str]
) -> None:
    with LongTermMemory.open(tmp_path / "m") as memory:
        first = memory.observe(user_id="u", session_id="s1", messages=[Message(role="user", content=words, at=NOW)])
        texts = [a.text for a in first.anchors if a.kind == "cross_session_reference"]
        assert len(texts) == len(what) and all(map(operator.contains, texts, what))
