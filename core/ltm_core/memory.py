"""The one door. It checks what it is given, finds the room, and decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from ltm_core import listing
from ltm_core.acting import acting, checked
from ltm_core.arguments import life_of, limit_of, one_of, optional_text, short_text, text_of, texts_of, words_of
from ltm_core.errors import ConfigError, InvalidInputError
from ltm_core.ids import new_uuid7
from ltm_core.keep import audit
from ltm_core.runtime import Runtime
from ltm_core.scoping import identifier
from ltm_core.twins import twin
from ltm_core.types import (
    AuditEntry,
    BackupReport,
    Calibration,
    Context,
    ContextItem,
    DeadLetter,
    Document,
    DocumentWrite,
    Fact,
    FactChange,
    FactKind,
    ForgetPreview,
    HealthReport,
    Importance,
    ImportResult,
    MaintenanceReport,
    Message,
    Observation,
    Page,
    Profile,
    Receipt,
    RelatedFact,
    RestoreReport,
    Scope,
    Session,
    Stats,
    StoredMessage,
    Tier,
    TokenCounter,
    WorkReport,
)
from ltm_core.when import parse_instant, zone_of

if TYPE_CHECKING:
    from ltm_core.bound import BoundMemory
    from ltm_core.config import Config
    from ltm_core.keep.export import ExportLines
    from ltm_core.keep.sources import Sources

When = datetime | str | None
AfterErasure = Literal["refuse", "allow"]


class LongTermMemory:
    """What was said, what is true, and what was true, for every user of one store.

    Open it with `open`; it is thread-safe, several processes may open one location, and it is a context
    manager. Every method ``x`` has an async twin ``ax``. ``user_id`` is a wall: nothing of one user is read,
    ranked or counted for another. Errors are raised before anything is written (see `ltm_core.errors`).
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._closed = False

    # opening and closing ------------------------------------------------------------------------------
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
        token_counter: TokenCounter | None = None,
        clock: Callable[[], datetime] | None = None,
        new_id: Callable[[], str] | None = None,
        vectors: str = "exact",
        read_only: bool = False,
        **config_overrides: Any,
    ) -> Self:
        """An open memory at ``location``: a directory, created with its first tables when absent, or
        ``":memory:"`` for one that is gone at `close`.

        ``embedder``: None for the built-in one, ``"none"`` for keywords only,
        ``"sentence-transformers:NAME_OR_PATH"``, ``"openai:BASE_URL#MODEL"``, or an embedder object of
        LangChain, LlamaIndex or your own. ``reranker``: ``"cross-encoder:NAME_OR_PATH"`` or an object of those
        frameworks that judges the best candidates; ``rewriter``: ``"openai:BASE_URL#MODEL"`` or one of their chat
        models, asked only about questions without a topic. Recall goes on without them when they fail or are
        late. ``extractor``: None for rules only, ``"openai:BASE_URL#MODEL"``,
        `langchain_ltm.ChatModelExtractor`, `llamaindex_ltm.LLMExtractor`, or an object of your own
        (`ltm_core.Extractor`); what it finds is added later, by a thread or by `work`. ``token_counter`` counts
        the tokens of a text; the default never counts fewer than the common tokenizers. ``config_overrides``
        are fields of `Config`.

        Raises ConfigError, UnavailableError, CorruptError, SchemaTooNewError, EmbedderMismatchError,
        MissingExtraError.
        """
        from ltm_core.opening import open_runtime

        if vectors != "exact":
            raise ConfigError(f'vectors={vectors!r} is not known; this version searches exactly (vectors="exact")')
        return cls(
            open_runtime(
                location,
                config=config,
                embedder=embedder,
                extractor=extractor,
                token_counter=token_counter,
                clock=clock or _utc_now,
                new_id=new_id or new_uuid7,
                read_only=read_only,
                reranker=reranker,
                rewriter=rewriter,
                overrides=config_overrides,
            )
        )

    @classmethod
    async def aopen(cls, location: str | Path = "./ltm-data", **options: Any) -> Self:
        """Async twin of `open`; the same options."""
        import asyncio

        return await asyncio.to_thread(lambda: cls.open(location, **options))

    def close(self) -> None:
        """The store's files are closed; a later call raises UnavailableError. Closing twice is harmless. An
        extraction that runs is waited for (`Config.close_wait_seconds`), else it is run again later."""
        if not self._closed:
            audit.close(self._runtime)
        self._closed = True
        self._runtime.stop(self._runtime.config.close_wait_seconds)
        self._runtime.store.close()

    @property
    def closed(self) -> bool:
        """True once `close` was called."""
        return self._closed

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"LongTermMemory({self.location!r}, embedder={self._runtime.embedder.name!r})"

    @property
    def location(self) -> str:
        """Where the store is."""
        return self._runtime.store.location

    @property
    def config(self) -> Config:
        """The settings in force."""
        return self._runtime.config

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

    # writing ------------------------------------------------------------------------------------------
    def observe(
        self,
        *,
        user_id: str | int,
        session_id: str | int,
        user: Any = None,
        assistant: Any = None,
        messages: Iterable[Message | Mapping[str, Any]] | None = None,
        at: When = None,
        timezone: str | None = None,
        message_id: str | int | None = None,
        reply_to: str | int | None = None,
        doc_type: str | None = None,
        ttl: float | timedelta | None = None,
        metadata: Mapping[str, Any] | None = None,
        agent_id: str | int | None = None,
        task_id: str | int | None = None,
        app_id: str | int | None = None,
        me: str | None = None,
        actor: str | None = None,
    ) -> Observation:
        """The turns are stored and searchable, and what they tell of the user is learnt, in one transaction.

        Give ``user=`` when the words arrive and ``assistant=`` when they are answered, or a list in
        ``messages=``: the whole history, a window or a part of it, of which only what is new is written; another
        last answer to the same words replaces the stored one. A list of one message without an id repeats at most
        the last stored one. The same id with the same content changes
        nothing; with other content it is an edit: facts that only the old words supported are retracted.
        Without an id, ``user=`` and ``assistant=`` append. ``at`` without a zone is read in ``timezone`` (else
        the user's, else the configured one). ``ttl``: seconds until the turns and their facts expire.
        """
        from ltm_core.write.batch import Batch
        from ltm_core.write.intake import checked_metadata, incoming
        from ltm_core.write.service import observe

        runtime = self._runtime
        scope = self._session(user_id, session_id, agent_id, task_id, app_id)
        given = incoming(
            user=user,
            assistant=assistant,
            messages=messages,
            at=at,
            message_id=message_id,
            reply_to=reply_to,
            zone=self._zone(scope.user_id, timezone),
            id_limit=self._limit,
            text_limit=runtime.config.max_message_characters,
            metadata_limit=runtime.config.max_metadata_bytes,
        )
        batch = Batch(
            scope=scope,
            messages=given,
            timezone=timezone,
            doc_type=short_text(doc_type, "doc_type"),
            ttl=life_of(ttl, runtime.now()),
            metadata=checked_metadata(metadata, most_bytes=runtime.config.max_metadata_bytes),
            me=me,
        )
        with acting(actor):
            return observe(runtime, batch)

    def remember(
        self,
        text: str,
        *,
        user_id: str | int,
        kind: FactKind | None = None,
        importance: Importance | None = None,
        expires_at: When = None,
        at: When = None,
        timezone: str | None = None,
        session_id: str | int | None = None,
        agent_id: str | int | None = None,
        task_id: str | int | None = None,
        app_id: str | int | None = None,
        metadata: Mapping[str, Any] | None = None,
        tags: Sequence[str] = (),
        actor: str | None = None,
    ) -> Observation:
        """What the text states is known from now on, because the user asked. Facts it holds supersede older
        ones; what it holds beyond them is kept as a note in its own words."""
        from ltm_core.write.intake import checked_metadata
        from ltm_core.write.tell import remember

        if not isinstance(text, str):
            raise InvalidInputError(f"text must be text, not {type(text).__name__}")
        scope = self._runtime.scope(user_id, session_id, agent_id, task_id, app_id)
        return remember(
            self._runtime,
            scope,
            text,
            kind=one_of(kind, FactKind, "kind"),
            importance=one_of(importance, Importance, "importance"),
            expires_at=self._instant(expires_at, scope.user_id, timezone),
            at=self._instant(at, scope.user_id, timezone),
            timezone=timezone,
            metadata=checked_metadata(metadata, most_bytes=self.config.max_metadata_bytes),
            tags=texts_of(tags, "tags"),
            actor=actor,
        )

    def assert_fact(
        self,
        subject: str,
        relation: str,
        object: str,
        *,
        user_id: str | int,
        source: str,
        at: When = None,
        doc_type: str | None = None,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        session_id: str | int | None = None,
        agent_id: str | int | None = None,
        task_id: str | int | None = None,
        app_id: str | int | None = None,
        actor: str | None = None,
    ) -> FactChange:
        """A fact the application knows (the status of an order) holds from ``at``; asserted_by is "app".

        Of a single-valued relation such as ``status`` only the latest by ``at`` is current.
        """
        from ltm_core.write.intake import checked_metadata
        from ltm_core.write.tell import assert_fact

        scope = self._runtime.scope(user_id, session_id, agent_id, task_id, app_id)
        return assert_fact(
            self._runtime,
            scope,
            subject,
            relation,
            object,
            source=source,
            at=self._instant(at, scope.user_id, None),
            doc_type=short_text(doc_type, "doc_type"),
            metadata=checked_metadata(metadata, most_bytes=self.config.max_metadata_bytes),
            text=words_of(text, "text"),
            actor=actor,
        )

    # reading ------------------------------------------------------------------------------------------
    def context(
        self,
        query: str | None = None,
        *,
        user_id: str | int,
        session_id: str | int | None = None,
        at: When = None,
        timezone: str | None = None,
        max_tokens: int | None = None,
        tiers: Sequence[Tier] = ("working", "semantic", "episodic"),
        exclude_message_ids: Iterable[str] = (),
        current_messages: Sequence[Message | Mapping[str, Any]] | None = None,
        filters: Mapping[str, Any] | None = None,
        token_counter: TokenCounter | None = None,
        format: Literal["text", "messages", "compact"] = "text",
        language: str | None = None,
        agent_id: str | int | None = None,
        task_id: str | int | None = None,
        app_id: str | int | None = None,
    ) -> Context:
        """What belongs into the next prompt, within ``max_tokens`` by the counter (default from Config: 1200).

        ``query`` None takes the session's last user message, else what matters most. ``current_messages`` and
        ``exclude_message_ids`` name turns the host shows anyway: they are not repeated. The text is data inside
        a fence; an unrelated question gives no memories. ``at`` asks as of another time.
        """
        from ltm_core.recall.door import context

        scope = self._runtime.scope(user_id, session_id, agent_id, task_id, app_id)
        self._saw("context", scope.user_id)
        return context(
            self._runtime,
            scope,
            query,
            now=self._local_now(scope.user_id, at, timezone),
            max_tokens=max_tokens,
            tiers=tiers,
            exclude_message_ids=exclude_message_ids,
            current_messages=current_messages,
            filters=filters,
            token_counter=token_counter,
            format=format,
            language=language,
        )

    def search(
        self,
        query: str,
        *,
        user_id: str | int,
        top_k: int = 8,
        min_similarity: float | None = None,
        tiers: Sequence[Tier] | None = None,
        since: When = None,
        until: When = None,
        filters: Mapping[str, Any] | None = None,
        at: When = None,
        timezone: str | None = None,
        agent_id: str | int | None = None,
        task_id: str | int | None = None,
        app_id: str | int | None = None,
    ) -> list[ContextItem]:
        """The ``top_k`` memories nearest to the query, best first, with the signals that ranked them.

        ``since`` and ``until`` are instants or words ("last week"); unreadable words raise InvalidTimeError.
        """
        from ltm_core.recall.door import search

        scope = self._runtime.scope(user_id, None, agent_id, task_id, app_id)
        self._saw("search", scope.user_id)
        return search(
            self._runtime,
            scope,
            query,
            now=self._local_now(scope.user_id, at, timezone),
            top_k=limit_of(top_k, default=8),
            min_similarity=min_similarity,
            tiers=tiers,
            since=since,
            until=until,
            filters=filters,
        )

    def facts(
        self,
        *,
        user_id: str | int,
        as_of: When = None,
        known_at: When = None,
        include_superseded: bool = False,
        subject: str | None = None,
        relation: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[Fact]:
        """What is true now, or was at ``as_of``, oldest first; ``known_at`` sees the store as it was then.

        ``include_superseded`` adds what was closed, retracted, suppressed or expired.
        """
        scope = self._runtime.scope(user_id)
        self._saw("facts", scope.user_id)
        return listing.facts(
            self._runtime,
            scope.user_id,
            as_of=self._instant(as_of, scope.user_id, None),
            known_at=self._instant(known_at, scope.user_id, None),
            include_superseded=include_superseded,
            subject=optional_text(subject, "subject"),
            relation=optional_text(relation, "relation"),
            limit=limit_of(limit),
            cursor=cursor,
        )

    def history(self, fact_id: str, *, user_id: str | int) -> Page[Fact]:
        """Every version of the fact, oldest first: what it replaced and what replaced it. NotFoundError."""
        user = self._runtime.scope(user_id).user_id
        self._saw("history", user)
        return listing.history(self._runtime, user, text_of(fact_id, "fact_id"))

    def profile(self, user_id: str | int) -> Profile:
        """What is known of the user now, by relation, and how the assistant is to be."""
        user = self._runtime.scope(user_id).user_id
        self._saw("profile", user)
        return listing.profile(self._runtime, user)

    def related(
        self,
        entity: str = "user",
        *,
        user_id: str | int,
        depth: int = 2,
        relation: str | None = None,
        at: When = None,
        limit: int | None = None,
    ) -> Page[RelatedFact]:
        """What holds at ``at`` (now) within ``depth`` steps (1 to 4) of a person or thing, nearest first: from
        ``"ORD-1"`` to whose order it is and what its status is. The walk does not go on through the user."""
        if not 1 <= depth <= 4 or isinstance(depth, bool):
            raise InvalidInputError(f"depth must be 1 to 4, not {depth!r}")
        if not text_of(entity, "entity").strip():
            raise InvalidInputError("entity must be non-blank text, such as user, sister or an order number")
        user = self._runtime.scope(user_id).user_id
        self._saw("related", user)
        return listing.related(
            self._runtime,
            user,
            entity,
            depth=depth,
            relation=short_text(relation, "relation"),
            at=self._instant(at, user, None),
            limit=limit_of(limit),
        )

    def changes(
        self, *, user_id: str | int | None = None, since: str | None = None, limit: int | None = None
    ) -> Page[FactChange]:
        """What became of facts, in the order of commits, after the cursor ``since``: of one user, or of all users
        when none is named (``change.fact.user_id`` says whose). Keep the last cursor, ask again: nothing is
        missed, also what other processes wrote."""
        user = None if user_id is None else self._runtime.scope(user_id).user_id
        if user is not None:
            self._saw("changes", user)
        return listing.changes(self._runtime, user, since=since, limit=limit_of(limit))

    def on_change(
        self, callback: Callable[[FactChange], object], *, user_id: str | int | None = None
    ) -> Callable[[], None]:
        """From now on ``callback`` gets every change of a fact that this object writes (of one user, or of all),
        after its commit, in the thread that wrote; returns the call that ends it. What it raises is logged, the
        write stands. It can miss what other processes write and what happens while the program is down:
        `changes` cannot."""
        user = None if user_id is None else self._runtime.scope(user_id).user_id
        return listing.follow(self._runtime, callback, user_id=user)

    def messages(
        self,
        *,
        user_id: str | int,
        session_id: str | int | None = None,
        since: When = None,
        until: When = None,
        window_only: bool = False,
        newest_first: bool = False,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[StoredMessage]:
        """The stored turns, in order of time; with ``window_only`` those of the session's working window."""
        scope = self._runtime.scope(user_id, session_id)
        self._saw("messages", scope.user_id)
        return listing.messages(
            self._runtime,
            scope,
            since=self._instant(since, scope.user_id, None),
            until=self._instant(until, scope.user_id, None),
            window_only=window_only,
            newest_first=newest_first,
            limit=limit_of(limit),
            cursor=cursor,
        )

    def sessions(self, *, user_id: str | int, limit: int | None = None, cursor: str | None = None) -> Page[Session]:
        """The user's sessions, the latest activity first."""
        user = self._runtime.scope(user_id).user_id
        self._saw("sessions", user)
        return listing.sessions(self._runtime, user, limit=limit_of(limit), cursor=cursor)

    # sessions and slots -------------------------------------------------------------------------------
    def replace_messages(
        self, messages: Iterable[Message | Mapping[str, Any]], *, user_id: str | int, session_id: str | int
    ) -> Observation:
        """The session's window holds exactly these turns; new ones are learnt from, others stay episodic.

        While the user is paused nothing changes; a turn that arrives meanwhile stays in the window.
        """
        from ltm_core.keep.window import keep_only, newest_item, recognised

        scope = self._session(user_id, session_id)
        if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
            raise InvalidInputError(f"messages must be a list of messages, not {type(messages).__name__}")
        up_to = newest_item(self._runtime, scope)
        given = recognised(self._runtime, scope, list(messages))
        seen = self.observe(user_id=user_id, session_id=session_id, messages=given) if given else Observation()
        if not seen.skipped or seen.messages:
            keep_only(self._runtime, scope, [m.id for m in seen.messages], up_to=up_to)
        return seen

    def clear_window(
        self,
        *,
        user_id: str | int,
        session_id: str | int,
        message_ids: Iterable[str] | None = None,
        actor: str | None = None,
    ) -> int:
        """The session's window is empty, or without the turns ``message_ids``; they stay in episodic memory.
        Returns how many left it."""
        from ltm_core.keep.window import keep_only, leave

        scope = self._session(user_id, session_id)
        with acting(actor):
            if message_ids is not None:
                return leave(self._runtime, scope, texts_of(message_ids, "message_ids"))
            return keep_only(self._runtime, scope, ())

    def delete_messages(
        self,
        message_ids: Iterable[str],
        *,
        user_id: str | int,
        session_id: str | int,
        actor: str | None = None,
        reason: str | None = None,
    ) -> int:
        """These turns of the session are erased, with the facts that only they supported; returns how many."""
        from ltm_core.keep.erase import forget_messages

        scope = self._session(user_id, session_id)
        with acting(actor, reason):
            return forget_messages(self._runtime, scope, texts_of(message_ids, "message_ids"), actor=actor)

    def end_session(self, session_id: str | int, *, user_id: str | int, actor: str | None = None) -> bool:
        """The session is over: its window and slots are empty. False when it was not open."""
        scope = self._session(user_id, session_id)
        now = self._runtime.now()
        with self._runtime.store.write(scope.user_id) as writer:
            ended = writer.end_session(scope.session_id or "", now=now)
            if ended:
                audit.note(writer, "end_session", now=now, actor=actor)
        return ended

    def set_slot(
        self,
        name: str,
        value: Any,
        *,
        user_id: str | int,
        session_id: str | int,
        ttl: float | timedelta | None = None,
        actor: str | None = None,
    ) -> None:
        """The session holds ``value`` (JSON) under ``name`` for ``ttl`` seconds (default from Config: 1800)."""
        from ltm_core.keep.window import set_slot

        scope = self._session(user_id, session_id)
        name = identifier(name, "slot name", limit=self._limit)
        with acting(actor):
            set_slot(self._runtime, scope, name, value, ttl=life_of(ttl, self._runtime.now()))

    def get_slot(self, name: str, *, user_id: str | int, session_id: str | int, default: Any = None) -> Any:
        """The live value under ``name``, or ``default``."""
        scope = self._session(user_id, session_id)
        self._saw("get_slot", scope.user_id)
        with self._runtime.store.read(scope.user_id) as reader:
            live = reader.slots(scope.session_id or "", now=self._runtime.now())
        return next((s.value for s in live if s.name == name), default)

    def slots(self, *, user_id: str | int, session_id: str | int) -> dict[str, Any]:
        """The session's live slots."""
        scope = self._session(user_id, session_id)
        self._saw("slots", scope.user_id)
        with self._runtime.store.read(scope.user_id) as reader:
            return {s.name: s.value for s in reader.slots(scope.session_id or "", now=self._runtime.now())}

    # documents ----------------------------------------------------------------------------------------
    def put_document(
        self,
        namespace: Sequence[str],
        key: str,
        value: Mapping[str, Any],
        *,
        user_id: str | int,
        index: bool | Sequence[str] = True,
        ttl: float | timedelta | None = None,
        actor: str | None = None,
    ) -> Document:
        """The namespace holds ``value`` (JSON) under ``key``; an earlier value is replaced.

        A document is application data inside the user's wall, erased with the user, and no memory: it appears in
        no context and is no fact. ``index``: what `search_documents` finds it by: the whole value, nothing
        (False), or the texts at these paths (``"title"``, ``"notes[*].text"``). ``ttl``: seconds it lives after it
        was written, or read with ``refresh_ttl``.
        """
        if value is None:
            raise InvalidInputError("value must be a mapping, not None; delete_document removes a document")
        write = DocumentWrite(namespace=namespace, key=key, value=value, index=index, ttl=ttl)
        (stored,) = self.write_documents([write], user_id=user_id, actor=actor)
        assert stored is not None
        return stored

    def write_documents(
        self, writes: Iterable[DocumentWrite], *, user_id: str | int, actor: str | None = None
    ) -> list[Document | None]:
        """All of these documents are stored or deleted, or none is; of several for one key the last one counts.

        Returns, in order, what is stored, or for a deletion what is gone (None when there was nothing). Raises
        ConflictError while the user is paused, unless all are deletions.
        """
        from ltm_core.documents.checks import checked_write
        from ltm_core.documents.service import write

        scope, config, now = self._runtime.scope(user_id), self.config, self._runtime.now()
        puts = [
            checked_write(
                w,
                now=now,
                id_limit=config.max_id_characters,
                most_bytes=config.max_document_bytes,
                masked=config.redact_pii,
            )
            for w in writes
        ]
        return write(self._runtime, scope.user_id, puts, actor=actor)

    def get_document(
        self, namespace: Sequence[str], key: str, *, user_id: str | int, refresh_ttl: bool = False
    ) -> Document | None:
        """The document under the key, or None. With ``refresh_ttl`` its time to live begins again."""
        from ltm_core.documents.checks import key_of, namespace_of
        from ltm_core.documents.service import get

        where = namespace_of(namespace, limit=self._limit), key_of(key, limit=self._limit)
        return get(self._runtime, self._runtime.scope(user_id).user_id, *where, refresh_ttl=refresh_ttl)

    def search_documents(
        self,
        namespace_prefix: Sequence[str] = (),
        *,
        user_id: str | int,
        query: str | None = None,
        filters: Mapping[str, Any] | None = None,
        limit: int | None = None,
        offset: int = 0,
        refresh_ttl: bool = False,
    ) -> list[Document]:
        """The user's documents whose namespace begins with the prefix and whose value passes the filter.

        With a ``query`` the nearest in meaning first and those without an index last, else in the order in which
        they were first put. ``filters``: ``{key: value}`` or ``{key: {"$gt": 3}}`` with $eq $ne $gt $gte $lt $lte
        $in $nin $exists, $and and $or. ``limit``: 10 by default, 1,000 at most.
        """
        from ltm_core.documents.checks import namespace_of
        from ltm_core.documents.match import checked
        from ltm_core.documents.search import search

        if isinstance(offset, bool) or not isinstance(offset, int) or offset < 0:
            raise InvalidInputError(f"offset must be a whole number of at least 0, not {offset!r}")
        return search(
            self._runtime,
            self._runtime.scope(user_id).user_id,
            namespace_of(namespace_prefix, limit=self._limit, what="namespace_prefix"),
            query=words_of(query, "query"),
            filters=checked(filters),
            limit=limit_of(limit, default=10),
            offset=offset,
            refresh_ttl=refresh_ttl,
        )

    def delete_document(
        self, namespace: Sequence[str], key: str, *, user_id: str | int, actor: str | None = None
    ) -> bool:
        """Nothing is stored under the key, and the bytes are overwritten now or by `maintain`; False when nothing
        was. An erasure: no backup and no export made before brings the document back. The key is free."""
        write = DocumentWrite(namespace=namespace, key=key, value=None)
        return self.write_documents([write], user_id=user_id, actor=actor)[0] is not None

    def document_namespaces(
        self,
        prefix: Sequence[str] = (),
        *,
        user_id: str | int,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[tuple[str, ...]]:
        """The namespaces that begin with ``prefix`` and hold a document of the user, sorted."""
        from ltm_core.documents.checks import namespace_of
        from ltm_core.documents.service import namespaces

        return namespaces(
            self._runtime,
            self._runtime.scope(user_id).user_id,
            namespace_of(prefix, limit=self._limit, what="prefix"),
            limit=limit_of(limit),
            cursor=cursor,
        )

    def document_owners(self, *, limit: int | None = None, cursor: str | None = None) -> Page[str]:
        """The ids of all users who have documents, for the operator: it looks across the wall, but shows no
        content."""
        from ltm_core.documents.service import owners

        return owners(self._runtime, limit=limit_of(limit), cursor=optional_text(cursor, "cursor"))

    # revising -----------------------------------------------------------------------------------------
    def correct(
        self,
        *,
        right: str,
        user_id: str | int,
        wrong: str | None = None,
        fact_id: str | None = None,
        at: When = None,
        actor: str | None = None,
        reason: str | None = None,
    ) -> FactChange:
        """The wrong belief is retracted, ``right`` holds instead for its time, as a statement like any other.

        A known value is reinforced; the same call again returns the earlier outcome with ``op`` "skip". No match:
        NotFoundError; several: ConflictError with the candidates.
        """
        from ltm_core.keep.correct import correct

        scope = self._runtime.scope(user_id)
        instant = self._instant(at, scope.user_id, None)
        with acting(actor, reason):
            return correct(
                self._runtime,
                scope,
                wrong=words_of(wrong, "wrong"),
                fact_id=optional_text(fact_id, "fact_id"),
                right=words_of(right, "right") or "",
                at=instant,
                actor=actor,
            )

    def restore(
        self, fact_id: str, *, user_id: str | int, actor: str | None = None, reason: str | None = None
    ) -> FactChange:
        """A closed, retracted, suppressed or expired fact is current again; another value of its single-valued
        relation ends. No instant gets two values: if one held since, the fact holds anew from now on."""
        from ltm_core.keep.revise import restore

        with acting(actor, reason):
            return restore(self._runtime, self._runtime.scope(user_id), text_of(fact_id, "fact_id"), actor=actor)

    def suppress(
        self, fact_id: str, *, user_id: str | int, actor: str | None = None, reason: str | None = None
    ) -> FactChange:
        """The fact is kept and never brought up, said again or not, until `unsuppress` or `restore`. Another
        value of its single-valued relation closes it."""
        from ltm_core.keep.revise import set_suppressed

        scope = self._runtime.scope(user_id)
        fact_id = text_of(fact_id, "fact_id")
        with acting(actor, reason):
            return set_suppressed(self._runtime, scope, fact_id, suppressed=True, actor=actor)

    def unsuppress(
        self, fact_id: str, *, user_id: str | int, actor: str | None = None, reason: str | None = None
    ) -> FactChange:
        """The fact may be brought up again; of two values of a single-valued relation the later one stays."""
        from ltm_core.keep.revise import set_suppressed

        scope = self._runtime.scope(user_id)
        fact_id = text_of(fact_id, "fact_id")
        with acting(actor, reason):
            return set_suppressed(self._runtime, scope, fact_id, suppressed=False, actor=actor)

    def pause(self, user_id: str | int, *, actor: str | None = None) -> None:
        """Nothing of the user is stored until `resume`; what is known can still be read. `observe` skips what it
        is given; `remember`, `assert_fact` and `set_slot` raise ConflictError."""
        self._set_paused(user_id, True, actor)

    def resume(self, user_id: str | int, *, actor: str | None = None) -> None:
        """The user's turns are stored again."""
        self._set_paused(user_id, False, actor)

    def _set_paused(self, user_id: str | int, paused: bool, actor: str | None) -> None:
        scope = self._runtime.scope(user_id)
        now = self._runtime.now()
        with self._runtime.store.write(scope.user_id) as writer:
            writer.ensure_user(now=now)
            writer.set_user(paused_at=now if paused else None)
            audit.note(writer, "pause" if paused else "resume", now=now, actor=checked(actor, "actor"))

    # forgetting ---------------------------------------------------------------------------------------
    def forget(
        self,
        memory_id: str,
        *,
        user_id: str | int,
        sources: Sources = "redact",
        actor: str | None = None,
        reason: str | None = None,
    ) -> Receipt:
        """A fact or a turn is gone. ``sources``: the words that support a fact, and repeats of its object, are
        overwritten ("redact"), their turns deleted ("delete"), or left alone ("keep")."""
        from ltm_core.keep.erase import forget
        from ltm_core.keep.sources import Sources

        scope = self._runtime.scope(user_id)
        chosen: Sources = one_of(sources, Sources, "sources") or "redact"
        with acting(actor, reason):
            return forget(self._runtime, scope.user_id, str(memory_id), sources=chosen, actor=actor)

    def forget_matching(
        self,
        text: str,
        *,
        user_id: str | int,
        dry_run: bool = True,
        sources: Sources = "redact",
        actor: str | None = None,
        reason: str | None = None,
    ) -> Receipt | ForgetPreview:
        """Facts that hold these words are gone with their sources, and the words wherever they stand. By
        default only lists them."""
        from ltm_core.keep.erase import forget_matching
        from ltm_core.keep.sources import Sources

        scope = self._runtime.scope(user_id)
        if not isinstance(text, str) or not text.strip():
            raise InvalidInputError("text to forget must be non-blank text")
        chosen: Sources = one_of(sources, Sources, "sources") or "redact"
        with acting(actor, reason):
            return forget_matching(self._runtime, scope.user_id, text, dry_run=dry_run, sources=chosen, actor=actor)

    def forget_session(
        self, session_id: str | int, *, user_id: str | int, actor: str | None = None, reason: str | None = None
    ) -> Receipt:
        """Every turn and slot of the session is gone, with the facts that only it supported; what was said in it
        is refused when it is told again as it was."""
        from ltm_core.keep.erase import forget_session

        scope = self._session(user_id, session_id)
        with acting(actor, reason):
            return forget_session(self._runtime, scope.user_id, scope.session_id or "", actor=actor)

    def forget_user(self, user_id: str | int, *, actor: str | None = None, reason: str | None = None) -> Receipt:
        """Nothing of the user is left in any table, cache or file, and replays of what was said are refused.

        Raises ErasurePendingError, with the receipt, when readers kept old pages alive past the wait.
        """
        from ltm_core.keep.erase import forget_user

        with acting(actor, reason):
            return forget_user(self._runtime, self._runtime.scope(user_id).user_id, actor=actor)

    # keeping ------------------------------------------------------------------------------------------
    def maintain(self, now: When = None, *, dry_run: bool = False) -> MaintenanceReport:
        """Idle sessions are closed, expired items gone, archived types promoted, waiting work done,
        extractions among it when there is an extractor."""
        from ltm_core.keep.maintain import maintain

        moment = self._runtime.now() if now is None else parse_instant(now, zone=UTC)
        return maintain(self._runtime, now=moment, dry_run=dry_run)

    def doctor(self, *, user_id: str | int | None = None, repair: bool = False) -> HealthReport:
        """What disagrees inside the store, of one user or of all: file, index, counters, values that cannot hold
        together. With ``repair`` what can be made anew from messages and facts is; a damaged file never is."""
        from ltm_core.keep.doctor import examine

        user = None if user_id is None else self._runtime.scope(user_id).user_id
        return examine(self._runtime, user_id=user, repair=repair, now=self._runtime.now())

    def calibrate(
        self,
        pairs: Iterable[Mapping[str, Any]],
        *,
        max_false_positives: float | None = None,
        min_precision: float | None = None,
        beta: float | None = None,
        cross: bool = False,
        dry_run: bool = False,
    ) -> Calibration:
        """The similarity from which a memory counts as about a question is the one these labelled pairs call for.

        Each pair has ``query``, ``text`` and ``label`` or ``relevant``. The rule: the lowest threshold at which at
        most ``max_false_positives`` of the unrelated pairs pass (default 0.001), or ``min_precision`` is reached,
        or the best F-``beta``. It holds for this store and embedder: here at once, elsewhere at the next open.
        With ``cross`` a text of another query counts as unrelated; with ``dry_run`` nothing changes.
        """
        from ltm_core.recall.calibration import rule_of
        from ltm_core.recall.floors import calibrate_floor

        rule = rule_of(max_false_positives=max_false_positives, min_precision=min_precision, beta=beta)
        return calibrate_floor(self._runtime, enumerate(pairs, start=1), rule=rule, cross=cross, dry_run=dry_run)

    def audit(
        self, user_id: str | int | None = None, *, since: str | None = None, limit: int | None = None
    ) -> Page[AuditEntry]:
        """Who did what, and why, in order, after the cursor ``since``: to one user's memory, or to everybody's and
        to the store. A user's rows go with the user; one row of the erasure stays."""
        user = None if user_id is None else self._runtime.scope(user_id).user_id
        return audit.audit(self._runtime, user, since=since, limit=limit_of(limit))

    def export_user(self, user_id: str | int, *, actor: str | None = None, reason: str | None = None) -> ExportLines:
        """Everything of the user as JSON lines, read page by page while it is consumed (``for`` or ``async for``);
        see docs/portability.md.

        No vector (they are made again), no keyed hash and no number of this store is in it, nor the user's id. What
        is written meanwhile may be in it or not; an unknown user gives no rows.
        """
        from ltm_core.keep.export import export_user

        user = self._runtime.scope(user_id).user_id
        with acting(actor, reason):
            return export_user(self._runtime, user)

    def import_user(
        self,
        lines: Iterable[str | bytes],
        *,
        user_id: str | int,
        after_erasure: Literal["refuse", "allow"] = "refuse",
        trust: bool = False,
        actor: str | None = None,
        reason: str | None = None,
    ) -> ImportResult:
        """What an export holds belongs to ``user_id``, whoever it was exported from; what the store has already
        stays as it is, so a file may be imported again.

        ``trust=False`` does not believe what only an application may say (see docs/portability.md); ``trust=True``
        takes all of it. With ``after_erasure="refuse"`` what the user erased stays erased; "allow" is for a user
        who asked to have it back. Each line is checked for itself; a file that is no export raises
        InvalidInputError before anything is written. Batches are transactions: after an error, import again.
        """
        from ltm_core.keep.importing import import_user

        user = self._runtime.scope(user_id).user_id
        with acting(actor, reason):
            return import_user(
                self._runtime,
                user,
                lines,
                after_erasure=one_of(after_erasure, AfterErasure, "after_erasure") or "refuse",
                trust=trust,
            )

    def backup(self, path: str | Path, *, actor: str | None = None, reason: str | None = None) -> BackupReport:
        """The new directory ``path`` (0700) is a store with all that was committed when the call began; others go on
        writing. Nothing is left there after an error or a kill. ConflictError when something is there.

        Beside it a list of later erasures is kept, by keyed hashes: copy it with the backup (docs/portability.md).
        """
        from ltm_core.keep.backup import backup

        with acting(actor, reason):
            return backup(self._runtime, Path(path))

    @classmethod
    def restore_backup(
        cls,
        backup: str | Path,
        location: str | Path,
        *,
        erasures: str | Path | None = None,
        config: Config | None = None,
        clock: Callable[[], datetime] | None = None,
        actor: str | None = None,
        reason: str | None = None,
    ) -> RestoreReport:
        """``location`` holds what the backup held, without what was erased since: users, sessions, facts and words.

        Later erasures are known from the store at ``location``, which gives way in one step (after an error or a
        kill it is as it was), or else from the list beside the backup or at ``erasures``; "none" does without.
        ConflictError when ``location`` holds another store, UnavailableError when no list is found.
        """
        from ltm_core.config import Config as Settings
        from ltm_core.keep.backup import restore_backup

        with acting(actor, reason):
            return restore_backup(
                Path(backup),
                Path(location),
                config=config or Settings.make(),
                now=parse_instant((clock or _utc_now)(), zone=UTC),
                erasures="none" if erasures == "none" else None if erasures is None else Path(erasures),
            )

    @classmethod
    async def arestore_backup(cls, backup: str | Path, location: str | Path, **options: Any) -> RestoreReport:
        """Async twin of `restore_backup`; the same options."""
        import asyncio

        return await asyncio.to_thread(lambda: cls.restore_backup(backup, location, **options))

    def work(self, limit: int | None = None) -> WorkReport:
        """Up to ``limit`` due extractions were run, or all of them, by this thread. ConfigError without an
        extractor."""
        from ltm_core.keep.queue import work

        return work(self._runtime, limit=None if limit is None else limit_of(limit, most=1_000_000))

    def dead_letters(self, *, limit: int | None = None, cursor: str | None = None) -> Page[DeadLetter]:
        """The jobs that failed too often, oldest first: ids, attempts and the class of the error, no words."""
        return listing.dead_letters(self._runtime, limit=limit_of(limit), cursor=cursor)

    def retry_dead_letters(self, ids: Sequence[int] | None = None) -> int:
        """These dead letters, or all, are due again; returns how many."""
        from ltm_core.keep.queue import retry

        return retry(self._runtime, ids)

    def drop_dead_letters(self, ids: Sequence[int] | None = None) -> int:
        """These dead letters, or all, are given up; what the rules wrote stands. Returns how many."""
        from ltm_core.keep.queue import drop

        return drop(self._runtime, ids)

    def stats(self) -> Stats:
        """Counts and sizes of the store; no content, no ids."""
        return self._runtime.store.operations().stats()

    # helpers ------------------------------------------------------------------------------------------
    def _saw(self, action: str, user_id: str) -> None:
        audit.saw(self._runtime, action, user_id)

    @property
    def _limit(self) -> int:
        return self._runtime.config.max_id_characters

    def _session(self, user_id: object, session_id: object, *labels: object) -> Scope:
        """The scope of a call that needs a session: None is refused like any other id that is none."""
        return self._runtime.scope(user_id, identifier(session_id, "session_id", limit=self._limit), *labels)

    def _zone(self, user_id: str, timezone: str | None) -> Any:
        if timezone:
            return zone_of(timezone)
        with self._runtime.store.read(user_id) as reader:
            state = reader.user()
        return self._runtime.zone(None, state.timezone if state else None)

    def _instant(self, value: When, user_id: str, timezone: str | None) -> datetime | None:
        if value is None:
            return None
        return parse_instant(value, zone=self._zone(user_id, timezone))

    def _local_now(self, user_id: str, at: When, timezone: str | None) -> datetime:
        zone = self._zone(user_id, timezone)
        moment = self._runtime.now() if at is None else parse_instant(at, zone=zone)
        return moment.astimezone(zone)

    # async twins --------------------------------------------------------------------------------------
    aclose = twin(close)
    aobserve = twin(observe)
    aremember = twin(remember)
    aassert_fact = twin(assert_fact)
    acontext = twin(context)
    asearch = twin(search)
    afacts = twin(facts)
    ahistory = twin(history)
    aprofile = twin(profile)
    arelated = twin(related)
    achanges = twin(changes)
    amessages = twin(messages)
    asessions = twin(sessions)
    areplace_messages = twin(replace_messages)
    aclear_window = twin(clear_window)
    adelete_messages = twin(delete_messages)
    aend_session = twin(end_session)
    aset_slot = twin(set_slot)
    aget_slot = twin(get_slot)
    aslots = twin(slots)
    aput_document = twin(put_document)
    awrite_documents = twin(write_documents)
    aget_document = twin(get_document)
    asearch_documents = twin(search_documents)
    adelete_document = twin(delete_document)
    adocument_namespaces = twin(document_namespaces)
    adocument_owners = twin(document_owners)
    acorrect = twin(correct)
    arestore = twin(restore)
    asuppress = twin(suppress)
    aunsuppress = twin(unsuppress)
    apause = twin(pause)
    aresume = twin(resume)
    aforget = twin(forget)
    aforget_matching = twin(forget_matching)
    aforget_session = twin(forget_session)
    aforget_user = twin(forget_user)
    amaintain = twin(maintain)
    adoctor = twin(doctor)
    acalibrate = twin(calibrate)
    aaudit = twin(audit)
    abackup = twin(backup)
    aexport_user = twin(export_user)
    aimport_user = twin(import_user)
    awork = twin(work)
    adead_letters = twin(dead_letters)
    aretry_dead_letters = twin(retry_dead_letters)
    adrop_dead_letters = twin(drop_dead_letters)
    astats = twin(stats)


def _utc_now() -> datetime:
    return datetime.now(UTC)
