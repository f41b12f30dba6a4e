"""The one place that reaches inside the driver: a pipeline that lasts as long as its connection.

What psycopg offers for it does not fit twice. `psycopg.Connection.pipeline` is a block of one function that says to
the server that it ends, which a forked child would say on its parent's connection. And `psycopg.Pipeline.sync` waits
for the answers, while nobody need wait for the end of a transaction that only read; the connection's own
``pgconn.pipeline_sync`` does not, but then the driver counts one answer too few.
`tests/stores/test_postgres_driver.py` says so when a version of psycopg has these parts no longer.
"""

from __future__ import annotations

from typing import Any

import psycopg


def entered(conn: psycopg.Connection[Any]) -> psycopg.Pipeline:
    """The pipeline that every statement of the connection goes through from now on."""
    pipeline = conn._pipeline = psycopg.Pipeline(conn)
    pipeline.__enter__()
    return pipeline


def mark(conn: psycopg.Connection[Any], pipeline: psycopg.Pipeline) -> None:
    """What was sent is done by the server as one, and its answers come with later ones: `Pipeline.sync` without
    waiting for any. Errors that came before are raised."""
    pipeline._enqueue_sync()
    conn.wait(pipeline._communicate_gen())


def is_waiting(pipeline: psycopg.Pipeline) -> bool:
    """Whether answers are on their way that nobody looked at."""
    return bool(pipeline.result_queue)


__all__ = ["entered", "is_waiting", "mark"]
