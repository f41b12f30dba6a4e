"""Broad statements that give up a class of things: every narrower liking of it ends, and nothing else does.

Each turn is a message of its own, a day after the one before.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.embed.base import Embedder
from ltm_core.types import Fact
from ltm_core.write.endings.reversals import reversed_classes
from ltm_core.write.known.broad import broad_classes, names_member
from ltm_core.write.read.clauses import split
from ltm_core.write.read.scopes import read
from ltm_core.write.words.load import default_lexicon

BEGIN = datetime(2025, 3, 3, 2, tzinfo=UTC)


def told(tmp_path: Path, encoder: Embedder, turns: Sequence[str]) -> list[Fact]:
    """What is current and positive after the turns."""
    with LongTermMemory.open(tmp_path / "store", embedder=encoder, timezone="UTC") as memory:
        for n, words in enumerate(turns):
            memory.observe(user_id="u", session_id=f"s{n}", user=words, at=BEGIN + timedelta(days=n))
        return [f for f in memory.facts(user_id="u") if f.is_positive]


def holds(facts: Sequence[Fact], words: str) -> bool:
    return any(words in f"{f.object} {f.text}" for f in facts)


CHINESE: list[tuple[list[str], str, list[str], list[str]]] = [
    (["我爱吃三文鱼", "小龙虾我百吃不厌", "我喜欢吃东坡肉"], "海鲜我一口都不碰了", ["三文鱼", "小龙虾"], ["东坡肉"]),
    (
        ["我喜欢喝精酿", "威士忌也是我的心头好", "我爱喝龙井"],
        "医生发话了，什么酒我都不能再喝，从此任何酒都不沾",
        ["精酿", "威士忌"],
        ["龙井"],
    ),
    (["刑侦剧我场场都爱看", "我常追甄嬛传", "我喜欢听相声"], "电视剧我全都不追了", ["刑侦剧", "甄嬛传"], ["相声"]),
    (["周末我爱看英超", "NBA我也追得勤", "我喜欢打羽毛球"], "我对体育赛事提不起兴趣了", ["英超", "NBA"], ["羽毛球"]),
    (["我爱刷抖音", "快手我也常看", "我喜欢听播客"], "短视频我看烦了", ["抖音", "快手"], ["播客"]),
    (["我爱玩消消乐", "蛋仔派对我也玩得多", "我喜欢下围棋"], "手机游戏我全删了", ["消消乐", "蛋仔"], ["围棋"]),
    (["我爱吃羊肉串", "红烧肉我特别爱吃", "我喜欢吃豆腐脑"], "我现在改吃素了", ["羊肉串", "红烧肉"], ["豆腐脑"]),
    (["我喜欢巴赫", "肖邦我百听不厌", "我爱听崔健"], "古典音乐我彻底听腻了", ["巴赫", "肖邦"], ["崔健"]),
    (["我喜欢玫瑰味的香水", "雪松味的我也喜欢", "我爱穿亚麻"], "所有的香水我都戒了", ["玫瑰", "雪松"], ["亚麻"]),
    (
        ["我爱吃提拉米苏", "蛋黄酥我也好这一口", "早上我就好一碗豆浆"],
        "甜食一概不碰了",
        ["提拉米苏", "蛋黄酥"],
        ["豆浆"],
    ),
    (["我喜欢用React", "我也喜欢用Svelte", "我习惯用Neovim"], "前端我再也不写了", ["React", "Svelte"], ["Neovim"]),
    (["我爱打麻将", "斗地主我也玩得溜", "我喜欢钓鱼"], "凡是牌类的我都不打了", ["麻将", "斗地主"], ["钓鱼"]),
    (
        ["我喜欢吃蓝纹奶酪", "马苏里拉我也爱吃", "我爱吃可颂"],
        "奶酪我是一点都不想再吃了",
        ["蓝纹", "马苏里拉"],
        ["可颂"],
    ),
    (["我爱织毛衣", "十字绣我也喜欢", "我喜欢看话剧"], "手工我全放弃了", ["毛衣", "十字绣"], ["话剧"]),
    (["我爱喝珍珠奶茶", "霸王茶姬我常点", "我喜欢喝铁观音"], "奶茶我戒了", ["珍珠", "霸王茶姬"], ["铁观音"]),
    (
        ["我爱吃重庆火锅", "潮汕牛肉火锅我也好这口", "我喜欢吃饺子"],
        "现在哪种火锅我都不吃了",
        ["重庆火锅", "潮汕"],
        ["饺子"],
    ),
]


@pytest.mark.parametrize(("likings", "reversal", "over", "kept"), CHINESE)
def test_a_broad_reversal_ends_every_liking_of_the_class_and_nothing_else(
    tmp_path: Path, encoder: Embedder, likings: list[str], reversal: str, over: list[str], kept: list[str]
) -> None:
    before = told(tmp_path / "before", encoder, likings)
    assert all(holds(before, w) for w in (*over, *kept)), before
    facts = told(tmp_path, encoder, [*likings, reversal])
    assert [w for w in over if holds(facts, w)] == []
    assert [w for w in kept if not holds(facts, w)] == []


@pytest.mark.parametrize(
    ("words", "liked"),
    [
        ("点心最喜欢桃酥。", "桃酥"),
        ("早饭偏爱胡辣汤。", "胡辣汤"),
        ("音乐我只喜欢听民谣。", "民谣"),
        ("露营这事我很着迷。", "露营"),
        ("手机我不喜欢苹果。", ""),
        ("电影我爱人最喜欢泰坦尼克。", ""),
        ("数学这科孩子很感兴趣。", ""),
    ],
)
def test_a_liking_told_with_its_class_in_front(tmp_path: Path, encoder: Embedder, words: str, liked: str) -> None:
    found = [f.object for f in told(tmp_path, encoder, [words]) if f.relation == "likes"]
    assert found == ([liked] if liked else [])


WIDER: list[tuple[list[str], str, list[str], list[str]]] = [
    (["我爱吃叉烧", "我爱吃猪脚饭", "我爱吃羊肉串"], "我信教了，不碰猪肉", ["叉烧", "猪脚饭"], ["羊肉串"]),
    # parted from in other words, and what a class is called
    (["我爱吃榴莲", "杨梅我也爱吃", "我喜欢爬山"], "我跟水果彻底绝交了", ["榴莲", "杨梅"], ["爬山"]),
    (["我最馋毛血旺", "我爱喝小米粥"], "凡是辣菜我一筷子都不动了", ["毛血旺"], ["小米粥"]),
    (["打排球是我的爱好", "我喜欢游泳"], "我的球类运动全部到此为止", ["排球"], ["游泳"]),
    (["我爱喝汾酒", "我爱听评书"], "凡是带酒精的我滴酒不沾", ["汾酒"], ["评书"]),
    (["我爱吃白灼虾", "我喜欢吃年糕"], "海鲜河鲜从此跟我无缘", ["白灼虾"], ["年糕"]),
    (["我爱吃油泼面", "我爱喝豆浆"], "面食一律从我的饭桌上撤掉了", ["油泼面"], ["豆浆"]),
    (["我喜欢买银行股", "我的爱好是集邮"], "亏怕了，任何股票都不买了", ["银行股"], ["集邮"]),
    (["我喜欢跑马拉松", "我爱下军棋"], "所有剧烈运动我都放弃了", ["马拉松"], ["军棋"]),
    (["我喜欢柯基", "我爱种多肉"], "凡是动物我都不喜欢了", ["柯基"], ["多肉"]),
    (["我爱看诡秘之主", "我喜欢练毛笔字"], "网络小说这个坑我爬出来了，哪本都不看", ["诡秘"], ["毛笔字"]),
    (["我喜欢用大地色的眼影", "我喜欢穿汉服"], "我什么妆都不化了", ["眼影"], ["汉服"]),
    (["我爱吃薯片", "我爱唱歌"], "零食从我的购物清单里消失了", ["薯片"], ["唱歌"]),
    # the class in the clause before
    (["我爱刷抖音", "我喜欢练书法"], "短视频软件这一类的，我都不用了", ["抖音"], ["书法"]),
    (["我爱喝拿铁", "我爱吃面包"], "凡含咖啡因的，我一概谢绝", ["拿铁"], ["面包"]),
    # with what is wrong with it; by what its things are like
    (["我爱看老友记", "我喜欢做瑜伽"], "美剧越拍越烂，我一部都不追了", ["老友记"], ["瑜伽"]),
    (["我爱看太阳的后裔", "我爱听快板"], "一听韩剧就心烦，哪部都不想看了", ["太阳的后裔"], ["快板"]),
    (["我喜欢露营", "我喜欢做蛋糕"], "膝盖坏了，户外活动我一样也不参加了", ["露营"], ["蛋糕"]),
    (["我爱吃烤全羊", "我爱吃煮玉米"], "肉我全不吃了", ["烤全羊"], ["玉米"]),
    (["我喜欢打猎", "我爱吃饺子"], "信佛之后，凡是杀生的事我一律不干了", ["打猎"], ["饺子"]),
    (["我爱去夜店", "我喜欢下棋"], "人多嘈杂的地方我是真受够了", ["夜店"], ["下棋"]),
    (["我爱看鬼片", "我爱看球赛"], "神神鬼鬼的东西我统统看不下去", ["鬼片"], ["球赛"]),
    (["我喜欢养绿萝", "我喜欢遛狗"], "带叶子的东西我一律不伺候了", ["绿萝"], ["遛狗"]),
    (["我爱吃小米辣", "我爱喝豆浆"], "胃溃疡之后刺激的东西我都不想碰了", ["小米辣"], ["豆浆"]),
    (["我喜欢用蓝风铃", "我喜欢穿汉服"], "带香味的东西我全都受不了了", ["蓝风铃"], ["汉服"]),
    (["我喜欢逛淘宝", "我喜欢爬山"], "逛街这种事我彻底没劲了", ["逛淘宝"], ["爬山"]),
    # of the speaker's people
    (["我外婆爱看大宅门", "我外婆喜欢纳鞋垫"], "外婆对电视剧彻底没兴趣了", ["大宅门"], ["鞋垫"]),
    (["我爸爱打麻将", "我爸喜欢养画眉"], "我爸把棋牌这一类全戒了", ["麻将"], ["画眉"]),
]


@pytest.mark.parametrize(("likings", "reversal", "over", "kept"), WIDER)
def test_a_class_parted_from_in_other_words(
    tmp_path: Path, encoder: Embedder, likings: list[str], reversal: str, over: list[str], kept: list[str]
) -> None:
    facts = told(tmp_path, encoder, [*likings, reversal])
    assert [w for w in over if holds(facts, w)] == []
    assert [w for w in kept if not holds(facts, w)] == []


STAYS: list[tuple[str, str, str]] = [
    ("我爱看大宅门", "我外婆什么电视剧都不看了", "大宅门"),
    ("我爱吃三文鱼", "海鲜从那家店的菜单里撤掉了", "三文鱼"),
    ("我喜欢买银行股", "任何股票我都不推荐给别人", "银行股"),
    ("我爱刷抖音", "短视频？没怎么看过", "抖音"),
    ("我爱喝拿铁", "凡是咖啡馆，我都打五折", "拿铁"),
    ("我喜欢登山", "跑步我彻底戒了", "登山"),
    ("我爱吃油泼面", "所有面食全部打八折", "油泼面"),
    # some of it, for a while, somebody else's, a plan, one thing of the class
    ("我爱吃三文鱼", "这几天海鲜我先不吃了", "三文鱼"),
    ("我爱吃三文鱼", "我弟海鲜一口都不碰了", "三文鱼"),
    ("我爱看甄嬛传", "我打算以后电视剧都不看了", "甄嬛传"),
    ("我爱看甄嬛传", "昨晚那部电视剧我不看了", "甄嬛传"),
    ("我喜欢喝精酿", "除了啤酒，什么酒我都不喝了", "精酿"),
    ("我喜欢巴赫", "我不怎么听古典音乐", "巴赫"),
    ("我爱吃芒果", "水果罐头我不吃了", "芒果"),
    ("我爱吃芒果", "如果血糖高，水果我就一口都不吃了", "芒果"),
    ("我爱打麻将", "昨天的牌局我不打了", "麻将"),
    ("我在上雅思班", "钢琴的培训班我不上了", "雅思班"),
    ("我爱看太阳的后裔", "韩剧的男主角都太假，哪个都不喜欢", "太阳的后裔"),
    ("我爱吃烤全羊", "羊肉市场太吵，我一次都不想去了", "烤全羊"),
    ("我爱看鬼片", "昨晚那部吓人的片子我看不下去", "鬼片"),
    ("我爱喝奶茶", "茶我一口都不喝了", "奶茶"),
    ("我爱听周杰伦", "装修的声音我都受不了了", "周杰伦"),
    # a thing of another class by its whole name; work with it; what one cannot have
    ("我喜欢用苹果手机", "水果我一口都不吃了", "苹果手机"),
    ("我爱喝菊花茶", "鲜花我再也不养了", "菊花茶"),
    ("我爱吃草莓蛋糕", "水果我一概不吃了", "草莓蛋糕"),
    ("我在海鲜市场卖螃蟹", "海鲜我一口不吃了", "螃蟹"),
    ("我对花生过敏", "坚果我都不吃了", "花生"),
    ("我爱吃茶叶蛋", "茶我再也不喝了", "茶叶蛋"),
]


GIVEN_UP: list[tuple[str, str]] = [
    ("什么综艺我都看不下去了", "variety"),
    ("火锅烧烤我都不吃了", "barbecue"),
    ("海鲜和肉我都不吃了", "seafood"),
    ("我现在一杯咖啡都不喝", "coffee"),
    ("辣的一点都不能吃了", "spicy"),
    ("鲜花我看都不想看了", "flower"),
    ("我彻底告别碳水了", "carb"),
    ("我把所有的社交软件都卸载了", "social_platform"),
    ("营销短信一律别给我发了", "marketing"),
    ("我不再看任何电影", "film"),
    ("我跟甜食说再见了", "sweet"),
    ("手机游戏我全删了", "mobile_game"),
]


@pytest.mark.parametrize(("words", "cls"), GIVEN_UP)
def test_the_class_that_a_clause_gives_up(words: str, cls: str) -> None:
    (read_,) = read(split(words, default_lexicon()), default_lexicon())
    assert not read_.veto
    assert cls in reversed_classes(read_, default_lexicon())


@pytest.mark.parametrize(
    "words",
    [
        "水果我没买",
        "海鲜市场我不去了",
        "那部电视剧我不看了",
        "电影票我退了",
        "咖啡机我扔了",
        "游戏我没通关",
        "舞蹈课我给女儿停了",
        "我没有戒烟",
        "他们家的火锅我再也不吃了",
        "打球的时候我不戴眼镜",
        "面我煮多了",
        "茶我不喝凉的",
        "手机游戏我不怎么玩",
    ],
)
def test_clauses_that_give_up_no_class(words: str) -> None:
    (read_,) = read(split(words, default_lexicon()), default_lexicon())
    assert reversed_classes(read_, default_lexicon()) == ()


@pytest.mark.parametrize(("liking", "later", "kept"), STAYS)
def test_what_gives_up_no_whole_class_ends_nothing(
    tmp_path: Path, encoder: Embedder, liking: str, later: str, kept: str
) -> None:
    facts = told(tmp_path, encoder, [liking, later])
    assert holds(facts, kept), facts


ENGLISH: list[tuple[list[str], str, list[str], list[str]]] = [
    (
        ["I love chorizo.", "I really like char siu.", "I love roast chicken."],
        "I converted to Islam and don't eat pork any more.",
        ["chorizo", "char siu"],
        ["roast chicken"],
    ),
    (
        ["I love brie.", "I really like stilton.", "I love sourdough."],
        "I've given up cheese altogether.",
        ["brie", "stilton"],
        ["sourdough"],
    ),
    (
        ["I love Bach.", "I like Chopin.", "I like reggae."],
        "I don't listen to classical music any more.",
        ["Bach", "Chopin"],
        ["reggae"],
    ),
    (
        ["I love peonies.", "I like tulips.", "I love baking."],
        "I don't like flowers any more.",
        ["peonies", "tulips"],
        ["baking"],
    ),
    (
        ["I enjoy knitting.", "I love quilting.", "I enjoy birdwatching."],
        "I've given up crafts completely.",
        ["knitting", "quilting"],
        ["birdwatching"],
    ),
    (
        ["I love sitcoms.", "I like nordic noir.", "I love podcasts."],
        "I've stopped watching tv series.",
        ["sitcoms", "noir"],
        ["podcasts"],
    ),
    (
        ["I love croissants.", "I like eclairs.", "I love porridge."],
        "I've stopped eating pastries.",
        ["croissants", "eclairs"],
        ["porridge"],
    ),
    (["I love lamb curry", "I like sausages", "I love lentil soup"], "I've gone vegan.",
     ["lamb", "sausages"], ["lentil"]),
    (["I like Mozart", "I love Brahms", "I like ABBA"], "Classical music bores me stiff now.",
     ["Mozart", "Brahms"], ["ABBA"]),
    (["My tipple is Rioja", "I like gin", "I collect coins"], "Since June I no longer drink, not even at Christmas.",
     ["Rioja", "gin"], ["coins"]),
    (["I love brownies", "I like cupcakes", "I love olives"], "I've had it with cakes.",
     ["brownies", "cupcakes"], ["olives"]),
    (["I like cod", "I love haddock", "I love chips"], "Fish has been crossed off my menu for ever.",
     ["cod", "haddock"], ["chips"]),
    (["I love salsa dancing", "I like tango", "I like rum"], "Dancing holds no joy for me any longer.",
     ["salsa", "tango"], ["rum"]),
    (["I like fudge", "I love toffee", "I love nuts"], "These days I eat no sweets at all.",
     ["fudge", "toffee"], ["nuts"]),
    (["I love mussels", "I like crab", "I love beef"], "All shellfish is off limits for me from now on.",
     ["mussels", "crab"], ["beef"]),
    (["I like Fortnite", "I love Minecraft", "I enjoy rowing"], "My interest in video games has died.",
     ["Fortnite", "Minecraft"], ["rowing"]),
    (["I enjoy thrillers", "I like Agatha Christie", "I paint on Sundays"],
     "Reading novels has become a chore, so I've given it up.", ["thrillers", "Agatha"], ["paint"]),
    (["I'm a great lover of red wine", "I enjoy port", "I like chess"],
     "I've turned against alcohol in all its forms.", ["red wine", "port"], ["chess"]),
    (["I like cheddar", "I love yoghurt", "I'm partial to ginger beer"], "Dairy disgusts me since the operation.",
     ["cheddar", "yoghurt"], ["ginger beer"]),
    (["I love spaniels", "I like pugs", "I love hens"], "I'm over dogs, all of them.",
     ["spaniels", "pugs"], ["hens"]),
    (["My son likes carrots", "My son loves peas", "My son loves lego"],
     "My son refuses to eat vegetables of any kind now.", ["carrots", "peas"], ["lego"]),
    (["I like flat whites", "I love espresso", "I'm partial to ginger beer"],
     "Coffee in any form turns my stomach these days and I've stopped drinking it.",
     ["flat white", "espresso"], ["ginger beer"]),
    (["I like Iron Maiden", "I love Metallica", "I love Chopin"], "Heavy metal leaves me completely cold nowadays.",
     ["Maiden", "Metallica"], ["Chopin"]),
    (["I'm a fan of Everton", "I like watching snooker", "I play chess"],
     "I no longer watch any sport of any kind.", ["Everton", "snooker"], ["chess"]),
    (["I like Val McDermid", "I love Ian Rankin", "I like historical sagas"],
     "Crime novels no longer interest me at all, whoever wrote them.", ["McDermid", "Rankin"], ["sagas"]),
    (["I love prawns", "I like crab", "I love beef"],
     "Shellfish makes my throat swell, so I stay away from all of it.", ["prawns", "crab"], ["beef"]),
    (["I like holidays in Spain", "I love city breaks in Prague", "I enjoy knitting"],
     "I've finished with travelling abroad, anywhere.", ["Spain", "Prague"], ["knitting"]),
    (["I love croissants", "I like chess"], "I'm coeliac, so anything with gluten is out for good.",
     ["croissants"], ["chess"]),
    (["I like a spot of salmon on Sundays", "I like chess"], "Turned vegan in January and haven't slipped once.",
     ["salmon"], ["chess"]),
    (["I enjoy a cigar after dinner", "I like chess"], "Quit tobacco in all its forms the day the scan came back.",
     ["cigar"], ["chess"]),
    (["I love riding my Harley", "I like my road bike"], "Motorbikes of any make are finished for me.",
     ["Harley"], ["road bike"]),
    (["I have a soft spot for hazelnut ice cream", "I like chess"],
     "Dairy and nuts, I've had to cut them out altogether.", ["hazelnut"], ["chess"]),
    (["My weekly treat is a Big Mac", "I like chess"], "I don't eat any fast food anymore.", ["Mac"], ["chess"]),
]  # fmt: skip


@pytest.mark.parametrize(("likings", "reversal", "over", "kept"), ENGLISH)
def test_english_broad_reversals(
    tmp_path: Path, encoder: Embedder, likings: list[str], reversal: str, over: list[str], kept: list[str]
) -> None:
    facts = told(tmp_path, encoder, [*likings, reversal])
    assert [w for w in over if holds(facts, w)] == []
    assert [w for w in kept if not holds(facts, w)] == []


@pytest.mark.parametrize(
    ("liking", "later", "kept"),
    [
        ("I love brie.", "I cancelled the cheese order.", "brie"),
        ("I love brie.", "My sister has given up cheese.", "brie"),
        ("I love tulips.", "I've stopped buying flowers for the office this month.", "tulips"),
        ("I love Bach.", "The classical music station shut down.", "Bach"),
    ],
)
def test_english_statements_of_one_thing_end_nothing(
    tmp_path: Path, encoder: Embedder, liking: str, later: str, kept: str
) -> None:
    facts = told(tmp_path, encoder, [liking, later])
    assert holds(facts, kept), facts


def test_the_longest_name_says_of_which_class_a_thing_is() -> None:
    assert names_member("我爱吃苹果", ["fruit"])
    assert not names_member("我用苹果手机", ["fruit"])
    assert names_member("我爱看悬疑剧和古装剧", ["series"])
    assert not names_member("我爱看悬疑小说", ["series"])
    assert names_member("Svelte 也喜欢用", ["frontend"])
    assert names_member("lamb kebabs", ["meat"])
    assert not names_member("an apple watch", ["fruit"])


def test_a_class_holds_the_members_of_the_classes_in_it() -> None:
    broad = broad_classes()
    assert len(broad.members) > 200
    assert "可颂" in broad.members["sweet"]
    assert "lattes" in broad.members["caffeine"]
    assert broad.names["电视剧"] == frozenset({"series"})


@pytest.mark.parametrize(
    ("liking", "words", "kept"),
    [
        ("I love strawberries", "I've gone off fruit for the moment.", "strawberries"),
        ("I love strawberries", "I've gone off fruit juice.", "strawberries"),
        ("I love strawberries", "I can't stand fruit except strawberries.", "strawberries"),
        ("I love strawberries", "My brother has gone off fruit completely.", "strawberries"),
        ("I love strawberries", "I don't eat much fruit these days.", "strawberries"),
        ("I love strawberries", "I'm thinking of giving up fruit altogether.", "strawberries"),
        ("I love brie", "I've stopped buying the cheese from that stall.", "brie"),
        ("I love brie", "The cheese is off, it smells.", "brie"),
        ("I love steak", "Some meat makes me sick these days.", "steak"),
        ("I love lamb", "I don't like meat pies any more.", "lamb"),
        ("I love techno", "I can't listen to electronic music at work.", "techno"),
        ("I like Fortnite", "The video games are all in the loft now.", "Fortnite"),
        ("I love red wine", "Wine always gives me a headache.", "red wine"),
        # work with it; what one cannot have; a thing of one's own
        ("I sell roses at the market", "I can't stand flowers any more.", "roses"),
        ("I'm allergic to prawns", "I've gone off seafood altogether.", "prawns"),
        ("I play tennis on Mondays", "I've stopped watching sport on television.", "tennis"),
        ("I have a spaniel called Rex", "I can't stand dogs any more.", "Rex"),
        ("I love cheddar", "I'm no longer vegan, I missed omelettes too much.", "cheddar"),
        ("I like bacon", "I've stopped being vegetarian.", "bacon"),
        ("I love bacon", "My sister turned vegan in January and hasn't slipped once.", "bacon"),
        ("I live in Barcelona", "I've finished with travelling abroad for good.", "Barcelona"),
        ("I work at McDonald's", "I'm through with fast food, full stop.", "McDonald"),
        ("I'm a fan of Everton", "My knee is finished, so I no longer play any sport.", "Everton"),
        ("I'm a fan of Everton", "I've given up playing sport altogether.", "Everton"),
        ("I love fruit gums", "Sweets give me a boost, so I take the whole lot.", "gums"),
        ("I like tea with milk", "Everything with milk in it is on offer this week.", "milk"),
    ],
)
def test_what_gives_up_no_english_class(
    tmp_path: Path, encoder: Embedder, liking: str, words: str, kept: str
) -> None:
    assert holds(told(tmp_path, encoder, [liking, words]), kept)
