"""A lock that one process holds as long as its connection lives."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from ltm_core.errors import BusyError
from ltm_core.store.postgres.faults import translated

if TYPE_CHECKING:
    import psycopg

    from ltm_core.store.postgres.pool import Pool

_PAUSE = 0.05


class SessionLock:
    """See `ltm_core.store.sql.engine.IndexLock`."""

    def __init__(self, pool: Pool, number: int, where: str) -> None:
        self._pool = pool
        self._number = number
        self._where = where
        self._conn: psycopg.Connection[Any] | None = None

    def acquire(self, timeout: float | None = None) -> None:
        deadline = time.monotonic() + (timeout or 0.0)
        conn = self._pool.connect()
        try:
            with translated(self._where):
                while True:
                    row = conn.execute("SELECT pg_try_advisory_lock(%s)", (self._number,)).fetchone()
                    if row is not None and row[0]:
                        self._conn = conn
                        return
                    if time.monotonic() >= deadline:
                        raise BusyError(f"{self._where}: another process keeps the vector index")
                    time.sleep(_PAUSE)
        finally:
            if self._conn is not conn:
                conn.close()

    def release(self) -> None:
        # With the connection goes the lock.
        conn, self._conn = self._conn, None
        if conn is not None:
            conn.close()

    def close(self) -> None:
        """Nothing is left to give back."""
        self.release()


__all__ = ["SessionLock"]
