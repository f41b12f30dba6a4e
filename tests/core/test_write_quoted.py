"""Another's words in the first person, and the lives of people of whom nothing is known, are no facts of the user."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.embed.base import Embedder
from ltm_core.types import Message

CASES = Path(__file__).parents[1] / "cases"
MOST = {"third_party": 0.18, "quotation": 0.08, "temporary": 0.24}
"""Share of the messages of each kind of which anything may be kept: what was reached when it was last raised."""
AT = datetime(2026, 3, 2, 9, tzinfo=UTC)


def told(tmp_path: Path, encoder: Embedder, turns: list[str]) -> list[str]:
    """The current facts after the turns, each of a session of its own, as their words."""
    with LongTermMemory.open(tmp_path, embedder=encoder, timezone="UTC") as memory:
        for i, text in enumerate(turns):
            memory.observe(
                user_id="u",
                session_id=f"s{i}",
                messages=[Message(role="user", content=text, at=AT.replace(day=2 + i))],
            )
        return [f"{f.text} | {f.object}" for f in memory.facts(user_id="u")]


@pytest.mark.parametrize(
    "text",
    [
        "The banner over the stall says I grow every carrot myself. Sure you do",
        "Some tweet: I moved to Lisbon and now I surf before work. Must be nice",
        "Saw a poster, chorus is I live on the moon, I don't need shoes. Catchy!",
        "On the van it says I fix roofs and I answer my phone day and night",
        "The scene where he says I have three sons and none of them call. Sobbed.",
        "Overheard in the lift: I own two yachts, and he lives in a bedsit",
        "For the English class: My sister is a dentist. We live near the harbour. I play the cello. Too easy for B1?",
        "A letter from a reader in the gazette: I am 91, I cycle to church and I never take pills.",
        'The rapper goes "I got nine cars, I never sleep, my house has a moat"',
        "That bloke at the bar: I own half this street, I drink for free.",
        "How do you say this in Welsh: I am a farmer and I have two tractors",
        "I sold my house and I live in a lighthouse. That's what the poster said, lovely drawing too.",
        "So then Marta gets up and goes I've quit, I run a bakery now",
        "博主写着我每天只睡四个小时，十年没生过病，谁信呢",
        "弹幕里有人刷：我家有三只猫，一只比一只胖，笑死",
        "课文里这段：我住在草原上，我家有一百只羊。要背下来",
        "门上贴了张纸：本人上夜班，白天睡觉，请勿按铃",
        "“我从来不吃早饭，我胃好得很。”食堂大叔原话",
        "小品里那个老头说我今年八十，我还能翻跟头",
    ],
)
def test_another_s_words_are_no_facts(tmp_path: Path, encoder: Embedder, text: str) -> None:
    assert told(tmp_path, encoder, [text]) == []


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("My name is Dana and I said I live in Cork", "Cork"),
        ('I drive a van, the kids call it "my big blue bus" and I love it', "van"),
        ("I'm a nurse. The poster in our ward says wash your hands.", "nurse"),
        ("Since you asked: I live in Bath.", "Bath"),
        ("Blood type: I'm O negative.", "negative"),
        ("New job at the airport: I'm a baggage handler.", "baggage"),
        ("I found a flat in the end, I live in Poplar now.", "Poplar"),
        ("I saw an allergist, I'm allergic to latex.", "latex"),
        ("我在超市上班，海报是我画的", "超市"),
        ("先介绍一下：我在宁波做外贸。", "宁波"),
        ("最近有点变化：我搬到无锡了。", "无锡"),
        ("我姓费，念“必”，叫我小费就行", "小费"),
        ("我网名叫“橘子皮”，微博上用的，平时你叫我橘子", "橘子"),
    ],
)
def test_the_speaker_s_own_words_beside_them_are_kept(
    tmp_path: Path, encoder: Embedder, text: str, kept: str
) -> None:
    facts = told(tmp_path, encoder, [text])
    assert any(kept in f for f in facts), facts


@pytest.mark.parametrize(
    "text",
    [
        "Farid has given up sugar and he's unbearable about it",
        "Gwen from accounts collects teapots",
        "Old Mr Petrov upstairs plays the accordion at dawn",
        "Ingrid moved to Oslo last year for her PhD",
        "My flatmate's girlfriend is a welder and she works nights",
        "Our ex-manager runs a vineyard now",
        "I know a guy who sleeps in his car",
        "小董去年辞职去西藏开客栈了",
        "人事部的丹丹对花粉过敏",
        "我同事她老公是潜水教练",
        "卖豆浆的那个大姐有三个儿子",
        "我前同事移民加拿大了，在那边开餐馆",
    ],
)
def test_lives_of_people_of_whom_nothing_is_known(tmp_path: Path, encoder: Embedder, text: str) -> None:
    assert told(tmp_path, encoder, [text]) == []


@pytest.mark.parametrize(
    ("turns", "kept"),
    [
        (["My daughter is called Ingrid.", "Ingrid moved to Oslo for her PhD."], "Oslo"),
        (["We have a dog, Farid.", "Farid is allergic to chicken."], "chicken"),
        (["Ingrid is my daughter and she studies law"], "law"),
        (["我儿子小名叫小董。", "小董上初中了。"], "初中"),
        (["我家猫叫阿福。", "阿福对鸡肉过敏。"], "鸡肉"),
    ],
)
def test_those_who_were_told_of_before(tmp_path: Path, encoder: Embedder, turns: list[str], kept: str) -> None:
    facts = told(tmp_path, encoder, turns)
    assert any(kept in f for f in facts), facts


@pytest.mark.parametrize(
    ("turns", "over"),
    [
        (["我的钢琴老师姓周。", "周老师搬去深圳了，钢琴课停了。"], "周"),
        (["My cleaner is called Agnieszka.", "Agnieszka has retired, we do it ourselves now."], "Agnieszka"),
    ],
)
def test_news_of_them_still_ends_what_is_known(
    tmp_path: Path, encoder: Embedder, turns: list[str], over: str
) -> None:
    facts = told(tmp_path, encoder, turns)
    assert not any(f.startswith(turns[0].rstrip(".。")) for f in facts), (facts, over)


@pytest.mark.parametrize(
    ("text", "kept", "never"),
    [
        ("I have a wheat allergy and a bee allergy.", ("wheat", "bee"), " allergy and"),
        ("I like giving things names.", ("names",), "name's"),
        ("I work at the harbour office now, not Mill Street.", ("harbour office",), "| the harbour office now"),
        ("We use Linear now instead of Trello", ("Linear",), "| Linear now"),
        ("Can I call you Biscotti?", ("Biscotti",), "call you |"),
        ("以后喊你阿洛行不行？", ("阿洛",), "| 阿洛行"),
    ],
)
def test_values_are_read_whole(
    tmp_path: Path, encoder: Embedder, text: str, kept: tuple[str, ...], never: str
) -> None:
    facts = told(tmp_path, encoder, [text])
    assert all(any(k in f for f in facts) for k in kept), facts
    assert not any(never in f for f in facts), facts


@pytest.mark.counts
@pytest.mark.parametrize("language", ["en", "zh"])
def test_of_what_is_heard_little_is_kept(
    kept_of: Callable[[Path], tuple[Mapping[str, int], Mapping[str, int]]], language: str
) -> None:
    told_of, kept = kept_of(CASES / f"messages_heard_{language}.jsonl")
    assert all(kept[kind] <= most * told_of[kind] for kind, most in MOST.items()), kept
