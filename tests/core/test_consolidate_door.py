"""Consolidation through the door: what a user and an operator see of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ltm_core import ConfigError, LongTermMemory, SummaryRequest, SummarySentence, UnavailableError
from ltm_core.keep.consolidate import run, settle
from ltm_core.keep.consolidate.retire import stood_for
from ltm_core.store.rows import SummaryRow
from ltm_core.testing.clock import Clock
from ltm_core.testing.summarizer_contract import SummarizerContract
from ltm_core.testing.summarizers import ScriptedSummarizer, ScriptedSummaryChat

T0 = datetime(2026, 3, 2, 9, tzinfo=UTC)
EN = (
    "I went to the climbing gym with Marta again.",
    "The bouldering wall in the gym has new purple routes.",
    "The purple route in the corner took me six tries.",
    "My fingers hurt from the small crimps on that wall.",
    "The chalk at the gym costs 12 euros a bag.",
    "We climbed until the gym closed for the night.",
)
ZH = (
    "今天和小林又去了攀岩馆。",
    "攀岩馆的抱石墙换了紫色的新线路。",
    "角落里那条紫色线路我试了六次。",
    "墙上的小抠点把手指磨得很疼。",
    "攀岩馆的镁粉一袋要 12 块钱。",
    "我们一直爬到攀岩馆关门才走。",
)
Open = Callable[..., LongTermMemory]


@contextmanager
def opened(path: Path | str = ":memory:", **options: Any) -> Iterator[LongTermMemory]:
    values: dict[str, Any] = {"embedder": "none", "timezone": "UTC", "consolidate_after_days": 7}
    with LongTermMemory.open(path, clock=Clock(T0 + timedelta(days=6)), **{**values, **options}) as memory:
        yield memory


def chat(
    memory: LongTermMemory, texts: tuple[str, ...] = EN, *, day: int = 0, user: str = "ana", **more: Any
) -> None:
    """One session a day, a few minutes apart, each turn answered."""
    for n, text in enumerate(texts):
        at = T0 + timedelta(days=day, minutes=3 * n)
        memory.observe(user_id=user, session_id=f"s{day}", user=text, message_id=f"{day}.{n}", at=at, **more)
        memory.observe(user_id=user, session_id=f"s{day}", assistant="OK!", at=at + timedelta(minutes=1), **more)


def summaries(memory: LongTermMemory, user: str = "ana") -> list[SummaryRow]:
    with memory._runtime.store.read(user) as reader:
        return reader.summaries()


def retired(memory: LongTermMemory, user: str = "ana") -> set[str]:
    return {m.id for m in memory.messages(user_id=user) if m.retired}


def later(days: float) -> datetime:
    return T0 + timedelta(days=days)


def whole(memory: LongTermMemory) -> bool:
    return memory.doctor().healthy


# making --------------------------------------------------------------------------------------------------
def test_nothing_is_made_unless_it_is_asked_for() -> None:
    with opened(consolidate_after_days=None) as memory:
        chat(memory)
        report = memory.maintain(later(100))
        assert report.summarised == 0 and summaries(memory) == []


@pytest.mark.parametrize(
    ("texts", "word", "user"), [(EN, "purple", "User: "), (ZH, "紫色", "用户: ")], ids=["en", "zh"]
)
def test_a_day_becomes_a_summary_in_the_users_words(texts: tuple[str, ...], word: str, user: str) -> None:
    with opened() as memory:
        chat(memory, texts)
        assert memory.maintain(later(7)).summarised == 0, "a day may still be corrected for a week"
        report = memory.maintain(later(9))
        (row,) = summaries(memory)
        assert report.summarised == 1 and report.retired == 0
        made = report.summaries[0]
        assert (made.summary_id, made.level, made.turns, made.user_id) == (row.id, "day", 12, "ana")
        assert made.begins <= T0 < made.ends and row.recallable_at is not None and row.made_by == "extractive"
        assert word in row.text and all(n.text in texts for n in row.lines)
        assert all(line.startswith(f"2026-03-02 {user}") for line in row.text.splitlines())
        assert len(row.text) < len("".join(texts))
        assert memory.maintain(later(9)).summarised == 0 and memory.maintain(later(20)).summarised == 0
        assert whole(memory)


def test_a_dry_run_shows_what_would_be_made() -> None:
    with opened() as memory:
        chat(memory)
        chat(memory, ZH, user="lin")
        told = memory.maintain(later(9), dry_run=True)
        assert told.dry_run and told.summarised == 2 and summaries(memory) == []
        assert [(s.user_id, s.summary_id, s.turns) for s in told.summaries] == [("ana", None, 12), ("lin", None, 12)]
        assert memory.maintain(later(9)).summarised == 2


def test_a_week_takes_the_place_of_its_days() -> None:
    with opened() as memory:
        for day in range(3):
            chat(memory, tuple(f"{t[:-1]} on day {day}." for t in EN), day=day)
        assert memory.maintain(later(12)).summarised == 3
        assert [r.level for r in summaries(memory)] == ["day"] * 3
        assert memory.maintain(later(34)).summarised == 0
        report = memory.maintain(later(36))
        (row,) = summaries(memory)
        assert report.summarised == 1 and row.level == "week" and len(row.sources) == 36
        assert (row.begins, row.ends) == (later(0).replace(hour=0), later(7).replace(hour=0))
        assert memory.maintain(later(40)).summarised == 0 and whole(memory)


def test_other_users_and_labels_have_their_own() -> None:
    with opened() as memory:
        chat(memory, agent_id="coach")
        chat(memory, ZH, user="lin")
        memory.maintain(later(9))
        (row,) = summaries(memory)
        assert row.agent_id == "coach" and len(summaries(memory, "lin")) == 1
        assert not any(i.period for i in memory.search("purple wall gym", user_id="ana", agent_id="other"))


def test_a_paused_user_waits_and_an_expiring_turn_takes_its_summary_along() -> None:
    with opened() as memory:
        chat(memory)
        memory.pause("ana")
        assert memory.maintain(later(9)).summarised == 0
        memory.resume("ana")
        assert memory.maintain(later(9)).summarised == 1
        chat(memory, ZH, user="lin", ttl=timedelta(days=20))
        memory.maintain(later(9))
        (row,) = summaries(memory, "lin")
        assert row.expires_at is not None
        memory.maintain(later(40))
        assert summaries(memory, "lin") == [] and list(memory.messages(user_id="lin")) == [] and whole(memory)


def test_a_run_makes_only_its_share_and_the_next_goes_on() -> None:
    with opened(consolidate_per_run=2) as memory:
        for day in range(5):
            chat(memory, day=day)
        assert [memory.maintain(later(20)).summarised for _ in range(4)] == [2, 2, 1, 0]
        assert len(summaries(memory)) == 5 and memory.stats().jobs == 0


# recall --------------------------------------------------------------------------------------------------
def test_a_turn_comes_before_its_summary_and_nothing_is_said_twice() -> None:
    with opened() as memory:
        chat(memory)
        memory.maintain(later(9))
        for text in (
            memory.context("What did the chalk at the gym cost?", user_id="ana", at=later(10)).text,
            "\n".join(i.text for i in memory.search("purple route corner", user_id="ana", at=later(10))),
        ):
            assert all(text.count(t) <= 1 for t in EN)
        context = memory.context("What did the chalk at the gym cost?", user_id="ana", at=later(10))
        assert context.episodic[0].period is None and "12 euros" in context.episodic[0].text


@pytest.mark.parametrize(
    ("texts", "question", "answer", "word"),
    [
        (EN, "How many tries did the purple route take?", "six", "summary]"),
        (ZH, "攀岩馆的抱石墙换了什么线路？", "紫色", "摘要]"),
    ],
    ids=["en", "zh"],
)
def test_a_retired_turn_is_answered_by_its_summary(texts: Any, question: str, answer: str, word: str) -> None:
    with opened(retire_sources=True) as memory:
        chat(memory, texts)
        before = memory.stats().chunks
        report = memory.maintain(later(9))
        assert report.retired == len(retired(memory)) > 0 and memory.stats().chunks < before
        context = memory.context(question, user_id="ana", at=later(10))
        (item,) = [i for i in context.episodic if i.period]
        assert answer in item.text and item.source_message_ids and word in context.text
        assert item.period is not None and item.period[0] <= T0 < item.period[1]
        assert "summary of" in context.explain()
        assert len(list(memory.messages(user_id="ana"))) == 12, "retired turns are still read"
        assert whole(memory)


def test_what_matters_stays_searchable() -> None:
    kept = ("I am allergic to penicillin.", "My order is ORD-2024-00817.", "Please remember that I park in lot B7.")
    with opened(retire_sources=True) as memory:
        chat(memory, (*EN, *kept))
        memory.maintain(later(9))
        texts = {m.content for m in memory.messages(user_id="ana") if m.retired}
        assert texts and not texts & set(kept)
        for question, answer in (("What am I allergic to?", "penicillin"), ("What is my order?", "ORD-2024-00817")):
            assert answer in memory.context(question, user_id="ana", at=later(10)).text


def test_what_was_told_beside_the_answer_is_not_lost_with_its_turn() -> None:
    texts = (*EN, "I love Zanzibar coffee after the purple route.")
    with opened(retire_sources=True, retire_coverage=0, summarizer=ScriptedSummarizer(telling)) as memory:
        chat(memory, texts)
        memory.maintain(later(9))
        (row,) = summaries(memory)
        assert row.retired and "Zanzibar" in row.text and row.text.count("purple") == 3
        found = memory.search("Zanzibar coffee", user_id="ana", at=later(10))
        assert "Zanzibar" in found[0].text and found[0].period is None, "a fact rests on the turn: it is not retired"
        (told,) = [i for i in found if i.period]
        assert "Zanzibar" not in told.text and "six tries" in told.text


def test_what_was_replaced_since_is_not_told_as_if_it_held() -> None:
    texts = (*EN, "I live in Lisbon near the gym.")
    with opened() as memory:
        chat(memory, texts)
        memory.maintain(later(9))
        memory.observe(user_id="ana", session_id="new", user="I moved to Porto.", at=later(9))
        for item in memory.search("Where do I live?", user_id="ana", at=later(10)):
            assert item.period is None or "Lisbon" not in item.text


def test_retrievers_of_both_hosts_take_a_summary() -> None:
    pytest.importorskip("langchain_core")
    pytest.importorskip("llama_index.core")
    from langchain_ltm import LTMRetriever
    from llamaindex_ltm import LTMRetriever as LlamaRetriever

    with opened(retire_sources=True) as memory:
        chat(memory)
        memory.maintain(later(9))
        (document,) = [
            d for d in LTMRetriever(memory=memory, user_id="ana").invoke("purple route") if d.metadata["role"] is None
        ]
        assert "purple" in document.page_content and document.metadata["source_message_ids"]
        (node,) = [n for n in LlamaRetriever(memory, user_id="ana").retrieve("purple route") if "summary" in n.text]
        assert node.text.startswith("[summary] 2026-03-02 User: ")


# retiring ------------------------------------------------------------------------------------------------
def test_a_policy_may_drop_what_a_summary_stands_for() -> None:
    with opened() as memory:
        chat(memory)
        chat(memory, EN[:2], day=1)
        memory.maintain(later(9))
        with memory._runtime.store.write("ana") as writer:
            items = [m.item for m in writer.messages()]
            replaced = stood_for(writer, items)
            assert len(items) == 16 and len(replaced) == 12 and stood_for(writer, []) == set()
            assert writer.delete_messages(sorted(replaced), keep_summaries=True) == 12
        (row,) = summaries(memory)
        found = memory.search("purple route corner", user_id="ana", at=later(10))
        assert row.id in {i.source_id for i in found} and whole(memory)
        memory.forget_matching("purple", user_id="ana", dry_run=False)
        (left,) = summaries(memory)
        assert left.lines and "purple" not in left.text + left.topic and len(left.lines) < len(row.lines)
        assert whole(memory)


def test_nothing_is_retired_when_the_summary_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settle, "recall_search", lambda *a, **k: [])
    with opened(retire_sources=True) as memory:
        chat(memory)
        report = memory.maintain(later(9))
        assert report.summarised == 1 and report.retired == 0 and report.consolidation["missed"] == 1
        assert retired(memory) == set() and summaries(memory)[0].recallable_at is None and whole(memory)
        monkeypatch.undo()
        report = memory.maintain(later(10))
        assert report.summarised == 0 and report.retired == len(retired(memory)) > 0


def test_a_week_that_is_not_found_leaves_its_days(monkeypatch: pytest.MonkeyPatch) -> None:
    with opened() as memory:
        for day in range(2):
            chat(memory, day=day)
        memory.maintain(later(12))
        monkeypatch.setattr(settle, "recall_search", lambda *a, **k: [])
        report = memory.maintain(later(40))
        assert report.consolidation["missed"] == 1 and [r.level for r in summaries(memory)] == ["day", "day"]


def test_a_process_that_died_half_way_is_taken_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class DiedError(BaseException):
        pass

    def die(*args: Any, **kwargs: Any) -> None:
        raise DiedError

    with opened(tmp_path / "store", retire_sources=True) as memory:
        chat(memory)
        monkeypatch.setattr(run, "settle", die)
        with pytest.raises(DiedError):
            memory.maintain(later(9))
        assert summaries(memory)[0].recallable_at is None and retired(memory) == set()
    monkeypatch.undo()
    with opened(tmp_path / "store", retire_sources=True) as memory:
        assert memory.maintain(later(9)).summarised == 0, "another process may still be at it"
        report = memory.maintain(later(10))
        assert report.summarised == 0 and report.retired > 0 and len(summaries(memory)) == 1
        assert memory.stats().jobs == 0 and whole(memory)


def telling(request: SummaryRequest) -> list[SummarySentence]:
    """The turns about coffee and routes, as they are."""
    return [
        SummarySentence(text=t.text, sources=(t.id,))
        for t in request.turns
        if any(w in t.text for w in ("coffee", "tea", "purple"))
    ]


# forgetting ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("way", ["fact", "matching", "message", "delete", "session", "edit", "chat"])
def test_whatever_takes_words_away_takes_them_from_summaries(tmp_path: Path, way: str) -> None:
    with opened(tmp_path / "store", retire_sources=True, summarizer=ScriptedSummarizer(telling)) as memory:
        chat(memory, (*EN, "I love Zanzibar coffee."))
        memory.maintain(later(9))
        (row,) = summaries(memory)
        assert "Zanzibar" in row.text and retired(memory)
        if way == "fact":
            fact = next(f for f in memory.facts(user_id="ana") if "Zanzibar" in f.text)
            assert memory.forget(fact.id, user_id="ana").bytes_clean
        elif way == "matching":
            assert memory.forget_matching("Zanzibar", user_id="ana", dry_run=False).bytes_clean  # type: ignore[union-attr]
        elif way == "message":
            memory.forget("0.6", user_id="ana")
        elif way == "delete":
            assert memory.delete_messages(["0.6"], user_id="ana", session_id="s0") == 1
        elif way == "session":
            memory.forget_session("s0", user_id="ana")
        elif way == "edit":
            memory.observe(user_id="ana", session_id="s0", user="I love the tea.", message_id="0.6", at=later(0))
        else:
            memory.observe(user_id="ana", session_id="z", user="Please forget that I love Zanzibar coffee.")
            memory.forget_matching("Zanzibar", user_id="ana", dry_run=False)
        assert not any("Zanzibar" in s.text + s.topic for s in summaries(memory))
        assert retired(memory) == set(), "no summary stands for them any more"
        assert not any("Zanzibar" in i.text for i in memory.search("coffee at the gym", user_id="ana"))
        report = memory.maintain(later(11))
        if way != "session":
            assert report.summarised == 1 and retired(memory), "what is left is summarised again"
            assert "Zanzibar" not in summaries(memory)[0].text
        assert whole(memory)
    for file in (tmp_path / "store").rglob("*"):
        if file.is_file() and way not in ("edit", "message", "delete"):
            assert b"Zanzibar" not in file.read_bytes()


def test_a_suppressed_fact_is_not_told_in_a_new_summary() -> None:
    with opened(summarizer=ScriptedSummarizer(telling)) as memory:
        chat(memory, (*EN, "I love Zanzibar coffee."))
        fact = next(f for f in memory.facts(user_id="ana") if "Zanzibar" in f.text)
        memory.suppress(fact.id, user_id="ana")
        memory.maintain(later(9))
        assert "Zanzibar" not in summaries(memory)[0].text


def test_the_user_takes_everything_along(tmp_path: Path) -> None:
    with opened(tmp_path / "store") as memory:
        chat(memory)
        memory.maintain(later(9))
        receipt = memory.forget_user("ana")
        assert receipt.bytes_clean and receipt.counts["summaries"] == 1 and receipt.counts["summary_sources"] == 12


def test_a_backup_brings_no_summary_of_forgotten_words_back(tmp_path: Path) -> None:
    with opened(tmp_path / "store", retire_sources=True, summarizer=ScriptedSummarizer(telling)) as memory:
        chat(memory, (*EN, "I love Zanzibar coffee."))
        memory.maintain(later(9))
        memory.backup(tmp_path / "backup")
        memory.forget_matching("Zanzibar", user_id="ana", dry_run=False)
    LongTermMemory.restore_backup(tmp_path / "backup", tmp_path / "store")
    with opened(tmp_path / "store", retire_sources=True) as memory:
        assert summaries(memory) == [] and retired(memory) == set() and whole(memory)


# moving --------------------------------------------------------------------------------------------------
def test_summaries_move_with_an_export_that_is_trusted(tmp_path: Path) -> None:
    with opened(retire_sources=True) as one, opened(tmp_path / "two") as two:
        chat(one)
        one.maintain(later(9))
        lines = list(one.export_user("ana"))
        assert sum('"type":"summary"' in n for n in lines) == 1
        assert not two.import_user(lines, user_id="bo", trust=True).refused
        assert list(two.export_user("bo"))[1:] == lines[1:] and retired(two, "bo") == retired(one)
        assert two.import_user(lines, user_id="bo", trust=True).known["summary"] == 1
        assert any(i.period for i in two.search("purple route corner", user_id="bo", at=later(10)))
        believed = two.import_user(lines, user_id="cy")
        assert summaries(two, "cy") == [] and retired(two, "cy") == set() and believed.refused
        without = [n for n in lines if '"type":"summary"' not in n]
        two.import_user(without, user_id="di", trust=True)
        assert retired(two, "di") == set() and whole(two)
        half = [n for n in lines if '"id":"0.0"' not in n]
        assert (
            "a turn that the summary rests on is not there" in two.import_user(half, user_id="ed", trust=True).refused
        )
        assert retired(two, "ed") == set() and whole(two)


def test_doctor_mends_the_index_of_summaries() -> None:
    with opened(retire_sources=True) as memory:
        chat(memory)
        memory.maintain(later(9))
        with memory._runtime.store.connection(write=True) as conn:  # type: ignore[attr-defined]
            conn.execute("DELETE FROM postings WHERE item IN (SELECT id & 4294967295 FROM chunks WHERE kind = 2)")
        assert not whole(memory)
        assert memory.doctor(repair=True).healthy
        with memory._runtime.store.connection(write=True) as conn:  # type: ignore[attr-defined]
            conn.execute("DELETE FROM summaries")
        problems = memory.doctor().problems
        assert {p.detail for p in problems} >= {"chunks", "summary_sources", "retired turns"}
        assert memory.doctor(repair=True).healthy and retired(memory) == set()


# models --------------------------------------------------------------------------------------------------
class TestScripted(SummarizerContract):
    @pytest.fixture
    def summarizer(self) -> Any:
        return ScriptedSummarizer()


class TestChat(SummarizerContract):
    @pytest.fixture
    def summarizer(self) -> Any:
        return ScriptedSummaryChat('{"sentences": [{"text": "The user plays the oboe.", "sources": ["t1"]}]}')


def test_a_model_says_it_shorter() -> None:
    said = [
        SummarySentence(text="The user climbed with Marta; the wall has new purple routes.", sources=("t1", "t3")),
        SummarySentence(text="The user climbed with Brian.", sources=("t1",)),
    ]
    with opened(summarizer=ScriptedSummarizer(said, name="small")) as memory:
        chat(memory)
        report = memory.maintain(later(9))
        (row,) = summaries(memory)
        assert row.made_by == "small" and report.consolidation == {"rejected": 1}
        assert row.text == "2026-03-02 The user climbed with Marta; the wall has new purple routes."
        assert [row.sources[i].message_id for i in row.lines[0].sources] == ["0.0", "0.1"]
        assert len(row.sources) == 12


def fail_with(error: Exception) -> Callable[[SummaryRequest], str]:
    def reply(_: SummaryRequest) -> str:
        raise error

    return reply


@pytest.mark.parametrize(
    "reply",
    [
        fail_with(UnavailableError("down")),
        fail_with(ValueError("Marta said so")),
        lambda _: "",
        lambda _: "Brian went to Lisbon in 1999.",
        lambda _: [None],
    ],
    ids=["down", "raises", "empty", "invented", "malformed"],
)
def test_what_fails_falls_back_to_the_users_words(reply: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "ltm"), opened(summarizer=ScriptedSummarizer(reply)) as memory:
        chat(memory)
        report = memory.maintain(later(9))
        assert summaries(memory)[0].made_by == "extractive" and report.consolidation["failed"] == 1
        assert "Marta" not in caplog.text and "Brian" not in caplog.text


def test_the_model_is_asked_outside_of_any_transaction_and_overtaken_words_are_not_kept() -> None:
    def reply(request: SummaryRequest) -> str:
        # Another writer is not kept waiting, and what it takes away does not come back.
        if memory.messages(user_id="ana", limit=1).items[0].id == "0.0":
            memory.delete_messages(["0.0"], user_id="ana", session_id="s0")
        return "The user climbed with Marta."

    with opened(summarizer=ScriptedSummarizer(reply)) as memory:
        chat(memory)
        report = memory.maintain(later(9))
        assert report.summarised == 0 and report.consolidation["overtaken"] == 1 and summaries(memory) == []
        assert memory.maintain(later(10)).summarised == 1
        assert "Marta" not in summaries(memory)[0].text


def test_what_is_no_summariser_is_refused() -> None:
    for wrong in ("gpt", "openai:", 7, ScriptedSummarizer):
        with pytest.raises(ConfigError, match="summarizer"):
            LongTermMemory.open(":memory:", embedder="none", summarizer=wrong)
    with opened(summarizer="none") as memory:
        assert memory._runtime.summarizer is None
