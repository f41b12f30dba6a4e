"""A context explained: every item with its signals and reasons, every drop with its cause."""

from __future__ import annotations

from ltm_core.text.normalize import printable
from ltm_core.types import Context, ContextItem

_WIDTH = 60


def explain(context: Context) -> str:
    """A readable account of ``context``, one line per item and per drop."""
    out = [f"question: {_short(context.query) or '(none)'}"]
    out.append(f"tokens: {context.token_count} of {context.max_tokens}; language {context.language}")
    out += [f"note: {printable(n)}" for n in context.notes]
    for tier, items in (
        ("semantic", context.semantic),
        ("episodic", context.episodic),
        ("working", context.working),
    ):
        if items:
            out.append(f"{tier}:")
            out += [line for i in items for line in _item(i)]
    if context.dropped:
        out.append("left out:")
        out += [
            f"  {d.tier:<8} {d.score:.3f}  {d.source_id}  {d.reason}" + (f" ({d.tokens} tokens)" if d.tokens else "")
            for d in context.dropped
        ]
    return "\n".join(out)


def _item(item: ContextItem) -> list[str]:
    state = " [partly no longer true]" if item.label == "partly" else "" if item.is_current else " [previously]"
    head = f"  {item.score:.3f}  {item.at.date().isoformat()}  {item.source_id}{state}  {_short(item.text)}"
    lines = [head]
    if item.signals:
        lines.append("         " + "  ".join(f"{k} {v:.2f}" for k, v in sorted(item.signals.items())))
    if item.reasons:
        lines.append("         " + "; ".join(item.reasons))
    return lines


def _short(text: str) -> str:
    text = " ".join(printable(text).split())
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"


__all__ = ["explain"]
