"""Train the net that reads whose life a text tells, print its figures, write ``whose.json`` (`write.learned.whose`).

    python scripts/train_whose.py --data tests/cases [--no-write] [--no-folds]

Reads ``whose_*.tsv`` (a class and a message: O another's life, Q what is only quoted, U the user's own; nearly every
O and Q has its twin among the U), ``passing_*.tsv`` (P what passes, U what lasts, all of it the user's own),
``messages_heard*.jsonl``, the turns of stories, and, as what people tell of themselves, other labelled messages and
``turns_*.tsv``. The figures are three-fold by author.
Needs torch; the net that is shipped needs numpy alone.
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import json
import random
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from nets import Descent, packed_layers, with_neighbours
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from ltm_core.embed.use import pieces
from ltm_core.write.learned.layers import REACH
from ltm_core.write.learned.whose import LAYERS, MOST_PIECES, OTHERS, OWN, QUOTED, places

CLASSES = {"U": OWN, "P": OWN, "O": OTHERS, "Q": QUOTED}
KINDS = {"third_party": OTHERS, "quotation": QUOTED}
WIDTH, WEIGHINGS, INNER = 64, 4, 64
"""Numbers of a piece, ways of choosing pieces, numbers inside. With a vector of the whole text beside them, by hands
left out .01 more of another's life was found at the same loss of the user's own, for which it is not worth its time.
"""
NETS = 2
"""Nets that are shipped, whose probabilities are averaged."""
EPOCHS, BATCH, RATE, DECAY = 8, 64, 0.002, 0.05
FOLDS = 3
OTHER_OWN = 12_000
"""Texts from other files; more of them did not change what was found."""
LONGEST = 600
"""Characters of a message that is learned from; of a longer one little is read."""
WEIGHTS = {"written": 1.0, "story": 0.7, "other": 0.5}
"""Of texts written for this, of turns of stories, of what was labelled for something else: among the last some tell
of others ("My friend Moira is on the waiting list")."""
Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Text:
    text: str
    label: int
    source: str
    language: str
    weight: float


def load(data: Path) -> list[Text]:
    """Every text with its class."""
    found = [*_written(data), *_heard(data), *_stories(data)]
    other = list({t.text: t for t in _told(data)}.values())
    random.Random(0).shuffle(other)
    return [*found, *other[:OTHER_OWN]]


def _written(data: Path) -> Iterator[Text]:
    for path in [*sorted(data.glob("whose_*.tsv")), *sorted(data.glob("passing_*.tsv"))]:
        for line in path.read_text(encoding="utf-8").splitlines():
            label, text = line.split("\t")
            yield Text(text, CLASSES[label], path.stem, path.stem[-2:], WEIGHTS["written"])


def _heard(data: Path) -> Iterator[Text]:
    for path in sorted(data.glob("messages_heard*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if not row.get("held_out"):
                yield Text(row["text"], KINDS.get(row["kind"], OWN), path.stem, row["lang"], WEIGHTS["written"])


def _stories(data: Path) -> Iterator[Text]:
    for path in sorted(data.glob("stories_*.jsonl")):
        rows = [json.loads(x) for x in path.read_text(encoding="utf-8").splitlines()] if _is_read(path) else []
        for row in rows:
            label = KINDS.get(row["kind"], OWN)
            told = row.get("no_anchor_turns", ()) if label else {a["turn"] for a in row.get("anchors", ())}
            for turn in (row["turns"][i] for i in told):
                if turn["role"] == "user" and len(turn["text"]) < LONGEST and row["lang"] in ("en", "zh"):
                    yield Text(turn["text"], label, path.stem, row["lang"], WEIGHTS["story"])


def _told(data: Path) -> Iterator[Text]:
    """What people tell of themselves and their own, labelled for something else."""
    for path in [*sorted(data.glob("messages*.jsonl")), *sorted(data.glob("natural*.jsonl"))]:
        if not _is_read(path) or "heard" in path.stem:
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            own = any(s.get("stated_fact") for s in row.get("segments", ()))
            if own and not row.get("held_out") and len(row["text"]) < LONGEST and row.get("lang") in ("en", "zh"):
                yield Text(row["text"], OWN, path.stem, row["lang"], WEIGHTS["other"])
    for path in sorted(data.glob("turns_*.tsv")):
        for line in path.read_text(encoding="utf-8").splitlines():
            _, _, fact, said = line.split("\t")
            for text in (fact, said.replace("{", "").replace("}", "")):
                yield Text(text, OWN, path.stem, path.stem[-2:], WEIGHTS["other"])


def _is_read(path: Path) -> bool:
    return "apart" not in path.stem and path.stem != "stories_test"


class Net(nn.Module):
    """`Whose` while it learns; its layers have the same names."""

    def __init__(self, vector: int) -> None:
        super().__init__()
        width = {
            "vector": vector + 2, "width": WIDTH, "window": REACH * WIDTH, "weighings": WEIGHINGS,
            "everything": (2 + WEIGHINGS) * WIDTH, "inner": INNER, "classes": len(set(CLASSES.values())),
        }  # fmt: skip
        self.layers = nn.ModuleDict({name: nn.Linear(width[a], width[b]) for name, (a, b) in LAYERS.items()})
        self.whole, self.inside = nn.Dropout(0.2), nn.Dropout(0.3)

    def forward(self, vectors: Tensor, there: Tensor) -> Tensor:
        layer, mask = self.layers, there[..., None]
        at = torch.from_numpy(places(vectors.shape[1]))[None].expand(len(vectors), -1, -1)
        x = torch.tanh(layer["piece"](torch.cat([self.whole(vectors), at], -1))) * mask
        x = with_neighbours(x, layer, there)
        weights = layer["weighs"](x).masked_fill(mask == 0, -1e4).softmax(1)
        chosen = torch.einsum("bnk,bnw->bkw", weights, x).flatten(1)
        parts = [x.sum(1) / there.sum(1, keepdim=True).sqrt(), x.masked_fill(mask == 0, -1e4).amax(1), chosen]
        out: Tensor = layer["out"](self.inside(torch.relu(layer["hidden"](self.inside(torch.cat(parts, -1))))))
        return out


Take = Callable[[Array], tuple[Tensor, Tensor]]


def taking(texts: list[Text]) -> tuple[Take, Array]:
    """The vectors of the pieces of some texts, with which of them there are; and how many pieces each text has."""
    read = [pieces(t.text)[1][:MOST_PIECES] for t in texts]

    def take(which: Array) -> tuple[Tensor, Tensor]:
        x = np.zeros((len(which), max(len(read[i]) for i in which), read[0].shape[1]), np.float32)
        there = np.zeros(x.shape[:2], np.float32)
        for row, i in enumerate(which):
            x[row, : len(read[i])] = read[i]
            there[row, : len(read[i])] = 1
        return torch.from_numpy(x), torch.from_numpy(there)

    return take, np.array([len(r) for r in read])


def fit(take: Take, sizes: Array, y: Array, weight: Array, which: Array, *, seed: int) -> Net:
    """The net learned from the texts ``which``."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    net = Net(take(which[:1])[0].shape[2])
    down = Descent(net, rate=RATE, decay=DECAY, steps=EPOCHS * (len(which) // BATCH + 1))
    for epoch in range(EPOCHS):
        order = rng.permutation(which)
        order = order[np.argsort(sizes[order] // 8, kind="stable")]
        batches = [order[i : i + BATCH] for i in range(0, len(order), BATCH)]
        lost = []
        for k in rng.permutation(len(batches)):
            b = batches[k]
            z = net(*take(b))
            loss = (functional.cross_entropy(z, torch.from_numpy(y[b]), reduction="none")
                    * torch.from_numpy(weight[b])).mean()  # fmt: skip
            lost.append(down.step(loss))
        print(f"seed {seed}: epoch {epoch + 1} loss {np.mean(lost):.3f}", flush=True)
    return net.eval()


def predict(net: Net, take: Take, which: Array) -> Array:
    with torch.no_grad():
        parts = [net(*take(which[i : i + 2 * BATCH])).softmax(-1).numpy() for i in range(0, len(which), 2 * BATCH)]
    return np.concatenate(parts)


def figures(texts: list[Text], p: Array) -> None:
    """How much of each class is taken for not the user's own, at several thresholds."""
    others = 1 - p[:, OWN]
    names = {OTHERS: "another's", QUOTED: "quoted", OWN: "own"}
    for source in ("whose", "messages_heard", "stories", ""):
        for label, name in names.items():
            for language in ("en", "zh"):
                of = [
                    i
                    for i, t in enumerate(texts)
                    if t.label == label and t.language == language
                    and (t.source.startswith(source) if source else t.weight == WEIGHTS["other"])
                ]  # fmt: skip
                if of:
                    at = "  ".join(f"{x}: {(others[of] >= x).mean():.3f}" for x in (0.5, 0.7, 0.8, 0.9))
                    print(f"{source or 'other files':<15} {name:<10} {language} {len(of):>5}  {at}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("core/ltm_core/lexicon/write/whose.json"))
    parser.add_argument("--no-write", action="store_true")
    parser.add_argument("--no-folds", dest="folds", action="store_false", help="train what is shipped only")
    options = parser.parse_args()
    texts = load(options.data)
    take, sizes = taking(texts)
    y = np.array([t.label for t in texts])
    weight = np.array([t.weight for t in texts], np.float32)
    folds = np.array([_fold(t.source) for t in texts])
    if options.folds:
        p = np.zeros((len(texts), len(set(CLASSES.values()))))
        for k in range(FOLDS):
            inside, outside = np.where(folds != k)[0], np.where(folds == k)[0]
            p[outside] = predict(fit(take, sizes, y, weight, inside, seed=k), take, outside)
        figures(texts, p)
    if options.no_write:
        return
    digest = hashlib.sha256("\n".join(sorted(t.text for t in texts)).encode()).hexdigest()[:12]
    version = f"{dt.datetime.now(dt.UTC):%Y-%m-%d}/{len(texts)} texts/{digest}"
    every = np.arange(len(texts))
    nets = [packed_layers(fit(take, sizes, y, weight, every, seed=FOLDS + k).layers) for k in range(NETS)]
    options.out.write_text(json.dumps({"version": version, "nets": nets}) + "\n", encoding="utf-8")
    print("wrote", options.out, options.out.stat().st_size, "bytes,", version)


def _fold(source: str) -> int:
    """By author: each hand of ``whose_*`` and ``passing_*`` is in one fold."""
    name = source.split("_")
    written = name[0] in ("whose", "passing")
    return (ord(name[1]) if written else zlib.crc32(source.encode())) % FOLDS


if __name__ == "__main__":
    main()
