"""What became of preferences, homes and jobs over time: the values of each slot in order. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, tzinfo

from ltm_core.recall.data import toml
from ltm_core.text.normalize import fold, printable
from ltm_core.types import Fact, FactSpan, SlotTimeline
from ltm_core.types.names import SpanState
from ltm_core.when import zone_of

TOLD = ("en", "zh")
"""Languages in which a timeline can be told; any other is told in English."""


def slots_of(facts: Iterable[Fact], *, now: datetime, changed_only: bool) -> tuple[SlotTimeline, ...]:
    """The facts by subject and relation, each group in the order in which its values began to hold; the group that
    began first comes first. With ``changed_only`` those of which something is over or was taken back."""
    groups: dict[tuple[str, str], list[Fact]] = defaultdict(list)
    known: dict[str, Fact] = {}
    for fact in facts:
        groups[fold(fact.subject), fold(fact.relation)].append(fact)
        known[fact.id] = fact
    taken: dict[str, list[str]] = defaultdict(list)
    for fact in known.values():
        if fact.superseded_by is not None:
            taken[fact.superseded_by].append(fact.id)
    found = []
    for group in groups.values():
        ordered = sorted(group, key=lambda f: (f.valid_from, f.recorded_at, f.id))
        spans = tuple(
            FactSpan(
                fact=f,
                since=f.valid_from,
                until=_until(f),
                state=_state(f, now=now),
                replaced_by=f.superseded_by,
                replacement=known.get(f.superseded_by or ""),
                replaces=tuple(taken.get(f.id, ())),
            )
            for f in ordered
        )
        slot = SlotTimeline(subject=ordered[0].subject, relation=ordered[0].relation, spans=spans)
        if slot.changed or not changed_only:
            found.append(slot)
    return tuple(sorted(found, key=lambda s: (s.spans[0].since, s.subject, s.relation)))


def told(slot: SlotTimeline, *, language: str, timezone: str | None) -> str:
    """The slot as lines of text, the first naming it."""
    zone = UTC if timezone is None else zone_of(timezone)
    return "\n".join([f"{slot.subject} · {slot.relation}", *(f"  {_line(s, language, zone)}" for s in slot.spans)])


def _line(span: FactSpan, language: str, zone: tzinfo) -> str:
    words = toml("timeline.toml")[language if language in TOLD else "en"]
    since = span.since.astimezone(zone).date().isoformat()
    when = words["since"].format(since=since)
    if span.until is not None:
        when = words["span"].format(since=since, until=span.until.astimezone(zone).date().isoformat())
    value = _value(span.fact, words)
    by = "" if span.replacement is None else _value(span.replacement, words)
    end = words[span.state].format(by=by) if span.state != "replaced" or by else words["ended"]
    return f"{when}  {value}" + (f"  ({end})" if end else "")


def _until(fact: Fact) -> datetime | None:
    ends = [t for t in (fact.valid_to, fact.retracted_at, fact.expires_at) if t is not None]
    return max(fact.valid_from, min(ends)) if ends else None


def _state(fact: Fact, *, now: datetime) -> SpanState:
    if fact.retracted_at is not None:
        return "retracted"
    if fact.suppressed_at is not None:
        return "suppressed"
    if fact.expires_at is not None and fact.expires_at <= now:
        return "expired"
    if fact.valid_from > now:
        return "not_yet"
    if fact.superseded_by is not None and (fact.valid_to is None or fact.valid_to <= now):
        return "replaced"
    if fact.valid_to is not None and fact.valid_to <= now:
        return "ended"
    return "holds"


def _value(fact: Fact, words: Mapping[str, str]) -> str:
    value = printable(fact.object)
    return value if fact.is_positive else words["not"].format(value=value)


__all__ = ["slots_of", "told"]
