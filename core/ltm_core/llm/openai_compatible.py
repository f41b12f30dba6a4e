"""Facts and summaries from servers of the OpenAI chat protocol: the cloud's, llama.cpp, Ollama, vLLM, LM Studio."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from ltm_core.embed._http import JsonClient, RefusedError, host_of, key_header
from ltm_core.errors import ConfigError, ExtractionError
from ltm_core.llm.chat import ChatExtractor, ChatModel, ChatSummarizer, FormatRefusedError, Mode, response_format
from ltm_core.write.incoming.content import text_of

SPEC = "openai:<base url>#<model>"
_FORMAT_STATUSES = frozenset((400, 404, 406, 415, 422, 500, 501))
"""What servers answer to a response format that they do not know; llama-cpp-python says 500."""


class OpenAICompatibleModel(ChatModel):
    """POSTs to ``{base_url}/chat/completions`` at temperature 0.

    ``name`` is the model's name. The key is ``api_key`` or the environment's ``OPENAI_API_KEY``, read at each
    call; it never shows in a name, repr or error. ``read_timeout`` is seconds of silence while the answer comes:
    a small model on a CPU needs 5 to 15 s for one. ``max_answer_tokens`` ends an answer that repeats itself.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str | None = None,
        max_answer_tokens: int = 1024,
        connect_timeout: float = 5.0,
        read_timeout: float = 120.0,
        retries: int = 2,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        host = host_of(base_url, SPEC)
        if not model.strip():
            raise ConfigError(f"a model is needed: {SPEC}")
        if max_answer_tokens < 1:
            raise ConfigError("max_answer_tokens must be at least 1")
        super().__init__(model.strip())
        self._model = model.strip()
        self._api_key = api_key
        self._most = max_answer_tokens
        self._client = JsonClient(
            base_url,
            label=f"chat server {host}",
            connect_timeout=connect_timeout,
            read_timeout=read_timeout,
            retries=retries,
            sleep=sleep,
        )

    @classmethod
    def from_spec(cls, spec: str) -> Self:
        """From ``<base url>#<model>``."""
        base_url, mark, model = spec.rpartition("#")
        if not mark or not base_url:
            raise ConfigError(f"not of the form {SPEC}")
        return cls(base_url, model)

    def complete(self, system: str, user: str, mode: Mode) -> str:
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
            "temperature": 0,
            "max_tokens": self._most,
        }
        wanted = response_format(mode, self.wanted)
        if wanted is not None:
            body["response_format"] = wanted
        refusals = _FORMAT_STATUSES if wanted is not None else ()
        try:
            answer = self._client.post("chat/completions", body, key_header(self._api_key), final=refusals)
        except RefusedError as e:
            if e.status in refusals:
                raise FormatRefusedError(str(e)) from None
            raise
        return _words(answer)

    def reply(self, messages: Sequence[Mapping[str, str]]) -> str:
        """The answer to a conversation, in the model's own temperature. UnavailableError when the server cannot be
        reached, ExtractionError when it answers something else."""
        body = {"model": self._model, "messages": [dict(m) for m in messages], "max_tokens": self._most}
        return _words(self._client.post("chat/completions", body, key_header(self._api_key)))


class OpenAICompatibleExtractor(OpenAICompatibleModel, ChatExtractor):
    """Such a server as an extractor of facts."""


class OpenAICompatibleSummarizer(OpenAICompatibleModel, ChatSummarizer):
    """Such a server as a summariser."""


def _words(answer: Any) -> str:
    """What the model said; "" when it said nothing. ExtractionError when the server answered something else."""
    choices = answer.get("choices") if isinstance(answer, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise ExtractionError("the chat server's answer holds no choices")
    message = choices[0].get("message")
    content = message.get("content") if isinstance(message, dict) else choices[0].get("text")
    return text_of(content)


__all__ = [
    "SPEC",
    "OpenAICompatibleExtractor",
    "OpenAICompatibleModel",
    "OpenAICompatibleSummarizer",
]
