"""What is open ends with its block."""

from __future__ import annotations

from types import TracebackType
from typing import Self


class Closing:
    """A context manager of both kinds: `close` is called at the end of the block, whatever ended it."""

    def close(self) -> None:
        """Overridden by what there is to close."""
        raise NotImplementedError

    async def aclose(self) -> None:
        """Overridden too."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


__all__ = ["Closing"]
