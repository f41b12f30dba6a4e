"""ltm-core for LangChain.

from ltm_core import LongTermMemory
from langchain_ltm import LTMConversationMemory

chain = ConversationChain(llm=llm, memory=LTMConversationMemory(memory=LongTermMemory.open(), user_id="ana"))
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ltm_core.errors import MissingExtraError

if TYPE_CHECKING:
    from langchain_ltm._labels import namespace_label
    from langchain_ltm.conversation import LTMConversationMemory
    from langchain_ltm.extractor import ChatModelExtractor
    from langchain_ltm.history import LTMChatMessageHistory, ltm_history_factory
    from langchain_ltm.importing import ImportReport, aimport_history, import_history
    from langchain_ltm.middleware import LTMMiddleware
    from langchain_ltm.recalling import ltm_recall
    from langchain_ltm.retriever import LTMRetriever
    from langchain_ltm.store import LTMStore
    from langchain_ltm.summarizer import ChatModelSummarizer
    from langchain_ltm.tools import ltm_tools

_HOME = {
    "ChatModelExtractor": "langchain_ltm.extractor",
    "ChatModelSummarizer": "langchain_ltm.summarizer",
    "ImportReport": "langchain_ltm.importing",
    "LTMChatMessageHistory": "langchain_ltm.history",
    "LTMConversationMemory": "langchain_ltm.conversation",
    "LTMMiddleware": "langchain_ltm.middleware",
    "LTMRetriever": "langchain_ltm.retriever",
    "LTMStore": "langchain_ltm.store",
    "aimport_history": "langchain_ltm.importing",
    "import_history": "langchain_ltm.importing",
    "ltm_history_factory": "langchain_ltm.history",
    "ltm_recall": "langchain_ltm.recalling",
    "ltm_tools": "langchain_ltm.tools",
    "namespace_label": "langchain_ltm._labels",
}

__all__ = [
    "ChatModelExtractor",
    "ChatModelSummarizer",
    "ImportReport",
    "LTMChatMessageHistory",
    "LTMConversationMemory",
    "LTMMiddleware",
    "LTMRetriever",
    "LTMStore",
    "aimport_history",
    "import_history",
    "ltm_history_factory",
    "ltm_recall",
    "ltm_tools",
    "namespace_label",
]


def __getattr__(name: str) -> Any:
    # The host is imported by the first use of a name: importing this package costs nothing and needs nothing.
    if name not in _HOME:
        raise AttributeError(f"module 'langchain_ltm' has no attribute {name!r}")
    try:
        return getattr(import_module(_HOME[name]), name)
    except ModuleNotFoundError as e:
        if (e.name or "").partition(".")[0].startswith(("langchain", "langgraph")):
            raise MissingExtraError(f"langchain_ltm.{name}", "langchain") from e
        raise


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
