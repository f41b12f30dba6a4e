"""Texts to calibrate and check the token estimate with: everyday sentences and everything that is unlike them."""

from __future__ import annotations

import base64
import random
import unicodedata
from collections.abc import Callable, Iterator

_EN = """
I moved to {city} in {month} because my {relative} works there now.
My {relative} is allergic to {food}, so please don't suggest any.
We talked about the {thing} last {day}, do you remember what you told me?
The meeting with {name} is on {day} at {n}:30, not at noon.
I've been learning to play the {thing} for {n} years, but I still can't read sheet music well.
Could you remind me to call {name} before {day}?
Honestly, I'd rather have {food} for breakfast than anything else.
"{city} was wonderful," she said, "and we'll definitely go back!"
My doctor prescribed ibuprofen and recommended physiotherapy twice a week.
{name}'s birthday is {month} {n}; she'd love a handmade {thing}.
It's raining cats and dogs here in {city}; the kids are stuck inside (again).
No, that's wrong: I never said I liked {food}.
The quarterly report shows a {n}% increase in subscriptions, mostly from small businesses.
I think we should postpone the refactoring until after the release.
Her thesis is about the socioeconomic consequences of deindustrialization.
What's the best way to get from {city} to {city} with a toddler and a stroller?
I bought a second-hand {thing} for ${n}.99 and it's already broken.
When I was a child, my {relative} used to bake {food} every Sunday.
Please call me {name} from now on, everybody does.
He works as a paralegal at a mid-sized law firm and hates commuting.
The wifi password at my {relative}'s house is written on the fridge.
Thanks so much, that solved it! I'll keep that in mind for next time.
I was diagnosed with hypothyroidism and I'm supposed to avoid grapefruit.
We adopted a greyhound called {name}, who sleeps {n} hours a day.
""".strip()
_ZH = """
我上个月搬到了{zcity}，因为公司在那边开了新的办公室。
我{zrel}对{zfood}过敏，点菜的时候请避开。
上次我们聊的那个{zthing}，你还记得是什么牌子吗？
我每天早上{n}点起床，先跑步半小时再去上班。
提醒我{zday}下午三点给{zname}打电话，别忘了。
其实我更喜欢喝茶，咖啡喝多了晚上睡不着觉。
我在{zcity}出生，在{zcity}长大，大学毕业以后才来到这里工作。
不对，我说的是{zname}，不是他的弟弟。
最近工作压力很大，经常加班到十一点多，感觉身体快撑不住了。
{zname}的生日是{n}月{n}号，她想要一台{zthing}当礼物。
我们家养了一只橘猫，名字叫{zname}，今年已经{n}岁了。
帮我看看这份合同有没有问题，金额是{n}万元。
医生说我血压偏高，要少吃盐，多运动，按时吃药。
周末打算和{zrel}一起去爬山，你有没有推荐的路线？
我女儿今年上小学二年级，数学成绩不错，但是语文需要加强。
他以前住在{zcity}，后来因为工作调动搬走了，我们已经很久没有联系。
请以后叫我{zname}，不要再叫我先生了。
项目的截止日期推迟到下周五，大家可以松一口气。
“你放心吧，”她笑着说，“我一定会按时到的！”
我想学做{zfood}，家里有鸡蛋、西红柿和面条，应该怎么做？
如果明天下雨的话，我们就改到室内羽毛球馆打球。
昨天晚上的演唱会太精彩了，我嗓子都喊哑了。
這個週末我想去臺北看展覽，順便吃點好吃的東西。
請問您對訂單的處理結果還滿意嗎？如有疑問，歡迎隨時聯繫。
""".strip()
_JA = """
先月、仕事の都合で大阪に引っ越しました。
私は{n}年前からギターを習っていますが、まだ上手に弾けません。
卵アレルギーなので、レシピから外してください。
明日の午後三時に田中さんに電話するのを忘れないでください。
コーヒーよりも緑茶のほうが好きです。
先週話していたサンドボックス環境の件、どうなりましたか？
娘は小学校二年生で、算数が得意です。
「もう一度やってみよう」と彼は言った。
プロジェクトの締め切りが来週の金曜日に延びました。
ラーメンとカレー、どっちがいいかな。
ありがとうございます、助かりました！
京都の紅葉はとても綺麗だったので、また行きたいです。
""".strip()
_KO = """
지난달에 회사 일 때문에 부산으로 이사했어요.
저는 땅콩 알레르기가 있어서 조심해야 해요.
내일 오후 세 시에 민수 씨에게 전화하라고 알려 주세요.
커피보다 녹차를 더 좋아합니다.
우리 강아지 이름은 초코이고 {n}살이에요.
프로젝트 마감일이 다음 주 금요일로 미뤄졌습니다.
주말에 친구들이랑 등산을 가기로 했는데 비가 온대요.
감사합니다, 덕분에 해결됐어요!
""".strip()
_MIXED = """
我用 Python 和 VS Code 写代码，平时跑在 Ubuntu 上。
帮我把这个 bug 修一下，報錯 is "NoneType has no attribute 'get'"。
明天的 meeting 改到 {n}:00 PM，记得带 MacBook Pro。
My name is 王磊 and I live in 杭州, near 西湖.
我在 GitHub 上提了一个 PR，CI 一直 fail，LGTM 之后再 merge。
今天吃了 pizza🍕，超好吃😋！！
Python の dict と list の違いを教えてください。
iPhone 15 Pro Max 256GB 现在卖 ¥7,999 吗？
订单号 ORD-2024-00817，请查一下 status。
저는 React랑 TypeScript를 써요.
The word 食べる means "to eat" in Japanese.
他的邮箱是 li.lei@example.com，电话 138-0013-8000。
Let's eat 火锅 tonight, ok? 我请客～
""".strip()
_OTHER = """
Вчера я переехал в Москву и теперь работаю программистом.
Напомни мне позвонить маме в пятницу, пожалуйста!
انتقلت إلى القاهرة الشهر الماضي بسبب العمل.
أنا لا أحب القهوة، أفضل الشاي الأخضر.
मैं पिछले महीने काम के लिए दिल्ली आ गया।
मुझे मूंगफली से एलर्जी है, कृपया ध्यान रखें।
เดือนที่แล้วฉันย้ายไปเชียงใหม่เพราะงาน
ฉันแพ้ถั่วลิสง กรุณาระวังด้วย
Μετακόμισα στην Αθήνα τον περασμένο μήνα.
עברתי לתל אביב בחודש שעבר בגלל העבודה.
Ich bin letzten Monat nach München gezogen, weil die Miete günstiger ist.
J'ai déménagé à Besançon l'été dernier ; ma sœur m'a aidé.
El año pasado aprendí a cocinar paella con mi abuela, ¡qué rica!
Przeprowadziłem się do Łodzi, żeby być bliżej rodziny.
Tháng trước tôi chuyển đến Đà Nẵng để làm việc.
Geçen ay iş için İstanbul'a taşındım, çok güzel şehir.
আমি গত মাসে ঢাকায় এসেছি।
நான் சென்னையில் வசிக்கிறேன்.
მე თბილისში ვცხოვრობ.
Ես ապրում եմ Երևանում։
ཁྱེད་རང་བདེ་མོ།
አዲስ አበባ ውስጥ እኖራለሁ።
ខ្ញុំរស់នៅភ្នំពេញ។
ကျွန်တော် ရန်ကုန်မှာ နေတယ်။
""".strip()
_SLOTS = {
    "city": "Paris|Beijing|Zaragoza|San Francisco|Reykjavik|Leeds|Wroclaw|New Orleans",
    "month": "January|March|August|October",
    "relative": "sister|husband|grandmother|mother-in-law|nephew|wife|stepfather",
    "food": "peanuts|shellfish|sourdough bread|pancakes|gluten|okonomiyaki|lasagna",
    "thing": "oboe|ukulele|budget|espresso machine|bike|scrapbook|dishwasher|telescope",
    "day": "Monday|Thursday|weekend|Sunday|week",
    "name": "Caroline|Melanie|Anna|Giovanni|Siobhan|Dr. Nguyen|Bob|Oluwaseun",
    "zcity": "上海|杭州|成都|哈尔滨|乌鲁木齐|深圳|呼和浩特",
    "zrel": "妈妈|姐姐|先生|外婆|侄子|太太",
    "zfood": "花生|海鲜|红烧肉|芒果|麻婆豆腐|榴莲",
    "zthing": "空气净化器|笔记本电脑|自行车|吉他|洗碗机",
    "zday": "周一|星期五|明天|后天",
    "zname": "王磊|小芳|欧阳娜|张伟|旺财|李雷",
}
_CODE = r"""
def load(path: str) -> dict[str, int]:
    with open(path, encoding="utf-8") as f:
        return {k: int(v) for k, v in (line.split("=") for line in f)}
for (let i = 0; i < items.length; i++) {
	const { id, userName } = items[i];
	console.log(`${id}: ${userName ?? "n/a"}`);
}
SELECT u.id, COUNT(*) AS n FROM users u LEFT JOIN orders o ON o.user_id = u.id
  WHERE u.created_at >= '2024-01-01' GROUP BY u.id HAVING n > 3;
#include <vector>
int main(int argc, char **argv) {
        std::vector<int> v{1, 2, 3};
        return v.size() == 3 ? 0 : -1;
{"user": {"id": 4711, "tags": ["a", "b"], "active": true, "score": 0.87, "address": null}}
git commit -am "fix: handle None in parse_args()" && git push --force-with-lease origin HEAD:refs/heads/JIRA-1
    at com.example.service.UserServiceImpl.findByUserName(UserServiceImpl.java:142) ~[classes/:na]
\begin{equation}
  \int_0^\infty e^{-x^2}\,dx = \frac{\sqrt{\pi}}{2}
<div class="card-body"><a href="/users/42?tab=profile#top" onclick="go()">Profil&eacute;</a></div>
// ---------------------------------------------------------------------------
    /** @param {string} name - the user's name (see https://example.com/docs#names) */
""".strip()


