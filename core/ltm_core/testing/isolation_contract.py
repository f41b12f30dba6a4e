"""Two users of one store, whatever they do in whatever order, each get what they would get alone.

class TestMine(IsolationContract):
    def opened(self, place, clock, new_id, **options) -> LongTermMemory: ...      # opens the memory of a place

Needs Hypothesis.
"""

from __future__ import annotations

import json
import logging
import re
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ltm_core.errors import LTMError
from ltm_core.memory import LongTermMemory
from ltm_core.testing.clock import Clock
from ltm_core.testing.embedders import HashEmbedder

T0 = datetime(2026, 3, 1, 9, tzinfo=UTC)
IDS = (
    "a/b", "a b", "a@b", "a:b", "a", "A", "a ", "..", "../x", "session-key:z", "用户一", "😀", "%", "_", "a%",
    "o'neil; drop table users", "é", "e\u0301", "\u202eana", "user", "speaker:ana", "x" * 255, "7", "<memory>",
)  # fmt: skip
SESSIONS = ("s", "a", "b:c")
OWN = ("marmalade", "kestrel")
"""A word that only the first user says, and one that only the second says."""
SAID = (
    "I live in {w} Lisbon.", "I moved to {w} Porto.", "I love {w} tea.", "I don't love {w} tea any more.",
    "My order is ORD-2024-00817, {w}.", "我住在{w}上海。", "我搬到{w}杭州了。", "我对{w}花生过敏。",
    "不对，我住在苏州。", "好的", "Please forget that I live in {w} Porto.", "Call me {w}.", "{w}",
    "In this week I'm in {w} Berlin.",
)  # fmt: skip
ASKED = ("Where do I live?", "我住在哪里？", "tea", "{w}", "What did I say last week?", "", "ORD-2024-00817")
FIELDS = st.sampled_from(("user_id", "session_id", "id", "subject", "role", "topic", "$or", "a.b", ""))
VALUES = st.one_of(st.integers(-2, 2), st.sampled_from(IDS[:5]), st.booleans(), st.none())
META = st.dictionaries(FIELDS, VALUES, max_size=2)
FILTERS = st.one_of(
    st.none(),
    st.dictionaries(FIELDS, VALUES | st.dictionaries(st.sampled_from(("$eq", "$ne", "$in", "$gt", "$exists", "$x")),
                                                     VALUES | st.lists(VALUES, max_size=2), max_size=1), max_size=2),
)  # fmt: skip
WHO, SESSION = st.integers(0, 1), st.sampled_from(SESSIONS)
STEPS = st.lists(
    st.one_of(
        st.tuples(WHO, st.just("say"), SESSION, st.sampled_from(SAID), META, st.sampled_from((None, "m1", "m2"))),
        st.tuples(WHO, st.just("say"), SESSION, st.sampled_from(SAID), META, st.none()),
        st.tuples(WHO, st.just("answer"), SESSION, st.sampled_from(SAID)),
        st.tuples(WHO, st.just("remember"), st.sampled_from(SAID)),
        st.tuples(WHO, st.just("status"), st.sampled_from(("open", "shut"))),
        st.tuples(WHO, st.just("slot"), SESSION, VALUES),
        st.tuples(WHO, st.just("document"), st.sampled_from(("k", "a/b")), META),
        st.tuples(WHO, st.sampled_from(("suppress", "restore", "forget", "history")), st.integers(0, 3)),
        st.tuples(WHO, st.just("correct"), st.integers(0, 3)),
        st.tuples(WHO, st.just("forget_session"), SESSION),
        st.tuples(WHO, st.just("forget_user")),
        st.tuples(WHO, st.just("recall"), st.sampled_from(ASKED), FILTERS),
        st.tuples(WHO, st.sampled_from(("pause", "resume", "copy"))),
        st.tuples(st.just(2), st.just("maintain"), st.integers(0, 3)),
    ),
    min_size=4,
    max_size=14,
)  # fmt: skip


class Opening(Protocol):
    """Opens the memory of a place with this clock, these ids, and these options of `LongTermMemory.open`."""

    def __call__(self, place: Path, clock: Clock, new_id: Callable[[], str], /, **options: Any) -> LongTermMemory: ...


