"""Identifiers a deployment adds: what they look like, what they are of, and which patterns are refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_core import LongTermMemory
from ltm_core.errors import ConfigError
from ltm_core.lexicon import default_lexicon
from ltm_core.write.anchors.identifiers import find_identifiers
from ltm_core.write.words.linear import MOST_REPEATS, MOST_WAYS, compile_linear


@pytest.mark.parametrize(
    ("pattern", "text", "found", "kind"),
    [
        (r"PRJ-\d+", "project PRJ-77 is late", "PRJ-77", "identifier"),
        (r"(?P<contract>K/\d{2}/[A-Z]+)", "签了 K/25/ABC 这份", "K/25/ABC", "contract"),
        (r"(?:病历|chart) ?(?P<id>[a-z]{3}\d+)", "病历 abc12 已归档", "abc12", "identifier"),
        (r"(?P<ticket>护航[甲乙丙丁])", "护航甲还没处理", "护航甲", "ticket"),
        (r"(?P<word>order) nr (?P<id>[A-Z]{2}:\d+)", "my order nr XY:9 came", "XY:9", "order"),
    ],
)
def test_a_configured_pattern_is_found_and_named(pattern: str, text: str, found: str, kind: str) -> None:
    (identifier,) = find_identifiers(text, default_lexicon(), [pattern])
    assert (identifier.text, identifier.kind, identifier.rule) == (found, kind, "identifier/configured")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("我们和远航的合同编号是 C/2024/00917", ["C/2024/00917 contract"]),
        ("麻烦看下我的工单号为T20240315008", ["T20240315008 ticket"]),
        ("合同号：YH（2024）第087号，别弄丢", ["YH（2024）第087号 contract"]),
        ("案号（2023）沪01民终1234号开庭", ["（2023）沪01民终1234号 case"]),
        ("顺丰SF1234567890123到哪了", ["SF1234567890123 parcel"]),
        ("那个88213工单还没处理", ["88213 ticket"]),
        ("订单尾号 8842 那单要退", ["8842 order"]),
        ("訂單編號 TW-55801 已付款", ["TW-55801 order"]),
        ("注文番号はJP-20881です", ["JP-20881 order"]),
        ("会员号 VIP00881", ["VIP00881 member"]),
        ("木工给的报价单，号码QK/3318/A。", ["QK/3318/A quote"]),
        ("扫地机的售后单，单号TS#40917", ["TS#40917 ticket"]),
        ("圆通的快递单号发你:75660120946652", ["75660120946652 parcel"]),
        ("合同号 HT#2025-88 存一下", ["HT#2025-88 contract"]),
        ("包裹给你放在2号柜了", []),
        ("这批订单，号码牌B12掉了", []),
        ("订单发你了，一共3000块", []),
        ("ticket #4821 is still open", ["4821 ticket"]),
        ("issue #88 and PR #1234 got merged", ["88 ticket", "1234 ticket"]),
        ("my booking ref is QX7PLM", ["QX7PLM booking"]),
        ("reservation 4471 under my name", ["4471 booking"]),
        ("order ending in 8842", ["8842 order"]),
        ("tracking 9400 1118 9956 0000 0000 00 please", ["9400 1118 9956 0000 0000 00 parcel"]),
        ("PAY-4521 is blocked by the vendor", ["PAY-4521 identifier"]),
        # under which it runs, as what it was ordered, and parts divided by dots
        ("Our water contract runs under 5512-840-119.", ["5512-840-119 contract"]),
        ("The claim was filed under 88-2231-07.", ["88-2231-07 case"]),
        ("The lampshade was ordered separately as #6640211.", ["6640211 order"]),
        ("The rug was shipped as 7745120098.", ["7745120098 parcel"]),
        ("We reported the leak under ref 90817.", ["90817 ticket"]),
        ("The service agreement is LF.2290.B and covers both lifts.", ["LF.2290.B contract"]),
        # the number set off from the word for what it is of
        ("The quote for the shed, number 3318-D, runs out in May.", ["3318-D quote"]),
        ("There's a second parcel as well, its number is 88-1204.", ["88-1204 parcel"]),
        ("We raised a ticket about the lift. It was given the number 5520193.", ["5520193 ticket"]),
        ("The maintenance contract number is KL 20-4471.", ["KL 20-4471 contract"]),
        ("We got a parcel for next door. The number 426 bus was late.", []),
        ("She made an order. Their phone number is 555-0199.", []),
        ("My account is registered under 555-0199.", []),
        ("The account runs under 020 7946 0958", []),
        ("The parcel is listed as 12500 grams.", []),
        ("The contract was filed as of 2024-05-01", []),
        ("The quote is 12.50.", []),
        # sums, counts, years, models, secrets
        ("报价是 12000", []),
        ("the quote is 5000 and the bill 45000", []),
        ("订单金额 35880，订单 2024 年的", []),
        ("an order of 25000 copies, 工单 15000 张", []),
        ("my account has 12345 followers", []),
        ("policy 2023, ticket 2024", []),
        ("I bought an F-150 and a WH-1000XM4", []),
        ("预约 2024-05-01 10:00", []),
        ("验证码 482913，电话 13812345678", []),
        ("he waited in order, Mr 12345", []),
    ],
)
def test_shapes_in_unseen_words(text: str, found: list[str]) -> None:
    assert [f"{i.text} {i.kind}" for i in find_identifiers(text, default_lexicon())] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("the courier's tracking is 60 4418 2203", ["60 4418 2203"]),
        ("My reference is 55120934771, what next?", ["55120934771"]),
        ("fridge serial: F7K 2210 884", ["F7K 2210 884"]),
        ("the chassis number is WBA 3310 7741 C", ["WBA 3310 7741 C"]),
        ("They want our holding number on it, it's IE 220417", ["IE 220417"]),
        ("tracking says 3 days", []),
        ("the reference is 12 pages long", []),
        ("We are tracking 12000 parcels a day", []),
        ("My phone number is new, it's 0161 496 0733", []),
        ("the house number is easy, it's 14", []),
        ("serial dramas of 1988", []),
    ],
)
def test_a_word_that_promises_a_number_is_enough(text: str, found: list[str]) -> None:
    assert [i.text for i in find_identifiers(text, default_lexicon())] == found


def test_a_configured_pattern_wins_over_a_built_in_one() -> None:
    (identifier,) = find_identifiers("order ORD-12-AB/X is late", default_lexicon(), [r"(?P<case>ORD-12-AB/X)"])
    assert (identifier.text, identifier.kind) == ("ORD-12-AB/X", "case")


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+b",
        r"(?:a|aa)+$",
        r"(?:\d+-?)*x",
        r"\d+\d+\d+x",
        r".*.*.*=",
        r"(\w)\1",
        r"(?P<id>\w)(?P=id)",
        r"(?=ORD)\w+",
        r"(?<!x)\d+",
        r"(?x) a +",
        r"\d{1,5000}",
        r"a{,}b{,}c{,}",
        r"[a-z",
        r"(open",
        r"\d*",
        "x" * 501,
    ],
)
def test_what_could_take_long_or_says_nothing_is_refused_when_a_memory_is_opened(
    pattern: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=r"identifier_patterns\[1\]"):
        LongTermMemory.open(tmp_path / "s", embedder="none", identifier_patterns=(r"OK-\d+", pattern))
    assert not (tmp_path / "s").exists()


def test_an_unknown_kind_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'recipe'"):
        LongTermMemory.open(tmp_path / "s", embedder="none", identifier_patterns=(r"(?P<recipe>R\d+)",))


_ATOM = st.sampled_from(["a", "b", r"\d", "[ab]", "[^x]", ".", "(?:a|ab)", "(ab?)", "(?:b)"])
_REPEAT = st.sampled_from(["", "", "?", "+", "*", "{2}", "{1,3}", "{,2}", "{3,}", "+?", "*+"])


@given(st.lists(st.tuples(_ATOM, _REPEAT), min_size=1, max_size=5), st.text("ab1x", max_size=MOST_REPEATS // 2))
def test_an_accepted_pattern_finds_what_the_engine_finds(parts: list[tuple[str, str]], text: str) -> None:
    """Bounding the repeats changes nothing on texts shorter than the bound."""
    pattern = "".join(a + r for a, r in parts)
    try:
        bounded = compile_linear(pattern, name="p")
    except ConfigError:
        return
    assert [m.span() for m in bounded.finditer(text)] == [m.span() for m in re.finditer(pattern, text)]


def test_two_open_repeats_are_accepted_and_three_are_not() -> None:
    assert MOST_REPEATS**2 <= MOST_WAYS
    compile_linear(r"[A-Z]+-\d+", name="p")
    with pytest.raises(ConfigError):
        compile_linear(r"[A-Z]+-\d+-\d+", name="p")
    compile_linear(r"[A-Z]{2,4}-\d{1,8}-\d+", name="p")


# how it stands -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("BJ-2024-001 现在到总经理审批了", ("quote:BJ-2024-001", "到总经理审批")),
        ("合同HT2024-0091昨天盖章了", ("contract:HT2024-0091", "盖章")),
        ("刚看到工单#A70312已经关闭了", ("ticket:A70312", "关闭")),
        ("工单#A70312还没人接", ("ticket:A70312", "还没人接")),
        ("快递 SF1234567890123 卡在武汉中转站", ("parcel:SF1234567890123", "卡在武汉中转站")),
        ("工單 KF20881 目前待主管審核", ("ticket:KF20881", "待主管審核")),
        ("quote 10023 got approved by finance", ("quote:10023", "approved by finance")),
        ("The PO 4500012345 is waiting for approval", ("order:4500012345", "waiting for approval")),
        ("invoice INV-2025-9 needs a second signature", ("invoice:INV-2025-9", "needs a second signature")),
        ("ticket 88120 went to the backend team", ("ticket:88120", "went to the backend team")),
        ("Ticket 70112 about my broken badge is open with HR", ("ticket:70112", "open with HR")),
        (
            "Return 7730-21, the coat that was too long, is in transit to the shop",
            ("case:7730-21", "is in transit to the shop"),
        ),
        (
            "Case 11928831, over the faulty oven, has been passed to a manager",
            ("case:11928831", "has been passed to a manager"),
        ),
        ("Order 5512990 is the bunk bed, and it's on back order", ("order:5512990", "it's on back order")),
        ("The order for the tent, number 3318-D, is confirmed", ("order:3318-D", "is confirmed")),
        (
            "Both firms have put their signatures on contract KT-88/2026",
            ("contract:KT-88/2026", "Both firms have put their signatures on"),
        ),
        ("A courier dropped off order 70419-B this morning", ("order:70419-B", "A courier dropped off")),
        (
            "We are waiting for a signature on lease contract LC-3099",
            ("contract:LC-3099", "We are waiting for a signature on"),
        ),
        (
            "Customs let parcel JD0002249918 through and it has reached Leeds",
            ("parcel:JD0002249918", "Customs let, it has reached Leeds"),
        ),
        ("Order 5512991 is the bunk bed, the blue one", None),
        ("订单 DD20991 是给我姐买的", None),
        ("订单 DD20992 里有两件衣服", None),
        ("订单 DD20993 什么时候到", None),
        ("如果订单 DD20994 发货了告诉我", None),
        ("订单 DD20997 很重要", None),
        ("订单 DD20998 我朋友的已经到了", None),
        ("order ORD-771 is for my sister", None),
        ("has order ORD-772 shipped yet?", None),
        ("ORD-774 contains two mugs", None),
        ("case 00123456 is about my neighbour", None),
    ],
)
def test_the_state_is_told_after_the_number(text: str, status: tuple[str, str] | None, tmp_path: Path) -> None:
    with LongTermMemory.open(tmp_path / "s", embedder="none", timezone="UTC") as memory:
        memory.observe(user_id="ana", session_id="s", user=text)
        found = [(f.subject, f.object) for f in memory.facts(user_id="ana", relation="status")]
    assert found == ([] if status is None else [status])


@pytest.mark.parametrize(
    ("first", "then", "question", "wanted"),
    [
        ("报价单 BJ-2024-001 已经提交了", "BJ-2024-001 现在到总经理审批了", "我的报价批到哪了？", "总经理"),
        ("ticket 88120 is in triage", "ticket 88120 went to the backend team", "how is my ticket doing?", "backend"),
    ],
)
def test_the_latest_state_answers_where_it_is(
    first: str, then: str, question: str, wanted: str, tmp_path: Path
) -> None:
    with LongTermMemory.open(tmp_path / "s", timezone="UTC") as memory:
        memory.observe(user_id="ana", session_id="s1", user=first, at="2025-03-01")
        memory.observe(user_id="ana", session_id="s2", user=then, at="2025-03-04")
        context = memory.context(question, user_id="ana", session_id="s3", at="2025-03-05")
        assert any(wanted in i.text and i.is_current for i in context.semantic)
        states = memory.facts(user_id="ana", relation="status", include_superseded=True)
        assert [f.is_current for f in states] == [False, True]


@pytest.mark.parametrize(
    ("first", "later", "subject", "states"),
    [
        ("The order A-77 is being packed.", "A-77 has been shipped.", "order:A-77", ["packed", "shipped"]),
        ("My order SO-20931 is being packed.", "SO-20931 has been shipped.", "order:SO-20931", ["packed", "shipped"]),
        ("Ticket 88123 is open.", "88123 is closed now.", "ticket:88123", ["open", "closed"]),
        ("订单SO-20931在打包。", "SO-20931已经发货了。", "order:SO-20931", ["打包", "发货"]),
        ("报价单Q-5521还在审批。", "Q-5521批了", "quote:Q-5521", ["审批", "批"]),
    ],
)
def test_later_the_word_is_left_out_and_the_state_is_still_of_the_same_thing(
    first: str, later: str, subject: str, states: list[str]
) -> None:
    with LongTermMemory.open(":memory:", embedder="none", timezone="UTC") as memory:
        memory.observe(user_id="ana", session_id="a", user=first)
        memory.observe(user_id="ana", session_id="b", user=later)
        facts = list(memory.facts(user_id="ana", include_superseded=True))
    told = [f for f in facts if f.relation == "status"]
    assert [f.subject for f in told] == [subject, subject] and [f.is_current for f in told] == [False, True]
    assert all(state in f.object for state, f in zip(states, told, strict=True))
    assert not any(f.relation.startswith("attribute:") for f in facts)
