"""What a message puts right among what it states itself: wrong values that it names, things that it clears, and of
whom a correction is that names nobody. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ltm_core.write.corrections.admitted import put_again
from ltm_core.write.corrections.repairs import turned_out
from ltm_core.write.corrections.restated import candidate as correction
from ltm_core.write.corrections.restated import restated
from ltm_core.write.corrections.righted import righting
from ltm_core.write.corrections.righted_zh import only_admits
from ltm_core.write.corrections.righted_zh import righting as righting_zh
from ltm_core.write.extract.draft import Draft
from ltm_core.write.extract.extract import LOOSE
from ltm_core.write.plan import Candidate, Turn, Utterance
from ltm_core.write.read.found import Found, inside, is_asked
from ltm_core.write.read.people import Subject
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold


def put_corrections(
    utterance: Utterance,
    reads: Sequence[Read],
    lexicon: Lexicon,
    found: Found,
    *,
    asked: set[int],
    heard: Callable[[Turn], Sequence[Candidate]],
    me: str,
    speaker: str | None,
) -> None:
    """What the sentences say to be wrong: beside a value that a pattern reads as such, else as a candidate before
    those that its words made, which count only when nothing known holds the wrong value; and what they only admit to
    have been wrong."""
    for pair in restated(utterance, reads, lexicon):
        if any(is_asked(e, asked) for e in pair.places):
            continue
        made = [c for c in found.candidates if any(inside(c, e) for e in pair.places)]
        if any(c.rule != "open" and ((c.wrong_object and c.move == "correct") or not c.is_positive) for c in made):
            continue
        right = fold(pair.right)
        known = [c for c in made if c.rule != "open" and c.relation not in LOOSE and c.is_positive]
        twin = next((c for c in known if right in (c.object_normalized, fold(c.object))), None)
        if twin is not None:
            at = found.candidates.index(twin)
            told = replace(twin, wrong_object=fold(pair.wrong), move="correct", reach="subject")
            found.candidates[at] = told
            continue
        new = correction(pair, utterance, me=me, speaker=speaker)
        first = min(e.start for e in pair.places)
        place = next(
            (i for i, c in enumerate(found.candidates) if c.evidence[0].start >= first), len(found.candidates)
        )
        found.candidates.insert(place, new)
    found.candidates = list(put_again(found.candidates, utterance, reads, lexicon, heard=heard))
    righted = righting(utterance, reads, found.candidates, lexicon, asked=asked, me=me, speaker=speaker)
    if righted is None:
        for r in reads:
            if r.clause.language == "zh" and only_admits(r.clause.norm, lexicon):
                found.leave_out(r.evidence(utterance.message_id))
        righted = righting_zh(utterance, reads, found.candidates, lexicon, asked=asked, me=me, speaker=speaker)
    if righted is not None:
        found.candidates.insert(0, righted)


def names_wrong(r: Read, made: Sequence[Candidate]) -> bool:
    """Whether the clause names a value that the message has just said to be wrong."""
    return any(c.wrong_object and c.move == "correct" and c.wrong_object in fold(r.clause.norm) for c in made)


def clears(r: Read, found: Found, lexicon: Lexicon) -> bool:
    """Whether a Chinese clause clears another thing than the one just told to be avoided ("对菠萝过敏，芒果没事"):
    what was known of that one was never so."""
    pattern = lexicon.rules(r.clause.language).parts.get("cleared")
    m = pattern.match(r.clause.norm) if pattern is not None else None
    last = found.candidates[-1] if found.candidates else None
    if m is None or last is None or last.relation not in lexicon.sets["kept_from"] or not last.is_positive:
        return False
    thing = fold(m["thing"])
    if last.wrong_object or thing == last.object_normalized:
        return False
    found.candidates[-1] = replace(last, wrong_object=thing, move="correct")
    return True


def of_whom(
    made: tuple[Draft, ...],
    r: Read,
    subject: Subject,
    me: str,
    told: Callable[[], Sequence[Candidate]],
    lexicon: Lexicon,
) -> tuple[Draft, ...]:
    """The drafts of a Chinese correction that names nobody, about the relative of whom the same was said last
    ("我女朋友属马", "说岔了，属羊")."""
    if r.clause.language != "zh" or not (
        made[0].wrong or (subject.kind == "dropped" and (r["carried_correction"] or turned_out(r, lexicon)))
    ):
        return made
    said = told()
    last = next((c for c in reversed(said) if c.relation == made[0].relation), None)
    if made[0].wrong:  # "我家那只压根不是英短，是美短": of whom that was said
        last = next((c for c in reversed(said) if c.is_positive and c.object_normalized == fold(made[0].wrong)), None)
        if last is not None and last.subject != me and made[0].subject == me:
            bare = replace(made[0], relation=last.relation, confidence=0.85, strong=True)
            return (replace(bare, subject=last.subject, about_user=False),)
        return made
    if last is None or last.subject == me or last.is_about_user or made[0].subject != me:
        return made
    return tuple(replace(d, subject=last.subject, about_user=False) for d in made)
