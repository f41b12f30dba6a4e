"""The passages of a message that the learned models of what is asked read as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ltm_core.write.anchors.acts import Act, Acts, passage_vector
from ltm_core.write.known.news import Sentence, cue_array
from ltm_core.write.plan import Utterance
from ltm_core.write.read.neighbours import Vectors
from ltm_core.write.read.scopes import Read

LEARNED_LANGUAGES = ("en", "zh")
"""Languages that the models have learned."""
_MOST_CLAUSES = 6
"""Clauses that are read as one; a longer message is read by its sentences and each two that follow each other."""
_MOST_PASSAGES = 24
"""Passages of a message that are looked at: a request stands at its begin, or it is a text that asks nothing."""


def passages(reads: Sequence[Read]) -> Iterator[range]:
    """The whole of a short message; of a longer one its sentences, each by itself and with the next one."""
    if len(reads) <= _MOST_CLAUSES:
        if reads:
            yield range(len(reads))
        return
    sentences: list[range] = []
    start = 0
    for i in range(1, len(reads) + 1):
        if i == len(reads) or reads[i].clause.sentence != reads[start].clause.sentence:
            sentences.append(range(start, i))
            start = i
    for k, one in enumerate(sentences[:_MOST_PASSAGES]):
        if len(one) <= _MOST_CLAUSES:
            yield one
        if k + 1 < len(sentences) and sentences[k + 1].stop - one.start <= _MOST_CLAUSES:
            yield range(one.start, sentences[k + 1].stop)


def asked_in(
    model: Acts[Act], utterance: Utterance, here: Sequence[Read], vectors: Vectors | None
) -> tuple[Act, float, str] | None:
    """What a passage asks by the model, how likely, and the words of the passage; None when nothing is likely enough.
    Vectors are made only of a passage whose words do not speak against everything."""
    plain = _sentence(utterance, here)
    if model.is_unlikely(plain):
        return None
    made = vectors([r.clause.text for r in here]) if vectors is not None else None
    asked = model.asked(plain if made is None else replace(plain, vector=passage_vector(list(made))))
    return None if asked is None else (*asked, plain.text)


def _sentence(utterance: Utterance, here: Sequence[Read]) -> Sentence:
    """What the models see of a passage without its vector."""
    return Sentence(
        text=utterance.content[here[0].clause.start : here[-1].clause.end],
        norm=" ".join(r.clause.norm.strip() for r in here),
        language=here[0].clause.language,
        cues=cue_array((r.flags for r in here), ()),
    )
