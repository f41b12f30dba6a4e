"""What the write path passes from room to room: an utterance in, an analysis out, decisions at the end.

    Utterance --analyse--> Analysis(anchors, candidates, requests) --resolve(current facts)--> Decision, …

All of it is pure: no clock, no ids, no store; the caller injects them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypeAlias

from ltm_core.types import (
    Act,
    Anchor,
    AssertedBy,
    ChangeOp,
    Evidence,
    Fact,
    FactKind,
    Importance,
    Modality,
    Role,
)

if TYPE_CHECKING:
    from ltm_core.write.requests.topic_zh import Topic

Move: TypeAlias = Literal["state", "change", "correct", "cease", "revert"]
"""What the words do to what was known: state it, change it, correct a wrong belief, end it, go back to it."""
Reach: TypeAlias = Literal["slot", "subject", "class", "circle"]
"""Which current facts a candidate may touch: its own (subject, relation), any of its subject, those whose
object belongs to a named class of things ("fruit"), or those of any of the speaker's people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A turn already said in this session, newest last in `Utterance.before`."""

    id: str
    role: Role
    content: str
    from_tool: bool = False
    """True when the answer rests on a tool or web result, or quotes one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """One of the user's own people and animals, of whom something is known."""

    key: str
    """The subject of the facts."""
    name: str = ""


def nobody() -> tuple[Person, ...]:
    """Nobody is known."""
    return ()


def no_name(_: str) -> bool:
    """Of nobody with this name is anything known."""
    return False


def any_name(_: str) -> bool:
    """Whoever is named is one of the user's own: the words were given as a fact."""
    return True


def nothing() -> frozenset[str]:
    """No thing is known."""
    return frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """One message to analyse, with what it needs to be understood."""

    message_id: str
    role: Role
    content: str
    at: datetime
    """Aware, in the user's zone: relative words resolve in this day."""
    name: str | None = None
    """Speaker's name, when the host gives one."""
    me: str | None = None
    """The account owner's name in a group chat; other names are other speakers."""
    doc_type: str | None = None
    before: tuple[Turn, ...] = ()
    earlier: tuple[Turn, ...] = ()
    """The last turns of the session before, when the assistant has said nothing yet in this one."""
    known_entities: tuple[str, ...] = ()
    """Identifiers and names remembered from earlier sessions (for cross-session references)."""
    known_kinds: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What each remembered identifier is of (order, ticket, …), of any session: later the word is left out."""
    said_earlier: Callable[[str], bool] | None = field(default=None, hash=False, compare=False)
    """Whether words of the text were said in an earlier session; for an empty text, whether there was one at all.
    None when that is not known."""
    people: Callable[[], tuple[Person, ...]] = field(default=nobody, hash=False, compare=False)
    """The relatives and animals of whom something is known; asked only when the words may mean one of them."""
    told_of: Callable[[str], bool] = field(default=no_name, hash=False, compare=False)
    """Whether what is known tells of somebody with this name; asked only when one begins a clause."""
    things: Callable[[], frozenset[str]] = field(default=nothing, hash=False, compare=False)
    """How things of the user's own may be named again ("van"); asked only when "the" begins a clause."""

    @property
    def begins(self) -> bool:
        """Whether the assistant has said nothing yet in this session: what it said was said in another one."""
        return all(t.role != "assistant" for t in self.before)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A fact that the words propose, before it meets what is known."""

    subject: str
    relation: str
    object: str
    object_normalized: str
    text: str
    kind: FactKind = "fact"
    is_positive: bool = True
    is_about_user: bool = True
    modality: Modality = "asserted"
    speaker: str | None = None
    asserted_by: AssertedBy = "user"
    confidence: float = 1.0
    relation_confidence: float = 1.0
    """How sure the relation is; below the threshold the fact is kept but never supersedes."""
    importance: Importance = "medium"
    single_valued: bool = False
    move: Move = "state"
    doubted: bool = False
    """For likely news: a rule speaks against it, so that only what the nets are sure of ends."""
    reach: Reach = "slot"
    classes: tuple[str, ...] = ()
    wrong_object: str | None = None
    """For a correction: the value that was never true, when the words name it."""
    instead_of: tuple[str, ...] = ()
    """Ids of facts whose place it takes, under whatever relation: what had replaced a value that holds again."""
    valid_from: datetime
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    said_at: datetime | None = None
    """When a present-tense statement was made: it is true then, whenever it began. None: ``valid_from``."""
    things: tuple[str, ...] = ()
    """For an ending: other words for what is given up, each of which names it ("跑外卖" of "外卖不跑了").
    For a stage: the whole sentence."""
    loose: tuple[tuple[str, str], ...] = ()
    """For an ending: verb and thing that name the one fact in which both stand ("课早就不上了")."""
    nothing: tuple[str, str] | None = None
    """For an ending: verb and noun of what is not done at all any more ("啥也不养")."""
    cues: frozenset[str] = frozenset()
    """For a sentence that is weighed: what the rules noticed of it (`write.endings.traits`)."""
    evidence: tuple[Evidence, ...] = ()
    tags: tuple[str, ...] = ()
    rule: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """One word of a topic as facts may tell it: "salary" is told with the relation ``income``, too."""

    terms: frozenset[str] = frozenset()
    """Terms of which any says the word."""
    said: str = ""
    """An expression for other ways to say it."""
    relations: frozenset[str] = frozenset()
    """Relations whose facts tell it, whatever their words."""


Reading: TypeAlias = "tuple[tuple[Named, ...], ...]"
"""One way to understand a topic: it is told by a fact that tells every word of any row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetRequest:
    """The user asked in the chat to forget, or not to be reminded of, what ``target`` names."""

    target: str
    mode: Literal["erase", "suppress"]
    relations: tuple[str, ...] = ()
    """Relations that ``target`` names ("my address"), when it names any."""
    topic: Topic | None = None
    """The other names under which facts may tell of it, where they are known."""
    readings: tuple[Reading, ...] = ()
    """What the words mean where no fact has them all; the first that names anything counts."""
    person: str = ""
    """The relative that ``target`` is, if it is one ("ex_husband")."""
    anyones: bool = False
    """Whether the words do not say whose it is ("the pregnancy", "her illness"): it may be a relative's."""
    evidence: Evidence
    beside: tuple[int, ...] = ()
    """Where the other clauses begin that belong to the request and state nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """What one utterance asks of memory."""

    act: Act
    language: str
    anchors: tuple[Anchor, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    news: tuple[Candidate, ...] = ()
    """Sentences that may end what is known; they count only beside the store (`write.endings.likely_news`)."""
    requests: tuple[ForgetRequest, ...] = ()
    skipped: tuple[str, ...] = ()
    """Per clause that looked like a fact and was not kept: "start-end:rule". No words."""
    importance: Importance = "low"
    """Of the message itself, in episodic memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One change to make. ``fact`` is the row to write as it must be afterwards; ``previous`` likewise."""

    op: ChangeOp
    fact: Fact
    previous: Fact | None = None
    reason: str = ""
