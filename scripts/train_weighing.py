"""Train the nets that weigh what speaks for and against a sentence ending a fact, print their figures, write
``weighing.json`` (`write.learned.weighing`).

    python scripts/train_weighing.py --data tests/cases [--no-write] [--no-folds]

Every story that is learned from is told to a memory, turn by turn; before what a turn may end is decided by the nets,
their numbers are written down for each known fact, with whether the story says that it is over then. Half of the
stories are told to one who has told of other matters before, so that the nets see facts that a sentence has nothing
to do with. The figures are six-fold by file. Needs torch; the nets that are shipped need numpy alone.
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import json
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch
from learning import calibrated, short, sigmoid
from nets import Descent
from news_data import _ending_turns, story_files
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from ltm_core.embed.resolve import resolve_embedder
from ltm_core.memory import LongTermMemory
from ltm_core.stories import _fits, load
from ltm_core.types import Fact, Message
from ltm_core.write.endings.traits import TRAITS
from ltm_core.write.endings.weighed import compared
from ltm_core.write.known.known import Known
from ltm_core.write.learned.gate import pack
from ltm_core.write.learned.weighing import MOST, make_weighing
from ltm_core.write.plan import Candidate, Decision
from ltm_core.write.resolve import resolve

KINDS = (
    "supersede", "accumulate", "cessation", "reversal", "correction", "aba", "temporary", "late", "third_party",
    "crossref", "status", "dedup", "numbers", "collateral",
)  # fmt: skip
"""Kinds of stories that say of a known fact whether a later turn ends it; requests to forget end nothing by news."""
INNER, NETS, EPOCHS, BATCH, RATE, DECAY = 24, 4, 30, 64, 0.003, 0.02
FOLDS = 6
THRESHOLDS = {"ends": 0.85, "too": 0.96}
"""Probability from which the likeliest fact is over, and from which another one is with it."""
OTHER_MATTERS = 4
"""Facts that are told before half of the stories."""
Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Row:
    """What speaks for and against a sentence ending a fact, with whether it does."""

    traits: Array
    label: int
    language: str
    source: str
    story: str
    said: str
    fact: str
    ended: bool
    """Whether the rules end it."""


class Recorder:
    """Stands in the place of the nets: writes down what they would see, and ends nothing."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, Fact, Array]] = []

    def __call__(self, c: Candidate, decisions: list[Decision], known: Any, **given: Any) -> list[Decision]:
        whole = {"vectors": given["vectors"], "judge": given["judge"], "lexicon": given["lexicon"]}
        session = given["labels"].session_id
        self.seen += [(c.text, r.fact, r.traits) for r in compared(c, decisions, known, **whole, session_id=session)]
        over = {f.id: f for f in map(_as_before, decisions) if f is not None}
        if over:
            # What the rules end teaches the nets too: as if they had found nothing.
            held = Known(sorted([*known.values(), *over.values()], key=lambda f: (f.recorded_at, f.id)))
            told = [replace(d, op="add", previous=None) for d in decisions if d.op in ("add", "supersede")]
            rows = compared(c, told, held, **whole, session_id=session)
            self.seen += [(c.text, r.fact, r.traits) for r in rows if r.fact.id in over]
        return decisions


def _as_before(d: Decision) -> Fact | None:
    """The fact that a decision ends, as it was."""
    row = {"supersede": d.previous, "close": d.fact, "retract": d.fact}.get(d.op)
    if row is None:
        return None
    return replace(row, valid_to=None, superseded_by=None, retracted_at=None, is_current=True)


def rows_of(path: Path, others: dict[str, list[str]]) -> list[Row]:
    """The rows of all stories of a file."""
    recorder = Recorder()
    with mock.patch.object(resolve, "weigh", recorder):
        return [
            r for story in load(path) if story["kind"] in KINDS for r in _rows(story, path.stem, recorder, others)
        ]


def _rows(story: dict[str, Any], source: str, recorder: Recorder, others: dict[str, list[str]]) -> Iterator[Row]:
    embedder = resolve_embedder(None)
    language = story["lang"][:2]
    if language not in ("en", "zh"):
        return
    turns = story["turns"]
    clock = [dt.datetime.fromisoformat(turns[0]["at"]) - dt.timedelta(days=30)]
    with (
        tempfile.TemporaryDirectory() as folder,
        LongTermMemory.open(folder, clock=lambda: clock[0], embedder=embedder, timezone="UTC") as memory,
    ):

        def tell(text: str, role: str, session: str) -> None:
            message = Message(role=role, content=text, at=clock[0])
            memory.observe(user_id="u", session_id=session, messages=[message])

        seed = zlib.crc32(story["id"].encode())
        if seed % 2:
            pool = others[language]
            for k in range(OTHER_MATTERS):
                tell(pool[(seed // 7 + k * 7919) % len(pool)], "user", "before")
        first_told: dict[str, int] = {f.id: -1 for f in memory.facts(user_id="u")}
        for n, turn in enumerate(turns):
            clock[0] = max(clock[0], dt.datetime.fromisoformat(turn["at"]))
            recorder.seen.clear()
            tell(turn["text"], turn["role"], turn.get("session", "s1"))
            now = {f.id for f in memory.facts(user_id="u")}
            for id_, best in _nearest(recorder.seen).items():
                said, fact, traits = best
                label = _label(story, fact, first_told.get(id_), n)
                if label is not None:
                    yield Row(traits, label, language, source, story["id"], said, fact.text, id_ not in now)
            for id_ in now:
                first_told.setdefault(id_, n)


def _nearest(seen: Sequence[tuple[str, Fact, Array]]) -> dict[str, tuple[str, Fact, Array]]:
    """For every fact the sentence of the turn that is likeliest to end it."""
    best: dict[str, tuple[str, Fact, Array]] = {}
    for row in seen:
        known = best.get(row[1].id)
        if known is None or known[2][0] < row[2][0]:
            best[row[1].id] = row
    return best


def _label(story: dict[str, Any], fact: Fact, told: int | None, n: int) -> int | None:
    """Whether turn ``n`` ends the fact; None when the story does not say."""
    if told is None:
        return None
    if told < 0:
        return 0
    gone = [d for d in story.get("not_current", ()) if d.get("turn") == told and _fits(fact, d)]
    wanted = any(_fits(fact, w) for w in story.get("current", ()))
    if gone and not wanted:
        ends = _ending_turns(story, told)
        return int(n == ends[0]) if len(ends) == 1 and n <= ends[0] else None
    if wanted and not gone:
        # In between, what comes back at the end was over.
        return None if story["kind"] == "aba" and n < len(story["turns"]) - 1 else 0
    return None


def collect(data: Path) -> list[Row]:
    """The rows of all stories that are learned from."""
    paths = story_files(data)
    others: dict[str, list[str]] = {"en": [], "zh": []}
    for path in paths:
        for story in load(path):
            told = next((t["text"] for t in story["turns"] if t["role"] == "user"), "")
            if story["kind"] in ("state", "supersede", "collateral") and story["lang"] in others and len(told) < 120:
                others[story["lang"]].append(told)
    with ProcessPoolExecutor(2) as pool:
        return [r for rows in pool.map(rows_of, paths, [others] * len(paths)) for r in rows]


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
    parser.add_argument("--out", type=Path, default=Path("core/ltm_core/lexicon/write/weighing.json"))
    parser.add_argument("--no-write", action="store_true")
    parser.add_argument("--no-folds", dest="folds", action="store_false", help="train what is shipped only")
    options = parser.parse_args()
    rows = collect(options.data)
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
