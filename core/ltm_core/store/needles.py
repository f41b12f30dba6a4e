"""Many byte strings looked for at once: one pass over the data, however many there are. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

PREFIX = 8
"""Bytes by which a place is recognised before the whole string is compared; shorter strings are compared one
by one."""
_ESCAPE = re.compile(r"\\u[0-9a-f]{4}")


def variants(needles: Sequence[bytes]) -> list[bytes]:
    """The needles and their lower and upper case, each as UTF-8, UTF-16 of both orders and JSON-escaped."""
    found: dict[bytes, None] = {}
    for needle in needles:
        if not needle:
            continue
        found[needle] = None
        try:
            text = needle.decode()
        except UnicodeDecodeError:
            continue
        for form in (text, text.lower(), text.upper()):
            escaped = json.dumps(form)[1:-1]
            for data in (
                form.encode(),
                form.encode("utf-16-le"),
                form.encode("utf-16-be"),
                escaped.encode(),
                _ESCAPE.sub(lambda m: "\\u" + m[0][2:].upper(), escaped).encode(),
            ):
                found[data] = None
    return list(found)


class Needles:
    """Byte strings to look for."""

    def __init__(self, strings: Sequence[bytes]) -> None:
        self.strings = tuple(dict.fromkeys(s for s in strings if s))
        self.longest = max(map(len, self.strings), default=0)
        self._short = [s for s in self.strings if len(s) < PREFIX]
        self._by_prefix: dict[int, list[bytes]] = {}
        for s in self.strings:
            if len(s) >= PREFIX:
                self._by_prefix.setdefault(int.from_bytes(s[:PREFIX], "little"), []).append(s)

    def found_in(self, data: bytes) -> set[bytes]:
        """Which of the strings stand somewhere in the data."""
        found = {s for s in self._short if s in data}
        if not self._by_prefix or len(data) < PREFIX:
            return found
        import numpy as np

        prefixes = np.array(sorted(self._by_prefix), dtype=np.uint64)
        # Two bytes select the few places whose eight bytes are worth comparing.
        starts = np.zeros(65536, dtype=np.bool_)
        starts[(prefixes & np.uint64(0xFFFF)).astype(np.int64)] = True
        octets = np.frombuffer(data, dtype=np.uint8)
        last = len(octets) - PREFIX
        for parity in (0, 1):
            pairs = octets[parity : parity + (len(octets) - parity) // 2 * 2].view("<u2")
            places = np.flatnonzero(starts[pairs]) * 2 + parity
            places = places[places <= last]
            keys = np.zeros(len(places), dtype=np.uint64)
            for i in range(PREFIX):
                keys |= octets[places + i].astype(np.uint64) << np.uint64(8 * i)
            alike = np.isin(keys, prefixes)
            for place, key in zip(places[alike].tolist(), keys[alike].tolist(), strict=True):
                found.update(s for s in self._by_prefix[key] if data.startswith(s, place))
        return found
