"""Measure what ``ltm_core.text.tokens`` needs to know about the vocabularies, and check it.

    python scripts/calibrate_tokens.py --vocab DIR --corpus FILE [--write] [--sample FILE]

DIR holds cl100k_base.tiktoken, o200k_base.tiktoken and qwen.tiktoken: one base64 token and its rank a
line, as ``tiktoken`` and the Qwen repositories publish them. FILE is JSON lines of {"kind", "text"}, natural
texts to add to the generated ones (see token_corpus.py). Needs ``tiktoken``; the product does not.

``--write`` renews core/ltm_core/lexicon/tokens.json, ``--sample`` a file of texts and true counts for the tests.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import random
import re
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import tiktoken
from token_corpus import corpus, hostile

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "core/ltm_core/lexicon/tokens.json"
CONTRACTIONS = ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d")
_O200K_END = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
# How each tokenizer cuts a text before it merges bytes, as published with the vocabulary.
PATTERNS = {
    "cl100k_base": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    "o200k_base": r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + _O200K_END + "|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + _O200K_END + "|"
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "qwen": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
}
ASCII_SIGNS = [chr(code) for code in range(33, 127) if not chr(code).isalnum()]


class Tokenizers:
    """The three tokenizers; the size of a text is the largest of their counts."""

    def __init__(self, folder: Path) -> None:
        self.entries: dict[str, dict[bytes, int]] = {}
        self.digests: dict[str, str] = {}
        self.encodings: dict[str, tiktoken.Encoding] = {}
        for name, pattern in PATTERNS.items():
            raw = (folder / f"{name}.tiktoken").read_bytes()
            self.digests[name] = hashlib.sha256(raw).hexdigest()
            pairs = (line.split() for line in raw.splitlines() if line)
            ranks = {base64.b64decode(token): int(rank) for token, rank in pairs}
            self.entries[name] = ranks
            self.encodings[name] = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})

    def counts(self, text: str) -> dict[str, int]:
        text = text.encode("utf-8", "replace").decode() if re.search("[\ud800-\udfff]", text) else text
        # Qwen composes characters first, the others read the bytes as they are.
        composed = unicodedata.normalize("NFC", text)
        return {
            name: len(encoding.encode_ordinary(composed if name == "qwen" else text))
            for name, encoding in self.encodings.items()
        }

    def size(self, text: str) -> int:
        return max(self.counts(text).values())


def character_costs(tokenizers: Tokenizers) -> dict[str, int]:
    """Every assigned character beyond ASCII and what it costs alone."""
    characters = (chr(code) for code in range(0x80, 0x110000) if not 0xD800 <= code < 0xE000)
    return {ch: tokenizers.size(ch) for ch in characters if unicodedata.category(ch) not in {"Cn", "Co"}}


def crossings(tokenizers: Tokenizers, costs: dict[str, int]) -> Iterator[list[str]]:
    """For each entry that begins or ends inside a character, the texts in which it could break up its neighbours.

    Characters that cost all their bytes have no merge to break: a few with the same first byte stand for all.
    """
    ends, begins = defaultdict(list), defaultdict(list)
    few: dict[tuple[bytes, int], int] = defaultdict(int)
    for ch, cost in costs.items():
        raw = ch.encode()
        for length in range(1, len(raw)):
            for index, part in ((ends, raw[-length:]), (begins, raw[:length])):
                few[part, raw[0]] += cost >= len(raw)
                if cost < len(raw) or few[part, raw[0]] <= 3:
                    index[part].append(ch)
    for ranks in tokenizers.entries.values():
        for token in ranks:
            body = token.lstrip(bytes(range(0x80, 0xC0)))
            head = token[: len(token) - len(body)]
            middle = body.decode("utf-8", "ignore")
            tail = body[len(middle.encode()) :]
            if not body or middle.encode() + tail != body or not (head or tail) or token[0] < 0x80:
                continue
            lefts, rights = ends[head] if head else [""], begins[tail] if tail else [""]
            yield [left + middle + right for left in lefts for right in rights]


def raise_costs(tokenizers: Tokenizers, costs: dict[str, int]) -> set[str]:
    """Raise costs until no text of ``crossings``, alone or after a space, costs more than its characters.

    Of the two sides that meet, the one with fewer characters pays. Return the characters that cost one
    more after a space, which may take their first byte.
    """
    after_space = {ch for ch, cost in costs.items() if tokenizers.size(" " + ch) > 1 + cost}

    def excess(space: str, text: str) -> int:
        known = sum(costs.get(ch, 1) for ch in space + text) + bool(space and text[0] in after_space)
        # The product charges two for a Thai letter after one of another script.
        known += 2 * bool(re.search("[^\u0e00-\u0e7f][\u0e00-\u0e7f]", text))
        return tokenizers.size(space + text) - known

    for group in crossings(tokenizers, dict(costs)):
        for space in ("", " "):
            over = [text for text in group if excess(space, text) > 0]
            side = 0 if len({text[0] for text in over}) <= len({text[-1] for text in over}) else -1
            for text in over:
                if space and side == 0 and excess(space, text) > 0:
                    after_space.add(text[0])
                costs[text[side]] += max(0, excess(space, text))
    return after_space


def compact(costs: dict[str, int]) -> dict[str, object]:
    """Costs as one list of cheap characters, blocks of 64 code points, and exceptions."""
    default = {ch: len(ch.encode()) for ch in costs}
    blocks = defaultdict(list)
    for ch, cost in costs.items():
        blocks[ord(ch) >> 6].append(cost)
    usual = {block: max(set(members), key=members.count) for block, members in blocks.items()}
    # Of two usual costs the dearer one, so that a character unknown here is not priced too low.
    usual = {
        block: max(cost, *(c for c in blocks[block] if blocks[block].count(c) > 24), 2)
        for block, cost in usual.items()
    }
    ranges: dict[int, list[list[int]]] = defaultdict(list)
    for block in sorted(usual):
        cost = usual[block]
        if cost >= len(chr(block << 6).encode()):
            continue
        if ranges[cost] and ranges[cost][-1][1] == block - 1:
            ranges[cost][-1][1] = block
        else:
            ranges[cost].append([block, block])

    def base(ch: str) -> int:
        return min(usual[ord(ch) >> 6], default[ch])

    return {
        "one_token": "".join(ch for ch, cost in costs.items() if cost == 1),
        "blocks": {str(cost): found for cost, found in sorted(ranges.items()) if found},
        "exceptions": {
            str(cost): "".join(ch for ch, own in costs.items() if own == cost and cost != base(ch))
            for cost in sorted(set(costs.values()) - {1})
        },
    }


def short_entries(tokenizers: Tokenizers, length: int) -> str:
    """All entries of ``length`` ASCII characters that every vocabulary has and no tokenizer cuts."""
    first, *others = tokenizers.entries.values()
    found = [token.decode() for token in first if len(token) == length and token.isascii()]
    return "".join(
        text
        for text in sorted(found)
        # o200k cuts between a small and a capital letter, all cut between a letter and another sign.
        if all(text.encode() in ranks for ranks in others)
        and re.fullmatch(r" ?[A-Z]*[a-z]*| ?[!-/:-@\[-`{-~]+", text)
    )


def neighbours(tokenizers: Tokenizers) -> list[str]:
    """What may stand before a word in one token: signs, quotes, dashes, letters of other scripts.

    Not the apostrophe: a word right after it is never priced by the lexicon.
    """
    found = {"\t", *ASCII_SIGNS} - {"'"}
    for ranks in tokenizers.entries.values():
        for token in ranks:
            text = token.decode("utf-8", "ignore")
            found.update(
                re.findall(r"([^\x00-\x7f\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u036f\u1e00-\u1eff])[A-Za-z]", text)
            )
    return sorted(found)


def lexicon(tokenizers: Tokenizers, limit: int) -> dict[str, str]:
    """Words that are one token after a space, by what they cost without one: 1, 2, or more ("bound").

    The most frequent first: an entry's rank is the order in which it was found worth having.
    """
    first, second, third = tokenizers.entries.values()
    ranked = sorted(
        (first[token] + second[token], token.decode()[1:])
        for token in first
        if re.fullmatch(rb" (?:[a-z]+|[A-Z][a-z]*|[A-Z]{2,6})", token) and token in second and token in third
    )
    signs = [(sign, tokenizers.size(sign)) for sign in neighbours(tokenizers)]
    found: dict[str, list[str]] = {"1": [], "2": [], "bound": []}
    for _, word in ranked[:limit]:
        if any(tokenizers.size(" " + word + end) > 1 + bool(end) for end in ("", *CONTRACTIONS)):
            continue
        bare = tokenizers.size(word)
        safe = bare <= 2 and all(tokenizers.size(word + end) <= bare + 1 for end in CONTRACTIONS)
        safe = safe and all(tokenizers.size(sign + word) <= cost + bare for sign, cost in signs)
        found[str(bare) if safe else "bound"].append(word)
    return {bare: " ".join(sorted(words)) for bare, words in found.items()}


def build(tokenizers: Tokenizers, limit: int) -> dict[str, object]:
    costs = character_costs(tokenizers)
    after_space = raise_costs(tokenizers, costs)
    return {
        "about": "Measured by scripts/calibrate_tokens.py; how the numbers are used: ltm_core/text/tokens.py.",
        "vocabularies_sha256": tokenizers.digests,
        **compact(costs),
        "dearer_after_space": "".join(sorted(after_space)),
        "pairs": short_entries(tokenizers, 2),
        "triples": short_entries(tokenizers, 3),
        "words": lexicon(tokenizers, limit),
    }


def report(tokenizers: Tokenizers, rows: list[tuple[str, str]]) -> int:
    """Print the ratios per kind of text; return how many texts were estimated too low."""
    from ltm_core.text.tokens import estimate_tokens

    ratios: dict[str, list[float]] = defaultdict(list)
    totals: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    below = 0
    for kind, text in rows:
        real, estimate = tokenizers.size(text), estimate_tokens(text)
        if estimate < real:
            below += 1
            if below <= 20:
                print("BELOW", kind, estimate, real, ascii(text[:90]))
        ratios[kind].append(estimate / max(real, 1))
        totals[kind][0] += estimate
        totals[kind][1] += real
    print(f"{'kind':<14}{'texts':>7}{'mean':>7}{'pooled':>8}{'max':>7}")
    for kind, found in sorted(ratios.items()):
        estimate, real = totals[kind]
        print(f"{kind:<14}{len(found):>7}{sum(found) / len(found):>7.3f}{estimate / real:>8.3f}{max(found):>7.2f}")
    print(f"{len(rows)} texts, {below} below")
    return below


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--vocab", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, action="append", default=[])
    parser.add_argument("--write", action="store_true", help="renew the table of the product")
    parser.add_argument("--words", type=int, default=18_000, help="how many entries to consider as words")
    parser.add_argument("--sample", type=Path, help="write generated texts with their true counts")
    parser.add_argument("--hostile", type=int, default=0, help="how many random strings to check in addition")
    arguments = parser.parse_args()
    tokenizers = Tokenizers(arguments.vocab)
    if arguments.write:
        table = build(tokenizers, arguments.words)
        TABLE.write_text(json.dumps(table, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    sys.path.insert(0, str(ROOT / "core"))
    rows = list(corpus())
    if arguments.sample:
        chosen = random.Random(7).sample(rows, 300)
        lines = [
            json.dumps({"kind": k, "text": t, **tokenizers.counts(t)}, ensure_ascii=True) for k, t in sorted(chosen)
        ]
        arguments.sample.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    for path in arguments.corpus:
        with path.open(encoding="utf-8") as lines:
            rows.extend((row["kind"], row["text"]) for row in map(json.loads, lines))
    below = report(tokenizers, rows)
    if arguments.hostile:
        below += report(tokenizers, list(hostile(arguments.hostile)))
    sys.exit(bool(below))


if __name__ == "__main__":
    main()
