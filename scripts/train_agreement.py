"""Train the model that finds replies which take up a proposal (`ltm_core.write.agreement`), write ``agreement.json``.

    python scripts/train_agreement.py --data tests/cases [--out FILE] [--errors] [--no-write]

Reads ``agreements_*.tsv`` (Y or N, a proposal of the assistant, the user's reply); the language is the file's. All
figures are five-fold by proposal, so that no reply is judged by a model that has seen another to the same proposal.
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from train_gate import Grams, sigmoid
from train_news import Embedded, Trained, calibrated, fold_of

from ltm_core.lexicon import default_lexicon
from ltm_core.write.agreement import CUES, make_agreement, reply_cues
from ltm_core.write.clauses import split
from ltm_core.write.gate import BUCKETS
from ltm_core.write.news import Sentence, features
from ltm_core.write.overtaken import mean_vector
from ltm_core.write.scopes import read

THRESHOLDS = {"mean": 0.6, "plain": 0.7}
"""Probabilities from which a reply takes up the proposal: about nine in ten of those found are then right in the
figures below, and the vetoes of the rules (a question, "still not") come on top."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply with its label."""

    language: str
    proposal: str
    text: str
    agrees: bool


def load(data: Path) -> list[Reply]:
    found = []
    for path in sorted(data.glob("agreements_*.tsv")):
        for line in path.read_text(encoding="utf-8").splitlines():
            label, proposal, reply = line.split("\t")
            found.append(Reply(path.stem.removeprefix("agreements_"), proposal, reply, label == "Y"))
    return found


def sentences(replies: Sequence[Reply], embed: Embedded) -> list[Sentence]:
    lexicon = default_lexicon()
    seen = []
    reads = [read(split(r.text, lexicon), lexicon) for r in replies]
    embed([c.clause.text for clauses in reads for c in clauses])
    for r, clauses in zip(replies, reads, strict=True):
        seen.append(
            Sentence(
                text=r.text,
                norm=" ".join(c.clause.norm.strip() for c in clauses),
                language=r.language,
                cues=reply_cues([c.flags for c in clauses], r.text, r.proposal, lexicon.gate.function),
                vector=mean_vector(list(embed([c.clause.text for c in clauses]))),
            )
        )
    return seen


def figures(title: str, p: NDArray[Any], y: NDArray[Any], threshold: float) -> None:
    hit = int(((p >= threshold) & (y > 0)).sum())
    precision, recall = hit / max(1, int((p >= threshold).sum())), hit / max(1, int(y.sum()))
    print(f"{title:<6} at {threshold}: P {precision:.3f} R {recall:.3f} of {int(y.sum())}/{len(y)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("core/ltm_core/lexicon/write/agreement.json"))
    parser.add_argument("--errors", action="store_true", help="print what cross-validation gets wrong")
    parser.add_argument("--no-write", action="store_true")
    args = parser.parse_args()
    function = default_lexicon().gate.function
    replies = [r for r in load(args.data) if split(r.text, default_lexicon())]
    seen = sentences(replies, Embedded())
    grams = Grams.of([features(s, function) for s in seen])
    cues = np.stack([s.cues for s in seen])
    vectors = np.stack([s.vector for s in seen if s.vector is not None])
    y = np.array([float(r.agrees) for r in replies])
    folds = np.array([fold_of(r.proposal) for r in replies])
    za, zb = np.zeros(len(y)), np.zeros(len(y))
    for k in np.unique(folds):
        inside, outside = np.where(folds != k)[0], np.where(folds == k)[0]
        t = Trained.of(y[inside], grams.take(inside), cues[inside], vectors[inside])
        za[outside], zb[outside] = t.logits(grams.take(outside), cues[outside], vectors[outside])
    calibration = {"mean": calibrated((za + zb) / 2, y), "grams": calibrated(za, y)}
    mean = sigmoid(calibration["mean"][0] * (za + zb) / 2 + calibration["mean"][1])
    for threshold in (0.4, 0.5, 0.6, 0.7, 0.8):
        figures("mean", mean, y, threshold)
    for threshold in (0.5, 0.6, 0.7, 0.8):
        figures("words", sigmoid(calibration["grams"][0] * za + calibration["grams"][1]), y, threshold)
    if args.errors:
        for r, p in sorted(zip(replies, mean, strict=True), key=lambda x: x[1]):
            if (p >= THRESHOLDS["mean"]) != r.agrees:
                print(f"   {'missed' if r.agrees else 'wrong'} {p:.2f} {r.proposal[:24]} | {r.text}")
    trained = Trained.of(y, grams, cues, vectors)
    digest = hashlib.sha256("".join(r.text for r in replies).encode()).hexdigest()[:12]
    data = {
        "version": f"{dt.datetime.now(dt.UTC):%Y-%m-%d}/{len(replies)} replies/{digest}",
        "languages": sorted({r.language for r in replies}),
        "head": trained.data(vectors.shape[1], calibration),
        "thresholds": THRESHOLDS,
    }
    make_agreement(data, function)
    print("cues", len(CUES), "buckets", BUCKETS)
    if not args.no_write:
        args.out.write_text(json.dumps(data) + "\n", encoding="utf-8")
        print("wrote", args.out, args.out.stat().st_size, "bytes,", data["version"])


if __name__ == "__main__":
    main()
