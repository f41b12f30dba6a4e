"""One kept-alive HTTP/1.1 connection on asyncio, as cheap as it gets: a measured service shares the cores with it."""

from __future__ import annotations

import asyncio
import json
from types import TracebackType
from typing import Any, Self


class Connection:
    """Requests of JSON, one after the other. ConnectionError when the other side is gone before it has answered."""

    def __init__(self, host: str, port: int, headers: dict[str, str]) -> None:
        self._host, self._port = host, port
        self._common = "".join(f"{k}: {v}\r\n" for k, v in {"Host": f"{host}:{port}", **headers}.items())
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def ask(
        self, verb: str, path: str, body: object = None, headers: dict[str, str] | None = None
    ) -> tuple[int, bytes]:
        """Status and content of the answer. A connection that was closed while it lay idle is opened again."""
        content = b"" if body is None else json.dumps(body).encode()
        own = "".join(f"{k}: {v}\r\n" for k, v in (headers or {}).items())
        head = f"{verb} {path} HTTP/1.1\r\n{self._common}{own}Content-Length: {len(content)}\r\n"
        kind = "Content-Type: application/json\r\n" if content else ""
        if self._reader is None or self._reader.at_eof():
            self.close()
            self._reader, self._writer = await asyncio.open_connection(self._host, self._port)
        assert self._writer is not None
        try:
            self._writer.write((head + kind + "\r\n").encode() + content)
            return await self._answer(self._reader)
        except (OSError, asyncio.IncompleteReadError) as e:
            self.close()
            raise ConnectionError(type(e).__name__) from e

    def close(self) -> None:
        """The next request opens another connection."""
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None

    @staticmethod
    async def _answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
        head = await reader.readuntil(b"\r\n\r\n")
        status, *lines = head.decode("latin-1").split("\r\n")
        fields = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines) if k}
        return int(status.split(" ", 2)[1]), await reader.readexactly(int(fields["content-length"]))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def found(content: bytes) -> Any:
    """The content as JSON."""
    return json.loads(content)


__all__ = ["Connection", "found"]
