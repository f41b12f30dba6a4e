"""From the turns of one topic to a summary that can be stored: asked, checked, dated, attributed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

from ltm_core.errors import LTMError
from ltm_core.keep.consolidate.checked import checked
from ltm_core.keep.consolidate.due import Labels, period
from ltm_core.keep.consolidate.extractive import NAME, ExtractiveSummarizer
from ltm_core.keep.consolidate.wording import topic_of
from ltm_core.keep.redaction import overwrite
from ltm_core.protocols import SummaryRequest, SummarySentence, SummaryTurn
from ltm_core.recall.currency import state
from ltm_core.recall.render import words
from ltm_core.runtime import log
from ltm_core.store.rows import Level, SummaryLine, SummaryRow, SummarySource
from ltm_core.text.tokens import estimate_tokens
from ltm_core.write.incoming.index import day_of

if TYPE_CHECKING:
    from datetime import datetime

    from ltm_core.runtime import Runtime
    from ltm_core.store.base import MessageRow
    from ltm_core.types import Fact

LEAST_TOKENS = 40
"""Tokens that every summary may have: two or three sentences."""
MOST_TOKENS = 4000
"""Tokens of turns that one summary reads: small models take about 8,000 with the instructions."""
SHORTER = 0.4
"""Share of its turns that a summary may be as long as: a longer one would save nothing."""
_EXTRACTIVE = ExtractiveSummarizer()


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The turns of one topic of one period, in order, with how near each is to the middle of the topic."""

    level: Level
    first: date
    days: int
    labels: Labels
    timezone: str
    rows: tuple[MessageRow, ...]
    weights: tuple[float, ...]


def unsaid(rows: Sequence[MessageRow], facts: Sequence[Fact], *, now: datetime) -> tuple[MessageRow, ...]:
    """The turns with the words overwritten that support only what was taken back or is not to be brought up. Pure."""
    gone: dict[str, list[tuple[int, int]]] = {}
    for fact in facts:
        if state(fact, now) == "gone":
            for e in fact.evidence:
                gone.setdefault(e.message_id, []).append((e.start, e.end))
    return tuple(replace(r, content=overwrite(r.content, gone[r.id])) if r.id in gone else r for r in rows)


def request_of(group: Group, *, target_tokens: int) -> SummaryRequest:
    """What a summariser reads of the group."""
    turns = tuple(
        SummaryTurn(
            id=f"t{n}",
            text=row.content,
            speaker=row.name or row.role,
            role=row.role,
            on=day_of(row),
            language=row.language,
            weight=weight,
        )
        for n, (row, weight) in enumerate(zip(group.rows, group.weights, strict=True), 1)
    )
    last = group.first + timedelta(days=group.days - 1)
    sizes = [min(estimate_tokens(t.text), MOST_TOKENS) for t in turns]
    said = sum(sizes)
    if said > MOST_TOKENS:
        turns = _nearest(turns, sizes)
    return SummaryRequest(
        turns=turns,
        language=_language(group.rows),
        begins=group.first,
        ends=last,
        target_tokens=min(target_tokens, max(LEAST_TOKENS, round(SHORTER * said))),
    )


def _nearest(turns: Sequence[SummaryTurn], sizes: Sequence[int]) -> tuple[SummaryTurn, ...]:
    """The turns nearest to the middle of the topic that a model can read at once, in their order."""
    kept: set[int] = set()
    spent = 0
    for i in sorted(range(len(turns)), key=lambda i: (-turns[i].weight, i)):
        if spent + sizes[i] <= MOST_TOKENS:
            kept.add(i)
            spent += sizes[i]
    return tuple(t for i, t in enumerate(turns) if i in kept)


def summarised(
    runtime: Runtime, request: SummaryRequest, counts: Counter[str]
) -> tuple[str, tuple[SummarySentence, ...]]:
    """(who made it, its sentences): the model's that hold, else the user's own. Called outside of any transaction."""
    model = runtime.summarizer
    if model is not None:
        try:
            sentences = checked(model.summarize(request), request, rejected := Counter[str]())
        except LTMError as e:
            counts["failed"] += 1
            log.warning("summarizer %s failed, the user's own sentences are used: %s", model.name, type(e).__name__)
        except Exception as e:  # noqa: BLE001  a host's model may raise anything, with words of the turns in it
            counts["failed"] += 1
            log.warning("summarizer %s raised %s, the user's own sentences are used", model.name, type(e).__name__)
        else:
            counts["rejected"] += rejected.total()
            if rejected:
                told = ", ".join(f"{n} {why}" for why, n in sorted(rejected.items()))
                log.warning("summarizer %s: sentences were dropped: %s", model.name, told)
            if sentences:
                return model.name, sentences
            counts["failed"] += 1
    return NAME, _EXTRACTIVE.summarize(request)


def row_of(
    group: Group,
    request: SummaryRequest,
    made_by: str,
    sentences: Sequence[SummarySentence],
    *,
    id: str,
    now: datetime,
) -> SummaryRow:
    """The summary as it is stored; its sources are all turns of the group."""
    known = {t.id: t for t in request.turns}
    extractive = made_by == NAME
    lines = []
    for s in sentences:
        # A turn's id is its place in the group, counted from 1.
        at = tuple(sorted(int(i[1:]) - 1 for i in s.sources if i in known))
        turn = known[f"t{at[0] + 1}"]
        shown = _speaker(group.rows[at[0]], request.language) if extractive else ""
        by = turn.speaker if extractive else "assistant"
        lines.append(SummaryLine(text=s.text, on=turn.on, speaker=shown, by=by, sources=at))
    begins, ends = period(group.first, group.days, group.timezone)
    expiries = [r.expires_at for r in group.rows if r.expires_at is not None]
    agent, task, app = group.labels
    return SummaryRow(
        id=id,
        level=group.level,
        begins=begins,
        ends=ends,
        timezone=group.timezone,
        lines=tuple(lines),
        topic=topic_of([s.text for s in sentences]),
        language=request.language,
        made_by=made_by,
        sources=tuple(SummarySource(item=r.item, session_id=r.session_id, message_id=r.id) for r in group.rows),
        said_at=max(r.at for r in group.rows),
        agent_id=agent,
        task_id=task,
        app_id=app,
        recorded_at=now,
        expires_at=min(expiries, default=None),
    )


def _language(rows: Sequence[MessageRow]) -> str:
    counts: Counter[str] = Counter()
    for row in rows:
        counts[row.language] += len(row.content) if row.role == "user" else 0
    known = Counter({k: n for k, n in counts.items() if k != "other" and n})
    return known.most_common(1)[0][0] if known else "en"


def _speaker(row: MessageRow, language: str) -> str:
    if row.name:
        return " ".join(row.name.split())[:40]
    word: Mapping[str, str] = words(language)
    return word["bot"] if row.role == "assistant" else word["user"]


__all__ = ["Group", "request_of", "row_of", "summarised", "unsaid"]
