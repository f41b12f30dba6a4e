"""What the rooms share: store, embedder, settings, clock, ids. Wired once by the door, passed inwards."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING

from ltm_core.embed.base import Embedder
from ltm_core.embed.cache import CachedEmbedder
from ltm_core.errors import InvalidInputError, StoreError
from ltm_core.keep.audit import Reads
from ltm_core.keep.uses import Uses
from ltm_core.types import Scope, TokenCounter
from ltm_core.when import stored_zone, zone_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ltm_core.config import Config
    from ltm_core.keep.archive.place import Place
    from ltm_core.lexicon import Lexicon
    from ltm_core.protocols import Extractor, Summarizer
    from ltm_core.recall.bounded import Bounded
    from ltm_core.recall.cache import RecallCache
    from ltm_core.recall.data import Floor
    from ltm_core.recall.protocols import Reranker, Rewriter
    from ltm_core.spans import Spans
    from ltm_core.store.base import Store

log = logging.getLogger("ltm")


def _nothing() -> None:
    """Nobody runs the queue in this process."""


def _stopped(timeout: float) -> bool:
    return True


@dataclass(slots=True, kw_only=True, weakref_slot=True)
class Runtime:
    """One open memory, seen from inside. Thread-safe: all in it is immutable, replaced whole, or locks itself."""

    store: Store
    config: Config
    embedder: Embedder
    lexicon: Lexicon
    clock: Callable[[], datetime]
    new_id: Callable[[], str]
    token_counter: TokenCounter
    recalls: RecallCache
    reranker: Bounded[Reranker] | None = None
    rewriter: Bounded[Rewriter] | None = None
    floor: Floor | None = None
    """When a memory counts as about a question; None is what the package says of the embedder."""
    reads: Reads = field(default_factory=Reads)
    uses: Uses = field(default_factory=Uses)
    extractor: Extractor | None = None
    archive: Place | None = None
    """Where turns of long ago are; found when first needed."""
    summarizer: Summarizer | None = None
    """None: the user's own sentences."""
    spans: Spans | None = None
    """Who traces operations; nobody, mostly."""
    wake: Callable[[], None] = _nothing
    """Tells whoever runs the queue that there is work."""
    stop: Callable[[float], bool] = _stopped
    """Ends whoever runs the queue, within so many seconds; False when a job still runs."""
    _told: set[str] = field(default_factory=set)

    def now(self) -> datetime:
        """The injected clock's instant in UTC; a naive clock is refused."""
        moment = self.clock()
        if moment.tzinfo is None:
            raise InvalidInputError("the clock must return aware datetimes")
        return moment.astimezone(UTC)

    def forget_recent(self, user_id: str) -> None:
        """Nothing derived from the user's words is cached in this process: results of recalls, vectors of
        questions (all users', as it is not known whose they are)."""
        self.recalls.forget(user_id)
        if isinstance(self.embedder, CachedEmbedder):
            self.embedder.clear()

    def scope(
        self,
        user_id: object,
        session_id: object = None,
        agent_id: object = None,
        task_id: object = None,
        app_id: object = None,
    ) -> Scope:
        """The scope of a call; InvalidScopeError before anything is read or written."""
        from ltm_core.scoping import make_scope

        return make_scope(
            user_id,
            session_id=session_id,
            agent_id=agent_id,
            task_id=task_id,
            app_id=app_id,
            limit=self.config.max_id_characters,
        )

    def zone(self, given: str | None, profile: str | None) -> tzinfo:
        """The zone of a call: the call's, else the user's, else the configured one, else UTC (said once)."""
        if not given and profile:
            return stored_zone(profile)
        name = given or self.config.timezone
        if not name:
            self.tell_once("zone", "no time zone is known: relative dates are read in UTC (set Config.timezone)")
            name = "UTC"
        return zone_of(name)

    def tell_once(self, key: str, message: str) -> None:
        """A warning in the log, the first time only."""
        if key not in self._told:
            self._told.add(key)
            log.warning(message)

    @property
    def has_vectors(self) -> bool:
        return self.embedder.dimension > 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32] | None:
        """Vectors of ``texts``, or None when there is no embedder or it is down (logged; keywords go on)."""
        if not self.has_vectors or not texts:
            return None
        try:
            return self.embedder.embed_documents(texts)
        except StoreError as e:
            log.warning("embedder %s is unavailable, %d texts wait for it: %s", self.embedder.name, len(texts), e)
            return None

    def embed_query(self, text: str) -> NDArray[np.float32] | None:
        """The query's vector, or None when there is no embedder or it is down (logged)."""
        if not self.has_vectors or not text.strip():
            return None
        try:
            return self.embedder.embed_query(text)
        except StoreError as e:
            log.warning("embedder %s is unavailable, recall uses keywords only: %s", self.embedder.name, e)
            return None
