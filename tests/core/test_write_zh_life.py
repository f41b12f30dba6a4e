"""Chinese as it is spoken in a chat: what stays known after several sessions, and what was confirmed.

Beside what must be kept or ended stand minimal pairs in the same words that keep or end nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.embed.base import Embedder
from ltm_core.types import Anchor, Fact, Message, Role
from ltm_core.write.anchors.agreement import load_agreement

BEGIN = datetime(2025, 3, 3, 2, tzinfo=UTC)


def told(tmp_path: Path, encoder: Embedder, turns: Sequence[str]) -> tuple[list[Fact], list[Anchor]]:
    """What is current after the turns, and the anchors of the last. A turn that begins with "<" is the assistant's;
    "|" begins a new session ten days later."""
    session, anchors = 0, []
    with LongTermMemory.open(tmp_path / "store", embedder=encoder, timezone="Asia/Shanghai") as memory:
        for n, words in enumerate(turns):
            if words == "|":
                session += 1
                continue
            role: Role = "assistant" if words.startswith("<") else "user"
            at = BEGIN + timedelta(days=10 * session, seconds=n)
            said = Message(role=role, content=words.removeprefix("<"), at=at)
            anchors = list(memory.observe(user_id="u", session_id=f"s{session}", messages=[said]).anchors)
        return list(memory.facts(user_id="u")), anchors


KNOWN: list[tuple[list[str], list[str], list[str]]] = [
    # the new value is kept although the old one was never told
    (["油价太贵了，现在改坐地铁了"], ["地铁"], []),
    (["在一家火锅店当服务员呢", "|", "火锅店黄了，现在跑滴滴"], ["滴滴"], ["火锅店", "服务员"]),
    (["今天改坐地铁行不行"], [], ["地铁"]),
    # doses and medicines
    (["降压药我吃的氨氯地平", "|", "脚肿，医生把氨氯地平换成缬沙坦了"], ["缬沙坦"], ["氨氯地平"]),
    (["医生给我加到100毫克了"], ["100毫克"], []),
    # what only takes leave of the old value is no fact of its own
    (["我一直住单位宿舍", "|", "单位宿舍收回去了，我在南门外租了间房"], ["南门外"], ["宿舍"]),
    (["我那台迈腾跑了十二万公里", "|", "迈腾抵给4S店，置换了一辆帕萨特"], ["帕萨特"], ["迈腾"]),
    # corrections, in the same session and in a later one
    (["给我看病的是李医生", "|", "说错了，是黎医生"], ["黎医生"], ["李医生"]),
    (["我对芒果过敏", "|", "之前说芒果过敏搞错了，查出来是菠萝"], ["菠萝"], ["芒果"]),
    (["我女儿今年上初二", "哦不，初三，我记岔了"], ["初三"], ["初二"]),
    (["我女朋友属马", "呃说岔了，属羊"], ["羊"], ["马"]),
    (["我对花生过敏", "没错，就是花生"], ["花生"], []),
    (["快递单号SF1390027711450", "少打一位 SF13900277811450"], ["SF13900277811450"], ["SF1390027711450"]),
    # an order, a quote, a ticket: how it stands, in the user's words
    (["报价单BJ-77客户嫌贵"], ["客户嫌贵"], []),
    (["采购单PO-4471老板还没看", "|", "PO-4471老板说砍掉一半数量再报"], ["砍掉一半"], ["还没看"]),
    (["我那个装修贷还在审", "|", "装修贷批了，下周放款"], ["批"], ["还在审"]),
    (["订单JD2995810043蓝色L码"], [], ["蓝色L码"]),
    # relatives and animals keep their own
    (["我外甥女在澳洲读预科"], ["澳洲"], []),
    # going back, and dates that move
    (["我用美图秀秀修图", "|", "修图换醒图了", "|", "醒图要会员，还是回美图秀秀了"], ["美图秀秀"], []),
    (["毕业论文初稿5月10号交", "|", "导师松口了，初稿可以推到5月底"], ["5月底"], ["5月10"]),
    (["年会预算八万", "|", "老板又批了两万，年会预算十万"], ["十万"], ["八万"]),
    # tales, hearsay and conditions leave nothing
    (["来，你扮我师父，我是刚上山的小道士，住在后山破庙"], [], ["破庙", "道士"]),
    (["我们来演一段，我是公司老总，你是来面试的"], [], ["老总"]),
    (["相亲对象发来一句：我在国企，有房有车，不抽烟。怎么回他"], [], ["国企", "车"]),
    (["我要是有两个孩子，绝对不换大房子"], [], ["孩子"]),
    (["我们班有个同学家里开矿"], [], ["矿"]),
    (["我练过八年散打"], [], ["散打"]),
    (["我笔下的女主住在殡仪馆隔壁"], [], ["殡仪馆"]),
    # asked to forget, in the middle of other words
    (["我有痛风", "我爱吃豆腐", "|", "忘掉我有痛风这事"], ["豆腐"], ["痛风"]),
    (["我前公司叫云顶", "我爱吃豆腐", "|", "把云顶那段从你那儿删了吧"], ["豆腐"], ["云顶"]),
    (["我体重一百六十斤", "|", "考研的事不要再跟我说起了"], ["一百六十"], []),
]  # fmt: skip


@pytest.mark.parametrize(("turns", "kept", "over"), KNOWN)
def test_what_is_known_in_the_end(
    tmp_path: Path, encoder: Embedder, turns: list[str], kept: list[str], over: list[str]
) -> None:
    facts, _ = told(tmp_path, encoder, turns)
    for words in kept:
        assert any(words in f"{f.object} {f.text}" for f in facts), facts
    for words in over:
        assert not any(words in f.object for f in facts if f.is_positive), facts


CONFIRMED: list[tuple[list[str], str]] = [
    (["空调不制冷咋办", "<先把滤网拆下来用清水冲洗，晾干再装回去。", "洗完滤网凉快多了，牛"], "滤网"),
    (["周末去哪玩好", "<可以考虑莫干山，两小时车程；或者去千岛湖骑行。", "行，就定莫干山"], "莫干山"),
    (["给闺女起个英文名吧", "<Chloe怎么样？意思是新芽，发音也好记。", "Chloe好听，就它了"], "Chloe"),
    (["接口一到晚上就超时", "<建议把连接池从10调到50。", "|", "改完之后连接池没再超时了"], "连接池"),
]
NOT_CONFIRMED: list[list[str]] = [
    ["空调不制冷咋办", "<先把滤网拆下来用清水冲洗，晾干再装回去。", "洗完了还是不凉"],
    ["空调不制冷咋办", "<先把滤网拆下来用清水冲洗，晾干再装回去。", "滤网在哪"],
    ["空调不制冷咋办", "<先把滤网拆下来用清水冲洗，晾干再装回去。", "我没有梯子"],
    ["今天几号", "<今天6月12号，星期四。", "好嘞"],
    ["讲个笑话", "<为什么程序员分不清万圣节和圣诞节？", "哈哈哈可以可以"],
    ["接口一到晚上就超时", "<建议把连接池从10调到50。", "|", "今天挺好的"],
]


@pytest.mark.parametrize(("turns", "solution"), CONFIRMED)
def test_a_result_or_a_decision_confirms_what_was_proposed(
    tmp_path: Path, encoder: Embedder, turns: list[str], solution: str
) -> None:
    facts, anchors = told(tmp_path, encoder, turns)
    assert [a for a in anchors if a.kind == "confirmation" and solution in a.text], anchors
    [kept] = [f for f in facts if f.kind == "solution"]
    assert solution in kept.object and not kept.is_about_user and kept.asserted_by == "assistant_confirmed"


@pytest.mark.parametrize("turns", NOT_CONFIRMED)
def test_other_replies_confirm_nothing(tmp_path: Path, encoder: Embedder, turns: list[str]) -> None:
    facts, anchors = told(tmp_path, encoder, turns)
    assert not [f for f in facts if f.kind == "solution"]
    assert not [a for a in anchors if a.kind == "confirmation"]


def test_what_takes_the_place_of_something_known_is_an_anchor(tmp_path: Path, encoder: Embedder) -> None:
    _, anchors = told(tmp_path, encoder, ["给我看病的是李医生", "|", "说错了，是黎医生"])
    assert [a for a in anchors if a.kind == "stated_fact" and "黎医生" in a.text], anchors


@pytest.mark.parametrize(("text", "name"), [("我给你取个名儿吧，叫小满", "小满"), ("给你起个名，叫小铁", "小铁")])
def test_the_assistant_is_named_over_two_clauses(tmp_path: Path, encoder: Embedder, text: str, name: str) -> None:
    facts, _ = told(tmp_path, encoder, [text])
    assert [(f.subject, f.relation, f.object) for f in facts] == [("assistant", "name", name)]


@pytest.mark.parametrize(
    ("text", "subject"),
    [("我二叔开货车跑新疆线", "uncle:二叔"), ("我家狗子对鸡肉过敏", "dog"), ("我妈做的是白内障手术", "mother")],
)
def test_a_relatives_life_is_not_the_users(tmp_path: Path, encoder: Embedder, text: str, subject: str) -> None:
    facts, _ = told(tmp_path, encoder, [text])
    assert {f.subject for f in facts} == {subject}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_model_of_replies_says_what_it_was_made_of(language: str) -> None:
    model = load_agreement(language)
    assert model.languages == {language}
    assert "replies" in model.version and set(model.thresholds) == {"mean", "plain"}
