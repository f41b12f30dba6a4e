"""Words without which an expression cannot match, for every expression of the write lexicon.

    python scripts/build_triggers.py

Writes ``triggers.json``: from a digest of an expression to the short words of which one must occur in a text
that it matches. The write path skips an expression when none occurs; one that is missing here is always tried.
Run it after changing the lexicon; a test compares.
"""

from __future__ import annotations

import json
import math
import re._constants as constants  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from pathlib import Path
from typing import Any

from ltm_core.write.words.expressions import digest
from ltm_core.write.words.lexicon import expressions

OUT = Path("core/ltm_core/lexicon/write/triggers.json")
MOST = 60
"""Words of one expression; more would cost more to look for than the expression itself."""


def needed(tree: Any) -> frozenset[str] | None:
    """Words of which one must occur in any text that the parsed expression matches; None when unknown."""
    choices: list[frozenset[str]] = []
    run = ""
    for op, arg in [*tree, (None, None)]:
        if op is constants.LITERAL:
            run += chr(arg).lower()
            continue
        if run:
            choices.append(frozenset([run]))
            run = ""
        found: frozenset[str] | None = None
        if op is constants.SUBPATTERN:
            found = needed(arg[3])
        elif op in (constants.MAX_REPEAT, constants.MIN_REPEAT) and arg[0] >= 1:
            found = needed(arg[2])
        elif op is constants.BRANCH:
            found = union([needed(branch) for branch in arg[1]])
        elif op is constants.ASSERT and arg[0] == 1:  # what lies ahead must be there, too
            found = needed(arg[1])
        elif op is constants.IN and all(o is constants.LITERAL for o, _ in arg):
            found = frozenset(chr(v).lower() for _, v in arg)
        if found:
            choices.append(found)
    useful = [c for c in choices if len(c) <= MOST and weight(c) > 0]
    return max(useful, key=weight) if useful else None


def union(sets: list[frozenset[str] | None]) -> frozenset[str] | None:
    out: set[str] = set()
    for s in sets:
        if not s:
            return None
        out |= s
    return frozenset(w for w in out if not any(o != w and o in w for o in out))


def weight(words: frozenset[str]) -> float:
    """How much a set of needed words excludes: rare words weigh more, many words less."""
    least = min(len(w.strip()) * (1.0 if w.isascii() else 3.0) for w in words)
    return least - 1.2 - 0.35 * math.log(len(words))


def build() -> dict[str, list[str]]:
    made = {}
    for source in expressions():
        words = needed(parser.parse(source))
        if words:
            made[digest(source)] = sorted(words)
    return made


def main() -> None:
    made = build()
    OUT.write_text(json.dumps(made, ensure_ascii=False, sort_keys=True, indent=0) + "\n", encoding="utf-8")
    print(f"{len(made)} of {len(expressions())} expressions have needed words; {OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
