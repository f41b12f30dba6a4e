"""A LangServe app whose users never meet: python langserve_app.py [--directory DIR] [--port PORT]

    curl -H "Authorization: Bearer ana-token" -H "Content-Type: application/json" \
         -d '{"input": {"input": "I live in Porto."}}' http://127.0.0.1:8080/chat/invoke

/chat is written with LCEL and streams word by word; /conversation is a ConversationChain. Both share the memory.
The tokens below stand for your authentication. The model repeats what it is shown; with OPENAI_BASE_URL set (and
OPENAI_API_KEY, OPENAI_MODEL) any OpenAI-compatible server answers instead, which needs the package langchain-openai.
"""

import argparse
import os
from collections.abc import AsyncIterator
from operator import itemgetter
from typing import Any

import uvicorn
from fastapi import FastAPI, HTTPException, Request
from langchain_classic.chains import ConversationChain
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnableGenerator

from langchain_ltm import LTMConversationMemory
from langchain_ltm.langserve import add_memory_routes, per_request_user, per_user
from ltm_core import LongTermMemory
from ltm_core.testing.langchain_model import ScriptedChatModel

TOKENS = {"ana-token": "ana@example.org", "ben-token": "ben"}
PROMPT = ChatPromptTemplate.from_messages([("system", "Answer briefly.\n{memory}"), ("human", "{input}")])


def model() -> BaseChatModel:
    if os.environ.get("OPENAI_BASE_URL"):
        from langchain_openai import ChatOpenAI

        return ChatOpenAI(model=os.environ.get("OPENAI_MODEL", "gpt-4o-mini"))
    return ScriptedChatModel(reply=what_is_remembered)


def what_is_remembered(messages: list[BaseMessage]) -> str:
    """The answer of the built-in model: the lines of memory that it is shown."""
    lines = [line[2:] for m in messages for line in m.text.splitlines() if line.startswith("- ")]
    return f"I remember: {'; '.join(lines)}" if lines else "I remember nothing of that yet."


def signed_in(request: Request) -> str:
    """The user of the bearer token. Put your own check here."""
    token = request.headers.get("authorization", "").removeprefix("Bearer ")
    if token not in TOKENS:
        raise HTTPException(401, "sign in first")
    return TOKENS[token]


def make_app(memory: LongTermMemory) -> FastAPI:
    llm = model()
    answer = PROMPT | llm | StrOutputParser()

    def chat(user_id: str, session_id: str) -> Runnable[Any, Any]:
        mine = memory.bind(user_id, session_id=session_id)

        async def talk(given: AsyncIterator[dict[str, str]]) -> AsyncIterator[str]:
            async for value in given:
                text = value["input"]
                # The words are stored when they come: they survive a model that fails and a client that hangs up.
                asked = (await mine.aobserve(user=text)).messages[0].id
                context = await mine.acontext(text, exclude_message_ids=[asked])
                words = []
                async for word in answer.astream({"memory": context.text, "input": text}):
                    words.append(word)
                    yield word
                await mine.aobserve(assistant="".join(words), reply_to=asked)

        return RunnableGenerator(talk)

    def conversation(user_id: str, session_id: str) -> Runnable[Any, Any]:
        history = LTMConversationMemory(memory=memory, user_id=user_id, session_id=session_id)
        answered: Runnable[Any, Any] = ConversationChain(llm=llm, memory=history) | itemgetter("response")
        return answered

    app = FastAPI(title="A chat that remembers")
    user = per_request_user(signed_in)
    add_memory_routes(app, per_user(chat), "/chat", user=user)
    add_memory_routes(app, per_user(conversation), "/conversation", user=user)
    return app


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--directory", default="./ltm-data")
    parser.add_argument("--port", type=int, default=8080)
    options = parser.parse_args()
    with LongTermMemory.open(options.directory, timezone="UTC") as opened:
        uvicorn.run(make_app(opened), host="127.0.0.1", port=options.port)