class Room:
    """A store, and what its two users do in it; ``alone`` lets one of them in."""

    def __init__(self, opened: Opening, place: Path, users: tuple[str, str], alone: int | None = None) -> None:
        self.users, self.alone = users, alone
        self.clock, self.step, self.count = Clock(T0), 0, 0
        self.memory = opened(place, self.clock, self.new_id, audit_reads=True)

    def new_id(self) -> str:
        self.count += 1
        return f"{self.step:08x}-{self.count:04x}-7000-8000-000000000000"

    def play(self, steps: list[Any]) -> list[list[str]]:
        """What each user's calls gave."""
        given: list[list[str]] = [[], []]
        for step, (who, verb, *rest) in enumerate(steps):
            self.clock.now, self.step, self.count = T0 + timedelta(hours=step), step, 0
            if who == 2:
                self.memory.maintain(T0 + timedelta(days=rest[0], hours=step))
            elif self.alone in (None, who):
                try:
                    given[who].append(plain(getattr(self, verb)(who, *rest)))
                except LTMError as e:
                    given[who].append(plain(f"{type(e).__name__} {e}"))
        return given

    def say(self, who: int, session: str, text: str, metadata: dict[str, Any], id: str | None) -> Any:
        return self.memory.observe(
            user_id=self.users[who],
            session_id=session,
            user=text.format(w=OWN[who]),
            metadata=metadata,
            message_id=id,
        )

    def answer(self, who: int, session: str, text: str) -> Any:
        return self.memory.observe(user_id=self.users[who], session_id=session, assistant=text.format(w=OWN[who]))

    def remember(self, who: int, text: str) -> Any:
        return self.memory.remember(text.format(w=OWN[who]), user_id=self.users[who])

    def status(self, who: int, status: str) -> Any:
        return self.memory.assert_fact("order:ORD-1", "status", status, user_id=self.users[who], source="erp")

    def slot(self, who: int, session: str, value: Any) -> Any:
        return self.memory.set_slot("x", value, user_id=self.users[who], session_id=session)

    def document(self, who: int, key: str, value: dict[str, Any]) -> Any:
        return self.memory.put_document(("notes",), key, {**value, "own": OWN[who]}, user_id=self.users[who])

    def _fact(self, who: int, number: int) -> str:
        found = self.memory.facts(user_id=self.users[who], include_superseded=True).items
        return found[number].id if number < len(found) else "none"

    def suppress(self, who: int, number: int) -> Any:
        return self.memory.suppress(self._fact(who, number), user_id=self.users[who])

    def restore(self, who: int, number: int) -> Any:
        return self.memory.restore(self._fact(who, number), user_id=self.users[who])

    def history(self, who: int, number: int) -> Any:
        return self.memory.history(self._fact(who, number), user_id=self.users[who]).items

    def forget(self, who: int, number: int) -> Any:
        return self.memory.forget(self._fact(who, number), user_id=self.users[who]).counts

    def correct(self, who: int, number: int) -> Any:
        right = f"I live in {OWN[who]} Faro"
        return self.memory.correct(fact_id=self._fact(who, number), right=right, user_id=self.users[who])

    def forget_session(self, who: int, session: str) -> Any:
        return self.memory.forget_session(session, user_id=self.users[who]).counts

    def forget_user(self, who: int) -> Any:
        receipt = self.memory.forget_user(self.users[who])
        # Whether an external index had heard of the user by now is up to its thread, not to other users.
        return {k: n for k, n in receipt.counts.items() if k != "external_vectors"}, receipt.bytes_clean

    def recall(self, who: int, question: str, filters: Any) -> Any:
        user, asked = self.users[who], question.format(w=OWN[who])
        context = self.memory.context(asked, user_id=user, session_id="s", filters=filters)
        return context.text, self.memory.search(asked or "x", user_id=user, filters=filters)

    def pause(self, who: int) -> Any:
        return self.memory.pause(self.users[who])

    def resume(self, who: int) -> Any:
        return self.memory.resume(self.users[who])

    def copy(self, who: int) -> Any:
        """The user's own export comes back, with another user's name written into every line."""
        lines = [json.loads(line) for line in self.memory.export_user(self.users[who])]
        forged = [json.dumps({**line, "user_id": self.users[1 - who], "user": self.users[1 - who]}) for line in lines]
        result = self.memory.import_user(forged, user_id=self.users[who])
        return result.imported, result.refused

    def everything(self, who: int) -> dict[str, str]:
        """All that the user's memory tells of itself."""
        memory, user = self.memory, self.users[who]
        self.clock.now, self.step, self.count = T0 + timedelta(days=9), 1 << 20, 0
        told: dict[str, Any] = {
            f"{kind} {question}": self.recall(who, question, None)
            for kind, question in (("recall", q) for q in ASKED)
        }
        told["facts"] = list(memory.facts(user_id=user, include_superseded=True))
        told["messages"] = list(memory.messages(user_id=user))
        told["sessions"] = list(memory.sessions(user_id=user))
        told["slots"] = [memory.slots(user_id=user, session_id=s) for s in SESSIONS]
        told["profile"] = memory.profile(user)
        told["related"] = list(memory.related(user_id=user))
        told["documents"] = memory.search_documents(user_id=user, query=OWN[who])
        told["export"] = list(memory.export_user(user))[1:]
        told["changes"] = list(memory.changes(user_id=user))
        told["audit"] = list(memory.audit(user))
        told["health"] = memory.doctor(user_id=user).problems
        with memory._runtime.store.read(user) as reader:
            told["counts"] = reader.counts()
            state = reader.user()
            told["revision"] = state and state.revision
        return {name: plain(value) for name, value in told.items()}


