"""Which of the given messages are new: by id, by the place in the conversation, or by what was erased."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias

from ltm_core.errors import ConflictError
from ltm_core.store.base import DROPPED
from ltm_core.text.normalize import fold
from ltm_core.write.incoming.align import repeated
from ltm_core.write.incoming.forgotten import holds_forgotten
from ltm_core.write.incoming.intake import Incoming

if TYPE_CHECKING:
    from ltm_core.store.base import MessageRow, Reader, TurnMark

Fate: TypeAlias = Literal["new", "duplicate", "edit", "erased"]
DOCUMENT, DOCUMENT_TEXT = "document", "document text"
"""Kinds of tombstones: a document that was deleted; a text of a document in which words were overwritten."""
_LOOK_BACK = 512
"""Stored turns looked at beyond the number given: a host may send any part of its history."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What is to be done with one message; ``stored`` is the row it repeats or edits. Without one, "duplicate"
    and "edit" mean an earlier message of the same list with the same id."""

    fate: Fate
    stored: MessageRow | None = None


def judge(
    reader: Reader, session_id: str, given: Sequence[Incoming], *, now: datetime, since: int | None = None
) -> tuple[Judged, ...]:
    """One verdict per message, in order, as of this moment of the store.

    ``now`` is when the observation began and ``since`` the number of erasures then (`Reader.erasures`; None:
    no other than now): what was on its way while something was erased counts as said before the erasure.

    Erased is a message that repeats an erased one, and no new statement: by its id; by its words when it is
    dated before the erasure; by its place in the session's history when it comes in a list; and, without id
    and date in a list of any session, by its words together with those of the message before or after it. The
    same words alone (a greeting), under a new id, later, or beside other words are a new statement.
    """
    verdicts: list[Judged] = []
    repeats = _aligned(reader, session_id, given)
    in_batch: dict[str, Incoming] = {}
    flight = Flight(reader, session_id, now=now, since=since)
    for index, message in enumerate(given):
        earlier = None if message.id is None else in_batch.get(message.id)
        if index in repeats:
            verdict = repeats[index]
        elif earlier is not None:
            verdict = Judged("duplicate" if earlier.content == message.content else "edit")
        elif flight.lost(message.content) or _is_erased(reader, session_id, given, index):
            verdict = Judged("erased", _stored(reader, session_id, message))
        elif message.id is not None and reader.cold_turns(session_id=session_id, ids=[message.id]):
            verdict = Judged("duplicate")
        else:
            verdict = _alone(message, _stored(reader, session_id, message))
        if message.id is not None and verdict.fate in ("new", "edit"):
            in_batch[message.id] = message
        verdicts.append(verdict)
    return tuple(verdicts)


def _aligned(reader: Reader, session_id: str, given: Sequence[Incoming]) -> dict[int, Judged]:
    """The verdicts of messages without an id that repeat the session's history, by their place in the list."""
    if not any(m.aligned and m.id is None for m in given):
        return {}
    marks = reader.marks(session_id, roles=tuple({m.role for m in given}), limit=len(given) + _LOOK_BACK)
    own = {m.id for m in given if m.id is not None}
    rows = {r.item: r.id for r in reader.messages(session_id=session_id, ids=sorted(own))} if own else {}
    if own:
        # Turns that had ids of their own are told again with them, or not at all.
        marks = [m for m in marks if m.item or not m.has_caller_id]
    stored: list[Hashable] = [rows.get(m.item) or (m.role, m.content_mac) for m in marks]
    known = set(rows.values())
    places = [i for i, m in enumerate(given) if m.aligned and (m.id is None or m.id in known)]
    told: list[Hashable] = [given[i].id or (given[i].role, reader.content_mac(given[i].content)) for i in places]
    found = repeated(stored, told)
    if len(given) == 1 and found and not marks[found[0]].item:
        return {}
    items = [marks[j].item for j in found if marks[j].item]
    here = {r.item: r for r in reader.messages(items=items)} if items else {}
    verdicts: dict[int, Judged] = {}
    for place, j in zip(places, found, strict=False):
        row = here.get(marks[j].item)
        gone = row.redacted_at is not None if row is not None else not marks[j].is_cold
        if given[place].id is None:
            verdicts[place] = Judged("erased" if gone else "duplicate", row)
    verdicts |= _regenerated(reader, given, places, marks, found)
    return verdicts


