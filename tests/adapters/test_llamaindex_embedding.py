"""Embedders both ways: ours in an index of the host, the host's in our memory."""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from llama_index.core import Document, MockEmbedding, Settings, StorageContext, VectorStoreIndex
from llama_index.core.indices import load_index_from_storage

from llamaindex_ltm import LTMEmbedding
from ltm_core import LongTermMemory
from ltm_core.embed.resolve import resolve_embedder
from ltm_core.errors import ConfigError
from ltm_core.testing.embedders import HashEmbedder

DOCUMENTS = [Document(text="The museum opens at nine."), Document(text="博物馆九点开门，图书馆十点开门。")]


def test_our_embedder_in_an_index_of_the_host(tmp_path: Path) -> None:
    embedding = LTMEmbedding(HashEmbedder())
    index = VectorStoreIndex.from_documents(DOCUMENTS, embed_model=embedding)
    for question, expected in (("When does the museum open?", "nine"), ("图书馆几点开门？", "十点")):
        (best,) = index.as_retriever(similarity_top_k=1).retrieve(question)
        assert expected in best.text
        (again,) = asyncio.run(index.as_retriever(similarity_top_k=1).aretrieve(question))
        assert again.text == best.text
    index.storage_context.persist(str(tmp_path))
    loaded = load_index_from_storage(StorageContext.from_defaults(persist_dir=str(tmp_path)), embed_model=embedding)
    assert loaded.as_retriever(similarity_top_k=1).retrieve("museum")
    assert Settings._embed_model is None and Settings._llm is None


def test_the_vectors_are_those_of_the_embedder() -> None:
    ours = resolve_embedder(HashEmbedder())
    embedding = LTMEmbedding(HashEmbedder(), embed_batch_size=2)
    assert embedding.dimension == ours.dimension
    assert embedding.model_name == ours.name
    texts = ["one", "", "三", "four\n", "five"]
    rows = ours.embed_documents(texts)
    assert np.allclose(embedding.get_text_embedding_batch(texts), rows)
    assert np.allclose(asyncio.run(embedding.aget_text_embedding_batch(texts)), rows)
    assert np.allclose(embedding.get_text_embedding("one"), rows[0])
    assert np.allclose(asyncio.run(embedding.aget_text_embedding("one")), rows[0])
    query = ours.embed_query("one?")
    assert np.allclose(embedding.get_query_embedding("one?"), query)
    assert np.allclose(asyncio.run(embedding.aget_query_embedding("one?")), query)


def test_copies_and_dicts() -> None:
    built_in = LTMEmbedding()
    data = json.loads(json.dumps(built_in.to_dict()))
    assert data["spec"] == "use"
    assert LTMEmbedding.from_dict(data).model_name == built_in.model_name == "use-multilingual-v3/0.2.1"
    given = LTMEmbedding(HashEmbedder(), embed_batch_size=7)
    for other in (copy.copy(given), copy.deepcopy(given), pickle.loads(pickle.dumps(given))):
        assert other.get_text_embedding("one") == given.get_text_embedding("one")
        assert other.embed_batch_size == 7
    with pytest.raises(ConfigError, match="made from an object"):
        LTMEmbedding.from_dict(json.loads(json.dumps(given.to_dict())))


def test_what_cannot_be_an_embedding() -> None:
    for bad in ("none", "no-such-thing", 7):
        with pytest.raises(ConfigError):
            LTMEmbedding(bad)
    with pytest.raises(ConfigError, match="no password"):
        LTMEmbedding("openai:http://ana:Rosebud@127.0.0.1:9/v1#m")


@pytest.mark.parametrize("embedding", [MockEmbedding(embed_dim=8), LTMEmbedding(HashEmbedder())])
def test_an_embedding_of_the_host_in_our_memory(tmp_path: Path, embedding: object) -> None:
    for _ in range(2):
        with LongTermMemory.open(tmp_path / "s", embedder=embedding, timezone="UTC") as opened:
            opened.observe(user_id="ana", session_id="s", user="I live in Porto.", message_id="m")
            assert "Porto" in opened.context("Where do I live?", user_id="ana", session_id="t").text
