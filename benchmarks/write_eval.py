"""Precision and recall of the write path on labelled messages.

    python benchmarks/write_eval.py FILE.jsonl … [--vectors] [--errors] [--held-out] [--folds DIR]

A segment counts as found when a fact of the analysis has its evidence there; what only ends or brings back a known
fact is none. Relation and value are compared on the segments that carry them. With ``--folds`` every message is read
with the weights that never saw it (``scripts/train_gate.py --folds``); those that no fold left out are passed over.
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ltm_core.lexicon import Lexicon, default_lexicon
from ltm_core.write.analyse import analyse
from ltm_core.write.endings.ends import RULE as ENDS
from ltm_core.write.endings.returns import RULE as RETURNS
from ltm_core.write.learned.gate import make_gate
from ltm_core.write.plan import Candidate, Utterance
from ltm_core.write.words.norm import fold

NOW = dt.datetime(2026, 6, 17, 10, 30, tzinfo=dt.UTC)


def found_in(candidates: Sequence[Candidate], start: int, end: int) -> list[Candidate]:
    """The lasting facts whose evidence lies in the span, for the most part."""
    inside = []
    for c in candidates:
        e = c.evidence[0]
        if c.rule in (ENDS, RETURNS):
            continue
        if min(e.end, end) - max(e.start, start) > 0.5 * min(e.end - e.start, end - start):
            inside.append(c)
    return [c for c in inside if c.modality != "temporary"]


def by_message(folds: Path) -> Mapping[str, Lexicon]:
    """Per message left out of a fold, the lexicon with that fold's weights."""
    known = default_lexicon()
    made: dict[str, Lexicon] = {}
    for path in sorted(folds.glob("fold*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        made |= dict.fromkeys(data["left_out"], replace(known, gate=make_gate(data, known.gate.function)))
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--vectors", action="store_true")
    parser.add_argument("--errors", action="store_true")
    parser.add_argument("--held-out", action="store_true", help="only rows kept aside from training")
    parser.add_argument("--threshold", type=float, default=0.6)
    parser.add_argument("--folds", type=Path, help="directory with the weights of every fold")
    args = parser.parse_args()
    encode: Callable[[Sequence[str]], Any] | None = None
    if args.vectors:
        from ltm_core.embed.resolve import resolve_embedder

        encode = resolve_embedder(None).embed_documents
    tally: Counter[tuple[str, str]] = Counter()
    unseen = by_message(args.folds) if args.folds else {}
    for path in args.files:
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if (bool(row.get("held_out")) or row.get("split") == "held") != args.held_out:
                continue
            lexicon = unseen.get(hashlib.sha256(row["text"].encode()).hexdigest()[:12]) or default_lexicon()
            if args.folds and lexicon is default_lexicon():
                continue
            _score(row, encode, tally, lexicon, errors=args.errors, threshold=args.threshold)
    for language in sorted({k[0] for k in tally}):
        t = {k[1]: v for k, v in tally.items() if k[0] == language}
        tp, fp, fn = t.get("tp", 0), t.get("fp", 0), t.get("fn", 0)
        print(
            f"{language:<4} facts P {tp / max(1, tp + fp):.3f} R {tp / max(1, tp + fn):.3f} ({tp + fn} facts, "
            f"{t.get('tn', 0) + fp} others)  relation {t.get('relation', 0)}/{t.get('relations', 0)}  "
            f"value {t.get('value', 0)}/{t.get('values', 0)}"
        )


def _score(
    row: dict[str, Any],
    encode: Any,
    tally: Counter[tuple[str, str]],
    lexicon: Lexicon,
    *,
    errors: bool,
    threshold: float,
) -> None:
    text = row["text"]
    utterance = Utterance(message_id="m", role="user", content=text, at=NOW)
    seen = analyse(utterance, lexicon=lexicon, fact_threshold=threshold, clause_vectors=encode)
    at = 0
    for segment in row["segments"]:
        start = text.find(segment["text"], at)
        at = end = start + len(segment["text"])
        here = found_in(seen.candidates, start, end)
        gold = segment["stated_fact"]
        outcome = ("tp" if here else "fn") if gold else ("fp" if here else "tn")
        told = [f"{c.subject}|{c.relation}|{c.object}|{c.rule}" for c in here]
        for language in (row["lang"], "all"):
            tally[language, outcome] += 1
            if gold and segment.get("relation"):
                wanted = segment["relation"]
                tally[language, "relations"] += 1
                right = any(c.relation.split(":")[0] == wanted.split(":")[0] for c in here)
                tally[language, "relation"] += right
                if language == "all" and errors and here and not right:
                    print(f"relation {wanted:<14} {segment['text']} -> {told}")
            if gold and segment.get("value"):
                tally[language, "values"] += 1
                right = any(
                    fold(segment["value"]) == fold(c.object) or fold(segment["value"]) == c.object_normalized
                    for c in here
                )
                tally[language, "value"] += right
                if language == "all" and errors and here and not right:
                    print(f"value {segment['value']:<14} {segment['text']} -> {told}")
        if errors and outcome in ("fn", "fp"):
            print(f"{outcome.upper()} {segment['text']} -> {told} {seen.skipped if outcome == 'fn' else ''}")


if __name__ == "__main__":
    main()
