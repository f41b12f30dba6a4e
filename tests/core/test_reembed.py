"""Another embedder for a store: nothing lost, both sets beside each other, and a way back."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

from ltm_core import ConflictError, EmbedderMismatchError, InvalidInputError, LongTermMemory, UnavailableError
from ltm_core.cli import app
from ltm_core.embed.none import NoEmbedder
from ltm_core.store.sqlite import SqliteStore
from ltm_core.testing.clock import Clock
from ltm_core.testing.embedders import HashEmbedder

CLOCK = Clock(datetime(2026, 3, 1, 9, tzinfo=UTC))
OLD, NEW = HashEmbedder(64), HashEmbedder(96, name="hash/2")
TOLD = ["I live in Porto.", "My dog is called Kestrel.", "I play the oboe.", "我住在杭州。", "我喜欢红茶。"]


class Watched(HashEmbedder):
    """Counts what it embeds, and does something first."""

    def __init__(
        self, dimension: int = 96, *, name: str = "hash/2", first: Callable[[int], None] | None = None
    ) -> None:
        super().__init__(dimension, name=name)
        self.texts = 0
        self._first = first

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._first is not None:
            self._first(self.texts)
        self.texts += len(texts)
        return super().embed_documents(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return HashEmbedder(self.dimension).embed_query(text)


class Blind(HashEmbedder):
    """Finds nothing: every text is the same to it."""

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.ones((len(texts), self.dimension), dtype=np.float32)


def opened(path: Path, embedder: object = OLD, **options: Any) -> LongTermMemory:
    return LongTermMemory.open(path, embedder=embedder, timezone="UTC", clock=CLOCK, **options)


def store_of(memory: LongTermMemory) -> SqliteStore:
    store = memory._runtime.store
    assert isinstance(store, SqliteStore)
    return store


def counted(memory: LongTermMemory) -> dict[str, int]:
    with store_of(memory).connection() as conn:
        return {
            "chunks": conn.execute("SELECT count(*) FROM chunks").fetchone()[0],
            "vectors": conn.execute("SELECT count(*) FROM vectors").fetchone()[0],
            "second": conn.execute("SELECT count(*) FROM second_vectors").fetchone()[0],
            "units": conn.execute("SELECT count(vector) FROM document_units").fetchone()[0],
            "others": conn.execute("SELECT count(second_vector) FROM document_units").fetchone()[0],
        }


def found(memory: LongTermMemory, user: str = "u1") -> list[Any]:
    hits = [
        [(h.text, round(h.similarity or 0, 4)) for h in memory.search(q, user_id=user)] for q in ("Porto?", "红茶")
    ]
    return [
        *hits,
        [(d.key, round(d.similarity or 0, 3)) for d in memory.search_documents((), user_id=user, query="Rome")],
    ]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    with opened(tmp_path / "store") as memory:
        for user in ("u1", "u2", "u3"):
            for i, text in enumerate(TOLD):
                memory.observe(user_id=user, session_id="s", user=f"{text}", message_id=f"m{i}")
            memory.observe(user_id=user, session_id="s", user="Where do I live?")
            memory.put_document(("n",), "a", {"text": "Rome and Oslo"}, user_id=user)
            memory.put_document(("n",), "b", {"text": "tea"}, user_id=user)
    return tmp_path / "store"


@pytest.fixture
def fresh(tmp_path: Path, place: Path) -> Iterator[LongTermMemory]:
    """A store that always had the new embedder."""
    with opened(tmp_path / "fresh", NEW) as memory, opened(place) as source:
        for user in ("u1", "u2", "u3"):
            memory.import_user(source.export_user(user), user_id=user, trust=True)
        yield memory


def test_after_the_switch_the_store_is_as_if_it_had_always_had_the_new_embedder(
    place: Path, fresh: LongTermMemory
) -> None:
    seen: list[tuple[int, int]] = []
    with opened(place) as memory:
        before, had = found(memory), counted(memory)
        report = memory.reembed(NEW, progress=lambda *at: seen.append(at))
        assert (report.state, report.embedder, report.other) == ("switched", "hash/2|96|t1|c1", "hash/1|64|t1|c1")
        assert report.embedded == had["chunks"] + had["units"] and report.waiting == 0
        assert seen[-1] == (report.embedded, report.embedded) and sorted(seen) == seen
        assert counted(memory) == {**had, "second": had["vectors"], "others": had["units"]}
    with pytest.raises(EmbedderMismatchError, match="ltm reembed"):
        opened(place)
    with opened(place, NEW) as memory:
        assert found(memory) == found(fresh) != before
        assert memory.doctor().healthy
        assert memory.reembed().state == "switched"
        assert memory.reembed(finish=True).state == "dropped"
        assert counted(memory) == had
        assert found(memory) == found(fresh) and memory.reembed().state == "none"


def test_a_memory_that_is_open_goes_on_with_keywords_and_loses_nothing(place: Path) -> None:
    with opened(place) as memory, opened(place) as other:
        found(other)
        memory.reembed(NEW)
        for m in (memory, other):
            assert any("Porto" in h.text for h in m.search("Porto", user_id="u1"))
            assert all(not h.similarity for h in m.search("Porto", user_id="u1"))
            assert m.observe(user_id="u1", session_id="s", user="I moved to Lisbon.").changes
            m.put_document(("n",), "c", {"text": "Oslo"}, user_id="u1")
            assert m.search_documents((), user_id="u1", query="Oslo")
            m.maintain()
        assert counted(memory)["vectors"] < counted(memory)["chunks"]
    with opened(place, NEW) as memory:
        memory.maintain()
        assert counted(memory)["vectors"] == counted(memory)["chunks"]
        assert memory.doctor().healthy
        assert [f.object for f in memory.facts(user_id="u1", relation="lives_in")] == ["Lisbon"]


def test_what_was_stopped_goes_on_where_it_was(place: Path) -> None:
    def die(texts: int) -> None:
        if texts > 4:
            raise OSError

    with opened(place) as memory:
        before = found(memory)
        with pytest.raises(UnavailableError):
            memory.reembed(Watched(first=die))
        done = counted(memory)
        assert 0 < done["second"] < done["chunks"] and found(memory) == before
        state = memory.reembed()
        assert (
            state.state == "ready"
            and state.waiting == done["chunks"] - done["second"] + done["units"] - done["others"]
        )
    with opened(place) as memory:
        model = Watched()
        report = memory.reembed(model, switch=False)
        assert report.embedded == state.waiting == model.texts and report.state == "ready" and report.waiting == 0
        assert found(memory) == before
        assert memory.reembed(Watched()).embedded == 0


def test_a_killed_run_loses_nothing(place: Path) -> None:
    code = (
        "import sys, time; from ltm_core import LongTermMemory\n"
        "from ltm_core.testing.embedders import HashEmbedder\n"
        "class Slow(HashEmbedder):\n"
        "    def embed_documents(self, texts):\n"
        "        if len(texts) > 1: print('batch', flush=True); time.sleep(0.2)\n"
        "        return super().embed_documents(texts)\n"
        f"memory = LongTermMemory.open({str(place)!r}, embedder=HashEmbedder(64), timezone='UTC')\n"
        "memory.reembed(Slow(96, name='hash/2'))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout is not None
    # Killed inside the second batch: the first one is committed.
    assert process.stdout.readline() and process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    with opened(place) as memory:
        before = counted(memory)
        assert 0 < before["second"] < before["chunks"] and memory.doctor().healthy
        model = Watched()
        assert memory.reembed(model).state == "switched"
        assert model.texts == before["chunks"] - before["second"] + before["units"] - before["others"]
    with opened(place, NEW) as memory:
        assert memory.doctor().healthy


def test_what_is_written_meanwhile_is_in_both_sets(place: Path) -> None:
    with opened(place) as memory:
        told: list[int] = []

        def tell(texts: int) -> None:
            if len(told) < 3:
                told.append(texts)
                memory.observe(user_id="u1", session_id="s", user=f"My sister number {len(told)} lives in Cork.")
                memory.put_document(("n",), "a", {"text": f"Cork {len(told)}"}, user_id="u1")
                memory.forget_session("s", user_id="u3") if len(told) == 1 else memory.forget_matching(
                    "oboe", user_id="u2", dry_run=False
                )

        report = memory.reembed(Watched(first=tell))
        now = counted(memory)
        assert report.waiting == 0 and now["units"] == now["others"]
        assert now["vectors"] == now["second"] == now["chunks"]
    with opened(place, NEW) as memory:
        assert memory.doctor().healthy
        assert "Cork" in memory.search("My sister number 3", user_id="u1")[0].text


def test_what_comes_without_pause_does_not_keep_the_switch_away(place: Path) -> None:
    with opened(place) as memory:

        def tell(texts: int) -> None:
            memory.observe(user_id="u1", session_id="s", user=f"My sister number {texts} lives in Cork.")

        report = memory.reembed(Watched(first=tell))
        assert report.state == "switched" and report.waiting > 0
    with opened(place, NEW) as memory:
        memory.maintain()
        assert counted(memory)["vectors"] == counted(memory)["chunks"] and memory.doctor().healthy


def test_the_way_back(place: Path) -> None:
    with opened(place) as memory:
        before = found(memory, "u2")
        memory.reembed(NEW)
    with opened(place, NEW) as memory:
        memory.observe(user_id="u1", session_id="s", user="My sister lives in Cork.")
        memory.forget_session("s", user_id="u3")
        with pytest.raises(ConflictError, match="finish"):
            memory.reembed(HashEmbedder(32, name="hash/3"))
        report = memory.reembed(roll_back=True)
        assert report.state == "rolled_back" and report.embedder == "hash/1|64|t1|c1" and report.waiting > 0
        with pytest.raises(ConflictError, match="nothing was switched"):
            memory.reembed(roll_back=True)
    with opened(place) as memory:
        assert found(memory, "u2") == before
        memory.maintain()
        now = counted(memory)
        assert now["vectors"] == now["chunks"] and memory.doctor().healthy
        assert memory.reembed(NEW).state == "switched"
    with opened(place, NEW) as memory:
        assert memory.doctor().healthy
        memory.reembed(finish=True)
        with pytest.raises(ConflictError):
            memory.reembed(finish=True)


def test_figures_tell_a_good_embedder_from_a_bad_one(place: Path) -> None:
    with opened(place) as memory:
        same = memory.reembed(HashEmbedder(64, name="same"), switch=False).comparison
        assert same is not None and same.overlap_at_10 == 1 and same.questions >= 10
        assert same.known >= 6 and same.mrr_before == same.mrr_after > 0.3
        memory.reembed(finish=True)
        blind = memory.reembed(Blind(8, name="blind"), switch=False).comparison
        assert blind is not None and blind.mrr_after < same.mrr_after and blind.overlap_at_10 < 1
        memory.reembed(finish=True)
        pairs = [{"user_id": "u1", "query": "Which town do I live in, Porto?", "text": "I live in Porto"}]
        given = memory.reembed(NEW, switch=False, pairs=pairs).comparison
        assert given is not None and given.known == 1 and given.recall_at_10_before == given.recall_at_10_after == 1
        with pytest.raises(InvalidInputError, match="pair 2"):
            memory.reembed(NEW, pairs=[*pairs, {"query": "x"}])
        assert memory.reembed().state == "ready"


def test_what_cannot_be_done_is_refused(place: Path, tmp_path: Path) -> None:
    with opened(place) as memory:
        with pytest.raises(InvalidInputError):
            memory.reembed(NEW, finish=True)
        with pytest.raises(InvalidInputError):
            memory.reembed("none")
        with pytest.raises(ConflictError):
            memory.reembed(OLD)
        with pytest.raises(ConflictError):
            memory.reembed(finish=True)
        memory.reembed(NEW, switch=False)
        with pytest.raises(ConflictError, match="hash/2"):
            memory.reembed(HashEmbedder(32, name="hash/3"))
    with opened(place, read_only=True) as memory, pytest.raises(UnavailableError):
        memory.reembed(NEW)
    with LongTermMemory.open(":memory:", embedder=OLD, timezone="UTC") as memory, pytest.raises(InvalidInputError):
        memory.reembed(NEW)


def test_without_the_former_embedder_nothing_is_compared(place: Path) -> None:
    with opened(place, "none") as memory:
        report = memory.reembed(NEW)
        assert report.comparison is None and report.state == "switched"
    with opened(place, NEW) as memory:
        assert memory.search("Porto", user_id="u1")[0].similarity


def test_an_erasure_reaches_both_sets_and_a_backup_holds_both(place: Path, tmp_path: Path) -> None:
    with opened(place) as memory:
        memory.reembed(NEW)
    with opened(place, NEW) as memory:
        memory.backup(tmp_path / "copies" / "one")
        receipt = memory.forget_user("u1")
        assert receipt.counts["second_vectors"] == receipt.counts["vectors"] > 0
    LongTermMemory.restore_backup(tmp_path / "copies" / "one", tmp_path / "again", clock=CLOCK)
    with opened(tmp_path / "again", "none") as memory:
        memory.reembed(roll_back=True)
    with opened(tmp_path / "again") as memory:
        assert not memory.search("Porto", user_id="u1") and memory.search("Porto", user_id="u2")
        assert memory.doctor().healthy


def test_an_encrypted_store_changes_its_embedder_too(place: Path) -> None:
    pytest.importorskip("cryptography")
    with opened(place) as memory:
        memory.reembed(NEW)
        memory.reembed(roll_back=True)
    LongTermMemory.encrypt(place, key_provider=b"k" * 32)
    with opened(place, key_provider=b"k" * 32) as memory:
        before = found(memory)
        memory.observe(user_id="u1", session_id="s", user="My sister lives in Cork.")
        memory.reembed(NEW)
    with opened(place, NEW, key_provider=b"k" * 32) as memory:
        assert found(memory) != before and memory.doctor().healthy
        memory.reembed(roll_back=True)
    with opened(place, key_provider=b"k" * 32) as memory:
        assert found(memory, "u2") == before


def test_from_the_command_line(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def ltm(*arguments: str) -> Any:
        return CliRunner().invoke(app, ["reembed", "--store", str(place), *arguments])

    monkeypatch.delenv("LTM_CONFIG", raising=False)
    monkeypatch.delenv("LTM_EMBEDDER", raising=False)
    monkeypatch.setattr("ltm_core.embed.resolve._named", {"old": OLD, "new": NEW, "none": NoEmbedder()}.__getitem__)
    (tmp_path / "pairs.jsonl").write_text(json.dumps({"user_id": "u1", "query": "Porto?", "text": "Porto"}) + "\n")
    assert "One set" in ltm().output
    done = ltm("--to", "new", "--embedder", "old", "--prepare", "--pairs", str(tmp_path / "pairs.jsonl"))
    assert done.exit_code == 0 and "MRR" in done.output and "0 missing" in done.output
    report = json.loads(ltm("--to", "new", "--embedder", "old", "--json").stdout)
    assert report["state"] == "switched" and report["comparison"]["overlap_at_10"] > 0
    assert ltm("--to", "new", "--embedder", "old").exit_code == 3
    assert "--finish" in ltm("--roll-back").output
    assert "gone" in ltm("--finish").output
    assert ltm("--finish").exit_code == 2
