"""Time expressions in Chinese, English and Japanese, resolved to ranges of the user's day."""

from __future__ import annotations

from .find import find_times
from .instants import parse_instant, parse_range, resolve_words, stored_zone, zone_of
from .types import TimeMention

__all__ = ["TimeMention", "find_times", "parse_instant", "parse_range", "resolve_words", "stored_zone", "zone_of"]
