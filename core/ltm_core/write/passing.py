"""What is said beside a figure and is over with the moment: what a thing cost, what became of a code."""

from __future__ import annotations

from collections.abc import Sequence

from ltm_core.write.lexicon import Lexicon
from ltm_core.write.scopes import Read

_LASTS = ("change", "habitual", "lasting", "hard_cessation")


def passing(reads: Sequence[Read], lexicon: Lexicon) -> tuple[Read, ...]:
    """The clauses that only tell a price, or tell of a code for one use in the sentence that names it."""
    secret = {r.clause.sentence for r in reads if _says(r, "secret_told", lexicon)}
    return tuple(
        r
        for r in reads
        if _says(r, "price_told", lexicon) or (r.clause.sentence in secret and not any(r[w] for w in _LASTS))
    )


def _says(read: Read, part: str, lexicon: Lexicon) -> bool:
    pattern = lexicon.rules(read.clause.language).parts.get(part)
    return pattern is not None and pattern.search(read.clause.norm) is not None
