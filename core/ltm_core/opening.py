"""Wiring: settings, store, embedder and lexicon become one runtime."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ltm_core.config import Config
from ltm_core.embed.base import identity
from ltm_core.embed.cache import CachedEmbedder
from ltm_core.embed.resolve import resolve_embedder
from ltm_core.errors import ConfigError, EmbedderMismatchError
from ltm_core.keep.copy_files import CopiedFiles
from ltm_core.keep.copying import Copying, refuse_half
from ltm_core.lexicon import default_lexicon
from ltm_core.recall.bounded import Bounded
from ltm_core.recall.cache import RecallCache
from ltm_core.recall.floors import floor_in_force
from ltm_core.recall.rerankers import resolve_reranker
from ltm_core.recall.rewriters import resolve_rewriter
from ltm_core.runtime import Runtime, log
from ltm_core.spans import operation
from ltm_core.store.base import Store
from ltm_core.store.keys import resolve_keys
from ltm_core.store.postgres.location import is_postgres
from ltm_core.store.sqlite import open_store
from ltm_core.text.chunks import CHUNKER_VERSION, TEMPLATE_VERSION
from ltm_core.text.tokens import estimate_tokens
from ltm_core.types import CopyReport, TokenCounter, WorkReport
from ltm_core.write.anchors.identifiers import check_patterns

if TYPE_CHECKING:
    from ltm_core.background import Worker
    from ltm_core.protocols import Extractor, Summarizer
    from ltm_core.spans import Spans
    from ltm_core.store.external import VectorIndex
    from ltm_core.store.sql.store import SqlStore


def open_runtime(
    location: str | Path,
    *,
    config: Config | None,
    embedder: object,
    extractor: object,
    token_counter: TokenCounter | None,
    clock: Callable[[], datetime],
    new_id: Callable[[], str],
    read_only: bool,
    reranker: object = None,
    rewriter: object = None,
    key_provider: object = None,
    vectors: str = "exact",
    summarizer: object = None,
    overrides: Mapping[str, Any],
) -> Runtime:
    """An open store with everything around it; on any error nothing is left open."""
    if config is not None and not isinstance(config, Config):
        raise ConfigError(f"config must be a Config, not {type(config).__name__}")
    settings = Config.make(**overrides) if config is None else config.replaced(**overrides)
    if settings.identifier_patterns:
        check_patterns(settings.identifier_patterns, default_lexicon())
    model = CachedEmbedder(resolve_embedder(embedder))
    judge, writer = resolve_reranker(reranker), resolve_rewriter(rewriter)
    reads, tells = _extractor(extractor), _summarizer(summarizer)
    spans = _spans() if settings.telemetry else None
    keys = resolve_keys(key_provider)
    store = store_at(location, config=settings, read_only=read_only, clock=lambda: _aware(clock()), keys=keys)
    try:
        refuse_half(store)
        _agree(store, model, now=clock())
        runtime = Runtime(
            store=store,
            config=settings,
            embedder=model,
            lexicon=default_lexicon(),
            clock=clock,
            new_id=new_id,
            token_counter=token_counter or estimate_tokens,
            recalls=RecallCache(size=settings.recall_cache_entries, seconds=settings.recall_cache_seconds),
            floor=floor_in_force(store, model),
            reranker=None if judge is None else Bounded(judge, settings.rerank_seconds),
            rewriter=None if writer is None else Bounded(writer, settings.rewrite_seconds),
            extractor=None if read_only else reads,
            summarizer=None if read_only else tells,
            spans=spans,
        )
        if runtime.extractor is not None and settings.extract_in_background:
            _run_queue(runtime)
        if settings.maintain_every_seconds and not read_only:
            _run_upkeep(runtime)
        if vectors != "exact":
            _attach(runtime, store, vectors)
        return runtime
    except BaseException:
        store.close()
        raise


def store_at(location: str | Path, **options: Any) -> SqlStore:
    """The store alone, with nothing around it; `open_store` of its engine says which options."""
    if is_postgres(location):
        from ltm_core.store.postgres import open_store as open_postgres

        return open_postgres(str(location), **options)
    if isinstance(location, str) and "://" in location:
        raise ConfigError("location must be a directory, ':memory:' or postgresql://user@host/database")
    return open_store(location, **options)


def copy_store(
    source: str | Path,
    target: str | Path,
    *,
    key_provider: object,
    target_archive: str,
    config: Config | None,
    clock: Callable[[], datetime],
    progress: Callable[[int, int], None] | None,
) -> CopyReport:
    """The target is what the source is; see `LongTermMemory.copy`."""
    settings, keys = config or Config.make(), resolve_keys(key_provider)
    with ExitStack() as stack:

        def opened(location: str | Path, **options: Any) -> SqlStore:
            return stack.enter_context(closing(store_at(location, config=settings, keys=keys, **options)))

        there = opened(source, read_only=True)
        refuse_half(there)
        here = opened(target, clock=lambda: _aware(clock()), key=there.sealed_key())
        files = CopiedFiles(there, here, url=settings.archive_url, target_url=target_archive)
        return Copying(there, here, files, progress).run(now=lambda: _aware(clock()))


def _extractor(spec: object) -> Extractor | None:
    if spec is None:
        return None
    from ltm_core.llm.resolve import resolve_extractor

    return resolve_extractor(spec)


def _summarizer(spec: object) -> Summarizer | None:
    if spec is None:
        return None
    from ltm_core.llm.resolve import resolve_summarizer

    return resolve_summarizer(spec)


def _spans() -> Spans:
    from ltm_core.telemetry import Telemetry

    return Telemetry()


def _run_queue(runtime: Runtime) -> None:
    """A thread runs the queue for as long as the runtime is there; what a dead process left is begun now."""
    from ltm_core.background import Worker
    from ltm_core.keep.queue import work

    owner = weakref.ref(runtime)

    def step() -> WorkReport | None:
        alive = owner()
        if alive is None:
            return None
        with operation(alive.spans, "work") as tell:
            tell(report := work(alive, limit=1))
        return report

    worker = Worker(step, pause=runtime.config.job_retry_seconds)
    runtime.wake, runtime.stop = worker.wake, worker.stop
    worker.wake()


def _run_upkeep(runtime: Runtime) -> None:
    """A thread runs `maintain` for as long as the runtime is there; it ends with the queue's thread."""
    from ltm_core.keep.ticker import run_every

    ticker, queue = run_every(runtime, runtime.config.maintain_every_seconds), runtime.stop

    def stop(timeout: float) -> bool:
        ended = queue(timeout)
        return ticker.stop(timeout) and ended

    runtime.stop = stop


