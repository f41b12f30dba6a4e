"""``ltm encrypt`` and ``ltm rekey`` as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ltm_core import LongTermMemory
from ltm_core.cli import app

pytest.importorskip("cryptography")
ONE, TWO = "01" * 32, "02" * 32


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("LTM_CONFIG", "LTM_MASTER_KEY", "LTM_MASTER_KEY_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LTM_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("LTM_EMBEDDER", "none")
    with LongTermMemory.open(tmp_path / "store", embedder="none", timezone="UTC") as memory:
        memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
    return tmp_path / "store"


def ltm(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments])


def test_a_store_is_encrypted_and_gets_another_key(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = ltm("encrypt")
    assert refused.exit_code == 2 and "LTM_MASTER_KEY" in refused.output
    monkeypatch.setenv("LTM_MASTER_KEY", ONE)
    assert ltm("facts", "--user", "ana").exit_code == 2
    done = ltm("encrypt")
    assert done.exit_code == 0 and "1 user sealed" in done.output
    assert "Porto" in ltm("facts", "--user", "ana").output
    assert ltm("backup", tmp_path / "copies" / "one").exit_code == 0
    (tmp_path / "two").write_text(TWO)
    (tmp_path / "two").chmod(0o600)
    report = json.loads(ltm("rekey", "--to", f"file:{tmp_path / 'two'}", "--json").stdout)
    assert report["users"] == 1 and report["not_reached"] == []
    refused = ltm("facts", "--user", "ana")
    assert refused.exit_code == 2 and report["master_key"] in refused.output
    monkeypatch.delenv("LTM_MASTER_KEY")
    monkeypatch.setenv("LTM_MASTER_KEY_FILE", str(tmp_path / "two"))
    assert "Porto" in ltm("facts", "--user", "ana").output
    monkeypatch.setenv("LTM_STORE", str(tmp_path / "other"))
    (key_file,) = (tmp_path / "copies").glob("keys-*.sqlite3")
    key_file.rename(tmp_path / "kept.sqlite3")
    assert ltm("restore", tmp_path / "copies" / "one").exit_code == 3
    assert ltm("restore", tmp_path / "copies" / "one", "--key-file", tmp_path / "kept.sqlite3").exit_code == 0
    assert "Porto" in ltm("facts", "--user", "ana").output
    assert ltm("rekey", "--to", "file:/nowhere").exit_code == 2
