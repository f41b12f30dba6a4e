"""A query engine over documents that remembers who asks: python llamaindex_query.py [DIR]

Documents and memories share the built-in embedder: no key, no server. The model here repeats what it is shown;
with OPENAI_BASE_URL and OPENAI_MODEL (and OPENAI_API_KEY) set, the model there answers.
"""

import sys

from llama_index.core import Document, VectorStoreIndex

from llamaindex_ltm import LTMEmbedding, LTMQueryEngine
from ltm_core import LongTermMemory
from ltm_core.testing.llamaindex_model import ScriptedLLM, from_environment

llm = from_environment() or ScriptedLLM(reply=lambda messages: "I was shown:\n" + "\n".join(map(str, messages)))
dishes = [
    "Monday: vegetable soup, with celery.",
    "Tuesday: noodles with peanut sauce.",
    "Friday: rice with beans.",
]
index = VectorStoreIndex.from_documents([Document(text=d) for d in dishes], embed_model=LTMEmbedding())

with LongTermMemory.open(sys.argv[1] if len(sys.argv) > 1 else "./ltm-data", timezone="UTC") as memory:
    for session, question in [
        ("monday", "I am allergic to peanuts. What is there on Monday?"),
        ("tuesday", "Can I eat the noodles, or am I allergic to something in them?"),
    ]:
        engine = LTMQueryEngine.from_index(index, memory, user_id="ana", session_id=session, llm=llm)
        print(f"[{session}] {question}\n{engine.query(question)}\n")
