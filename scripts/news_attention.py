"""Training of the net that reads a sentence and a fact word by word (`write.learned.attending`), with torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from nets import Descent, packed_layers, with_neighbours
from news_pair import Examples
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from ltm_core.embed.use import pieces
from ltm_core.write.known.news import PAIRED
from ltm_core.write.learned.attending import LAYERS, MOST_PIECES, SAME
from ltm_core.write.learned.layers import REACH

WIDTH, WHOLE, INNER = 64, 48, 64
"""Numbers of a piece, of a whole text, and inside the net. With 96 and the encoder's inner layers instead of its
table the area under the curve of pairs by hands not learned from was the same."""
EPOCHS = 6
BATCH = 128
RATE = 0.002
DECAY = 0.02
SCALE = 1.0
"""Of the vectors of pieces, most of whose numbers are below 2."""
WHOLE_SCALE = 8.0
"""Of the unit-length vectors of whole texts."""
TOGETHER = 40
"""Batches whose examples are sorted by length, so that little of a batch is blank."""
Array = NDArray[Any]


class Texts:
    """The pieces of all texts, one after the other, with a blank one at the end."""

    def __init__(self, texts: Sequence[str], whole: Array) -> None:
        read = [pieces(t) for t in texts]
        every = np.concatenate([ids[:MOST_PIECES] for ids, _ in read])
        self.sizes = np.array([min(len(ids), MOST_PIECES) for ids, _ in read])
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        known, self.ids = np.unique(every, return_inverse=True)
        vector_of = {int(i): v for ids, vectors in read for i, v in zip(ids, vectors, strict=True)}
        table = np.stack([*(vector_of[int(i)] for i in known), np.zeros_like(read[0][1][0])])
        self.table = torch.from_numpy((table * SCALE).astype(np.float32))
        self.whole = torch.from_numpy((whole * WHOLE_SCALE).astype(np.float32))

    def take(self, which: Array) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Vectors of the pieces, which of them there are, their numbers, and vectors of the whole texts."""
        size = self.sizes[which]
        there = np.arange(size.max())[None] < size[:, None]
        at = np.where(there, self.starts[which][:, None] + np.arange(size.max())[None], 0)
        ids = np.where(there, self.ids[at], len(self.table) - 1)
        return (
            self.table[torch.from_numpy(ids)],
            torch.from_numpy(there.astype(np.float32)),
            torch.from_numpy(np.where(there, ids, -1)),
            self.whole[torch.from_numpy(which)],
        )


class Net(nn.Module):
    """`Attending` while it learns; its layers have the same names."""

    def __init__(self, vector: int) -> None:
        super().__init__()
        width = {
            "vector": vector, "width": WIDTH, "whole": WHOLE, "inner": INNER, "one": 1, "window": REACH * WIDTH,
            "compared": 4 * WIDTH + 1, "everything": 4 * WIDTH + 3 * WHOLE + len(PAIRED),
        }  # fmt: skip
        self.layers = nn.ModuleDict({name: nn.Linear(width[a], width[b]) for name, (a, b) in LAYERS.items()})
        self.inside, self.whole = nn.Dropout(0.3), nn.Dropout(0.2)

    def read(self, vectors: Tensor, there: Tensor, by: str) -> Tensor:
        x = torch.tanh(self.layers[by](self.whole(vectors))) * there[..., None]
        return with_neighbours(x, self.layers, there)

    def forward(self, one: Sequence[Tensor], two: Sequence[Tensor], seen: Tensor) -> Tensor:
        layer, drop = self.layers, self.inside
        p, q = self.read(one[0], one[1], "sentence"), self.read(two[0], two[1], "fact")
        same = ((one[2][:, :, None] == two[2][:, None, :]) & (one[2][:, :, None] >= 0)).float()
        weights = layer["asks"](p) @ layer["answers"](q).transpose(1, 2) / WIDTH**0.5 + SAME * same
        weights = weights.masked_fill(one[1][:, :, None] * two[1][:, None, :] == 0, -1e4)
        u = self.compared(p, torch.softmax(weights, 2) @ q, same.amax(2), "found") * one[1][..., None]
        v = self.compared(q, torch.softmax(weights, 1).transpose(1, 2) @ p, same.amax(1), "met") * two[1][..., None]
        a = torch.tanh(layer["whole_sentence"](self.whole(one[3])))
        b = torch.tanh(layer["whole_fact"](self.whole(two[3])))
        parts = [u.sum(1) / one[1].sum(1, keepdim=True).sqrt(), u.amax(1)]
        parts += [v.sum(1) / two[1].sum(1, keepdim=True).sqrt(), v.amax(1), a, b, a * b, seen]
        inner = torch.relu(layer["hidden"](drop(torch.cat(parts, dim=-1))))
        out: Tensor = layer["out"](drop(inner))[:, 0]
        return out

    def compared(self, own: Tensor, found: Tensor, same: Tensor, by: str) -> Tensor:
        x = torch.cat([own, found, own * found, (own - found).abs(), same[..., None]], dim=-1)
        out: Tensor = torch.relu(self.layers[by](self.inside(x)))
        return out


def fit_attending(of: Examples, which: Array, *, seed: int, epochs: int = EPOCHS) -> dict[str, Any]:
    """The weights as they are shipped, learned from the examples ``which``."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    texts = list(dict.fromkeys([*of.said, *of.told]))
    place = {t: i for i, t in enumerate(texts)}
    s, f = (np.array([place[t] for t in some]) for some in (of.said, of.told))
    whole = np.zeros((len(texts), of.sentences.shape[1]), np.float32)
    whole[s], whole[f] = of.sentences, of.facts
    read = Texts(texts, whole)
    seen, y, w = (torch.tensor(v, dtype=torch.float32) for v in (of.seen, of.y, of.weights))
    net = Net(read.table.shape[1])
    down = Descent(net, rate=RATE, decay=DECAY, steps=epochs * -(-len(which) // BATCH))
    lengths = read.sizes[s] + read.sizes[f]
    for epoch in range(epochs):
        lost = []
        for b in _batches(rng.permutation(which), lengths, rng):
            z = net(read.take(s[b]), read.take(f[b]), seen[b])
            loss = (functional.binary_cross_entropy_with_logits(z, y[b], reduction="none") * w[b]).mean()
            lost.append(down.step(loss))
        print(f"attention {seed}: epoch {epoch + 1} loss {np.mean(lost):.3f}", flush=True)
    return {"scale": SCALE, "whole_scale": WHOLE_SCALE, "layers": packed_layers(net.layers)}


def _batches(order: Array, lengths: Array, rng: np.random.Generator) -> list[Array]:
    made: list[Array] = []
    for at in range(0, len(order), BATCH * TOGETHER):
        some = order[at : at + BATCH * TOGETHER]
        some = some[np.argsort(lengths[some], kind="stable")]
        made += [some[i : i + BATCH] for i in range(0, len(some), BATCH)]
    return [made[i] for i in rng.permutation(len(made))]
