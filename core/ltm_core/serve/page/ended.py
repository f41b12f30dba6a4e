"""Sign-ins that were signed out before their time: a cookie that was copied opens nothing, in any worker."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ltm_core.serve.page.session import PageSession
from ltm_core.serve.sharedfile import SharedFile

ENDED_FILE = "page_signed_out.json"
"""Beside the keys. It names random ids of sign-ins, which open nothing, and only those that would still hold."""


class Ended:
    """The list of them, in a file of the store's directory."""

    def __init__(self, place: Path) -> None:
        empty: Mapping[str, int] = {}
        self._file = SharedFile(place / ENDED_FILE, load=_checked, dump=dict, empty=empty, what="ended sign-ins")

    def has(self, sign_in: str) -> bool:
        """Whether this sign-in was signed out."""
        return sign_in in self._file.value()

    def add(self, session: PageSession, *, now: float) -> None:
        """No cookie of the sign-in opens anything from here on; those whose time is over are dropped from the list.
        UnavailableError when it cannot be written."""
        mine = {session.sign_in: session.expires}
        self._file.change(lambda known: {i: until for i, until in {**known, **mine}.items() if until > now})


def _checked(rows: dict[str, int]) -> Mapping[str, int]:
    return {str(i): int(until) for i, until in rows.items()}


__all__ = ["ENDED_FILE", "Ended"]
