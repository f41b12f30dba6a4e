"""What the user asks for in the chat itself: "please forget …", "don't bring … up again"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from ltm_core.keep.archive.files import clean_job
from ltm_core.keep.asked_about import facts_asked_about
from ltm_core.keep.nearest import VectorsOf
from ltm_core.keep.proof import owe
from ltm_core.keep.sources import Trace, clean_facts, overwrite_sources, phrases_of, trace
from ltm_core.types import Fact, FactChange
from ltm_core.write.incoming.statuses import fact_key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ltm_core.config import Config
    from ltm_core.store.base import Reader, Writer
    from ltm_core.write.plan import ForgetRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What one request of the user names, as of one moment of the store."""

    request: ForgetRequest
    facts: tuple[Fact, ...]
    traced: Trace


def words_meant(requests: Iterable[ForgetRequest]) -> list[str]:
    """The words whose meaning is compared with that of facts: those of requests for silence, as nothing is erased for
    being near."""
    asked = [r.topic for r in requests if r.mode == "suppress" and r.topic is not None]
    topics = [t for topic in asked for t in (topic, *topic.parts)]
    return [t.meant for t in topics if t.meant]


def targets_of(
    reader: Reader, requests: Iterable[ForgetRequest], known: Mapping[str, NDArray[np.float32]]
) -> tuple[Target, ...]:
    """What the requests name, in this moment of the store; ``known`` are the vectors of `words_meant`."""
    found = []
    for request in requests:
        facts = tuple(facts_asked_about(tuple(reader.facts()), request, _vectors(reader, known)))
        phrases = phrases_of(facts) if request.mode == "erase" else ()
        found.append(Target(request=request, facts=facts, traced=trace(reader, phrases)))
    return tuple(found)


def _vectors(reader: Reader, known: Mapping[str, NDArray[np.float32]]) -> VectorsOf:
    def of(words: str, facts: Sequence[Fact]) -> tuple[NDArray[np.float32], NDArray[np.float32]] | None:
        import numpy as np

        asked = known.get(words)
        stored = reader.fact_vectors([f.id for f in facts]) if asked is not None else {}
        if asked is None or not stored:
            return None
        # What has no vector yet is near to nothing.
        told = np.stack([stored.get(f.id, np.zeros_like(asked)) for f in facts])
        return asked, told

    return of


def fulfil_requests(
    writer: Writer, targets: Iterable[Target], *, config: Config, now: datetime
) -> tuple[FactChange, ...]:
    """What the user asked in the chat to be forgotten is gone with its sources; what is not to be brought up
    again is suppressed. Nothing else changes."""
    changes = []
    for target in targets:
        present = [f for f in (writer.fact(f.id) for f in target.facts) if f is not None]
        if target.request.mode == "suppress":
            for fact in present:
                if fact.suppressed_at is None:
                    quiet = replace(fact, suppressed_at=now, is_current=False)
                    writer.update_fact(quiet)
                    changes.append(
                        writer.log_change(
                            FactChange(op="suppress", fact=quiet, previous=fact, reason="asked in the chat", at=now)
                        )
                    )
            continue
        owe(writer, now=now)
        overwrite_sources(writer, present, target.traced, sources="redact", config=config, now=now)
        changes += delete_facts(writer, present, reason="asked in the chat", now=now)
        clean_facts(writer, target.traced)
        if target.traced.phrases and writer.cold_files():
            # Files are cleaned after the transaction; should this process die before, maintain() does it.
            writer.add_job(clean_job(writer, target.traced.phrases, now=now))
    return tuple(changes)


def delete_facts(writer: Writer, facts: Sequence[Fact], *, reason: str, now: datetime) -> list[FactChange]:
    """The rows are gone; the feed says that something went, not what. A model that reads older words later does
    not bring them back, even where the words were kept."""
    writer.delete_facts([f.id for f in facts])
    # An old export or a backup would bring them back.
    if facts:
        said = [("said", fact_key(f.subject, f.object_normalized or f.object)) for f in facts]
        writer.add_tombstones([*(("fact", f.id) for f in facts), *said], now=now)
    return [writer.log_change(FactChange(op="erase", fact=blanked(f), reason=reason, at=now)) for f in facts]


def blanked(fact: Fact) -> Fact:
    """The fact without anything it said."""
    return replace(
        fact,
        subject="",
        relation="",
        object="",
        object_normalized="",
        text="",
        speaker=None,
        evidence=(),
        source_message_ids=(),
        tags=(),
        metadata={},
        is_current=False,
    )
