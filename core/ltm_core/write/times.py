"""When what is said holds: the interval of a statement, and its relative words made dates."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from ltm_core.when import TimeMention, find_times
from ltm_core.write.lexicon import Lexicon
from ltm_core.write.plan import Utterance
from ltm_core.write.scopes import Read


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
    begins: bool = False,
    appointed: bool = False,
) -> Validity:
    """When the clause holds. ``event``: it tells a change that happened at the time it names. ``begins``: it
    tells what begins at a time to come. ``appointed``: the time is that of an appointment or a deadline."""
    now, shared = utterance.at, lexicon.shared
    text = read.clause.text.rstrip("了啦。.!！ ") if appointed else read.clause.text  # "了" is no past here
    found = mentions(text, utterance, read.clause.language, ahead=appointed)
    dated = _dated(found)
    if appointed and not past:
        return Validity(valid_from=now, dated=dated)
    if temporary:
        end = _end_of(read, found, now)
        return Validity(valid_from=now, valid_to=end, expires_at=end, dated=dated)
    told = [m for m in found if m.direction == "past" and m.since <= now]
    if past:
        if told:
            return Validity(valid_from=told[0].since, valid_to=min(told[0].until, now), dated=dated)
        return Validity(valid_from=now, valid_to=now, dated=dated)
    for m in told:
        before, after = read.clause.norm[: m.start], read.clause.norm[m.end :]
        since = (
            shared["since_word"].match(m.text)
            or shared["since_before"].search(before)
            or shared["begins_after"].search(after)
        )
        if since or event:
            return Validity(valid_from=m.since, dated=dated)
    ahead = [m for m in found if m.since > now and m.relative] if begins else []
    if ahead:
        return Validity(valid_from=ahead[0].since, dated=dated)
    return Validity(valid_from=now, dated=dated)


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
