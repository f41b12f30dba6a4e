"""What confirms a proposal and what does not; requests to remember in many words; figures of the moment."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory, Message
from ltm_core.lexicon import default_lexicon
from ltm_core.write.analyse import analyse
from ltm_core.write.anchors.identifiers import find_identifiers
from ltm_core.write.plan import Utterance

NOW = datetime(2025, 3, 4, tzinfo=UTC)
CHAIN = ("My bike chain keeps slipping on hills.", "Check the chain wear and replace the cassette if it is worn.")
WATER = ("热水器洗到一半就变凉", "可以清理一下进水口的滤网，再把水温调到50度试试。")


def heard(words: str) -> list[tuple[str, str]]:
    utterance = Utterance(message_id="m", role="user", content=words, at=NOW)
    return [(a.kind, a.text) for a in analyse(utterance, lexicon=default_lexicon(), fact_threshold=0.6).anchors]


def replied(path: Path, talk: tuple[str, str], *replies: tuple[str, str]) -> list[list[str]]:
    """The kinds of the anchors of each reply."""
    with LongTermMemory.open(path / "m") as memory:
        turns = [("s1", "user", talk[0]), ("s1", "assistant", talk[1]), *((s, "user", text) for s, text in replies)]
        seen = [
            memory.observe(
                user_id="u",
                session_id=s,
                messages=[Message(role=role, content=text, at=NOW + timedelta(minutes=n))],  # type: ignore[arg-type]
            )
            for n, (s, role, text) in enumerate(turns)
        ]
    return [[a.kind for a in x.anchors] for x in seen[2:]]


@pytest.mark.parametrize(
    "reply",
    [
        "cheers, will take a look on Saturday",
        "Sounds good, let me see what the shop charges",
        "brilliant, now it skips even worse",
        "oh well, never mind",
        "Thanks! I'll probably do that next week",
        "tried it, no joy",
        "Did that and it jumped straight back off. No good",
    ],
)
def test_what_puts_off_drops_or_failed_confirms_nothing(tmp_path: Path, reply: str) -> None:
    assert replied(tmp_path, CHAIN, ("s1", reply)) == [[]]


@pytest.mark.parametrize(
    "reply",
    [
        "行，等周末我拆开看看",
        "好嘞我先记着",
        "算了，叫师傅来修吧",
        "弄了，更凉了，真服",
        "没生效，还是那样",
        "晚上回家弄",
    ],
)
def test_the_same_in_chinese(tmp_path: Path, reply: str) -> None:
    assert replied(tmp_path, WATER, ("s1", reply)) == [[]]


def test_a_confirmation_after_it_was_put_off_is_found(tmp_path: Path) -> None:
    put_off = ("s1", "ok, I'll have a go at the weekend")
    assert replied(tmp_path / "a", CHAIN, put_off, ("s2", "New cassette is on, not a single slip since!")) == [
        [],
        ["confirmation"],
    ]
    assert replied(tmp_path / "b", WATER, ("s2", "滤网清了以后热水一直稳稳的，谢啦")) == [["confirmation"]]


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("Kindly note for future: the clinic shuts at noon", "the clinic shuts at noon"),
        ("Can you keep in mind for the future that I am left-handed?", "I am left-handed"),
        ("One for your memory: mum's birthday is 3 May", "mum's birthday is 3 May"),
        ("Keep a note that the landlord is away in August", "the landlord is away in August"),
        ("for the record, I never eat pork", "I never eat pork"),
        ("The gate code is on the fob. Make a note of that.", "The gate code is on the fob"),
        ("From now on answer me in metric", "From now on answer me in metric"),
        ("Would you ever keep in mind that my mam takes warfarin", "my mam takes warfarin"),
        ("Can u remember i'm coeliac pls", "i'm coeliac pls"),
        ("I'd appreciate it if you remembered that I don't drink", "I don't drink"),
        ("Might be worth noting that I'm blind in one eye", "I'm blind in one eye"),
        ("you'll want to remember this: our gate code is 4421", "our gate code is 4421"),
        ("remind yourself that I hate coriander", "I hate coriander"),
        ("Add to your memory: I prefer aisle seats", "I prefer aisle seats"),
        ("pls dont forget that i work nights", "i work nights"),
        ("fyi for future chats: I'm left handed", "I'm left handed"),
        ("把这条写进你的记忆里：我们诊所周三不开门", "我们诊所周三不开门"),
        ("周报统一用表格，这个规矩长期有效，记下来", "周报统一用表格，这个规矩长期有效"),
        ("存个备忘:物业李师傅周五来收费", "物业李师傅周五来收费"),
        ("这点要记到心里：我不吃动物内脏", "我不吃动物内脏"),
        ("以后回答我都用列表", "以后回答我都用列表"),
    ],
)
def test_requests_to_remember(words: str, kept: str) -> None:
    assert ("explicit_request", kept) in heard(words)


@pytest.mark.parametrize(
    "words",
    [
        "Remember to buy milk?",
        "remember the Titans, is it on Netflix",
        "remember when everyone had a sandwich toaster?",
        "can you remember what I asked?",
        "note how the author uses metaphors here",
        "what should I remember when packing for camping",
        "my teacher said to remember that moles are not grams",
        "do you remember my dog's name?",
        "note that the function returns None when the list is empty",
        "write a note to say I'm away on Tuesday",
        "Keep a record of every shop you find.",
        "我记得你喜欢猫",
        "记得那年我们去海边",
        "以后就靠地铁和腿",
        "写一段独白：我叫老王",
    ],
)
def test_no_requests_to_remember(words: str) -> None:
    assert [k for k, _ in heard(words) if k == "explicit_request"] == []


def test_what_is_left_out_corrects_nothing() -> None:
    utterance = Utterance(message_id="m", role="user", content="Always reply in English only, no Welsh", at=NOW)
    made = analyse(utterance, lexicon=default_lexicon(), fact_threshold=0.6).candidates
    assert [(c.object, c.move) for c in made if c.relation == "reply_language"] == [("English", "state")]


@pytest.mark.parametrize(
    "words",
    [
        "the coupon said SAVE20",
        "promo code WELCOME15 says invalid",
        "dishwasher shows E15, what now",
        "my code fails with exit code 137",
        "rang 0345 111 2020 and waited 40 minutes",
        "call me back on 07700 900123 after six",
        "i dont remember how to do long division",
        "I keep forgetting my keys",
        "is €75 the normal price for a ten year one",
        "It cost me 45,500 rupees!",
        "这台冰箱3299，京东上2999",
        "验证码是 553201，我填进去说失效了",
        "It was 20 quid",
    ],
)
def test_figures_of_the_moment_state_nothing(words: str) -> None:
    assert heard(words) == []


def test_what_lasts_beside_a_code_is_kept() -> None:
    assert [k for k, _ in heard("the OTP 339201 never came, I changed my number to Airtel")] == ["stated_fact"]


def test_grouped_numbers_are_identifiers() -> None:
    def found(text: str) -> list[str]:
        return [f"{i.text} {i.kind}" for i in find_identifiers(text, default_lexicon())]

    assert found("The contract number is KV 2281 9034 17") == ["KV 2281 9034 17 contract"]
    assert found("AWB no. 66120938846") == ["66120938846 parcel"]
    assert found("tracking KX 4471 9026 3GB, where is it") == ["KX 4471 9026 3GB parcel"]
    assert found("case number 0098 2231 about the bins") == ["0098 2231 case"]
    assert found("account number with Thames Water 900 231 4471") == ["900 231 4471 member"]
    assert found("job no 77120 at the garage, SR no. is 1-48820937715") == [
        "77120 identifier",
        "1-48820937715 identifier",
    ]
    assert found("my visa file is V0198-55-2024") == ["V0198-55-2024 identifier"]
    assert found("a job of 5000 pages, the file is 20250 bytes, log 12345") == []
    assert found("call me on 0412 345 678, it's Rs. 45,999") == []
