"""Any chat model of LangChain as an extractor of facts."""

from __future__ import annotations

from langchain_ltm._asking import AskedChatModel
from ltm_core.llm.chat import ChatExtractor


class ChatModelExtractor(AskedChatModel, ChatExtractor):
    """``LongTermMemory.open(extractor=ChatModelExtractor(model))``.

    The model is asked through ``invoke``, first with OpenAI's ``response_format`` bound to it, then as it is: what a
    provider does not know only costs one refused call. Runs are named ``ltm_extract`` and tagged ``ltm``. Give the
    model a temperature of 0 and a timeout of its own.
    """

    _run_name = "ltm_extract"


__all__ = ["ChatModelExtractor"]
