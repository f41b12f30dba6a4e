"""Train the models that find what a message asks of the memory or the assistant, write their weights
(`write.anchors.acts`).

    python scripts/train_acts.py acts|naming --data tests/cases [--held-out] [--no-write]

``acts`` reads ``acts_*.tsv`` (a label and a message: F to forget, S to be silent, M to remember, X a reference to an
earlier conversation, O none of these; braces round what is meant), the turns of the stories by what their kind asks,
and the labelled messages. ``naming`` reads ``names_*.tsv`` (U how the user is called, A how the assistant is, P how
it is to speak, O none of these) and, as messages that say nothing of the kind, those in which the rules find none.
``--held-out`` trains without every second written line and prints its figures there.
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from gate_data import FOLDS
from learning import Grams, calibrated, fit, sigmoid
from news_data import Embedded, story_files
from news_heads import Trained
from numpy.typing import NDArray

from ltm_core.lexicon import default_lexicon
from ltm_core.write.analyse import analyse
from ltm_core.write.anchors.acts import (
    MARK_BUCKETS,
    MARKS,
    MemoryAct,
    make_acts,
    mark_features,
    passage_vector,
    tokens_of,
)
from ltm_core.write.anchors.naming import RULE, is_naming
from ltm_core.write.known.news import Sentence, cue_array, features
from ltm_core.write.learned.gate import BUCKETS, pack
from ltm_core.write.plan import Utterance
from ltm_core.write.read.clauses import split
from ltm_core.write.read.scopes import read


@dataclass(frozen=True, slots=True)
class Task:
    """What is learned: from which written lines, and from which probabilities it holds."""

    lines: str
    out: str
    labels: Mapping[str, str]
    """The act of a label, in the order of the heads."""
    thresholds: Mapping[str, float]
    """Probabilities from which a message asks for it; "_plain" by the words alone; "unlikely" is the probability by
    the words alone below which nothing more is asked: hardly any request is lost."""


_KINDS: dict[str, MemoryAct] = {"explicit_request": "remember", "cross_session_reference": "refer"}
_ASKS: dict[str, MemoryAct] = {"forget": "erase", "suppress": "suppress"}
_AT = dt.datetime(2025, 1, 1, tzinfo=dt.UTC)
_RULED = 0.5
"""Threshold of the gate when the rules are asked whether they read a name."""
WRITTEN = 5.0
"""Weight of the lines written for this purpose beside the turns of stories and other messages."""
NETS = 0
"""Nets of the half that sees vectors: with one it finds no more of what was held out."""
MARK_L2 = 0.1
TASKS = {
    "acts": Task(
        "acts_*.tsv",
        "acts.json",
        {"F": "erase", "S": "suppress", "M": "remember", "X": "refer"},
        {"erase": 0.7, "suppress": 0.6, "remember": 0.5, "refer": 0.55}
        | {"erase_plain": 0.85, "suppress_plain": 0.75, "remember_plain": 0.75, "refer_plain": 0.75}
        | {"unlikely": 0.01},
    ),
    "naming": Task(
        "names_*.tsv",
        "naming.json",
        {"U": "call_user", "A": "call_assistant", "P": "manner"},
        {"call_user": 0.6, "call_assistant": 0.6, "manner": 0.65}
        | {"call_user_plain": 0.8, "call_assistant_plain": 0.8, "manner_plain": 0.8}
        | {"unlikely": 0.01},
    ),
}


@dataclass(frozen=True, slots=True)
class Row:
    """A message, what it asks, and the weight it has."""

    act: str | None
    text: str
    weight: float
    fold: int
    begin: int = 0
    end: int = 0
    """Where what is meant stands, if that is told."""


def written(data: Path, task: Task) -> list[Row]:
    """The lines written for the purpose in their order."""
    rows = []
    for path in sorted(data.glob(task.lines)):
        for line in path.read_text(encoding="utf-8").splitlines():
            label, said = line.split("\t")
            act, text = task.labels.get(label), said.replace("{", "").replace("}", "")
            fold = zlib.crc32(text.encode()) % FOLDS
            begin, end = (said.index("{"), said.index("}") - 1) if "{" in said else (0, 0)
            rows.append(Row(act, text, WRITTEN, fold, begin, end))
    return rows


def told(data: Path) -> Iterator[Row]:
    """The turns of stories and every second one of the other messages."""
    yield from story_turns(data)
    yield from other_messages(data)


def story_turns(data: Path, *, without: str = "") -> Iterator[Row]:
    """The turns of stories that ask what their kind tells; ``without`` those of a kind."""
    for path in story_files(data):
        for line in path.read_text(encoding="utf-8").splitlines():
            story = json.loads(line)
            if story["kind"] == without:
                continue
            mine = [i for i, t in enumerate(story["turns"]) if t["role"] == "user"]
            fold = zlib.crc32(story["id"].encode()) % FOLDS
            for i in mine:
                anchors = [a["kind"] for a in story.get("anchors", ()) if a["turn"] == i]
                act = next((_KINDS[k] for k in anchors if k in _KINDS), None)
                if story["kind"] in _ASKS:
                    if i != mine[-1]:
                        continue
                    act = _ASKS[story["kind"]]
                yield Row(act, story["turns"][i]["text"], 1.0, fold)


def other_messages(data: Path) -> Iterator[Row]:
    """The labelled messages that ask to remember, and every second one of the others."""
    for path in [*sorted(data.glob("messages*.jsonl")), *sorted(data.glob("natural_*.jsonl"))]:
        for line in path.read_text(encoding="utf-8").splitlines():
            r = json.loads(line)
            if r.get("held_out") or r.get("split") == "held" or "held_out" in path.name:
                continue
            marks = {m for s in r.get("segments", ()) for m in s.get("markers") or ()} | set(r.get("labels", ()))
            key = zlib.crc32(r["text"].encode())
            if "explicit_remember" in marks:
                yield Row("remember", r["text"], 1.0, key % FOLDS)
            elif key % 2 == 0:
                yield Row(None, r["text"], 1.0, key % FOLDS)


def told_otherwise(data: Path) -> Iterator[Row]:
    """The turns of stories and the other messages in which the rules read nothing of names or manners."""
    lexicon, seen = default_lexicon(), set()
    for row in (*story_turns(data, without="naming"), *other_messages(data)):
        if row.act == "remember" or row.text in seen:
            continue
        seen.add(row.text)
        said = Utterance(message_id="m", role="user", content=row.text, at=_AT)
        analysis = analyse(said, lexicon=lexicon, fact_threshold=_RULED)
        if not any(is_naming(c) and c.rule != RULE for c in analysis.candidates):
            yield replace(row, act=None)


def sentences(rows: Sequence[Row], embed: Embedded) -> list[Sentence]:
    """What the models see of the messages."""
    lexicon = default_lexicon()
    reads = [read(split(r.text, lexicon), lexicon) for r in rows]
    embed([c.clause.text for clauses in reads for c in clauses])
    return [
        Sentence(
            text=r.text,
            norm=" ".join(c.clause.norm.strip() for c in clauses),
            language=clauses[0].clause.language,
            cues=cue_array((c.flags for c in clauses), ()),
            vector=passage_vector(list(embed([c.clause.text for c in clauses]))),
        )
        for r, clauses in zip(rows, reads, strict=True)
    ]


@dataclass(slots=True)
class Inputs:
    """The messages as arrays."""

    grams: Grams
    cues: NDArray[Any]
    vectors: NDArray[Any]

    @classmethod
    def of(cls, seen: Sequence[Sentence]) -> Inputs:
        function = default_lexicon().gate.function
        return cls(
            Grams.of([features(s, function) for s in seen], BUCKETS),
            np.stack([s.cues for s in seen]),
            np.stack([s.vector for s in seen if s.vector is not None]),
        )

    def take(self, which: NDArray[Any]) -> Inputs:
        return Inputs(self.grams.take(which), self.cues[which], self.vectors[which])

    def fit(self, y: NDArray[Any], weight: NDArray[Any]) -> Trained:
        return Trained.of(y, self.grams, self.cues, self.vectors, weight=weight, nets=NETS)

    def logits(self, model: Trained) -> tuple[NDArray[Any], NDArray[Any]]:
        return model.logits(self.grams, self.cues, self.vectors)


def mark_rows(rows: Sequence[Row]) -> tuple[Grams, list[NDArray[Any]]]:
    """The words of the messages in which what is meant is marked, and for each of `MARKS` whether it is that."""
    hashed: list[tuple[int, ...]] = []
    labels: list[tuple[bool, bool, bool]] = []
    for r in rows:
        tokens = tokens_of(r.text) if r.act is not None and r.end else []
        said = [m.group().lower() for m in tokens]
        inside = [r.begin <= m.start() and m.end() <= r.end for m in tokens]
        for i, within in enumerate(inside):
            hashed.append(mark_features(said, i, str(r.act)))
            begins = within and (i == 0 or not inside[i - 1])
            labels.append((begins, within and (i + 1 == len(inside) or not inside[i + 1]), within))
    found = np.array(labels, dtype=np.float64)
    return Grams.of(hashed, MARK_BUCKETS), [found[:, k] for k in range(len(MARKS))]


def fit_marks(rows: Sequence[Row]) -> NDArray[Any]:
    """Weights of the marks, a row each, the bias last."""
    grams, labels = mark_rows(rows)
    nothing = np.zeros((len(labels[0]), 1), np.float32)
    fitted = [fit(nothing, y, l2=MARK_L2, grams=grams, steps=200, weight=np.ones(len(y))) for y in labels]
    return np.stack([np.append(w[:MARK_BUCKETS], w[-1]) for w in fitted])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("core/ltm_core/lexicon/write"))
    parser.add_argument(
        "--held-out", action="store_true", help="train without every second line, print figures there"
    )
    parser.add_argument("--no-write", action="store_true")
    args = parser.parse_args()
    task = TASKS[args.task]
    acts = tuple(task.labels.values())
    embed = Embedded()
    lexicon = default_lexicon()
    lines = [r for r in written(args.data, task) if split(r.text, lexicon)]
    apart = lines[1::2] if args.held_out else []
    lines = lines[::2] if args.held_out else lines
    rows = [
        *lines,
        *(r for r in (told if args.task == "acts" else told_otherwise)(args.data) if split(r.text, lexicon)),
    ]
    inputs = Inputs.of(sentences(rows, embed))
    weight, folds = np.array([r.weight for r in rows]), np.array([r.fold for r in rows])
    heads: dict[str, Any] = {}
    unseen: list[NDArray[Any]] = []
    for act in acts:
        y = np.array([float(r.act == act) for r in rows])
        za, zb = np.zeros(len(y)), np.zeros(len(y))
        for k in range(FOLDS):
            inside, outside = np.where(folds != k)[0], np.where(folds == k)[0]
            t = inputs.take(inside).fit(y[inside], weight[inside])
            za[outside], zb[outside] = inputs.take(outside).logits(t)
        calibration = {"mean": calibrated((za + zb) / 2, y), "grams": calibrated(za, y)}
        slope, shift = calibration["mean"]
        unseen.append(sigmoid(slope * (za + zb) / 2 + shift))
        heads[act] = inputs.fit(y, weight).data(inputs.vectors.shape[1], calibration)
    figures("five-fold", acts, rows, np.stack(unseen, axis=1))
    marks = fit_marks(lines)
    digest = hashlib.sha256("".join(r.text for r in rows).encode()).hexdigest()[:12]
    data = {
        "version": f"{dt.datetime.now(dt.UTC):%Y-%m-%d}/{len(lines)} lines, {len(rows)} messages/{digest}",
        "heads": heads,
        "marks": pack(marks[:, :-1].reshape(-1)),
        "mark_bias": [round(float(b), 4) for b in marks[:, -1]],
        "thresholds": dict(task.thresholds),
    }
    model = make_acts(data, acts, lexicon.gate.function)
    if apart:
        seen = sentences(apart, embed)
        grams = [features(s, model.function) for s in seen]
        figures(
            "held out",
            acts,
            apart,
            np.array(
                [
                    [sigmoid(model.heads[a].logit(g, s.cues, s.vector)) for a in acts]
                    for s, g in zip(seen, grams, strict=True)
                ]
            ),
        )
        shares = [share(model.meant(r.text, r.act), r) for r in apart if r.act is not None and r.end]
        print(
            f"what is meant: {np.mean(shares, axis=0).round(2)} of the words found are right, of the right ones found"
        )
    if not args.no_write:
        out = args.out / task.out
        out.write_text(json.dumps(data) + "\n", encoding="utf-8")
        print("wrote", out, out.stat().st_size, "bytes,", data["version"])


def share(found: tuple[int, int], row: Row) -> tuple[float, float]:
    """Precision and recall of a stretch, in characters."""
    both = max(0, min(found[1], row.end) - max(found[0], row.begin))
    return both / max(1, found[1] - found[0]), both / max(1, row.end - row.begin)


def figures(title: str, acts: Sequence[str], rows: Sequence[Row], p: NDArray[Any]) -> None:
    """Prints how many of the messages taken for an act ask for it, and how many of those that do are found."""
    best = p.argmax(axis=1)
    for t in (0.3, 0.5, 0.7, 0.9):
        told_ = []
        for i, act in enumerate(acts):
            y = np.array([r.act == act for r in rows])
            hit = (best == i) & (p[:, i] >= t)
            told_.append(
                f"{act} P {(hit & y).sum() / max(1, hit.sum()):.2f} R {(hit & y).sum() / max(1, y.sum()):.2f}"
            )
        print(f"{title} at {t}: {', '.join(told_)}")


if __name__ == "__main__":
    main()
