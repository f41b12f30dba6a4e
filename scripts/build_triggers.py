"""Words without which an expression cannot match, for every expression of the write lexicon.

    python scripts/build_triggers.py

Writes ``triggers.json``: from a digest of an expression to sets of words; of each set one must occur in a text
that it matches, the set that occurs least in the test conversations stands first. The write path skips an expression
when of one set none occurs; one that is missing here is always tried. Run it after changing the lexicon; a test
compares.
"""

from __future__ import annotations

import json
import re
import re._constants as constants  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from functools import cache
from pathlib import Path
from typing import Any

from ltm_core.write.words.expressions import digest
from ltm_core.write.words.load import expressions, named_expressions

OUT = Path("core/ltm_core/lexicon/write/triggers.json")
CONVERSATIONS = Path("tests/cases")
"""Where clauses are taken from to see how often a word occurs."""
CLAUSES = 4000
"""Clauses of each script that are looked at."""
MOST = 400
"""Words of one set; more would cost memory for little."""
SETS = 3
FEW = 100
"""Words of one set of an expression that is asked for by its name: they are looked for one after another."""
LONG = 150
"""Characters from which on such an expression costs more than looking for its words."""
RARE = 0.5
"""The share of `WORTH`, for such an expression."""
WORTH = 0.8
"""A further set is kept when fewer than this share of the texts that have the others has it, too."""


def sets_of(tree: Any) -> list[frozenset[str]]:
    """The sets of words of each of which one must occur in any text that the parsed expression matches."""
    choices: list[frozenset[str]] = []
    run = ""
    for op, arg in [*tree, (None, None)]:
        if op is constants.LITERAL:
            run += chr(arg).lower()
            continue
        if run:
            choices.append(frozenset([run]))
            run = ""
        if op is constants.SUBPATTERN:
            choices += sets_of(arg[3])
        elif op in (constants.MAX_REPEAT, constants.MIN_REPEAT) and arg[0] >= 1:
            choices += sets_of(arg[2])
        elif op is constants.BRANCH:
            choices += [u] if (u := union([needed(branch) for branch in arg[1]])) else []
        elif op is constants.ASSERT and arg[0] == 1:  # what lies ahead must be there, too
            choices += sets_of(arg[1])
        elif op is constants.IN and all(o is constants.LITERAL for o, _ in arg):
            choices.append(frozenset(chr(v).lower() for _, v in arg))
    return [c for c in choices if len(c) <= MOST]


def needed(tree: Any) -> frozenset[str] | None:
    """Words of which one must occur in any text that the parsed expression matches; None when unknown."""
    return min(sets_of(tree), key=lambda c: (having(c).bit_count() / len(clauses(scripted(c))), len(c)), default=None)


def union(sets: list[frozenset[str] | None]) -> frozenset[str] | None:
    out: set[str] = set()
    for s in sets:
        if not s:
            return None
        out |= s
    return frozenset(w for w in out if not any(o != w and o in w for o in out))


@cache
def clauses(ascii_: bool) -> tuple[str, ...]:
    """Clauses that people say in the test conversations, in lower case."""
    said: dict[str, None] = {}
    for file in sorted(CONVERSATIONS.glob("stories_lines_*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            for turn in json.loads(line)["turns"]:
                if turn["role"] == "user" and turn["text"].isascii() == ascii_:
                    said.update((c, None) for c in re.split(r"[,.;!?，。；！？]+", turn["text"].lower()) if c.strip())
    return tuple(said)[:CLAUSES]


@cache
def holding(word: str) -> int:
    """The clauses that have a word, as bits."""
    return sum(1 << i for i, c in enumerate(clauses(word.isascii())) if word in c)


def scripted(words: frozenset[str]) -> bool:
    """Whether the words are looked for in English clauses."""
    return all(w.isascii() for w in words)


def having(words: frozenset[str]) -> int:
    """The clauses that have one of the words, as bits."""
    english, out = scripted(words), 0
    for word in words:
        if word.isascii() == english:
            out |= holding(word)
    return out


def chosen(sets: list[frozenset[str]], worth: float = WORTH) -> list[list[str]]:
    """The sets that exclude most clauses, the rarest first; none when they exclude too few."""
    kept: list[list[str]] = []
    for english in (False, True):
        mine = sorted(
            {s for s in sets if scripted(s) == english}, key=lambda s: (having(s).bit_count(), len(s), *sorted(s))
        )
        left = (1 << len(clauses(english))) - 1
        for words in mine:
            still = left & having(words)
            if len(kept) < SETS and still.bit_count() < worth * left.bit_count():
                kept.append(sorted(words))
                left = still
    return kept


def build() -> dict[str, list[list[str]]]:
    made = {}
    for source in expressions():
        sets = chosen(sets_of(parser.parse(source)))
        if sets:
            made[digest(source)] = sets
    for source in named_expressions():
        short = [s for s in sets_of(parser.parse(source)) if len(s) <= FEW]
        sets = chosen(short, RARE) if len(source) >= LONG and digest(source) not in made else []
        if sets:
            made[digest(source)] = sets
    return made


def main() -> None:
    made = build()
    OUT.write_text(
        json.dumps(made, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n", encoding="utf-8"
    )
    known = len(expressions()) + len(named_expressions())
    print(f"{len(made)} of {known} expressions have needed words; {OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
