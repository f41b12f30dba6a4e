"""Changes of facts sent to an address, in order and at least once, by one of the workers."""

from __future__ import annotations

import hashlib
import http.client
import logging
import ssl
import threading
from collections.abc import Callable
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import SplitResult, urlsplit

from pydantic import TypeAdapter

from ltm_core import __version__
from ltm_core.errors import LTMError, NotFoundError
from ltm_core.serve.alone import Alone
from ltm_core.serve.inside import Inside
from ltm_core.serve.signature import SIGNATURE_HEADER, sign
from ltm_core.spans import silent
from ltm_core.store.base import CHANGES_DROPPED
from ltm_core.types import FactChange

if TYPE_CHECKING:
    from ltm_core.memory import LongTermMemory

LOCK_FILE = ".webhook.lock"
IDLE_SECONDS = 1.0
"""How soon a change is sent; writes of other processes are found by asking the store."""
TAKEOVER_SECONDS = 5.0
"""How soon another worker goes on when the one that delivers is gone."""
FIRST_WAIT_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 300.0
"""After failures the wait doubles up to five minutes: a receiver that is down for a day gets some 300 requests, and
what waited within five minutes of its return."""
Post: TypeAlias = Callable[[bytes, "dict[str, str]"], int]
_changes = TypeAdapter(list[FactChange])

log = logging.getLogger("ltm")


def wait_after(failures: int) -> float:
    """Seconds until the next try, after so many failures in a row."""
    return min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2.0 ** min(max(failures - 1, 0), 30))


def cursor_name(url: str) -> str:
    """Setting of the store that keeps how far this receiver is: another address begins at the beginning."""
    return f"webhook.{hashlib.sha256(url.encode()).hexdigest()[:16]}"


def is_this_machine(host: str) -> bool:
    """Whether the name or address of a host never leaves this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def checked_url(url: str) -> SplitResult:
    """Its parts; ValueError when changes may not be sent there. The address itself is not repeated: it may hold a
    token."""
    parts = urlsplit(url)
    parts.port  # noqa: B018  raises ValueError when it is no number
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("an address is https://host/path")
    if parts.username is not None or parts.fragment or any(c <= " " or c > "~" for c in url):
        raise ValueError("an address holds no user, no fragment, and no characters but those of ASCII without blanks")
    if parts.scheme == "http" and not is_this_machine(parts.hostname):
        raise ValueError("changes leave this machine over https only")
    return parts


def poster(url: str, *, timeout: float) -> Post:
    """Sends bytes there and returns the answer's status; no redirect is followed, no proxy is asked.

    Raises OSError or http.client.HTTPException when there is no answer.
    """
    parts = checked_url(url)
    assert parts.hostname is not None  # checked
    host = parts.hostname
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")

    def post(body: bytes, headers: dict[str, str]) -> int:
        connection = (
            http.client.HTTPSConnection(host, parts.port, timeout=timeout, context=ssl.create_default_context())
            if parts.scheme == "https"
            else http.client.HTTPConnection(host, parts.port, timeout=timeout)
        )
        try:
            connection.request("POST", path, body=body, headers=headers)
            return connection.getresponse().status
        finally:
            connection.close()

    return post


class Deliverer:
    """Sends what the feed has after the cursor, a batch at a time; the cursor is kept in the store, and moves when
    the receiver has answered with 2xx. Of all processes with this store one delivers.

    ``wall``: seconds since 1970, for signatures. ``told``: hears of each try whether it succeeded.
    """

    def __init__(
        self,
        memory: LongTermMemory,
        place: Path,
        *,
        url: str,
        secret: str,
        post: Post,
        wall: Callable[[], float],
        batch: int = 100,
        told: Callable[[bool], None] = lambda _: None,
    ) -> None:
        self._memory = memory
        self._inside = Inside(memory)
        self._name = cursor_name(url)
        self._secret = secret
        self._post = post
        self._wall = wall
        self._batch = batch
        self._told = told
        self._alone = Alone(place / LOCK_FILE)
        self._failures = 0
        self._halt = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """A thread delivers from now on."""
        self._thread = threading.Thread(target=self._run, name="ltm-webhook", daemon=True)
        self._thread.start()

    def stop(self, timeout: float) -> None:
        """No further batch is begun; waits up to ``timeout`` seconds for the one that is on its way. What is not
        answered is sent again after the next start."""
        self._halt.set()
        if self._thread is not None:
            self._thread.join(timeout)
        if self._thread is None or not self._thread.is_alive():
            self._alone.release()

    def step(self) -> float:
        """One batch is sent, if there is one and this is the process that delivers; seconds until the next step."""
        try:
            if not self._alone.held():
                return TAKEOVER_SECONDS
            with silent():
                since = self._inside.setting(self._name)
                try:
                    found = self._memory.changes(since=since, limit=self._batch).items
                except NotFoundError as e:
                    # They cannot be sent any more: the later ones must not wait for them.
                    log.error("webhook: not sent, %s", e)
                    self._inside.set_setting(self._name, self._inside.setting(CHANGES_DROPPED))
                    return 0.0
            if not found:
                return IDLE_SECONDS
            if not self._send(found):
                self._failures += 1
                return wait_after(self._failures)
            self._inside.set_setting(self._name, found[-1].cursor)
            self._failures = 0
        except LTMError as e:
            self._failures += 1
            log.warning("the store cannot be asked for the webhook's changes now: %s", type(e).__name__)
            return wait_after(self._failures)
        return 0.0

    def _send(self, found: tuple[FactChange, ...]) -> bool:
        body = b'{"changes":' + _changes.dump_json(list(found)) + b"}"
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"ltm-core/{__version__}",
            SIGNATURE_HEADER: sign(self._secret, body, now=self._wall()),
        }
        try:
            status = self._post(body, headers)
            why = f"status {status}"
        except (OSError, http.client.HTTPException) as e:
            status, why = 0, type(e).__name__
        good = 200 <= status < 300
        self._told(good)
        if not good:
            span = f"changes {found[0].cursor} to {found[-1].cursor}"
            log.warning("webhook: %s were not taken (%s), sent again in a while", span, why)
        return good

    def _run(self) -> None:
        pause = 0.0
        while not self._halt.wait(pause):
            try:
                pause = self.step()
            except Exception as e:  # noqa: BLE001  whatever it was, the changes are still there
                log.error("webhook: tried again in %g s: %s", LONGEST_WAIT_SECONDS, type(e).__name__)
                pause = LONGEST_WAIT_SECONDS


__all__ = ["Deliverer", "checked_url", "cursor_name", "is_this_machine", "poster", "wait_after"]
