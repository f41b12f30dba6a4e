"""Which current facts a set of candidates may touch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ltm_core.write.plan import Candidate
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.load import default_lexicon


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Which current facts `resolve` must be given: some slots, whole subjects, or everything."""

    slots: tuple[tuple[str, str], ...] = ()
    subjects: tuple[str, ...] = ()
    everything: bool = False


def reach_of(candidates: Iterable[Candidate], lexicon: Lexicon | None = None) -> Reach:
    """The current facts that these candidates may touch; nothing outside it changes the outcome."""
    known = lexicon or default_lexicon()
    slots: dict[tuple[str, str], None] = {}
    subjects: dict[str, None] = {}
    for c in candidates:
        family = known.relation(c.relation).family
        if (
            c.reach != "slot"
            or family
            or c.wrong_object
            or not c.is_positive
            or c.move in ("cease", "revert", "change")
        ):
            subjects[c.subject] = None
        else:
            slots[(c.subject, c.relation)] = None
    return Reach(
        slots=tuple(s for s in slots if s[0] not in subjects),
        subjects=tuple(subjects),
    )
