"""A ConversationChain that remembers from one conversation to the next: python langchain_conversation.py [DIR]

With OPENAI_BASE_URL (and OPENAI_API_KEY, OPENAI_MODEL) it asks that endpoint, else a model that repeats what it is
shown; put any chat model of LangChain in its place.
"""

import os
import sys
from typing import Any

from langchain_classic.chains import ConversationChain

from langchain_ltm import LTMConversationMemory
from ltm_core import LongTermMemory

llm: Any
if os.environ.get("OPENAI_BASE_URL"):
    from langchain_openai import ChatOpenAI

    llm = ChatOpenAI(model=os.environ.get("OPENAI_MODEL", "gpt-4o-mini"))
else:
    from ltm_core.testing.langchain_model import ScriptedChatModel

    llm = ScriptedChatModel(reply=lambda messages: f"I was shown:\n{messages[-1].text}")

with LongTermMemory.open(sys.argv[1] if len(sys.argv) > 1 else "./ltm-data", timezone="UTC") as memory:
    for session, text in [("monday", "I live in Porto."), ("friday", "Where do I live?")]:
        history = LTMConversationMemory(memory=memory, user_id="ana", session_id=session)
        chain = ConversationChain(llm=llm, memory=history)
        print(f"[{session}] {text}\n{chain.predict(input=text)}\n")
