"""Summaries as entries of a recall: labelled with their period, below the turns they rest on, and never beside
what such a turn says. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from ltm_core.keep.redaction import FILLER
from ltm_core.recall.entry import Entry
from ltm_core.recall.gather import Found
from ltm_core.recall.hits import Hit
from ltm_core.recall.question import Question
from ltm_core.recall.select import SAID_BY_FACT
from ltm_core.store.base import MessageRow
from ltm_core.store.rows import SummaryLine, SummaryRow
from ltm_core.text.terms import terms
from ltm_core.types import ContextItem, Dropped
from ltm_core.when import stored_zone

STANDS = 0.9
"""What a summary that stands for retired turns keeps of its score: of two that answer alike a turn is better
evidence."""
BESIDE = 0.6
"""What one keeps whose turns are all found by themselves: it must not take their place in the budget."""
REST = 0.7
"""What is left of that for the other lines, when the line that was found is said by its own turn already: beside an
answer stands what was told with it, and the turns that told it may be retired."""
BELOW = 0.95
"""What it keeps of the score of the best turn it rests on, when that was found too."""


@dataclass(frozen=True, slots=True)
class _Part:
    """What is left of one summary."""

    row: SummaryRow
    hit: Hit
    lines: tuple[SummaryLine, ...]
    hits_line: bool
    """Whether the line that was found is among them."""


def summary_entries(
    found: Found, question: Question, *, shown: Collection[str], held: Collection[int]
) -> tuple[list[Entry], list[Dropped]]:
    """One entry per summary with the lines that nothing else shows.

    ``shown`` are the messages that are offered themselves, ``held`` items of turns that the host shows. A line is
    left out when one of its turns is among them, when a better summary says it, or when all it says was replaced
    and the question does not ask for what was. A summary without the line that was found is dropped, unless turns are
    retired behind its other lines.
    """
    out: list[Entry] = []
    dropped: list[Dropped] = []
    said: set[str] = set()
    for row, hit in sorted(found.summaries, key=lambda p: (-p[1].score, -p[0].item)):
        part = _left(row, hit, found, question, shown=shown, held=held, said=said)
        keeps = STANDS if row.retired else BESIDE
        entry = _entry(part, score=hit.score * keeps * (1 if part.hits_line else REST))
        if not part.lines or not (part.hits_line or row.retired):
            dropped.append(entry.dropped("its turns, or a better summary, say it"))
            continue
        said |= {line.text for line in part.lines}
        out.append(entry)
    return out, dropped


def below_sources(entries: Sequence[Entry], messages: Sequence[tuple[MessageRow, Hit]]) -> list[Entry]:
    """The summaries, each below the best of its turns that was found as well."""
    scores = {row.id: hit.score for row, hit in messages}
    out = []
    for entry in entries:
        best = max((scores[i] for i in entry.item.source_message_ids if i in scores), default=None)
        if best is not None and BELOW * best < entry.item.score:
            entry = entry.rescored(BELOW * best, "below the turn it rests on")
        out.append(entry)
    return out


def _left(
    row: SummaryRow,
    hit: Hit,
    found: Found,
    question: Question,
    *,
    shown: Collection[str],
    held: Collection[int],
    said: Collection[str],
) -> _Part:
    lines: list[SummaryLine] = []
    hits_line = False
    for line, (start, end) in zip(row.lines, row.spans(), strict=True):
        sources = [row.sources[i] for i in line.sources]
        if line.text in said or FILLER in line.text:
            continue
        if any(s.message_id in shown or s.item in held for s in sources):
            continue
        if not (question.asks_past_state or question.times) and _overtaken(line, row, found):
            continue
        lines.append(line)
        hits_line = hits_line or (start < hit.end and hit.start < end)
    return _Part(row, hit, tuple(lines), hits_line)


def _overtaken(line: SummaryLine, row: SummaryRow, found: Found) -> bool:
    """All its turns stated only what later ones replaced, and it says no more than that."""
    standing = [found.standing.get(row.sources[i].message_id) for i in line.sources]
    if not standing or any(s is None for s in standing):
        return False
    own = set(terms(line.text))
    replaced = {t for s in standing if s is not None for t in s.said}
    return len(own & replaced) >= SAID_BY_FACT * len(own)


def _entry(part: _Part, *, score: float) -> Entry:
    row, hit = part.row, part.hit
    first, last = _days(row)
    ids = tuple(dict.fromkeys(row.sources[i].message_id for line in part.lines for i in line.sources))
    text = "\n".join(line.shown for line in part.lines)
    item = ContextItem(
        text=text,
        tier="episodic",
        at=row.said_at,
        score=score,
        similarity=hit.similarity,
        signals=hit.signals,
        source_id=row.id,
        source_message_ids=ids,
        reasons=(f"summary of {len(row.sources)} turns, {row.level}, made by {row.made_by}",),
        period=(row.begins, row.ends),
    )
    return Entry(
        item=item,
        unit=f"summary:{row.item}",
        date=first.isoformat() if first == last else f"{first.isoformat()} – {last.isoformat()}",
        mark="summary",
        focus=(0, len(text)),
        terms=frozenset(terms(text)),
        language=row.language,
    )


def _days(row: SummaryRow) -> tuple[date, date]:
    zone = stored_zone(row.timezone)
    return row.begins.astimezone(zone).date(), (row.ends.astimezone(zone) - timedelta(microseconds=1)).date()


__all__ = ["below_sources", "summary_entries"]
