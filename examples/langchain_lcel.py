"""An LCEL chain with history and memory, for two users: python langchain_lcel.py [DIR]

With OPENAI_BASE_URL (and OPENAI_API_KEY, OPENAI_MODEL) it asks that endpoint, else a model that repeats what it is
shown.
"""

import os
import sys
from typing import Any

from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory

from langchain_ltm import ltm_history_factory, ltm_recall
from ltm_core import LongTermMemory

llm: Any
if os.environ.get("OPENAI_BASE_URL"):
    from langchain_openai import ChatOpenAI

    llm = ChatOpenAI(model=os.environ.get("OPENAI_MODEL", "gpt-4o-mini"))
else:
    from ltm_core.testing.langchain_model import ScriptedChatModel

    llm = ScriptedChatModel(reply=lambda messages: f"I was shown:\n{messages[0].text}")

prompt = ChatPromptTemplate.from_messages(
    [("system", "You are helpful.\n{memory}"), MessagesPlaceholder("history"), ("human", "{input}")]
)

with LongTermMemory.open(sys.argv[1] if len(sys.argv) > 1 else "./ltm-data", timezone="UTC") as memory:
    history = ltm_history_factory(memory)
    chain = RunnableWithMessageHistory(
        RunnablePassthrough.assign(memory=ltm_recall()) | prompt | llm,
        history,
        input_messages_key="input",
        history_messages_key="history",
        history_factory_config=history.fields,
    )
    for user, session, text in [
        ("ana", "monday", "I live in Porto."),
        ("ben", "monday", "I live in Leeds."),
        ("ana", "friday", "Where do I live?"),
        ("ben", "friday", "Where do I live?"),
    ]:
        print(f"\n[{user}, {session}] {text}")
        for part in chain.stream({"input": text}, {"configurable": {"user_id": user, "session_id": session}}):
            print(part.text, end="")
        print()
