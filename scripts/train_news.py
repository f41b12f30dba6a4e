"""Train the models that find what is changed or over, print figures, write ``news.json`` (`write.known.news`).

    python scripts/train_news.py --data tests/cases [--out FILE] [--no-write] [--errors]
    python scripts/train_news.py --data tests/cases --apart FOLDER

Reads ``turns_*.tsv`` (a fact, what is said later, and whether that replaces, ends, corrects or leaves it) and the
labelled messages of ``train_gate.py``, and ``stories_dev.jsonl``. All figures are five-fold by author, so that no
wording is judged by a model that has seen its hand. ``--apart FOLDER`` writes ``news_K.json`` there, each learned
without the K-th of five parts, for ``train_weighing.py``. Needs torch for the nets that read word by word.
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
from gate_data import FOLDS
from news_attention import fit_attending
from news_data import Embedded, Pair, Row, load_pairs, load_rows, topic_rows
from news_heads import cross, fit_topics
from news_match import POOLS, Pool, decide, ended, fit_match, pools
from news_pair import examples, fit_pairings
from numpy.typing import NDArray

from ltm_core.lexicon import default_lexicon
from ltm_core.write.known.news import CUES, MATCH, News, make_news
from ltm_core.write.learned.gate import pack

THRESHOLDS = {"turn": 0.5, "turn_sure": 0.45, "turn_passing": 0.7, "keeps": 0.5}
"""Probabilities: from which a sentence is looked at, the same where the nets must then be sure, beside words of today
or of a mood, and from which it tells a new value."""
ENDS = {"ends": 0.15, "ends_plain": 0.65, "pair": 0.68, "pair_named": 0.62, "sure": 0.82}
"""Probability from which a fact is looked at with vectors, and ends without; and what the nets, which see nothing but
the fact and the sentence, must give the pair: less where the value is named in full, more where a rule doubts. Chosen
on ``pairs_apart_*.tsv`` and on counts of stories by hands not learned from: below, more ends wrongly there."""
ATTENTIONS = 2
"""Nets that read word by word; their log-odds are averaged."""
Topics: TypeAlias = tuple[list[str], list[str], list[int]]
"""Texts, the topic of each, and the part of the data that it is of."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    """What is learned from, loaded once and shared with the processes that train without a part of it."""

    pairs: Sequence[Pair]
    rows: Sequence[Row]
    topics: Topics
    embed: Embedded
    out: Path
    everything: ClassVar[_Loaded]


def trained(
    pairs: Sequence[Pair], rows: Sequence[Row], of_topics: Topics, embed: Embedded, *, errors: bool = False
) -> dict[str, Any]:
    """The weights as they are shipped, learned from the pairs, the sentences and the topics; prints figures."""
    y, folds = np.array([float(r.turn) for r in rows]), np.array([r.fold for r in rows])
    weight = np.array([r.weight for r in rows])
    turn, turn_calibration, z = cross("turn", [r.unit for r in rows], y, folds, embed, weight)
    by_unit = {id(r.unit): float(v) for r, v in zip(rows, z, strict=True)}
    turn_of = {i: max((by_unit[id(u)], u.text) for u in p.told) for i, p in enumerate(pairs) if p.told}
    newsy = [(u, p) for p in pairs for u in p.told if p.label != "N"]
    y2, f2 = np.array([float(p.label != "E") for _, p in newsy]), np.array([p.fold for _, p in newsy])
    keeps, keeps_calibration, _ = cross("keeps", [u for u, _ in newsy], y2, f2, embed)
    texts, names, tfolds = of_topics
    tv, nf = embed(texts), np.array(tfolds)

    def packed(
        labels: list[str],
        w: NDArray[Any],
        pairing: list[dict[str, Any]],
        attending: list[dict[str, Any]],
        match: NDArray[Any],
        plain: NDArray[Any],
        **thresholds: float,
    ) -> dict[str, Any]:
        digest = hashlib.sha256("".join(r.unit.text for r in rows).encode()).hexdigest()[:12]
        return {
            "version": f"{dt.datetime.now(dt.UTC):%Y-%m-%d}/{len(rows)} sentences, {len(pairs)} pairs/{digest}",
            "turn": turn.data(tv.shape[1], turn_calibration),
            "keeps": keeps.data(tv.shape[1], keeps_calibration),
            "topics": labels,
            "topic": pack(w[:-1].T.reshape(-1)),
            "topic_bias": [round(float(b), 4) for b in w[-1]],
            "pairing": pairing,
            "attending": attending,
            "match": [round(float(x), 4) for x in match[:-1]],
            "match_bias": round(float(match[-1]), 4),
            "match_plain": [round(float(x), 4) for x in plain[:-1]],
            "match_plain_bias": round(float(plain[-1]), 4),
            "thresholds": {k: round(v, 4) for k, v in thresholds.items()},
        }

    function = default_lexicon().gate.function
    zeros = np.zeros(len(MATCH) + 1)
    by_fold = []
    for k in range(FOLDS):
        inside = np.where(nf != k)[0]
        by_fold.append(fit_topics(tv[inside], [names[i] for i in inside]))
    blank = [make_news(packed(*t, [], [], zeros, zeros, **THRESHOLDS, **ENDS), function) for t in by_fold]
    paired = examples(pairs, embed, blank, turn_of, seed=5)
    unseen: list[News] = []
    for k in range(FOLDS):
        nets = fit_pairings(paired, np.where(paired.folds != k)[0])
        unseen.append(make_news(packed(*by_fold[k], nets, [], zeros, zeros, **THRESHOLDS, **ENDS), function))
    found = pools(pairs, embed, unseen, turn_of, seed=7)
    every, plain_use = range(len(MATCH)), [MATCH.index(n) for n in ("words", "named", "own_words", "rivals", "turn")]
    match, plain = fit_match(found, every), fit_match(found, plain_use)
    print("match", {k: round(float(w), 2) for k, w in zip((*MATCH, "bias"), match, strict=True)})
    print("match without vectors", {k: round(float(w), 2) for k, w in zip((*MATCH, "bias"), plain, strict=True)})
    for title, use, key in (("match", every, "ends"), ("match, no vectors", plain_use, "ends_plain")):
        decided: list[tuple[float, bool, bool]] = []
        pooled: list[Pool] = []
        for k in range(FOLDS):
            w = fit_match([p for p in found if pairs[p.pair].fold != k], use)
            here = [p for p in found if pairs[p.pair].fold == k]
            decided += decide(here, w)
            pooled += here
        wrong = [(d[0], p) for d, p in zip(decided, pooled, strict=True) if errors and not d[1]]
        for probability, pool in sorted(wrong, key=lambda w: -w[0])[:100]:
            q = pairs[pool.pair]
            print(f"   wrong {probability:.2f} of {len(pool.compared)}: {q.label} {q.fact} | {q.told[0].text}")
        for t in (0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
            ended(title, decided, t)
        for size in (0, *POOLS):
            mine = [d for d, p in zip(decided, pooled, strict=True) if size in (0, len(p.compared))]
            ended(f"{title}, {size or 'all'} known", mine, ENDS[key])
    labels, w = fit_topics(tv, names)
    nets = fit_pairings(paired, np.arange(len(paired.y)))
    attending = [fit_attending(paired, np.arange(len(paired.y)), seed=k) for k in range(ATTENTIONS)]
    data = packed(labels, w, nets, attending, match, plain, **THRESHOLDS, **ENDS)
    make_news(data, function)
    return data


def _without(k: int) -> None:
    """Writes the nets that have not learned from the ``k``-th part of what is loaded."""
    everything = _Loaded.everything
    texts, names, folds = everything.topics
    use = [i for i, f in enumerate(folds) if f != k]
    data = trained(
        [p for p in everything.pairs if p.fold != k],
        [r for r in everything.rows if r.fold != k or r.source == "messages"],
        ([texts[i] for i in use], [names[i] for i in use], [folds[i] for i in use]),
        everything.embed,
    )
    _write(data, everything.out / f"news_{k}.json")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("core/ltm_core/lexicon/write/news.json"))
    parser.add_argument("--apart", type=Path, help="folder for news_K.json, trained without the K-th part; no others")
    parser.add_argument("--errors", action="store_true", help="print what cross-validation gets wrong")
    parser.add_argument("--no-write", action="store_true")
    args = parser.parse_args()
    embed = Embedded()
    pairs = load_pairs(args.data, embed)
    rows = load_rows(args.data, pairs)
    topics = topic_rows(args.data, pairs)
    if args.apart is not None:
        embed([*(r.unit.text for r in rows), *(h.text for p in pairs for h in p.held), *topics[0]])
        args.apart.mkdir(parents=True, exist_ok=True)
        _Loaded.everything = _Loaded(pairs, rows, topics, embed, args.apart)
        with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool:
            made = [pool.submit(_without, k) for k in range(FOLDS)]
            for m in made:
                m.result()
        return
    data = trained(pairs, rows, topics, embed, errors=args.errors)
    print("cues", len(CUES), "topics", len(data["topics"]))
    if not args.no_write:
        _write(data, args.out)


def _write(data: dict[str, Any], out: Path) -> None:
    out.write_text(json.dumps(data) + "\n", encoding="utf-8")
    print("wrote", out, out.stat().st_size, "bytes,", data["version"], flush=True)


if __name__ == "__main__":
    main()
