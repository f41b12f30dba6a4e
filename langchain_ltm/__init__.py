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
    from langchain_ltm.conversation import LTMConversationMemory
    from langchain_ltm.extractor import ChatModelExtractor

_HOME = {
    "ChatModelExtractor": "langchain_ltm.extractor",
    "LTMConversationMemory": "langchain_ltm.conversation",
}

__all__ = ["ChatModelExtractor", "LTMConversationMemory"]


def __getattr__(name: str) -> Any:
    # The host is imported by the first use of a name: importing this package costs nothing and needs nothing.
    if name not in _HOME:
        raise AttributeError(f"module 'langchain_ltm' has no attribute {name!r}")
    try:
        return getattr(import_module(_HOME[name]), name)
    except ModuleNotFoundError as e:
        if (e.name or "").partition(".")[0].startswith("langchain"):
            raise MissingExtraError(f"langchain_ltm.{name}", "langchain") from e
        raise


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
