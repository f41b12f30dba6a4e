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
    from llamaindex_ltm.extractor import LLMExtractor
    from llamaindex_ltm.memory import LTMMemory

_HOME = {"LLMExtractor": "llamaindex_ltm.extractor", "LTMMemory": "llamaindex_ltm.memory"}

__all__ = ["LLMExtractor", "LTMMemory"]


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
