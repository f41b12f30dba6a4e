"""A memory on another machine, with the methods of `LongTermMemory`.

from ltm_core.client import RemoteMemory

memory = RemoteMemory("http://127.0.0.1:8710", key="ltm_…")
print(memory.context("Where do I live?", user_id="ana").text)
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from ltm_core import errors
from ltm_core.acting import current_actor
from ltm_core.arguments import text_of
from ltm_core.closing import Closing
from ltm_core.errors import ConfigError, InvalidScopeError, UnavailableError
from ltm_core.keep.export import ExportLines
from ltm_core.scoping import make_scope
from ltm_core.serve.answers import error_of
from ltm_core.serve.operations import EXPORT, IMPORT, OPERATIONS, Operation
from ltm_core.serve.sending import name_turn, sent
from ltm_core.serve.wire import load
from ltm_core.twins import twin
from ltm_core.types import FactChange, ImportResult, Page

if TYPE_CHECKING:
    from ltm_core.bound import BoundMemory
    from ltm_core.memory import LongTermMemory as _Methods
else:
    _Methods = Closing

_RETRIES = 2
"""Further tries of a call that is safe to repeat, after a broken connection or a busy store."""
_POLL_SECONDS = 1.0


class RemoteMemory(_Methods):
    """`LongTermMemory` over HTTP: the same methods, results and errors, and an async twin of each.

    ``key`` says who you are: a user's key reaches that user alone, an app's or an administrator's key the user that
    each call names. ``timeout`` is seconds for one call. Thread-safe. A turn observed without ``message_id`` gets one
    here, so that a call repeated after a broken connection writes nothing twice. With ``telemetry`` the service's
    spans are inside of the one that is open here (OpenTelemetry, extra ``telemetry``).

    Raises UnavailableError when the service cannot be reached, AccessDeniedError when it refuses the key.
    """

    def __init__(
        self, url: str, *, key: str, timeout: float = 60.0, http: Any = None, telemetry: bool = False
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise ConfigError("the service's address begins with http:// or https://")
        if not key.isascii() or not key.isprintable() or not key.strip():
            raise ConfigError("the key must be the text that `ltm keys add` printed")
        self._url = url.rstrip("/")
        self._closed = False
        self._headers = {"Authorization": f"Bearer {key}"}
        self._traced = _outgoing() if telemetry else dict[str, str]
        self._owns = http is None
        self._http = http if http is not None else _client(timeout)
        self._stops: list[Callable[[], None]] = []

    def close(self) -> None:
        """Connections are closed; the memory itself stays. Closing twice is harmless."""
        for stop in self._stops:
            stop()
        if not self._closed and self._owns:
            self._http.close()
        self._closed = True

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def location(self) -> str:
        """The service's address."""
        return self._url

    def __repr__(self) -> str:
        return f"RemoteMemory({self._url!r})"

    def bind(self, user_id: str | int, **options: Any) -> BoundMemory:
        """The same methods with the scope filled in; see `LongTermMemory.bind`."""
        from ltm_core.bound import BoundMemory
        from ltm_core.scoping import LONGEST_ID

        labels = {k: options.pop(k, None) for k in ("session_id", "agent_id", "task_id", "app_id")}
        scope = make_scope(user_id, **labels, limit=LONGEST_ID)
        return BoundMemory(self, scope, **options)

    def get_slot(self, name: str, *, user_id: str | int, session_id: str | int, default: Any = None) -> Any:
        """The live value of a slot, or ``default``."""
        return self.slots(user_id=user_id, session_id=session_id).get(text_of(name, "name"), default)

    def on_change(
        self, callback: Callable[[FactChange], object], *, user_id: str | int | None = None
    ) -> Callable[[], None]:
        """``callback`` gets every change from now on, in a thread, until the returned call; asked for once a second.

        An error of the callback is logged and the next change is told."""
        from ltm_core.serve.follower import follow

        stop = follow(self, callback, user_id=user_id, every=_POLL_SECONDS)
        self._stops.append(stop)
        return stop

    def export_user(self, user_id: str | int, *, actor: str | None = None, reason: str | None = None) -> ExportLines:
        """Everything of the user as JSON lines, read while it is consumed; see `LongTermMemory.export_user`."""
        return ExportLines(self._export(user_id, actor, reason))

    def _export(self, user_id: str | int, actor: str | None, reason: str | None) -> Iterator[str]:
        headers = self._of(user_id, actor, reason)
        with _reaching(self._url), self._http.stream("GET", self._url + EXPORT, headers=headers) as answer:
            if answer.status_code != 200:
                answer.read()
                raise error_of(answer)
            for line in answer.iter_lines():
                yield line + "\n"

    def import_user(
        self,
        lines: Iterable[str | bytes],
        *,
        user_id: str | int,
        after_erasure: Literal["refuse", "allow"] = "refuse",
        trust: bool = False,
        actor: str | None = None,
        reason: str | None = None,
    ) -> ImportResult:
        """What an export holds belongs to ``user_id``; see `LongTermMemory.import_user`."""
        from pydantic import TypeAdapter

        def content() -> Iterator[bytes]:
            for line in lines:
                yield (
                    line.rstrip(b"\r\n") + b"\n" if isinstance(line, bytes) else line.rstrip("\r\n").encode() + b"\n"
                )

        query = {"after_erasure": after_erasure, "trust": "true" if trust else "false"}
        headers = {**self._of(user_id, actor, reason), "Content-Type": "application/x-ndjson"}
        with _reaching(self._url):
            answer = self._http.post(self._url + IMPORT, params=query, content=content(), headers=headers)
        if answer.status_code != 200:
            raise error_of(answer)
        result: ImportResult = TypeAdapter(ImportResult).validate_json(answer.content)
        return result

    def _of(self, user_id: Any, actor: str | None, reason: str | None) -> dict[str, str]:
        """The headers of a call about this user."""
        outer_actor, outer_reason = current_actor()
        told = {"LTM-User": user_id, "LTM-Actor": actor or outer_actor, "LTM-Reason": reason or outer_reason}
        return {
            **self._headers,
            **self._traced(),
            **{k: quote(str(v), safe="") for k, v in told.items() if v is not None},
        }

    def _call(self, operation: Operation, arguments: dict[str, Any]) -> Any:
        if self._closed:
            raise UnavailableError("this client is closed")
        if arguments.pop("token_counter", None) is not None:
            raise ConfigError("a token counter cannot be sent; the service counts with its own")
        user_id, actor, reason = (arguments.pop(k, None) for k in ("user_id", "actor", "reason"))
        if operation.reach == "user" and user_id is None:
            raise InvalidScopeError("user_id must be text, not NoneType")
        if operation.method == "observe":
            name_turn(arguments)
        answer = self._asked(operation, sent(operation, arguments, self._of(user_id, actor, reason)))
        if answer.status_code != 200:
            raise error_of(answer)

        def fetch(cursor: str) -> Page[Any]:
            place = "cursor" if "cursor" in operation.accepts else "since"
            page: Page[Any] = self._call(operation, {**again, place: cursor})
            return page

        again = {**arguments, "user_id": user_id, "actor": actor, "reason": reason}
        return load(operation, answer.content, fetch=fetch)

    def _asked(self, operation: Operation, options: dict[str, Any]) -> Any:
        """The answer; a call that is safe to repeat is tried again when the connection breaks."""
        tries = 1 + (_RETRIES if operation.verb == "GET" or operation.method in _REPEATABLE else 0)
        for left in reversed(range(tries)):
            try:
                with _reaching(self._url):
                    answer = self._http.request(operation.verb, self._url + operation.path, **options)
            except UnavailableError:
                if not left:
                    raise
                continue
            if answer.status_code != 503 or not left:
                return answer
        raise AssertionError("unreachable")