def plain(value: Any) -> str:
    """Without what is random or counted over the whole store: marks of contexts (and so their tokens), cursors, keyed
    hashes."""
    text = value if isinstance(value, str) else repr(value)
    text = re.sub(r"(</?memory )[a-p]{8}>", r"\1…>", text)
    return re.sub(r"(cursor|hmac|target)='[^']*'|id=\d+", r"\1", text)


def isolated(opened: Opening, users: tuple[str, str], steps: list[Any], records: list[logging.LogRecord]) -> None:
    """Plays the steps with both users in one store, and each alone in one of their own; ``records`` are what was
    logged."""
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        rooms: list[Room] = []
        for n, alone_in in enumerate((None, 0, 1)):
            rooms.append(Room(opened, Path(place) / str(n), users, alone_in))
            stack.enter_context(rooms[-1].memory)
        together, *alone = (room.play(steps) for room in rooms)
        for who in (0, 1):
            assert together[who] == alone[who][who]
            mine, theirs = rooms[0].everything(who), rooms[1 + who].everything(who)
            for name, value in mine.items():
                assert value == theirs[name], f"{name} of {users[who]!r}"
                assert OWN[1 - who] not in value, f"{name} of {users[who]!r}"
    for record in records:
        said = record.getMessage() + str(record.exc_text or "")
        assert not any(word in said for word in OWN), said
        assert not any(len(user) > 2 and user in said for user in users), said


USERS = st.lists(st.sampled_from(IDS), min_size=2, max_size=2, unique=True).map(tuple)
_QUIET = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]


class IsolationContract:
    """Inherited by every kind of store and index."""

    EXAMPLES = 8
    AT_LENGTH = 400

    def opened(self, place: Path, clock: Clock, new_id: Callable[[], str], /, **options: Any) -> LongTermMemory:
        """The default store, with an embedder that needs no model."""
        return LongTermMemory.open(
            place, embedder=HashEmbedder(), timezone="UTC", clock=clock, new_id=new_id, **options
        )

    def _holds(self, examples: int, caplog: pytest.LogCaptureFixture) -> None:
        @settings(max_examples=examples, deadline=None, suppress_health_check=_QUIET)
        @given(USERS, STEPS)
        def holds(users: tuple[str, str], steps: list[Any]) -> None:
            caplog.clear()
            with caplog.at_level(logging.DEBUG):
                isolated(self.opened, users, steps, caplog.records)

        holds()

    def test_each_user_gets_what_they_would_get_alone(self, caplog: pytest.LogCaptureFixture) -> None:
        self._holds(self.EXAMPLES, caplog)

    @pytest.mark.faults
    @pytest.mark.timeout(1800)
    def test_each_user_gets_what_they_would_get_alone_at_length(self, caplog: pytest.LogCaptureFixture) -> None:
        self._holds(self.AT_LENGTH, caplog)


__all__ = ["IsolationContract", "Opening", "Room", "isolated"]
