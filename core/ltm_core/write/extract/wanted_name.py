"""The name the speaker wants to be called by, in words that say so only beside others that speak of his name:
"Don't call me Mrs Lowe, it makes me feel ancient. Kit will do", "At work I'm Dr Okafor, here just say Ada"."""

from __future__ import annotations

from collections.abc import Sequence

from ltm_core.write.extract.draft import Draft
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon

_NEAR = 2
"""Sentences that may lie between the two."""
RULE = "wanted_name"


def wanted_name(reads: Sequence[Read], i: int, lexicon: Lexicon) -> Draft | None:
    """The name that clause ``i`` gives, when a clause before it speaks of how the speaker is called; None when it
    gives none."""
    r = reads[i]
    parts = lexicon.rules(r.clause.language).parts
    m = parts["name_wanted"].match(r.clause.norm) if "name_wanted" in parts and i else None
    if m is None:
        return None
    near = [b for b in reads[:i] if r.clause.sentence - b.clause.sentence <= _NEAR and b.veto != "quotation"]
    if not any(parts["name_spoken_of"].search(b.clause.norm) for b in near):
        return None
    group = next(g for g in ("name", "name2") if m[g])
    if m[group].lower() in lexicon.sets["no_names"]:
        return None
    return Draft(
        subject="assistant",
        relation="calls_user",
        object=m[group],
        start=m.start(group),
        end=m.end(group),
        confidence=0.9,
        rule=RULE,
        about_user=False,
    )
