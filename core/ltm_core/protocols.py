"""What a host may bring along: protocols that the core calls and never implements for a framework."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True, kw_only=True)
class GatedClause:
    """One statement of the user that may support a fact: the gate let it through or was in doubt."""

    id: str
    """``c1``, ``c2``, … in the order in which they were said; unique in one request."""
    text: str
    """Exactly as it was said; masked when ``redact_pii`` is on."""
    message_id: str
    speaker: str
    """``user``, or the name of another speaker in a group chat."""
    on: date
    """The day it was said, in the user's zone."""
    language: str
    """``zh``, ``en``, ``ja`` or ``other``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionRequest:
    """What an extractor reads: the gated statements of one turn, or of a few turns stored together."""

    clauses: tuple[GatedClause, ...]
    people: tuple[str, ...] = ()
    """Relatives and animals that are known already (``daughter:Lily``), so that a name can be placed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedFact:
    """One fact as a model words it. Nothing in it is believed before it was checked against the clauses."""

    object: str
    """Copied from the statement."""
    subject: str = "user"
    relation: str = ""
    """A relation of the lexicon, another short verb, or "" when the model names none."""
    quote: str = ""
    """Words of a statement that hold the object; "" when the model quotes nothing."""
    clause: str = ""
    """`GatedClause.id`; unknown ids are ignored."""
    negated: bool = False


@runtime_checkable
class Extractor(Protocol):
    """Reads statements and proposes facts; it decides nothing.

    Called outside of any transaction, from one thread at a time unless ``work`` is called from several.
    """

    @property
    def name(self) -> str:
        """Which model, for the reasons of facts; no key, no address."""
        ...

    def extract(self, request: ExtractionRequest) -> Sequence[ExtractedFact]:
        """The facts that the statements state, possibly none.

        Raises UnavailableError when the model cannot be reached and ExtractionError when its answer cannot be
        used; neither message holds words of the request or of the answer. Anything else it raises counts as a
        failure too.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryTurn:
    """One turn as a summariser reads it."""

    id: str
    """``t1``, ``t2``, … in the order in which they were said; unique in one request."""
    text: str
    speaker: str
    """``user``, ``assistant``, or a name in group chats."""
    role: str
    """``user`` or ``assistant``."""
    on: date
    """The day it was said, where the user was."""
    language: str = "other"
    weight: float = 1.0
    """How near the turn is to the middle of its topic, in [0, 1]; 1 when no vectors were compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRequest:
    """The turns of one topic of one user's period."""

    turns: tuple[SummaryTurn, ...]
    language: str
    """``zh``, ``en`` or another code: of the summary."""
    begins: date
    ends: date
    """The first and the last day of the period."""
    target_tokens: int = 160
    """About how long the summary may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarySentence:
    """One sentence of a summary as a model words it. Nothing in it is believed before it was checked."""

    text: str
    sources: tuple[str, ...] = ()
    """`SummaryTurn.id`; unknown ids are ignored. Without any, the turns that share its words count."""


@runtime_checkable
class Summarizer(Protocol):
    """Says in short what some turns said; it decides nothing.

    Called outside of any transaction. A sentence with a name, a number or an identifier that its turns do not
    hold is dropped; when nothing is left, the summary is made of the user's own sentences.
    """

    @property
    def name(self) -> str:
        """Which model; no key, no address."""
        ...

    def summarize(self, request: SummaryRequest) -> str | Sequence[SummarySentence]:
        """The summary as text, or sentence by sentence with the turns that each rests on.

        Raises UnavailableError when the model cannot be reached and ExtractionError when its answer cannot be
        used; neither message holds words of the request or of the answer. Anything else it raises counts as a
        failure too.
        """
        ...


__all__ = [
    "ExtractedFact",
    "ExtractionRequest",
    "Extractor",
    "GatedClause",
    "Summarizer",
    "SummaryRequest",
    "SummarySentence",
    "SummaryTurn",
]
