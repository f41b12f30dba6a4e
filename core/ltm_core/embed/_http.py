"""POST JSON to a server: bounded in time, size and number of tries. Standard library only."""

from __future__ import annotations

import http.client
import json
import os
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Collection, Mapping
from typing import Any
from urllib.parse import urlsplit

from ltm_core.errors import ConfigError, UnavailableError

KEY_VARIABLE = "OPENAI_API_KEY"
_RETRIED = frozenset((408, 409, 425, 429, 500, 502, 503, 504))
_MEANING = {
    400: "it refused the request",
    401: "it refused the API key",
    403: "it refused the API key",
    404: "it has no such path or model",
    413: "the request was too large for it",
    422: "it refused the request",
}
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 20.0  # seconds; doubled at each try
_MAX_BYTES = 64 * 2**20  # an answer of 64 vectors with 4,096 numbers has 6 MB
_PIECE = 2**16


class RefusedError(UnavailableError):
    """The server answered with a status that is an error."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class JsonClient:
    """Posts to paths below one URL. Redirects are errors: following one would hand the key to another host.

    ``connect_timeout`` and ``read_timeout`` are seconds for the connection and for silence while the
    answer comes; ``retries`` is how often a call is tried again after a refused or broken connection, a
    timeout or a status that says so. Proxies are taken from the environment. ``sleep`` is for tests.
    """

    def __init__(
        self,
        base_url: str,
        *,
        label: str,
        connect_timeout: float = 5.0,
        read_timeout: float = 30.0,
        retries: int = 2,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._base_url = base_url
        self._label = label
        self._read_timeout = read_timeout
        self._retries = retries
        self._sleep = sleep
        self._opener = urllib.request.build_opener(
            _NoRedirect,
            _HTTPHandler(connect_timeout, read_timeout),
            _HTTPSHandler(connect_timeout, read_timeout),
            # A proxy cannot know what "this machine" means here.
            *([urllib.request.ProxyHandler({})] if _is_this_machine(base_url) else []),
        )

    def post(
        self, path: str, body: Mapping[str, Any], headers: Mapping[str, str], *, final: Collection[int] = ()
    ) -> Any:
        """The JSON value answered. Raises UnavailableError (RefusedError for a status), whose message holds no
        part of either body. A status in ``final`` is not tried again."""
        base, mark, query = self._base_url.partition("?")
        request = urllib.request.Request(
            f"{base.rstrip('/')}/{path}{mark}{query}",
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json", "Accept": "application/json", **headers},
            method="POST",
        )
        pause = _FIRST_PAUSE
        for attempt in range(self._retries + 1):
            wanted, status = 0.0, 0
            try:
                return self._once(request)
            except urllib.error.HTTPError as error:
                wanted = _retry_after(error)
                status = error.code
                error.close()
                if status not in _RETRIED or status in final:
                    meaning = _MEANING.get(status, "unexpected")
                    raise RefusedError(f"{self._label} answered {status}: {meaning}", status) from None
                failure = f"answered {status}"
            except (OSError, http.client.HTTPException) as error:
                reason = getattr(error, "reason", error)
                failure = f"could not be reached: {type(reason).__name__}"
            if attempt < self._retries:
                self._sleep(min(max(pause, wanted), _LONGEST_PAUSE))
                pause *= 2
        message = f"{self._label} {failure} ({self._retries + 1} tries)"
        raise RefusedError(message, status) if status else UnavailableError(message)

    def _once(self, request: urllib.request.Request) -> Any:
        end = time.monotonic() + 2 * self._read_timeout  # against an answer that trickles for ever
        parts, size = [], 0
        with self._opener.open(request, timeout=self._read_timeout) as response:
            while part := response.read1(_PIECE):
                parts.append(part)
                size += len(part)
                if size > _MAX_BYTES:
                    raise UnavailableError(f"{self._label} answered more than {_MAX_BYTES} bytes")
                if time.monotonic() > end:
                    raise TimeoutError
        try:
            return json.loads(b"".join(parts))
        except ValueError:
            raise UnavailableError(f"{self._label} did not answer JSON") from None


def host_of(base_url: str, spec: str) -> str:
    """The host of an http(s) URL without a password; ConfigError, which shows ``spec``, for anything else."""
    try:
        address = urlsplit(base_url)
        _ = address.port
    except ValueError:
        raise ConfigError(f"the base URL cannot be read: {spec}") from None
    if address.scheme not in ("http", "https") or not address.hostname or address.fragment:
        raise ConfigError(f"the base URL must start with http:// or https://: {spec}")
    if address.username is not None or address.password is not None:
        raise ConfigError(f"no password belongs into the base URL; the key comes from {KEY_VARIABLE}")
    return address.hostname


def key_header(api_key: str | None) -> dict[str, str]:
    """The Authorization header of ``api_key``, else of the environment's key, read now; empty without a key."""
    key = (api_key if api_key is not None else os.environ.get(KEY_VARIABLE, "")).strip()
    if not key:
        return {}
    if not (key.isascii() and key.isprintable()):
        raise ConfigError("the API key holds characters that no HTTP header can carry")
    return {"Authorization": f"Bearer {key}"}


def _is_this_machine(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


def _retry_after(error: urllib.error.HTTPError) -> float:
    try:
        return max(0.0, float(error.headers.get("Retry-After", "")))
    except ValueError:
        return 0.0


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


def _connection(kind: type[http.client.HTTPConnection], connecting: float, reading: float) -> Any:
    """The connection class, with another timeout while it connects than while it reads."""

    class Connection(kind):  # type: ignore[misc, valid-type]
        def connect(self) -> None:
            self.timeout = connecting
            super().connect()
            self.sock.settimeout(reading)

    return Connection


class _HTTPHandler(urllib.request.HTTPHandler):
    def __init__(self, connecting: float, reading: float) -> None:
        super().__init__()
        self._connection = _connection(http.client.HTTPConnection, connecting, reading)

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._connection, req)


class _HTTPSHandler(urllib.request.HTTPSHandler):
    def __init__(self, connecting: float, reading: float) -> None:
        self._tls = ssl.create_default_context()
        super().__init__(context=self._tls)
        self._connection = _connection(http.client.HTTPSConnection, connecting, reading)

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._connection, req, context=self._tls)
