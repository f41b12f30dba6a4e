"""How the user and the assistant are to be called, and how the assistant is to speak from now on, in Chinese."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from ltm_core import LongTermMemory, Message

NOW = datetime(2025, 3, 4, tzinfo=UTC)


def told(path: Path, *turns: str) -> tuple[list[str], list[str]]:
    """What is known in the end, and the anchors of the last turn."""
    with LongTermMemory.open(path / "m") as memory:
        for turn in turns:
            seen = memory.observe(user_id="u", session_id="s", messages=[Message(role="user", content=turn, at=NOW)])
        facts = [f"{f.subject}|{f.relation}|{f.object}|{f.text}" for f in memory.facts(user_id="u")]
    return facts, [f"{a.kind}|{a.text}" for a in seen.anchors]


@pytest.mark.parametrize(
    ("words", "known"),
    [
        ("改口叫我秦工吧。", "calls_user|秦工"),
        ("从今往后管我叫大柱就行。", "calls_user|大柱"),
        ("不过熟人都喊我小土豆，你也这么喊吧。", "calls_user|小土豆"),
        ("大伙儿都喊我胖哥。", "nickname|胖哥"),
        ("你以后的名字就是丸子了。", "assistant|name|丸子"),
        ("你的新名字：墨墨。", "assistant|name|墨墨"),
        ("以后就喊你小七。", "assistant|name|小七"),
        ("从今往后你自称“在下”。", "assistant|name|在下"),
        ("打今天开始，别在回答里加颜文字。", "别在回答里加颜文字"),
        ("自今天起，不准在回复里用感叹号。", "感叹号"),
        ("请你始终用繁体字回我。", "繁体字"),
        ("给我的回答都要带上出处。", "出处"),
        ("不许用网络流行语跟我聊天。", "网络流行语"),
        ("不要总给我列一二三。", "列一二三"),
        ("打这儿起，你回答我都控制在两句话以内。", "两句话"),
        ("从这一刻起，你只能用德语回我。", "德语"),
        ("打今天起，别说脏话。", "别说脏话"),
        ("你以后用东北话跟我唠嗑嘛。", "东北话"),
        ("往后给我讲历史，要像讲故事那样讲。", "像讲故事那样"),
        ("往后说话别那么客气，随意点。", "随意点"),
        ("每次回复结尾都给我加一句打气的话。", "打气"),
        ("解释概念的时候请一律举例子。", "举例子"),
        ("给你起了个外号，叫饭团子。", "assistant|name|饭团子"),
        ("你的代号改成零零七吧。", "assistant|name|零零七"),
    ],
)
def test_names_and_manners(tmp_path: Path, words: str, known: str) -> None:
    facts, anchors = told(tmp_path, words)
    assert any(known in f for f in facts), facts
    assert anchors


def test_another_name_takes_the_place_of_the_first(tmp_path: Path) -> None:
    facts, _ = told(tmp_path, "叫我队长好了。", "不当队长了，改口叫我秦工吧。")
    assert any("秦工" in f for f in facts)
    assert not any("叫我队长" in f for f in facts)


def test_what_is_quoted_keeps_its_marks(tmp_path: Path) -> None:
    _, anchors = told(tmp_path, "今后跟我说话请用“您”。")
    assert "stated_fact|今后跟我说话请用“您”" in anchors


def test_the_reason_is_no_name(tmp_path: Path) -> None:
    facts, _ = told(tmp_path, "往后别再称呼我先生，我是女的。")
    assert not any("called|女" in f for f in facts), facts


@pytest.mark.parametrize(
    "words",
    [
        "打今天开始。",
        "别在汤里加葱。",
        "把这段改短，不要用成语。",
        "他们都喊我去吃饭。",
        "有人喊我一声。",
        "打这儿起，我再也不抽烟了。",
        "从这一刻起，她就是大学生了。",
        "以后你说的话，我都听。",
        "帮我写一段话，轻松一点。",
    ],
)
def test_no_standing_order(tmp_path: Path, words: str) -> None:
    facts, _ = told(tmp_path, words)
    assert not any(f.startswith("assistant|") or "nickname" in f for f in facts), facts
