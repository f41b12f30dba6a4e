"""Small talk, things shown to the assistant and values that point at the talk leave no fact; their twins do."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ltm_core.lexicon import default_lexicon
from ltm_core.write.analyse import analyse
from ltm_core.write.endings.ends import RULE as ENDS
from ltm_core.write.extract.draft import Draft
from ltm_core.write.extract.pointing import names_nothing
from ltm_core.write.plan import Candidate, Utterance

NOW = datetime(2026, 6, 17, 10, 30, tzinfo=UTC)


def told(text: str) -> list[Candidate]:
    """What would be kept, without vectors; what could only end something known is left out."""
    utterance = Utterance(message_id="m", role="user", content=text, at=NOW)
    seen = analyse(utterance, lexicon=default_lexicon(), fact_threshold=0.6)
    return [c for c in seen.candidates if c.rule != ENDS]


@pytest.mark.parametrize(
    "text",
    [
        "Here's a snippet of my current Git configuration",
        "Below is my function",
        "I've pasted the log above",
        "I have a quick question",
        "My question is about shipping",
        "Use your tool",
        "Didn't last",
        "I like the second one better",
        "I prefer option B",
        "Works for me",
        "my mum loved the present",
        "I changed the config and restarted",
        "I'm sitting on the balcony with a coffee",
        "my head is pounding",
        "My flight got cancelled",
        "这是我现在的配置",
        "我把截图发你了",
        "我有个问题",
        "我的问题是关于发货的",
        "用你的工具查一下",
        "用搜索工具",
        "我更喜欢第二个",
        "我妈可喜欢那个礼物了",
        "我用信用卡付的",
        "我试了个新菜谱",
        "上个月我们去露营了",
        "我手机没电了",
        "我包裹到了就是坏的",
        "我們先去吃飯",
        "これが私のコードです",
    ],
)
def test_small_talk_leaves_no_fact(text: str) -> None:
    assert told(text) == []


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("I like green tea better than black", "green tea"),
        ("I've always driven red cars", "red cars"),
        ("my mum loves orchids", "orchids"),
        ("I work for a small publisher", "publisher"),
        ("I use Kagi for search", "Kagi"),
        ("my shipping address is 4 Quay Road", "4 Quay Road"),
        ("我更喜欢喝茶", "茶"),
        ("我妈喜欢养兰花", "兰花"),
        ("我一直用必应搜东西", "必应"),
        ("我的收货地址是湖滨路12号", "湖滨路12号"),
        ("我手机是小米14", "小米14"),
        ("我每年八月去川西露营", "露营"),
    ],
)
def test_a_lasting_statement_in_the_same_words_is_kept(text: str, held: str) -> None:
    assert any(held in c.object or held in c.text for c in told(text))


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("Could you note that I'm hard of hearing?", "hard of hearing"),
        ("Please keep on file that deliveries go to the side gate.", "side gate"),
        ("Please commit to memory: the alarm word is tangerine.", "tangerine"),
        ("牢记：报警口令是橘子。", "橘子"),
        ("你要记得我不吃羊肉。", "羊肉"),
        ("替我记个事，护照放在书柜里。", "书柜"),
    ],
)
def test_ways_to_ask_for_remembering(text: str, held: str) -> None:
    utterance = Utterance(message_id="m", role="user", content=text, at=NOW)
    seen = analyse(utterance, lexicon=default_lexicon(), fact_threshold=0.6)
    assert any(a.kind == "explicit_request" and held in a.text for a in seen.anchors)


@pytest.mark.parametrize(
    "text",
    [
        "Can you remember what I said about the gate?",
        "Save this file as key.txt.",
        "Note down three ideas for the leaving speech.",
        "Don't forget to send the email at five.",
        "Don't forget the shellfish when you write the menu.",
        "你还记得羊肉泡馍怎么做吗？",
        "牢记历史，珍惜和平。",
    ],
)
def test_what_only_sounds_like_a_request(text: str) -> None:
    utterance = Utterance(message_id="m", role="user", content=text, at=NOW)
    seen = analyse(utterance, lexicon=default_lexicon(), fact_threshold=0.6)
    assert not [a for a in seen.anchors if a.kind == "explicit_request"]


def draft(relation: str, value: str, **more: object) -> Draft:
    return Draft(subject="user", relation=relation, object=value, start=0, end=len(value), **more)  # type: ignore[arg-type]


def test_a_value_that_points_is_no_value() -> None:
    lexicon = default_lexicon()
    for relation, value in (("likes", "that one"), ("likes", "那个礼物"), ("uses", "your tool"), ("works_at", "me")):
        assert names_nothing(draft(relation, value), lexicon), value
    for relation, value in (("likes", "this kind of music"), ("likes", "这种安静的小城"), ("works_at", "Meta")):
        assert not names_nothing(draft(relation, value), lexicon), value
    assert names_nothing(draft("attribute:my question", "about shipping"), lexicon)


def test_what_ends_or_corrects_may_point() -> None:
    lexicon = default_lexicon()
    assert not names_nothing(draft("likes", "that one", positive=False), lexicon)
    assert not names_nothing(draft("uses", "the old one", move="cease"), lexicon)
    assert not names_nothing(draft("uses", "the new one", wrong="Jira"), lexicon)
