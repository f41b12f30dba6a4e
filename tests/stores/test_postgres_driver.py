"""What we use of the driver that it does not promise: another version of psycopg fails here first, and says what."""

from __future__ import annotations

import inspect
import threading
from types import SimpleNamespace
from typing import Any

import pytest

psycopg = pytest.importorskip("psycopg")
from ltm_core.store.postgres import pipeline  # noqa: E402

CHANGED = f"psycopg {psycopg.__version__} is made differently: see ltm_core/store/postgres/pipeline.py"


def unsent() -> Any:
    """A pipeline without a server."""
    pgconn = SimpleNamespace(pipeline_sync=lambda: None)
    return psycopg.Pipeline(SimpleNamespace(pgconn=pgconn, lock=threading.Lock()))


def test_a_connection_sends_through_the_pipeline_that_it_holds() -> None:
    assert "_pipeline" in psycopg.Connection.__annotations__, CHANGED
    sends = inspect.getsource(psycopg.Cursor._execute_gen)
    assert "self._conn._pipeline" in sends, CHANGED


def test_a_mark_is_one_command_and_one_answer_to_come() -> None:
    made = unsent()
    assert not pipeline.is_waiting(made)
    assert hasattr(made, "_enqueue_sync"), CHANGED
    made._enqueue_sync()
    assert list(made.command_queue) == [made.pgconn.pipeline_sync], CHANGED
    assert list(made.result_queue) == [None], CHANGED
    assert pipeline.is_waiting(made)


def test_sending_is_a_generator_for_the_connection_to_wait_for() -> None:
    assert inspect.isgeneratorfunction(getattr(psycopg.Pipeline, "_communicate_gen", None)), CHANGED
    assert list(inspect.signature(psycopg.Connection.wait).parameters)[:2] == ["self", "gen"], CHANGED
