"""From what the user gave to an extractor, or to a summariser."""

from __future__ import annotations

from typing import cast

from ltm_core.errors import ConfigError
from ltm_core.llm.openai_compatible import SPEC, OpenAICompatibleExtractor, OpenAICompatibleSummarizer
from ltm_core.protocols import Extractor, Summarizer

OPTIONS = (
    f'None (rules only), "{SPEC}", langchain_ltm.ChatModelExtractor(model), llamaindex_ltm.LLMExtractor(llm), '
    "or an object with name and extract"
)
SUMMARIZERS = (
    f'None (the user\'s own sentences), "{SPEC}", langchain_ltm.ChatModelSummarizer(model), '
    "llamaindex_ltm.LLMSummarizer(llm), or an object with name and summarize"
)


def resolve_extractor(spec: object) -> Extractor | None:
    """The extractor that ``spec`` stands for; calls no server. ConfigError, which lists what is possible, for
    anything else."""
    found = _resolved(spec, "extractor", "extract", OPTIONS)
    if isinstance(found, str):
        return OpenAICompatibleExtractor.from_spec(found)
    return cast("Extractor | None", found)


def resolve_summarizer(spec: object) -> Summarizer | None:
    """The summariser that ``spec`` stands for, as `resolve_extractor`; None is the extractive one."""
    found = _resolved(spec, "summarizer", "summarize", SUMMARIZERS)
    if isinstance(found, str):
        return OpenAICompatibleSummarizer.from_spec(found)
    return cast("Summarizer | None", found)


def _resolved(spec: object, what: str, method: str, options: str) -> object:
    """None, the object itself, or what stands behind ``openai:``."""
    if spec is None:
        return None
    if isinstance(spec, str):
        kind, _, rest = spec.strip().partition(":")
        if kind.lower() == "none" and not rest:
            return None
        if kind.lower() != "openai" or not rest:
            raise ConfigError(f"{what} {kind!r} is not known; possible are: {options}")
        return rest
    if isinstance(spec, type):
        raise ConfigError(f"{what} must be an object, not the class {spec.__name__}; possible are: {options}")
    if callable(getattr(spec, method, None)) and isinstance(getattr(spec, "name", None), str):
        return spec
    raise ConfigError(f"cannot use {type(spec).__name__} as {what}; possible are: {options}")


__all__ = ["OPTIONS", "SUMMARIZERS", "resolve_extractor", "resolve_summarizer"]
