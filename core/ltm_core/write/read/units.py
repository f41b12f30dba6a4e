"""The sentences of a message as the learned models see them: their clauses together, without those that no rule lets
pass. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ltm_core.types import Evidence
from ltm_core.write.known.news import Sentence, cue_array
from ltm_core.write.read.walk import Spoken
from ltm_core.write.words.load import default_lexicon
from ltm_core.write.words.norm import trim

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_CLAUSES = 5
"""Clauses that are read as one; a longer sentence is read in parts."""
_LANGUAGES = ("en", "zh")
_REPORTS = ("feedback", "complaint")
"""Vetoes of clauses that tell how something went."""
NOT_FOR_GOOD = ("plan", "goal", "one_off", "temporary", "conditional", "question")
"""Cues of clauses that change nothing for good."""


@dataclass(frozen=True, slots=True)
class Unit:
    """The clauses of one sentence that no scope forbids."""

    spoken: tuple[Spoken, ...]
    text: str
    evidence: Evidence

    def sentence(self, vector: NDArray[Any] | None) -> Sentence:
        """What the models see of it."""
        reads = [s.read for s in self.spoken]
        return Sentence(
            text=self.text,
            norm=" ".join(r.clause.norm.strip() for r in reads),
            language=reads[0].clause.language,
            cues=cue_array((r.flags for r in reads), (s.subject.kind for s in self.spoken)),
            vector=vector,
        )


def units(spoken: Sequence[Spoken], content: str, message_id: str) -> Iterator[Unit]:
    """The sentences of a message without their vetoed clauses, but for reports, which may tell what is known to make
    something over ("the fridge is fixed"); a long one in parts."""
    run: list[Spoken] = []
    for s in spoken:
        apart = bool(run) and s.read.clause.sentence != run[-1].read.clause.sentence
        if run and (apart or len(run) == MOST_CLAUSES):
            yield unit_of(run, content, message_id)
            run = []
        if s.read.veto in ("", *_REPORTS) and s.read.clause.language in _LANGUAGES:
            run.append(s)
    if run:
        yield unit_of(run, content, message_id)


def without_plans(unit: Unit, content: str) -> Unit:
    """The sentence without its clauses that change nothing for good, if others are left: "I quit the choir, I want to
    sleep in"."""
    if _only_these_days(unit):
        return unit
    told = [s for s in unit.spoken if s.read["lasting"] or not any(s.read[w] for w in NOT_FOR_GOOD)]
    if not told or len(told) == len(unit.spoken):
        return unit
    return unit_of(told, content, unit.evidence.message_id)


def _only_these_days(unit: Unit) -> bool:
    """Whether a Chinese sentence begins with a time that is soon over, which holds for all of it ("这两天地铁检修，先
    打车了")."""
    first = unit.spoken[0].read
    brief = default_lexicon().rules("zh").parts["begins_brief"]
    if first.clause.language != "zh" or not first["temporary"] or brief.match(first.clause.norm) is None:
        return False
    return not any(s.read[w] for s in unit.spoken for w in ("lasting", "hard_cessation"))


def unit_of(run: Sequence[Spoken], content: str, message_id: str) -> Unit:
    """The clauses as one, in their words."""
    start, end = run[0].read.clause.start, run[-1].read.clause.end
    text = trim(content[start:end]) if len(run) == 1 else trim("，".join(trim(s.read.clause.text) for s in run))
    if run[0].read.clause.language == "en":
        text = text.replace("，", ", ")
    return Unit(tuple(run), text, Evidence(message_id=message_id, start=start, end=end))


def mean_vector(vectors: Sequence[NDArray[Any] | None]) -> NDArray[Any] | None:
    """The direction of the clauses' vectors together; None unless every clause has one."""
    found = [v for v in vectors if v is not None]
    if not found or len(found) < len(vectors):
        return None
    total: NDArray[Any] = np.stack(found).astype(np.float32).sum(axis=0)
    length = float(np.linalg.norm(total))
    return np.asarray(total / length) if length else None
