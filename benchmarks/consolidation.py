"""What summaries do to recall, to the size of the index and to the time of a run: LoCoMo, without any language model.

    python benchmarks/consolidation.py --data FOLDER [--conversations 2] [--embedder default|none|SPEC]

FOLDER holds ``locomo/*.json``. Each conversation is told into four memories: as it is, with summaries beside the
turns, with the turns retired whose words a summary holds, and with all retired that may be. Figures: the share of the
questions for which one of the turns that answer is among the first ten (a summary counts for the turns of its lines),
and the share of those turns that can be read in a context of 1,000 tokens.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks.corpora import Conversation, locomo
from benchmarks.encoders import Kept, encoder
from benchmarks.metrics import mean
from benchmarks.recall import READABLE, USER, held_share
from ltm_core import LongTermMemory
from ltm_core.text.terms import terms
from ltm_core.types import MaintenanceReport, Message

WAYS: dict[str, dict[str, Any]] = {
    "turns": {},
    "turns and summaries": {"consolidate_after_days": 0},
    "retired": {"consolidate_after_days": 0, "retire_sources": True},
    "all retired": {"consolidate_after_days": 0, "retire_sources": True, "retire_coverage": 0},
}


def told(conversation: Conversation, embed: Kept | None, way: dict[str, Any]) -> LongTermMemory:
    """The conversation in a memory of its own."""
    memory = LongTermMemory.open(":memory:", embedder=embed or "none", timezone="UTC", recall_cache_entries=0, **way)
    me = next((t.name for t in conversation.turns if t.name), None)
    for session in dict.fromkeys(t.session for t in conversation.turns):
        messages = [
            Message(role=t.role, content=t.text, at=t.at, id=t.id, name=t.name)
            for t in conversation.turns
            if t.session == session
        ]
        memory.observe(user_id=USER, session_id=session, messages=messages, me=me)
        memory.end_session(session, user_id=USER)
    return memory


def measured(memory: LongTermMemory, conversation: Conversation) -> tuple[float, float]:
    """(any of the first ten, readable in 1,000 tokens) over the questions that have an answer."""
    texts = {t.id: t.text for t in conversation.turns}
    found, read = [], []
    for asked in conversation.questions:
        gold = [g for g in asked.gold if g in texts]
        if not gold or asked.category == "adversarial":
            continue
        hits = memory.search(asked.text, user_id=USER, top_k=10, at=conversation.now)
        found.append(float(any(i in gold for h in hits for i in h.source_message_ids)))
        context = memory.context(asked.text, user_id=USER, max_tokens=1000, at=conversation.now)
        shown = Counter(terms(context.text))
        read.append(mean([float(held_share(texts[g], shown) >= READABLE) for g in gold]))
    return mean(found), mean(read)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--conversations", type=int, default=2)
    parser.add_argument("--embedder", default="default")
    options = parser.parse_args()
    embed = encoder(options.embedder, None)
    (path,) = sorted((options.data / "locomo").glob("*.json"))[:1]
    for conversation in list(locomo(path))[: options.conversations]:
        print(f"## {conversation.id}: {len(conversation.turns)} turns")
        for name, way in WAYS.items():
            with told(conversation, embed, way) as memory:
                report: MaintenanceReport | None = None
                if way:
                    begun = time.perf_counter()
                    report = memory.maintain(conversation.now + timedelta(days=400))
                    seconds = time.perf_counter() - begun
                any10, readable = measured(memory, conversation)
                line = f"{name:<22} any@10 {100 * any10:5.1f}  readable {100 * readable:5.1f}"
                line += f"  chunks {memory.stats().chunks:5d}"
                if report is not None:
                    line += f"  summaries {report.summarised}, turns retired {report.retired}, {seconds:.1f} s"
                    line += f" {dict(report.consolidation)}"
                print(line, flush=True)


if __name__ == "__main__":
    main()
