"""What the service looks at behind the door of its memory. No other module of the service goes there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from ltm_core.embed.cache import CachedEmbedder

if TYPE_CHECKING:
    from ltm_core.memory import LongTermMemory
    from ltm_core.store.base import MessageRow
    from ltm_core.types import Anchor


@dataclass(frozen=True, slots=True)
class ProcessFigures:
    """What this process kept and embedded so far."""

    recalls_asked: int
    recalls_kept: int
    """Of these were answered from the cache."""
    embedding_seconds: float


class Inside:
    """Rows and figures that no method of `LongTermMemory` gives."""

    def __init__(self, memory: LongTermMemory) -> None:
        self._runtime = memory._runtime

    def now(self) -> datetime:
        """The memory's own clock."""
        return self._runtime.now()

    def messages(self, user_id: str, ids: Sequence[str]) -> Mapping[str, MessageRow]:
        """Those of the user's turns that the store holds, by id."""
        if not ids:
            return {}
        with self._runtime.store.read(user_id) as reader:
            return {row.id: row for row in reader.messages(ids=list(ids))}

    def anchors(self, user_id: str, ids: Sequence[str]) -> Mapping[str, list[Anchor]]:
        """What made these turns worth keeping, by the turn's id."""
        found: dict[str, list[Anchor]] = {}
        if ids:
            with self._runtime.store.read(user_id) as reader:
                for anchor in reader.anchors(list(ids)):
                    found.setdefault(anchor.evidence.message_id, []).append(anchor)
        return found

    def texts(self, user_id: str, ids: Sequence[str]) -> Mapping[str, str]:
        """The words of facts and turns, by id."""
        if not ids:
            return {}
        with self._runtime.store.read(user_id) as reader:
            said = {row.id: row.content for row in reader.messages(ids=list(ids))}
            return said | {f.id: f.text for f in reader.facts(ids=list(ids))}

    def setting(self, name: str) -> str | None:
        """A value that outlives the process, or None."""
        return self._runtime.store.operations().setting(name)

    def set_setting(self, name: str, value: str | None) -> None:
        """The store keeps the value; None removes it."""
        self._runtime.store.operations().set_setting(name, value)

    def figures(self) -> ProcessFigures:
        """As of now."""
        recalls, embedder = self._runtime.recalls, self._runtime.embedder
        seconds = embedder.seconds if isinstance(embedder, CachedEmbedder) else 0.0
        return ProcessFigures(recalls.asked, recalls.hits, seconds)


__all__ = ["Inside", "ProcessFigures"]
