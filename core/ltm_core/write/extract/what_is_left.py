"""What somebody still does or likes, told right behind the end of something else: "boilers only", "I just walk".

By itself such a clause is mere talk ("cash only"); behind "won't touch bathrooms now" it says what goes on. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from ltm_core.write.endings.ends import RULE as ENDS
from ltm_core.write.extract.draft import Draft
from ltm_core.write.plan import Candidate
from ltm_core.write.read.people import Subject
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import trim

RULE = "left"
_SPARED = ("question", "plan", "conditional", "goal", "temporary", "ephemeral", "one_off")
_MOST_BETWEEN = 120
"""Characters between the end told and what is left."""


def what_is_left(read: Read, subject: Subject, endings: Sequence[Candidate], lexicon: Lexicon) -> Draft | None:
    """The clause as a statement of what goes on, if it stands shortly behind one that gave up a whole class; None
    otherwise."""
    pattern = lexicon.rules(read.clause.language).parts.get("what_is_left")
    if read.veto or pattern is None or subject.kind not in ("self", "dropped"):
        return None
    if any(read[cue] for cue in _SPARED) or pattern.match(read.clause.norm) is None:
        return None
    whole = [c for c in endings if c.rule == ENDS and c.classes]
    ends = [c.evidence[0].end for c in whole if c.evidence[0].end <= read.clause.start]
    if not ends or read.clause.start - max(ends) > _MOST_BETWEEN:
        return None
    value = trim(read.clause.norm[subject.start :]) or trim(read.clause.norm)
    start = read.clause.norm.find(value)
    return Draft(
        subject=subject.key,
        relation="about",
        object=value,
        start=start,
        end=start + len(value),
        confidence=0.6,
        strong=False,
        rule=RULE,
    )


def only_says_how_much(read: Read, drafts: Sequence[Draft], lexicon: Lexicon) -> bool:
    """Whether a clause that no pattern read says only how much of what was named before is meant ("every breed")."""
    extent = lexicon.rules(read.clause.language).parts.get("reversal_extent")
    return extent is not None and all(d.rule == "open" for d in drafts) and extent.match(read.clause.norm) is not None
