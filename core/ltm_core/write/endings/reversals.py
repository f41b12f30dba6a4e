"""A Chinese clause that gives up a whole class of things: "什么海鲜我都不吃了", "短视频看腻了".

The class stands first or behind the verb, with or without words for "all"; nothing but such words, the one who gives
it up and the time may stand around it, else one thing of the class is meant ("水果罐头") and nothing broad is said.
It may stand in the clause before, by itself ("短视频软件这一类的，我都不用了") or with what is wrong with it. Pure.
"""

from __future__ import annotations

import re

from ltm_core.write.known.broad import broad_classes
from ltm_core.write.read.people import Subject
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold

_LONGEST = 8
"""Characters of the name of a class."""


def reversed_classes(
    read: Read, lexicon: Lexicon, before: Read | None = None, of: Subject | None = None
) -> tuple[str, ...]:
    """The classes that the clause gives up as a whole; none when it gives up none, or not for good, or when the
    clause before takes something out of it ("除了啤酒，什么酒都不喝了"). ``of``: whoever gives it up."""
    if read.clause.language != "zh" or ((read["ephemeral"] or read["mood"]) and not read["lasting"]):
        return ()
    parts, text = lexicon.rules("zh").parts, _told(read, of)
    if parts["reversal_said"].search(text) is None or parts["reversal_not"].search(text) is not None:
        return ()
    joined = before is not None and before.clause.sentence == read.clause.sentence
    if joined and before is not None and parts["takes_out"].match(before.clause.norm) is not None:
        return ()
    if joined and before is not None:
        topic = parts["class_alone"].match(before.clause.norm.strip())
        named = fold(topic["name"] or topic["name2"]) if topic is not None else _raised(before, text, lexicon)
        text = named + text
    every = parts["reversal_all"].search(text) is not None
    found: dict[str, None] = {}
    taken: list[tuple[int, int]] = []
    names = broad_classes().names
    for name in sorted((n for n in names if n in text and not n.isascii()), key=len, reverse=True):
        for at in (m.start() for m in re.finditer(re.escape(name), text)):
            end = at + len(name)
            if any(a <= at and end <= b for a, b in taken):  # "手机游戏" is not said of all games
                continue
            if _is_given_up(text, at, end, lexicon, every=every):
                taken.append((at, end))
                found |= {c: None for c in sorted(names[name]) if every or c not in lexicon.sets["named_singly"]}
    return tuple(found)


def _raised(before: Read, text: str, lexicon: Lexicon) -> str:
    """The class that the clause before names, of which this one says only that nothing of it is wanted any more
    ("综艺节目越来越闹，我已经一档都不爱看了", "一提韩剧我就烦，哪部都不想看")."""
    parts = lexicon.rules("zh").parts
    if before.veto or parts["class_untold"].match(text) is None:
        return ""
    said = fold(before.clause.norm)
    for name in sorted((n for n in broad_classes().names if n in said), key=len, reverse=True):
        at = said.find(name)
        led = parts["class_raised"].match(said[:at]) is not None
        if led and parts["class_raised_on"].match(said[at + len(name) :]) is not None:
            return name
    return ""


def _told(read: Read, of: Subject | None) -> str:
    """The words of the clause, said of the speaker: "外婆什么剧都不看了" is read as "我什么剧都不看了"."""
    text = fold(read.clause.norm)
    if of is None or of.kind in ("self", "dropped", "stranger", "assistant") or not 0 < of.rest < len(text):
        return text
    return "我" + text[of.rest :]


def _is_given_up(text: str, start: int, end: int, lexicon: Lexicon, *, every: bool) -> bool:
    """Whether the name there is that of the class which the clause gives up."""
    parts = lexicon.rules("zh").parts
    before, after = _without_others(text[:start], text[end:], lexicon)
    if text[start:end] in lexicon.sets["diets"]:
        return parts["turns_diet"].search(before) is not None and parts["ends_diet"].match(after) is not None
    if parts["reversal_verb"].match(before) is not None:
        return parts["reversal_ends"].match(after) is not None
    if parts["reversal_lead"].match(before) is None:
        return False
    if parts["class_given_up"].match(after) is not None:
        return True
    return every and any(parts[p].match(after) is not None for p in ("class_disposed", "class_over"))


def _without_others(before: str, after: str, lexicon: Lexicon) -> tuple[str, str]:
    """What stands around the name without the names of other classes joined to it ("海鲜和肉我都不吃了")."""
    names, joint = broad_classes().names, lexicon.rules("zh").parts["class_joint"]
    while True:
        skip = m.end() if (m := joint.match(after)) is not None else 0
        size = next((n for n in range(_LONGEST, 0, -1) if after[skip : skip + n] in names), 0)
        if not size:
            break
        after = after[skip + size :]
    while True:
        bare = before[:-1] if before[-1:] in lexicon.sets["class_joints"] else before
        size = next((n for n in range(min(_LONGEST, len(bare)), 0, -1) if bare[-n:] in names), 0)
        if not size:
            return before, after
        before = bare[:-size]
