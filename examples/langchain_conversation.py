"""A ConversationChain that remembers from one conversation to the next: python langchain_conversation.py [DIR]

The model here repeats what it is shown of your memories; put any chat model of LangChain in its place.
"""

import sys

from langchain_classic.chains import ConversationChain

from langchain_ltm import LTMConversationMemory
from ltm_core import LongTermMemory
from ltm_core.testing.langchain_model import ScriptedChatModel

llm = ScriptedChatModel(reply=lambda messages: f"I was shown:\n{messages[-1].text}")

with LongTermMemory.open(sys.argv[1] if len(sys.argv) > 1 else "./ltm-data", timezone="UTC") as memory:
    for session, text in [("monday", "I live in Porto."), ("friday", "Where do I live?")]:
        history = LTMConversationMemory(memory=memory, user_id="ana", session_id=session)
        chain = ConversationChain(llm=llm, memory=history)
        print(f"[{session}] {text}\n{chain.predict(input=text)}\n")
