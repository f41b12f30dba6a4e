"""Chinese of every day: what replaces, ends, corrects or adds to what was told, and whose life it is.

Told with the default encoder, a session and ten days apart unless the turns stand in one session. Beside what must
end stand minimal pairs that end nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.embed.base import Embedder
from ltm_core.types import Fact
from ltm_core.write.words.norm import normal

BEGIN = datetime(2025, 3, 3, 2, tzinfo=UTC)


def known(tmp_path: Path, encoder: Embedder, turns: Sequence[str], *, one_session: bool = False) -> list[Fact]:
    """What is current and positive after the turns."""
    with LongTermMemory.open(tmp_path / "store", embedder=encoder, timezone="Asia/Shanghai") as memory:
        for n, words in enumerate(turns):
            at = BEGIN + (timedelta(minutes=n) if one_session else timedelta(days=10 * n))
            memory.observe(user_id="u", session_id="s" if one_session else f"s{n}", user=words, at=at)
        return [f for f in memory.facts(user_id="u") if f.is_positive]


def holds(facts: Sequence[Fact], words: str, subject: str = "") -> bool:
    """Whether a fact holds the words, of the subject if one is given."""
    return any(words in f"{f.object} {f.text}" and (not subject or f.subject == subject) for f in facts)


ENDED: list[tuple[list[str], list[str], list[str]]] = [
    # work given up, and what came instead
    (["我在一家物流公司做调度", "单位那边提了离职，下个月开始跟朋友合伙开面馆"], [], ["物流公司", "调度"]),
    (["我在西门子当工程师", "西门子那边不干了，回老家开民宿去了"], [], ["西门子", "工程师"]),
    (["我在超市当收银员", "超市的活不干了，现在给人带孩子"], ["带孩子"], ["超市", "收银员"]),
    (["我在电子厂上班", "厂里待不下去了，出来单干了"], ["单干"], ["电子厂"]),
    (["我在中通送快递", "中通那边的活我辞了"], [], ["中通"]),
    (["我在链家卖房子", "从链家出来了，现在跑代驾"], ["代驾"], ["链家"]),
    (["我在工地上开塔吊", "不在工地干了，回村里包了个鱼塘"], ["鱼塘"], ["塔吊"]),
    (["我在镇上卫生院当护士", "今年不倒班了，调去县疾控做流调员"], ["县疾控", "流调员"], ["卫生院"]),
    (["我老婆在社区医院当药剂师", "她把工作辞了，在家带二宝"], [], ["社区医院", "药剂师"]),
    (["我在地铁口卖煎饼", "煎饼摊转给我表弟了，进厂打螺丝去了"], [], ["地铁口"]),
    # how one goes to work
    (["我上班都是自己开车", "油价太贵，上班改骑电动车了"], ["电动车"], ["自己开车"]),
    (["我骑共享单车上班", "入冬以后换成坐地铁上班了"], ["坐地铁"], ["共享单车"]),
    (["我每天擠公車去公司", "上個月開始改騎機車通勤"], ["騎機車"], ["公車"]),
    # schools of relatives
    (["儿子在光明小学上二年级", "开学把儿子转到外国语学校了"], ["外国语学校"], ["光明小学"]),
    (["闺女在一中读初二", "她今年转学去了七中"], ["七中"], ["一中"]),
    # sold, given back, no longer paid for
    (["我在郊区有套小公寓", "公寓年初就卖了，钱拿去还贷"], [], ["小公寓"]),
    (["家里有架钢琴", "钢琴上个月转给亲戚家孩子了"], [], ["有架钢琴"]),
    (["我開通咗Netflix", "Netflix停咗，太貴啦"], [], ["Netflix"]),
    (["我訂了KKBOX", "KKBOX上個月就取消訂閱了"], [], ["KKBOX"]),
    (["我有Costco會員", "Costco會員冇續"], [], ["Costco"]),
    (["我用緊Spotify Premium", "Spotify唔再俾錢喇，轉用YouTube Music"], ["YouTube Music"], ["Spotify"]),
    (["我在知乎写专栏", "知乎号注销了"], [], ["知乎"]),
]  # fmt: skip

CORRECTED: list[tuple[list[str], list[str], list[str]]] = [
    (["我血型是B型", "不对，B型的是我爸，我是AB型"], ["AB型"], []),
    (["我家住三楼", "错了，四楼，三楼是我姐家"], ["四楼"], []),
    (["我老公是潮州人", "不是潮州，是揭阳的"], ["揭阳"], ["潮州"]),
    (["我太太屬龍", "講錯，她屬蛇"], ["蛇"], ["龍"]),
    (["我住八德路三段", "更正，是四段"], ["四段"], ["三段"]),
    (["我对芒果过敏", "不对，是菠萝，芒果我能吃"], ["菠萝"], ["芒果"]),
    (["我数据库用的 MySQL", "查了下，其实是 MariaDB"], ["MariaDB"], ["MySQL"]),
    (["我身高一米七二", "哈哈吹牛了，其实一米六九"], ["一米六九"], ["一米七二"]),
    (["我们家狗是柯基", "说了你别笑，兽医说它根本不是柯基，是串串"], ["串串"], ["是柯基"]),
    (["我家猫是公的", "医生说是母的，我们弄错了"], ["母"], ["公"]),
]  # fmt: skip

KEPT: list[tuple[list[str], list[str]]] = [
    # nearly, not yet, somebody else's, of today, asked
    (["我在设计院工作", "我差点把工作辞了"], ["设计院"]),
    (["我在设计院工作", "我朋友把设计院的工作辞了"], ["设计院"]),
    (["我在设计院工作", "要是把工作辞了，社保怎么办？"], ["设计院"]),
    (["我在纺织厂上班", "今天的班不上了，发烧"], ["纺织厂"]),
    (["我在医院做护士", "刚从医院出来，累死了"], ["医院", "护士"]),
    (["我有辆山地车", "山地车差点卖了，没舍得"], ["山地车"]),
    (["我有辆山地车", "山地车打算下礼拜卖了"], ["山地车"]),
    (["我有辆山地车", "我室友的山地车卖了"], ["山地车"]),
    (["闺女在育才小学", "我想给闺女转到实验小学"], ["育才小学"]),
    (["闺女在育才小学", "邻居给她闺女转到实验小学了"], ["育才小学"]),
    (["我坐地铁上班", "这周地铁检修，先坐公交上班"], ["坐地铁"]),
    (["我坐地铁上班", "我同事改骑车上班了"], ["坐地铁"]),
    # added, not put in its place
    (["我喜欢看推理小说", "历史的我也看，明朝那些事儿翻烂了"], ["推理小说", "历史"]),
    (["我在银行做柜员", "周末兼职带家教，教小学数学"], ["银行", "柜员", "家教"]),
    (["我白天在药店上班", "下班后还去夜市摆摊卖手机壳"], ["药店", "手机壳"]),
    (["我养了一只橘猫", "上周又接回来一只布偶，起名元宵"], ["橘猫", "布偶", "元宵"]),
    (["我对花粉过敏", "尘螨也过敏，真惨"], ["花粉", "尘螨"]),
    # for a while
    (["我家在烟台莱山", "家里装修，这俩月先租在福山"], ["莱山"]),
    (["我住浦東", "回台灣看爸媽，住新竹娘家，下週回"], ["浦東"]),
    (["我住合肥", "这周在西安出差，住钟楼边上"], ["合肥"]),
    # something of a thing is not the thing
    (["我有MacBook", "MacBook的壳卖了"], ["有MacBook"]),
    (["我喝咖啡", "最近备孕，咖啡先停了"], ["喝咖啡"]),
]  # fmt: skip

WHOSE: list[tuple[str, str, str]] = [
    ("我家那条老黄狗心脏不好，每天得喂匹莫苯丹", "匹莫苯丹", "dog"),
    ("我家英短得了猫藓，在抹药膏", "猫藓", "cat"),
    ("我徒弟去年评上了高级技师", "高级技师", "apprentice"),
    ("我爸年轻的时候在部队当兵", "当兵", "father"),
    ("山西人嘛，一天不吃醋难受", "山西人", "user"),
    ("我河北的，嫁到天津来的", "河北", "user"),
]

NOBODYS = [
    "小李从腾讯跳到美团了，工资翻倍", "我带的实习生小赵下个月结婚", "我们班有个学生对牛奶过敏",
    "我房东是温州人，开五金店的", "我客户是吃素的，想请他吃饭", "听说老李辞职了", "湖南人嘛？",
]  # fmt: skip


@pytest.mark.parametrize(("turns", "kept", "over"), ENDED)
def test_what_ends_and_what_comes_instead(
    tmp_path: Path, encoder: Embedder, turns: list[str], kept: list[str], over: list[str]
) -> None:
    facts = known(tmp_path, encoder, turns)
    assert all(holds(facts, words) for words in kept), facts
    assert not any(holds(facts, words) for words in over), facts


@pytest.mark.parametrize(("turns", "kept", "over"), CORRECTED)
def test_a_value_that_was_wrong_is_gone(
    tmp_path: Path, encoder: Embedder, turns: list[str], kept: list[str], over: list[str]
) -> None:
    facts = known(tmp_path, encoder, turns, one_session=True)
    assert all(holds(facts, words) for words in kept), facts
    assert not any(holds(facts, words) for words in over), facts


def test_a_value_given_to_a_relative_is_the_relatives(tmp_path: Path, encoder: Embedder) -> None:
    facts = known(tmp_path, encoder, ["我家住三楼", "错了，四楼，三楼是我姐家"], one_session=True)
    assert holds(facts, "三楼", "sister") and not holds(facts, "三楼", "user")


@pytest.mark.parametrize(("turns", "kept"), KEPT)
def test_what_ends_nothing(tmp_path: Path, encoder: Embedder, turns: list[str], kept: list[str]) -> None:
    facts = known(tmp_path, encoder, turns)
    assert all(holds(facts, words) for words in kept), facts


@pytest.mark.parametrize(("text", "words", "subject"), WHOSE)
def test_whose_life_it_is(tmp_path: Path, encoder: Embedder, text: str, words: str, subject: str) -> None:
    facts = known(tmp_path, encoder, [text])
    assert holds(facts, words, subject), facts
    assert subject == "user" or not holds(facts, words, "user")


@pytest.mark.parametrize("text", NOBODYS)
def test_the_lives_of_others_are_not_known(tmp_path: Path, encoder: Embedder, text: str) -> None:
    assert known(tmp_path, encoder, [text]) == []


def test_an_animal_named_in_the_next_clause_goes_by_its_name(tmp_path: Path, encoder: Embedder) -> None:
    facts = known(tmp_path, encoder, ["我養了一隻倉鼠，叫豆包", "豆包上星期走了"])
    assert not any(f.relation == "has_pet" for f in facts)


def test_words_of_cantonese_are_read_only_beside_its_particles() -> None:
    assert normal("我而家喺公司返工") == "我现在在公司上班"
    assert normal("产品返工了") == "产品返工了"
    assert len(normal("我哋唔食飯")) == len("我哋唔食飯")
