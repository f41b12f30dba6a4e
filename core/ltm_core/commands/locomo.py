"""LoCoMo conversations as entries: one user per sample, one session per meeting, two named people.

Both people speak for themselves, so both have the role of a user; ``me`` is the first one, and what the other
says of himself is known of ``speaker:<name>``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ltm_core.commands.transcripts import Entry, Source, Unreadable
from ltm_core.errors import InvalidInputError
from ltm_core.types import Message

_SESSION = re.compile(r"session_(\d+)")
_DATE = re.compile(r"\s*(\d{1,2}):(\d{2})\s*([ap])m on (\d{1,2}) ([A-Za-z]+),? (\d{4})\s*", re.IGNORECASE)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def samples(path: Path) -> Source:
    """The turns of every sample of the file, in the order of their sessions."""
    try:
        data = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as e:
        raise InvalidInputError(f"{path} is not a JSON document (lines of JSON need --format messages)") from e
    found = data if isinstance(data, list) else [data]
    if not found or not all(isinstance(s, dict) and isinstance(s.get("conversation"), dict) for s in found):
        raise InvalidInputError(f"{path} is not in the LoCoMo format: samples with a conversation each")
    total = sum(len(turns) for s in found for _, turns in _sessions(s["conversation"]))
    return Source(total=total, entries=(e for n, s in enumerate(found, 1) for e in _sample(s, n)))


def _sessions(conversation: Mapping[str, Any]) -> list[tuple[str, list[Any]]]:
    numbered = [(int(m[1]), k) for k in conversation if (m := _SESSION.fullmatch(k))]
    return [(k, conversation[k]) for _, k in sorted(numbered) if isinstance(conversation[k], list)]


def _sample(sample: Mapping[str, Any], number: int) -> Iterator[Entry | Unreadable]:
    conversation = sample["conversation"]
    user_id = str(sample.get("sample_id") or f"sample-{number}")
    me = str(conversation.get("speaker_a") or "")
    for session_id, turns in _sessions(conversation):
        written = conversation.get(f"{session_id}_date_time")
        start = moment(written)
        for order, turn in enumerate(turns):
            place = f"{user_id} {session_id} turn {order + 1}"
            raw = turn if isinstance(turn, dict) else {"_raw": turn}
            if start is None:
                yield Unreadable(place=place, size=1, raw=raw, reason=f"{session_id}_date_time is no date")
            elif not isinstance(turn, dict) or not isinstance(turn.get("text"), str):
                yield Unreadable(place=place, size=1, raw=raw, reason="a turn needs speaker and text")
            else:
                message = _message(turn, at=start + timedelta(seconds=order), place=place)
                yield _entry(message, place=place, user_id=user_id, session_id=session_id, me=me)


def _message(turn: Mapping[str, Any], *, at: datetime, place: str) -> Message:
    caption = turn.get("blip_caption")
    text = f"{turn['text']} [shares {caption}]" if caption else turn["text"]
    speaker = str(turn.get("speaker") or "")
    return Message(role="user", content=text, at=at, id=str(turn.get("dia_id") or place), name=speaker or None)


def _entry(message: Message, *, place: str, user_id: str, session_id: str, me: str) -> Entry:
    """``raw`` is the same turn as a line of the plain format, so that it can be repaired and replayed."""
    return Entry(
        place=place,
        size=1,
        raw={
            "user_id": user_id,
            "session_id": session_id,
            "id": message.id,
            "role": message.role,
            "name": message.name,
            "at": str(message.at),
            "content": message.content,
        },
        user_id=user_id,
        session_id=session_id,
        messages=(message,),
        options={"me": me} if me else {},
    )


def moment(text: Any) -> datetime | None:
    """``1:56 pm on 8 May, 2023`` in UTC; None when it is written otherwise."""
    match = _DATE.fullmatch(text) if isinstance(text, str) else None
    if match is None or match[5][:3].lower() not in _MONTHS:
        return None
    hour = int(match[1]) % 12 + (12 if match[3].lower() == "p" else 0)
    month = _MONTHS.index(match[5][:3].lower()) + 1
    try:
        return datetime(int(match[6]), month, int(match[4]), hour, int(match[2]), tzinfo=UTC)
    except ValueError:
        return None
