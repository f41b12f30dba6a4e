"""ltm-core for LlamaIndex.

from ltm_core import LongTermMemory
from llamaindex_ltm import LTMMemory

memory = LTMMemory.from_defaults(LongTermMemory.open(), user_id="ana")
engine = SimpleChatEngine.from_defaults(llm=llm, memory=memory)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ltm_core.errors import MissingExtraError

if TYPE_CHECKING:
    from llamaindex_ltm.block import LTMMemoryBlock
    from llamaindex_ltm.chat_store import LTMChatStore
    from llamaindex_ltm.db_chat_store import LTMDBChatStore
    from llamaindex_ltm.embedding import LTMEmbedding
    from llamaindex_ltm.extractor import LLMExtractor
    from llamaindex_ltm.importing import ImportReport, aimport_chat_store, import_chat_store
    from llamaindex_ltm.memory import LTMMemory
    from llamaindex_ltm.postprocessor import LTMNodePostprocessor
    from llamaindex_ltm.query_engine import LTMQueryEngine
    from llamaindex_ltm.retriever import LTMRetriever
    from llamaindex_ltm.summarizer import LLMSummarizer

_HOME = {
    "ImportReport": "llamaindex_ltm.importing",
    "LLMExtractor": "llamaindex_ltm.extractor",
    "LLMSummarizer": "llamaindex_ltm.summarizer",
    "LTMChatStore": "llamaindex_ltm.chat_store",
    "LTMDBChatStore": "llamaindex_ltm.db_chat_store",
    "LTMEmbedding": "llamaindex_ltm.embedding",
    "LTMMemory": "llamaindex_ltm.memory",
    "LTMMemoryBlock": "llamaindex_ltm.block",
    "LTMNodePostprocessor": "llamaindex_ltm.postprocessor",
    "LTMQueryEngine": "llamaindex_ltm.query_engine",
    "LTMRetriever": "llamaindex_ltm.retriever",
    "aimport_chat_store": "llamaindex_ltm.importing",
    "import_chat_store": "llamaindex_ltm.importing",
}

__all__ = [
    "ImportReport",
    "LLMExtractor",
    "LLMSummarizer",
    "LTMChatStore",
    "LTMDBChatStore",
    "LTMEmbedding",
    "LTMMemory",
    "LTMMemoryBlock",
    "LTMNodePostprocessor",
    "LTMQueryEngine",
    "LTMRetriever",
    "aimport_chat_store",
    "import_chat_store",
]


def __getattr__(name: str) -> Any:
    # The host is imported by the first use of a name: importing this package costs nothing and needs nothing.
    if name not in _HOME:
        raise AttributeError(f"module 'llamaindex_ltm' has no attribute {name!r}")
    try:
        return getattr(import_module(_HOME[name]), name)
    except ModuleNotFoundError as e:
        if (e.name or "").partition(".")[0] == "llama_index":
            raise MissingExtraError(f"llamaindex_ltm.{name}", "llamaindex") from e
        raise


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
