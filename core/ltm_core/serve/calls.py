"""One request's way to the memory: who asks, whether they may, the call in a thread, its time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote

import anyio
from fastapi import Request

from ltm_core.acting import acting
from ltm_core.errors import InvalidInputError
from ltm_core.serve.inside import Inside
from ltm_core.serve.keys import ApiKey, Keyring
from ltm_core.serve.metrics import Metrics
from ltm_core.serve.problems import CHALLENGE, Problem, Refused, of_error
from ltm_core.serve.rate import Rate
from ltm_core.serve.requestlog import note
from ltm_core.serve.settings import ServeSettings
from ltm_core.serve.who import user_of

if TYPE_CHECKING:
    from ltm_core.memory import LongTermMemory
    from ltm_core.serve.operations import Reach

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, for whom, and what the audit log says of it."""

    key: ApiKey
    user_id: str | None
    actor: str
    reason: str | None


class Calls:
    """What the routes share."""

    def __init__(
        self, memory: LongTermMemory, keys: Keyring, settings: ServeSettings, *, rate: Rate, metrics: Metrics
    ) -> None:
        self.memory = memory
        self.inside = Inside(memory)
        self.keys = keys
        self.settings = settings
        self.metrics = metrics
        self._rate = rate
        self._limiter: anyio.CapacityLimiter | None = None

    def key(self, request: Request) -> ApiKey:
        """The key of the request, known and within its rate."""
        owner = self.keys.bearer(request.headers.get("authorization", ""))
        if owner is None:
            detail = "give a key: Authorization: Bearer ltm_…; `ltm keys add` makes one"
            raise Refused(
                Problem(status=401, title="No valid key", detail=detail, error="AccessDeniedError", headers=CHALLENGE)
            )
        note(request.scope, key=owner.id)
        self.admit(owner)
        return owner

    def admit(self, owner: ApiKey) -> None:
        """One more request of this key; Refused (429) when it sends too many."""
        wait = self._rate.allow(owner.id)
        if wait:
            detail = f"this key may send {self.settings.requests_per_minute} requests a minute"
            headers = {"Retry-After": str(max(1, round(wait + 0.5)))}
            raise Refused(
                Problem(status=429, title="Too many requests", detail=detail, error="BusyError", headers=headers)
            )

    def caller(self, request: Request, named: Any, *, reach: Reach) -> Caller:
        """Who asks and for whom; AccessDeniedError (403) when the key does not allow it."""
        key = self.key(request)
        user_id = user_of(key, request.headers, named, reach=reach)
        note(request.scope, user_id=user_id)
        actor = _text(request, "ltm-actor")
        return Caller(key, user_id, f"{actor} ({key.actor})" if actor else key.actor, _text(request, "ltm-reason"))

    async def run(self, what: str, caller: Caller, call: Callable[[], T]) -> T:
        """The result of ``call``, made in a thread, with the caller in the audit log.

        A call that takes longer than allowed is answered with 504; it may still come to its end.
        """
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(self.settings.threads)

        def work() -> T:
            with acting(caller.actor, caller.reason):
                return call()

        started = time.perf_counter()
        status = 200
        try:
            with anyio.fail_after(self.settings.timeout_seconds):
                result = await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._limiter)
            self.metrics.saw(what, result)
            return result
        except TimeoutError:
            status = 504
            detail = f"no answer within {self.settings.timeout_seconds:g} s; repeat a write with the same message_id"
            raise Refused(Problem(status=504, title="Timed out", detail=detail, error="UnavailableError")) from None
        except Exception as e:
            problem = of_error(e)
            status = problem.status
            raise Refused(problem) from e
        finally:
            self.metrics.took(what, status, time.perf_counter() - started)


def _text(request: Request, header: str) -> str | None:
    """A header of percent-encoded UTF-8."""
    raw = request.headers.get(header)
    if raw is None:
        return None
    try:
        return unquote(raw, errors="strict")
    except UnicodeDecodeError:
        raise InvalidInputError(f"header {header} is not percent-encoded UTF-8") from None


__all__ = ["Caller", "Calls"]
