"""Results of recent recalls, for the same question asked again: retries, tool loops, several adapters in one turn.

A result is good for the user's revision at which it was read. Every write and erasure, in any process, raises that
revision; it is compared at each call, so a result is never older than the store. What changes with time alone ends
it too: `good_until`.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from ltm_core.forklock import ForkSafeLock
from ltm_core.recall.request import RecallRequest
from ltm_core.types import Context, ContextItem

if TYPE_CHECKING:
    from ltm_core.recall.service import Moment
    from ltm_core.store.base import Reader

Result = Context | tuple[ContextItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    user_id: str
    revision: int
    since: datetime
    until: datetime
    result: Result
    holds: object
    """What the key names by identity; held, so that no other object gets it."""


class RecallCache:
    """The last ``size`` results of one process, least recently used out first. Thread-safe.

    A user's results go as soon as another revision of the user is seen, and by `forget`. Keys are hashes under a
    random key of this object: no question is kept as text outside its result.
    """

    def __init__(self, *, size: int, seconds: float) -> None:
        self.size = size
        self.seconds = seconds
        self._secret = secrets.token_bytes(32)
        self._lock = ForkSafeLock()
        self._kept: OrderedDict[bytes, _Kept] = OrderedDict()
        self.asked = 0
        """Calls of `get`, for metrics."""
        self.hits = 0
        """Those that were answered from here."""

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def is_on(self) -> bool:
        return self.size > 0 and self.seconds > 0

    def key(self, request: RecallRequest, *more: object) -> bytes:
        """Equal for equal calls of one user, whenever they are made."""
        # The moment is compared apart; its zone is part of the question.
        zone = request.now.tzinfo
        current = request.current_messages
        if current is not None:
            # Turns of the host are told apart by id and words; some hosts date them anew at each call.
            current = tuple(replace(m, at=None) for m in current)
        said = repr((replace(request, now=_NEVER, current_messages=current), str(zone), more))
        return hashlib.blake2b(said.encode("utf-8", "surrogatepass"), key=self._secret, digest_size=20).digest()

    def get(self, key: bytes, *, user_id: str, revision: int, now: datetime) -> Result | None:
        """The result of the same call at this revision, the caller's own, or None."""
        with self._lock:
            self.asked += 1
            kept = self._kept.get(key)
            if kept is None:
                return None
            if kept.revision != revision:
                self._drop(user_id)
                return None
            if not kept.since <= now < kept.until:
                return None
            self._kept.move_to_end(key)
            self.hits += 1
        return _own(kept.result)

    def put(
        self,
        key: bytes,
        result: Result,
        *,
        user_id: str,
        revision: int,
        now: datetime,
        until: datetime,
        holds: object = None,
    ) -> None:
        kept = _Kept(user_id=user_id, revision=revision, since=now, until=until, result=_own(result), holds=holds)
        with self._lock:
            stale = [k for k, v in self._kept.items() if v.user_id == user_id and v.revision != revision]
            for k in stale:
                del self._kept[k]
            self._kept[key] = kept
            self._kept.move_to_end(key)
            while len(self._kept) > self.size:
                self._kept.popitem(last=False)

    def forget(self, user_id: str) -> None:
        """Nothing of the user is kept here."""
        with self._lock:
            self._drop(user_id)

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()

    def _drop(self, user_id: str) -> None:
        """Called with the lock held."""
        for key in [k for k, v in self._kept.items() if v.user_id == user_id]:
            del self._kept[key]


_NEVER = datetime.min.replace(tzinfo=UTC)


def good_until(reader: Reader, moment: Moment, *, seconds: float) -> datetime | None:
    """Until when the recall of ``moment`` stays the same while nothing is written; None when it should not be kept.

    It ends when a slot, a message or a fact expires, and when a fact begins or ceases to hold; of a question that
    names days, with the day ("last week"); one that names hours means another range a moment later.
    """
    request = moment.request
    now = request.now
    if not all(_is_midnight(e, now) for t in moment.question.times for e in (t.since, t.until)):
        return None
    ends = [now + timedelta(seconds=seconds)]
    if moment.question.times:
        tomorrow = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
        ends.append(tomorrow)
    rows = reader.snapshot().rows
    later = rows.expires[rows.expires > _micro(now)]
    if len(later):
        first = int(later.min())
        if first < _micro(ends[0]):
            return None
    ends += [f.valid_from for f in reader.facts(waiting_at=now)]
    ends += [f.valid_to for f, _ in moment.found.facts.values() if f.valid_to is not None]
    if request.scope.session_id is not None:
        ends += [s.expires_at for s in reader.slots(request.scope.session_id, now=now) if s.expires_at is not None]
    return min(e for e in ends if e > now)


def _is_midnight(moment: datetime, now: datetime) -> bool:
    local = moment.astimezone(now.tzinfo)
    return (local.hour, local.minute, local.second, local.microsecond) == (0, 0, 0, 0)


def _micro(moment: datetime) -> int:
    from ltm_core.store.times import to_us

    return to_us(moment)


def _own(result: Result) -> Result:
    """The same result with signals of its own: they are dictionaries, which a caller may change."""
    if isinstance(result, tuple):
        return _items(result)
    return replace(
        result,
        working=_items(result.working),
        semantic=_items(result.semantic),
        episodic=_items(result.episodic),
    )


def _items(items: Sequence[ContextItem]) -> tuple[ContextItem, ...]:
    return tuple(replace(i, signals=dict(i.signals)) if i.signals else i for i in items)


__all__ = ["RecallCache", "Result", "good_until"]
