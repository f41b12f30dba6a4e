"""How much of what answers a question is found: LoCoMo, BEAM, MADial-Bench and LongMemEval, without any language
model.

    python benchmarks/recall.py --data FOLDER [--only locomo,beam,madial,longmemeval] [--embedder default|none|SPEC]

FOLDER holds ``locomo/*.json``, ``beam100k/<chat>/``, ``madial/`` and, for those who have it, ``longmemeval/*.json``
(``longmemeval_s.json`` as published); they are read, never copied. Results are
distinct source messages in the order of the search, cut at k.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.corpora import Asked, Conversation, beam, locomo, longmemeval, madial
from benchmarks.encoders import Kept, encoder
from benchmarks.metrics import interval, mean, pooled, recall_at
from ltm_core import LongTermMemory
from ltm_core.text.bm25 import bm25
from ltm_core.text.terms import terms
from ltm_core.types import Message

USER = "user"
READABLE = 0.5
"""Share of a message's terms in the context from which it can be read there."""
EXCERPT = 60
"""Terms of a long message that an excerpt can hold."""
DEPTH = 60
"""Messages ranked per question: enough for the first five sessions."""


@dataclass(slots=True)
class Remembered:
    """A conversation in a memory of its own."""

    memory: LongTermMemory
    conversation: Conversation

    def search(self, asked: Asked) -> list[tuple[str, str]]:
        """(message id, session) as `LongTermMemory.search` ranks them; a fact stands for the turns it rests on."""
        sessions = {t.id: t.session for t in self.conversation.turns}
        hits = self.memory.search(
            asked.text, user_id=USER, top_k=DEPTH, at=self.conversation.now, tiers=("semantic", "episodic")
        )
        ids = dict.fromkeys(i for h in hits for i in h.source_message_ids)
        return [(i, sessions[i]) for i in ids if i in sessions]


def remembered(conversation: Conversation, embed: Kept | None, folder: Path | None) -> Remembered:
    """The conversation told session by session; an earlier run's store in ``folder`` is used again."""
    place = ":memory:" if folder is None else folder / conversation.id
    known = isinstance(place, Path) and place.exists()
    memory = LongTermMemory.open(place, embedder=embed or "none", timezone="UTC")
    if not known:
        by_session: dict[str, list[Message]] = {}
        for t in conversation.turns:
            by_session.setdefault(t.session, []).append(
                Message(role=t.role, content=t.text, at=t.at, id=t.id, name=t.name)
            )
        # In a talk of two named people the first one is the user, as in a group chat.
        me = next((t.name for t in conversation.turns if t.name), None)
        for session, messages in by_session.items():
            memory.observe(user_id=USER, session_id=session, messages=messages, me=me)
    return Remembered(memory, conversation)


