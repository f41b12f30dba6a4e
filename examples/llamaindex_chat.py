"""A chat engine that remembers from one conversation to the next: python llamaindex_chat.py [DIR]

The model here repeats what it is shown of your memories. With OPENAI_BASE_URL and OPENAI_MODEL (and
OPENAI_API_KEY) set, the model there answers; any chat model of LlamaIndex can take its place.
"""

import sys

from llama_index.core.chat_engine import SimpleChatEngine

from llamaindex_ltm import LTMMemory
from ltm_core import LongTermMemory
from ltm_core.testing.llamaindex_model import ScriptedLLM, from_environment

llm = from_environment() or ScriptedLLM(reply=lambda messages: "I was shown:\n" + "\n".join(map(str, messages)))

with LongTermMemory.open(sys.argv[1] if len(sys.argv) > 1 else "./ltm-data", timezone="UTC") as memory:
    for session, text in [("monday", "I live in Porto."), ("friday", "Where do I live?")]:
        history = LTMMemory.from_defaults(memory, user_id="ana", session_id=session, llm=llm)
        engine = SimpleChatEngine.from_defaults(llm=llm, memory=history)
        print(f"[{session}] {text}\n{engine.chat(text)}\n")
