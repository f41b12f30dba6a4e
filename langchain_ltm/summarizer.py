"""Any chat model of LangChain as a summariser."""

from __future__ import annotations

from langchain_ltm._asking import AskedChatModel
from ltm_core.llm.chat import ChatSummarizer


class ChatModelSummarizer(AskedChatModel, ChatSummarizer):
    """``LongTermMemory.open(summarizer=ChatModelSummarizer(model), consolidate_after_days=7)``.

    Asked by ``maintain``, never while a user waits; in the way of `ChatModelExtractor`, in runs named
    ``ltm_summarize``. What it says is checked against the turns (docs/consolidation.md).
    """

    _run_name = "ltm_summarize"


__all__ = ["ChatModelSummarizer"]
