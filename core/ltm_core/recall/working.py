"""The turns of the conversation at hand, cut to the last few, tool calls and their results together."""

from __future__ import annotations

from collections.abc import Sequence

from ltm_core.store.base import MessageRow


def last_turns(rows: Sequence[MessageRow], turns: int) -> list[MessageRow]:
    """From the ``turns``-th last message of a user on; what was said before the first one belongs to it."""
    if turns <= 0:
        return []
    starts = [i for i, r in enumerate(rows) if r.role == "user"]
    return list(rows[starts[-turns] :] if len(starts) > turns else rows)


def units(rows: Sequence[MessageRow]) -> tuple[list[tuple[str, MessageRow]], list[tuple[MessageRow, str]]]:
    """(unit, row) of what can be shown, and (row, reason) of what cannot.

    A call of tools and the results after it are one unit; a result without its call, or a call that waits for
    results, cannot be shown: model APIs refuse either alone.
    """
    shown: list[tuple[str, MessageRow]] = []
    refused: list[tuple[MessageRow, str]] = []
    i = 0
    while i < len(rows):
        row = rows[i]
        results: list[MessageRow] = []
        if row.role == "assistant":
            while i + 1 + len(results) < len(rows) and rows[i + 1 + len(results)].role == "tool":
                results.append(rows[i + 1 + len(results)])
        group = [row, *results]
        if row.role == "tool":
            refused.append((row, "a tool result without its call"))
        elif row.role == "system":
            refused.append((row, "system prompts belong to the host"))
        elif _waits(row, results):
            refused += [(r, "a tool call without all its results") for r in group]
        else:
            shown += [(f"turn:{row.item}", r) for r in group]
        i += len(group)
    return shown, refused


def _waits(call: MessageRow, results: Sequence[MessageRow]) -> bool:
    calls = call.metadata.get("tool_calls")
    if not isinstance(calls, Sequence) or isinstance(calls, str):
        return False
    return len(results) < len(calls)


__all__ = ["last_turns", "units"]
