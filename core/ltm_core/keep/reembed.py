"""Another embedder for a store: both sets of vectors side by side, compared, then switched."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from ltm_core.documents.paths import joined, texts
from ltm_core.embed.base import identity
from ltm_core.embed.cache import CachedEmbedder
from ltm_core.embed.resolve import resolve_embedder
from ltm_core.errors import ConflictError, InvalidInputError, UnavailableError
from ltm_core.keep.audit import note
from ltm_core.keep.erase import texts_of_chunks
from ltm_core.keep.recall_comparison import compare
from ltm_core.text.chunks import CHUNKER_VERSION, TEMPLATE_VERSION
from ltm_core.types import ReembedReport

if TYPE_CHECKING:
    from ltm_core.embed.base import Embedder
    from ltm_core.runtime import Runtime

Progress = Callable[[int, int], None]
State = Literal["none", "ready", "switched", "rolled_back", "dropped"]
_BATCH = 64
"""Texts embedded at once, outside any transaction: models gain little beyond, and a stop loses no more."""
_DROPPED = 2000
"""Vectors removed per transaction."""
_PASSES = 20
"""Looks over all users for what was written meanwhile; then the switch leaves the rest to wait."""


def reembed(
    runtime: Runtime,
    to: object,
    *,
    roll_back: bool,
    finish: bool,
    switch: bool,
    pairs: Iterable[Mapping[str, Any]] | None,
    progress: Progress | None,
) -> ReembedReport:
    """See `LongTermMemory.reembed`."""
    if roll_back + finish + (to is not None) > 1:
        raise InvalidInputError("give one of an embedder, roll_back and finish")
    if runtime.store.read_only and (roll_back or finish or to is not None):
        raise UnavailableError("the store is open for reading only")
    if to is not None and runtime.store.location == ":memory:":
        raise InvalidInputError("a store in memory cannot be opened again with another embedder")
    started = time.perf_counter()
    if to is not None:
        report = _to(runtime, CachedEmbedder(resolve_embedder(to)), switch=switch, pairs=pairs, progress=progress)
    elif roll_back:
        report = _roll_back(runtime)
    elif finish:
        report = _finish(runtime, progress)
    else:
        report = _report(runtime)
    return replace(report, seconds=time.perf_counter() - started)


def _to(
    runtime: Runtime,
    model: Embedder,
    *,
    switch: bool,
    pairs: Iterable[Mapping[str, Any]] | None,
    progress: Progress | None,
) -> ReembedReport:
    if model.dimension == 0:
        raise InvalidInputError('an embedder without vectors replaces none: open the store with embedder="none"')
    operations = runtime.store.operations()
    given = identity(model, template_version=TEMPLATE_VERSION, chunker_version=CHUNKER_VERSION)
    operations.begin_second(given, dimension=model.dimension, now=runtime.now())
    embedded = 0
    for _ in range(_PASSES):
        made = _pass(runtime, model, progress)
        embedded += made
        if not made:
            break
    comparison = compare(runtime, model, pairs) if runtime.has_vectors else None
    if not switch:
        return replace(_report(runtime), embedded=embedded, comparison=comparison)
    waiting = operations.switch_vectors()
    # The embedder of this process is the former one, also in calls under way: keywords only until it opens again.
    runtime.recalls.clear()
    note(operations, "reembed", now=runtime.now(), counts={"vectors": embedded, "waiting": waiting})
    return replace(_report(runtime), embedded=embedded, comparison=comparison, waiting=waiting)


def _pass(runtime: Runtime, model: Embedder, progress: Progress | None) -> int:
    """Every chunk and unit that there was has a vector in the second set; returns how many got one."""
    sets = runtime.store.operations().vector_sets()
    begun, made = sets.done, 0
    for user_id in _users(runtime):
        for step in (_chunks, _units):
            after = 0
            # What comes while this user is worked on is the next pass's, so that every user has a turn.
            for _ in range(_steps(runtime, user_id)):
                at = step(runtime, model, user_id, after)
                if at is None:
                    break
                after = at.last
                made += at.made
                if progress is not None:
                    progress(min(begun + made, sets.total), sets.total)
    return made


def _steps(runtime: Runtime, user_id: str) -> int:
    with runtime.store.read(user_id) as reader:
        counts = reader.counts()
    # A document has a few units at most of what one step takes.
    return 1 + (counts["chunks"] + counts["documents"] * runtime.config.max_chunks_per_message) // _BATCH


@dataclass(frozen=True, slots=True)
class _Step:
    last: int
    made: int


def _chunks(runtime: Runtime, model: Embedder, user_id: str, after: int) -> _Step | None:
    with runtime.store.write(user_id) as writer:
        waiting = writer.chunks_without_second(after=after, limit=_BATCH)
        wanted = texts_of_chunks(writer, waiting, config=runtime.config)
    if not waiting:
        return None
    matrix = model.embed_documents(list(wanted.values()))
    with runtime.store.write(user_id) as writer:
        writer.set_second_vectors({chunk: matrix[i] for i, chunk in enumerate(wanted)})
    return _Step(waiting[-1][0], len(wanted))


def _units(runtime: Runtime, model: Embedder, user_id: str, after: int) -> _Step | None:
    with runtime.store.write(user_id) as writer:
        waiting = writer.units_without_second(after=after, limit=_BATCH)
        rows = {d.item: d for d in writer.documents(items=sorted({w[1] for w in waiting}))} if waiting else {}
    if not waiting:
        return None
    wholes = {item: joined(texts(d.value, d.fields))[0] for item, d in rows.items()}
    wanted = {unit: wholes[item][start:end] for unit, item, start, end in waiting if item in wholes}
    matrix = model.embed_documents(list(wanted.values()))
    with runtime.store.write(user_id) as writer:
        writer.set_second_unit_vectors({unit: matrix[i] for i, unit in enumerate(wanted)})
    return _Step(waiting[-1][0], len(wanted))


def _roll_back(runtime: Runtime) -> ReembedReport:
    operations = runtime.store.operations()
    sets = operations.vector_sets()
    if not sets.switched:
        raise ConflictError("nothing was switched, so there is nothing to roll back; finish drops a set beside")
    waiting = operations.switch_vectors()
    runtime.recalls.clear()
    note(operations, "reembed_roll_back", now=runtime.now(), counts={"waiting": waiting})
    return replace(_report(runtime, "rolled_back"), waiting=waiting)


def _finish(runtime: Runtime, progress: Progress | None) -> ReembedReport:
    operations = runtime.store.operations()
    sets = operations.vector_sets()
    if sets.second is None:
        raise ConflictError("there is one set of vectors only: nothing to finish")
    gone = 0
    while done := operations.drop_second(limit=_DROPPED):
        gone += done
        if progress is not None:
            progress(min(gone, sets.done), sets.done)
    note(operations, "reembed_finish", now=runtime.now(), counts={"vectors": gone})
    return _report(runtime, "dropped")


def _report(runtime: Runtime, state: State | None = None) -> ReembedReport:
    sets = runtime.store.operations().vector_sets()
    found: State = "none" if sets.second is None else "switched" if sets.switched else "ready"
    return ReembedReport(
        state=state or found,
        embedder=sets.present or "",
        other=sets.second or "",
        waiting=0 if sets.second is None or sets.switched else sets.total - sets.done,
    )


def _users(runtime: Runtime) -> Iterator[str]:
    operations = runtime.store.operations()
    last: str | None = None
    while page := operations.users(after=last, limit=500):
        yield from page
        last = page[-1]


__all__ = ["reembed"]
