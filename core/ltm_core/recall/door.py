"""From a call to a recall: checks the options, embeds the question, opens one moment of the store."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, get_args

from ltm_core.errors import InvalidInputError
from ltm_core.recall.question import analyse_question
from ltm_core.recall.render import FORMATS, Format
from ltm_core.recall.rerank import rerank
from ltm_core.recall.rewrite import conversation, rewritten
from ltm_core.recall.service import Moment, RecallRequest, compose_context, found_items, read_context, read_search
from ltm_core.text.normalize import clean
from ltm_core.types import Context, ContextItem, Message, Scope, Tier, TokenCounter
from ltm_core.when import parse_instant, parse_range
from ltm_core.write.intake import incoming

if TYPE_CHECKING:
    from ltm_core.runtime import Runtime

_LONGEST_QUERY = 20_000
"""Characters of a question that are read: its beginning and its end say what is asked."""


def context(
    runtime: Runtime,
    scope: Scope,
    query: str | None,
    *,
    now: datetime,
    max_tokens: int | None,
    tiers: Sequence[Tier],
    exclude_message_ids: Iterable[str],
    current_messages: Sequence[Message | Mapping[str, Any]] | None,
    filters: Mapping[str, Any] | None,
    token_counter: TokenCounter | None,
    format: Format,
    language: str | None,
) -> Context:
    budget = runtime.config.max_tokens if max_tokens is None else max_tokens
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 0:
        raise InvalidInputError(f"max_tokens must be a whole number from 0, not {budget!r}")
    if format not in FORMATS:
        raise InvalidInputError(f"format must be one of {', '.join(FORMATS)}, not {str(format)[:40]!r}")
    request = RecallRequest(
        scope=scope,
        query=_query(query),
        now=now,
        tiers=_tiers(tiers),
        exclude_message_ids=tuple(str(i) for i in exclude_message_ids),
        current_messages=_current(runtime, current_messages, now=now),
        filters=filters,
        language=language,
        candidates=_candidates(runtime),
    )
    moment = _read(runtime, request)
    _judged(runtime, moment)
    return compose_context(
        moment,
        max_tokens=budget,
        token_counter=token_counter or runtime.token_counter,
        format=format,
        config=runtime.config,
        fence_mark=secrets.token_hex(4),
    )


def _read(runtime: Runtime, request: RecallRequest) -> Moment:
    """The window and the candidates. Models are asked between two reads: slow ones must not keep old pages of the
    store alive."""
    scope, asked, note = request.scope, request.query, ""
    if asked is None:
        with runtime.store.read(scope.user_id) as reader:
            asked = last_question(reader, scope)
    if asked and runtime.rewriter is not None:
        queries, note = _rewritten(runtime, request, asked)
        request = replace(request, queries=queries)
    vectors = [runtime.embed_query(q) for q in request.queries] or [runtime.embed_query(asked) if asked else None]
    with runtime.store.read(scope.user_id) as reader:
        moment = read_context(
            reader,
            request,
            config=runtime.config,
            vectors=vectors,
            embedder_name=runtime.embedder.name,
            floor=runtime.floor,
        )
    if note:
        moment.found.notes.insert(0, note)
    return moment


def _rewritten(runtime: Runtime, request: RecallRequest, asked: str) -> tuple[tuple[str, ...], str]:
    """(queries, note) of a question that names no topic; nothing for any other."""
    config = runtime.config
    question = analyse_question(asked, now=request.now, language=request.language, known_aliases=config.aliases)
    if not question.vague or runtime.rewriter is None:
        return (), ""
    with runtime.store.read(request.scope.user_id) as reader:
        turns, entities = conversation(reader, request, asked)
    if not turns and not entities:
        return (), ""
    return rewritten(asked, turns, entities, rewriter=runtime.rewriter, config=config)


def _judged(runtime: Runtime, moment: Moment) -> None:
    """The candidates' scores are blended with the reranker's, where there is one and something was asked."""
    query = moment.request.queries[0] if moment.request.queries else moment.question.text
    if runtime.reranker is not None and not moment.question.is_empty:
        rerank(moment.found, query, runtime.reranker, runtime.config)


def _candidates(runtime: Runtime) -> int:
    return 0 if runtime.reranker is None else runtime.config.rerank_candidates


def last_question(reader: Any, scope: Scope) -> str | None:
    """The session's last user message, which a context without a query answers."""
    if scope.session_id is None:
        return None
    rows = reader.messages(session_id=scope.session_id, roles=("user",), newest_first=True, limit=1)
    return rows[0].content if rows else None


def search(
    runtime: Runtime,
    scope: Scope,
    query: str,
    *,
    now: datetime,
    top_k: int,
    min_similarity: float | None,
    tiers: Sequence[Tier] | None,
    since: datetime | str | None,
    until: datetime | str | None,
    filters: Mapping[str, Any] | None,
) -> list[ContextItem]:
    if min_similarity is not None and not 0 <= min_similarity <= 1:
        raise InvalidInputError(f"min_similarity must be between 0 and 1, not {min_similarity!r}")
    request = RecallRequest(
        scope=scope,
        query=_query(query) or "",
        now=now,
        tiers=_tiers(tiers or ("semantic", "episodic")),
        filters=filters,
        since=_edge(since, now=now, late=False),
        until=_edge(until, now=now, late=True),
        top_k=top_k,
        min_similarity=min_similarity,
        candidates=_candidates(runtime),
    )
    vector = runtime.embed_query(request.query or "")
    with runtime.store.read(scope.user_id) as reader:
        moment = read_search(
            reader,
            request,
            config=runtime.config,
            query_vector=vector,
            embedder_name=runtime.embedder.name,
            floor=runtime.floor,
        )
    _judged(runtime, moment)
    return found_items(moment)


def _query(query: str | None) -> str | None:
    if query is None:
        return None
    if not isinstance(query, str):
        raise InvalidInputError(f"query must be text, not {type(query).__name__}")
    text = clean(query)
    if len(text) <= _LONGEST_QUERY:
        return text
    half = _LONGEST_QUERY // 2
    return f"{text[:half]} {text[-half:]}"


def _tiers(tiers: Sequence[Tier]) -> tuple[Tier, ...]:
    known = get_args(Tier)
    chosen = (tiers,) if isinstance(tiers, str) else tuple(tiers)
    for tier in chosen:
        if tier not in known:
            raise InvalidInputError(f"tier {str(tier)[:40]!r} is not one of {', '.join(known)}")
    return tuple(t for t in known if t in chosen)


def _current(
    runtime: Runtime, messages: Sequence[Message | Mapping[str, Any]] | None, *, now: datetime
) -> tuple[Message, ...] | None:
    if messages is None:
        return None
    config = runtime.config
    given = incoming(
        messages=messages,
        zone=now.tzinfo or runtime.zone(None, None),
        id_limit=config.max_id_characters,
        text_limit=config.max_message_characters,
    )
    return tuple(Message(role=m.role, content=m.content, at=m.at, id=m.id, name=m.name) for m in given)


def _edge(value: datetime | str | None, *, now: datetime, late: bool) -> datetime | None:
    """An instant, or words: the start of what they name for ``since``, its end for ``until``."""
    if value is None:
        return None
    if isinstance(value, datetime):
        return parse_instant(value, zone=now.tzinfo or now.astimezone().tzinfo)  # type: ignore[arg-type]
    since, until = parse_range(value, now=now)
    return until if late else since
