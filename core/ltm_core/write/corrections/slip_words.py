"""How a Chinese message says that a slip of the turn before is put right, and which value it gives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ltm_core.write.words.expressions import Expression
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import normal

NUMBER = re.compile(r"\d+(?:[.:]\d+)*|[一二两三四五六七八九十百千万零〇半]+")
_LONGEST = 48
_MOST_PIECES = 5
_STARRED = re.compile(r"\s*(?:\*{1,2}[^*]+|[^*，,。]+\*{1,2})\s*")
"""A message that puts one word of the last one right, as people mark it."""
_PIECE = re.compile(r"(?:[^，,。!?;；:：~…、\s]|(?<=\d):(?=\d))+")


@dataclass(frozen=True, slots=True)
class Slip:
    """A right value, where it stands in the message, and the wrong one if the words name it."""

    value: str
    start: int
    end: int
    wrong: str = ""
    says_slip: bool = False
    """Whether words say that something was written wrongly; else only "not X" does."""
    begins: int = 0
    ends: int = 0
    """The stretch between stops in which the value stands."""
    part: str = ""
    """The part of the day of the right time, when it is told behind it ("16:40，下午的")."""


def slip_of(content: str, lexicon: Lexicon) -> Slip | None:
    """The message as a slip put right; None when it says anything else."""
    parts = lexicon.rules("zh").parts
    norm = normal(content)
    if len(norm) > _LONGEST or "?" in norm:
        return None
    value: tuple[str, int] | None = None
    told = (0, 0)
    wrong, says, looked_up, part, breaks_in, explains = "", False, False, "", False, False
    starred = _STARRED.fullmatch(norm)
    if starred is not None:  # "*质检", "质检*"
        says, norm = True, norm.replace("*", " ")
    pieces = list(_pieces(norm))
    if not 1 <= len(pieces) <= _MOST_PIECES:
        return None
    for at, piece in pieces:
        lead = parts["slip_lead"].match(piece)
        at, piece = (at + lead.end(), piece[lead.end() :]) if lead is not None else (at, piece)
        says = says or bool(lead is not None and lead["mark"])
        breaks_in = breaks_in or bool(lead is not None and lead.group())
        if not piece:
            continue
        why = parts["slip_reason"].match(piece)
        if why is not None:
            says = True
            wrong = wrong or next((v for v in (why["wrong"], why["wrong2"]) if v), "")
            continue
        denied = parts["slip_denial"].match(piece)
        if denied is not None:
            wrong = denied["wrong"]
            if denied["object"]:
                value = _once(value, denied["object"], at + denied.start("object"))
                if value is None:
                    return None
                told = (value[1], value[1] + len(value[0]))
            continue
        if parts["slip_source"].match(piece):
            looked_up = True
            continue
        if parts["slip_aside"].match(piece):
            continue
        behind = parts["slip_part"].match(piece) if value is not None else None
        if behind is not None:
            part = behind["part"]
            continue
        if value is not None and _spells(piece, value[0], parts):
            continue
        explained = parts["slip_explains"].match(piece) if says or breaks_in else None
        if explained is not None and value is None and not wrong:
            # "8:40是做操", "那是我弟坐的": of what else the wrong value is true
            wrong, says, explains = explained["wrong"] or "", True, True
            continue
        framed = parts["slip_framed"].match(piece) if explains else None
        m = framed if framed is not None else parts["slip_value"].match(piece)
        if m is None or value is not None:
            return None
        if parts["slip_glyph"].match(m["object"]):
            return None  # "写错啦，是破晓的晓" says how a character is written, not of what
        value = (m["object"], at + m.start("object"))
        told = (at, at + len(piece))
        if framed is None and m["wrong"]:
            wrong = m["wrong"]
    if value is None or not (wrong or says or (looked_up and NUMBER.match(value[0]))):
        return None
    return Slip(value[0], value[1], value[1] + len(value[0]), wrong, says, *told, part)


def _spells(piece: str, value: str, parts: Mapping[str, Expression]) -> bool:
    """Whether a piece tells how a character of the value is written ("火字旁那个", "耳东陈")."""
    m = parts["slip_glyph"].match(piece)
    return m is not None and (m["char"] or m["char2"] or "") in value


def _once(held: tuple[str, int] | None, value: str, at: int) -> tuple[str, int] | None:
    return (value, at) if held is None else None


def _pieces(norm: str) -> Iterator[tuple[int, str]]:
    """The stretches between stops; a point inside a number is none."""
    for m in _PIECE.finditer(norm):
        piece = m.group().rstrip(".")
        if piece:
            yield m.start(), piece
