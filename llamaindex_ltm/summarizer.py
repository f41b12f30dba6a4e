"""Any LLM of LlamaIndex as a summariser."""

from __future__ import annotations

from llamaindex_ltm._asking import AskedLLM
from ltm_core.llm.chat import ChatSummarizer


class LLMSummarizer(AskedLLM, ChatSummarizer):
    """``LongTermMemory.open(summarizer=LLMSummarizer(llm), consolidate_after_days=7)``.

    Asked by ``maintain``, never while a user waits, in the way of `LLMExtractor`. What it says is checked against
    the turns (docs/consolidation.md).
    """


__all__ = ["LLMSummarizer"]
