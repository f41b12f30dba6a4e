"""Train the model that reads short replies to proposals (`ltm_core.write.agreed`), print figures, write its weights.

    python scripts/train_agreed.py --data tests/cases [--errors] [--no-write]

Reads ``replies_en.tsv``: label (Y takes up the proposal or tells that it helped, N does neither), problem,
proposal, reply. All figures are five-fold by problem.
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import json
from pathlib import Path

import numpy as np
from train_gate import Grams, sigmoid
from train_news import Embedded, Trained, calibrated, fold_of

from ltm_core.lexicon import default_lexicon
from ltm_core.write.agreed import make_agreed, reply_of
from ltm_core.write.clauses import split
from ltm_core.write.news import Sentence, features
from ltm_core.write.scopes import read

OUT = Path("core/ltm_core/lexicon/write/agreed.json")
THRESHOLD = 0.6
"""Probability from which a reply counts; a solution kept wrongly is worse than one missed."""


def seen(problem: str, proposal: str, reply: str, embed: Embedded) -> Sentence:
    lexicon = default_lexicon()
    reads = read(split(reply, lexicon), lexicon)
    vectors = list(embed([r.clause.text for r in reads]))
    return reply_of(reply, reads, vectors, lexicon, problem=problem, proposal=proposal)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--errors", action="store_true", help="print what cross-validation gets wrong")
    parser.add_argument("--no-write", action="store_true")
    args = parser.parse_args()
    text = (args.data / "replies_en.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines()]
    embed = Embedded()
    sentences = [seen(problem, proposal, reply, embed) for _, problem, proposal, reply in rows]
    y = np.array([float(row[0] == "Y") for row in rows])
    folds = np.array([fold_of(row[1]) for row in rows])
    function = default_lexicon().gate.function
    grams = Grams.of([features(s, function) for s in sentences])
    cues = np.stack([s.cues for s in sentences])
    vectors = np.stack([s.vector for s in sentences if s.vector is not None])
    za, zb = np.zeros(len(y)), np.zeros(len(y))
    for k in np.unique(folds):
        inside, outside = np.where(folds != k)[0], np.where(folds == k)[0]
        trained = Trained.of(y[inside], grams.take(inside), cues[inside], vectors[inside])
        za[outside], zb[outside] = trained.logits(grams.take(outside), cues[outside], vectors[outside])
    mean = (za + zb) / 2
    calibration = {"mean": calibrated(mean, y), "grams": calibrated(za, y)}
    for name, z in (("mean", mean), ("grams", za)):
        p = sigmoid(calibration[name][0] * z + calibration[name][1])
        for threshold in (0.5, THRESHOLD, 0.7, 0.8):
            hit = int(((p >= threshold) & (y > 0)).sum())
            print(
                f"{name:<6} at {threshold}: P {hit / max(1, int((p >= threshold).sum())):.3f} "
                f"R {hit / int(y.sum()):.3f} of {int(y.sum())}/{len(y)}"
            )
        for i in np.argsort(-np.abs(p - y)) if args.errors and name == "mean" else ():
            if (p[i] >= THRESHOLD) != (y[i] > 0):
                print(f"   {p[i]:.2f} {rows[i][0]} {rows[i][3]} | {rows[i][2]}")
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    data = {
        "version": f"{dt.datetime.now(dt.UTC):%Y-%m-%d}/{len(rows)} replies/{digest}",
        "threshold": THRESHOLD,
        "head": Trained.of(y, grams, cues, vectors).data(vectors.shape[1], calibration),
    }
    make_agreed(data)
    if not args.no_write:
        args.out.write_text(json.dumps(data) + "\n", encoding="utf-8")
        print("wrote", args.out, args.out.stat().st_size, "bytes,", data["version"])


if __name__ == "__main__":
    main()
