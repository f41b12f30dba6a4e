"""When what is said holds: the interval of a statement, and its relative words made dates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from ltm_core.when import TimeMention, find_times
from ltm_core.write.plan import Utterance
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon

Aim: TypeAlias = Literal["none", "recurring", "ahead", "begins"]
"""How the times of a statement are meant: as they stand, every year or week, the next one, or a start to come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Validity:
    """The interval in which a statement holds, and the words that say so with their dates."""

    valid_from: datetime
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    dated: str = ""
    """Resolved date to show beside relative words; empty when there are none."""


def mentions(text: str, utterance: Utterance, language: str, *, ahead: bool = False) -> tuple[TimeMention, ...]:
    """Time expressions of a clause in the user's day; ``ahead``: "Thursday" is the next one."""
    known = language if language in ("zh", "en", "ja") else None
    return find_times(text, now=utterance.at, language=known, prefer="future" if ahead else "past")


def validity(
    read: Read,
    utterance: Utterance,
    lexicon: Lexicon,
    *,
    past: bool,
    temporary: bool,
    event: bool,
    aim: Aim = "none",
) -> Validity:
    """When the clause holds. ``event``: it tells a change that happened at the time it names."""
    now = utterance.at
    found = mentions(read.clause.text, utterance, read.clause.language)
    if read.clause.language == "zh" and aim == "ahead" and not past:
        # "了" behind what is set tells that it was set, not that it is over.
        set_to = mentions(read.clause.text.rstrip("了啦。.!！ "), utterance, "zh", ahead=True)
        return Validity(valid_from=now, dated=_dated(set_to))
    if read.clause.language == "zh" and aim == "begins":
        coming = [m for m in found if m.since > now and m.relative]
        if coming:
            return Validity(valid_from=coming[0].since, dated=_dated(found))
    elif aim == "recurring":
        found = tuple(m for m in found if _is_since(m, read, lexicon))
    elif aim == "ahead":
        found = tuple(_forward(m, now, lexicon) for m in found)
    elif aim == "begins":
        happened = _happened(read, lexicon)
        found = tuple(_back(m, now, read, lexicon) if happened else _forward(m, now, lexicon) for m in found)
        coming = [m for m in found if m.since > now]
        if coming:
            return Validity(valid_from=coming[0].since, dated=_dated(found))
    dated = _dated(found)
    if temporary:
        end = _end_of(read, found, now)
        return Validity(valid_from=now, valid_to=end, expires_at=end, dated=dated)
    told = [m for m in found if m.direction == "past" and m.since <= now]
    if past:
        if told:
            return Validity(valid_from=told[0].since, valid_to=min(told[0].until, now), dated=dated)
        return Validity(valid_from=now, valid_to=now, dated=dated)
    for m in told:
        if event or _is_since(m, read, lexicon):
            return Validity(valid_from=m.since, dated=dated)
    return Validity(valid_from=now, dated=dated)


def _is_since(m: TimeMention, read: Read, lexicon: Lexicon) -> bool:
    """Whether the words say that something began then."""
    shared = lexicon.shared
    before, after = read.clause.norm[: m.start], read.clause.norm[m.end :]
    return bool(
        shared["since_word"].match(m.text)
        or shared["since_before"].search(before)
        or shared["begins_after"].search(after)
    )


def _happened(read: Read, lexicon: Lexicon) -> bool:
    """Whether the clause tells what already happened, not what is about to begin."""
    return lexicon.shared["about_to"].search(read.clause.norm) is None


def _forward(m: TimeMention, now: datetime, lexicon: Lexicon) -> TimeMention:
    """A day or month without a year, as the next one: what is set or moved to it lies ahead."""
    if m.until > now or not m.relative or lexicon.shared["fixed_time"].search(m.text):
        return m
    if lexicon.shared["weekday"].search(m.text):
        weeks = timedelta(days=7 * ((now - m.until).days // 7 + 1))
        return replace(m, since=m.since + weeks, until=m.until + weeks, direction="future")
    years = now.year - m.until.year + (1 if _on(m.until, now.year) <= now else 0)
    since, until = _on(m.since, m.since.year + years), _on(m.until, m.until.year + years)
    return replace(m, since=since, until=until, direction="future")


def _back(m: TimeMention, now: datetime, read: Read, lexicon: Lexicon) -> TimeMention:
    """A month or season of this year that is to come, as the last one when the words tell what is done ("started
    there this September", said in March)."""
    if m.since <= now or not m.relative or m.precision == "day":
        return m
    if lexicon.shared["since_before"].search(read.clause.norm[: m.start]) is not None:
        return m  # "promoted from this September"
    if lexicon.rules("en").parts["has_begun"].search(read.clause.norm) is None:
        return m
    since, until = (_on(t, t.year - 1) for t in (m.since, m.until))
    return replace(m, since=since, until=until, direction="past")


def _on(moment: datetime, year: int) -> datetime:
    day = 28 if moment.month == 2 and moment.day == 29 else moment.day
    return moment.replace(year=year, day=day)


def _dated(found: tuple[TimeMention, ...]) -> str:
    shown = []
    for m in found:
        if not m.relative or (m.direction == "present" and m.precision not in ("week", "month", "range")):
            continue
        last = m.until - timedelta(microseconds=1)
        if m.precision in ("day", "hour", "instant"):
            shown.append(f"{m.since:%Y-%m-%d}")
        elif m.precision == "month":
            shown.append(f"{m.since:%Y-%m}")
        elif m.precision == "year":
            shown.append(f"{m.since:%Y}")
        elif m.precision == "range":
            shown.append(f"{m.since:%Y-%m-%d}/")
        else:
            shown.append(f"{m.since:%Y-%m-%d}/{last:%Y-%m-%d}")
    return ", ".join(dict.fromkeys(s for s in shown if not s.endswith("/")))


def _end_of(read: Read, found: tuple[TimeMention, ...], now: datetime) -> datetime:
    for m in found:
        if m.until > now:
            return m.until
    return now + timedelta(days=7)
