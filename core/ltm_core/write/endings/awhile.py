"""Which of the things that were only for a while are over: a guest who went home, a trip one is back from, a plaster
cast that came off. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from ltm_core.types import Fact
from ltm_core.write.known.mentions import mentions, names
from ltm_core.write.plan import Candidate
from ltm_core.write.words.lexicon import Lexicon

_AWAY = "current_location"


def passing_over(c: Candidate, facts: Sequence[Fact], lexicon: Lexicon) -> list[Fact]:
    """The facts of a passing state that the words end; ``facts``: those of one subject, oldest first. Nothing that
    was told as lasting is ever among them."""
    told = {e.message_id for e in c.evidence}
    shared = lexicon.shared
    able = [
        f
        for f in facts
        if f.is_positive
        and (f.modality == "temporary" or (f.modality != "past" and shared["for_a_while"].search(f.text)))
        and not any(e.message_id in told for e in f.evidence)
    ]
    away = [f for f in able if _is_away(f, lexicon)]
    if "restored_home" in c.tags:
        return away
    named = [f for f in able if mentions(c.text, f, lexicon) or _shares_name(c, f)]
    if "ends_stay" in c.tags:
        return named if c.subject == "user" or named else away
    if "discharged" in c.tags:
        seen = [f for f in facts if f.is_positive and shared["sees_somebody"].search(f.text)]
        return seen if len(seen) == 1 else []
    here = [f for f in able if f not in away]
    return named or here[-1:]


def _is_away(fact: Fact, lexicon: Lexicon) -> bool:
    """Whether the fact says that somebody is elsewhere, and not what he is on ("on my daughter's old phone")."""
    shared = lexicon.shared
    if fact.relation == _AWAY:
        return shared["on_a_thing"].search(fact.text) is None
    return shared["is_away"].search(fact.text) is not None


def _shares_name(c: Candidate, fact: Fact) -> bool:
    low = set(c.text.casefold().replace("'s", " ").split())
    return any(n.casefold() in low for n in names(fact.text, begins=True))
