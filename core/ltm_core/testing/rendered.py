"""Rendered memories read back: what a host hands to a model is taken apart again and compared with what was said."""

from __future__ import annotations

import re

from ltm_core.text.normalize import printable

_OPENS = re.compile(r"<memory ([a-p]{8})>")
_OURS = re.compile(r"<\s*/?\s*memory\b", re.IGNORECASE)
_BREAKS = re.compile("[\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
_HEAD = re.compile(r"^- (?:\[[^\]]*\] )?(?:User|Assistant|Tool|用户|助手|工具)?(?:: )?")
ROLE_LINE = re.compile(
    r"^[\s>*#`<\[|-]*(?:system|assistant|user|human|ai|developer|tool|系统|系統|助手|用户|用戶)[\s\]>*_`|]*[:：]",
    re.IGNORECASE,
)
"""A role's name at the beginning of a line, not in quotes."""


def entries(text: str) -> list[str]:
    """The memories of a rendered block, each in its own lines. AssertionError unless the block is whole: one fence,
    the mark twice, no line break but the newline, nothing that is not printable."""
    lines = text.split("\n")
    opened = _OPENS.fullmatch(lines[0])
    assert opened is not None and lines[-1] == f"</memory {opened[1]}>" and text.count(opened[1]) == 2
    assert not _BREAKS.search(text) and printable(text) == text
    assert len(_OURS.findall(text)) == 2
    found: list[str] = []
    for line in lines[2:-1]:
        if line.startswith("- "):
            found.append(line)
        elif line.startswith("  "):
            found[-1] += "\n" + line[2:]
        else:
            assert line.startswith("# "), line
    return found


def words(entry: str) -> str:
    """What the memory says, without its date and its speaker."""
    return _HEAD.sub("", entry, count=1)


def plain(text: str) -> str:
    """A text as it is compared: a bracket that opened a tag is drawn, a role's name is quoted."""
    return printable(text).replace("‹", "<").replace('"', "").strip()


def shown(text: str) -> list[str]:
    """What each memory of a rendered block says, as `plain` compares it."""
    return [plain(words(entry)) for entry in entries(text)]


__all__ = ["ROLE_LINE", "entries", "plain", "shown", "words"]
