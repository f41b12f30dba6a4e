"""What a candidate without a relation of its own speaks of: that of the one fact that it names. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ltm_core.types import Fact
from ltm_core.write.known.match import related, same_thing
from ltm_core.write.known.rows import RANK
from ltm_core.write.plan import Candidate
from ltm_core.write.words.lexicon import Lexicon


def adopted(c: Candidate, mine: Sequence[Fact], lexicon: Lexicon, *, sure_from: float) -> Candidate:
    """ "Postgres, not MySQL" without a relation means that of the one fact about MySQL; "I left Leeds" ends
    what is known of Leeds, were it no employer."""
    if c.move == "cease" and not c.is_positive and c.relation in lexicon.sets["endings"]:
        held = [f for f in mine if f.is_positive and f.object_normalized == c.object_normalized]
        if len(held) == 1 and not related(held[0], c, lexicon):
            known = lexicon.relation(held[0].relation)
            return replace(c, relation=known.name, kind=known.kind, single_valued=False)
        return c
    if not c.wrong_object or c.relation_confidence >= sure_from or c.move == "state":
        return c
    meant = [f for f in mine if f.is_positive and same_thing(f, c.wrong_object, loose=True)]
    if len(meant) != 1:
        return c
    relation = lexicon.relation(meant[0].relation)
    return replace(
        c, relation=relation.name, kind=relation.kind, single_valued=relation.single, relation_confidence=0.8,
        importance=max(c.importance, relation.importance, key=RANK.__getitem__),
    )  # fmt: skip
