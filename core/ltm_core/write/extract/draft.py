"""A fact as one clause words it, before it becomes a candidate."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ltm_core.types import Modality
from ltm_core.write.plan import Move
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import trim

ADDED = ".added"
"""How the names of the patterns end that read what comes on top of what was so before ("又兼了份代驾")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A fact as one clause words it; offsets are in the clause."""

    subject: str
    relation: str
    object: str
    start: int
    end: int
    positive: bool = True
    move: Move | None = None
    modality: Modality | None = None
    wrong: str = ""
    cut: tuple[int, int] = (0, 0)
    """Stretch of the clause that only names what is no longer true."""
    whole: tuple[int, int] = (0, 0)
    """Stretch of the clause that holds the list this object was taken from."""
    confidence: float = 0.95
    strong: bool = True
    rule: str = ""
    attr: str = ""
    name: str = ""
    role: str = ""
    role_end: int = 0
    """Where the role's words end in the clause, when they stand before the object."""
    about_user: bool = True


def finish(draft: Draft, lexicon: Lexicon) -> Draft | None:
    """The draft with a clean object, or None when nothing is left of it."""
    value = lexicon.shared["value_end"].sub("", trim(draft.object))
    if not value or not any(c.isalnum() for c in value):
        return None
    if value in lexicon.sets["particles"]:
        return None  # "两年前搬来的"
    value = lexicon.shared["object_lead"].sub("", value)
    if draft.relation in lexicon.sets["trimmed"]:
        value = lexicon.shared["object_tail"].sub("", value) or value
    begin = draft.start + max(0, draft.object.find(value))
    return replace(draft, object=value, start=begin, end=begin + len(value))
