"""How much of what answers a question is found: LoCoMo, BEAM and MADial-Bench, without any language model.

    python benchmarks/recall.py --data FOLDER [--only locomo,beam,madial] [--embedder default|none|SPEC]

FOLDER holds ``locomo/*.json``, ``beam100k/<chat>/`` and ``madial/``; they are read, never copied. Results are
distinct source messages in the order of the search, cut at k.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpora import Asked, Conversation, beam, locomo, madial
from benchmarks.encoders import Kept, encoder
from benchmarks.metrics import interval, mean, pooled, recall_at
from ltm_core.config import Config
from ltm_core.recall.service import RecallRequest, recall_context, recall_search
from ltm_core.testing.fake_reader import FakeReader
from ltm_core.types import Scope

DEPTH = 60
"""Messages ranked per question: enough for the first five sessions."""


def memory_of(conversation: Conversation, embed: Kept | None) -> FakeReader:
    """The conversation as it would be remembered turn by turn, without facts."""
    reader = FakeReader(user_id=conversation.id, embed=embed)
    for turn in conversation.turns:
        reader.say(
            turn.text, at=turn.at, session_id=turn.session, role=turn.role, name=turn.name, id=turn.id
        )
    return reader


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
                parts = "  ".join(f"{c} {100 * pooled(p):.1f}" for c, p in sorted(self.values[figure].items()))
                yield f"    {parts}"
            each = "  ".join(f"{c} {100 * mean(v):.1f}" for c, v in whole.items())
            yield f"    per conversation: {each}"


def question_vector(embed: Kept | None, text: str) -> NDArray[np.float32] | None:
    return None if embed is None else np.asarray(embed([text])[0])


def ranked(reader: FakeReader, conversation: Conversation, asked: Asked, embed: Kept | None) -> list[tuple[str, str]]:
    """(message id, session) in the order of the search."""
    request = RecallRequest(
        scope=Scope(user_id=conversation.id),
        query=asked.text,
        now=conversation.now,
        tiers=("episodic",),
        top_k=DEPTH,
    )
    hits = recall_search(
        reader,  # type: ignore[arg-type]
        request,
        config=Config(),
        query_vector=question_vector(embed, asked.text),
        embedder_name=embed.name if embed else "none",
    )
    return [(i.source_id, i.session_id or "") for i in hits]


def measure_locomo(conversations: Iterable[Conversation], embed: Kept | None) -> Table:
    table = Table("LoCoMo: share of gold messages, questions of categories 1-5")
    for conversation in conversations:
        reader = memory_of(conversation, embed)
        where = {t.id: t.session for t in conversation.turns}
        for asked in conversation.questions:
            found = ranked(reader, conversation, asked, embed)
            ids = [i for i, _ in found]
            for k in (1, 5, 10, 20):
                table.add(f"R@{k}", asked.category, conversation.id, recall_at(ids, asked.gold, k))
            sessions = list(dict.fromkeys(s for _, s in found))[:5]
            gold = {where[g] for g in asked.gold}
            table.add("session any@5", asked.category, conversation.id, float(bool(gold & set(sessions))))
    return table


LISTS = frozenset({"summarization", "event_ordering"})


def measure_beam(conversations: Iterable[Conversation], embed: Kept | None) -> Table:
    table = Table("BEAM-100K (without summarization and event_ordering)")
    for conversation in conversations:
        reader = memory_of(conversation, embed)
        for asked in conversation.questions:
            if asked.category in LISTS:
                continue
            ids = [i for i, _ in ranked(reader, conversation, asked, embed)]
            current = asked.gold - asked.original or asked.gold
            table.add("R@10", asked.category, conversation.id, recall_at(ids, current, 10))
            table.add("R@10, raw gold", asked.category, conversation.id, recall_at(ids, asked.gold, 10))
            base = baseline(reader, conversation, asked, embed)
            table.add("baseline R@10", asked.category, conversation.id, recall_at(base, current, 10))
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
                    float(stale(reader, conversation, asked, embed)),
                )
    return table


def stale(reader: FakeReader, conversation: Conversation, asked: Asked, embed: Kept | None) -> bool:
    """Whether a context of 1000 tokens shows an overtaken statement as if it held."""
    context = recall_context(
        reader,  # type: ignore[arg-type]
        RecallRequest(scope=Scope(user_id=conversation.id), query=asked.text, now=conversation.now),
        max_tokens=1000,
        token_counter=lambda text: len(text) // 4 + 1,
        format="text",
        config=Config(),
        query_vector=question_vector(embed, asked.text),
        embedder_name=embed.name if embed else "none",
        fence_mark="0" * 8,
    )
    return any(i.source_id in asked.original and i.is_current for i in context.episodic)


def baseline(reader: FakeReader, conversation: Conversation, asked: Asked, embed: Kept | None) -> list[str]:
    """BM25 and cosine, min-max scaled and added, over whole user turns."""
    from ltm_core.text.bm25 import bm25
    from ltm_core.text.terms import terms

    snapshot = reader.snapshot()
    rows = snapshot.rows
    owners, place = np.unique(rows.owner, return_inverse=True)
    counts = np.bincount(place, weights=rows.length).astype(np.float32)
    postings = []
    for where, tf in snapshot.postings(terms(asked.text, query=True)):
        summed = np.bincount(place[where], weights=tf, minlength=len(owners))
        held = np.flatnonzero(summed)
        postings.append((held, summed[held].astype(np.int32)))
    score = bm25(postings, lengths=counts, doc_count=len(owners), average_length=float(counts.mean()))
    score = score / max(float(score.max()), 1e-9)
    vector = question_vector(embed, asked.text)
    if vector is not None:
        cosine = np.full(len(owners), -1.0, dtype=np.float32)
        np.maximum.at(cosine, place, snapshot.cosine(vector))
        score = score + (cosine - cosine.min()) / max(float(np.ptp(cosine)), 1e-9)
    by_item = {i: t for i, t in zip(owners.tolist(), score.tolist(), strict=True)}
    said = [m for m in reader.messages() if m.role == "user" and m.item in by_item]
    return [m.id for m in sorted(said, key=lambda m: -by_item[m.item])]


def measure_madial(conversations: Iterable[Conversation], embed: Kept | None, language: str) -> Table:
    table = Table(f"MADial-Bench {language}: the dialogue so far is the question")
    for conversation in conversations:
        reader = memory_of(conversation, embed)
        for asked in conversation.questions:
            ids = [i for i, _ in ranked(reader, conversation, asked, embed)]
            for k in (1, 5, 10):
                table.add(f"R@{k}", asked.category, conversation.id, recall_at(ids, asked.gold, k))
    return table


def run(data: Path, only: set[str], embed: Kept | None) -> Iterator[Table]:
    tasks: list[tuple[str, Callable[[], Table]]] = [
        ("locomo", lambda: measure_locomo((c for f in sorted((data / "locomo").glob("*.json")) for c in locomo(f)), embed)),
        ("beam", lambda: measure_beam(beam(data / "beam100k"), embed)),
    ]
    zh = data / "madial" / "MADial-Bench-zh-memory.json"
    for language in ("zh", "en"):
        memory = data / "madial" / f"MADial-Bench-{language}-memory.json"
        dialogue = sorted((data / "madial").glob(f"{language}-dialogue*.jsonl"))
        if memory.exists() and dialogue:
            tasks.append(
                ("madial", lambda m=memory, d=dialogue[0], n=language: measure_madial(madial(m, d, owners=zh), embed, n))  # type: ignore[misc]
            )
    for name, task in tasks:
        if name in only:
            yield task()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--only", default="locomo,beam,madial")
    parser.add_argument("--embedder", default="default", help="default, none, or any embedder specification")
    parser.add_argument("--cache", type=Path, help="folder that keeps vectors between runs")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    chosen = parser.parse_args()
    embed = encoder(chosen.embedder, chosen.cache)
    start = time.perf_counter()
    figures: dict[str, dict[str, float]] = {}
    print(f"embedder: {embed.name if embed else 'none'}")
    for table in run(chosen.data, set(chosen.only.split(",")), embed):
        print("\n".join(table.lines()), flush=True)
        figures[table.name] = {f: pooled(table.all_of(f)) for f in table.values}
        if embed is not None:
            embed.save()
    print(f"{time.perf_counter() - start:.0f} s")
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
