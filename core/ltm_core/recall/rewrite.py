"""A question without a topic, said in full by a rewriter: what it is given, what of its answer is used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ltm_core.recall.gather import Found
from ltm_core.recall.question import Question, analyse_question
from ltm_core.recall.request import RecallRequest
from ltm_core.text.normalize import clean, fold
from ltm_core.types import Message

if TYPE_CHECKING:
    from ltm_core.config import Config
    from ltm_core.recall.bounded import Bounded
    from ltm_core.recall.protocols import Rewriter
    from ltm_core.store.base import Reader

_TURNS = 8
"""Stored turns before the question: what "that one" means was said just now."""
_KNOWN = 8
"""Current facts told, the newest ones."""
_LONGEST = 500
"""Characters of one rewritten question; longer ones are no search query."""


def conversation(reader: Reader, request: RecallRequest, query: str) -> tuple[list[Message], list[str]]:
    """(turns, entities) that a vague question of this session may refer to."""
    session_id = request.scope.session_id
    rows = reader.messages(session_id=session_id, newest_first=True, limit=_TURNS + 1) if session_id else []
    live = [r for r in rows if r.expires_at is None or r.expires_at > request.now]
    if live and live[0].role == "user" and fold(live[0].content) == fold(query):
        live = live[1:]
    turns = [
        Message(role=r.role, content=r.content, at=r.at, name=r.name)
        for r in reversed(live[:_TURNS])
        if r.role in ("user", "assistant")
    ]
    if not turns:
        turns = [Message(role=m.role, content=m.content, name=m.name) for m in request.current_messages or ()]
    slots = reader.slots(session_id, now=request.now) if session_id else []
    said = " ".join(m.content for m in turns)
    identifiers = analyse_question(said, now=request.now).identifiers if said else ()
    facts = reader.facts(current_at=request.now, newest_first=True, limit=_KNOWN)
    entities = [*(f"{s.name} = {s.value}" for s in slots), *identifiers, *(f.object for f in facts if f.object)]
    return turns, list(dict.fromkeys(entities))


def rewritten(
    query: str,
    turns: Sequence[Message],
    entities: Sequence[str],
    *,
    rewriter: Bounded[Rewriter],
    config: Config,
) -> tuple[tuple[str, ...], str]:
    """(queries, note). No queries when the rewriter failed, was late, or said nothing new."""
    answer, why = rewriter(lambda helper: _texts(helper.rewrite(query, tuple(turns), tuple(entities))))
    if answer is None:
        return (), f"{why}: the question is read with the words of the conversation"
    kept: dict[str, str] = {}
    for text in answer:
        text = " ".join(clean(text).split())
        if text and len(text) <= _LONGEST and fold(text) != fold(query):
            kept.setdefault(fold(text), text)
    queries = tuple(kept.values())[: config.rewrite_queries]
    if not queries:
        return (), f"{rewriter.name} did not know what the question means"
    return queries, f"{rewriter.name} read the question as: " + " | ".join(queries)


def _texts(answer: object) -> list[str]:
    values = [answer] if isinstance(answer, str) else list(answer)  # type: ignore[call-overload]
    if not all(isinstance(v, str) for v in values):
        raise TypeError("a rewriter answers text")
    return values


def combined(original: Question, questions: Sequence[Question]) -> Question:
    """One question that asks all of them and keeps what the original says of time, order and exclusion."""
    every = (original, *questions)

    def union(name: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(v for q in every for v in getattr(q, name)))

    return replace(
        questions[0],
        language=original.language,
        wants_last=any(q.wants_last for q in every),
        asks_past_state=any(q.asks_past_state for q in every),
        of_answers=any(q.of_answers for q in every),
        negated=union("negated"),
        relations=union("relations"),
        identifiers=union("identifiers"),
        times=questions[0].times or original.times,
    )


def merged(founds: Sequence[Found]) -> Found:
    """What any of the queries found, each memory with its best score."""
    out = Found()
    best: dict[int, int] = {}
    for found in founds:
        for row, hit in found.messages:
            place = best.get(row.item)
            if place is None:
                best[row.item] = len(out.messages)
                out.messages.append((row, hit))
            elif hit.score > out.messages[place][1].score:
                out.messages[place] = (row, hit)
        for told, hit in found.summaries:
            known_told = {s.item: i for i, (s, _) in enumerate(out.summaries)}.get(told.item)
            if known_told is None:
                out.summaries.append((told, hit))
            elif hit.score > out.summaries[known_told][1].score:
                out.summaries[known_told] = (told, hit)
        for id, (fact, fact_hit) in found.facts.items():
            known = out.facts.get(id)
            known_score = known[1].score if known and known[1] else -1.0
            if known is None or (fact_hit is not None and fact_hit.score > known_score):
                out.facts[id] = (fact, fact_hit)
        out.standing = {**out.standing, **found.standing}
        out.successors.update(found.successors)
        out.notes += [n for n in found.notes if n not in out.notes]
    out.messages.sort(key=lambda p: (-p[1].score, -p[0].at.timestamp(), -p[0].item))
    return out


__all__ = ["combined", "conversation", "merged", "rewritten"]
