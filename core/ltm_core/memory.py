"""The one door. It checks what it is given, finds the room, and decides nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ltm_core.acting import checked
from ltm_core.closing import Closing
from ltm_core.door.base import utc_now
from ltm_core.door.changing import Changing
from ltm_core.door.documents import Documents
from ltm_core.door.forgetting import Forgetting
from ltm_core.door.portability import Portability
from ltm_core.door.reading import Reading
from ltm_core.door.recalling import Recalling
from ltm_core.door.revising import Revising
from ltm_core.door.sessions import Sessions
from ltm_core.door.upkeep import Upkeep
from ltm_core.ids import new_uuid7
from ltm_core.keep import later
from ltm_core.runtime import Runtime
from ltm_core.twins import in_worker, twin
from ltm_core.types import TokenCounter
from ltm_core.when import zone_of

if TYPE_CHECKING:
    from ltm_core.bound import BoundMemory
    from ltm_core.config import Config


class LongTermMemory(
    Recalling, Reading, Sessions, Documents, Revising, Forgetting, Upkeep, Changing, Portability, Closing
):
    """What was said, what is true, and what was true, for every user of one store.

    Open it with `open`; it is thread-safe, several processes may open one location, and it is a context
    manager. Every method ``x`` has an async twin ``ax``. ``user_id`` is a wall: nothing of one user is read,
    ranked or counted for another. Errors are raised before anything is written (see `ltm_core.errors`).
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._closed = False

    @classmethod
    def open(
        cls,
        location: str | Path = "./ltm-data",
        *,
        config: Config | None = None,
        embedder: object = None,
        reranker: object = None,
        rewriter: object = None,
        extractor: object = None,
        summarizer: object = None,
        token_counter: TokenCounter | None = None,
        clock: Callable[[], datetime] | None = None,
        new_id: Callable[[], str] | None = None,
        key_provider: object = None,
        vectors: str = "exact",
        read_only: bool = False,
        **config_overrides: Any,
    ) -> Self:
        """An open memory at ``location``: a directory, created with its first tables when absent,
        ``"postgresql://USER@HOST/DATABASE"`` (docs/postgresql.md), or ``":memory:"`` for one that is gone at `close`.

        ``embedder``: None for the built-in one, ``"none"`` for keywords only,
        ``"sentence-transformers:NAME_OR_PATH"``, ``"openai:BASE_URL#MODEL"``, or an embedder object of
        LangChain, LlamaIndex or your own. ``reranker``: ``"cross-encoder:NAME_OR_PATH"`` or an object of those
        frameworks that judges the best candidates; ``rewriter``: ``"openai:BASE_URL#MODEL"`` or one of their chat
        models, asked only about questions without a topic. Recall goes on without them when they fail or are
        late. ``extractor``: None for rules only, ``"openai:BASE_URL#MODEL"``,
        `langchain_ltm.ChatModelExtractor`, `llamaindex_ltm.LLMExtractor`, or an object of your own
        (`ltm_core.Extractor`); what it finds is added later, by a thread or by `work`. ``summarizer``: the
        same for the summaries that `maintain` makes (`ltm_core.Summarizer`; None takes the user's own sentences).
        ``token_counter`` counts
        the tokens of a text; the default never counts fewer than the common tokenizers. ``config_overrides``
        are fields of `Config`. ``key_provider``: the master key that a new store is encrypted with or an encrypted
        one is opened with: ``"env:NAME"``, ``"file:PATH"``, 32 bytes, a callable that returns them, or a
        `KeyProvider`; None asks ``LTM_MASTER_KEY`` and ``LTM_MASTER_KEY_FILE``, "none" asks nobody
        (docs/encryption.md). ``vectors``: "exact", or "chroma" or "chroma://HOST:PORT" as an index for users with
        very many memories (docs/chroma.md), or "pgvector" in a store in PostgreSQL (docs/pgvector.md).

        Raises ConfigError, MasterKeyError, UnavailableError, CorruptError, SchemaTooNewError,
        EmbedderMismatchError, MissingExtraError.
        """
        from ltm_core.opening import open_runtime

        runtime = open_runtime(
            location,
            config=config,
            embedder=embedder,
            extractor=extractor,
            summarizer=summarizer,
            token_counter=token_counter,
            clock=clock or utc_now,
            new_id=new_id or new_uuid7,
            read_only=read_only,
            reranker=reranker,
            rewriter=rewriter,
            key_provider=key_provider,
            vectors=vectors,
            overrides=config_overrides,
        )
        if runtime.spans is None:
            return cls(runtime)
        from ltm_core.telemetry import traced

        made: type[Self] = traced(cls)
        return made(runtime)

    @classmethod
    async def aopen(cls, location: str | Path = "./ltm-data", **options: Any) -> Self:
        """Async twin of `open`; the same options."""
        return await in_worker(lambda: cls.open(location, **options), "long")

    def close(self) -> None:
        """The store's files are closed; a later call raises UnavailableError. Closing twice is harmless. An
        extraction that runs is waited for (`Config.close_wait_seconds`), else it is run again later."""
        if not self._closed:
            later.close(self._runtime)
        self._closed = True
        self._runtime.stop(self._runtime.config.close_wait_seconds)
        self._runtime.store.close()

    @property
    def closed(self) -> bool:
        """True once `close` was called."""
        return self._closed

    def __repr__(self) -> str:
        return f"LongTermMemory({self.location!r}, embedder={self._runtime.embedder.name!r})"

    def bind(
        self,
        user_id: str | int,
        *,
        session_id: str | int | None = None,
        agent_id: str | int | None = None,
        task_id: str | int | None = None,
        app_id: str | int | None = None,
        actor: str | None = None,
        reason: str | None = None,
        timezone: str | None = None,
        me: str | None = None,
    ) -> BoundMemory:
        """The same methods with the scope filled in. ``me`` is the user's name in a group chat: other names
        are other speakers. ``actor`` and ``reason`` stand in the audit log beside every call."""
        from ltm_core.bound import BoundMemory

        scope = self._runtime.scope(user_id, session_id, agent_id, task_id, app_id)
        if timezone is not None:
            zone_of(timezone)
        checked(actor, "actor"), checked(reason, "reason")
        return BoundMemory(self, scope, actor=actor, reason=reason, timezone=timezone, me=me)

    aclose = twin(close, "long")
