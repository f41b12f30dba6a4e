"""A name that stands by itself behind the one it names. Pure.

"We got a cat from the shelter, Bosco"; "We had a baby girl! She is called Nell".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ltm_core.write.plan import Candidate, Utterance
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold

_NEAR = 3
"""Characters between the two at most: a mark and a space."""


def named_after(r: Read, said: Sequence[Candidate], utterance: Utterance, lexicon: Lexicon) -> Candidate | None:
    """The candidate of the clause just before, which brings in somebody, with the name that this clause gives; None
    when it gives none."""
    pattern = lexicon.rules(r.clause.language).parts.get("apposed")
    m = pattern.match(r.clause.norm) if pattern is not None and said and not r.veto else None
    if m is None or m["name"].lower() in lexicon.sets["no_names"]:
        return None
    last = said[-1]
    if last.relation not in lexicon.sets["brings_in"] or not last.is_positive or not last.evidence:
        return None
    before = last.evidence[-1]
    if before.message_id != utterance.message_id or not 0 <= r.clause.start - before.end <= _NEAR:
        return None
    if m["name"] in last.object:
        return None
    named = f"{last.object}, {m['name']}"
    return replace(
        last,
        object=named,
        object_normalized=f"{last.object_normalized}, {fold(m['name'])}",
        text=f"{last.text}, {m['name']}",
        evidence=(*last.evidence, r.evidence(utterance.message_id)),
    )
