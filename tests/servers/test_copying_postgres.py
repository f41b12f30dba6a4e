"""A store goes from a directory to PostgreSQL and back, and is the same store everywhere."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("psycopg")

from ltm_core import ConflictError, LongTermMemory, UnavailableError
from ltm_core.testing.clock import Clock
from ltm_core.testing.crash_work import USERS, Work
from ltm_core.testing.embedders import HashEmbedder

pytestmark = pytest.mark.servers
HEADER = '{"type":"header","format":"ltm-core export","version":1,"exported_at":"2026-03-01T09:00:00+00:00"}'
START = datetime(2026, 3, 1, 9, tzinfo=UTC)


def opened(place: Any, clock: Any, new_id: Any = None, **options: Any) -> LongTermMemory:
    ids = {} if new_id is None else {"new_id": new_id}
    return LongTermMemory.open(place, embedder=HashEmbedder(), timezone="UTC", clock=clock, **ids, **options)


def worked(folder: Path, steps: int) -> datetime:
    """A store in ``folder / "a"`` with everything in it; when the last thing was done."""
    (folder / "import.jsonl").write_text(f'{HEADER}\n{{"type":"end","counts":{{}}}}\n')
    work = Work(folder / "a", opened, seed=7, exported=folder / "import.jsonl")
    for n in range(steps):
        work.perform(n)
    now = work._clock.now
    work.memory.close()
    return now


def export_of(place: Any, user: str, now: datetime, **options: Any) -> list[Any]:
    with opened(place, Clock(now), read_only=True, **options) as memory:
        return [json.loads(line) for line in list(memory.export_user(user))[1:]]


def feed_of(place: Any, now: datetime) -> list[Any]:
    with opened(place, Clock(now), read_only=True) as memory:
        return [(c.cursor, c.op, c.fact.id, c.at) for c in memory.changes()]


def test_to_postgresql_and_back(tmp_path: Path, postgres_url: str) -> None:
    now = worked(tmp_path, 90) + timedelta(minutes=1)
    there = f"{postgres_url}?key_file={tmp_path / 'key'}"
    for source, target in ((tmp_path / "a", there), (there, tmp_path / "c")):
        done = LongTermMemory.copy(source, target, clock=Clock(now))
        assert done.differences == () and done.rows > 100
        assert postgres_url.split(":")[2].split("@")[0] not in repr(done), "no password in a report"
    for user in USERS:
        lines = export_of(tmp_path / "a", user, now)
        assert lines == export_of(there, user, now) == export_of(tmp_path / "c", user, now)
    assert feed_of(tmp_path / "a", now) == feed_of(there, now) == feed_of(tmp_path / "c", now) != []
    found = []
    for place in (tmp_path / "a", there, tmp_path / "c"):
        with opened(place, Clock(now)) as memory:
            assert memory.doctor().healthy
            found.append(
                [(h.text, h.similarity) for u in USERS for h in memory.search("Where do I live?", user_id=u)]
            )
            before = max(int(c.cursor) for c in memory.changes())
            memory.observe(user_id="new", session_id="s", user="I live in Bergen.")
            assert min(int(c.cursor) for c in memory.changes(user_id="new")) > before
    assert found[0] == found[1] == found[2] != []


def test_a_copy_killed_on_its_way_to_postgresql_goes_on(tmp_path: Path, postgres_url: str) -> None:
    with opened(tmp_path / "a", Clock(START)) as memory:
        for i in range(10):
            memory.observe(user_id=f"u{i}", session_id="s", user=f"I live in Port{'abcdefghij'[i]}burg.")
        memory.forget_user("u3")
    there = f"{postgres_url}?key_file={tmp_path / 'key'}"
    code = (
        "import os, signal, sys; from ltm_core import LongTermMemory\n"
        "def progress(done, total):\n"
        "    if done >= int(sys.argv[3]): os.kill(os.getpid(), signal.SIGKILL)\n"
        "LongTermMemory.copy(sys.argv[1], sys.argv[2], progress=progress)"
    )
    for steps in (2, 5):
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "a"), there, str(steps)], env=dict(os.environ)
        )
        assert done.returncode == -signal.SIGKILL
        with pytest.raises(UnavailableError, match="half a copy"):
            opened(there, Clock(START))
    report = LongTermMemory.copy(tmp_path / "a", there)
    assert (report.users, report.carried, report.differences) == (9, 4, ())
    for i in range(10):
        assert export_of(tmp_path / "a", f"u{i}", START) == export_of(there, f"u{i}", START)
    with opened(tmp_path / "a", Clock(START + timedelta(minutes=10))) as memory:
        memory.observe(user_id="u1", session_id="s", user="I moved to Turku.")
    again = LongTermMemory.copy(tmp_path / "a", there)
    assert (again.carried, again.dropped, again.differences) == (1, 1, ())
    with opened(there, Clock(START + timedelta(hours=1))) as memory:
        assert "Turku" in [f.object for f in memory.facts(user_id="u1")]
        memory.observe(user_id="u1", session_id="s", user="I moved to Lund.")
    with pytest.raises(ConflictError, match="was used"):
        LongTermMemory.copy(tmp_path / "a", there)


def test_an_encrypted_store_stays_encrypted_in_postgresql(tmp_path: Path, postgres_url: str) -> None:
    pytest.importorskip("cryptography")
    key, there = b"k" * 32, f"{postgres_url}?key_file={tmp_path / 'key'}"
    with opened(tmp_path / "a", Clock(START), key_provider=key) as memory:
        memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
        memory.forget_user("ben")
    assert LongTermMemory.copy(tmp_path / "a", there, key_provider=key).differences == ()
    now = START + timedelta(hours=1)
    lines = export_of(tmp_path / "a", "ana", now, key_provider=key)
    assert lines == export_of(there, "ana", now, key_provider=key) and "Porto" in str(lines)
