"""Seeded talk of one invented person, half English, half Chinese: realistic in length and in how words repeat."""

from __future__ import annotations

import random
from collections.abc import Iterator

_EN_OPEN = (
    "Yesterday",
    "This morning",
    "Last weekend",
    "After work",
    "On the train",
    "Before dinner",
    "Honestly,",
)
_EN_WHO = (
    "I",
    "my sister Marta",
    "my neighbour Paul",
    "our team lead",
    "the landlord",
    "my friend Ines",
    "grandma",
)
_EN_DID = (
    "bought",
    "repaired",
    "forgot",
    "talked about",
    "is saving for",
    "showed me",
    "complained about",
    "sold",
)
_EN_WHAT = (
    "an old bicycle", "the coffee machine", "a ticket to Lisbon", "the rent", "a new keyboard", "a telescope",
    "a sourdough recipe", "the quarterly report", "a second-hand camera", "a piano course", "a rescue dog",
    "the broken heating", "the visa papers", "the marathon plan", "the garden fence", "the kitchen renovation",
)  # fmt: skip
_EN_WHY = (
    "because the winter was long", "and it took the whole afternoon", "although nobody asked for it",
    "so now the budget is tight", "and we laughed about it later", "which reminded me of university",
    "since the old one broke in April", "and the invoice number is INV-{n}",
)  # fmt: skip
_ZH_OPEN = ("昨天", "今天早上", "上个周末", "下班以后", "在地铁上", "晚饭前", "说实话，")
_ZH_WHO = ("我", "我妹妹", "邻居老王", "我们组长", "房东", "朋友小林", "外婆")
_ZH_DID = ("买了", "修好了", "忘记了", "聊到了", "正在攒钱买", "给我看了", "抱怨了", "卖掉了")
_ZH_WHAT = (
    "一辆旧自行车", "咖啡机", "去杭州的车票", "这个月的房租", "新键盘", "院子的围栏", "酸面包的做法", "季度报告",
    "一台二手相机", "坏掉的暖气", "钢琴课", "签证材料", "一只流浪狗", "马拉松计划", "一架望远镜", "厨房装修",
)  # fmt: skip
_ZH_WHY = (
    "因为冬天太长了", "花了整整一个下午", "虽然没人要求", "所以现在预算很紧", "后来大家都笑了",
    "让我想起大学的时候", "因为旧的四月就坏了", "发票号是INV-{n}",
)  # fmt: skip
_QUESTIONS = (
    "What did {en} do with {thing}?", "Who talked about {thing} last month?", "When was {thing} repaired?",
    "{zh}和{zhing}是怎么回事？", "谁提到过{zhing}？", "为什么要买{zhing}？",
)  # fmt: skip


def sentences(seed: int) -> Iterator[str]:
    """Endless sentences, the same for the same seed; the languages take turns."""
    rng = random.Random(seed)
    number = 0
    while True:
        number += 1
        if number % 2:
            why = rng.choice(_EN_WHY).format(n=rng.randrange(10_000, 99_999))
            parts = (rng.choice(_EN_OPEN), rng.choice(_EN_WHO), rng.choice(_EN_DID), rng.choice(_EN_WHAT), why)
            yield " ".join(parts) + "."
        else:
            why = rng.choice(_ZH_WHY).format(n=rng.randrange(10_000, 99_999))
            said = "".join(rng.choice(p) for p in (_ZH_OPEN, _ZH_WHO, _ZH_DID, _ZH_WHAT))
            yield f"{said}，{why}。"


def turns(seed: int, words: int = 60) -> Iterator[str]:
    """Endless turns of about ``words`` words (a Chinese character counts as half a word)."""
    source = sentences(seed)
    while True:
        text, size = "", 0.0
        while size < words:
            sentence = next(source)
            text += sentence if not text else f" {sentence}"
            size += len(sentence.split()) if sentence.isascii() else len(sentence) / 2
        yield text


def questions(seed: int) -> Iterator[str]:
    """Endless questions about the same things, each with a number, so that no two are equal."""
    rng = random.Random(seed)
    number = 0
    while True:
        number += 1
        yield (
            rng.choice(_QUESTIONS).format(
                en=rng.choice(_EN_WHO),
                zh=rng.choice(_ZH_WHO),
                thing=rng.choice(_EN_WHAT),
                zhing=rng.choice(_ZH_WHAT),
            )
            + f" ({number})"
        )
