"""A store of an earlier version is brought to the present one when it is opened; nothing of it is lost."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ltm_core import LongTermMemory, UnavailableError
from ltm_core.store.sqlite import files

VERSION_1 = Path(__file__).with_name("data") / "version_1.sql"
"""The dump of a store that version 1 wrote, with its key in the first line."""


def old_store(directory: Path) -> Path:
    directory.mkdir(mode=0o700)
    sql = VERSION_1.read_text(encoding="utf-8")
    (directory / files.KEY).write_bytes(bytes.fromhex(sql.splitlines()[0].removeprefix("-- key: ")))
    (directory / files.KEY).chmod(0o600)
    with closing(sqlite3.connect(directory / files.DATABASE)) as conn:
        conn.executescript(sql)
        assert conn.execute("PRAGMA user_version").fetchone() == (1,)
    return directory


def test_a_store_of_version_1_is_migrated_when_it_is_opened(tmp_path: Path) -> None:
    path = old_store(tmp_path / "store")
    with pytest.raises(UnavailableError, match="open it once for writing"):
        LongTermMemory.open(path, embedder="none", timezone="UTC", read_only=True)
    for _ in range(2):
        with LongTermMemory.open(path, embedder="none", timezone="UTC") as memory:
            assert memory.stats().schema_version >= 2
            assert [f.object for f in memory.facts(user_id="ana")] == ["Porto"]
            assert [m.content for m in memory.messages(user_id="ben")] == ["我住在杭州。"]
            assert "Porto" in memory.context("Where do I live?", user_id="ana").text
            memory.put_document(("notes",), "k", {"text": "new"}, user_id="ana")
    with LongTermMemory.open(path, embedder="none", timezone="UTC", read_only=True) as memory:
        found = memory.get_document(("notes",), "k", user_id="ana", refresh_ttl=True)
        assert found is not None and found.value == {"text": "new"}
    with LongTermMemory.open(path, embedder="none", timezone="UTC") as memory:
        receipt = memory.forget_user("ana")
        assert receipt.bytes_clean and receipt.counts["documents"] == 1 and receipt.counts["messages"] == 2
        assert memory.get_document(("notes",), "k", user_id="ana") is None
        assert [f.object for f in memory.facts(user_id="ben")] == ["杭州"]