def _attach(runtime: Runtime, store: SqlStore, vectors: str) -> None:
    """An external index answers for large users; a thread tells it what changed."""
    settings = runtime.config
    if store.core.vault is not None and not settings.allow_external_vectors:
        raise ConfigError(
            f"vectors={vectors!r} would hold the vectors of an encrypted store in plain: set "
            "allow_external_vectors=True if that is meant"
        )
    sizes = {"at_least": settings.external_vectors_from, "candidates": settings.external_candidates}
    if vectors == "pgvector":
        _attach_pgvector(runtime, store, sizes)
        return
    from ltm_core.store.external import host_of

    host = host_of(vectors, store.directory, store.name)
    if host is None or store.read_only:
        return
    index = store.attach(host, **sizes)
    if not index.owned:
        log.info("another process keeps the vector index of %s; this one searches exactly", store.location)
        return
    worker = _teller(runtime, index)
    store.on_index_change = worker.wake
    worker.wake()


def _attach_pgvector(runtime: Runtime, store: SqlStore, sizes: Mapping[str, int]) -> None:
    """Writes keep it true by themselves; a thread copies the vectors of users that became large."""
    store.check_pgvector()
    if store.read_only:
        return
    index = store.attach_pgvector(**sizes, graph_from=runtime.config.pgvector_graph_from)
    worker = _teller(runtime, index)
    index.wake = worker.wake
    worker.wake()


def _teller(runtime: Runtime, index: VectorIndex) -> Worker:
    """The thread that does what the index has left to do."""
    from ltm_core.background import Worker

    known = weakref.ref(index)

    def step() -> WorkReport | None:
        alive = known()
        return WorkReport(jobs_done=alive.step()) if alive is not None and alive.owned else None

    worker = Worker(step, pause=runtime.config.job_retry_seconds, name="vectors")
    index.stop = worker.stop
    return worker


def _aware(moment: datetime) -> datetime:
    # Opening dates the store; a naive clock is refused by the first call that asks `Runtime.now`.
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _agree(store: Store, model: Any, *, now: datetime) -> None:
    """The store's vectors are this embedder's, or there are none yet."""
    if model.dimension == 0:
        return
    given = identity(model, template_version=TEMPLATE_VERSION, chunker_version=CHUNKER_VERSION)
    operations = store.operations()
    stored = operations.embedder_identity()
    if stored is None:
        if not store.read_only:
            operations.set_embedder_identity(given, dimension=model.dimension, now=now)
    elif stored != given:
        raise EmbedderMismatchError(stored, given)
    operations.serve_vectors()
