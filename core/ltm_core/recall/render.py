"""The context as text: one fence that nothing inside can close, headings in the language of the conversation.

Content stays data: control and direction characters are gone, further lines of one memory are indented, a role
name at the start of a line is quoted, and the random mark of the fence cannot occur inside it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Literal, TypeAlias

from ltm_core.recall.data import LANGUAGES, toml
from ltm_core.recall.entry import Entry
from ltm_core.text.normalize import nfkc, printable
from ltm_core.types import Message, Role, Tier

Format: TypeAlias = Literal["text", "messages", "compact"]
FORMATS: tuple[Format, ...] = ("text", "messages", "compact")
INDENT = "  "
_LONGEST_NAME = 40
_TAG = re.compile(r"<(?=\s*/?\s*memory\b)", re.IGNORECASE)
_TIERS: tuple[Tier, ...] = ("semantic", "episodic", "working")


@cache
def words(language: str) -> dict[str, str]:
    """The fixed words of ``language``; English for any other."""
    return dict(toml("render.toml")[language if language in LANGUAGES else "en"])


@cache
def _role() -> re.Pattern[str]:
    """A role's name at the start of a line, which would look like its turn."""
    names = "|".join(n for language in LANGUAGES for n in toml("render.toml")["roles"][language])
    return re.compile(rf"^([\s>*#`\-\"'<\[|]*)({names})([\s\]>*_`|]*[:：])", re.IGNORECASE | re.MULTILINE)


def safe(text: str, *, mark: str) -> str:
    """``text`` as data: it can form no fence, no heading and no role line; further lines are indented."""
    text = printable(text).strip()
    text = text.replace(mark, "…") if mark else text
    text = _TAG.sub("‹", text)
    text = _role().sub(r'\1"\2"\3', text)
    return text.replace("\n", f"\n{INDENT}")


def speaker(role: Role | None, name: str | None, language: str, *, mark: str) -> str:
    """Who said it: the name where there is one, else the role in ``language``."""
    w = words(language)
    if name and role != "tool":
        shown = " ".join(nfkc(printable(name)).split())[:_LONGEST_NAME].replace(":", " ")
        shown = _TAG.sub("‹", shown.replace(mark, "…") if mark else shown).strip()
        if shown:
            # A person may be called System; a line must not look like the system speaking.
            return f'"{shown}"' if _role().match(f"{shown}:") else shown
    return {"assistant": w["bot"], "tool": w["tool"]}.get(role or "user", w["user"])


def line(entry: Entry, *, language: str, mark: str) -> str:
    """The line or lines of one entry."""
    w, item = words(language), entry.item
    text = safe(item.text, mark=mark)
    if item.tier == "working":
        if entry.is_slot:
            return f"{w['slot']}: {text}"
        return f"{speaker(item.role, item.speaker, language, mark=mark)}: {text}"
    when = entry.date + (f" {w['until']} {entry.until}" if entry.until else "")
    label = w[entry.mark] if entry.mark else ""
    head = f"[{', '.join(p for p in (when, label) if p)}] " if when or label else ""
    if entry.mark == "summary":
        return f"- {head.strip()}\n{INDENT}{text}"
    named = item.tier == "episodic" or item.speaker is not None
    who = f"{speaker(item.role, item.speaker, language, mark=mark)}: " if named else ""
    return f"- {head}{who}{text}"


class Lines:
    """The lines of entries in one language and one fence, each made once: packing asks for them again and again."""

    def __init__(self, *, language: str, mark: str) -> None:
        self.language = language
        self.mark = mark
        self._made: dict[int, tuple[Entry, str]] = {}

    def __call__(self, entry: Entry) -> str:
        """The line or lines of one entry."""
        made = self._made.get(id(entry))
        if made is None:
            # The entry is held, so that no other gets its place in memory.
            made = self._made[id(entry)] = entry, line(entry, language=self.language, mark=self.mark)
        return made[1]


def render(entries: Sequence[Entry], *, lines: Lines, format: Format, short: bool = False) -> str:
    """The fenced text of ``entries``, tier by tier in the given order; empty when there are none.

    ``short`` takes the shorter preface and no headings, as the compact format always does.
    """
    if not entries:
        return ""
    return _fenced(entries, lines, short=short or format == "compact")


def _fenced(entries: Sequence[Entry], lines: Lines, *, short: bool) -> str:
    w, mark = words(lines.language), lines.mark
    has_memory = any(e.item.tier != "working" for e in entries)
    out = [f"<memory {mark}>", w["short"] if short or not has_memory else w["preface"]]
    for tier in _TIERS:
        chosen = [e for e in entries if e.item.tier == tier]
        if chosen:
            if not short:
                out.append(f"# {w[tier]}")
            out += [lines(e) for e in chosen]
    out.append(f"</memory {mark}>")
    return "\n".join(out)


def frame(tiers: Sequence[Tier], *, language: str, mark: str, short: bool) -> str:
    """What surrounds the entries of ``tiers``: the same text without any entry."""
    w = words(language)
    headings = [] if short else [f"# {w[t]}" for t in tiers]
    preface = w["short"] if short or set(tiers) <= {"working"} else w["preface"]
    return "\n".join([f"<memory {mark}>", preface, *headings, f"</memory {mark}>"])


def messages(entries: Sequence[Entry], *, lines: Lines, short: bool = False) -> tuple[Message, ...]:
    """One system message with the fenced memories and slots, then the turns of the conversation as they were."""
    kept = [e for e in entries if e.item.tier != "working" or e.is_slot]
    out = []
    if kept:
        text = _fenced(kept, lines, short=short)
        out.append(Message(role="system", content=text))
    for e in entries:
        if e.item.tier == "working" and not e.is_slot:
            item = e.item
            role: Role = item.role or "user"
            out.append(
                Message(role=role, content=printable(item.text), at=item.at, id=item.source_id, name=item.speaker)
            )
    return tuple(out)


__all__ = ["FORMATS", "Format", "Lines", "frame", "line", "messages", "render", "safe", "speaker", "words"]
