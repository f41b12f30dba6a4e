"""Two agents that share one memory, in a workflow that is saved and taken up: python llamaindex_workflow.py [DIR]

The model here hands over once and repeats what it is shown; with OPENAI_BASE_URL and OPENAI_MODEL (and
OPENAI_API_KEY) set, the model there decides.
"""

import asyncio
import json
import sys
from typing import Any

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.workflow import Context, JsonSerializer

from llamaindex_ltm import LTMMemory
from ltm_core import LongTermMemory
from ltm_core.testing.llamaindex_model import ScriptedAgentLLM, from_environment


def hands_over(messages: list[ChatMessage]) -> tuple[str, dict[str, Any]] | None:
    """Once in a conversation."""
    handed = any("is now handling" in str(m) for m in messages)
    return None if handed else ("handoff", {"to_agent": "planner", "reason": "a journey"})


llm = from_environment() or ScriptedAgentLLM(
    calls=hands_over, reply=lambda messages: "I was shown:\n" + "\n".join(map(str, messages))
)
options: dict[str, Any] = {"llm": llm, "streaming": False}
reception = FunctionAgent(
    name="reception", description="Greets, and hands over.", can_handoff_to=["planner"], **options
)
planner = FunctionAgent(name="planner", description="Plans journeys.", can_handoff_to=[], **options)
workflow = AgentWorkflow(agents=[reception, planner], root_agent="reception")


async def main(location: str) -> None:
    async with await LongTermMemory.aopen(location, timezone="UTC") as memory:
        await memory.aobserve(user_id="ana", session_id="last year", user="I live in Porto.")
        history = LTMMemory.from_defaults(memory, user_id="ana", session_id="holiday")
        context = Context(workflow)
        text = "Where do I live, and who plans my journey?"
        print(f"{text}\n{await workflow.run(text, memory=history, ctx=context)}\n")
        # What a server would write to its database between two requests. The memory is in it by its location.
        saved = json.dumps(context.to_dict(serializer=JsonSerializer()))
        again = Context.from_dict(workflow, json.loads(saved), serializer=JsonSerializer())
        text = "Where do I live again?"
        print(f"{text}\n{await workflow.run(text, ctx=again)}\n")


asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "./ltm-data"))