# The most frequent characters: those that may be one token.
_FREQUENT_HAN = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后"
    "作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因"
    "只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高认间由问很最重并物手"
    "应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教"
    "儿原东声提立及比员解水名真论处走义各入几口检 ，。A1"
)


def _templates(text: str) -> list[str]:
    return text.split("\n")


def _fill(template: str, random_: random.Random) -> str:
    while (start := template.find("{")) >= 0:
        end = template.index("}", start)
        slot = template[start + 1 : end]
        value = str(random_.randint(1, 30)) if slot == "n" else random_.choice(_SLOTS[slot].split("|"))
        template = template[:start] + value + template[end + 1 :]
    return template


def _sentences(templates: str, glue: str) -> Callable[[random.Random], str]:
    choices = _templates(templates)
    return lambda r: glue.join(_fill(r.choice(choices), r) for _ in range(r.randint(1, 4)))


def _characters(first: int, last: int) -> Callable[[random.Random], str]:
    assigned = [chr(c) for c in range(first, last + 1) if unicodedata.category(chr(c)) not in {"Cn", "Co", "Cs"}]
    return lambda r: "".join(r.choice(assigned) for _ in range(r.randint(1, 40)))


def _table(r: random.Random) -> str:
    rows = [
        [r.choice(["name", "qty", "€ 3.50", "合计", "n/a", str(r.randint(0, 10**6))]) for _ in range(4)]
        for _ in range(5)
    ]
    return "\n".join(["| " + " | ".join(row) + " |" for row in [*rows[:1], ["---", ":--", "--:", "----"], *rows[1:]]])


