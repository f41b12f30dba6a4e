"""What a question gives away beside its words, in Chinese, English and Japanese."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ltm_core.recall.question import analyse_question

NOW = datetime(2025, 4, 20, 9, tzinfo=UTC)


def ask(text: str, **more: object):  # type: ignore[no-untyped-def]
    return analyse_question(text, now=NOW, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("Where do I live?", "lives_in"),
        ("what's my name", "name"),
        ("我住在哪里？", "lives_in"),
        ("我叫什么名字", "name"),
        ("私はどこに住んでいますか", "lives_in"),
        ("今晚吃什么好", "allergic_to"),
        ("Can you suggest something for dinner?", "allergic_to"),
        ("我的报价批了吗", "status"),
    ],
)
def test_a_question_names_the_relation_it_asks_for(text: str, relation: str) -> None:
    assert relation in ask(text).relations


def test_a_question_about_the_world_names_no_relation() -> None:
    assert ask("What is the capital of Peru?").relations == ()


@pytest.mark.parametrize(
    "text", ["上次那张发票怎么处理的", "When was the last time I went hiking?", "前回の会議はいつでしたか"]
)
def test_last_time_is_read(text: str) -> None:
    assert ask(text).wants_last


@pytest.mark.parametrize(
    "text",
    [
        "Where did I live before?",
        "我以前住哪里",
        "昔はどこに住んでいましたか",
        "What did I use to drink, I used to love it",
    ],
)
def test_an_earlier_state_is_asked_for(text: str) -> None:
    assert ask(text).asks_past_state


@pytest.mark.parametrize("text", ["Where do I live now?", "我现在住哪里", "上次说的餐厅叫什么"])
def test_the_present_is_not_an_earlier_state(text: str) -> None:
    assert not ask(text).asks_past_state


@pytest.mark.parametrize(
    ("text", "excluded"),
    [
        ("推荐一些家电，不要推荐咖啡机", "咖啡"),
        ("Suggest a gift, but don't recommend coffee machines", "coffe"),
        ("除了火锅还有什么好吃的", "火锅"),
        ("Any restaurants except sushi?", "sushi"),
        ("コーヒー以外でおすすめは？", "ヒー"),
    ],
)
def test_what_is_to_be_left_out_is_read(text: str, excluded: str) -> None:
    assert excluded in ask(text).negated


def test_nothing_is_left_out_of_a_plain_question() -> None:
    assert ask("推荐一台咖啡机").negated == ()
    assert ask("recommend a coffee machine").negated == ()


@pytest.mark.parametrize(
    ("text", "term"),
    [("我的发票呢", "invoic"), ("where is my invoice", "发票"), ("the bill", "账单"), ("請求書はどこ", "invoic")],
)
def test_aliases_reach_other_names_and_languages(text: str, term: str) -> None:
    assert term in {t.term for t in ask(text).terms}


def test_a_deployment_adds_its_aliases() -> None:
    question = ask("where is the blue form", known_aliases=("blue form=form 27b=蓝表",))
    assert "蓝表" in {t.term for t in question.terms}


def test_one_character_is_a_name_only_alone() -> None:
    assert "husband" not in {t.term for t in ask("大夫怎么说").terms}


@pytest.mark.parametrize(
    ("text", "identifier"),
    [
        ("status of ORD-2024-00817", "ord-2024-00817"),
        ("合同 4410027781 到期了吗", "4410027781"),
        ("#a1b2c3?", "a1b2c3"),
    ],
)
def test_identifiers_are_found(text: str, identifier: str) -> None:
    assert identifier in ask(text).identifiers


@pytest.mark.parametrize("text", ["what happened in 2024", "on 2024-05-01", "at 10:30", "my 21st birthday"])
def test_dates_are_no_identifiers(text: str) -> None:
    assert ask(text).identifiers == ()


@pytest.mark.parametrize(
    "text",
    [
        "上次那个事怎么样了",
        "咱们上次聊的那个呢",
        "how did it go?",
        "Any news on that?",
        "what about that thing?",
        "Remember what we talked about?",
        "あの件はどうなった？",
    ],
)
def test_a_question_without_a_topic_is_vague(text: str) -> None:
    assert ask(text).vague


@pytest.mark.parametrize("text", ["上次那张发票", "what about the kayak?", "部署", "会议的事怎么样了"])
def test_a_question_with_a_topic_is_not_vague(text: str) -> None:
    assert not ask(text).vague


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [("What did I buy yesterday?", "2025-04-19", "2025-04-20"), ("我昨天买了什么", "2025-04-19", "2025-04-20")],
)
def test_time_words_become_ranges(text: str, since: str, until: str) -> None:
    (only,) = ask(text).times
    assert only.since.date().isoformat() == since
    assert only.until.date().isoformat() == until


@pytest.mark.parametrize("text", ["", "   ", "?!…", '"', "。。。", "\ud800", "\x00", "😀😀"])
def test_nothing_to_look_for_is_empty_not_an_error(text: str) -> None:
    question = ask(text)
    assert not question.times
    assert not question.identifiers


@pytest.mark.parametrize(
    "text", ["user:x AND *", "c++ (or NOT?)", "'; DROP TABLE x; --", "a OR b NEAR/3 c", "{$where: 1}", "%s %d"]
)
def test_query_syntax_is_only_words(text: str) -> None:
    ask(text)


def test_ten_thousand_words_are_read_in_time() -> None:
    assert len(ask("the quick onyx goblin " * 2500).terms) < 600
    assert len(ask("快速的棕色狐狸跳过懒狗" * 2000).terms) < 600


@pytest.mark.parametrize(
    "text",
    [
        "How do I come back, without what I am afraid of?",
        "Recommend a place, except anything I have visited",
        "推荐几个景点，除了我去过的",
        "我怎么回来，避开我害怕的方式",
    ],
)
def test_what_is_only_referred_to_is_not_left_out(text: str) -> None:
    assert ask(text).negated == ()


def test_what_is_left_out_ends_with_its_clause() -> None:
    assert ask("without flying, I am tired").negated == ask("without flying").negated != ()


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("Plan a journey to Porto, but remember what I am afraid of.", "afraid"),
        ("Cook for my aunt, keep in mind what she is allergic to!", "allerg"),
        ("帮我安排去青岛的行程，别忘了我讨厌什么", "讨厌"),
    ],
)
def test_a_question_within_a_request_is_one_of_its_own(text: str, term: str) -> None:
    (aside,) = ask(text).asides
    assert term in aside
    assert not {"porto", "aunt", "青岛"} & set(aside)


@pytest.mark.parametrize("text", ["Plan a journey to Porto", "remember the boathouse key", "帮我安排去青岛的行程"])
def test_a_request_alone_has_no_question_within(text: str) -> None:
    assert ask(text).asides == ()
