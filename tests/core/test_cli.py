"""``ltm`` as a person and as a script uses it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from ltm_core import LongTermMemory
from ltm_core.cli import app

CHAT = [
    {"role": "user", "content": "Hi! I live in Lisbon.", "at": "2025-03-01T09:00:00Z"},
    {"role": "assistant", "content": "Nice city!", "at": "2025-03-01T09:00:05Z"},
    {"role": "user", "content": "好的", "at": "2025-03-01T09:01:00Z"},
    {"role": "user", "content": "好的", "at": "2025-03-01T09:01:00Z"},
    {"user": "I moved to Porto.", "assistant": "Noted.", "at": "2025-05-01T09:00:00Z", "session_id": "may"},
]


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LTM_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("LTM_EMBEDDER", "none")
    monkeypatch.delenv("LTM_CONFIG", raising=False)


def lines(path: Path, records: list[Any]) -> Path:
    texts = [r if isinstance(r, str) else json.dumps(r, ensure_ascii=False) for r in records]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


def ltm(*arguments: str | Path, input: str | None = None) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments], input=input)


def ok(*arguments: str | Path) -> Any:
    done = ltm(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    return lines(tmp_path / "chat.jsonl", CHAT)


@pytest.fixture
def told(chat: Path) -> Path:
    assert ltm("replay", chat, "--user", "ana").exit_code == 0
    return chat


def test_replay_twice_changes_nothing(chat: Path, tmp_path: Path) -> None:
    first = ok("replay", chat, "--user", "ana")
    assert (first["turns"], first["stored"], first["failed"], first["sessions"]) == (6, 6, 0, 2)
    again = ok("replay", chat, "--user", "ana")
    assert (again["stored"], again["duplicate"]) == (0, 6)
    with LongTermMemory.open(tmp_path / "store", embedder="none", timezone="UTC") as memory:
        stored = list(memory.messages(user_id="ana", session_id="chat"))
        assert [m.content for m in stored].count("好的") == 2
        answer = next(m for m in stored if m.role == "assistant")
        assert answer.reply_to == stored[0].id
        assert memory.stats().messages == 6


def test_a_grown_log_adds_only_its_new_lines(chat: Path) -> None:
    ok("replay", chat, "--user", "ana")
    lines(chat, [*CHAT, {"role": "user", "content": "好的", "at": "2025-03-01T09:01:00Z"}])
    grown = ok("replay", chat, "--user", "ana")
    assert (grown["stored"], grown["duplicate"]) == (1, 6)


def test_failed_lines_stand_aside_with_their_reason(tmp_path: Path) -> None:
    bad = ['{"role": "user"', "[1]", {"role": "wizard", "content": "x"}, {"content": "x"}, {"role": "user"}]
    log = lines(tmp_path / "chat.jsonl", [CHAT[0], *bad, {"role": "user", "content": "fine", "user_id": "  "}])
    with log.open("ab") as file:
        file.write(b'{"role": "user", "content": "caf\xe9"}\n')
    done = ltm("replay", log, "--user", "ana")
    assert done.exit_code == 1
    assert "lines failed: see " in done.stderr and "Traceback" not in done.output
    aside = [json.loads(line) for line in (tmp_path / "chat.failed.jsonl").read_text("utf-8").splitlines()]
    assert [a["_place"] for a in aside] == [f"line {n}" for n in (2, 3, 4, 5, 6, 7, 8)]
    assert all(a["_error"] for a in aside)
    assert aside[2]["role"] == "wizard" and aside[0]["_raw"] == '{"role": "user"'
    assert "UTF-8" in aside[-1]["_error"]
    assert (tmp_path / "chat.failed.jsonl").stat().st_mode & 0o077 == 0


def test_a_repaired_failed_line_can_be_replayed(tmp_path: Path) -> None:
    log = lines(tmp_path / "chat.jsonl", [CHAT[0], {"role": "wizard", "content": "Abracadabra."}])
    assert ltm("replay", log, "--user", "ana").exit_code == 1
    aside = tmp_path / "chat.failed.jsonl"
    aside.write_text(aside.read_text("utf-8").replace("wizard", "user"), "utf-8")
    assert ok("replay", aside, "--user", "ana", "--session", "chat")["stored"] == 1


def test_the_input_is_never_overwritten(chat: Path) -> None:
    before = chat.read_bytes()
    assert ltm("replay", chat, "--user", "ana", "--failed", chat).exit_code == 2
    assert chat.read_bytes() == before


def test_a_line_of_another_user_is_refused(tmp_path: Path) -> None:
    log = lines(tmp_path / "log.jsonl", [{"role": "user", "content": "Hello.", "user_id": "ben"}])
    assert ltm("replay", log, "--user", "ana").exit_code == 1
    assert ok("replay", log)["stored"] == 1


def test_without_any_user_nothing_is_stored(chat: Path, tmp_path: Path) -> None:
    done = ltm("replay", chat)
    assert done.exit_code == 2 and "--user" in done.stderr
    assert not (tmp_path / "chat.failed.jsonl").exists()


def test_replay_of_chats_and_epochs(tmp_path: Path) -> None:
    record = {
        "user_id": "ana",
        "session_id": "s",
        "messages": [
            {"role": "human", "content": "I live in Lima.", "timestamp": 1740819600},
            {"role": "ai", "content": "Good.", "timestamp": 1740819600500},
        ],
    }
    log = lines(tmp_path / "log.jsonl", [record])
    assert ok("replay", log)["stored"] == 2
    assert ok("replay", log)["duplicate"] == 2
    with LongTermMemory.open(tmp_path / "store", embedder="none", timezone="UTC") as memory:
        assert [m.at.year for m in memory.messages(user_id="ana")] == [2025, 2025]


def locomo(path: Path) -> Path:
    conversation = {
        "speaker_a": "Ana",
        "speaker_b": "Ben",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ana", "dia_id": "D1:1", "text": "I live in Lisbon."},
            {"speaker": "Ben", "dia_id": "D1:2", "text": "I live in Oslo.", "blip_caption": "a photo of a dog"},
        ],
        "session_2_date_time": "12:05 am on 25 June, 2023",
        "session_2": [{"speaker": "Ana", "dia_id": "D2:1", "text": "I moved to Porto."}],
        "session_3_date_time": "",
        "session_3": [{"speaker": "Ana", "dia_id": "D3:1", "text": "Undated."}],
    }
    path.write_text(json.dumps([{"sample_id": "conv-1", "conversation": conversation, "qa": []}]), "utf-8")
    return path


def test_locomo(tmp_path: Path) -> None:
    log = locomo(tmp_path / "locomo.json")
    done = ltm("replay", log, "--json")
    assert done.exit_code == 1
    report = json.loads(done.stdout)
    assert (report["stored"], report["failed"], report["users"], report["sessions"]) == (3, 1, 1, 2)
    with LongTermMemory.open(tmp_path / "store", embedder="none", timezone="UTC") as memory:
        turns = list(memory.messages(user_id="conv-1"))
        assert [(t.id, t.name, t.session_id) for t in turns] == [
            ("D1:1", "Ana", "session_1"),
            ("D1:2", "Ben", "session_1"),
            ("D2:1", "Ana", "session_2"),
        ]
        assert turns[1].content == "I live in Oslo. [shares a photo of a dog]"
        assert [t.at.isoformat() for t in turns] == [
            "2023-05-08T13:56:00+00:00",
            "2023-05-08T13:56:01+00:00",
            "2023-06-25T00:05:00+00:00",
        ]
        homes = {f.subject: f.object for f in memory.facts(user_id="conv-1") if "Porto" in f.text or "Oslo" in f.text}
        assert homes.get("user") == "Porto" and homes.get("speaker:Ben", "Oslo") == "Oslo"
    assert ltm("replay", log, "--format", "messages").exit_code in (1, 2)
    assert json.loads(ltm("replay", log, "--json").stdout)["duplicate"] == 3


def test_recall_context_facts_history(told: Path) -> None:
    found = ok("recall", "Where do I live?", "--user", "ana")
    assert found["query"] and any("Porto" in i["text"] for i in found["items"])
    asked = ok("context", "Where do I live?", "--user", "ana", "--max-tokens", "300")
    assert "Porto" in asked["text"] and asked["token_count"] <= 300
    (home,) = [f for f in ok("facts", "--user", "ana")["facts"] if f["relation"] == "lives_in"]
    assert home["object"] == "Porto"
    both = {f["object"] for f in ok("facts", "--user", "ana", "--all")["facts"] if f["relation"] == "lives_in"}
    assert both == {"Lisbon", "Porto"}
    then = ok("facts", "--user", "ana", "--as-of", "2025-04-01")["facts"]
    assert "Lisbon" in {f["object"] for f in then}
    for given in (home["id"], home["id"][-8:]):
        chain = ok("history", given, "--user", "ana")
        assert [v["object"] for v in chain["versions"]] == ["Lisbon", "Porto"]
        assert chain["reasons"][home["id"]]


def test_tables_and_text_for_people(told: Path) -> None:
    assert "Porto" in ltm("recall", "Where do I live?", "--user", "ana").stdout
    context = ltm("context", "Where do I live?", "--user", "ana")
    assert context.stdout.startswith("<memory ") and "tokens" in context.stderr
    assert "semantic:" in ltm("context", "Where do I live?", "--user", "ana", "--explain").stdout
    shown = ltm("facts", "--user", "ana", "--all").stdout
    assert "replaced" in shown and "\x1b" not in shown
    assert ltm("recall", "quantum chromodynamics lattice", "--user", "ben").stdout.strip() == "Nothing found."
    assert ltm("facts", "--user", "ben").stdout.strip() == "No facts."


def test_stored_text_cannot_speak_to_the_terminal(tmp_path: Path) -> None:
    text = "The code word is Quokka \x1b[31m\x1b]0;owned\x07 [bold]x[/bold] \u202eabc."
    log = lines(tmp_path / "log.jsonl", [{"role": "user", "content": text, "user_id": "ana"}])
    assert ltm("replay", log).exit_code == 0
    shown = ltm("recall", "Quokka", "--user", "ana").stdout
    assert "Quokka" in shown and "[bold]" in shown
    assert "\x1b" not in shown and "\u202e" not in shown and "\x07" not in shown


def test_forget_a_fact(told: Path) -> None:
    (home,) = [f for f in ok("facts", "--user", "ana")["facts"] if f["object"] == "Porto"]
    receipt = ok("forget", "--user", "ana", "--fact", home["id"][-8:])
    assert receipt["bytes_clean"] is True and receipt["counts"]
    assert "Porto" not in {f["object"] for f in ok("facts", "--user", "ana", "--all")["facts"]}
    assert not any("Porto" in i["text"] for i in ok("recall", "Porto", "--user", "ana")["items"])


def test_forget_matching_lists_first(told: Path) -> None:
    preview = ok("forget", "--user", "ana", "--matching", "Porto")
    assert preview["facts"] and preview["messages"]
    assert "Nothing was changed" in ltm("forget", "--user", "ana", "--matching", "Porto").stderr
    assert ok("recall", "Porto", "--user", "ana")["items"]
    assert ok("forget", "--user", "ana", "--matching", "Porto", "--yes")["bytes_clean"]
    assert not any("Porto" in i["text"] for i in ok("recall", "Porto", "--user", "ana")["items"])


def test_forget_a_session_and_a_user(told: Path, tmp_path: Path) -> None:
    assert ltm("forget", "--user", "ana", "--session", "may").exit_code == 2
    assert ok("forget", "--user", "ana", "--session", "may", "--yes")["what"] == "session"
    assert ltm("forget", "--user", "ana", "--user-all").exit_code == 2
    assert "no byte of it is left" in ltm("forget", "--user", "ana", "--user-all", "--yes").stdout
    content = b"".join(p.read_bytes() for p in (tmp_path / "store").rglob("*") if p.is_file())
    assert b"Lisbon" not in content and b"Porto" not in content
    assert ok("replay", told, "--user", "ana")["erased"] == 6


@pytest.mark.parametrize("options", [(), ("--fact", "x" * 36, "--user-all"), ("--session", "s", "--matching", "t")])
def test_forget_needs_one_target(told: Path, options: tuple[str, ...]) -> None:
    assert ltm("forget", "--user", "ana", *options).exit_code == 2


def test_changes_and_related(told: Path) -> None:
    ok(
        "replay",
        lines(told.parent / "ben.jsonl", [{"role": "user", "content": "My order ORD-7781 shipped."}]),
        "--user",
        "ben",
    )
    feed = ok("changes")["changes"]
    assert [c["fact"]["user_id"] for c in feed] == ["ana", "ana", "ben", "ben"]
    assert [c["op"] for c in ok("changes", "--user", "ana")["changes"]] == ["add", "supersede"]
    assert len(ok("changes", "--since", feed[1]["cursor"])["changes"]) == 2
    assert "go on with --since" in ltm("changes").output
    assert ltm("changes", "--since", feed[-1]["cursor"]).stdout.strip() == "No changes."
    near = ok("related", "ORD-7781", "--user", "ben", "--depth", "1")["related"]
    assert {(r["fact"]["relation"], r["fact"]["object"]) for r in near} == {
        ("order", "ORD-7781"),
        ("status", "shipped"),
    }
    assert "shipped" in ltm("related", "--user", "ben").stdout
    assert ltm("related", "Nobody", "--user", "ben").stdout.strip() == "Nothing is connected with it."


def test_following_goes_on_until_it_is_stopped(told: Path, tmp_path: Path) -> None:
    started = subprocess.Popen(
        [sys.executable, "-m", "ltm_core.cli", "changes", "--follow", "--every", "0.1"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        # A shell may run the tests with Ctrl-C switched off, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        assert started.stdout is not None
        assert [json.loads(started.stdout.readline())["op"] for _ in range(2)] == ["add", "supersede"]
        ok(
            "replay",
            lines(tmp_path / "more.jsonl", [{"role": "user", "content": "I'm allergic to nuts."}]),
            "--user",
            "cy",
        )
        assert json.loads(started.stdout.readline())["fact"]["user_id"] == "cy"
    finally:
        started.send_signal(signal.SIGINT)
        assert started.wait(timeout=30) == 130
        if started.stdout is not None:
            started.stdout.close()


def test_stats_and_maintain(told: Path, tmp_path: Path) -> None:
    stats = ok("stats")
    assert (stats["users"], stats["messages"]) == (1, 6)
    assert ok("maintain", "--dry-run")["dry_run"] is True
    assert ok("maintain")["sessions_closed"] == 0  # everything arrived just now, whatever its date
    settings = tmp_path / "impatient.toml"
    settings.write_text("session_idle_seconds = 0.001\n")
    assert ok("maintain", "--config", settings)["sessions_closed"] == 2
    assert "sessions closed" in ltm("maintain").stdout


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("facts",), 2),
        (("facts", "--user", " "), 2),
        (("facts", "--user", "ana", "--as-of", "whenever"), 2),
        (("history", "abc", "--user", "ana"), 2),
        (("history", "0" * 36, "--user", "ana"), 2),
        (("context", "hi", "--user", "ana", "--max-tokens", "-1"), 2),
        (("recall", "hi", "--user", "ana", "--min-similarity", "7"), 2),
        (("replay", "no-such-file.jsonl"), 2),
        (("replay", "--format", "xml", "x"), 2),
        (("facts", "--user", "ana", "--config", "no-such.toml"), 2),
        (("facts", "--user", "ana", "--embedder", "magic"), 2),
        (("facts", "--user", "ana", "--store", "/proc/none"), 3),
        (("stats", "--store", "no-such-dir"), 3),
        (("frobnicate",), 2),
        (("facts", "--bogus"), 2),
    ],
)
def test_errors_are_one_line_and_a_code(told: Path, arguments: tuple[str, ...], code: int) -> None:
    done = ltm(*arguments)
    assert done.exit_code == code, done.output
    assert done.stdout == "" and "Traceback" not in done.stderr
    if "ltm: error:" in done.stderr:
        assert len(done.stderr.strip().splitlines()) == 1


def test_a_corrupt_and_a_foreign_file(told: Path, tmp_path: Path) -> None:
    database = next(p for p in (tmp_path / "store").iterdir() if p.suffix == ".sqlite3")
    for extra in (tmp_path / "store").glob("*-*"):
        extra.unlink()
    database.write_bytes(b"this is no database at all, but long enough" * 100)
    done = ltm("facts", "--user", "ana")
    assert done.exit_code == 3 and "Traceback" not in done.output


def test_debug_shows_the_traceback(told: Path) -> None:
    process = run("history", "0" * 36, "--user", "ana", "--debug")
    assert process.returncode == 2 and b"Traceback" in process.stderr and b"ltm: error:" in process.stderr


def test_reading_never_creates_a_store(tmp_path: Path) -> None:
    place = tmp_path / "typo"
    assert ltm("recall", "hi", "--user", "ana", "--store", place).exit_code == 3
    assert not place.exists()


def test_settings_come_from_the_file(told: Path, tmp_path: Path) -> None:
    settings = tmp_path / "ltm.toml"
    settings.write_text("max_tokens = 60\n")
    assert ok("context", "Where do I live?", "--user", "ana", "--config", settings)["max_tokens"] == 60
    settings.write_text("max_tokenz = 60\n")
    done = ltm("stats", "--config", settings)
    assert done.exit_code == 2 and "max_tokenz" in done.stderr


def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "ltm_core.cli", *map(str, arguments)],
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **environment},
    )


@pytest.fixture
def ascii_only() -> Iterator[dict[str, str]]:
    yield {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": ""}


def test_an_ascii_locale_reads_and_writes_utf8(tmp_path: Path, ascii_only: dict[str, str]) -> None:
    log = lines(tmp_path / "log.jsonl", [{"role": "user", "content": "我叫王磊，住在苏州。Café.", "user_id": "王磊"}])
    assert run("replay", log, **ascii_only).returncode == 0
    done = run("recall", "苏州", "--user", "王磊", "--json", **ascii_only)
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode("utf-8")
    assert "苏州" in text and "\\u" not in text
    assert any("Café" in i["text"] for i in json.loads(text)["items"])
    table = run("recall", "苏州", "--user", "王磊", **ascii_only).stdout
    assert "苏州" in table.decode("utf-8") and b"\x1b" not in table


def test_version_and_help() -> None:
    assert run("--version").stdout.decode().startswith("ltm-core ")
    assert b"Exit codes" in run("--help").stdout
    assert run().returncode == 2


def test_retention_and_what_a_policy_would_drop(told: Path, tmp_path: Path) -> None:
    assert "ana: ordinary; fades with a half-life of 30 days" in ltm("retention", "--user", "ana").stdout
    assert ok("retention", "deep", "--user", "ana")["half_life_days"] == 3650
    assert ltm("retention", "eternal", "--user", "ana").exit_code == ltm("retention").exit_code == 2
    ok("retention", "ordinary", "--user", "ana")
    settings = tmp_path / "keep.toml"
    settings.write_text('forgetting = ["ttl"]\nttl_days = { message = 1 }\nsession_idle_seconds = 0.001\n')
    planned = ok("maintain", "--dry-run", "--config", settings)
    assert planned["forgotten"] == {"ttl": 6} and {d["reason"] for d in planned["decisions"]} == {"ttl"}
    shown = ltm("maintain", "--dry-run", "--config", settings).stdout
    assert "Would be forgotten: 6 ttl" in shown and planned["decisions"][0]["id"] in shown and "Lisbon" not in shown
    assert "Forgotten: 6 ttl" in ltm("maintain", "--config", settings).stdout
