"""From a call to a recall: checks the options, embeds the question, opens one moment of the store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, get_args

from ltm_core.errors import InvalidInputError
from ltm_core.recall.cache import Result, good_until
from ltm_core.recall.question import analyse_question
from ltm_core.recall.render import FORMATS, Format
from ltm_core.recall.rerank import rerank
from ltm_core.recall.rewrite import conversation, rewritten
from ltm_core.recall.service import Moment, RecallRequest, compose_context, found_items, read_context, read_search
from ltm_core.spans import stage
from ltm_core.text.fence import new_mark
from ltm_core.text.normalize import clean
from ltm_core.types import Context, ContextItem, Message, Scope, Tier, TokenCounter
from ltm_core.when import parse_instant, parse_range
from ltm_core.write.incoming.intake import incoming

if TYPE_CHECKING:
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import Reader, UserState

_LONGEST_QUERY = 20_000
"""Characters of a question that are read: its beginning and its end say what is asked."""


def context(
    runtime: Runtime,
    scope: Scope,
    query: str | None,
    *,
    user: UserState | None,
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
    counter = token_counter or runtime.token_counter
    recent = _Recent(runtime, request, user, "context", budget, format, id(counter))
    if isinstance(known := recent.known, Context):
        return known
    moment, whole = _read(runtime, request, recent)
    whole = _judged(runtime, moment) and whole
    with stage("pack"):
        result = compose_context(
            moment,
            max_tokens=budget,
            token_counter=counter,
            format=format,
            config=runtime.config,
            fence_mark=new_mark(),
        )
    if whole:
        recent.keep(result, holds=counter)
    return result


class _Recent:
    """One call and the cache of recalls: what is known of it, and whether its result may be kept."""

    def __init__(self, runtime: Runtime, request: RecallRequest, user: UserState | None, *more: object) -> None:
        """``user``: as the call found it at its beginning."""
        self._cache = runtime.recalls
        self._user, self._now = request.scope.user_id, request.now
        self._key = b""
        self._revision: int | None = None
        self._until: datetime | None = None
        self.known: Result | None = None
        if self._cache.is_on:
            self._key = self._cache.key(request, *more)
            if user is not None:
                self._revision = user.revision
                self.known = self._cache.get(self._key, user_id=self._user, revision=user.revision, now=request.now)

    def read(self, reader: Reader, moment: Moment) -> None:
        """``moment`` was read by this reader: the result is kept only if nothing was written since the call began,
        as the question may have been read before."""
        state = reader.user() if self._revision is not None else None
        if state is not None and state.revision == self._revision:
            self._until = good_until(reader, moment, seconds=self._cache.seconds)

    def keep(self, result: Result, *, holds: object = None) -> None:
        if self._revision is not None and self._until is not None:
            self._cache.put(
                self._key,
                result,
                user_id=self._user,
                revision=self._revision,
                now=self._now,
                until=self._until,
                holds=holds,
            )


def _read(runtime: Runtime, request: RecallRequest, recent: _Recent) -> tuple[Moment, bool]:
    """The window and the candidates, and whether every model that was asked answered. Models are asked between
    two reads: slow ones must not keep old pages of the store alive."""
    scope, asked, note = request.scope, request.query, ""
    if asked is None:
        with runtime.store.read(scope.user_id) as reader:
            asked = last_question(reader, scope)
    if asked and runtime.rewriter is not None:
        queries, note = _rewritten(runtime, request, asked)
        request = replace(request, queries=queries)
    vectors = [runtime.embed_query(q) for q in request.queries] or [runtime.embed_query(asked) if asked else None]
    with stage("rank"), runtime.store.read(scope.user_id) as reader:
        moment = read_context(
            reader,
            request,
            config=runtime.config,
            vectors=vectors,
            embedder_name=runtime.embedder.name,
            floor=runtime.floor,
        )
        recent.read(reader, moment)
    if note:
        moment.found.notes.insert(0, note)
    down = runtime.has_vectors and bool(asked) and any(v is None for v in vectors)
    return moment, not down and bool(request.queries) == bool(note)


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


def _judged(runtime: Runtime, moment: Moment) -> bool:
    """The candidates' scores are blended with the reranker's, where there is one and something was asked; False
    when it failed."""
    query = moment.request.queries[0] if moment.request.queries else moment.question.text
    if runtime.reranker is None or moment.question.is_empty:
        return True
    with stage("rerank"):
        return rerank(moment.found, query, runtime.reranker, runtime.config)


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
    user: UserState | None,
    now: datetime,
    top_k: int,
    min_similarity: float | None,
    tiers: Sequence[Tier] | None,
    since: datetime | str | None,
    until: datetime | str | None,
    filters: Mapping[str, Any] | None,
    include_cold: bool = False,
) -> list[ContextItem]:
    if min_similarity is not None and not 0 <= min_similarity <= 1:
        raise InvalidInputError(f"min_similarity must be between 0 and 1, not {min_similarity!r}")
    if include_cold:
        from ltm_core.keep.archive.search import merged, search_cold
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
    recent = _Recent(runtime, request, user, "search", include_cold)
    if isinstance(recent.known, tuple):
        return list(recent.known)
    vector = runtime.embed_query(request.query or "")
    with stage("rank"), runtime.store.read(scope.user_id) as reader:
        moment = read_search(
            reader,
            request,
            config=runtime.config,
            query_vector=vector,
            embedder_name=runtime.embedder.name,
            floor=runtime.floor,
        )
        recent.read(reader, moment)
        cold = search_cold(runtime, reader, request, vector) if include_cold else None
    down = runtime.has_vectors and bool(request.query) and vector is None
    whole = _judged(runtime, moment) and not down
    result = found_items(moment)
    if cold is not None:
        result = merged(result, found_items(cold), top_k)
    if whole:
        recent.keep(tuple(result))
    return result


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
