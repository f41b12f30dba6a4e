"""From what the user gave to an extractor."""

from __future__ import annotations

from typing import cast

from ltm_core.errors import ConfigError
from ltm_core.llm.openai_compatible import SPEC, OpenAICompatibleExtractor
from ltm_core.protocols import Extractor

OPTIONS = (
    f'None (rules only), "{SPEC}", langchain_ltm.ChatModelExtractor(model), llamaindex_ltm.LLMExtractor(llm), '
    "or an object with name and extract"
)


def resolve_extractor(spec: object) -> Extractor | None:
    """The extractor that ``spec`` stands for; calls no server. ConfigError, which lists what is possible, for
    anything else."""
    if spec is None:
        return None
    if isinstance(spec, str):
        kind, _, rest = spec.strip().partition(":")
        if kind.lower() == "none" and not rest:
            return None
        if kind.lower() != "openai" or not rest:
            raise ConfigError(f"extractor {kind!r} is not known; possible are: {OPTIONS}")
        return OpenAICompatibleExtractor.from_spec(rest)
    if isinstance(spec, type):
        raise ConfigError(f"extractor must be an object, not the class {spec.__name__}; possible are: {OPTIONS}")
    if callable(getattr(spec, "extract", None)) and isinstance(getattr(spec, "name", None), str):
        return cast(Extractor, spec)
    raise ConfigError(f"cannot use {type(spec).__name__} as extractor; possible are: {OPTIONS}")
