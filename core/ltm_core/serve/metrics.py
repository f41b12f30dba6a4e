"""What the service counts, for Prometheus: never a user, never a word of a memory."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.process_collector import ProcessCollector

from ltm_core.serve.inside import Inside, ProcessFigures
from ltm_core.types import Context, MaintenanceReport, Observation

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from ltm_core.memory import LongTermMemory

MULTIPROCESS = "PROMETHEUS_MULTIPROC_DIR"
"""Where several workers put their figures; `ltm serve --workers` sets it."""
_BUCKETS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 30.0)
"""Seconds: a recall takes tens of milliseconds, a busy store up to its timeout of 30 s."""
_LOOK_SECONDS = 2.0
"""How old a worker's own figures may be when another one is asked for all of them."""


class Metrics:
    """Counts what passes by; `text` is the page that Prometheus reads."""

    def __init__(self, memory: LongTermMemory) -> None:
        self.registry = CollectorRegistry()
        if MULTIPROCESS in os.environ:
            self._source = CollectorRegistry()
            MultiProcessCollector(self._source)  # type: ignore[no-untyped-call]
        else:
            self._source = self.registry
            ProcessCollector(registry=self.registry)
        self._store = CollectorRegistry()
        self._store.register(_StoreFigures(memory))
        registry = self.registry
        self.requests = Histogram(
            "ltm_request_seconds",
            "Time of a request's call, by operation and status",
            ("operation", "status"),
            buckets=_BUCKETS,
            registry=registry,
        )
        self.messages = Counter(
            "ltm_messages", "Messages observed, by what became of them", ("state",), registry=registry
        )
        self.anchors = Counter("ltm_anchors", "Anchor events, by kind", ("kind",), registry=registry)
        self.changes = Counter("ltm_fact_changes", "Decisions about facts, by operation", ("op",), registry=registry)
        self.recalls = Counter(
            "ltm_recalls", "Contexts and searches, by whether memories were found", ("found",), registry=registry
        )
        self.dropped = Counter("ltm_context_dropped", "Candidates left out of contexts", registry=registry)
        self.tokens = Counter("ltm_context_tokens", "Tokens of contexts given out", registry=registry)
        self.deliveries = Counter(
            "ltm_webhook_deliveries",
            "Batches sent, by whether the receiver took them",
            ("taken",),
            registry=registry,
        )
        self.expired = Counter("ltm_expired", "Items that maintenance removed", registry=registry)
        self.closed = Counter("ltm_sessions_closed", "Idle sessions that maintenance closed", registry=registry)
        self._own = _OwnFigures(Inside(memory), registry)
        # A rate of what happens for the first time is seen only where it stood at zero before.
        for value in ("yes", "no"):
            self.recalls.labels(value)
            self.deliveries.labels(value)

    def took(self, operation: str, status: int, seconds: float) -> None:
        """One call was answered."""
        self.requests.labels(operation, str(status)).observe(seconds)
        self._own.look()

    def saw(self, operation: str, result: Any) -> None:
        """What a call that succeeded did."""
        if isinstance(result, Observation):
            for message in result.messages:
                self.messages.labels(message.status).inc()
            for anchor in result.anchors:
                self.anchors.labels(anchor.kind).inc()
            for change in result.changes:
                self.changes.labels(change.op).inc()
        elif isinstance(result, Context):
            self._recalled(bool(result.semantic or result.episodic))
            self.dropped.inc(len(result.dropped))
            self.tokens.inc(result.token_count)
        elif operation == "search":
            self._recalled(bool(result))
        elif isinstance(result, MaintenanceReport) and not result.dry_run:
            self.expired.inc(result.items_expired)
            self.closed.inc(result.sessions_closed)

    def delivered(self, taken: bool) -> None:
        """A batch was sent to the webhook."""
        self.deliveries.labels("yes" if taken else "no").inc()

    def _recalled(self, found: bool) -> None:
        self.recalls.labels("yes" if found else "no").inc()

    def text(self) -> bytes:
        """The figures of all workers, and those of the store now."""
        self._own.look(now=True)
        if MULTIPROCESS in os.environ:
            _bury(Path(os.environ[MULTIPROCESS]))
        return generate_latest(self._source) + generate_latest(self._store)


class _OwnFigures:
    """What this process keeps count of itself, handed on now and then, so that all workers' can be added up."""

    def __init__(self, inside: Inside, registry: CollectorRegistry) -> None:
        self._inside = inside
        self._lock = threading.Lock()
        self._seen = ProcessFigures(0, 0, 0.0)
        self._next = 0.0
        self._asked = Counter("ltm_recall_cache_asked", "Recalls looked up in the cache", registry=registry)
        self._kept = Counter("ltm_recall_cache_hits", "Recalls answered from there", registry=registry)
        self._embedding = Counter("ltm_embedding_seconds", "Time in the embedder", registry=registry)
        self._resident = Gauge(
            "ltm_resident_bytes",
            "Memory of the service's processes that run",
            multiprocess_mode="livesum",
            registry=registry,
        )

    def look(self, *, now: bool = False) -> None:
        """The figures are up to date; without ``now`` to within some seconds."""
        moment = time.monotonic()
        with self._lock:
            if not now and moment < self._next:
                return
            self._next = moment + _LOOK_SECONDS
            before, here = self._seen, self._inside.figures()
            self._seen = here
            self._asked.inc(here.recalls_asked - before.recalls_asked)
            self._kept.inc(here.recalls_kept - before.recalls_kept)
            self._embedding.inc(here.embedding_seconds - before.embedding_seconds)
            self._resident.set(resident_bytes())


def resident_bytes() -> int:
    """Memory that this process holds; where the system does not tell, the most that it held."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except OSError:
        try:
            import resource
        except ImportError:  # Windows
            return 0
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return pages * os.sysconf("SC_PAGE_SIZE")


def _bury(figures: Path) -> None:
    """Workers that were killed are counted no more among those that run: nobody else takes their files away."""
    for file in figures.glob("gauge_live*_*.db"):
        pid = int(file.stem.rpartition("_")[2])
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            file.unlink(missing_ok=True)
        except OSError:  # it runs, as somebody else
            continue


class _StoreFigures:
    """Sizes of the store, read when they are asked for."""

    def __init__(self, memory: LongTermMemory) -> None:
        self._memory = memory

    def collect(self) -> Iterator[Metric]:
        stats = self._memory.stats()
        for name, text, value in (
            ("users", "Users with memories", stats.users),
            ("sessions", "Sessions kept", stats.sessions),
            ("messages_stored", "Messages kept", stats.messages),
            ("facts_stored", "Facts kept, past ones among them", stats.facts),
            ("facts_current", "Facts that hold now", stats.current_facts),
            ("chunks", "Indexed units", stats.chunks),
            ("documents", "Documents kept", stats.documents),
            ("queue_depth", "Jobs that wait or failed", stats.jobs),
            ("dead_letters", "Jobs that failed too often", stats.dead_jobs),
            ("store_bytes", "Bytes of the store's files", stats.bytes_on_disk),
        ):
            yield GaugeMetricFamily(f"ltm_{name}", text, value=value)


__all__ = ["MULTIPROCESS", "Metrics"]
