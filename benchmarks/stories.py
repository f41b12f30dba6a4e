"""Stories of several sessions against the whole write path, per kind and language.

python benchmarks/stories.py FILE.jsonl … [--split dev] [--lang en] [--kind move] [--failures]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ltm_core.stories import load, score_all, table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--split", help="only stories of this split")
    parser.add_argument("--lang")
    parser.add_argument("--kind")
    parser.add_argument("--failures", action="store_true", help="print what failed")
    args = parser.parse_args()
    from ltm_core.embed.resolve import resolve_embedder

    chosen = [
        s
        for path in args.files
        for s in load(path)
        if args.split in (None, s.get("split")) and args.lang in (None, s["lang"]) and args.kind in (None, s["kind"])
    ]
    scores = score_all(chosen, embedder=resolve_embedder(None))
    if args.failures:
        for _, made in sorted(scores.items()):
            print(*made.failures, sep="\n")
    print(*table(scores), sep="\n")


if __name__ == "__main__":
    main()
