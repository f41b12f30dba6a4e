"""What a damaged index looks like to ``doctor``, and that it is mended from the truth."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ltm_core import LongTermMemory
from ltm_core.cli import app
from ltm_core.store.sqlite.files import DATABASE
from ltm_core.testing.embedders import HashEmbedder


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def memory(place: Path) -> Iterator[LongTermMemory]:
    with LongTermMemory.open(place, embedder=HashEmbedder(), timezone="Asia/Tokyo") as opened:
        for user in ("ana", "小林"):
            opened.observe(user_id=user, session_id="s", user="I live in Lisbon. I'm allergic to peanuts.")
            opened.observe(user_id=user, session_id="s", assistant="Noted. " * 60)
            opened.observe(user_id=user, session_id="t", user="我搬到苏州了，订单号 DD20991。")
            opened.remember("The spare key is under the oleander", user_id=user)
        yield opened


def sql(place: Path, statement: str) -> int:
    with sqlite3.connect(place / DATABASE) as conn:
        changed = conn.execute(statement).rowcount
    conn.close()
    return changed


def test_a_whole_store_is_healthy(memory: LongTermMemory) -> None:
    memory.forget_matching("oleander", user_id="ana", dry_run=False)
    report = memory.doctor()
    assert report.healthy and report.users == 2 and report.problems == ()


DAMAGE = {
    "a posting is gone": "DELETE FROM postings WHERE rowid IN (SELECT 0) OR (key, item) IN (SELECT key, item FROM "
    "postings LIMIT 1)",
    "a posting too many": "INSERT INTO postings SELECT key, item + 900, 1 FROM postings LIMIT 1",
    "a vector is gone": "DELETE FROM vectors WHERE id = (SELECT min(id) FROM vectors)",
    "a vector too many": "INSERT INTO vectors SELECT id + 900, embedder, 0, vector FROM vectors LIMIT 1",
    "chunks are gone": "DELETE FROM chunks WHERE owner = (SELECT min(id) FROM messages)",
    "chunks of nothing": "UPDATE chunks SET owner = owner + 700 WHERE id = (SELECT min(id) FROM chunks)",
    "a wrong span": 'UPDATE chunks SET "end" = "end" - 1 WHERE id = (SELECT min(id) FROM chunks WHERE kind = 0)',
    "wrong counts": "UPDATE users SET chunk_count = 1, term_total = 7",
    "a wrong session count": "UPDATE sessions SET message_count = 99",
    "a low counter": "UPDATE users SET next_n = 2",
    "evidence of nothing": "INSERT INTO evidence SELECT fact + 900, 0, user_no, message_mac, 0, 1, body "
    "FROM evidence LIMIT 1",
    "two homes": "UPDATE facts SET valid_to = NULL, superseded_by = NULL WHERE superseded_by IS NOT NULL",
}


@pytest.mark.parametrize("statement", DAMAGE.values(), ids=DAMAGE)
def test_damage_is_found_and_mended(statement: str, memory: LongTermMemory, place: Path) -> None:
    before = [(f.user_id, f.text, f.is_current) for u in ("ana", "小林") for f in memory.facts(user_id=u)]
    if "rowid" in statement:
        statement = (
            "DELETE FROM postings WHERE key = (SELECT min(key) FROM postings) AND item = "
            "(SELECT item FROM postings ORDER BY key LIMIT 1)"
        )
    assert sql(place, statement) > 0
    memory.close()
    with LongTermMemory.open(place, embedder=HashEmbedder(), timezone="UTC") as again:
        sick = again.doctor()
        assert not sick.healthy and sick.repaired == 0
        assert "Lisbon" not in repr(sick) and "oleander" not in repr(sick)
        mended = again.doctor(repair=True)
        assert mended.healthy and mended.repaired >= len(sick.problems) > 0
        assert again.doctor().healthy
        assert again.search("oleander", user_id="ana")[0].text.endswith("oleander")
        after = [(f.user_id, f.text, f.is_current) for u in ("ana", "小林") for f in again.facts(user_id=u)]
        assert after == before
        assert again.observe(user_id="ana", session_id="s", user="I play the oboe.").changes
        assert again.doctor().healthy


def test_one_user_is_looked_at_alone(memory: LongTermMemory, place: Path) -> None:
    sql(place, "UPDATE users SET chunk_count = 1")
    assert {p.user_id for p in memory.doctor(user_id="ana").problems} == {"ana"}
    assert {p.user_id for p in memory.doctor(user_id="ana", repair=True).problems} == set()
    assert {p.user_id for p in memory.doctor().problems} == {"小林"}


def test_a_damaged_file_is_reported_and_not_written(memory: LongTermMemory, place: Path) -> None:
    sql(place, "CREATE INDEX extra ON messages (at)")
    memory.close()
    database = place / DATABASE
    with sqlite3.connect(database) as conn:
        conn.execute("PRAGMA writable_schema = ON")
        conn.execute("UPDATE sqlite_master SET sql = 'CREATE INDEX extra ON messages (role)' WHERE name = 'extra'")
    conn.close()
    content = database.read_bytes()
    with LongTermMemory.open(place, embedder=HashEmbedder(), timezone="UTC") as again:
        report = again.doctor(repair=True)
    assert {p.kind for p in report.problems} == {"file"} and report.repaired == 0
    assert database.read_bytes() == content


def test_the_command(memory: LongTermMemory, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.close()
    monkeypatch.setenv("LTM_STORE", str(place))
    monkeypatch.setenv("LTM_EMBEDDER", "none")

    def run(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, ["doctor", *arguments])
        return done.exit_code, done.stdout

    assert run()[0] == 0 and "Healthy: 2 users" in run()[1]
    sql(place, "UPDATE sessions SET message_count = 99")
    code, shown = run()
    assert code == 1 and "sessions.message_count" in shown
    assert run("--repair", "--json")[0] == 0 and run()[0] == 0


def test_a_zone_that_is_none_any_more_counts_as_utc(memory: LongTermMemory, place: Path) -> None:
    """A bit that fell over, or a machine whose zone database is older: no call blames its caller."""
    memory.close()
    sql(place, "UPDATE messages SET timezone = 'Asia/Tokyp'")
    sql(place, "UPDATE users SET timezone = 'Asia/Tokyp'")
    with LongTermMemory.open(place, embedder=HashEmbedder(), timezone="Asia/Tokyo") as opened:
        assert "Lisbon" in opened.context("Where did I live?", user_id="ana", session_id="new").text
        opened.observe(user_id="ana", session_id="new", user="I moved to Porto yesterday.")
        assert list(opened.export_user("ana")) and opened.timeline(user_id="ana")
        opened.doctor(repair=True)
        assert opened.doctor().healthy
        opened.maintain()
        assert opened.forget_user("ana").bytes_clean
