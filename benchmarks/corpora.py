"""Public conversation sets in one shape: turns that were said, questions, and the turns that answer them.

The files are read from a folder the caller names and are never part of this repository.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ltm_core.types import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One turn."""

    id: str
    session: str
    role: Role
    name: str | None
    text: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question with the turns that answer it."""

    text: str
    gold: frozenset[str]
    category: str
    original: frozenset[str] = frozenset()
    """Turns whose statement a later one replaced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """All that one user said, and what is asked about it."""

    id: str
    turns: Sequence[Said]
    questions: Sequence[Asked]
    now: datetime = field(default_factory=lambda: datetime(2025, 1, 1, tzinfo=UTC))


LOCOMO_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_DIALOGUE_ID = re.compile(r"D(\d+):(\d+)")


def locomo(path: Path) -> Iterator[Conversation]:
    """LoCoMo: two named people over months; a shared picture stands as its caption."""
    for number, record in enumerate(json.loads(path.read_text(encoding="utf-8"))):
        talk = record["conversation"]
        turns: list[Said] = []
        for n in range(1, 1000):
            if f"session_{n}" not in talk:
                break
            start = datetime.strptime(talk[f"session_{n}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
            for i, turn in enumerate(talk[f"session_{n}"]):
                caption = turn.get("blip_caption")
                turns.append(
                    Said(
                        id=turn["dia_id"],
                        session=f"session_{n}",
                        role="user",
                        name=turn["speaker"],
                        text=turn["text"] + (f" [shares {caption}]" if caption else ""),
                        at=start + timedelta(minutes=i),
                    )
                )
        known = {t.id for t in turns}
        questions = []
        for qa in record["qa"]:
            ids = {f"D{int(a)}:{int(b)}" for e in qa.get("evidence", ()) for a, b in _DIALOGUE_ID.findall(str(e))}
            if ids & known:
                questions.append(
                    Asked(
                        text=qa["question"],
                        gold=frozenset(ids & known),
                        category=LOCOMO_CATEGORIES[qa["category"]],
                    )
                )
        yield Conversation(
            id=record.get("sample_id", f"locomo-{number}"),
            turns=turns,
            questions=questions,
            now=max(t.at for t in turns) + timedelta(days=1),
        )


_PLAN_MARK = re.compile(r"\s*->->\s*[\d,\s]+$")


def beam(folder: Path) -> Iterator[Conversation]:
    """BEAM: a user and an assistant over weeks of a project; the assistant's answers are long."""
    for place in sorted((p for p in folder.iterdir() if p.is_dir()), key=lambda p: p.name.zfill(4)):
        chat = json.loads((place / "chat.json").read_text(encoding="utf-8"))
        turns: list[Said] = []
        at = datetime(2024, 1, 1, tzinfo=UTC)
        for batch in chat:
            for group in batch["turns"]:
                for message in group:
                    if message.get("time_anchor"):
                        said = datetime.strptime(message["time_anchor"], "%B-%d-%Y").replace(tzinfo=UTC)
                        at = max(at, said)
                    at += timedelta(seconds=30)
                    turns.append(
                        Said(
                            id=str(message["id"]),
                            session=f"batch-{batch['batch_number']}",
                            role=message["role"],
                            name=None,
                            text=_PLAN_MARK.sub("", message["content"]),
                            at=at,
                        )
                    )
        known = {t.id for t in turns}
        probing = json.loads((place / "probing_questions.json").read_text(encoding="utf-8"))
        questions = [q for kind, items in probing.items() for item in items for q in _probe(kind, item, known)]
        yield Conversation(id=place.name, turns=turns, questions=questions, now=at + timedelta(days=1))


def _probe(kind: str, item: dict[str, Any], known: set[str]) -> Iterator[Asked]:
    source = item.get("source_chat_ids")
    original: set[str] = set()
    if isinstance(source, dict):
        ids = {str(i) for part in source.values() for i in _flat(part)}
        original = {str(i) for i in _flat(source.get("original_info", []))} & known
    else:
        ids = {str(i) for i in _flat(source or [])}
    if ids & known:
        yield Asked(text=item["question"], gold=frozenset(ids & known), category=kind, original=frozenset(original))


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for v in value:
            yield from _flat(v)
    elif value is not None:
        yield value


def _memories(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line:
            yield from json.loads(line).items()


_QUOTED = re.compile(r'^\s*<([^>]+)>\s*:\s*"?(.*?)"?\s*$', re.DOTALL)


def madial(memory: Path, dialogues: Path, *, owners: Path) -> Iterator[Conversation]:
    """MADial-Bench: memories of two people, and dialogues in which one of them is brought up.

    The question is the dialogue so far. ``owners`` is the memory file that tells whose each memory is.
    """
    whose = {i: r["user-id"] for i, r in _memories(owners)}
    records = [{**r, "id": i, "user-id": whose[i]} for i, r in _memories(memory)]
    asked = [json.loads(line) for line in dialogues.read_text(encoding="utf-8").splitlines() if line]
    for user in sorted({r["user-id"] for r in records}):
        turns = [
            Said(
                id=str(r["id"]),
                session=f"day-{r['time']}-{r['id']}",
                role="user",
                name=None,
                text=r["event"],
                at=datetime.fromisoformat(r["time"]).replace(hour=18, tzinfo=UTC),
            )
            for r in records
            if r["user-id"] == user
        ]
        known = {t.id for t in turns}
        questions = []
        for d in asked:
            gold = frozenset(str(i) for i in d["relevant-id"]) & known
            if d["user-id"] == user and gold:
                lines = [_QUOTED.sub(r"\2", line).strip() for line in d["dialogue"][1 : d["test-turn"][0]]]
                questions.append(Asked(text="\n".join(lines), gold=gold, category=f"user {user}"))
        yield Conversation(id=f"user-{user}", turns=turns, questions=questions, now=datetime(2024, 1, 2, tzinfo=UTC))


def longmemeval(path: Path) -> Iterator[Conversation]:
    """LongMemEval as published: each question with its own haystack of sessions; gold are sessions, not turns.

    Questions that nothing answers (their id ends in ``_abs``) are left out, as in the published figures.
    """
    for record in json.loads(path.read_text(encoding="utf-8")):
        if record["question_id"].endswith("_abs"):
            continue
        turns = [
            Said(
                id=f"{session}:{place}:{i}",
                session=f"{session}:{place}",
                role=turn["role"],
                name=None,
                text=turn["content"],
                at=_longmemeval_time(date) + timedelta(seconds=30 * i),
            )
            for place, (session, date, talk) in enumerate(
                zip(
                    record["haystack_session_ids"],
                    record["haystack_dates"],
                    record["haystack_sessions"],
                    strict=True,
                )
            )
            for i, turn in enumerate(talk)
            if turn["content"].strip()
        ]
        answers = set(record["answer_session_ids"])
        gold = frozenset(t.session for t in turns if t.session.rpartition(":")[0] in answers)
        if gold:
            question = Asked(text=record["question"], gold=gold, category=record["question_type"])
            now = _longmemeval_time(record["question_date"])
            yield Conversation(id=record["question_id"], turns=turns, questions=(question,), now=now)


def _longmemeval_time(text: str) -> datetime:
    """``2023/05/20 (Sat) 02:21``"""
    return datetime.strptime(re.sub(r"\s*\([^)]*\)", "", text), "%Y/%m/%d %H:%M").replace(tzinfo=UTC)
