"""Candidates meet what is known: reinforce, supersede, close, retract, or stand beside it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ltm_core.types import Evidence, Fact, Scope
from ltm_core.write.corrections.restated import OF_ASSISTANT
from ltm_core.write.corrections.restated import RULE as RESTATED
from ltm_core.write.corrections.righted import RULE as RIGHTED
from ltm_core.write.corrections.righted_zh import RULE as RIGHTED_ZH
from ltm_core.write.endings.ends import RULE as ENDS
from ltm_core.write.endings.likely_news import RULE as OVERTAKES
from ltm_core.write.endings.overtaken import overtake
from ltm_core.write.endings.returns import RULE as RETURNS
from ltm_core.write.endings.stages import RULE as STAGE
from ltm_core.write.endings.weighed import RULE as WEIGHED
from ltm_core.write.endings.weighed import weigh
from ltm_core.write.known.judged import Judge
from ltm_core.write.known.known import Known
from ltm_core.write.known.news import load_news
from ltm_core.write.learned.layers import Cut
from ltm_core.write.plan import Candidate, Decision
from ltm_core.write.read.found import inside
from ltm_core.write.resolve.advance import advance
from ltm_core.write.resolve.beside import Beside
from ltm_core.write.resolve.farewells import ended_before, without_farewells, without_news, without_partner
from ltm_core.write.resolve.meeting import Meeting
from ltm_core.write.resolve.replaces import keeps_employer
from ltm_core.write.words.lexicon import Lexicon

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PUT_RIGHT = frozenset([RESTATED, OF_ASSISTANT, RIGHTED, RIGHTED_ZH])
"""Rules of what only puts right what is known."""


def resolve(
    candidates: Iterable[Candidate],
    current: Sequence[Fact],
    *,
    beside: Sequence[Fact] = (),
    user_id: str,
    session_id: str | None = None,
    agent_id: str | None = None,
    task_id: str | None = None,
    app_id: str | None = None,
    now: datetime,
    new_id: Callable[[], str],
    lexicon: Lexicon,
    similarity: Callable[[str, str], float] | None = None,
    vectors: Mapping[str, NDArray[Any]] | None = None,
    pieces: Cut | None = None,
    relation_threshold: float = 0.7,
    duplicate_similarity: float = 0.92,
) -> tuple[Decision, ...]:
    """The changes that make the candidates known, in order; each row as it must be afterwards.

    ``beside``: facts of the same slots that are not current (`write.resolve.beside`). ``vectors``: those that the
    learned models know, by text; without them news is matched by its words alone. ``pieces``: what cuts a text into
    the pieces that the nets read word by word.
    """
    labels = Scope(user_id=user_id, session_id=session_id, agent_id=agent_id, task_id=task_id, app_id=app_id)
    others = Beside(labels=labels, now=now, new_id=new_id, lexicon=lexicon)
    state = Meeting(
        known=Known(
            [*(f for f in current if f.is_current and f.user_id == user_id), *others.take_in(beside).values()]
        ),
        beside=others,
        labels=labels,
        now=now,
        new_id=new_id,
        lexicon=lexicon,
        similarity=similarity,
        relation_threshold=relation_threshold,
        duplicate_similarity=duplicate_similarity,
    )
    decisions: list[Decision] = []
    open_: dict[str, Decision] = {}
    told: list[Evidence] = []
    for candidate in candidates:
        if any(inside(candidate, e) for e in told):
            continue  # its words only put right what was known
        if candidate.rule in _PUT_RIGHT:
            made = state.restate(candidate)
            decisions += made
            told += candidate.evidence if made else ()
            continue
        if candidate.rule == RETURNS and not candidate.relation_confidence:
            continue  # what is gone back to was not found (`returns.settled`)
        if candidate.rule == STAGE:
            decisions = advance(
                candidate, decisions, state.known, lexicon=lexicon, labels=labels, now=now, new_id=new_id
            )
            continue
        if candidate.rule in (OVERTAKES, WEIGHED):
            kept = [f for f in state.known.of_subject(candidate) if keeps_employer(f, candidate, lexicon)]
            for f in kept:
                state.known.drop(f.id)
            ends = overtake if candidate.rule == OVERTAKES else weigh
            decisions = ends(
                candidate, decisions, state.known, vectors=vectors or {}, judge=Judge(load_news(), pieces),
                lexicon=lexicon, labels=labels, now=now, new_id=new_id,
            )  # fmt: skip
            for f in kept:
                state.known.put(f)
            continue
        made = others.again(candidate) or others.settled(candidate, state.take(candidate), state.known)
        decisions += made
        if candidate.rule == "open":
            open_.update((d.fact.id, d) for d in made if d.op == "add")
        elif candidate.rule == ENDS and (made or ended_before(decisions, candidate, lexicon)):
            decisions = without_news(decisions, open_, candidate, state.known)
            decisions = without_partner(decisions, candidate, state.known, lexicon)
    return tuple(without_farewells(decisions, set(open_), lexicon))
