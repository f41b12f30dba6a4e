"""What is recalled, as the host's prompts may hold it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from llama_index.core.schema import NodeWithScore, TextNode

SPOKEN: dict[str, Any] = {"role": {"$in": ["user", "assistant"]}, "tool_calls": {"$exists": False}}
"""What may be recalled from other conversations: no tool calls, no tool results."""
_VARIABLE = re.compile(r"\{([A-Za-z_][\w.]*)\}")


def inert(text: str) -> str:
    """The text with no template variable: some engines put the history through a prompt template."""
    return _VARIABLE.sub(r"{ \1 }", text)


def memory_node(
    text: str, *, score: float, sources: Sequence[str], id: str | None = None, **metadata: Any
) -> NodeWithScore:
    """A node whose metadata, ids of facts and messages, reach neither a prompt nor an embedding."""
    told = {"source": "long_term_memory", "source_ids": list(sources), **metadata}
    node = TextNode(
        text=text,
        metadata=told,
        excluded_llm_metadata_keys=list(told),
        excluded_embed_metadata_keys=list(told),
    )
    if id is not None:
        node.id_ = id
    return NodeWithScore(node=node, score=score)


__all__ = ["SPOKEN", "inert", "memory_node"]
