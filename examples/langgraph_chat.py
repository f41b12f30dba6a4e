"""A graph of your own with a checkpointer and memory: python langgraph_chat.py [DIR]

With OPENAI_BASE_URL (and OPENAI_API_KEY, OPENAI_MODEL) it asks that endpoint, else a model that repeats what it is
shown. The threads are kept in DIR/threads.db: run it twice, and the second run goes on where the first one ended.
"""

import os
import sys
from pathlib import Path
from typing import Any

from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph

from langchain_ltm import LTMChatMessageHistory, ltm_recall
from ltm_core import LongTermMemory

llm: Any
if os.environ.get("OPENAI_BASE_URL"):
    from langchain_openai import ChatOpenAI

    llm = ChatOpenAI(model=os.environ.get("OPENAI_MODEL", "gpt-4o-mini"))
else:
    from ltm_core.testing.langchain_model import ScriptedChatModel

    llm = ScriptedChatModel(reply=lambda messages: f"I was shown:\n{messages[0].text}")

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "./ltm-data")

with LongTermMemory.open(folder, timezone="UTC") as memory:
    recall = ltm_recall(memory)

    def answer(state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
        """The user's words are stored, what fits is recalled, the model is asked, its answer is stored."""
        said = state["messages"][-1]
        remembered = recall.invoke(said, config)
        reply = llm.invoke([SystemMessage(f"You are helpful.\n{remembered}"), *state["messages"]])
        ids = config["configurable"]
        kept = LTMChatMessageHistory(memory, user_id=ids["user_id"], session_id=ids["thread_id"])
        kept.add_messages([said, reply])
        return {"messages": [reply]}

    graph = StateGraph(MessagesState)
    graph.add_node("answer", answer)
    graph.add_edge(START, "answer")
    with SqliteSaver.from_conn_string(str(folder / "threads.db")) as saver:
        app = graph.compile(checkpointer=saver)
        for user, thread, text in [
            ("ana", "monday", "I live in Porto."),
            ("ben", "monday", "I live in Leeds."),
            ("ana", "friday", "Where do I live?"),
            ("ben", "friday", "Where do I live?"),
        ]:
            print(f"\n[{user}, {thread}] {text}")
            config: RunnableConfig = {"configurable": {"user_id": user, "thread_id": f"{user}-{thread}"}}
            done = app.invoke({"messages": [HumanMessage(text)]}, config)
            print(done["messages"][-1].text)
