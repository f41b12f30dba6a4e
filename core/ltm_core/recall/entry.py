"""One thing that may go into a context, with what packing and rendering need to know of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from ltm_core.types import ContextItem, Dropped

if TYPE_CHECKING:
    from ltm_core.recall.derived import Derived

Mark = Literal["", "previous", "corrected", "partly", "assistant", "summary"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An item on its way into a context."""

    item: ContextItem
    unit: str
    """Entries of one unit (a tool call and its results) are kept or left out together."""
    topic: str = ""
    """At first only one entry of a topic is chosen."""
    is_slot: bool = False
    keep: bool = False
    """Wanted whatever the question: what the user said about the assistant, live slots."""
    date: str = ""
    """ISO date shown with it; empty for turns of the conversation at hand."""
    until: str = ""
    mark: Mark = ""
    focus: tuple[int, int] = (0, 0)
    """Where in the text the match stands; an excerpt is cut around it."""
    terms: frozenset[str] = frozenset()
    is_cut: bool = False
    said_at: datetime | None = None
    """When the words were said, in the speaker's zone: relative time words in them are read in that day."""
    language: str = "other"
    derived: Derived | None = None
    """What the whole words of the turn yield."""

    def rescored(self, score: float, reason: str = "") -> Entry:
        """The same entry with another score, and the reason for it when there is one to tell."""
        reasons = (*self.item.reasons, reason) if reason else self.item.reasons
        return replace(self, item=replace(self.item, score=score, reasons=reasons))

    def dropped(self, reason: str) -> Dropped:
        """The entry as one that is not shown."""
        item = self.item
        return Dropped(source_id=item.source_id, tier=item.tier, reason=reason, score=item.score)

    def shortened(self, text: str, reason: str) -> Entry:
        """The same entry with an excerpt of its text."""
        item = replace(self.item, text=text, reasons=(*self.item.reasons, reason))
        return replace(self, item=item, is_cut=True)

    def labelled(self, mark: Mark, reason: str) -> Entry:
        """The same entry with a label; it is as current as before."""
        item = replace(self.item, label=mark, reasons=(*self.item.reasons, reason))
        return replace(self, item=item, mark=mark)

    def marked(self, mark: Mark, reason: str) -> Entry:
        """The same entry, labelled as no longer current."""
        item = replace(self.item, is_current=False, label=mark, reasons=(*self.item.reasons, reason))
        return replace(self, item=item, mark=mark)


__all__ = ["Entry", "Mark"]
