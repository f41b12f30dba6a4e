"""An agent with a tool that remembers its user: python llamaindex_agent.py [DIR]

The model here calls the tool once and repeats what it is shown; with OPENAI_BASE_URL and OPENAI_MODEL (and
OPENAI_API_KEY) set, the model there decides.
"""

import asyncio
import sys

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import MessageRole

from llamaindex_ltm import LTMMemory
from ltm_core import LongTermMemory
from ltm_core.testing.llamaindex_model import ScriptedAgentLLM, from_environment


def next_train(town: str) -> str:
    """When the next train to the town leaves."""
    return f"The next train to {town} leaves at 8:12."


llm = from_environment() or ScriptedAgentLLM(
    calls=lambda messages: None if messages[-1].role == MessageRole.TOOL else ("next_train", {"town": "Porto"}),
    reply=lambda messages: "I was shown:\n" + "\n".join(map(str, messages)),
)
agent = FunctionAgent(tools=[next_train], llm=llm, streaming=False, system_prompt="Help the traveller.")


async def main(location: str) -> None:
    async with await LongTermMemory.aopen(location, timezone="UTC") as memory:
        for session, text in [("monday", "I live in Porto."), ("friday", "When is the next train to where I live?")]:
            history = LTMMemory.from_defaults(memory, user_id="ana", session_id=session)
            print(f"[{session}] {text}\n{await agent.run(text, memory=history)}\n")


asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "./ltm-data"))
