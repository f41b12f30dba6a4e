"""What is open ends with its block."""

from __future__ import annotations

from collections.abc import Awaitable
from types import TracebackType
from typing import Protocol, Self


class _Open(Protocol):
    def close(self) -> None: ...
    def aclose(self) -> Awaitable[None]: ...


class Closing:
    """A context manager of both kinds, for a class that has `close` and its async twin: they are called at the end of
    the block, whatever ended it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self: _Open, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self: _Open, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


__all__ = ["Closing"]
