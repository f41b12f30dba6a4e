"""Forgetting, correcting, restoring: what is gone, what stays, and what the receipt says."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import ConflictError, ForgetPreview, LongTermMemory, NotFoundError, Receipt
from ltm_core.testing.clock import Clock
from ltm_core.testing.embedders import HashEmbedder

START = datetime(2025, 6, 2, 10, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[LongTermMemory]:
    with LongTermMemory.open(
        tmp_path / "store", embedder=HashEmbedder(), clock=Clock(START, timedelta(seconds=1)), timezone="UTC"
    ) as opened:
        yield opened


def bytes_of(memory: LongTermMemory) -> bytes:
    return b"".join(p.read_bytes() for p in sorted(Path(memory.location).rglob("*")) if p.is_file())


def holds(memory: LongTermMemory, words: str) -> bool:
    """Whether any file of the store holds the words, plain, UTF-16 or JSON-escaped, in any case."""
    data = bytes_of(memory).lower()
    forms = {words.lower().encode(), words.lower().encode("utf-16-le"), words.lower().encode("utf-16-be")}
    forms.add(words.lower().encode("ascii", "backslashreplace"))
    return any(form in data for form in forms)


def objects(memory: LongTermMemory, user: str = "ana") -> set[str]:
    return {f.object for f in memory.facts(user_id=user)}


def test_forgetting_a_fact_reaches_its_sources(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="s1", user="I play the theorbo. I live in Porto.", message_id="m1")
    memory.observe(user_id="ana", session_id="s1", assistant="The theorbo, how lovely! And Porto too.")
    (theorbo,) = [f for f in memory.facts(user_id="ana") if "theorbo" in f.text]
    receipt = memory.forget(theorbo.id, user_id="ana")
    assert receipt.bytes_clean and receipt.counts["facts"] == 1 and receipt.counts["messages_redacted"] == 2
    assert not holds(memory, "theorbo")
    assert "theorbo" not in memory.context("which instrument?", user_id="ana", session_id="s1").text
    assert any("Porto" in f.object for f in memory.facts(user_id="ana"))
    first, second = memory.messages(user_id="ana")
    assert first.redacted and "I live in Porto." in first.content and "Porto too" in second.content
    assert "Porto" in memory.context("Where do I live?", user_id="ana").text


def test_forgetting_reaches_chinese_sources(memory: LongTermMemory) -> None:
    memory.observe(user_id="lin", session_id="s1", user="我对芒果过敏。我住在福州。")
    memory.observe(user_id="lin", session_id="s1", assistant="好的，记住您对芒果过敏。")
    (mango,) = [f for f in memory.facts(user_id="lin") if "芒果" in f.text]
    assert memory.forget(mango.id, user_id="lin").bytes_clean
    assert not holds(memory, "芒果")
    assert any("福州" in f.text for f in memory.facts(user_id="lin"))


def test_a_replay_of_what_was_forgotten_is_refused(memory: LongTermMemory) -> None:
    old = [{"role": "user", "content": "I play the theorbo."}, {"role": "assistant", "content": "Lovely."}]
    memory.observe(user_id="ana", session_id="s1", user="I play the theorbo.", message_id="m1")
    memory.observe(user_id="ana", session_id="s1", assistant="Lovely.")
    (fact,) = memory.facts(user_id="ana")
    memory.forget(fact.id, user_id="ana")
    replay = memory.observe(user_id="ana", session_id="s1", user="I play the theorbo.", message_id="m1")
    assert [m.status for m in replay.messages] == ["erased"] and not holds(memory, "theorbo")
    again = memory.observe(user_id="ana", session_id="s1", messages=old[:1])
    assert [m.status for m in again.messages] == ["erased"]
    # In another session a transcript is known by two messages in a row; one alone is a new statement.
    again = memory.observe(user_id="ana", session_id="s9", messages=old)
    assert [m.status for m in again.messages] == ["erased", "stored"] and objects(memory) == set()


def test_a_new_statement_may_be_remembered_again(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="s1", user="I play the theorbo.", message_id="m1")
    (fact,) = memory.facts(user_id="ana")
    memory.forget(fact.id, user_id="ana")
    seen = memory.observe(user_id="ana", session_id="s2", user="I play the theorbo.", message_id="m7")
    assert [m.status for m in seen.messages] == ["stored"] and len(objects(memory)) == 1


def test_sources_may_be_deleted_or_kept(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="s1", user="I play the theorbo.")
    memory.observe(user_id="ana", session_id="s1", user="I live in Porto.")
    theorbo, porto = memory.facts(user_id="ana")
    memory.forget(theorbo.id, user_id="ana", sources="delete")
    memory.forget(porto.id, user_id="ana", sources="keep")
    assert [m.content for m in memory.messages(user_id="ana")] == ["I live in Porto."]
    assert objects(memory) == set()


def test_forgetting_a_message_takes_what_only_it_supported(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="s1", user="I play the theorbo.", message_id="m1")
    memory.observe(user_id="ana", session_id="s1", user="I live in Porto.", message_id="m2")
    memory.observe(user_id="ana", session_id="s2", user="I live in Porto.", message_id="m3")
    memory.forget("m1", user_id="ana")
    memory.forget("m2", user_id="ana")
    assert not holds(memory, "theorbo")
    assert any("Porto" in o for o in objects(memory))


def test_matching_is_shown_before_it_is_done(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="s1", user="I play the theorbo. My car is red.", message_id="m1")
    memory.observe(user_id="ana", session_id="s1", assistant="A theorbo!", message_id="m2")
    preview = memory.forget_matching("theorbo", user_id="ana")
    assert isinstance(preview, ForgetPreview)
    assert len(preview.facts) == 1 and preview.messages == ("m1", "m2") and holds(memory, "theorbo")
    receipt = memory.forget_matching("theorbo", user_id="ana", dry_run=False)
    assert isinstance(receipt, Receipt) and receipt.bytes_clean and not holds(memory, "theorbo")
    assert any("red" in f.text for f in memory.facts(user_id="ana"))


def test_forgetting_a_session(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="s1", user="I play the theorbo.")
    memory.set_slot("date", "theorbo friday", user_id="ana", session_id="s1")
    memory.observe(user_id="ana", session_id="s2", user="I live in Porto.")
    receipt = memory.forget_session("s1", user_id="ana")
    assert receipt.counts["messages_deleted"] == 1 and not holds(memory, "theorbo")
    assert [m.content for m in memory.messages(user_id="ana")] == ["I live in Porto."]
    with pytest.raises(NotFoundError):
        memory.forget_session("nowhere", user_id="ana")


def test_forgetting_a_user_leaves_no_byte_and_no_other_user_changes(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana-k", session_id="s", user="My passport is ZQ-7741-KESTREL.", message_id="m1")
    memory.observe(user_id="ana-k", session_id="s", assistant="Noted: ZQ-7741-KESTREL.")
    memory.set_slot("pass", "KESTREL", user_id="ana-k", session_id="s")
    memory.remember("the KESTREL flies at noon", user_id="ana-k")
    memory.observe(user_id="ben", session_id="s", user="I like tea. I am vegan.")
    before = [(f.id, f.text) for f in memory.facts(user_id="ben")]
    receipt = memory.forget_user("ana-k")
    assert receipt.bytes_clean and receipt.counts and receipt.what == "user"
    assert not holds(memory, "KESTREL")
    assert [(f.id, f.text) for f in memory.facts(user_id="ben")] == before
    assert list(memory.messages(user_id="ana-k")) == []
    replay = memory.observe(user_id="ana-k", session_id="s", user="My passport is ZQ-7741-KESTREL.", message_id="m1")
    assert [m.status for m in replay.messages] == ["erased"]
    late = memory.observe(user_id="ana-k", session_id="s", user="An old KESTREL.", at=START)
    assert [m.status for m in late.messages] == ["erased"] and not holds(memory, "KESTREL")
    fresh = memory.observe(user_id="ana-k", session_id="s", user="I live in Porto.")
    assert [m.status for m in fresh.messages] == ["stored"]


def test_an_erasure_shows_at_once_in_another_open_memory(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="s", user="I play the theorbo.")
    with LongTermMemory.open(
        memory.location, embedder=HashEmbedder(), clock=Clock(START, timedelta(seconds=1)), timezone="UTC"
    ) as other:
        assert "theorbo" in other.context("which theorbo?", user_id="ana").text
        memory.forget_user("ana")
        assert "theorbo" not in other.context("which theorbo?", user_id="ana").text


def test_a_correction_retracts_and_links(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
    change = memory.correct(wrong="Porto", right="I live in Lisbon.", user_id="ana")
    assert change.previous is not None and change.previous.retracted_at is not None
    assert change.previous.superseded_by == change.fact.id
    assert objects(memory) == {"Lisbon"}
    context = memory.context("Where do I live?", user_id="ana").text
    assert "Lisbon" in context


def test_a_correction_by_value_keeps_the_relation(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
    (fact,) = memory.facts(user_id="ana")
    change = memory.correct(fact_id=fact.id, right="Lisbon", user_id="ana")
    assert (change.fact.relation, change.fact.object) == (fact.relation, "Lisbon")
    assert "Lisbon" in change.fact.text and "Porto" not in change.fact.text


def test_a_correction_must_name_one_fact(memory: LongTermMemory) -> None:
    with pytest.raises(NotFoundError):
        memory.correct(wrong="Porto", right="Lisbon", user_id="ana")
    memory.observe(user_id="ana", session_id="s", user="I like green tea. I like black tea.")
    with pytest.raises(ConflictError) as caught:
        memory.correct(wrong="tea", right="I like coffee.", user_id="ana")
    assert len(caught.value.candidates) == 2 and "green" not in str(caught.value)


def test_restoring_closes_what_took_its_place(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
    memory.observe(user_id="ana", session_id="s", user="I moved to Lisbon.")
    porto = next(f for f in memory.facts(user_id="ana", include_superseded=True) if f.object == "Porto")
    memory.restore(porto.id, user_id="ana")
    assert objects(memory) == {"Porto"}
    with pytest.raises(ConflictError):
        memory.restore(porto.id, user_id="ana")


def test_suppressed_facts_are_kept_and_not_served(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="s1", user="I live in Porto.")
    (fact,) = memory.facts(user_id="ana")
    memory.suppress(fact.id, user_id="ana")
    assert objects(memory) == set()
    assert all(i.source_id != fact.id for i in memory.context("Where?", user_id="ana", session_id="s2").items)
    memory.unsuppress(fact.id, user_id="ana")
    assert objects(memory) == {"Porto"}


def test_history_is_the_whole_chain(memory: LongTermMemory) -> None:
    for city in ("Porto", "Lisbon", "Faro"):
        memory.observe(user_id="ana", session_id="s", user=f"I moved to {city}.")
    (now,) = memory.facts(user_id="ana")
    chain = list(memory.history(now.id, user_id="ana"))
    assert [f.object for f in chain] == ["Porto", "Lisbon", "Faro"]
    assert [f.superseded_by for f in chain] == [chain[1].id, chain[2].id, None]
    assert list(memory.history(chain[0].id, user_id="ana")) == chain
    as_of = chain[1].valid_from
    assert [f.object for f in memory.facts(user_id="ana", as_of=as_of)] == ["Lisbon"]


def test_the_feed_tells_what_became_of_facts(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
    memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
    memory.observe(user_id="ana", session_id="s", user="I moved to Lisbon.")
    feed = list(memory.changes(user_id="ana"))
    assert [c.op for c in feed] == ["add", "reinforce", "supersede"]
    assert next(iter(memory.changes(user_id="ana", since=feed[1].cursor))).fact.object == "Lisbon"
    memory.forget_matching("Lisbon", user_id="ana", dry_run=False)
    after = list(memory.changes(user_id="ana"))
    assert after[-1].op == "erase" and "Lisbon" not in repr(after)


def test_slots_live_and_die(tmp_path: Path) -> None:
    clock = Clock(START, timedelta(seconds=1))
    with LongTermMemory.open(tmp_path / "s", embedder="none", clock=clock, timezone="UTC") as memory:
        memory.set_slot("time", "19:00", user_id="ana", session_id="s", ttl=60)
        memory.set_slot("place", {"name": "外滩"}, user_id="ana", session_id="s")
        assert memory.get_slot("time", user_id="ana", session_id="s") == "19:00"
        assert memory.slots(user_id="ana", session_id="t") == {}
        clock.now += timedelta(seconds=61)
        assert memory.get_slot("time", user_id="ana", session_id="s", default="gone") == "gone"
        assert memory.slots(user_id="ana", session_id="s") == {"place": {"name": "外滩"}}
        assert "外滩" in memory.context("where?", user_id="ana", session_id="s").text
        clock.now += timedelta(seconds=1800)
        report = memory.maintain()
        assert report.slots_expired == 2 and report.sessions_closed == 1


def test_an_idle_session_leaves_the_window_and_stays_remembered(tmp_path: Path) -> None:
    clock = Clock(START, timedelta(seconds=1))
    with LongTermMemory.open(tmp_path / "s", embedder=HashEmbedder(), clock=clock, timezone="UTC") as memory:
        memory.observe(user_id="ana", session_id="s", user="I play the oboe.", assistant="Nice!")
        assert len(memory.messages(user_id="ana", session_id="s", window_only=True)) == 2
        clock.now += timedelta(seconds=901)
        assert memory.maintain(dry_run=True).sessions_closed == 1
        assert memory.maintain().sessions_closed == 1
        assert memory.maintain().sessions_closed == 0
        assert len(memory.messages(user_id="ana", session_id="s", window_only=True)) == 0
        (session,) = memory.sessions(user_id="ana")
        assert session.ended_at is not None and session.message_count == 2
        assert "oboe" in memory.context("oboe?", user_id="ana", session_id="t").text
        memory.observe(user_id="ana", session_id="s", user="back again")
        (session,) = memory.sessions(user_id="ana")
        assert session.ended_at is None


def test_archived_types_are_kept_for_the_long_term(tmp_path: Path) -> None:
    clock = Clock(START, timedelta(seconds=1))
    with LongTermMemory.open(tmp_path / "s", embedder=HashEmbedder(), clock=clock, timezone="UTC") as memory:
        memory.observe(user_id="ana", session_id="s", user="Agreed: launch on 3 May.", doc_type="meeting_notes")
        memory.observe(user_id="ana", session_id="s", user="Buy milk.", doc_type="errand")
        assert memory.maintain().archived == 0
        clock.now += timedelta(hours=2)
        assert memory.maintain(dry_run=True).archived == 1
        assert memory.maintain().archived == 1
        assert memory.maintain().archived == 0
