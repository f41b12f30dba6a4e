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
    for i, (lead, after) in enumerate(pairwise(reads)):
        if lead.veto or lead.clause.sentence != after.clause.sentence or lead.clause.language != "en":
            continue
        parts = lexicon.rules("en").parts
        if parts["long_ago_lead"].match(lead.clause.norm) is None:
            continue
        if after["past"] or parts["long_ago_goes_on"].match(after.clause.norm) is not None:
            after.flags["past"] = after.flags[LEAD] = True
            out[i] = replace(lead, veto=LEAD)
    return tuple(out)


def is_story(reads: Sequence[Read]) -> bool:
    """Whether clauses only tell of a time long gone, and nothing of what became of it."""
    return any(r[LEAD] for r in reads) and not any(r["change_now"] for r in reads)
