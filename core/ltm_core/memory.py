"""The one door. It checks what it is given, finds the room, and decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from ltm_core import listing
from ltm_core.arguments import life_of, limit_of, one_of, optional_text, short_text, text_of, texts_of, words_of
from ltm_core.errors import ConfigError, InvalidInputError
from ltm_core.ids import new_uuid7
from ltm_core.runtime import Runtime
from ltm_core.scoping import identifier
from ltm_core.twins import twin
from ltm_core.types import (
    Context,
    ContextItem,
    DeadLetter,
    Fact,
    FactChange,
    FactKind,
    ForgetPreview,
    Importance,
    MaintenanceReport,
    Message,
    Observation,
    Page,
    Profile,
    Receipt,
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
    from ltm_core.keep.sources import Sources

When = datetime | str | None


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
        LangChain, LlamaIndex or your own. ``extractor``: None for rules only, ``"openai:BASE_URL#MODEL"``,
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
        timezone: str | None = None,
        me: str | None = None,
    ) -> BoundMemory:
        """The same methods with the scope filled in. ``me`` is the user's name in a group chat: other names
        are other speakers."""
        from ltm_core.bound import BoundMemory

        scope = self._runtime.scope(user_id, session_id, agent_id, task_id, app_id)
        if timezone is not None:
            zone_of(timezone)
        return BoundMemory(self, scope, actor=actor, timezone=timezone, me=me)

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
        return listing.history(self._runtime, self._runtime.scope(user_id).user_id, text_of(fact_id, "fact_id"))

    def profile(self, user_id: str | int) -> Profile:
        """What is known of the user now, by relation, and how the assistant is to be."""
        return listing.profile(self._runtime, self._runtime.scope(user_id).user_id)

    def changes(self, *, user_id: str | int, since: str | None = None, limit: int | None = None) -> Page[FactChange]:
        """What became of the user's facts, in order, after the cursor ``since``."""
        return listing.changes(
            self._runtime, self._runtime.scope(user_id).user_id, since=since, limit=limit_of(limit)
        )

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
        return listing.sessions(
            self._runtime, self._runtime.scope(user_id).user_id, limit=limit_of(limit), cursor=cursor
        )

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

    def clear_window(self, *, user_id: str | int, session_id: str | int) -> int:
        """The session's window is empty; its turns stay in episodic memory. Returns how many left it."""
        from ltm_core.keep.window import keep_only

        scope = self._session(user_id, session_id)
        return keep_only(self._runtime, scope, ())

    def delete_messages(
        self, message_ids: Iterable[str], *, user_id: str | int, session_id: str | int, actor: str | None = None
    ) -> int:
        """These turns of the session are erased, with the facts that only they supported; returns how many."""
        from ltm_core.keep.erase import forget_messages

        scope = self._session(user_id, session_id)
        return forget_messages(self._runtime, scope, texts_of(message_ids, "message_ids"), actor=actor)

    def end_session(self, session_id: str | int, *, user_id: str | int) -> bool:
        """The session is over: its window and slots are empty. False when it was not open."""
        scope = self._session(user_id, session_id)
        with self._runtime.store.write(scope.user_id) as writer:
            return writer.end_session(scope.session_id or "", now=self._runtime.now())

    def set_slot(
        self,
        name: str,
        value: Any,
        *,
        user_id: str | int,
        session_id: str | int,
        ttl: float | timedelta | None = None,
    ) -> None:
        """The session holds ``value`` (JSON) under ``name`` for ``ttl`` seconds (default from Config: 1800)."""
        from ltm_core.keep.window import set_slot

        scope = self._session(user_id, session_id)
        name = identifier(name, "slot name", limit=self._limit)
        set_slot(self._runtime, scope, name, value, ttl=life_of(ttl, self._runtime.now()))

    def get_slot(self, name: str, *, user_id: str | int, session_id: str | int, default: Any = None) -> Any:
        """The live value under ``name``, or ``default``."""
        scope = self._session(user_id, session_id)
        with self._runtime.store.read(scope.user_id) as reader:
            live = reader.slots(scope.session_id or "", now=self._runtime.now())
        return next((s.value for s in live if s.name == name), default)

    def slots(self, *, user_id: str | int, session_id: str | int) -> dict[str, Any]:
        """The session's live slots."""
        scope = self._session(user_id, session_id)
        with self._runtime.store.read(scope.user_id) as reader:
            return {s.name: s.value for s in reader.slots(scope.session_id or "", now=self._runtime.now())}

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
    ) -> FactChange:
        """The wrong belief is retracted, ``right`` holds instead for its time, as a statement like any other.

        A known value is reinforced; the same call again returns the earlier outcome with ``op`` "skip". No match:
        NotFoundError; several: ConflictError with the candidates.
        """
        from ltm_core.keep.correct import correct

        scope = self._runtime.scope(user_id)
        instant = self._instant(at, scope.user_id, None)
        return correct(
            self._runtime,
            scope,
            wrong=words_of(wrong, "wrong"),
            fact_id=optional_text(fact_id, "fact_id"),
            right=words_of(right, "right") or "",
            at=instant,
            actor=actor,
        )

    def restore(self, fact_id: str, *, user_id: str | int, actor: str | None = None) -> FactChange:
        """A closed, retracted, suppressed or expired fact is current again; another value of its single-valued
        relation ends. No instant gets two values: if one held since, the fact holds anew from now on."""
        from ltm_core.keep.revise import restore

        return restore(self._runtime, self._runtime.scope(user_id), text_of(fact_id, "fact_id"), actor=actor)

    def suppress(self, fact_id: str, *, user_id: str | int, actor: str | None = None) -> FactChange:
        """The fact is kept and never brought up, said again or not, until `unsuppress` or `restore`. Another
        value of its single-valued relation closes it."""
        from ltm_core.keep.revise import set_suppressed

        scope = self._runtime.scope(user_id)
        fact_id = text_of(fact_id, "fact_id")
        return set_suppressed(self._runtime, scope, fact_id, suppressed=True, actor=actor)

    def unsuppress(self, fact_id: str, *, user_id: str | int, actor: str | None = None) -> FactChange:
        """The fact may be brought up again; of two values of a single-valued relation the later one stays."""
        from ltm_core.keep.revise import set_suppressed

        scope = self._runtime.scope(user_id)
        fact_id = text_of(fact_id, "fact_id")
        return set_suppressed(self._runtime, scope, fact_id, suppressed=False, actor=actor)

    def pause(self, user_id: str | int) -> None:
        """Nothing of the user is stored until `resume`; what is known can still be read. `observe` skips what it
        is given; `remember`, `assert_fact` and `set_slot` raise ConflictError."""
        self._set_paused(user_id, True)

    def resume(self, user_id: str | int) -> None:
        """The user's turns are stored again."""
        self._set_paused(user_id, False)

    def _set_paused(self, user_id: str | int, paused: bool) -> None:
        scope = self._runtime.scope(user_id)
        now = self._runtime.now()
        with self._runtime.store.write(scope.user_id) as writer:
            writer.ensure_user(now=now)
            writer.set_user(paused_at=now if paused else None)
            writer.audit("pause" if paused else "resume", now=now, actor=None)

    # forgetting ---------------------------------------------------------------------------------------
    def forget(
        self, memory_id: str, *, user_id: str | int, sources: Sources = "redact", actor: str | None = None
    ) -> Receipt:
        """A fact or a turn is gone. ``sources``: the words that support a fact, and repeats of its object, are
        overwritten ("redact"), their turns deleted ("delete"), or left alone ("keep")."""
        from ltm_core.keep.erase import forget
        from ltm_core.keep.sources import Sources

        scope = self._runtime.scope(user_id)
        chosen: Sources = one_of(sources, Sources, "sources") or "redact"
        return forget(self._runtime, scope.user_id, str(memory_id), sources=chosen, actor=actor)

    def forget_matching(
        self,
        text: str,
        *,
        user_id: str | int,
        dry_run: bool = True,
        sources: Sources = "redact",
        actor: str | None = None,
    ) -> Receipt | ForgetPreview:
        """Facts that hold these words are gone with their sources, and the words wherever they stand. By
        default only lists them."""
        from ltm_core.keep.erase import forget_matching
        from ltm_core.keep.sources import Sources

        scope = self._runtime.scope(user_id)
        if not isinstance(text, str) or not text.strip():
            raise InvalidInputError("text to forget must be non-blank text")
        chosen: Sources = one_of(sources, Sources, "sources") or "redact"
        return forget_matching(self._runtime, scope.user_id, text, dry_run=dry_run, sources=chosen, actor=actor)

    def forget_session(self, session_id: str | int, *, user_id: str | int, actor: str | None = None) -> Receipt:
        """Every turn and slot of the session is gone, with the facts that only it supported; what was said in it
        is refused when it is told again as it was."""
        from ltm_core.keep.erase import forget_session

        scope = self._session(user_id, session_id)
        return forget_session(self._runtime, scope.user_id, scope.session_id or "", actor=actor)

    def forget_user(self, user_id: str | int, *, actor: str | None = None) -> Receipt:
        """Nothing of the user is left in any table, cache or file, and replays of what was said are refused.

        Raises ErasurePendingError, with the receipt, when readers kept old pages alive past the wait.
        """
        from ltm_core.keep.erase import forget_user

        return forget_user(self._runtime, self._runtime.scope(user_id).user_id, actor=actor)

    # keeping ------------------------------------------------------------------------------------------
    def maintain(self, now: When = None, *, dry_run: bool = False) -> MaintenanceReport:
        """Idle sessions are closed, expired items gone, archived types promoted, waiting work done,
        extractions among it when there is an extractor."""
        from ltm_core.keep.maintain import maintain

        moment = self._runtime.now() if now is None else parse_instant(now, zone=UTC)
        return maintain(self._runtime, now=moment, dry_run=dry_run)

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
    awork = twin(work)
    adead_letters = twin(dead_letters)
    aretry_dead_letters = twin(retry_dead_letters)
    adrop_dead_letters = twin(drop_dead_letters)
    astats = twin(stats)


def _utc_now() -> datetime:
    return datetime.now(UTC)
