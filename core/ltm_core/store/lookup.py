"""Look-ups that any store's `Reader` answers in a few calls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ltm_core.types import Fact

if TYPE_CHECKING:
    from ltm_core.store.base import Reader


def facts_by_item(reader: Reader, items: Iterable[int]) -> dict[int, Fact]:
    """The facts of these items, by item; items without a fact are left out.

    Facts come without their items, but in the order of items, so only a gap makes single look-ups necessary.
    """
    wanted = sorted(set(items))
    if not wanted:
        return {}
    facts = reader.facts(items=wanted)
    if len(facts) == len(wanted):
        return dict(zip(wanted, facts, strict=True))
    return {item: f for f in facts if (item := reader.fact_item(f.id)) is not None}


__all__ = ["facts_by_item"]