def _numbers(r: random.Random) -> str:
    made = [
        lambda: str(r.randint(0, 10 ** r.randint(1, 24))),
        lambda: f"{r.uniform(-1e6, 1e6):,.3f}",
        lambda: f"{r.randint(1990, 2030)}-{r.randint(1, 12):02}-{r.randint(1, 28):02}T{r.randint(0, 23):02}:00:00Z",
        lambda: f"+{r.randint(1, 99)} {r.randint(100, 999)} {r.randint(1000, 9999)} {r.randint(1000, 9999)}",
        lambda: "".join(r.choice("０１２３４５６７８９①②Ⅳ½²三万") for _ in range(r.randint(1, 12))),
        lambda: f"{r.getrandbits(128):032x}",
    ]
    return r.choice([" ", ", ", "\n", "/"]).join(r.choice(made)() for _ in range(r.randint(1, 8)))


def _url(r: random.Random) -> str:
    word = lambda: "".join(r.choice("abcdefghijklmnopqrstuvwxyz0123456789-_%") for _ in range(r.randint(2, 14)))  # noqa: E731
    return f"https://{word()}.{word()}.example/{word()}/{word().title()}?{word()}={word()}&id={r.getrandbits(60)}#{word()}"


def _emoji(r: random.Random) -> str:
    pool = [
        "😀",
        "👩\u200d👩\u200d👧\u200d👦",
        "👍🏽",
        "❤\ufe0f",
        "🇨🇳",
        "1\ufe0f\u20e3",
        "🥹",
        "🫠",
        "☕",
        "🏴\U000e0067\U000e0062",
        "好",
        " ok ",
        "!",
    ]
    return "".join(r.choice(pool) for _ in range(r.randint(1, 20)))


