"""Recall, wired: reads through a `Reader`, decides through the pure modules of this folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ltm_core.recall.build import dated, fact_entries, message_entries
from ltm_core.recall.data import LANGUAGES, Floor
from ltm_core.recall.entry import Entry
from ltm_core.recall.filters import Filter, checked
from ltm_core.recall.gather import Found, gather
from ltm_core.recall.important import most_important
from ltm_core.recall.pack import Packed, pack
from ltm_core.recall.question import Question, analyse_question
from ltm_core.recall.recent import most_recent
from ltm_core.recall.render import Format, Lines, frame, messages, render
from ltm_core.recall.request import RecallRequest
from ltm_core.recall.rewrite import combined, merged
from ltm_core.recall.select import by_score, distinct, in_context, latest_first, not_held, varied, without_said
from ltm_core.recall.summaries import below_sources, summary_entries
from ltm_core.recall.window import Window, open_window
from ltm_core.store.base import Reader
from ltm_core.types import Context, ContextItem, Dropped, Tier

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ltm_core.config import Config
    from ltm_core.types import TokenCounter


SMALL_BUDGET = 400
"""Tokens up to which headings weigh: they take about 60."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What one moment of the store holds for a request; its reader may be closed."""

    request: RecallRequest
    question: Question
    found: Found
    has_vector: bool
    window: Window | None = None


def recall_context(
    reader: Reader,
    request: RecallRequest,
    *,
    max_tokens: int,
    token_counter: TokenCounter,
    format: Format,
    config: Config,
    query_vector: NDArray[np.float32] | None,
    embedder_name: str,
    fence_mark: str,
    floor: Floor | None = None,
) -> Context:
    """What belongs into the next prompt: `read_context`, then `compose_context`."""
    moment = read_context(
        reader, request, config=config, vectors=(query_vector,), embedder_name=embedder_name, floor=floor
    )
    return compose_context(
        moment,
        max_tokens=max_tokens,
        token_counter=token_counter,
        format=format,
        config=config,
        fence_mark=fence_mark,
    )


def read_context(
    reader: Reader,
    request: RecallRequest,
    *,
    config: Config,
    vectors: Sequence[NDArray[np.float32] | None],
    embedder_name: str,
    floor: Floor | None = None,
) -> Moment:
    """Window and candidates, with nothing left to read. ``vectors`` are those of ``request.queries``, else of the
    query.

    InvalidFilterError before anything is read.
    """
    filters = _filters(request)
    window = open_window(reader, request, config)
    question = _question(window.query, request, config)
    asked = [_question(q, request, config) for q in request.queries]
    if asked:
        question = combined(question, asked)
    else:
        question = window.resolved(question)
        asked = [question]
    founds = [
        gather(
            reader,
            request,
            one,
            config=config,
            query_vector=vector,
            embedder_name=embedder_name,
            filters=filters,
            excluded=window.held,
            base=floor,
        )
        for one, vector in zip(asked, vectors, strict=True)
    ]
    found = founds[0] if len(founds) == 1 else merged(founds)
    if not window.query or question.about_me:
        most_important(found, reader, request, config, filters=filters, excluded=window.held)
    if question.vague and not window.topic and not request.queries:
        most_recent(found, reader, request, config, question=question, filters=filters, excluded=window.held)
    has_vector = any(v is not None for v in vectors)
    return Moment(request=request, question=question, found=found, has_vector=has_vector, window=window)


