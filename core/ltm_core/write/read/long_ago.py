"""Old stories: a time long gone told by itself ("读高三那年，…") holds for what follows in its sentence,
until the present or something that has lasted since is told. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon


def carry_past(reads: Sequence[Read], lexicon: Lexicon) -> tuple[Read, ...]:
    """The clauses, those that tell what was so at a time long gone marked as past, and those that only tell the time
    as no statement."""
    told = False
    times: set[int] = set()
    for i, (r, after) in enumerate(pairwise(reads)):
        parts = lexicon.rules(r.clause.language).parts
        if "old_time" not in parts or r.clause.sentence != after.clause.sentence:
            told = False
            continue
        only_time = parts["old_time"].match(r.clause.norm) is not None
        if only_time:
            r.flags["past"] = True
            times.add(i)
        if after.clause.language != r.clause.language or parts["old_over"].search(after.clause.norm) is not None:
            told = False
            continue
        told = told or only_time
        if told or (r["past"] and parts["old_goes_on"].match(after.clause.norm) is not None):
            after.flags["past"] = True
    _mark_before(reads, lexicon)
    return tuple(Read(r.clause, r.flags, "opener") if i in times and not r.veto else r for i, r in enumerate(reads))


def _mark_before(reads: Sequence[Read], lexicon: Lexicon) -> None:
    """Marks as past what a sentence tells before it says how long ago that was ("那都是三十年前了")."""
    for i, r in enumerate(reads):
        pattern = lexicon.rules(r.clause.language).parts.get("old_after")
        if pattern is None or pattern.match(r.clause.norm) is None:
            continue
        for before in reads[: i + 1]:
            if before.clause.sentence == r.clause.sentence:
                before.flags["past"] = True
