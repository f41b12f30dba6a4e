"""Chinese requests to forget and to be silent: in many wordings, spread over clauses, the topic under another name
than the fact's; they take what they name and nothing else, and leave nothing themselves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory, Message
from ltm_core.embed.base import Embedder
from ltm_core.embed.resolve import resolve_embedder

NOW = datetime(2025, 3, 4, tzinfo=UTC)


@pytest.fixture(scope="module")
def encoder() -> Embedder:
    return resolve_embedder(None)


def told(path: Path, encoder: Embedder, turns: list[str]) -> tuple[list[str], list[list[str]]]:
    """What is known in the end, and the anchors of each turn; ">>" begins a session some days later."""
    session, at = 1, NOW
    anchors: list[list[str]] = []
    with LongTermMemory.open(path / "m", embedder=encoder) as memory:
        for turn in turns:
            later = turn.startswith(">>")
            session, at = session + later, at + (timedelta(days=5) if later else timedelta(minutes=1))
            message = Message(role="user", content=turn.removeprefix(">>"), at=at)
            seen = memory.observe(user_id="u", session_id=f"s{session}", messages=[message])
            anchors.append([f"{a.kind}: {a.text}" for a in seen.anchors])
        return [f"{f.subject} {f.object} | {f.text}" for f in memory.facts(user_id="u")], anchors


def check(path: Path, encoder: Embedder, said: list[str], asked: str, over: list[str], left: list[str]) -> None:
    facts, anchors = told(path, encoder, [*said, asked])
    assert not [f for f in facts if any(words in f for words in over)], facts
    for words in left:
        assert any(words in f for f in facts), facts
    assert anchors[-1] == []


FORGET = [
    (["我前夫在海关上班。", "我喜欢钓鱼。"], "关于我前夫的那些别留着了。", ["海关"], ["钓鱼"]),
    (["我的血型是 B 型。", "我住在柳州。"], ">>我的血型，麻烦你忘了它。", ["B 型"], ["柳州"]),
    (["我在顺丰当快递员。", "我会拉二胡。"], ">>我的工作单位别替我存着，清理掉吧。", ["顺丰"], ["二胡"]),
    (["我得过甲状腺癌。", "我养了一只刺猬。"], "我不希望你记得我得过癌症，删干净。", ["甲状腺"], ["刺猬"]),
    (["我年薪四十万。", "我每周三打网球。"], ">>我挣多少钱这事，从你的脑子里抹去。", ["四十万"], ["网球"]),
    (["我妹妹有躁郁症。", "我爸爱下象棋。"], ">>我妹妹的病情比较隐私，请从记忆里移除。", ["躁郁"], ["象棋"]),
    (["我对象叫唐诗雨。", "我在备考雅思。"], "麻烦把我对象的名字从存档里拿掉。", ["唐诗雨"], ["雅思"]),
    (["我信基督教。", "我不吃羊肉。"], ">>我信教的事就当我没说过，忘了吧。", ["基督"], ["羊肉"]),
    (["我家住在锦绣花园。", "我是兽医。"], ">>能不能不保留我住的小区？请删掉。", ["锦绣花园"], ["兽医"]),
    (
        ["我加入了一个读书会，叫知更社。", "我睡前听相声。"],
        ">>读书会那条信息请你清除，我不想留。",
        ["知更社"],
        ["相声"],
    ),
    (["我离过两次婚。", "我女儿在学游泳。"], ">>离婚的事，你那里就别记着了。", ["离过"], ["游泳"]),
    (
        ["我在做试管，已经第二回了。", "我的工作是会计。"],
        "请把我做试管的事彻底忘掉，想起来就难受。",
        ["试管"],
        ["会计"],
    ),
    (
        ["我的备用手机号是 13800001234。", "我用企业版。"],
        ">>之前给你的那个手机号，请不要保存，删了它。",
        ["1380000"],
        [],
    ),
    (["我暗恋楼下的咖啡师小北。", "我在学德语。"], ">>跟你说过的小北的事，帮我抹掉。", ["小北"], ["德语"]),
    (["我体重九十公斤。", "我戴助听器。"], ">>你记的我的体重可以清掉了，看着心烦。", ["九十公斤"], ["助听器"]),
    (["我弟弟坐过牢，现在在开网约车。", "我自己开花店。"], ">>我弟弟的事情，请你统统忘记。", ["网约车"], ["花店"]),
    (["我打算明年考律师证。", "我喜欢爬山。"], ">>考证这件事不用存档了，忘掉吧。", ["律师证"], ["爬山"]),
    (["我在养一条玉米蛇。", "我住在合肥。"], ">>能把我养蛇的那件事忘了吗？", ["玉米蛇"], ["合肥"]),
    (["我奶奶叫沈玉珍。", "我在自学素描。"], ">>我奶奶的名字不需要你记住，删了就行。", ["沈玉珍"], ["素描"]),
    (["我得了乙肝。", "我爱吃螺蛳粉。"], ">>前几天跟你讲的我得乙肝的事，清掉。", ["乙肝"], ["螺蛳粉"]),
    (
        ["我的护照号是 E12345678。", "我是平面设计师。"],
        ">>别把我的护照号存起来，麻烦一并销毁。",
        ["E1234"],
        ["设计师"],
    ),
    (["我在追公司的小卫。", "我养了两只猫。"], "关于小卫，我没说过，请清空。", ["小卫"], ["两只猫"]),
    (["我们项目代号叫启明星。", "我们用 Kotlin 写后端。"], ">>项目代号属于机密，麻烦移除。", ["启明星"], ["Kotlin"]),
    (["我住在百子湾。", "我有驾照。"], ">>我现在住哪儿你不需要知道，删掉吧。", ["百子湾"], ["驾照"]),
    (["我被公司裁了，现在失业。", "我住在汕头。"], ">>我丢工作那回事，当我没提过。", ["失业"], ["汕头"]),
]


@pytest.mark.parametrize(("said", "asked", "over", "left"), FORGET)
def test_what_is_asked_to_be_forgotten_is_gone(
    tmp_path: Path, encoder: Embedder, said: list[str], asked: str, over: list[str], left: list[str]
) -> None:
    check(tmp_path, encoder, said, asked, over, left)


QUIET = [
    (["我的公司去年破产了。", "我喜欢养兰花。"], "公司倒闭这件事以后别再提起。", ["破产"], ["兰花"]),
    (["我是曼联球迷。", "我在邮局上班。"], ">>足球的话题打住，往后别跟我聊。", ["曼联"], ["邮局"]),
    (["我爸得了帕金森。", "我儿子喜欢跳绳。"], ">>我爸的病，你以后一个字都不许提。", ["帕金森"], ["跳绳"]),
    (["我考研没上线。", "我学烘焙。"], ">>考研落榜那段，今后谁也别再念叨。", ["没上线"], ["烘焙"]),
    (["我炒股亏了二十万。", "我每天晨跑。"], ">>股市的事，求你别在我面前说起。", ["二十万"], ["晨跑"]),
    (["我流产过一次。", "我在区图书馆工作。"], ">>一提到流产我就难受，以后不要主动问起。", ["流产"], ["图书馆"]),
    (["我跟前女友分手了。", "我会做木雕。"], ">>不想再听到前女友的名字了。", ["前女友"], ["木雕"]),
    (
        ["我脱发很严重，一直在用非那雄胺。", "我爱喝豆汁。"],
        ">>脱发和非那雄胺，请别再提醒我。",
        ["非那雄胺"],
        ["豆汁"],
    ),
    (["我离婚了。", "我在银行当柜员。"], ">>你老是拿离婚说事，这两个字我不想再听。", ["离婚"], ["柜员"]),
    (["我欠了网贷八万。", "我养了只鹩哥。"], ">>欠债的事闭口不谈行吗，别再翻出来说。", ["八万"], ["鹩哥"]),
    (["我还是单身。", "我每周去做义工。"], ">>单身不单身的，你别拿来讲了。", ["单身"], ["义工"]),
    (["我哥去年去世了。", "我在学吉他。"], ">>我哥去世这事儿，以后咱们不聊。", ["去世"], ["吉他"]),
    (["我打官司输了。", "我喜欢滑雪。"], ">>官司是我的禁区，请永远别碰。", ["官司"], ["滑雪"]),
    (["我复读过一年。", "我现在住在荆州。"], "复读的经历请略过，咱们翻篇吧。", ["复读"], ["荆州"]),
    (["我没考上大学。", "我喜欢钓虾。"], ">>求求你，别再拿我没考上大学说事。", ["大学"], ["钓虾"]),
    (["我前夫再婚了。", "我女儿读小学。"], ">>再提我前夫我就生气了。", ["前夫"], ["小学"]),
    (["我出过一场车祸。", "我在菜鸟驿站上班。"], ">>请永远不要跟我提起那场车祸。", ["车祸"], ["菜鸟"]),
    (["我跟闺蜜闹掰了。", "我住在漳州。"], ">>我闺蜜，别再提起。", ["闹掰"], ["漳州"]),
    (["我最近失业了。", "我喜欢登山。"], ">>找工作的话题先放下，以后也别聊了。", ["失业"], ["登山"]),
    (["我的金毛上个月死了。", "我做外贸。"], ">>狗狗的事不要再提了，我会哭。", ["金毛"], ["外贸"]),
    (["我跟婆婆合不来。", "我在药店上班。"], ">>婆婆二字休要再提。", ["合不来"], ["药店"]),
    (["我得了抑郁症。", "我是药剂师。"], ">>别老拿我的情绪问题出来讲。", ["抑郁"], ["药剂师"]),
    (["我一百九十斤，在减肥。", "我爱看悬疑片。"], ">>能不能别老提我的体重？", ["一百九十斤"], ["悬疑"]),
]


@pytest.mark.parametrize(("said", "asked", "over", "left"), QUIET)
def test_what_is_not_to_be_brought_up_is_hidden(
    tmp_path: Path, encoder: Embedder, said: list[str], asked: str, over: list[str], left: list[str]
) -> None:
    check(tmp_path, encoder, said, asked, over, left)


@pytest.mark.parametrize(
    ("said", "then", "left"),
    [
        (["我对香菜过敏。"], "帮我把香菜去掉。", "香菜"),
        (["我对牛奶过敏。"], "把牛奶从购物清单里删掉。", "牛奶"),
        (["我女儿叫糖糖。"], "你可别忘了我女儿叫糖糖。", "糖糖"),
        (["我前男友叫大鹏。"], "我怎么也忘不掉前男友。", "大鹏"),
        (["我不吃辣。"], "你是不是忘了我不吃辣？", "不吃辣"),
        (["我不吃辣。"], "你又忘了我不吃辣了。", "不吃辣"),
        (["我的生日是五月二号。"], "我的生日你忘了？", "五月二号"),
        (["我的生日是五月二号。"], "怎么删掉我的生日记录？", "五月二号"),
        (["我在税务局工作。"], "今天别跟我提工作了。", "税务局"),
        (["我在税务局工作。"], "先不聊工作，说说晚饭。", "税务局"),
        (["我养了一只猫。", "我妈妈也养了一只猫。"], "我妈不让我提养猫的事。", "猫"),
        (["我爸是退伍军人。"], "我爸从来不提退伍军人的事。", "退伍军人"),
        (["我前男友叫大鹏。"], "我把前男友的微信删了。", "大鹏"),
        (["我前男友叫大鹏。"], "我想把前男友忘了。", "大鹏"),
        (["我在学法语。"], "别提了，今天法语课又取消了。", "法语"),
        (["我在学法语。"], "学会法语的时候我别提多高兴了。", "法语"),
        (["我用微信办公。"], "把微信里的缓存清掉。", "微信"),
        (["我在杭州工作。"], "好了，别说了，我知道杭州热。", "杭州"),
        (["我儿子在踢足球。"], "我儿子不许我提足球输了的事。", "足球"),
        (["我会弹钢琴。"], "邻居让我晚上别再弹钢琴了。", "钢琴"),
        (["我妹妹在北大读书。"], "妹妹的事先不说，讲讲我吧。", "北大"),
        (["我喜欢写小说。"], "把小说第二段删了吧。", "小说"),
        (["我在移动公司做客服。"], "帮我把简历里的移动公司删掉。", "移动公司"),
        (["我的固定座位在三排。"], "明天别给我留座位。", "三排"),
        (["我腰不好。", "我每天喝八杯水。"], "医生让我别再提水了。", "八杯水"),
    ],
)
def test_what_only_sounds_like_a_request(
    tmp_path: Path, encoder: Embedder, said: list[str], then: str, left: str
) -> None:
    facts, _ = told(tmp_path, encoder, [*said, f">>{then}"])
    assert any(left in f for f in facts), facts


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("忘了告诉你，我搬到湖州了。", "湖州"),
        ("忘了跟你说我换了工作，现在在报社上班。", "报社"),
        ("别提了，我把腿摔断了，现在在骨科医院上班都得拄拐。", "骨科医院"),
        ("把我以前的住址删了吧，我搬到湖州了。", "湖州"),
    ],
)
def test_what_is_told_beside_is_kept(tmp_path: Path, encoder: Embedder, words: str, kept: str) -> None:
    facts, _ = told(tmp_path, encoder, [words])
    assert any(kept in f for f in facts), facts
