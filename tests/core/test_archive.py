"""Cold memory: moved to files, searched when asked for, restored, exported, and erased like the rest."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("fsspec")

from typer.testing import CliRunner

from ltm_core import ConfigError, CorruptError, LongTermMemory, UnavailableError
from ltm_core.cli import app
from ltm_core.keep.archive import files as cold_files
from ltm_core.keep.archive import move
from ltm_core.keep.archive.place import Place
from ltm_core.testing.clock import Clock
from ltm_core.testing.embedders import HashEmbedder

START = datetime(2024, 1, 8, 9, tzinfo=UTC)
Opening = Callable[..., LongTermMemory]


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture
def opened(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opening]:
    monkeypatch.setattr(move, "FEWEST", 1)
    memories: list[LongTermMemory] = []

    def open_it(**options: Any) -> LongTermMemory:
        values = {"timezone": "UTC", "cold_after_days": 365, "count_uses": False, **options}
        memories.append(LongTermMemory.open(tmp_path / "store", embedder=HashEmbedder(), clock=clock, **values))
        return memories[-1]

    yield open_it
    for memory in memories:
        memory.close()


@pytest.fixture
def memory(opened: Opening, clock: Clock) -> LongTermMemory:
    """Two years: old small talk, of two users, a fact, and something recent."""
    made = opened()
    for user in ("ana", "ben"):
        for n, thing in enumerate(("quagga", "zeppelin", "theremin")):
            text = f"{user.title()} and I talked about the {thing} exhibition."
            made.observe(user_id=user, session_id=f"s{n}", user=text, message_id=f"m{n}", metadata={"n": n})
        made.observe(user_id=user, session_id="plain", messages=[{"role": "user", "content": "We fed the ducks."}])
        made.observe(user_id=user, session_id="facts", user="I am allergic to penicillin.")
    clock.now += timedelta(days=400)
    made.observe(user_id="ana", session_id="new", user="We saw a heron at the lake.")
    return made


def parquet(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "store" / "archive").rglob("*.parquet"))


def contents(memory: LongTermMemory, user: str = "ana") -> list[str]:
    return [m.content for m in memory.messages(user_id=user)]


def found(memory: LongTermMemory, query: str, user: str = "ana", **options: Any) -> list[str]:
    return [i.text for i in memory.search(query, user_id=user, include_cold=True, **options)]


def bytes_of(folder: Path) -> bytes:
    return b"".join(p.read_bytes() for p in folder.rglob("*") if p.is_file())


def test_old_turns_that_nothing_needs_move_and_are_found_on_request(memory: LongTermMemory, tmp_path: Path) -> None:
    assert memory.maintain(dry_run=True).cold == 8 and not parquet(tmp_path)
    before = memory.search("zeppelin exhibition", user_id="ana")[0]
    assert memory.maintain().cold == 8 and memory.maintain().cold == 0
    assert len(parquet(tmp_path)) == 2 and "ana" not in " ".join(map(str, parquet(tmp_path)))
    assert contents(memory) == ["I am allergic to penicillin.", "We saw a heron at the lake."]
    assert not memory.search("zeppelin exhibition", user_id="ana")
    (item, *_) = memory.search("zeppelin exhibition", user_id="ana", include_cold=True)
    assert (item.text, item.similarity, item.source_id) == (before.text, before.similarity, before.source_id)
    assert "from the archive" in item.reasons
    assert not [t for t in found(memory, "zeppelin exhibition") if "Ben" in t]
    assert found(memory, "zeppelin", since=START + timedelta(days=30)) == []
    assert memory.doctor().healthy
    assert [e.counts for e in memory.audit("ana") if e.action == "archive"] == [{"messages": 4}]


def test_nothing_moves_unless_it_is_asked_for(opened: Opening, memory: LongTermMemory, tmp_path: Path) -> None:
    memory.close()
    again = opened(cold_after_days=0)
    assert again.maintain().cold == 0 and not parquet(tmp_path) and len(contents(again)) == 6


def test_no_turn_moves_before_its_summary_is_made(opened: Opening, memory: LongTermMemory) -> None:
    memory.close()
    again = opened(consolidate_after_days=7, consolidate_min_turns=3, consolidate_per_run=1)
    assert again.maintain(dry_run=True).cold == 0
    for user in ("ana", "ben"):
        report = again.maintain()
        assert (report.summarised, report.cold) == (1, 4), f"{user} is looked at, nobody else"


def test_a_host_that_tells_it_again_doubles_nothing(memory: LongTermMemory) -> None:
    memory.maintain()
    text = "Ana and I talked about the quagga exhibition."
    again = memory.observe(user_id="ana", session_id="s0", user=text, message_id="m0")
    plain = memory.observe(
        user_id="ana",
        session_id="plain",
        messages=[{"role": "user", "content": "We fed the ducks."}, {"role": "user", "content": "And the swans."}],
    )
    assert [m.status for m in (*again.messages, *plain.messages)] == ["duplicate", "duplicate", "stored"]


def test_it_comes_back_as_it_was(memory: LongTermMemory, clock: Clock, tmp_path: Path) -> None:
    lines = sorted(x for x in memory.export_user("ana") if '"type":"message"' in x)
    memory.maintain()
    closed = [x if '"new"' in x else x.replace('"in_window":true', '"in_window":false') for x in lines]
    assert sorted(x for x in memory.export_user("ana") if '"type":"message"' in x) == sorted(closed)
    before = found(memory, "theremin exhibition")
    assert memory.restore_archive("ana", since=START + timedelta(days=1)) == 0
    assert memory.restore_archive("ana") == 4 and memory.restore_archive("ana") == 0
    assert len(contents(memory)) == 6 and len(parquet(tmp_path)) == 1
    assert [i.text for i in memory.search("theremin exhibition", user_id="ana")] == before
    assert memory.doctor().healthy
    assert memory.maintain().cold == 0, "what was brought back stays as long as what was said now"
    clock.now += timedelta(days=364)
    assert memory.maintain().cold == 0
    clock.now += timedelta(days=2)
    assert memory.maintain().cold == 5, "and the heron of the last day"


def test_a_part_comes_back(memory: LongTermMemory, clock: Clock) -> None:
    memory.maintain()
    lines = [json.loads(x) for x in memory.export_user("ana")]
    first = min(datetime.fromisoformat(x["at"]) for x in lines if x["type"] == "message")
    assert memory.restore_archive("ana", until=first + timedelta(microseconds=1)) == 1
    assert any("quagga" in c for c in contents(memory))
    assert any("zeppelin" in t for t in found(memory, "zeppelin exhibition"))


def test_forgetting_a_user_deletes_the_files(memory: LongTermMemory, tmp_path: Path) -> None:
    memory.maintain()
    assert memory.forget_user("ana").bytes_clean
    left = bytes_of(tmp_path / "store")
    assert b"Ana and I" not in left and b"Ben and I" in left and len(parquet(tmp_path)) == 1
    assert found(memory, "zeppelin") == [] and found(memory, "zeppelin", "ben")


def test_forgetting_a_phrase_overwrites_it_in_the_files(memory: LongTermMemory, tmp_path: Path) -> None:
    memory.maintain()
    planned = memory.forget_matching("zeppelin", user_id="ana")
    assert planned.messages == ("m1",)  # type: ignore[union-attr]
    receipt = memory.forget_matching("zeppelin", user_id="ana", dry_run=False)
    assert receipt.counts["messages_redacted"] == 1  # type: ignore[union-attr]
    archive = bytes_of(tmp_path / "store" / "archive")
    assert archive.count(b"zeppelin") == 1 and b"Ana and I talked about the quagga" in archive
    assert not [t for t in found(memory, "zeppelin") if "zeppelin" in t]
    assert any("exhibition" in t for t in found(memory, "Ana exhibition talked"))


def test_turns_and_sessions_are_forgotten_in_the_files(memory: LongTermMemory, tmp_path: Path) -> None:
    memory.maintain()
    assert memory.forget("m0", user_id="ana").bytes_clean
    assert memory.delete_messages(["m1"], user_id="ana", session_id="s1") == 1
    memory.forget_session("s2", user_id="ana")
    assert found(memory, "exhibition") == [] and found(memory, "fed the ducks")
    assert b"Ana and I" not in bytes_of(tmp_path / "store")
    text = "Ana and I talked about the quagga exhibition."
    again = memory.observe(user_id="ana", session_id="s0", user=text, message_id="m0")
    assert again.messages[0].status == "erased"


def test_what_the_user_asks_to_forget_in_the_chat_is_forgotten_in_the_files(
    memory: LongTermMemory, clock: Clock, tmp_path: Path
) -> None:
    memory.observe(user_id="ana", session_id="new", user="I own the theremin.")
    memory.maintain()
    memory.observe(user_id="ana", session_id="new", user="Please forget that I own the theremin.")
    assert [f.object for f in memory.facts(user_id="ana")] == ["penicillin"]
    assert bytes_of(tmp_path / "store" / "archive").count(b"theremin") == 1  # ben's


def test_the_same_id_in_another_session_stays_in_its_file(memory: LongTermMemory) -> None:
    memory.maintain()
    memory.observe(user_id="ana", session_id="new", user="We heard a nightjar.", message_id="m1")
    memory.forget("m1", user_id="ana")
    assert not [c for c in contents(memory) if "nightjar" in c]
    assert any("zeppelin" in t for t in found(memory, "zeppelin exhibition"))


def test_what_moves_while_it_is_forgotten_is_forgotten(
    memory: LongTermMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ltm_core.keep import erase, sources

    real = sources.trace
    looked: list[int] = []

    def trace(reader: Any, phrases: Any) -> Any:
        found = real(reader, phrases)
        looked.append(1)
        if len(looked) == 1:
            with monkeypatch.context() as patch:
                patch.setattr(erase, "trace", real)
                memory.maintain()
        return found

    monkeypatch.setattr(erase, "trace", trace)
    memory.forget_matching("zeppelin", user_id="ana", dry_run=False)
    assert len(looked) == 2 and len(parquet(tmp_path)) == 2
    assert bytes_of(tmp_path / "store" / "archive").count(b"zeppelin") == 1  # ben's


def test_a_file_replaced_meanwhile_is_looked_at_again(
    memory: LongTermMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ltm_core.keep.archive import forget

    memory.maintain()
    real, calls = cold_files.staged, []

    def staged(*arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == 1:
            with monkeypatch.context() as patch:
                patch.setattr(forget, "staged", real)
                memory.delete_messages(["m0"], user_id="ana", session_id="s0")
        return real(*arguments)

    monkeypatch.setattr(forget, "staged", staged)
    memory.forget_matching("zeppelin", user_id="ana", dry_run=False)
    archive = bytes_of(tmp_path / "store" / "archive")
    assert archive.count(b"zeppelin") == 1 and b"Ana and I talked about the quagga" not in archive
    assert len(found(memory, "exhibition", top_k=50)) == 2


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.mark.parametrize("at", ["before the file", "after the file", "after the rows"])
def test_a_kill_loses_nothing_doubles_nothing_and_leaves_nothing(
    memory: LongTermMemory, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    def die(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        if at == "before the file":
            patch.setattr(Place, "write", die)
        elif at == "after the file":
            patch.setattr(cold_files, "digest_of", die)
        else:
            patch.setattr(move, "_of_user", _then_die(move._of_user))
        with pytest.raises(Killed):
            memory.maintain()
    everything = [*contents(memory), *found(memory, "exhibition ducks talked fed", top_k=50)]
    assert sum("quagga" in t for t in contents(memory)) == (0 if at == "after the rows" else 1)
    assert any("quagga" in t for t in everything)
    clock.now += timedelta(seconds=901)
    memory.maintain()
    clock.now += timedelta(seconds=901)
    memory.maintain()
    assert len(parquet(tmp_path)) == 2 and memory.stats().jobs == 0
    assert sorted(x for x in found(memory, "exhibition", top_k=50)) == sorted(
        f"Ana and I talked about the {t} exhibition." for t in ("quagga", "zeppelin", "theremin")
    )


def test_a_file_that_a_kill_left_goes_with_its_user(
    memory: LongTermMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(cold_files, "digest_of", die)
        with pytest.raises(Killed):
            memory.maintain()
    assert [p.parent.name for p in parquet(tmp_path)] == [memory._runtime.store.mac("ana")]
    assert memory.forget_user("ana").bytes_clean
    assert not parquet(tmp_path) and b"Ana and I" not in bytes_of(tmp_path / "store")


def _then_die(real: Callable[..., int]) -> Callable[..., int]:
    def run(*arguments: Any, **options: Any) -> int:
        real(*arguments, **options)
        raise Killed

    return run


def test_a_write_meanwhile_puts_the_move_off(
    memory: LongTermMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = cold_files.staged

    def staged(runtime: Any, user_id: str, name: str, turns: Any) -> Any:
        made = real(runtime, user_id, name, turns)
        memory.observe(user_id=user_id, session_id="late", user="Meanwhile it rains.")
        return made

    monkeypatch.setattr(move, "staged", staged)
    assert memory.maintain().cold == 0 and len(contents(memory)) == 7
    monkeypatch.undo()
    monkeypatch.setattr(move, "FEWEST", 1)
    assert memory.maintain().cold == 8


def test_a_damaged_or_missing_file_is_told(memory: LongTermMemory, tmp_path: Path) -> None:
    memory.maintain()
    for path in parquet(tmp_path):
        path.write_bytes(path.read_bytes()[:-9] + b"123456789")
    with pytest.raises(CorruptError, match="damaged"):
        found(memory, "zeppelin")
    for path in parquet(tmp_path):
        path.unlink()
    with pytest.raises(CorruptError, match="gone"):
        found(memory, "zeppelin")
    assert memory.search("heron", user_id="ana")


def test_any_fsspec_url(opened: Opening, memory: LongTermMemory, clock: Clock) -> None:
    import fsspec

    memory.close()
    again = opened(archive_url="memory://cold-test")
    assert again.maintain().cold == 8
    assert any("quagga" in t for t in found(again, "quagga exhibition"))
    assert len(fsspec.filesystem("memory").find("/cold-test")) == 2
    again.forget_user("ana")
    assert len(fsspec.filesystem("memory").find("/cold-test")) == 1


def test_a_place_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        Place("nosuch://x")
    (tmp_path / "file").write_text("x")
    with pytest.raises(UnavailableError):
        Place(str(tmp_path / "file")).write("f", "n", b"x")
    assert Place(str(tmp_path)).read("f", "n") is None
    with LongTermMemory.open(":memory:", embedder="none", timezone="UTC") as memory, pytest.raises(ConfigError):
        from ltm_core.keep.archive.place import place_of

        place_of(memory._runtime)


def test_files_of_an_encrypted_store_show_neither_words_nor_vectors(
    opened: Opening, clock: Clock, tmp_path: Path
) -> None:
    pytest.importorskip("cryptography")
    memory = opened(key_provider=b"k" * 32)
    memory.observe(user_id="ana", session_id="s", user="We talked about the quagga exhibition.", message_id="m")
    clock.now += timedelta(days=400)
    memory.observe(user_id="ana", session_id="new", user="We saw a heron at the lake.")
    vectors = HashEmbedder().embed_documents(["[2026-01-01] user: We talked about the quagga exhibition."])
    memory.maintain()
    assert parquet(tmp_path) and b"quagga" not in bytes_of(tmp_path / "store")
    assert vectors[0].astype("<f2").tobytes() not in bytes_of(tmp_path / "store")
    assert memory.restore_archive("ana") == 1
    assert memory.search("quagga", user_id="ana")[0].similarity and memory.doctor().healthy


def test_a_plain_archive_is_put_back_before_its_store_is_encrypted(memory: LongTermMemory, tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    memory.maintain()
    with pytest.raises(ConfigError, match="restore_archive"):
        LongTermMemory.encrypt(tmp_path / "store", key_provider=b"k" * 32)


@pytest.mark.parametrize("texts", ["plain", "encrypted"])
def test_a_kill_after_the_chat_asked_to_forget_leaves_it_to_maintain(
    opened: Opening, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: str
) -> None:
    from ltm_core.write import service

    keys: dict[str, Any] = {}
    if texts == "encrypted":
        pytest.importorskip("cryptography")
        keys = {"key_provider": b"k" * 32}
    memory = opened(**keys)
    for n, text in enumerate(
        ("The Theremin, again: the\u200b theremin.", "Ben liked the Kazoo.", "我们去看了红隼展览。")
    ):
        memory.observe(
            user_id="ana", session_id=f"s{n}", user=text, message_id=f"m{n}", metadata={"x": "the theremin"}
        )
    clock.now += timedelta(days=400)
    for thing in ("theremin", "kazoo"):
        memory.observe(user_id="ana", session_id="new", user=f"I own the {thing}.")
    memory.observe(user_id="ana", session_id="new", user="我喜欢红隼展览。")
    assert memory.maintain().cold == 3

    def die(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(service, "clean_asked", die)
        for text in ("Please forget that I own the theremin.", "请忘记我喜欢红隼展览。"):
            with pytest.raises(Killed):
                memory.observe(user_id="ana", session_id="new", user=text)
    assert any("heremin" in t for t in found(memory, "theremin"))
    memory.observe(user_id="ana", session_id="new", user="Please forget that I own the kazoo.")
    memory.maintain()
    told = [json.loads(x) for x in memory.export_user("ana")]
    left = [x["content"] for x in told if x["type"] == "message"]
    assert not [x for x in told if "theremin" in str(x.get("metadata"))]
    assert "████████████, again: █████████████." in left and "Ben liked █████████." in left
    assert not [t for t in left if "红隼展览" in t] and any(t.startswith("我们去看了█") for t in left)
    assert not [
        w for w in ("theremin", "Theremin", "Kazoo") if w.encode() in bytes_of(tmp_path / "store" / "archive")
    ]
    clock.now += timedelta(seconds=901)
    memory.maintain()
    assert memory.stats().jobs == 0 and memory.doctor().healthy


def test_files_that_cannot_be_reached_are_cleaned_later(
    memory: LongTermMemory, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    memory.observe(user_id="ana", session_id="new", user="I own the theremin.")
    memory.maintain()

    def refuse(*_: object) -> None:
        raise UnavailableError("a file of the archive cannot be read (OSError)")

    with monkeypatch.context() as patch:
        patch.setattr(Place, "read", refuse)
        memory.observe(user_id="ana", session_id="new", user="Please forget that I own the theremin.")
    assert "tries again" in caplog.text and "theremin" not in caplog.text
    assert bytes_of(tmp_path / "store" / "archive").count(b"theremin") == 2
    clock.now += timedelta(days=1)
    memory.maintain()
    assert bytes_of(tmp_path / "store" / "archive").count(b"theremin") == 1  # ben's


def test_the_commands(memory: LongTermMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.maintain()
    memory.close()
    monkeypatch.setenv("LTM_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("LTM_EMBEDDER", "none")
    monkeypatch.setenv("LTM_COLD_AFTER_DAYS", "365")

    def run(*arguments: str) -> str:
        done = CliRunner().invoke(app, [*arguments, "--user", "ana"])
        assert done.exit_code == 0, done.output
        return done.output

    assert "Nothing found" in run("recall", "zeppelin")
    assert "zeppelin" in run("recall", "zeppelin", "--cold")
    assert json.loads(run("restore-archive", "--since", "2024-03-01", "--json")) == {"user": "ana", "restored": 0}
    shown = run("restore-archive", "--actor", "desk")
    assert "4 turns of ana" in shown and "not recalled for 365 days" in shown
    assert "zeppelin" in run("recall", "zeppelin")
