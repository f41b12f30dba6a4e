"""A bare answer to what the assistant asked the user about himself: "请问您的职业是？" "出纳，在物业公司".

The answer is read as the sentence that it stands for ("我的职业是出纳"), by everything that reads sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ltm_core.types import Anchor, Evidence
from ltm_core.write.plan import Candidate, Turn, Utterance
from ltm_core.write.read.found import statement
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import normal, trim

RULE = "zh.answer"
_MOST_CLAUSES = 3
_LAST = 60
"""Characters at the end of what the assistant said in which its question stands."""


def was_asked(turns: Sequence[Turn]) -> bool:
    """Whether the last turn is a question of the assistant, which the next one answers."""
    last = turns[-1] if turns else None
    return last is not None and last.role == "assistant" and any(mark in last.content for mark in "?？")


@dataclass(frozen=True, slots=True)
class _Question:
    """A question about the user or his own, and the sentences that an answer stands for."""

    says: str
    unit: str
    place: str
    groups: Mapping[str, str]

    def sentence(self, value: str) -> str:
        return self.says.format(v=value + self.unit if value.isdigit() else value, **self.groups)


def _asked(content: str, lexicon: Lexicon) -> _Question | None:
    """What the last words of the assistant ask, if it is something that a word or two can answer."""
    text = normal(content).rstrip()[-_LAST:]
    if not text.endswith("?"):
        return None
    for row in lexicon.rules("zh").questions:
        m = row.regex.search(text)
        if m is not None:
            groups = {k: v or "" for k, v in m.groupdict().items()}
            return _Question(row.says, row.unit, row.place, {"who": "", "who2": "", "attr": "", **groups})
    return None


def answered(
    reads: Sequence[Read], utterance: Utterance, lexicon: Lexicon, *, heard: Callable[[Turn], Sequence[Candidate]]
) -> tuple[list[Candidate], list[Anchor]] | None:
    """What the first clause, and a place told behind it, say in answer to a question; None when they answer none."""
    last = utterance.before[-1] if utterance.before else None
    if last is None or last.role != "assistant" or not reads or len(reads) > _MOST_CLAUSES:
        return None
    parts = lexicon.rules("zh").parts
    first = reads[0]
    question = _asked(last.content, lexicon)
    value = parts["bare_answer"].match(first.clause.norm)
    if question is None or value is None or first["question"]:
        return None
    words = trim(first.clause.text[value.start("object") : value.end("object")])
    told = [question.sentence(words)]
    end = first.clause.end
    place = parts["answer_place"].match(reads[1].clause.norm) if len(reads) > 1 else None
    if question.place and place is not None:
        told.append(question.place.format(v=trim(reads[1].clause.text[place.start("object") : place.end("object")])))
        end = reads[1].clause.end
    evidence = Evidence(message_id=utterance.message_id, start=first.clause.start, end=end)
    said = Turn(id=f"{utterance.message_id}:answer", role="user", content="，".join(told))
    made = [replace(c, evidence=(evidence,)) for c in heard(said) if c.rule != "open"]
    if not made:
        return None
    return made, [statement(made, utterance.content[evidence.start : end], evidence, reason=RULE)]