def compose_context(
    moment: Moment,
    *,
    max_tokens: int,
    token_counter: TokenCounter,
    format: Format,
    config: Config,
    fence_mark: str,
) -> Context:
    """What belongs into the next prompt: at most ``max_tokens`` by ``token_counter``, whatever was stored.

    Nothing relevant, no window: an empty context.
    """
    request, question, found = moment.request, moment.question, moment.found
    token_counter = _counting_once(token_counter)
    window = moment.window or Window(query=request.query or "")
    facts, episodes, dropped = _chosen(found, question, request, config, window.held)
    entries = [*facts, *episodes, *window.entries]
    language = _language(request, question, window)
    lines = Lines(language=language, mark=fence_mark)

    def draw(chosen: Sequence[Entry], short: bool) -> str:
        return render(chosen, lines=lines, format=format, short=short)

    def attempt(offered: Sequence[Entry], short: bool) -> Packed:
        return pack(
            offered,
            max_tokens=max_tokens,
            count=token_counter,
            line=lines,
            frame=lambda tiers: frame(tiers, language=language, mark=fence_mark, short=short or format == "compact"),
            measure=lambda chosen: _measure(chosen, short),
            shares=_shares(config),
        )

    def _measure(chosen: Sequence[Entry], short: bool) -> int:
        whole = max(0, token_counter(draw(chosen, short))) if chosen else 0
        if format != "messages":
            return whole
        turns = messages(chosen, lines=lines, short=short)
        return max(whole, sum(max(0, token_counter(m.content)) for m in turns))

    packed, short = attempt(entries, False), False
    if packed.dropped and format != "compact" and max_tokens <= SMALL_BUDGET:
        # Headings are dear in a small budget: without them more memories may fit.
        brief = attempt(entries, True)
        if len(brief.entries) > len(packed.entries):
            packed, short = brief, True
    # Dates beside relative words are worked out for what is shown, and must fit as well.
    shown = [dated(e) for e in packed.entries]
    if any(new.item is not old.item for new, old in zip(shown, packed.entries, strict=True)):
        fitting = attempt(shown, short)
        packed = replace(fitting, dropped=(*packed.dropped, *fitting.dropped))
    return Context(
        text=draw(packed.entries, short),
        token_count=_measure(packed.entries, short),
        max_tokens=max_tokens,
        working=_items(packed, "working"),
        semantic=_items(packed, "semantic"),
        episodic=_items(packed, "episodic"),
        dropped=(*window.dropped, *dropped, *packed.dropped),
        messages=messages(packed.entries, lines=lines, short=short) if format == "messages" else (),
        language=language,
        query=window.query,
        notes=_notes(found, question, packed, not moment.has_vector),
    )


def _counting_once(count: TokenCounter) -> TokenCounter:
    """Each text of one context is counted once: packing asks for the same lines again and again."""
    known: dict[str, int] = {}

    def counted(text: str) -> int:
        found = known.get(text)
        if found is None:
            found = known[text] = count(text)
        return found

    return counted


def recall_search(
    reader: Reader,
    request: RecallRequest,
    *,
    config: Config,
    query_vector: NDArray[np.float32] | None,
    embedder_name: str,
    floor: Floor | None = None,
) -> list[ContextItem]:
    """The ``top_k`` facts and messages nearest to the query: `read_search`, then `found_items`."""
    return found_items(
        read_search(
            reader, request, config=config, query_vector=query_vector, embedder_name=embedder_name, floor=floor
        )
    )


def read_search(
    reader: Reader,
    request: RecallRequest,
    *,
    config: Config,
    query_vector: NDArray[np.float32] | None,
    embedder_name: str,
    floor: Floor | None = None,
) -> Moment:
    """The candidates of a search, of any session unless a filter says so, with nothing left to read.

    InvalidFilterError before anything is read.
    """
    filters = _filters(request)
    question = _question(request.query or "", request, config)
    request = replace(request, scope=replace(request.scope, session_id=None))
    excluded = frozenset(
        r.item for r in (reader.messages(ids=request.exclude_message_ids) if request.exclude_message_ids else ())
    )
    found = gather(
        reader,
        request,
        question,
        config=config,
        query_vector=query_vector,
        embedder_name=embedder_name,
        filters=filters,
        excluded=excluded,
        base=floor,
    )
    return Moment(request=request, question=question, found=found, has_vector=query_vector is not None)


