"""``ltm export``, ``import``, ``backup``, ``restore`` and ``audit`` as a person and as a script uses them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from ltm_core import LongTermMemory
from ltm_core.cli import app


@pytest.fixture(autouse=True)
def store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    place = tmp_path / "store"
    monkeypatch.setenv("LTM_STORE", str(place))
    monkeypatch.setenv("LTM_EMBEDDER", "none")
    monkeypatch.delenv("LTM_CONFIG", raising=False)
    with LongTermMemory.open(place, embedder="none", timezone="UTC") as memory:
        memory.observe(user_id="王磊", session_id="s", user="我住在上海。 I play the oboe.", message_id="m1")
        memory.assert_fact("order:1", "status", "open", user_id="王磊", source="erp")
    return place


def ltm(*arguments: str | Path, input: str | None = None) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments], input=input)


def ok(*arguments: str | Path) -> Any:
    done = ltm(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_export_to_a_file_and_import_elsewhere(tmp_path: Path) -> None:
    file, other = tmp_path / "out.jsonl", tmp_path / "other"
    assert ltm("export", file, "--user", "王磊", "--actor", "desk", "--reason", "case 7").exit_code == 0
    assert file.stat().st_mode & 0o777 == 0o600 and "上海" in file.read_text(encoding="utf-8")
    assert ltm("export", file, "--user", "王磊").exit_code == 2, "an existing file is not overwritten"
    assert ltm("export", "--user", "王磊").stdout.splitlines()[1:] == file.read_text("utf-8").splitlines()[1:]
    done = ok("import", file, "--user", "bob", "--store", other, "--trust")
    assert done["complete"] and done["imported"]["message"] == 1 and not done["refused"]
    assert ok("import", file, "--user", "bob", "--store", other, "--trust")["imported"] == {}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["other", "out.jsonl", "store"]
    (first, *_) = ok("audit", "--user", "王磊", "--since", "2")
    assert (first["action"], first["actor"], first["reason"]) == ("export", "desk", "case 7")


def test_what_is_refused_is_told_by_line(tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    assert ltm("export", file, "--user", "王磊").exit_code == 0
    done = ltm("import", file, "--user", "bob", "--store", tmp_path / "other")
    assert done.exit_code == 1 and "--trust" not in done.output and "trust=True" in done.output
    assert "line " in done.output and "erp" not in done.output
    whole = file.read_text("utf-8")
    cut = ltm("import", "-", "--user", "cy", "--store", tmp_path / "other", "--trust", input=whole[:-40])
    assert cut.exit_code == 1 and "cut off" in cut.output
    assert ltm("import", tmp_path / "none", "--user", "cy").exit_code == 2
    assert ltm("import", file).exit_code == 2
    assert ltm("import", file, "--user", "cy", "--after-erasure", "maybe").exit_code == 2
    assert ltm("import", "-", "--user", "cy", input="hello\n").exit_code == 2


def test_backup_and_restore(store: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copies" / "one"
    assert ok("backup", copy, "--actor", "cron")["path"] == str(copy)
    assert ltm("backup", copy).exit_code == 2
    assert ltm("forget", "--user-all", "--user", "王磊", "--yes").exit_code == 0
    assert ltm("restore", copy).exit_code == 2, "a store that is there is not replaced by accident"
    report = ok("restore", copy, "--yes", "--actor", "op", "--reason", "drill")
    assert (report["erasures_from"], report["users"], report["counts"]) == ("store", 0, {"users": 1})
    log = ok("audit")
    assert [(e["action"], e["actor"], e["user_id"]) for e in log] == [
        ("backup", "cron", None),
        ("forget_user", None, None),
        ("restore", "op", None),
    ]
    shown = ltm("audit", "--limit", "2")
    assert shown.exit_code == 0 and "forget_user" in shown.output and "--since" in shown.output
    assert ltm("restore", copy, "--store", tmp_path / "new").output.count("from: list")