def _spaces(r: random.Random) -> str:
    pool = [
        " ",
        "  ",
        "    ",
        "\n",
        "\n\n",
        "\t",
        "\r\n",
        "\u3000",
        "\u00a0",
        " " * 40,
        "\n" * 15,
        "x",
        "好",
        "7",
        ".",
        "- ",
    ]
    return "".join(r.choice(pool) for _ in range(r.randint(1, 25)))


KINDS: dict[str, tuple[int, Callable[[random.Random], str]]] = {
    "en": (420, _sentences(_EN, " ")),
    "zh": (420, _sentences(_ZH, "")),
    "ja": (180, _sentences(_JA, "")),
    "ko": (160, _sentences(_KO, " ")),
    "mixed": (200, _sentences(_MIXED, "\n")),
    "other scripts": (260, _sentences(_OTHER, " ")),
    "code": (140, lambda r: "\n".join(r.sample(_CODE.split("\n"), r.randint(2, 6)))),
    "url": (120, lambda r: " ".join(_url(r) for _ in range(r.randint(1, 3)))),
    "base64": (100, lambda r: base64.b64encode(r.randbytes(r.randint(3, 200))).decode()),
    "table": (80, _table),
    "numbers": (160, _numbers),
    "emoji": (120, _emoji),
    "white space": (120, _spaces),
    "rare han": (140, _characters(0x3400, 0x9FFF)),
    "rarer han": (40, _characters(0x20000, 0x2A6DF)),
    "random bmp": (100, _characters(0xA1, 0xFFFD)),
    "random all": (60, _characters(0x21, 0x1FAFF)),
    "random ascii": (100, _characters(0x20, 0x7E)),
}


def corpus(seed: int = 1) -> Iterator[tuple[str, str]]:
    """(kind, text): the same texts for the same seed."""
    random_ = random.Random(seed)
    for kind, (number, make) in KINDS.items():
        for _ in range(number):
            yield kind, make(random_)


def hostile(number: int, seed: int = 2) -> Iterator[tuple[str, str]]:
    """Random mixtures over narrow alphabets, where merges across unusual borders are frequent."""
    random_ = random.Random(seed)
    alphabets = [
        "abcdefghijklmnopqrstuvwxyz",
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "aeinorst AEINST.,'",
        "etaoinshr lucéèüñçœøłđ\u0301'’",
        " \t\n\r.x-'/",
        "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ \n",
        "'srtvemdlSTRVEMDL ax",
        _FREQUENT_HAN,
        "のにはをたがでてとしれさいるあらんかなもアイウエオカンスリル日本人語今年大学 。",
        "가나다라마바사아자차카타파하이는을에의로고도한어지기시리스인사대터트태 .",
        "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфё АВСТ.",
        "ابتثجحخدذرزسشصضطظعغفقكلمنهوي ءةى",
        "कखगघचछजझटठडढणतथदधनपफबभमयरलवशषसहािीुूेैोौ् ंः",
        "กขคงจฉชซญดตถทธนบปผฝพฟภมยรลวศษสหอฮะาิีึืุูเแโใไ็่้์ 检一",
        "0123456789 .,:-/",
    ]
    words = [w for text in (_EN, _MIXED, _OTHER, _CODE) for w in text.split()]
    for _ in range(number):
        if random_.random() < 0.2:
            glue = ["", "", " ", "'", "“", "’", "-", "\t", "\n", "的", "é", "  ", "1", "…"]
            text = "".join(random_.choice(words) + random_.choice(glue) for _ in range(random_.randint(1, 8)))
        else:
            alphabet = random_.choice(alphabets)
            text = "".join(random_.choice(alphabet) for _ in range(random_.randint(1, 60)))
        yield "hostile", text
