from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_core.embed import checked, from_langchain, from_llamaindex, identity, is_embedder, resolve_embedder
from ltm_core.embed.base import CheckedEmbedder, Embedder
from ltm_core.embed.none import NoEmbedder
from ltm_core.embed.openai_compatible import OpenAICompatibleEmbedder
from ltm_core.embed.prepare import clean, shorten
from ltm_core.embed.use import UniversalSentenceEncoder
from ltm_core.errors import ConfigError, LTMError, UnavailableError
from ltm_core.testing.embedder_contract import EmbedderContract
from ltm_core.testing.embedders import FailingEmbedder, HashEmbedder

SECRET = "sk-secret-Rosebud"


class Scripted:
    """Returns what it is told."""

    name = "scripted"
    max_tokens = 512

    def __init__(self, result: Any, dimension: Any = 2) -> None:
        self.result = result
        self.dimension = dimension

    def embed_documents(self, texts: Sequence[str]) -> Any:
        if isinstance(self.result, Exception):
            raise self.result
        return self.result

    def embed_query(self, text: str) -> Any:
        return self.embed_documents([text])[0]


class LangChainLike:
    def __init__(self, model: str | None = None) -> None:
        self.model = model
        self._inner = HashEmbedder(16)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        rows: list[list[float]] = self._inner.embed_documents(texts).tolist()
        return rows

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


class LlamaIndexLike:
    model_name = "tiny"

    def get_text_embedding_batch(self, texts: list[str]) -> list[list[float]]:
        return LangChainLike().embed_documents(texts)

    def get_query_embedding(self, query: str) -> list[float]:
        return LangChainLike().embed_query(query)


class TestLangChainBridge(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Any:
        return LangChainLike("tiny")


class TestLlamaIndexBridge(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Any:
        return LlamaIndexLike()


@pytest.mark.parametrize(
    "result",
    [
        [],
        [[1.0, 0.0], [0.0, 1.0]],
        [[1.0]],
        [[1.0, float("nan")]],
        [[1.0, float("inf")]],
        [["a", "b"]],
        [[1.0, [2.0]]],
        None,
        RuntimeError(SECRET),
    ],
)
def test_bad_results_are_unavailable_without_their_text(result: Any) -> None:
    with pytest.raises(UnavailableError) as raised:
        checked(Scripted(result)).embed_documents([SECRET])
    assert SECRET not in str(raised.value)
    assert "Rosebud" not in repr(raised.value)


@pytest.mark.parametrize("scale", [1e-40, 1e-300, 1.0, 1e300])
def test_any_scale_is_normalised(scale: float) -> None:
    rows = checked(Scripted([[3 * scale, 4 * scale]])).embed_documents(["x"])
    assert rows[0] == pytest.approx([0.6, 0.8])


def test_a_zero_vector_stays_zero() -> None:
    assert not checked(Scripted([[0.0, 0.0]])).embed_query("x").any()


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("name", ""),
        ("name", "a\nb"),
        ("name", "x" * 201),
        ("name", None),
        ("dimension", -1),
        ("dimension", "2"),
        ("dimension", True),
        ("max_tokens", 0),
        ("max_tokens", 1.5),
    ],
)
def test_bad_descriptions_are_config_errors(attribute: str, value: Any) -> None:
    inner = Scripted([[1.0, 0.0]])
    setattr(inner, attribute, value)
    with pytest.raises(ConfigError, match=attribute):
        getattr(checked(inner), attribute)


def test_our_own_errors_pass_through() -> None:
    with pytest.raises(UnavailableError, match="scripted failure"):
        checked(FailingEmbedder()).embed_query("x")


def test_blank_texts_do_not_reach_the_model() -> None:
    inner = FailingEmbedder()
    assert checked(inner).embed_documents(["", " "]).shape == (2, 64)
    assert inner.calls == 0


def test_identity_tells_model_template_and_chunker_apart() -> None:
    base = identity(HashEmbedder(), template_version=1, chunker_version=1)
    assert base == "hash/1|64|t1|c1"
    others = {
        identity(HashEmbedder(32), template_version=1, chunker_version=1),
        identity(HashEmbedder(name="hash/2"), template_version=1, chunker_version=1),
        identity(HashEmbedder(), template_version=2, chunker_version=1),
        identity(HashEmbedder(), template_version=1, chunker_version=2),
    }
    assert len(others) == 4
    assert base not in others


def test_recognising_an_embedder_runs_nothing() -> None:
    class Explosive(HashEmbedder):
        @property
        def dimension(self) -> int:
            raise AssertionError("read")

        @dimension.setter
        def dimension(self, value: int) -> None: ...

    assert is_embedder(Explosive())
    assert not is_embedder(LangChainLike())
    resolve_embedder(Explosive())


