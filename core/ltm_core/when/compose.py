"""From matches to mentions: choose among overlapping atoms, join the ones that belong together, date them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from .clock import merge, on
from .lexicon import Lexicon, lexicon
from .readings import Atom, Clock, Moment, Reading, Span
from .spans import midnight
from .types import Direction, TimeMention

_WINDOW = 16
_NO_END = frozenset({"range", "hours", "daypart"})
Leaning = Callable[[Atom], Moment]


def _joins(atom: Atom) -> Lexicon:
    return lexicon(atom.language)


def _gap(text: str, left: Atom, right: Atom, join: str) -> bool:
    if not 0 <= right.start - left.end <= _WINDOW:
        return False
    return _joins(left).joins[join].fullmatch(text, left.end, right.start) is not None


def _before(text: str, atom: Atom, join: str) -> re.Match[str] | None:
    window = text[max(0, atom.start - _WINDOW) : atom.start]
    return _joins(atom).joins[join].search(window)


def _after(text: str, atom: Atom, join: str) -> re.Match[str] | None:
    return _joins(atom).joins[join].match(text, atom.end, min(len(text), atom.end + _WINDOW))


def recurring(text: str, atom: Atom) -> bool:
    """True when the words around the atom make it a habit ("every Friday") and no point in time."""
    return bool(_before(text, atom, "habit_before") or _after(text, atom, "habit_after"))


def _joined(left: Atom, right: Atom, kind: str, resolve: Callable[[Moment], Reading | None]) -> Atom:
    return replace(left, end=right.end, kind=kind, weak=left.weak and right.weak and kind != "dated", resolve=resolve)


def _two_clocks(left: Atom, right: Atom, *, span: bool) -> Atom | None:
    def resolve(at: Moment) -> Reading | None:
        one, two = left.resolve(at), right.resolve(at)
        if not isinstance(one, Clock) or not isinstance(two, Clock) or two.hour is None:
            return None
        if not span:
            return merge(one, two) if one.hour is None else None
        if one.hour is None:
            return None
        if one.half is None and two.half is not None:
            one = replace(one, half=two.half, low=two.low, high=two.high)
        return replace(one, until=replace(two, half=two.half or one.half))

    return _joined(left, right, "hours" if span else "clock", resolve)


def _dated(day: Atom, hour: Atom, left: Atom, right: Atom) -> Atom:
    def resolve(at: Moment) -> Reading | None:
        span, clock = day.resolve(at), hour.resolve(at)
        if not isinstance(span, Span) or not isinstance(clock, Clock) or span.day is None:
            return None
        if span.clock is not None:
            if span.clock.hour is not None or clock.hour is None:
                return None
            clock = merge(span.clock, clock)
        found = on(span.day, clock)
        return replace(found, relative=span.relative, ambiguous=span.ambiguous)

    return _joined(left, right, "dated", resolve)


def _at(when: datetime, at: Moment, **changes: object) -> Moment:
    aware = when if when.tzinfo else when.replace(tzinfo=at.zone)
    return replace(at, now=aware, **changes)  # type: ignore[arg-type]


def _range(left: Atom, right: Atom, lean_right: Moment) -> Atom:
    def resolve(at: Moment) -> Reading | None:
        one, two = left.resolve(at), right.resolve(replace(lean_right, now=at.now))
        if not isinstance(one, Span) or not isinstance(two, Span):
            return None
        told = not two.ambiguous and not two.relative
        if one.ambiguous and told:
            again = left.resolve(_at(two.until, at, prefer="past"))
            one = again if isinstance(again, Span) else one
        elif two.ambiguous:
            again = right.resolve(_at(one.since, at, prefer="future"))
            two = again if isinstance(again, Span) else two
        if two.until.replace(tzinfo=None) <= one.since.replace(tzinfo=None):
            return None
        return Span(
            since=one.since,
            until=two.until,
            precision="range",
            relative=(one.relative and not (one.ambiguous and told))
            or (two.relative and not two.ambiguous)
            or (one.relative and two.relative),
        )

    return _joined(left, right, "range", resolve)


def _since(atom: Atom) -> Atom:
    def resolve(at: Moment) -> Reading | None:
        span = atom.resolve(replace(at, prefer="past"))
        if isinstance(span, Clock):
            span = today(span, replace(at, prefer="past", cued=True))
        until = midnight(at.today) + timedelta(days=1)
        if span is None or span.since.replace(tzinfo=None) >= until:
            return None
        return Span(since=span.since, until=until, precision="range", relative=True, direction="past")

    return replace(atom, kind="since", resolve=resolve)


def today(clock: Clock, at: Moment) -> Span:
    """The clock on the day it is told; on the day before or after when the tense says it must be."""
    span = on(at.today, clock)
    now = at.now.replace(tzinfo=None)
    if at.cued and at.prefer == "past" and span.since > now:
        span = on(at.today - timedelta(days=1), clock)
    elif at.prefer == "future" and span.until <= now:
        span = on(at.today + timedelta(days=1), clock)
    return replace(span, relative=True)


def _pairs(atoms: list[Atom], lean: Leaning, make: Callable[[Atom, Atom], Atom | None]) -> list[Atom]:
    """One pass over neighbours; a joined pair may go on to join with the next atom."""
    done: list[Atom] = []
    for atom in atoms:
        if done:
            both = make(done[-1], atom)
            if both is not None and both.resolve(lean(both)) is not None:
                done[-1] = both
                continue
        done.append(atom)
    return done


def join(text: str, atoms: list[Atom], lean: Leaning) -> list[Atom]:
    """The atoms with dates and times, ranges and "since" put together, in order."""

    def clocks(left: Atom, right: Atom) -> Atom | None:
        # An "hours" is closed: it takes no further end, however many follow.
        if left.kind not in ("clock", "daypart") or right.kind != "clock":
            return None
        if left.kind == "daypart" and _gap(text, left, right, "date_time"):
            return _two_clocks(left, right, span=False)
        if left.kind == "clock" and _gap(text, left, right, "range"):
            return _two_clocks(left, right, span=True)
        return None

    def dates(left: Atom, right: Atom) -> Atom | None:
        hours = ("clock", "hours", "daypart")
        if left.kind not in hours and right.kind in hours and _gap(text, left, right, "date_time"):
            return _dated(left, right, left, right)
        if left.kind in hours and right.kind not in hours and _gap(text, left, right, "time_date"):
            return _dated(right, left, left, right)
        return None

    def ranges(left: Atom, right: Atom) -> Atom | None:
        if left.kind in _NO_END or right.kind in _NO_END:
            return None
        opened = _before(text, left, "range_before")
        if _gap(text, left, right, "range"):
            if left.weak and right.weak and (left.kind != right.kind or (left.kind == "year" and not opened)):
                return None
        elif not (
            _gap(text, left, right, "and")
            and (_before(text, left, "between") or _after(text, right, "between_after"))
        ):
            return None
        both = _range(left, right, lean(right))
        opening = opened or _before(text, left, "between")
        closing = _after(text, right, "range_after")
        return replace(
            both,
            weak=False,
            start=left.start - (len(opening[0]) if opening else 0),
            end=closing.end() if closing else right.end,
        )

    for make in (clocks, dates, ranges):
        atoms = _pairs(atoms, lean, make)
    return [_with_since(text, atom, lean) for atom in atoms]


def _with_since(text: str, atom: Atom, lean: Leaning) -> Atom:
    if atom.kind in _NO_END:
        return atom
    before, after = _before(text, atom, "since_before"), _after(text, atom, "since_after")
    if before is None and after is None:
        return atom
    start = before or _before(text, atom, "from_before")
    opened = _since(atom)
    if opened.resolve(lean(atom)) is None:
        return atom
    return replace(
        opened,
        weak=False,
        start=atom.start - (len(start[0]) if start else 0),
        end=after.end() if after else atom.end,
    )


def mention(text: str, atom: Atom, span: Span, at: Moment) -> TimeMention | None:
    """The span with its zone, or None when it lies outside the calendar."""
    since, until = _aware(span.since, at), _aware(span.until, at)
    if until.astimezone(UTC) <= since.astimezone(UTC):
        # The clocks were put forward over the whole of it.
        until = (since.astimezone(UTC) + timedelta(hours=1)).astimezone(at.zone)
    direction: Direction = "past" if until <= at.now else "future" if since > at.now else "present"
    return TimeMention(
        text=text[atom.start : atom.end],
        start=atom.start,
        end=atom.end,
        since=since,
        until=until,
        precision=span.precision,
        relative=span.relative,
        direction=span.direction or direction,
    )


def _aware(when: datetime, at: Moment) -> datetime:
    if when.tzinfo is None:
        when = when.replace(tzinfo=at.zone)
    # A wall time that the clocks skip becomes the one they showed instead.
    return when.astimezone(UTC).astimezone(at.zone)
