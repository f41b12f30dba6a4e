"""What a message says, worked out before the transaction: analysis, indexed units, vectors asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo
from functools import cache, partial
from typing import TYPE_CHECKING

from ltm_core.text.terms import terms, whole
from ltm_core.types import Fact
from ltm_core.write.analyse import analyse
from ltm_core.write.anchors.came_back import came_back
from ltm_core.write.anchors.meant import meanings, told_in
from ltm_core.write.extract.own_things import known_things
from ltm_core.write.incoming.batch import Batch, Prepared
from ltm_core.write.incoming.index import message_units
from ltm_core.write.incoming.intake import Incoming
from ltm_core.write.incoming.statuses import Judged
from ltm_core.write.incoming.vectors import Vectors, cut_of
from ltm_core.write.models.eligible import gated
from ltm_core.write.plan import Person, Turn, Utterance, no_name, nobody, nothing
from ltm_core.write.read.kinship import known_people
from ltm_core.write.read.named_others import holds_word
from ltm_core.write.read.people import speaker_key
from ltm_core.write.words.load import default_lexicon

if TYPE_CHECKING:
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import MessageRow, Reader

_MOST_CANDIDATES = 64
"""Facts that one message may state: a pasted document is read as an episode, not as a list of facts."""
BEFORE = 12
"""Stored turns an utterance is read against: a confirmation looks back at most a few exchanges."""
_OPENING = 3
"""Turns of a session within which its first words may still answer what was proposed in the one before."""
_MOST_ENTITIES = 64
"""Identifiers of earlier sessions that "the order I told you about" may mean: the newest."""
_MOST_FACTS = 200
"""Newest facts among which those about relatives are looked for."""
_MOST_SAID, _LONGEST_SAID = 400, 4000
"""Newest turns, and characters of each, among which what a reference to an earlier session names is looked for."""
_LONG_PAUSE = timedelta(hours=6)
"""After which a host that keeps one endless session has begun another conversation."""
_IDENTIFIER_RELATIONS = (
    "identifier", "order", "contract", "quote", "ticket", "parcel", "invoice", "booking", "case",
)  # fmt: skip


def prepare(
    runtime: Runtime,
    reader: Reader,
    batch: Batch,
    verdicts: Sequence[Judged],
    vectors: Vectors,
    *,
    now: datetime,
    zone: tzinfo,
) -> dict[int, Prepared]:
    """Analysis and units of every message that will be written, by its place in the batch."""
    if not any(v.fate in ("new", "edit") for v in verdicts):
        return {}
    tail = reader.messages(session_id=batch.scope.session_id, newest_first=True, limit=BEFORE)[::-1]
    turns = turns_of(tail)
    opening = len(tail) < _OPENING and all(r.role != "assistant" for r in tail)
    earlier = _earlier(reader, batch.scope.session_id) if opening else ()
    known = known_entities(reader, batch.scope.session_id, now=now)
    prepared: dict[int, Prepared] = {}
    for index, (message, verdict) in enumerate(zip(batch.messages, verdicts, strict=True)):
        if verdict.fate not in ("new", "edit"):
            continue
        stored = verdict.stored
        id_ = stored.id if stored is not None else message.id or runtime.new_id()
        at = message.at or (stored.at if stored is not None else now)
        before = [t for t in turns if t.id != id_][-BEFORE:]
        prepared[index] = prepare_message(
            runtime, message, vectors, id=id_, at=at, zone=zone, before=before, earlier=earlier, known=known,
            batch=batch,
        )  # fmt: skip
        turns.append(_turn(turns, id_, message))
    return prepared


def prepare_message(
    runtime: Runtime,
    message: Incoming,
    vectors: Vectors,
    *,
    id: str,
    at: datetime,
    zone: tzinfo,
    before: Sequence[Turn],
    known: Known,
    batch: Batch,
    earlier: Sequence[Turn] = (),
) -> Prepared:
    config = runtime.config
    local = at.astimezone(zone)
    utterance = Utterance(
        message_id=id,
        role=message.role,
        content=message.content,
        at=local,
        name=message.name,
        me=batch.me,
        doc_type=batch.doc_type,
        before=tuple(before),
        earlier=tuple(earlier),
        known_entities=known.elsewhere,
        known_kinds=known.kinds,
        said_earlier=known.said,
        people=known.people,
        told_of=known.told_of,
        things=known.things,
    )
    units = message_units(
        message.content,
        speaker=message.name or message.role,
        on=local.date(),
        named=message.name is not None,
        config=config,
    )
    vectors.expect([u.embed for u in units])
    analysis = analyse(
        utterance,
        lexicon=runtime.lexicon,
        fact_threshold=config.fact_threshold,
        identifier_patterns=config.identifier_patterns,
        confirmations_from_tools=config.confirmations_from_tools,
        clause_vectors=vectors.for_gate,
        pieces=cut_of(runtime),
    )
    again = tuple(came_back(analysis.anchors, utterance, known.mentions))
    analysis = replace(analysis, candidates=(*analysis.candidates, *again)) if again else analysis
    extra = len(analysis.candidates) - _MOST_CANDIDATES
    if extra > 0:
        analysis = replace(
            analysis,
            candidates=analysis.candidates[:_MOST_CANDIDATES],
            skipped=(*analysis.skipped, f"0-{len(message.content)}:{extra} statements beyond {_MOST_CANDIDATES}"),
        )
    for_model = runtime.extractor is not None and bool(gated(runtime, utterance, vectors))
    return Prepared(
        message=message, id=id, analysis=analysis, units=units, at=at, for_model=for_model,
        other=speaker_key(utterance)[1] is not None,
        meanings=meanings(analysis.anchors, message.content, known.earlier),
    )  # fmt: skip


def turns_of(rows: Iterable[MessageRow]) -> list[Turn]:
    """Stored turns as an utterance is read against."""
    turns: list[Turn] = []
    for row in rows:
        turns.append(_turn(turns, row.id, row))
    return turns


def _earlier(reader: Reader, session_id: str | None) -> tuple[Turn, ...]:
    """The last turns of the session that the user left last, oldest first."""
    rows = [r for r in reader.messages(newest_first=True, limit=BEFORE) if r.session_id != (session_id or "")]
    return tuple(turns_of([r for r in rows if r.session_id == rows[0].session_id][::-1]))


def _turn(before: Sequence[Turn], id: str, said: Incoming | MessageRow) -> Turn:
    # Hosts that keep no results of tools name the tools in the answer's metadata.
    from_tool = _rests_on_tool(before, said.role) or (
        said.role == "assistant" and bool(said.metadata.get("tools_used"))
    )
    return Turn(id=id, role=said.role, content=said.content, from_tool=from_tool)


def _rests_on_tool(turns: Sequence[Turn], role: str) -> bool:
    """An answer given right after a tool's result repeats what the tool said."""
    if role != "assistant":
        return role == "tool"
    for turn in reversed(turns):
        if turn.role == "user":
            return False
        if turn.role == "tool":
            return True
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The identifiers that are remembered."""

    elsewhere: tuple[str, ...] = ()
    """Those of other sessions than this one."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    """What each is of, where that is known."""
    people: Callable[[], tuple[Person, ...]] = nobody
    """The relatives and animals of whom something is known."""
    told_of: Callable[[str], bool] = no_name
    """Whether a fact tells of somebody with this name."""
    things: Callable[[], frozenset[str]] = nothing
    """How things of the user's own may be named again."""
    mentions: Callable[[str], bool] = no_name
    """Whether a fact tells of all that a text names."""
    said: Callable[[str], bool] | None = None
    """Whether words of a text were said in an earlier session."""
    earlier: Callable[[], tuple[str, ...]] = tuple
    """The turns of earlier sessions, newest first."""


