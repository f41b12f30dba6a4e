"""An upper estimate of the tokens of a text, with no vocabulary at hand.

The text is cut where the tokenizers of cl100k_base, o200k_base and Qwen cut it; each piece is charged
what the dearest of the three can need for it:

* a word of the lexicon: one token, checked with the vocabularies beside every sign it may touch;
* any other run of ASCII letters or signs: the longest chain of tokens in which no two neighbours could
  still be merged. Byte pair encoding stops only when no two neighbours form an entry, so no
  tokenization is longer (``lexicon/tokens.json`` holds the entries of two and three characters);
* a digit: one; any other character: what it costs alone, never more than its bytes.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache, lru_cache

from .data import json_text

# Longer runs are priced in slices of this many characters; words in the lexicon are shorter.
_SLICE = 24
_LONGEST_PIECE = 1 + _SLICE + len("'re")
_EXTENDED = "\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u036f\u1e00-\u1eff"
_PIECE = re.compile(
    rf" ?[A-Za-z]{{1,{_SLICE}}}+(?![{_EXTENDED}])(?:'(?:[sdmt]|ll|ve|re)(?![A-Za-z{_EXTENDED}]))?"
    rf"| ?[A-Za-z{_EXTENDED}]{{1,{_SLICE}}}+"
    rf"|'[A-Za-z]{{1,{_SLICE}}}+"
    # o200k_base keeps a slash with a line break before it, so no other sign may count on it.
    rf"| ?/{{1,{_SLICE}}}+"
    rf"| ?[!-.:-@\[-`{{-~]{{1,{_SLICE}}}+"
    rf"|[0-9]{{1,{_SLICE}}}+"
    r"| ?[^\x00-\x7f]{1,32}+"
    # The last space or tab before a word belongs to the word's first token, so it is charged apart.
    r"| {1,16}(?= )|\t{1,12}(?=\t)|\n{1,12}+"
    r"|[\x00-\x7f]"
)
_CONTRACTION = re.compile("'(?:[sdmt]|ll|ve|re)", re.IGNORECASE)
_UNREACHED = -1_000_000


class _CharacterCosts(dict[str, int]):
    """Tokens of one non-ASCII character; filled from its block of 64 when first met."""

    def __init__(self, known: dict[str, int], blocks: dict[int, int]) -> None:
        super().__init__(known)
        self._blocks = blocks
        # Enough for every script in use; text made to visit all of Unicode cannot fill the memory.
        self._room = 40_000

    def __missing__(self, ch: str) -> int:
        code = ord(ch)
        cost = self._blocks.get(code >> 6) or (2 if code < 0x800 else 3 if code < 0x10000 else 4)
        if len(self) < self._room:
            self[ch] = cost
        return cost


@dataclass(frozen=True, kw_only=True, slots=True)
class _Tables:
    characters: _CharacterCosts
    after_space: frozenset[str]
    words: dict[str, int]
    entries: frozenset[str]


@cache
def _tables() -> _Tables:
    data = json.loads(json_text("tokens.json"))
    blocks = {
        block: int(cost)
        for cost, ranges in data["blocks"].items()
        for first, last in ranges
        for block in range(first, last + 1)
    }
    known = dict.fromkeys(data["one_token"], 1)
    known |= {ch: int(cost) for cost, characters in data["exceptions"].items() for ch in characters}
    bare = {word: int(cost) for cost in "12" for word in data["words"][cost].split()}
    spaced = [*bare, *data["words"]["bound"].split()]
    entries = {data["pairs"][i : i + 2] for i in range(0, len(data["pairs"]), 2)}
    entries |= {data["triples"][i : i + 3] for i in range(0, len(data["triples"]), 3)}
    return _Tables(
        characters=_CharacterCosts(known, blocks),
        after_space=frozenset(data["dearer_after_space"]),
        words=bare | dict.fromkeys([" " + word for word in spaced], 1),
        entries=frozenset(entries),
    )


def estimate_tokens(text: str) -> int:
    """At least as many tokens as cl100k_base, o200k_base and Qwen make of ``text``.

    It never falls when text is appended, and for any a and b
    ``estimate_tokens(a + "\\n" + b) <= estimate_tokens(a) + estimate_tokens(b) + 1``,
    so a budget that adds up lines is kept. Time is linear in the length.
    """
    pieces = _PIECE.findall(text)
    costs = [_cost(piece) if piece.isascii() else _cost_beyond_ascii(piece) for piece in pieces]
    peak = before = sum(costs)
    # A lexicon word was dearer while it was being written ("someth", "something"): the estimate is the
    # highest value of any beginning of the text. Only the last pieces can still stand above the whole,
    # because no beginning of a piece costs more than its characters.
    for piece, cost in zip(reversed(pieces), reversed(costs)):
        before -= cost
        if before + _LONGEST_PIECE <= peak:
            break
        if before + len(piece) > peak and piece.isascii():
            peak = max(peak, before + _highest(piece))
    return peak


@lru_cache(maxsize=16_384)
def _cost(piece: str) -> int:
    """Tokens of one piece of ASCII."""
    word, apostrophe, _ = piece.partition("'")
    if apostrophe and word[-1:].isalpha():
        return 1 + _cost(word)  # an ending such as 's is one token
    return _tables().words.get(piece) or _bound(piece)


def _highest(piece: str) -> int:
    """What the dearest beginning of a piece of ASCII costs."""
    word, apostrophe, ending = piece.partition("'")
    if apostrophe and word[-1:].isalpha():
        return max(_bound(word), _cost(word) + _bound("'" + ending))
    return _bound(piece)


@lru_cache(maxsize=16_384)
def _bound(piece: str) -> int:
    """The most tokens that a piece of ASCII or any beginning of it can have, whatever its words."""
    if piece.isspace():
        return 1
    if piece.isdigit():
        return len(piece)
    bound = _longest_chain(piece)
    # "'reilly" is cut after "'re" by some.
    if ending := _CONTRACTION.match(piece):
        bound = max(bound, _longest_chain(ending[0]) + _longest_chain(piece[ending.end() :]))
    # The last token may reach into the next slice, which frees it from its neighbour.
    return bound + (len(piece) >= _SLICE)


def _longest_chain(run: str) -> int:
    """The length of the longest chain of tokens over ``run`` that has no two neighbours to merge.

    Dynamic programming over the end of the chain and the length of its last token: one, two, or more
    characters. Entries have at most three characters, so a longer token sets its neighbours no limit and
    stands for up to five characters: six are two such tokens.
    """
    entries = _tables().entries
    one, two, more, best = [_UNREACHED], [_UNREACHED], [0], [0]
    for end in range(1, len(run) + 1):
        pair_is_entry = run[max(0, end - 2) : end] in entries
        triple_is_entry = run[max(0, end - 3) : end] in entries
        ends_one = more[-1]
        if end >= 2 and not pair_is_entry:
            ends_one = max(ends_one, one[-1])
        if end >= 3 and not triple_is_entry:
            ends_one = max(ends_one, two[-1])
        ends_two = ends_more = _UNREACHED
        if end >= 2:
            ends_two = max(more[-2], two[-2])
            if end >= 3 and not triple_is_entry:
                ends_two = max(ends_two, one[-2])
        if end >= 3:
            ends_more = max(best[max(0, end - 5) : end - 2])
        one.append(1 + ends_one)
        two.append(1 + ends_two)
        more.append(1 + ends_more)
        best.append(max(one[-1], two[-1], more[-1]))
    return max(best)


def _cost_beyond_ascii(piece: str) -> int:
    """Tokens of one piece with other characters: the sum over them and over the ASCII between them."""
    tables = _tables()
    cost = 2 * len(_THAI_AFTER_OTHERS.findall(piece))
    if piece[0] == " " and piece[1] > "\x7f":
        cost += 1 + (piece[1] in tables.after_space)
        piece = piece[1:]
    if not _ASCII.search(piece):
        return cost + sum(map(tables.characters.__getitem__, piece))
    return cost + sum(
        _bound(part) if part.isascii() else sum(map(tables.characters.__getitem__, part))
        for part in _ASCII_OR_NOT.findall(piece)
    )


_ASCII = re.compile(r"[\x00-\x7f]")
_ASCII_OR_NOT = re.compile(r"[\x00-\x7f]+|[^\x00-\x7f]+")
# o200k_base has an entry of the last byte 80 of some character and two bytes of a Thai one.
_THAI_AFTER_OTHERS = re.compile(r"(?<![\u0e00-\u0e7f\x20])[\u0e00-\u0e7f]")
