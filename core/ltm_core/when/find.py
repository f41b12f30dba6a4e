"""The public search."""

from __future__ import annotations

from datetime import datetime

from ltm_core.errors import InvalidTimeError

from .types import Prefer, TimeMention


def search(
    text: str, *, now: datetime, language: str | None = None, prefer: Prefer = "past", weak: bool = False
) -> tuple[TimeMention, ...]:
    """``find_times``, with the forms too slight for running text let in when ``weak``."""
    from .scan import search as scan  # here, so that importing the package costs nothing

    if now.tzinfo is None or now.utcoffset() is None:
        raise InvalidTimeError("now must be an aware datetime: its zone is the user's")
    return scan(text, now=now, language=language, prefer=prefer, weak=weak)


def find_times(
    text: str, *, now: datetime, language: str | None = None, prefer: Prefer = "past"
) -> tuple[TimeMention, ...]:
    """Every time expression of ``text``, resolved in the day of ``now``; disjoint and in order.

    ``now`` must be aware, and its zone is the user's. ``prefer`` places a form that could be either ("Friday",
    "in March") before or after now; a tense in the clause overrides it. ``language`` is a hint: English is
    read in any text, Chinese and Japanese by their characters. Seasons are those of the northern half.
    """
    return search(text, now=now, language=language, prefer=prefer)