def found_items(moment: Moment) -> list[ContextItem]:
    """The ``top_k`` facts and messages nearest to the query, best first."""
    request, question, found = moment.request, moment.question, moment.found
    facts, _ = fact_entries(found, question, now=request.now)
    episodes, _ = message_entries(found, question, now=request.now)
    # What is always in a context is a hit of a search only when the search found it.
    shown = _ids(by_score(episodes)[: request.top_k])
    told, _ = summary_entries(found, question, shown=shown, held=frozenset())
    told = below_sources(told, found.messages)
    entries = [e for e in [*in_context(facts, episodes), *episodes, *told] if e.item.score > 0]
    ordered = latest_first(entries) if question.wants_last else by_score(entries)
    return [dated(e).item for e in ordered[: request.top_k]]


def _question(text: str, request: RecallRequest, config: Config) -> Question:
    return analyse_question(text, now=request.now, language=request.language, known_aliases=config.aliases)


def _chosen(
    found: Found, question: Question, request: RecallRequest, config: Config, held_items: frozenset[int]
) -> tuple[list[Entry], list[Entry], list[Dropped]]:
    """Facts and episodes as they are offered to the packer, best first, and what was left out on the way."""
    facts, gone = fact_entries(found, question, now=request.now, keep_fragments=False)
    episodes, out = message_entries(found, question, now=request.now, keep_replaced=False)
    facts, held = not_held(facts, request.exclude_message_ids)
    # What is guessed has an order of its own: what is over comes first when the outcome is asked for.
    order = latest_first if question.wants_last and not (question.vague and question.asks_outcome) else by_score
    facts, same_facts = distinct(order(facts))
    facts, more_facts = varied(facts, config.context_facts)
    episodes, same = distinct(order(episodes))
    episodes, said = without_said(facts, episodes)
    episodes, more = varied(episodes, config.context_episodes)
    lost = [*gone, *held, *out, *same_facts, *more_facts, *same, *said, *more]
    if found.summaries:
        shown = {*_ids(episodes), *request.exclude_message_ids}
        told, twice = summary_entries(found, question, shown=shown, held=held_items)
        both = order([*episodes, *below_sources(told, found.messages)])
        episodes, over = both[: config.context_episodes], both[config.context_episodes :]
        lost += [*twice, *(e.dropped(f"more than {config.context_episodes} memories are about this") for e in over)]
    return facts, episodes, lost


def _ids(entries: Sequence[Entry]) -> frozenset[str]:
    """The messages that the entries show."""
    return frozenset(e.item.source_id for e in entries)


def _filters(request: RecallRequest) -> Filter | None:
    """The filters of the request, checked; naive times in them are read in the user's zone."""
    return checked(request.filters, zone=request.now.tzinfo or request.now.astimezone().tzinfo)  # type: ignore[arg-type]


def _shares(config: Config) -> Mapping[Tier, float]:
    return {
        "working": config.working_share,
        "semantic": config.semantic_share,
        "episodic": 1 - config.working_share - config.semantic_share,
    }


def _language(request: RecallRequest, question: Question, window: Window) -> str:
    for language in (request.language, question.language, window.language):
        if language in LANGUAGES:
            return language
    return "en"


def _items(packed: Packed, tier: Tier) -> tuple[ContextItem, ...]:
    return tuple(e.item for e in packed.entries if e.item.tier == tier)


def _notes(found: Found, question: Question, packed: Packed, no_vector: bool) -> tuple[str, ...]:
    notes = list(found.notes)
    if no_vector and not question.is_empty:
        notes.append("no vector of the question: keywords only")
    if question.vague:
        notes.append("the question names no topic: the conversation at hand was used, else what was said last")
    if question.wants_last:
        notes.append("the latest of its kind is meant")
    if question.asks_past_state:
        notes.append("an earlier state is asked for")
    if question.aliases:
        notes.append("other names: " + "; ".join(f"{name} = {', '.join(o[:4])}" for name, o in question.aliases[:4]))
    notes.append("tokens: " + ", ".join(f"{tier} {n}" for tier, n in packed.spent.items()))
    return tuple(notes)


__all__ = [
    "Moment",
    "RecallRequest",
    "compose_context",
    "found_items",
    "read_context",
    "read_search",
    "recall_context",
    "recall_search",
]
