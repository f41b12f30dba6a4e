"""From a message to the clauses a person would read as separate statements.

Code, quoted lines, tags and memory that was injected into the prompt are masked first: whatever stands there
was not said by the user. Every clause knows its span in the original text.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from dataclasses import dataclass, replace

from ltm_core.write.read.clefts import in_plain_order
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.load import default_lexicon
from ltm_core.write.words.norm import normal, script

MAX_CLAUSE = 400
"""Characters of one clause that are analysed; a longer run without a stop is no sentence."""
MAX_CLAUSES = 5000
"""Clauses of one message that are analysed, about 50,000 words; what follows is a pasted file."""
MASK = "\ufffc"

_OPENING = re.compile(r"<([A-Za-z][\w:-]{0,40})\b[^<>\n]{0,300}>")
_CLOSING = re.compile(r"</([A-Za-z][\w:-]{0,40})\b[^<>\n]{0,300}>")
_BREAK = re.compile(
    r"[。！!?？；;\n\r…]+|(?<![\d\W])[.]+(?=\s|$|[^\w\s.])|(?<=\d)[.]+(?=\s|$)|[~～]{1,}(?=\s|$)|[，]"
)
_COLON = re.compile(r"[:：](?!//)(?!\d)\s*(?=\S)")
_SENTENCE_END = re.compile(r"[。！!?？\n\r…]|[.](?=\s|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One statement, question or order, with its place in the message."""

    start: int
    end: int
    text: str
    norm: str
    """Same length as ``text``; rules read this."""
    language: str
    sentence: int
    """Clauses of one sentence share it."""
    paragraph: int
    told: str = ""
    """The words as they were typed, where a Chinese clause is read in another order."""


def mask(content: str) -> str:
    """The message, equally long, with everything blanked that its author did not say in his own words."""
    masked = _without_elements(content)
    for pattern in default_lexicon().masks:
        masked = pattern.sub(_blank, masked)
    return masked


def _without_elements(content: str) -> str:
    """The text with everything between a tag and its closing tag blanked; one pass over the tags."""
    if "</" not in content:
        return content
    closing: dict[str, list[tuple[int, int]]] = {}
    for m in _CLOSING.finditer(content):
        closing.setdefault(m[1].lower(), []).append(m.span())
    pieces: list[str] = []
    at = 0
    for m in _OPENING.finditer(content):
        ends = closing.get(m[1].lower())
        if m.start() < at or not ends:
            continue
        k = bisect_left(ends, (m.end(), 0))
        if k == len(ends):
            continue
        pieces += [content[at : m.start()], _blanked(content[m.start() : ends[k][1]])]
        at = ends[k][1]
    return "".join([*pieces, content[at:]])


def _blank(match: re.Match[str]) -> str:
    return _blanked(match.group())


def _blanked(text: str) -> str:
    return "\n".join(MASK * len(line) for line in text.split("\n"))


def plain_form(content: str) -> str:
    """The message masked and in its normal form, equally long: what rules read."""
    return normal(mask(content))


def split(content: str, lexicon: Lexicon, *, plain: str | None = None) -> tuple[Clause, ...]:
    """The clauses of a message in order; spans slice ``content`` exactly. ``plain`` is its `plain_form`, if known."""
    masked = plain_form(content) if plain is None else plain
    clauses: list[Clause] = []
    sentence = paragraph = 0
    start = 0
    for end, stop, is_end in _stops(masked, lexicon):
        if len(clauses) >= MAX_CLAUSES:
            break
        for a, b in _inner(masked, start, end, lexicon):
            clause = _clause(content, masked, a, b, sentence, paragraph)
            if clause is not None:
                clauses.append(clause)
        start = stop
        if is_end:
            sentence += 1
        if "\n" in masked[end:stop] and masked[end:stop].count("\n") > 1:
            paragraph += 1
    return tuple(in_plain_order(c, lexicon) for c in _joined(clauses, content, lexicon))


def _is_listed(clause: Clause, last: Clause, following: Clause | None, gap: str, lexicon: Lexicon) -> bool:
    """Whether a piece behind an English comma goes on with a list, a place, or "my sister, and I"."""
    if clause.language != "en" or last.language != "en":
        return False
    shared = lexicon.shared
    if shared["bare_kin"].match(last.norm):
        return True
    if shared["and_i"].match(clause.norm) and shared["bare_name"].match(last.norm):
        return True
    if "," not in gap:
        return False
    if _names_subject(clause, last, following, lexicon):
        return True
    if shared["place_tail"].match(clause.norm) and shared["place_head"].search(last.norm):
        return True
    if shared["standing_head"].match(last.norm):
        return True
    if shared["name_alone"].match(clause.norm) and shared["name_head"].search(last.norm):
        return True
    if shared["appositive"].match(clause.norm) and shared["appositive_head"].search(last.norm):
        return True
    if shared["manner_tail"].match(clause.norm) and shared["manner_head"].search(last.norm):
        return True
    if shared["date_alone"].match(clause.norm) and shared["date_before"].search(last.norm):
        return True
    if shared["comes_of_it"].match(clause.norm) or shared["true_among"].match(last.norm):
        return True
    if shared["year_alone"].match(clause.norm) and shared["year_before"].search(last.norm):
        return True
    if ":" in last.norm and shared["list_item"].match(clause.norm):
        return True
    if not shared["list_item"].match(clause.norm):
        return False
    if clause.norm.lower().startswith(("and ", "or ")):
        return not shared["full_stop"].search(last.norm)
    return (
        following is not None
        and following.sentence == clause.sentence
        and following.norm.lower().startswith(("and ", "or "))
        and shared["list_item"].match(following.norm) is not None
    )