class TestResolve:
    @pytest.mark.parametrize("spec", [None, "default", "use", " USE "])
    def test_the_default(self, spec: str | None) -> None:
        resolved = resolve_embedder(spec)
        assert isinstance(resolved, CheckedEmbedder)
        assert isinstance(resolved.inner, UniversalSentenceEncoder)

    def test_none_means_keywords_only(self) -> None:
        resolved = resolve_embedder("none")
        assert (resolved.name, resolved.dimension) == ("none", 0)
        assert resolved.embed_documents(["a", "b"]).shape == (2, 0)
        assert resolved.embed_query("a").shape == (0,)
        assert isinstance(NoEmbedder(), Embedder)

    def test_objects(self) -> None:
        guarded = checked(HashEmbedder())
        assert resolve_embedder(guarded) is guarded
        assert resolve_embedder(HashEmbedder()).name == "hash/1"
        assert resolve_embedder(LangChainLike("m")).name == "LangChainLike:m"
        assert resolve_embedder(LlamaIndexLike()).name == "LlamaIndexLike:tiny"

    def test_openai(self) -> None:
        resolved = resolve_embedder("openai:http://127.0.0.1:9/v1#m?dimensions=8")
        assert isinstance(resolved, CheckedEmbedder)
        assert isinstance(resolved.inner, OpenAICompatibleEmbedder)
        assert (resolved.name, resolved.dimension) == ("openai:m", 8)

    @pytest.mark.parametrize(
        "spec",
        [
            f"openai:{SECRET}",
            f"openai:https://me:{SECRET}@host/v1#m",
            f"openai:https://host/v1#m?api_key={SECRET}",
            "openai:https://host/v1#",
            "openai:https://host/v1#m?dimensions=x",
            "openai:https://host/v1#m?dimensions=0",
            "openai:ftp://host/v1#m",
            "openai:http://host:port/v1#m",
            "openai:http://[host/v1#m",
            "openai:",
            "sentence-transformers:",
            f"chroma:{SECRET}",
            "",
            1,
            object(),
            HashEmbedder,
            ["use"],
        ],
    )
    def test_anything_else_is_a_config_error(self, spec: Any) -> None:
        with pytest.raises(ConfigError) as raised:
            resolve_embedder(spec)
        assert SECRET not in str(raised.value)

    def test_the_error_lists_the_options(self) -> None:
        with pytest.raises(ConfigError, match=r"none.*sentence-transformers.*openai.*LangChain.*LlamaIndex"):
            resolve_embedder("nonsense")


class TestBridges:
    def test_names(self) -> None:
        assert from_langchain(LangChainLike()).name == "LangChainLike"
        assert from_langchain(LangChainLike("unknown")).name == "LangChainLike"
        assert from_langchain(LangChainLike(" m\n2 ")).name == "LangChainLike:m 2"
        assert from_langchain(LangChainLike(), name="mine/3").name == "mine/3"
        assert from_llamaindex(LlamaIndexLike()).name == "LlamaIndexLike:tiny"

    def test_other_objects_are_refused(self) -> None:
        with pytest.raises(ConfigError):
            from_langchain(LlamaIndexLike())
        with pytest.raises(ConfigError):
            from_llamaindex(LangChainLike())

    def test_dimension_is_asked_for_once(self) -> None:
        bridged = from_langchain(LangChainLike())
        assert bridged.dimension == 16
        assert bridged.dimension == 16

    def test_failures_do_not_show_the_text(self) -> None:
        class Broken(LangChainLike):
            def embed_query(self, text: str) -> list[float]:
                raise RuntimeError(f"cannot embed {text} with {SECRET}")

        with pytest.raises(UnavailableError) as raised:
            _ = resolve_embedder(Broken()).dimension
        assert SECRET not in str(raised.value)

    def test_real_langchain_embeddings(self) -> None:
        fake = pytest.importorskip("langchain_core.embeddings")
        bridged = resolve_embedder(fake.DeterministicFakeEmbedding(size=12))
        assert bridged.embed_documents(["a", "b"]).shape == (2, 12)
        assert bridged.embed_query("a") == pytest.approx(bridged.embed_documents(["a"])[0], abs=1e-6)

    def test_real_llamaindex_embedding(self) -> None:
        core = pytest.importorskip("llama_index.core.embeddings")
        bridged = resolve_embedder(core.MockEmbedding(embed_dim=6))
        assert bridged.name == "MockEmbedding"
        assert bridged.embed_documents(["a", "b"]).shape == (2, 6)


class TestPrepare:
    @given(st.text(st.characters(), max_size=80))
    def test_clean_text_is_encodable_and_stable(self, text: str) -> None:
        cleaned = clean(text)
        cleaned.encode("utf-8")
        assert "\0" not in cleaned
        assert clean(cleaned) == cleaned

    @given(st.text(max_size=200), st.integers(1, 40), st.booleans())
    def test_shortened_text_fits(self, text: str, limit: int, keep_end: bool) -> None:
        short = shorten(text, limit, keep_end=keep_end)
        assert len(short) <= 4 * limit + 1
        if len(text) <= limit:
            assert short == text
        if not keep_end:
            assert text.startswith(short)

    def test_limits_by_script(self) -> None:
        assert len(shorten("a" * 999, 100)) == 400
        assert len(shorten("я" * 999, 100)) == 200
        assert len(shorten("我" * 999, 100)) == 100

    def test_query_keeps_both_ends(self) -> None:
        short = shorten("head" + "x" * 9_000 + "tail", 64, keep_end=True)
        assert short.startswith("head")
        assert short.endswith("tail")

    def test_joined_emoji_survive(self) -> None:
        assert clean("👩‍👧 ok") == "👩‍👧 ok"


def test_errors_are_ours() -> None:
    for error in (ConfigError, UnavailableError):
        assert issubclass(error, LTMError)


def test_hash_embedder_puts_similar_texts_near() -> None:
    embedder = checked(HashEmbedder())
    near, far = embedder.embed_documents(["I live in Hangzhou now", "noodles are tasty"])
    query = embedder.embed_query("where I live: Hangzhou")
    assert query @ near > query @ far + 0.2
    assert np.array_equal(query, checked(HashEmbedder()).embed_query("where I live: Hangzhou"))