_REPEATABLE = frozenset({"observe", "context", "search", "search_documents"})


def _outgoing() -> Callable[[], dict[str, str]]:
    from ltm_core.telemetry import outgoing

    outgoing()  # what is missing is told now, not by the first call
    return outgoing


def _client(timeout: float) -> Any:
    try:
        import httpx
    except ImportError:
        raise errors.MissingExtraError("the remote client", "client") from None
    return httpx.Client(timeout=timeout, follow_redirects=False)


@contextlib.contextmanager
def _reaching(url: str) -> Iterator[None]:
    """Trouble on the way is UnavailableError, without what was sent."""
    import httpx

    try:
        yield
    except httpx.HTTPError as e:
        raise UnavailableError(f"the service at {url} cannot be reached ({type(e).__name__})") from None


def _method(operation: Operation) -> Callable[..., Any]:
    function = operation.function
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(self: RemoteMemory, /, *args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(self, *args, **kwargs)
        return self._call(operation, {k: v for k, v in bound.arguments.items() if k != "self"})

    call.__qualname__ = f"RemoteMemory.{operation.method}"
    return call


for _operation in OPERATIONS:
    _made = _method(_operation)
    setattr(RemoteMemory, _operation.method, _made)
    setattr(RemoteMemory, f"a{_operation.method}", twin(_made, "remote"))
for _own in (RemoteMemory.close, RemoteMemory.get_slot, RemoteMemory.export_user, RemoteMemory.import_user):
    setattr(RemoteMemory, f"a{_own.__name__}", twin(_own, "remote"))

__all__ = ["RemoteMemory"]