@dataclass(slots=True)
class Table:
    """Values per figure, category and conversation."""

    name: str
    values: dict[str, dict[str, dict[str, list[float]]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    )

    def add(self, figure: str, category: str, conversation: str, value: float) -> None:
        self.values[figure][category][conversation].append(value)

    def all_of(self, figure: str, without: frozenset[str] = frozenset()) -> dict[str, list[float]]:
        out: dict[str, list[float]] = defaultdict(list)
        for category, per in self.values[figure].items():
            if category not in without:
                for conversation, values in per.items():
                    out[conversation] += values
        return out

    def lines(self) -> Iterator[str]:
        yield f"## {self.name}"
        for figure in self.values:
            whole = self.all_of(figure)
            low, high = interval(whole)
            count = sum(len(v) for v in whole.values())
            yield f"{figure:<28} {100 * pooled(whole):6.1f}   [{100 * low:.1f}, {100 * high:.1f}]  n={count}"
            if len(self.values[figure]) > 1:
                for category, part in sorted(self.values[figure].items()):
                    low, high = interval(part)
                    count = sum(len(v) for v in part.values())
                    name = f"    {category}"
                    yield f"{name:<28} {100 * pooled(part):6.1f}   [{100 * low:.1f}, {100 * high:.1f}]  n={count}"
            each = "  ".join(f"{c} {100 * mean(v):.1f}" for c, v in whole.items())
            yield f"    per conversation: {each}"


def readable(one: Remembered, asked: Asked, texts: Mapping[str, str]) -> float:
    """Share of the gold messages of which a context of 1000 tokens shows the words: at least half of them, in the
    rendered text, wherever they come from."""
    shown = Counter(
        terms(one.memory.context(asked.text, user_id=USER, max_tokens=1000, at=one.conversation.now).text)
    )
    return mean([float(held_share(texts[g], shown) >= READABLE) for g in asked.gold])


def held_share(text: str, shown: Counter[str]) -> float:
    """Share of the terms of ``text`` that are among ``shown``; of a long text only as many as an excerpt holds."""
    own = Counter(terms(text))
    if not own:
        return 1.0
    most = min(sum(own.values()), EXCERPT)
    return min(1.0, sum((own & shown).values()) / most)


def measure_locomo(told: Iterable[Remembered]) -> Table:
    table = Table("LoCoMo: share of gold messages, questions of categories 1-5")
    for one in told:
        conversation = one.conversation
        where = {t.id: t.session for t in conversation.turns}
        texts = {t.id: t.text for t in conversation.turns}
        for asked in conversation.questions:
            found = one.search(asked)
            ids = [i for i, _ in found]
            for k in (1, 5, 10, 20):
                table.add(f"R@{k}", asked.category, conversation.id, recall_at(ids, asked.gold, k))
            table.add("gold readable in 1000", asked.category, conversation.id, readable(one, asked, texts))
            sessions = list(dict.fromkeys(s for _, s in found))[:5]
            gold = {where[g] for g in asked.gold}
            table.add("session any@5", asked.category, conversation.id, float(bool(gold & set(sessions))))
    return table


LISTS = frozenset({"summarization", "event_ordering"})


def measure_beam(told: Iterable[Remembered], embed: Kept | None) -> Table:
    table = Table("BEAM-100K (without summarization and event_ordering)")
    for one in told:
        conversation = one.conversation
        plain = Baseline(conversation, embed)
        texts = {t.id: t.text for t in conversation.turns}
        for asked in conversation.questions:
            if asked.category in LISTS:
                continue
            ids = [i for i, _ in one.search(asked)]
            current = asked.gold - asked.original or asked.gold
            table.add("R@10", asked.category, conversation.id, recall_at(ids, current, 10))
            table.add("gold readable in 1000", asked.category, conversation.id, readable(one, asked, texts))
            table.add("R@10, raw gold", asked.category, conversation.id, recall_at(ids, asked.gold, 10))
            table.add("baseline R@10", asked.category, conversation.id, recall_at(plain(asked.text), current, 10))
            if asked.original and asked.gold - asked.original:
                places = {i: n for n, i in enumerate(ids)}
                new = min(places.get(i, 10**6) for i in asked.gold - asked.original)
                old = min(places.get(i, 10**6 + 1) for i in asked.original)
                table.add("updated above original", asked.category, conversation.id, float(new < old))
                table.add("updated in 10", asked.category, conversation.id, float(new < 10))
                table.add(
                    "original unlabelled in 1000",
                    asked.category,
                    conversation.id,
                    float(stale(one, asked)),
                )
    return table


def stale(one: Remembered, asked: Asked) -> bool:
    """Whether a context of 1000 tokens shows an overtaken statement without a label, as if it held."""
    context = one.memory.context(asked.text, user_id=USER, max_tokens=1000, at=one.conversation.now)
    return any(not i.label and asked.original & set(i.source_message_ids) for i in context.items)


class Baseline:
    """BM25 and cosine, min-max scaled and added, over the whole turns of the user."""

    def __init__(self, conversation: Conversation, embed: Kept | None) -> None:
        said = [t for t in conversation.turns if t.role == "user"]
        self.ids = [t.id for t in said]
        counted = [Counter(terms(t.text)) for t in said]
        self.lengths = np.array([sum(c.values()) for c in counted], dtype=np.float32)
        self.index: dict[str, tuple[list[int], list[int]]] = {}
        for i, c in enumerate(counted):
            for term, n in c.items():
                where, counts = self.index.setdefault(term, ([], []))
                where.append(i)
                counts.append(n)
        self.embed = embed
        self.vectors = embed.embed_documents([t.text[:2000] for t in said]) if embed else None

    def __call__(self, question: str) -> list[str]:
        postings = [
            (np.array(where), np.array(counts))
            for where, counts in (self.index.get(t, ([], [])) for t in terms(question, query=True))
            if where
        ]
        score = bm25(
            postings,
            lengths=self.lengths,
            doc_count=len(self.ids),
            average_length=float(self.lengths.mean()),
        )
        score = score / max(float(score.max()), 1e-9)
        if self.embed is not None and self.vectors is not None:
            cosine = self.vectors @ self.embed.embed_query(question)
            score = score + (cosine - cosine.min()) / max(float(np.ptp(cosine)), 1e-9)
        return [self.ids[i] for i in np.argsort(-score, kind="stable")]


def measure_madial(told: Iterable[Remembered], language: str) -> Table:
    table = Table(f"MADial-Bench {language}: the dialogue so far is the question")
    for one in told:
        conversation = one.conversation
        texts = {t.id: t.text for t in conversation.turns}
        for asked in conversation.questions:
            ids = [i for i, _ in one.search(asked)]
            table.add("gold readable in 1000", asked.category, conversation.id, readable(one, asked, texts))
            for k in (1, 5, 10):
                table.add(f"R@{k}", asked.category, conversation.id, recall_at(ids, asked.gold, k))
    return table


def measure_longmemeval(told: Iterable[Remembered]) -> Table:
    """Sessions, as everybody reports it: whether any gold session is among the first k."""
    table = Table("LongMemEval: any gold session among the first k, abstention left out")
    for one in told:
        conversation = one.conversation
        for asked in conversation.questions:
            sessions = list(dict.fromkeys(s for _, s in one.search(asked)))
            for k in (1, 5, 10):
                table.add(f"any@{k}", asked.category, conversation.id, float(bool(asked.gold & set(sessions[:k]))))
    return table


def run(data: Path, only: set[str], embed: Kept | None, stores: Path | None) -> Iterator[Table]:
    def told(name: str, conversations: Iterable[Conversation]) -> Iterator[Remembered]:
        for conversation in conversations:
            one = remembered(conversation, embed, stores / name if stores else None)
            yield one
            one.memory.close()

    if "locomo" in only:
        files = sorted((data / "locomo").glob("*.json"))
        yield measure_locomo(told("locomo", (c for f in files for c in locomo(f))))
    if "beam" in only:
        yield measure_beam(told("beam", beam(data / "beam100k")), embed)
    if "longmemeval" in only:
        for file in sorted((data / "longmemeval").glob("*.json")):
            yield measure_longmemeval(told(f"longmemeval-{file.stem}", longmemeval(file)))
    if "madial" in only:
        owners = data / "madial" / "MADial-Bench-zh-memory.json"
        for language in ("zh", "en"):
            memory = data / "madial" / f"MADial-Bench-{language}-memory.json"
            for dialogue in sorted((data / "madial").glob(f"{language}-dialogue*.jsonl")):
                conversations = madial(memory, dialogue, owners=owners)
                yield measure_madial(told(f"madial-{language}", conversations), language)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--only", default="locomo,beam,madial")
    parser.add_argument("--embedder", default="default", help="default, none, or any embedder specification")
    parser.add_argument("--cache", type=Path, help="folder that keeps vectors between runs")
    parser.add_argument("--stores", type=Path, help="folder that keeps the told conversations between runs")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    chosen = parser.parse_args()
    embed = encoder(chosen.embedder, chosen.cache)
    start = time.perf_counter()
    figures: dict[str, dict[str, float]] = {}
    print(f"embedder: {embed.name if embed else 'none'}")
    for table in run(chosen.data, set(chosen.only.split(",")), embed, chosen.stores):
        print("\n".join(table.lines()), flush=True)
        figures[table.name] = {f: pooled(table.all_of(f)) for f in table.values}
        if embed is not None:
            embed.save()
    print(f"{time.perf_counter() - start:.0f} s")
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
