"""How well the bundled models of news tell what ends a fact from near misses, on pairs that nothing is learned from.

    python scripts/judge_pairs.py [FILE …]

Reads ``pairs_apart_*.tsv``: a label (N for what leaves the fact alone), the fact, and what is said later with braces
round the sentence that decides. Prints the area under the curve of each model, and how many of the changes the nets
that read word by word find where so many of the near misses pass.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from news_data import Embedded, facts_of, touches, units_of
from numpy.typing import NDArray

from ltm_core.write.incoming.vectors import pieces_of
from ltm_core.write.known.judged import Judge
from ltm_core.write.known.news import MATCH, Sentence, load_news
from ltm_core.write.learned.gate import log_odds
from ltm_core.write.read.units import mean_vector

SHARES = (0.02, 0.04, 0.08)
"""Of the near misses that pass."""
_LOWEST = -9.0


def judged(path: Path, embed: Embedded, judge: Judge) -> tuple[NDArray[np.bool_], dict[str, NDArray[Any]]]:
    """Whether each pair is a change, and what each model says of it."""
    changes, odds = [], []
    for line in path.read_text(encoding="utf-8").splitlines():
        label, fact, said = line.split("\t")
        a, b = said.index("{"), said.index("}") - 1
        told = [u for u in units_of(said.replace("{", "").replace("}", "")) if touches(u, a, b)]
        changes.append(label != "N")
        news = []
        for u in told:
            vector = mean_vector(list(embed([s.read.clause.text for s in u.spoken])))
            news.append((log_odds(judge.news.turns(u.sentence(vector))), u.text))
        if not news:
            odds.append((_LOWEST, _LOWEST, _LOWEST))
            continue
        turn, text = max(news)
        sentence = Sentence(text, "", "", np.zeros(0, np.float32), embed([text])[0], turn)
        held = [replace(h, vector=embed([h.text])[0]) for h in facts_of(fact, embed)]
        compared = judge.news.compare_all(sentence, held)
        by_words = max(judge.odds(sentence, h, row) for h, row in zip(held, compared, strict=True))
        odds.append((turn, float(compared[:, MATCH.index("pair")].max()), by_words))
    names = ("news", "vectors", "words")
    return np.array(changes), dict(zip(names, np.array(odds).T, strict=True))


def area(over: NDArray[Any], stays: NDArray[Any]) -> float:
    """Share of all pairs of a change and a near miss in which the change has the higher odds."""
    above, same = (f(over[:, None], stays[None]).mean() for f in (np.greater, np.equal))
    return float(above + same / 2)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="*", type=Path, default=sorted(Path("tests/cases").glob("pairs_apart_*.tsv")))
    judge, embed = Judge(load_news(), pieces_of), Embedded()
    for path in parser.parse_args(argv).files:
        is_change, odds = judged(path, embed, judge)
        areas = ", ".join(f"{name} {area(z[is_change], z[~is_change]):.3f}" for name, z in odds.items())
        words = odds["words"]
        found = ", ".join(
            f"{(words[is_change] > np.quantile(words[~is_change], 1 - share)).mean():.2f} at {share}"
            for share in SHARES
        )
        print(f"{path.stem}: {len(is_change)} pairs; area under the curve: {areas}; changes found: {found}")


if __name__ == "__main__":
    main()
