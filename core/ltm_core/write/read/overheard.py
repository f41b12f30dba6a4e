"""Which clauses tell of another's life, or only quote, by the net that reads word by word (`write.learned.whose`),
where no rule says whose life it is. Pure.

A message is read as a whole, if it is short, and sentence by sentence: "She married a fisherman" is another's only
because the sentence before it names a friend, and "I'm still renting" is the user's own whoever was named before it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ltm_core.write.learned.layers import Cut
from ltm_core.write.learned.whose import MOST_PIECES, OTHERS, QUOTED, load_whose
from ltm_core.write.plan import Utterance
from ltm_core.write.read.named_others import was_told_of
from ltm_core.write.read.people import Subject
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon

_SURE = {OTHERS: 0.95, QUOTED: 0.85}
"""Probability, of one of the two readings, from which a clause is taken for it. From .85 to .95 as much of unread
messages about others is left out, and one in a hundred facts of unread English stories less is lost."""
_LIKELY = 0.25
"""The same for the other reading, which must not speak against it."""
_OWN_PEOPLE = ("kin", "pet", "pronoun")
"""Subjects that a rule reads as the user's own."""
_LONGEST = 400
"""Characters beyond which a message has more pieces than are read."""
_NAME = re.compile(r"\b[A-Z][a-z]+")


@dataclass(slots=True)
class Overheard:
    """One message, read when it is first asked about."""

    utterance: Utterance
    reads: Sequence[Read]
    lexicon: Lexicon
    cut: Cut
    _seen: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    _sentences: dict[int, list[Read]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for r in self.reads:
            self._sentences.setdefault(r.clause.sentence, []).append(r)

    def is_others(self, r: Read, subject: Subject) -> bool:
        """Whether the clause tells of the life of somebody who is none of the user's own."""
        return subject.kind not in _OWN_PEOPLE and self._is(r, OTHERS) and not self._names_known(r)

    def is_quoted(self, r: Read) -> bool:
        """Whether the clause is part of what is only quoted; what puts something right is the user's own word."""
        corrects = any(c["correction"] for c in self._sentences[r.clause.sentence])
        return not corrects and self._is(r, QUOTED)

    def _is(self, r: Read, what: int) -> bool:
        around, is_whole = self._around(r)
        one, two = (float(self._read(t)[what]) for t in (self._sentence(r), around))
        return max(one, two) >= _SURE[what] and min(one, two) >= (_LIKELY if is_whole else _SURE[what])

    def _read(self, text: str) -> NDArray[np.float32]:
        if text not in self._seen:
            self._seen[text] = load_whose().probabilities(self.cut(text))
        return self._seen[text]

    def _sentence(self, r: Read) -> str:
        return self._from(r, r.clause.sentence)

    def _around(self, r: Read) -> tuple[str, bool]:
        """The message, or the sentence with the one before it if that is too long; and whether it is the message."""
        content = self.utterance.content
        if len(content) <= _LONGEST and len(self.cut(content).ids) <= MOST_PIECES:
            return content, True
        return self._from(r, r.clause.sentence - 1), False

    def _from(self, r: Read, first: int) -> str:
        """The words from the sentence ``first``, if there is one of that number, to the end of the clause's own."""
        own = self._sentences[r.clause.sentence]
        begin = self._sentences.get(first, own)[0].clause.start
        return self.utterance.content[begin : own[-1].clause.end]

    def _names_known(self, r: Read) -> bool:
        """Whether the sentence begins a clause with, or has between others, the name of somebody told of before."""
        pattern = self.lexicon.rules(r.clause.language).parts.get("another_named")
        clauses = [c.clause.norm for c in self._sentences[r.clause.sentence]]
        begun = [m["name"] for m in (pattern.match(n.lstrip()) for n in clauses) if m] if pattern is not None else []
        given = [w for w in _NAME.findall(self._sentence(r)) if w.lower() in self.lexicon.sets["given_names"]]
        return any(was_told_of(n, self.utterance, self.lexicon, r.clause.language) for n in (*begun, *given))