def _names_subject(clause: Clause, last: Clause, following: Clause | None, lexicon: Lexicon) -> bool:
    """Whether the piece belongs to a subject that commas take apart: a name behind what somebody is to the speaker
    ("our neighbour, Mr Poole, has two whippets") or before it, or what is told of him then."""
    parts = lexicon.rules("en").parts
    alone, named, after = (parts[f"acquaintance_{p}"] for p in ("alone", "named", "after"))
    if parts["has_trait"].match(clause.norm):
        return named.match(last.norm) is not None or after.match(last.norm) is not None
    if following is None or following.sentence != clause.sentence or not parts["has_trait"].match(following.norm):
        return False
    name = parts["name_between"]
    return any(b.match(clause.norm) and a.match(last.norm) for a, b in ((alone, name), (name, alone)))


def _stops(masked: str, lexicon: Lexicon) -> list[tuple[int, int, bool]]:
    stops: list[tuple[int, int, bool]] = []
    depth = _quoted(masked)
    shortened = lexicon.shared["abbreviation"]
    for m in _BREAK.finditer(masked):
        if m.start() < len(depth) and depth[m.start()]:
            continue
        if m.group().startswith(".") and shortened.search(masked, max(0, m.start() - 8), m.start()):
            continue
        stops.append((m.end(), m.end(), bool(_SENTENCE_END.search(m.group()))))
    stops.append((len(masked), len(masked), True))
    return stops


def _quoted(masked: str) -> bytearray:
    """1 where a character stands inside a short pair of quotes: no clause ends there."""
    inside = bytearray(len(masked))
    for m in re.finditer(r"\"[^\"\n]{1,160}\"|「[^」\n]{1,160}」|『[^』\n]{1,160}』|《[^》\n]{1,80}》", masked):
        inside[m.start() : m.end()] = b"\1" * (m.end() - m.start())
    return inside


def _inner(masked: str, start: int, end: int, lexicon: Lexicon) -> list[tuple[int, int]]:
    """Split one stretch further: at opening colons, and by the comma and conjunction rules of its language."""
    parts: list[tuple[int, int]] = []
    cut = start
    stretch = masked[start:end]
    rules = lexicon.rules(script(stretch))
    for m in _COLON.finditer(stretch[:MAX_CLAUSE]):
        if rules.opens(stretch[cut - start : m.end()]):
            parts.append((cut, start + m.end()))
            cut = start + m.end()
            break
    return parts + _pieces(masked, cut, end, lexicon)


def _joined(clauses: list[Clause], content: str, lexicon: Lexicon) -> list[Clause]:
    """ "X, not Y" and "不是X，是Y" are one statement: their halves are joined again."""
    shared = lexicon.shared
    out: list[Clause] = []
    for i, clause in enumerate(clauses):
        last = out[-1] if out else None
        if (
            last is not None
            and last.sentence == clause.sentence
            and clause.end - last.start <= MAX_CLAUSE
            and (
                _is_listed(
                    clause,
                    last,
                    clauses[i + 1] if i + 1 < len(clauses) else None,
                    content[last.end : clause.start],
                    lexicon,
                )
                or shared["not_that"].match(clause.norm)
                or (shared["forget_rest"].match(clause.norm) and shared["forget_head"].match(last.norm))
                or (shared["contact_how"].match(clause.norm) and shared["contact_not"].search(last.norm))
                or _is_each_time(last, clause, lexicon)
                or (shared["but_this"].match(clause.norm) and shared["not_first"].search(last.norm))
            )
        ):
            gap = content[last.end : clause.start]
            out[-1] = replace(
                last, end=clause.end, text=last.text + gap + clause.text, norm=last.norm + gap + clause.norm
            )
        else:
            out.append(clause)
    return out


def _is_each_time(last: Clause, clause: Clause, lexicon: Lexicon) -> bool:
    """Whether an English clause tells what the speaker does whenever the one before it is so."""
    parts = lexicon.rules("en").parts
    return parts["each_time"].match(last.norm) is not None and parts["each_time_does"].match(clause.norm) is not None


def _pieces(masked: str, start: int, end: int, lexicon: Lexicon) -> list[tuple[int, int]]:
    stretch = masked[start:end]
    cuts = [m.end() for m in lexicon.shared["han_gap"].finditer(stretch)]
    if script(stretch) == "zh":
        cuts += [m.end() for m in re.finditer(r",", stretch) if not stretch[m.end() : m.end() + 1].isdigit()]
    elif script(stretch) == "ja":
        cuts += [m.end() for m in re.finditer(r"[、,](?=[^、,]{6,})", stretch)]
    else:
        joint = lexicon.rules("en").joint
        cuts += [m.start("next") for m in joint.finditer(stretch)]
    edges = [0, *sorted({c for c in cuts if 0 < c < len(stretch)}), len(stretch)]
    quoted = _quoted(stretch)
    edges = [e for e in edges if e in (0, len(stretch)) or not quoted[e - 1]]
    return [(start + a, start + b) for a, b in itertools.pairwise(edges)]


def _clause(content: str, masked: str, start: int, end: int, sentence: int, paragraph: int) -> Clause | None:
    while start < end and (masked[start].isspace() or masked[start] == MASK):
        start += 1
    while end > start and (masked[end - 1].isspace() or masked[end - 1] == MASK or masked[end - 1] in "，,;；、-–—"):
        end -= 1
    end = min(end, start + MAX_CLAUSE)
    norm = masked[start:end]
    if not any(c.isalnum() for c in norm) or (MASK * 3 in norm and sum(c == MASK for c in norm) * 2 > len(norm)):
        return None
    return Clause(
        start=start,
        end=end,
        text=content[start:end],
        norm=norm,
        language=script(norm),
        sentence=sentence,
        paragraph=paragraph,
    )
