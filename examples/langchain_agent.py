"""An agent that remembers between threads, and can be told to: python langchain_agent.py [DIR]

With OPENAI_BASE_URL (and OPENAI_API_KEY, OPENAI_MODEL) it asks that endpoint, else a scripted model.
"""

import os
import sys
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.checkpoint.memory import InMemorySaver

from langchain_ltm import LTMMiddleware, ltm_tools
from ltm_core import LongTermMemory


def scripted(messages: list[BaseMessage]) -> AIMessage | str:
    """Calls the tool when asked to remember; else repeats what it is shown."""
    last = messages[-1]
    if last.type == "human" and last.text.startswith("Remember"):
        arguments = {"text": "I am allergic to peanuts."}
        return AIMessage(content="", tool_calls=[{"name": "remember", "args": arguments, "id": "call-1"}])
    return f"I was shown:\n{messages[0].text}"


llm: Any
if os.environ.get("OPENAI_BASE_URL"):
    from langchain_openai import ChatOpenAI

    llm = ChatOpenAI(model=os.environ.get("OPENAI_MODEL", "gpt-4o-mini"))
else:
    from ltm_core.testing.langchain_model import ScriptedChatModel

    llm = ScriptedChatModel(reply=scripted)

with LongTermMemory.open(sys.argv[1] if len(sys.argv) > 1 else "./ltm-data", timezone="UTC") as memory:
    agent = create_agent(
        llm,
        tools=ltm_tools(memory),
        middleware=[LTMMiddleware(memory)],
        checkpointer=InMemorySaver(),
        system_prompt="You are helpful.",
        context_schema=dict,
    )
    for user, thread, text in [
        ("ana", "monday", "I live in Porto."),
        ("ana", "monday", "Remember that I am allergic to peanuts."),
        ("ana", "friday", "Where do I live, and what must I not eat?"),
        ("ben", "friday", "Where do I live, and what must I not eat?"),
    ]:
        print(f"\n[{user}, {thread}] {text}")
        done = agent.invoke(
            {"messages": [{"role": "user", "content": text}]},
            {"configurable": {"thread_id": f"{user}-{thread}"}},
            context={"user_id": user},
        )
        print(done["messages"][-1].text)
