"""Any LLM of LlamaIndex as an extractor of facts."""

from __future__ import annotations

from llamaindex_ltm._asking import AskedLLM
from ltm_core.llm.chat import ChatExtractor


class LLMExtractor(AskedLLM, ChatExtractor):
    """``LongTermMemory.open(extractor=LLMExtractor(llm))``.

    The model is asked through ``chat``, first with OpenAI's ``response_format``, then without: what a provider does
    not know only costs one refused call. Give the model a temperature of 0 and a timeout of its own.
    """


__all__ = ["LLMExtractor"]
