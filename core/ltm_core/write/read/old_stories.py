"""Old stories: what was so in a time long gone is past, whatever holds now ("At primary school, my best friend was
a lad called Dewi"). Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon

LEAD = "long_ago"
"""Why a clause that is nothing but a time of long ago states nothing."""


def of_old(reads: Sequence[Read], lexicon: Lexicon) -> tuple[Read, ...]:
    """The clauses, those behind a bare time of long ago in their sentence marked as past."""
    out = list(reads)
    for r in out:
        if r[LEAD]:
            r.flags["temporary"] = False  # "when I was six, for two weeks": no state of these days
    leads: list[int] = []
    for i, (lead, after) in enumerate(pairwise(reads)):
        parts = lexicon.rules("en").parts
        # "When the firm was founded" reads like a question until its sentence goes on.
        open_ = lead.veto in ("", None, "question") and lead.clause.language == "en"
        if not open_ or not _is_adjunct(lead, lexicon) or (leads and not _joined(reads[leads[-1]], lead)):
            leads = []
        if open_ and _is_adjunct(lead, lexicon):
            leads.append(i)
        if not leads or not _joined(lead, after) or _is_adjunct(after, lexicon):
            continue
        if not any(parts["long_ago_lead"].match(reads[n].clause.norm) for n in leads):
            continue
        if after["past"] or parts["long_ago_goes_on"].match(after.clause.norm) is not None:
            after.flags["past"] = after.flags[LEAD] = True
            for n in leads:
                out[n] = replace(reads[n], veto=LEAD)
    return tuple(out)


def _joined(one: Read, other: Read) -> bool:
    return one.clause.sentence == other.clause.sentence


def _is_adjunct(r: Read, lexicon: Lexicon) -> bool:
    """Whether an English clause is a time or a place by itself."""
    parts = lexicon.rules("en").parts
    return any(parts[p].match(r.clause.norm) is not None for p in ("long_ago_lead", "bare_adjunct"))


def is_story(reads: Sequence[Read]) -> bool:
    """Whether clauses only tell of a time long gone, and nothing of what became of it."""
    return any(r[LEAD] for r in reads) and not any(r["change_now"] for r in reads)
