"""Mixed work on a memory, told by its number alone: the same numbers make the same memory, dead or alive between.

Step ``n`` of a `Work` always does the same to the same content: its choices come from the seed and the number, its
clock and its ids too. So a store whose writer was killed over and over can be compared with one whose was not.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from ltm_core.errors import ConflictError, NotFoundError
from ltm_core.memory import LongTermMemory
from ltm_core.testing.clock import Clock
from ltm_core.types import DocumentWrite, Fact, Message

Kind: TypeAlias = Literal[
    "say", "move", "chat", "edit", "remember", "status", "correct", "restore", "suppress", "forget",
    "forget_session", "forget_user", "delete", "slot", "documents", "maintain", "import", "roll_back",
]  # fmt: skip
KINDS: tuple[Kind, ...] = get_args(Kind)
_WEIGHTS = (12, 14, 8, 5, 4, 5, 6, 5, 3, 6, 2, 2, 3, 3, 3, 4, 2, 2)
IN_PIECES: frozenset[Kind] = frozenset({"import", "maintain"})
"""Calls of several transactions: after a kill a part may be done, and the call is made again."""
USERS = ("ana", "小林", "a/b")
T0 = datetime(2026, 3, 1, 9, tzinfo=UTC)
_PACE = timedelta(minutes=7)
_BACK = 60
"""Steps back within which an edit or a deletion finds its message."""
SINGLE = ("lives_in", "status")
"""Relations of which each subject has one value at a time."""

Opener: TypeAlias = Callable[[Path, Clock, Callable[[], str]], LongTermMemory]
"""Opens the memory at a place with this clock and these ids. Must be importable, for it goes to other processes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What number ``n`` does, and to whom."""

    n: int
    kind: Kind
    user: str


class Ids:
    """Ids of one step: those of another run of the same step are the same."""

    def __init__(self) -> None:
        self.step = self.count = 0

    def __call__(self) -> str:
        self.count += 1
        return f"{self.step:08x}-{self.count:04x}-7000-8000-000000000000"


def marker(n: int) -> str:
    """A word that nothing but step ``n`` says."""
    return f"zqx{n}kestrel"


def place_of(n: int) -> str:
    """A town that only step ``n`` names."""
    letters = ""
    while True:
        letters, n = chr(ord("a") + n % 26) + letters, n // 26
        if not n:
            return f"Port{letters}burg"


class Work:
    """A memory and the steps done to it. ``exported``: lines that "import" steps take in."""

    def __init__(self, place: Path, opened: Opener, *, seed: int, exported: Path) -> None:
        self.place, self.seed = place, seed
        self._opened = opened
        self._exported = exported
        self._clock, self._ids = Clock(T0), Ids()
        self.memory = self._open()

    def _open(self) -> LongTermMemory:
        return self._opened(self.place, self._clock, self._ids)

    def step(self, n: int) -> Step:
        """The step of this number."""
        chance = random.Random(f"{self.seed}/{n}")
        return Step(n=n, kind=chance.choices(KINDS, _WEIGHTS)[0], user=chance.choice(USERS))

    def set_clock(self, n: int, *, later: timedelta = timedelta(0)) -> None:
        """It is the time of step ``n``, or so much later."""
        self._clock.now = T0 + n * _PACE + later
        self._ids.step, self._ids.count = n, 0

    def perform(self, n: int) -> Step:
        """The step is done; one that finds nothing to work on does nothing."""
        step = self.step(n)
        self.set_clock(n)
        # Refusals are the same in every run: what a step works on depends on the content alone.
        with suppress(NotFoundError, ConflictError):
            getattr(self, f"_{step.kind}")(step)
        return step

    # the steps ----------------------------------------------------------------------------------------
    def _say(self, step: Step) -> None:
        text = f"I love {marker(step.n)} tea. My order is ORD-2026-{step.n:05d}."
        self._observe(step, text)

    def _move(self, step: Step) -> None:
        self._observe(step, f"I live in {place_of(step.n)}." if step.n % 2 else f"我搬到{place_of(step.n)}了。")

    def _observe(self, step: Step, text: str) -> None:
        self.memory.observe(
            user_id=step.user, session_id=f"s{step.n // 25}", user=text, message_id=f"m{step.n}",
            ttl=86_400 if step.n % 11 == 0 else None, metadata={"n": step.n},
        )  # fmt: skip

    def _chat(self, step: Step) -> None:
        self.memory.observe(
            user_id=step.user,
            session_id=f"chat{step.n}",
            messages=[
                Message(role="user", content=f"My sister lives in {place_of(step.n)}.", id=f"m{step.n}"),
                Message(role="assistant", content=f"Noted: {marker(step.n)}. " * 30, id=f"m{step.n}a"),
                Message(role="user", content="谢谢，我对花生过敏。", id=f"m{step.n}b"),
            ],
        )

    def _edit(self, step: Step) -> None:
        old = self._earlier(step)
        text = f"I live in {place_of(step.n)}. {marker(step.n)}"
        self.memory.observe(user_id=step.user, session_id=f"s{old // 25}", user=text, message_id=f"m{old}")

    def _remember(self, step: Step) -> None:
        self.memory.remember(f"The spare key {marker(step.n)} is under the oleander", user_id=step.user)

    def _status(self, step: Step) -> None:
        status = ("open", "approved", "shipped")[step.n % 3]
        self.memory.assert_fact(f"order:ORD-{step.n % 5}", "status", status, user_id=step.user, source="erp")

    def _correct(self, step: Step) -> None:
        fact = self._fact(step, current=True, relation="lives_in")
        self.memory.correct(fact_id=fact.id, right=f"I live in {place_of(step.n)}", user_id=step.user)

    def _restore(self, step: Step) -> None:
        self.memory.restore(self._fact(step, current=False).id, user_id=step.user)

    def _suppress(self, step: Step) -> None:
        self.memory.suppress(self._fact(step, current=True).id, user_id=step.user)

    def _forget(self, step: Step) -> None:
        self.memory.forget(self._fact(step, current=step.n % 3 != 0).id, user_id=step.user)

    def _forget_session(self, step: Step) -> None:
        self.memory.forget_session(f"s{self._earlier(step) // 25}", user_id=step.user)

    def _forget_user(self, step: Step) -> None:
        self.memory.forget_user(step.user)

    def _delete(self, step: Step) -> None:
        old = self._earlier(step)
        self.memory.delete_messages([f"m{old}"], user_id=step.user, session_id=f"s{old // 25}")

    def _slot(self, step: Step) -> None:
        self.memory.set_slot("booking", {"n": step.n}, user_id=step.user, session_id=f"s{step.n // 25}")

    def _documents(self, step: Step) -> None:
        puts = [
            DocumentWrite(namespace=("notes",), key=f"k{(step.n + k) % 9}", value={"text": marker(step.n), "k": k})
            for k in range(3)
        ]
        self.memory.write_documents(puts, user_id=step.user)

    def _maintain(self, step: Step) -> None:
        self.memory.maintain()

    def _import(self, step: Step) -> None:
        lines = self._exported.read_text("utf-8").splitlines()
        self.memory.import_user(lines, user_id=step.user, after_erasure="allow", trust=step.n % 2 == 0)

    def _roll_back(self, step: Step) -> None:
        """A backup takes the place of the store that it is of."""
        copies = self.place.with_name(f"{self.place.name}-copies")
        shutil.rmtree(copies, ignore_errors=True)
        self.memory.backup(copies / "copy")
        self.memory.close()
        LongTermMemory.restore_backup(copies / "copy", self.place, clock=self._clock)
        self.memory = self._open()

    # what they work on --------------------------------------------------------------------------------
    def _earlier(self, step: Step) -> int:
        return max(0, step.n - random.Random(f"{self.seed}/{step.n}/back").randrange(1, _BACK))

    def _fact(self, step: Step, *, current: bool, relation: str | None = None) -> Fact:
        facts = self.memory.facts(user_id=step.user, include_superseded=not current, relation=relation)
        found = sorted((f for f in facts if f.is_current is current), key=_order)
        if not found:
            raise NotFoundError(f"step {step.n} finds no fact")
        return random.Random(f"{self.seed}/{step.n}/fact").choice(found)


def _order(fact: Fact) -> tuple[Any, ...]:
    return (fact.subject, fact.relation, fact.object, fact.valid_from, fact.recorded_at)


# what a memory holds ----------------------------------------------------------------------------------
def content(memory: LongTermMemory, user_id: str) -> dict[str, list[Any]]:
    """All that the user's memory says, without the numbers and ids by which it says it."""
    facts = list(memory.facts(user_id=user_id, include_superseded=True))
    objects = {f.id: f.object for f in facts}
    return {
        "messages": [
            (m.session_id, m.id, m.role, m.content, m.at, dict(m.metadata), m.redacted)
            for m in memory.messages(user_id=user_id)
        ],
        "facts": sorted(
            (
                f.subject, f.relation, f.object, f.text, f.is_current, f.valid_from.isoformat(), str(f.valid_to),
                f.retracted_at is None, f.suppressed_at is None, str(f.expires_at),
                objects.get(f.superseded_by or "", f.superseded_by is not None),
            )
            for f in facts
        ),
        "window": sorted(
            (s.id, m.id)
            for s in memory.sessions(user_id=user_id)
            for m in memory.messages(user_id=user_id, session_id=s.id, window_only=True)
        ),
        "documents": sorted(
            (d.namespace, d.key, str(d.value)) for d in memory.search_documents(user_id=user_id, limit=1000)
        ),
    }  # fmt: skip


__all__ = ["IN_PIECES", "KINDS", "SINGLE", "T0", "USERS", "Ids", "Opener", "Step", "Work", "content", "marker"]