def _regenerated(
    reader: Reader,
    given: Sequence[Incoming],
    places: Sequence[int],
    marks: Sequence[TurnMark],
    found: Sequence[int],
) -> dict[int, Judged]:
    """Another answer to the same last message of the user replaces the stored one."""
    if not found or len(found) == len(places) or found[-1] + 2 != len(marks):
        return {}
    place, asked, old = places[len(found)], marks[found[-1]], marks[-1]
    again = given[place].role == old.role == "assistant" and asked.role == "user" and given[place].id is None
    if not again or not old.item or old.is_cold:
        return {}
    (row,) = reader.messages(items=[old.item])
    return {} if row.redacted_at is not None else {place: Judged("edit", row)}


def _stored(reader: Reader, session_id: str, message: Incoming) -> MessageRow | None:
    if message.id is not None:
        return reader.message(message.id, session_id=session_id)
    if message.role != "assistant" or message.reply_to is None:
        return None
    answers = reader.messages(session_id=session_id, roles=("assistant",), newest_first=True, limit=8)
    return next((m for m in answers if m.reply_to == message.reply_to and not m.has_caller_id), None)


def _alone(message: Incoming, stored: MessageRow | None) -> Judged:
    if stored is None:
        return Judged("new")
    if stored.redacted_at is not None:
        return Judged("erased", stored)
    return Judged("duplicate" if stored.content == message.content else "edit", stored)


def is_refused(reader: Reader, session_id: str, id: str) -> bool:
    """Whether the turn of this id was forgotten, because somebody asked or by a policy."""
    key = message_key(session_id, id)
    return any(reader.is_tombstoned(kind, key) is not None for kind in ("message", DROPPED))


def _is_erased(reader: Reader, session_id: str, given: Sequence[Incoming], index: int) -> bool:
    message = given[index]
    if message.id is not None and is_refused(reader, session_id, message.id):
        return True
    if message.at is not None:
        limits = (
            reader.erased_before(),
            reader.is_tombstoned("session", session_id),
            reader.is_tombstoned("content", content_key(reader.content_mac(message.content))),
        )
        return any(t is not None and message.at <= t for t in limits)
    if message.id is not None or not message.aligned:
        return False
    mine = reader.content_mac(message.content)
    if reader.is_tombstoned("content", content_key(mine)) is None:
        return False
    macs = [reader.content_mac(m.content) for m in given[max(0, index - 1) : index + 2]]
    return any(reader.is_tombstoned("pair", pair_key(a, b)) is not None for a, b in pairwise(macs))


def refuse_overtaken(
    reader: Reader, session_id: str | None, texts: Sequence[str], *, now: datetime, since: int
) -> None:
    """ConflictError when one of the texts, on its way since ``now``, was erased meanwhile."""
    flight = Flight(reader, session_id, now=now, since=since)
    if any(flight.lost(text) for text in texts):
        raise ConflictError("what the call says was erased while it was under way; nothing is stored")


class Flight:
    """Whether words were on their way while something was erased that reaches them."""

    def __init__(self, reader: Reader, session_id: str | None, *, now: datetime, since: int | None) -> None:
        self._reader, self._now = reader, now
        count, last = reader.erasures()
        self._overtaken = since is not None and count != since
        self._all = self._words = False
        if last is not None and self._before(last):
            self._all = self._before(reader.erased_before()) or (
                session_id is not None and self._before(reader.is_tombstoned("session", session_id))
            )
            self._words = True

    def _before(self, erased: datetime | None) -> bool:
        # At the same tick of the clock the number of erasures tells what came first.
        return erased is not None and (self._now < erased or (self._overtaken and self._now <= erased))

    def lost(self, content: str) -> bool:
        if self._all:
            return True
        if not self._words:
            return False
        key = content_key(self._reader.content_mac(content))
        return self._before(self._reader.is_tombstoned("content", key)) or holds_forgotten(
            self._reader, content, self._before
        )


def message_key(session_id: str, message_id: str) -> str:
    """What a tombstone remembers of a message id: ids are unique inside a session."""
    return f"{session_id}\x1f{message_id}"


def content_key(mac: bytes) -> str:
    """What a tombstone remembers of the words of a turn, by their `Reader.content_mac`."""
    return mac.hex()


def fact_key(subject: str, value: str) -> str:
    """What a tombstone remembers of a forgotten fact: whom it was about, and its normalised object."""
    return f"{fold(subject)}\x1f{fold(value)}"


def document_key(namespace: Sequence[str], key: str) -> str:
    """What a tombstone remembers of a deleted document: its place, as JSON, so that no two are written alike."""
    return json.dumps([*namespace, key])


def pair_key(first: bytes, second: bytes) -> str:
    """What a tombstone remembers of two turns that followed each other."""
    return f"{first.hex()}\x1f{second.hex()}"
