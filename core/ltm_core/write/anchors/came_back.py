"""What the speaker comes back to in a later conversation, and what came of it: "remember the rash I mentioned? All
cleared up". That he does so tells that it matters to him: it is kept in his words. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ltm_core.types import Anchor, Evidence
from ltm_core.write.anchors.references import KNOWN
from ltm_core.write.plan import Candidate, Utterance
from ltm_core.write.read.found import Found, inside, overlap
from ltm_core.write.read.people import speaker_key
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.norm import fold, trim

RULE = "came_back"
OUTCOME = "came_of_it"
_SILENT = ("question", "command", "one_off", "plan", "wish", "conditional", "temporary")
"""Cues of clauses that tell nothing that came of a thing."""
_LONGEST = 60
"""Characters of a clause that only says what came of it."""
_LEAST = 2
"""Words, in Chinese characters, of such a clause."""
_MOST_WORDS, _MOST_CHARACTERS = 5, 14
"""Words of an English name, characters of a Chinese one, of a thing that is come back to."""
_CONFIDENCE = 0.5


def came_back(anchors: Sequence[Anchor], utterance: Utterance, told: Callable[[str], bool]) -> Iterator[Candidate]:
    """What the references of the message name, unless an identifier is meant or ``told`` says that it is known."""
    for a in anchors:
        if a.kind == "cross_session_reference" and a.reason != KNOWN and _is_name(a.text) and not told(a.text):
            words = utterance.content[a.evidence.start : a.evidence.end]
            yield _kept(a.text, trim(words) if a.text in words else a.text, a.evidence, utterance, RULE)


def _is_name(text: str) -> bool:
    """Whether the words are short enough to name a thing: a learned reference may take a whole clause for one."""
    return len(text.split()) <= _MOST_WORDS if text.isascii() else len(text) <= _MOST_CHARACTERS


def came_of_it(utterance: Utterance, reads: Sequence[Read], references: Sequence[Evidence], found: Found) -> None:
    """What the clauses behind a reference say became of the thing is found, where nothing else was read in them."""
    first = min(e.start for e in references)
    for r in reads:
        evidence = r.evidence(utterance.message_id)
        if r.clause.start <= first or overlap((evidence,), references) or not _tells(r):
            continue
        if not any(inside(c, evidence) for c in found.candidates):
            words = trim(r.clause.text)
            found.candidates.append(_kept(words, words, evidence, utterance, OUTCOME))


def _tells(r: Read) -> bool:
    """Whether a clause may say what came of a thing."""
    if r.veto not in ("", "feedback") or any(r[w] for w in _SILENT) or len(r.clause.text) > _LONGEST:
        return False
    if r.clause.norm.rstrip().endswith("?"):
        return False
    words = r.clause.norm.split() if r.clause.language == "en" else r.clause.norm
    return r.clause.language in ("en", "zh") and len(words) >= _LEAST


def _kept(thing: str, words: str, evidence: Evidence, utterance: Utterance, rule: str) -> Candidate:
    me, speaker = speaker_key(utterance)
    return Candidate(
        subject=me,
        relation="about",
        object=thing,
        object_normalized=fold(thing),
        text=words,
        is_about_user=me == "user",
        speaker=speaker,
        confidence=_CONFIDENCE,
        relation_confidence=0.0,
        valid_from=utterance.at,
        said_at=utterance.at,
        evidence=(evidence,),
        rule=rule,
    )
