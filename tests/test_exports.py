"""The public surface: sorted, whole, and each method with an async twin that is the same."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ltm_core
from ltm_core import LongTermMemory, NotFoundError

NOT_TWINNED = {"open", "bind", "on_change"}
"""Classmethods (``open``, ``restore_backup``) have twins written by hand; ``bind`` and ``on_change`` do no work."""


def methods() -> list[str]:
    return [n for n, _ in inspect.getmembers(LongTermMemory, inspect.isfunction) if not n.startswith("_")]


SYNC = sorted(n for n in methods() if not inspect.iscoroutinefunction(getattr(LongTermMemory, n)))
TWINS = [n for n in SYNC if n not in NOT_TWINNED]


def test_all_is_sorted_and_whole() -> None:
    assert list(ltm_core.__all__) == sorted(ltm_core.__all__)
    public = {
        n
        for n, v in vars(ltm_core).items()
        if not n.startswith("_") and not inspect.ismodule(v) and getattr(v, "__module__", "").startswith("ltm_core")
    }
    assert set(ltm_core.__all__) == public | set(ltm_core._LATER)
    assert all(getattr(ltm_core, name) is not None for name in ltm_core.__all__)


def test_every_error_is_exported() -> None:
    from ltm_core import errors

    assert {n for n, v in vars(errors).items() if inspect.isclass(v) and issubclass(v, Exception)} <= set(
        ltm_core.__all__
    )


def test_the_tree_of_errors_is_drawn_as_it_is() -> None:
    from ltm_core import errors

    drawn = errors.__doc__ or ""
    assert all(n in drawn for n, v in vars(errors).items() if inspect.isclass(v) and v.__module__ == errors.__name__)


@pytest.mark.parametrize("name", TWINS)
def test_every_method_has_its_twin(name: str) -> None:
    method, twin = getattr(LongTermMemory, name), getattr(LongTermMemory, f"a{name}", None)
    assert twin is not None and inspect.iscoroutinefunction(twin)
    assert inspect.signature(method) == inspect.signature(twin)
    assert twin.__doc__ == f"Async twin of `{name}`." and twin.__name__ == f"a{name}"


def test_no_twin_without_its_method() -> None:
    asynchronous = {n for n in methods() if inspect.iscoroutinefunction(getattr(LongTermMemory, n))}
    assert {f"a{n}" for n in TWINS} == asynchronous
    assert inspect.iscoroutinefunction(LongTermMemory.aopen)


@pytest.mark.parametrize("name", SYNC)
def test_every_method_says_what_is_true_afterwards(name: str) -> None:
    assert inspect.getdoc(getattr(LongTermMemory, name))


def test_users_are_named_alike_everywhere() -> None:
    for name in TWINS:
        for parameter in inspect.signature(getattr(LongTermMemory, name)).parameters.values():
            if parameter.name.endswith("_id") and parameter.name != "memory_id":
                assert "str" in str(parameter.annotation), (name, parameter.name)


def told(value: Any) -> Any:
    """A result without what differs from call to call: ids and times."""
    if isinstance(value, ltm_core.Page):
        return [told(v) for v in value]
    if isinstance(value, ltm_core.Fact):
        return (value.subject, value.relation, value.object, value.is_current)
    if isinstance(value, ltm_core.StoredMessage):
        return (value.role, value.content)
    if isinstance(value, ltm_core.Observation):
        return [m.status for m in value.messages], [told(c.fact) for c in value.changes]
    if isinstance(value, ltm_core.Context):
        return [i.text for i in value.items]
    if isinstance(value, ltm_core.Stats):
        return value.messages, value.facts, value.users
    if isinstance(value, list):
        return [i.text for i in value]
    return value


CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("observe", (), {"user_id": "ana", "session_id": "s", "user": "I live in Lisbon.", "message_id": "m1"}),
    ("observe", (), {"user_id": "ana", "session_id": "s", "user": "I moved to Porto.", "message_id": "m2"}),
    ("facts", (), {"user_id": "ana"}),
    ("facts", (), {"user_id": "ana", "include_superseded": True}),
    ("messages", (), {"user_id": "ana"}),
    ("context", ("Where do I live?",), {"user_id": "ana"}),
    ("search", ("Porto",), {"user_id": "ana"}),
    ("set_slot", ("city", "Lima"), {"user_id": "ana", "session_id": "s"}),
    ("get_slot", ("city",), {"user_id": "ana", "session_id": "s"}),
    ("end_session", ("s",), {"user_id": "ana"}),
    ("stats", (), {}),
]


def test_twins_do_the_same(tmp_path: Path) -> None:
    def run(place: Path, call: Callable[[LongTermMemory, str, tuple[Any, ...], dict[str, Any]], Any]) -> list[Any]:
        with LongTermMemory.open(place, embedder="none", timezone="UTC") as memory:
            return [told(call(memory, *c)) for c in CALLS]

    plain = run(tmp_path / "plain", lambda m, name, args, kw: getattr(m, name)(*args, **kw))
    async_ = run(tmp_path / "async", lambda m, name, args, kw: asyncio.run(getattr(m, f"a{name}")(*args, **kw)))
    assert plain == async_


def test_twins_raise_the_same(tmp_path: Path) -> None:
    async def go() -> None:
        async with await LongTermMemory.aopen(tmp_path / "store", embedder="none", timezone="UTC") as memory:
            with pytest.raises(NotFoundError):
                await memory.ahistory("nothing", user_id="ana")

    asyncio.run(go())
