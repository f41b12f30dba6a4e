"""A host that sends its history again and again: what is stored of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from ltm_core import LongTermMemory, Message
from ltm_core.testing.clock import Clock


@pytest.fixture(scope="module")
def memory() -> Iterator[LongTermMemory]:
    with LongTermMemory.open(
        ":memory:",
        embedder="none",
        clock=Clock(datetime(2025, 6, 2, 10, tzinfo=UTC), timedelta(seconds=1)),
        timezone="UTC",
    ) as opened:
        yield opened


_users = count()


class Host:
    """One user with one session."""

    def __init__(self, memory: LongTermMemory) -> None:
        self.memory, self.user = memory, f"user-{next(_users)}"

    def send(self, *messages: Message) -> list[str]:
        seen = self.memory.observe(user_id=self.user, session_id="s", messages=messages)
        assert all(m.id for m in seen.messages)
        return [m.status for m in seen.messages]

    @property
    def stored(self) -> list[str]:
        return [m.content for m in self.memory.messages(user_id=self.user)]


@pytest.fixture
def host(memory: LongTermMemory) -> Host:
    return Host(memory)


def u(text: str, id: str | None = None) -> Message:
    return Message(role="user", content=text, id=id)


def a(text: str, id: str | None = None) -> Message:
    return Message(role="assistant", content=text, id=id)


H = (u("u1"), a("a1"), u("u2"), a("a2"), u("u3"), a("a3"))


def test_a_shorter_history_adds_nothing(host: Host) -> None:
    host.send(*H)
    for part in (H, H[:5], H[:3], H[:2], H[2:5], H[-2:]):
        assert set(host.send(*part)) == {"duplicate"}
    assert host.stored == [m.content for m in H]


def test_another_last_answer_replaces_the_stored_one(host: Host) -> None:
    host.send(*H)
    again = (*H[:5], a("a3 again"))
    assert host.send(*again) == ["duplicate"] * 5 + ["edited"]
    assert host.send(*again, u("u4")) == ["duplicate"] * 6 + ["stored"]
    assert host.stored == ["u1", "a1", "u2", "a2", "u3", "a3 again", "u4"]


def test_another_last_question_is_one_new_turn(host: Host) -> None:
    host.send(*H[:5])
    assert host.send(*H[:4], u("u3 rephrased")) == ["duplicate"] * 4 + ["stored"]
    assert host.send(*H[:4], u("u3 rephrased"), a("yes")) == ["duplicate"] * 5 + ["stored"]
    assert host.stored == ["u1", "a1", "u2", "a2", "u3", "u3 rephrased", "yes"]


@pytest.mark.parametrize("i", range(6))
@pytest.mark.parametrize("how", ["change", "drop", "insert"])
def test_one_edit_adds_at_most_what_follows_it_and_only_once(host: Host, how: str, i: int) -> None:
    host.send(*H)
    new = Message(role=H[i].role, content="other")
    rest = {"change": (new, *H[i + 1 :]), "drop": H[i + 1 :], "insert": (new, *H[i:])}[how]
    edited = (*H[:i], *rest)
    assert set(host.send(*edited)[:i]) <= {"duplicate"}
    before = host.stored
    assert len(before) <= len(H) + len(rest)
    assert set(host.send(*edited)) == {"duplicate"} and host.stored == before


def test_growing_and_windowed_histories(host: Host) -> None:
    history: list[Message] = []
    for i in range(8):
        history += [u(f"q{i % 3}"), a(f"r{i}")]
        host.send(*history)
    for i in range(8, 16):
        history += [u(f"q{i % 3}"), a(f"r{i}")]
        host.send(*history[-6:])
    assert host.stored == [m.content for m in history]


def test_ids_and_no_ids_in_one_list(host: Host) -> None:
    mixed = (u("u1"), u("u2", "i2"), a("a2"), u("u3", "i3"))
    assert host.send(*mixed) == ["stored"] * 4
    assert host.send(*mixed) == ["duplicate"] * 4
    assert host.send(*mixed, a("a3"), u("u4", "i4")) == ["duplicate"] * 4 + ["stored"] * 2


def test_one_id_twice_in_a_batch(host: Host) -> None:
    assert host.send(u("same", "x"), u("same", "x")) == ["stored", "duplicate"]
    assert host.send(u("first", "y"), u("second", "y")) == ["stored", "edited"]
    assert host.stored == ["same", "second"]


def test_a_single_message_is_known_only_as_the_last_one(host: Host) -> None:
    assert host.send(u("ok")) == ["stored"] and host.send(u("ok")) == ["duplicate"]
    host.send(u("more"))
    assert host.send(u("ok")) == ["stored"] and host.stored == ["ok", "more", "ok"]