def known_entities(reader: Reader, session_id: str | None, *, now: datetime | None = None) -> Known:
    """Identifiers remembered of the user, the newest; and, as of ``now``, the people that facts tell of."""
    facts = reader.facts(slots=[("user", r) for r in _IDENTIFIER_RELATIONS], newest_first=True, limit=_MOST_ENTITIES)
    current = cache(lambda: _current(reader, now))
    earlier: Callable[[], tuple[str, ...]] = tuple
    if now is not None:
        earlier = cache(partial(_turns_earlier, reader, session_id, now))
    return Known(
        elsewhere=tuple(dict.fromkeys(f.object for f in facts if f.session_id != session_id)),
        kinds={f.object: f.relation for f in reversed(facts) if f.relation != "identifier"},
        people=nobody if now is None else cache(lambda: known_people(current(), default_lexicon())),
        told_of=no_name if now is None else lambda name: any(holds_word(f.text, name) for f in current()),
        things=nothing if now is None else cache(lambda: known_things(current(), default_lexicon())),
        mentions=no_name if now is None else lambda words: told_in((f.text for f in current()), words),
        said=None if now is None else _said_earlier(earlier),
        earlier=earlier,
    )


def _turns_earlier(reader: Reader, session_id: str | None, now: datetime) -> tuple[str, ...]:
    """What was said in other sessions, or in this one before a long pause, newest first."""
    rows = reader.messages(newest_first=True, limit=_MOST_SAID)
    earlier = [r for r in rows if r.session_id != (session_id or "") or now - r.at > _LONG_PAUSE]
    return tuple(r.content[:_LONGEST_SAID] for r in earlier)


def _said_earlier(earlier: Callable[[], tuple[str, ...]]) -> Callable[[str], bool]:
    """Whether a text shares words with one of these."""

    @cache
    def said() -> frozenset[str] | None:
        turns = earlier()
        return frozenset(t for turn in turns for t in terms(turn)) if turns else None

    def shares(text: str) -> bool:
        known = said()
        if known is None or not text:
            return known is not None
        return any(t in known for t in whole(terms(text)))

    return shares


def _current(reader: Reader, now: datetime | None) -> Sequence[Fact]:
    return reader.facts(current_at=now, newest_first=True, limit=_MOST_FACTS)
