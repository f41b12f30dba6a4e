"""Rows to values and back: which column or envelope key each field lives in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from ltm_core.store.base import ACT_CODES, IMPORTANCE_CODES, OWNER_CODES, ROLE_CODES, MessageRow, SlotRow, TurnMark
from ltm_core.store.keyed import Keyed
from ltm_core.store.sql.codec import Codec
from ltm_core.store.sql.conditions import REPLACED, holds
from ltm_core.store.sql.readable import readable
from ltm_core.store.times import from_us, to_us
from ltm_core.types import AssertedBy, Evidence, Fact, FactKind, Modality, Session

K = TypeVar("K")

FACT_KINDS: Mapping[FactKind, int] = {"fact": 0, "preference": 1, "solution": 2, "procedure": 3, "status": 4}
MODALITIES: Mapping[Modality, int] = {"asserted": 0, "habitual": 1, "temporary": 2, "past": 3, "planned": 4}
ASSERTERS: Mapping[AssertedBy, int] = {"user": 0, "app": 1, "assistant_confirmed": 2}


def _names(codes: Mapping[K, int]) -> tuple[K, ...]:
    return tuple(sorted(codes, key=codes.__getitem__))


OWNERS, IMPORTANCES = _names(OWNER_CODES), _names(IMPORTANCE_CODES)
_ROLES, _ACTS = _names(ROLE_CODES), _names(ACT_CODES)
_KINDS, _MODALITIES, _ASSERTERS = _names(FACT_KINDS), _names(MODALITIES), _names(ASSERTERS)

ITEM_MASK = 2**32 - 1


def _filled(**values: Any) -> dict[str, Any]:
    """Only what says something, so that envelopes stay small."""
    return {k: v for k, v in values.items() if v is not None and v != {} and v != ()}


# messages ---------------------------------------------------------------------------------------------
MESSAGE_READ = (
    "id, sequence, at, timezone, recorded_at, role, act, importance, language, caller_id, in_window, "
    "expires_at, archived_at, redacted_at, body, content_mac, retired_at, access_count, last_access_at"
)
MESSAGE_WRITE = (
    "id_mac, agent, task, app, at, timezone, recorded_at, role, act, importance, language, caller_id, in_window, "
    "reply_to, doc_type, expires_at, archived_at, redacted_at, retired_at, content_mac, body"
)


def message_values(row: MessageRow, id: int, keyed: Keyed, codec: Codec) -> tuple[Any, ...]:
    """Values of `MESSAGE_WRITE`."""
    label = keyed.label
    body = _filled(
        id=row.id,
        session=row.session_id,
        text=row.content,
        name=row.name,
        reply_to=row.reply_to,
        agent=row.agent_id,
        task=row.task_id,
        app=row.app_id,
        doc_type=row.doc_type,
        meta=dict(row.metadata),
    )
    return (
        keyed.mac(row.id),
        label(row.agent_id),
        label(row.task_id),
        label(row.app_id),
        to_us(row.at),
        row.timezone,
        to_us(row.recorded_at),
        ROLE_CODES[row.role],
        ACT_CODES[row.act],
        IMPORTANCE_CODES[row.importance],
        row.language,
        row.has_caller_id,
        row.in_window,
        label(row.reply_to),
        label(row.doc_type) or None,
        to_us(row.expires_at),
        to_us(row.archived_at),
        to_us(row.redacted_at),
        to_us(row.retired_at),
        row.content_mac or keyed.content(row.content),
        codec.encode(body, ("messages", id)),
    )


@readable
def message_from(row: Sequence[Any], codec: Codec) -> MessageRow:
    """The turn of a row of `MESSAGE_READ`."""
    body = codec.decode(row[14], ("messages", row[0]))
    return MessageRow(
        item=row[0] & ITEM_MASK,
        id=body["id"],
        has_caller_id=bool(row[9]),
        session_id=body["session"],
        sequence=row[1],
        role=_ROLES[row[5]],
        name=body.get("name"),
        content=body["text"],
        at=from_us(row[2]),
        timezone=row[3],
        recorded_at=from_us(row[4]),
        act=_ACTS[row[6]],
        language=row[8],
        importance=IMPORTANCES[row[7]],
        reply_to=body.get("reply_to"),
        agent_id=body.get("agent"),
        task_id=body.get("task"),
        app_id=body.get("app"),
        doc_type=body.get("doc_type"),
        expires_at=from_us(row[11]),
        archived_at=from_us(row[12]),
        in_window=bool(row[10]),
        redacted_at=from_us(row[13]),
        retired_at=from_us(row[16]),
        metadata=body.get("meta", {}),
        content_mac=row[15],
        access_count=row[17],
        last_access_at=from_us(row[18]),
    )


def mark_from(row: Sequence[Any]) -> TurnMark:
    """A place of `marks`: id, minus the id where a file holds it, or 0; role, caller_id, content_mac."""
    id, is_cold = abs(row[0]), row[0] < 0
    return TurnMark(
        item=id & ITEM_MASK, is_cold=is_cold, role=_ROLES[row[1]], has_caller_id=bool(row[2]), content_mac=row[3]
    )


SLOT_READ = "session, name, set_at, expires_at, body"


@readable
def slot_from(row: Sequence[Any], codec: Codec) -> SlotRow:
    """The slot of a row of `SLOT_READ`."""
    body = codec.decode(row[4], ("slots", row[0], row[1]))
    return SlotRow(name=body["name"], value=body["value"], set_at=from_us(row[2]), expires_at=from_us(row[3]))


# sessions ---------------------------------------------------------------------------------------------
SESSION_READ = "started_at, last_at, ended_at, message_count, body, id"


@readable
def session_from(row: Sequence[Any], codec: Codec) -> Session:
    """The session of a row of `SESSION_READ`."""
    return Session(
        id=codec.decode(row[4], ("sessions", row[5]))["id"],
        started_at=from_us(row[0]),
        last_at=from_us(row[1]),
        ended_at=from_us(row[2]),
        message_count=row[3],
    )


# facts ------------------------------------------------------------------------------------------------
FACT_READ = (
    "id, kind, modality, asserted_by, importance, is_positive, is_about_user, confidence, valid_from, valid_to, "
    "recorded_at, retracted_at, suppressed_at, expires_at, last_seen_at, support_count, access_count, body, "
    f"CASE WHEN superseded_by IS NULL THEN NULL ELSE (SELECT s.expires_at {REPLACED}) END"
)
FACT_WRITE = (
    "id_mac, slot, subject, relation, object, session, agent, task, app, kind, modality, asserted_by, "
    "importance, is_positive, is_about_user, confidence, valid_from, valid_to, recorded_at, retracted_at, "
    "suppressed_at, expires_at, last_seen_at, support_count, access_count, superseded_by, doc_type, body"
)
TIMES = ("valid_from", "valid_to", "retracted_at", "suppressed_at", "expires_at")
"""The instants that decide when a fact holds; their earlier values are kept in ``fact_versions``."""


def fact_values(fact: Fact, id: int, keyed: Keyed, codec: Codec) -> tuple[Any, ...]:
    """Values of `FACT_WRITE`. Evidence lives in its own table."""
    label = keyed.label
    body = _filled(
        id=fact.id,
        session=fact.session_id,
        agent=fact.agent_id,
        task=fact.task_id,
        app=fact.app_id,
        subject=fact.subject,
        relation=fact.relation,
        object=fact.object,
        normalized=fact.object_normalized,
        text=fact.text,
        speaker=fact.speaker,
        superseded_by=fact.superseded_by,
        doc_type=fact.doc_type,
        tags=fact.tags,
        meta=dict(fact.metadata),
        rule=fact.rule,
    )
    return (
        keyed.mac(fact.id),
        keyed.pair(fact.subject, fact.relation),
        keyed.folded(fact.subject),
        keyed.folded(fact.relation),
        keyed.folded(fact.object_normalized),
        label(fact.session_id),
        label(fact.agent_id),
        label(fact.task_id),
        label(fact.app_id),
        FACT_KINDS[fact.kind],
        MODALITIES[fact.modality],
        ASSERTERS[fact.asserted_by],
        IMPORTANCE_CODES[fact.importance],
        fact.is_positive,
        fact.is_about_user,
        fact.confidence,
        to_us(fact.valid_from),
        to_us(fact.valid_to),
        to_us(fact.recorded_at),
        to_us(fact.retracted_at),
        to_us(fact.suppressed_at),
        to_us(fact.expires_at),
        to_us(fact.last_seen_at),
        fact.support_count,
        fact.access_count,
        None if fact.superseded_by is None else keyed.mac(fact.superseded_by),
        label(fact.doc_type) or None,
        codec.encode(body, ("facts", id)),
    )


@readable
def fact_from(
    row: Sequence[Any],
    codec: Codec,
    *,
    user_id: str,
    told: tuple[tuple[Evidence, ...], tuple[str, ...]],
    earlier: Mapping[str, Any] | None,
    moment: int,
) -> Fact:
    """The fact of a row of `FACT_READ`, with the ``earlier`` times in place of the present ones when given;
    current as of ``moment`` (microseconds). ``told``: spans of messages, and the messages that support it."""
    body = codec.decode(row[17], ("facts", row[0]))
    times = earlier or {
        "valid_from": row[8],
        "valid_to": row[9],
        "retracted_at": row[11],
        "suppressed_at": row[12],
        "expires_at": row[13],
        "superseded_by": body.get("superseded_by"),
    }
    replaced_until = row[18]
    if replaced_until is not None and replaced_until <= moment and times.get("superseded_by") is not None:
        times = {**times, "valid_to": None, "superseded_by": None}
    return Fact(
        id=body["id"],
        user_id=user_id,
        session_id=body.get("session"),
        agent_id=body.get("agent"),
        task_id=body.get("task"),
        app_id=body.get("app"),
        subject=body["subject"],
        relation=body["relation"],
        object=body["object"],
        object_normalized=body["normalized"],
        text=body["text"],
        kind=_KINDS[row[1]],
        is_positive=bool(row[5]),
        is_about_user=bool(row[6]),
        modality=_MODALITIES[row[2]],
        speaker=body.get("speaker"),
        asserted_by=_ASSERTERS[row[3]],
        confidence=row[7],
        importance=IMPORTANCES[row[4]],
        valid_from=from_us(times["valid_from"]),
        valid_to=from_us(times.get("valid_to")),
        recorded_at=from_us(row[10]),
        retracted_at=from_us(times.get("retracted_at")),
        suppressed_at=from_us(times.get("suppressed_at")),
        expires_at=from_us(times.get("expires_at")),
        last_seen_at=from_us(row[14]),
        support_count=row[15],
        access_count=row[16],
        superseded_by=times.get("superseded_by"),
        evidence=told[0],
        source_message_ids=told[1],
        doc_type=body.get("doc_type"),
        tags=tuple(body.get("tags", ())),
        metadata=body.get("meta", {}),
        rule=body["rule"],
        is_current=holds(times, moment),
    )


def forgotten(id: str, user_id: str, at: datetime) -> Fact:
    """Stands in the change feed for a fact that is no longer stored: its id and nothing else."""
    return Fact(
        id=id,
        user_id=user_id,
        subject="",
        relation="",
        object="",
        object_normalized="",
        text="",
        valid_from=at,
        recorded_at=at,
        last_seen_at=at,
        is_current=False,
    )
