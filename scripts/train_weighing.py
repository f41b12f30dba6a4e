"""Train the nets that weigh what speaks for and against a sentence ending a fact, print their figures, write
``weighing.json`` (`write.learned.weighing`).

    python scripts/train_news.py --data tests/cases --apart FOLDER
    python scripts/train_weighing.py --data tests/cases --apart FOLDER [--no-write] [--no-folds]

The rows are made by ``weighing_data.py``. The figures are six-fold by file. Needs torch; the nets that are shipped
need numpy alone.
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from learning import calibrated, short, sigmoid
from nets import Descent
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from weighing_data import Row, collect

from ltm_core.write.endings.traits import TRAITS
from ltm_core.write.learned.gate import pack
from ltm_core.write.learned.weighing import MOST, make_weighing

INNER, NETS, EPOCHS, BATCH, RATE, DECAY = 24, 4, 30, 64, 0.003, 0.02
FOLDS = 6
THRESHOLDS = {"ends": 0.85, "too": 0.96}
"""Probability from which the likeliest fact is over, and from which another one is with it."""
Array = NDArray[Any]


class Net(nn.Module):
    """`ltm_core.write.learned.weighing.Net` while it learns."""

    def __init__(self, x: Array) -> None:
        super().__init__()
        self.mean, self.deviation = x.mean(axis=0), np.maximum(x.std(axis=0), 0.05)
        self.hidden, self.out, self.direct = (
            nn.Linear(x.shape[1], INNER),
            nn.Linear(INNER, 1, bias=False),
            nn.Linear(x.shape[1], 1),
        )
        self.drop = nn.Dropout(0.3)

    def scaled(self, x: Array) -> Tensor:
        """Deviations from the mean."""
        return torch.from_numpy(np.clip((x - self.mean) / self.deviation, -MOST, MOST).astype(np.float32))

    def forward(self, x: Tensor) -> Tensor:
        x = self.drop(x)
        out: Tensor = (self.out(self.drop(torch.relu(self.hidden(x)))) + self.direct(x))[:, 0]
        return out

    def log_odds(self, x: Array) -> Array:
        with torch.no_grad():
            out: Array = self.eval()(self.scaled(x)).numpy()
        return out

    def data(self, slope: float, shift: float) -> dict[str, Any]:
        """As it is shipped, made honest by ``slope`` and ``shift``."""
        return {
            "mean": short(self.mean),
            "scale": short(1 / self.deviation),
            "hidden": pack(self.hidden.weight.detach().numpy().reshape(-1)),
            "hidden_bias": short(self.hidden.bias.detach().numpy()),
            "out": short(slope * self.out.weight.detach().numpy()[0]),
            "direct": short(slope * self.direct.weight.detach().numpy()[0]),
            "bias": round(slope * float(self.direct.bias.detach()[0]) + shift, 4),
        }


def fit(x: Array, y: Array, *, seed: int) -> Net:
    """A net learned from the rows."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    net = Net(x)
    scaled, wanted = net.scaled(x), torch.from_numpy(y.astype(np.float32))
    down = Descent(net, rate=RATE, decay=DECAY, steps=EPOCHS * (len(y) // BATCH + 1))
    for _ in range(EPOCHS):
        order = rng.permutation(len(y))
        for k in range(0, len(order), BATCH):
            b = order[k : k + BATCH]
            down.step(functional.binary_cross_entropy_with_logits(net(scaled[b]), wanted[b]))
    return net


def figures(rows: Sequence[Row], p: Array) -> None:
    """What is found at several thresholds, of all and of what the rules leave."""
    y, left = np.array([r.label for r in rows]), np.array([not r.ended for r in rows])
    for name, which in (("all", np.ones(len(y), bool)), ("left by the rules", left)):
        for t in (0.5, 0.6, 0.7, 0.75, 0.8, 0.9):
            hit, false = int((which & (y == 1) & (p >= t)).sum()), int((which & (y == 0) & (p >= t)).sum())
            print(
                f"  {name:<18} at {t}: {hit}/{int((which & (y == 1)).sum())} of what ends, {false}/"
                f"{int((which & (y == 0)).sum())} of what stays, precision {hit / max(1, hit + false):.3f}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--apart", type=Path, required=True, help="folder of train_news.py --apart")
    parser.add_argument("--out", type=Path, default=Path("core/ltm_core/lexicon/write/weighing.json"))
    parser.add_argument("--no-write", action="store_true")
    parser.add_argument("--no-folds", dest="folds", action="store_false", help="train what is shipped only")
    options = parser.parse_args()
    rows = collect(options.data, options.apart)
    nets, learned = {}, 0
    for language in ("en", "zh"):
        mine = [r for r in rows if r.language == language]
        x, y = np.stack([r.traits for r in mine]), np.array([r.label for r in mine])
        files = sorted({r.source for r in mine})
        fold = np.array([files.index(r.source) % FOLDS for r in mine])
        slope, shift = 1.0, 0.0
        if options.folds:
            z = np.zeros(len(y))
            for k in range(FOLDS):
                inside, outside = fold != k, fold == k
                z[outside] = np.mean(
                    [fit(x[inside], y[inside], seed=s).log_odds(x[outside]) for s in range(NETS)], axis=0
                )
            slope, shift = calibrated(z, y)
            print(f"{language}: {len(y)} rows, {int(y.sum())} of them ends; slope {slope:.2f}, shift {shift:.2f}")
            figures(mine, sigmoid(slope * z + shift))
        nets[language] = [fit(x, y, seed=s).data(slope, shift) for s in range(NETS)]
        learned += len(mine)
    if options.no_write:
        return
    digest = hashlib.sha256("\n".join(sorted(f"{r.said}\t{r.fact}" for r in rows)).encode()).hexdigest()[:12]
    version = f"{dt.datetime.now(dt.UTC):%Y-%m-%d}/{learned} rows/{digest}"
    data = {"version": version, "traits": TRAITS, "thresholds": THRESHOLDS, "nets": nets}
    make_weighing(data)
    options.out.write_text(json.dumps(data) + "\n", encoding="utf-8")
    print("wrote", options.out, options.out.stat().st_size, "bytes,", version)


if __name__ == "__main__":
    main()
