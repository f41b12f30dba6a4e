"""A clause that no pattern reads: kept in its own words, or too little to be kept; "X, not Y" without a relation."""

from __future__ import annotations

from dataclasses import replace

from ltm_core.write.extract.draft import Draft
from ltm_core.write.read.people import Subject
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon, Rules
from ltm_core.write.words.norm import trim

_OPEN_CONFIDENCE = 0.3
_LEAST_CONTENT = 3
"""Characters beyond function words, about two words, that a Chinese statement needs to be kept as it is."""
_TOPICS = {
    "residence": "home", "employer_role": "work", "allergy_health": "health", "food_drink": "food",
    "family": "family", "pet": "pets", "schedule_time": "routine", "project": "project",
    "language_tool": "tools", "age_birthday": "about", "name": "about", "other": "about",
}  # fmt: skip


def open_draft(read: Read, subject: Subject, lexicon: Lexicon, topic: tuple[str, float]) -> tuple[Draft, ...]:
    norm, rules = read.clause.norm, lexicon.rules(read.clause.language)
    value = trim(norm[subject.start :]) or trim(norm)
    if not value or lexicon.shared["unfinished"].search(value):
        return ()
    start = norm.find(value, subject.start)
    start = norm.find(value) if start < 0 else start
    contrast = _contrast(value, lexicon) if read["correction"] or read["change"] else None
    over = rules.parts.get("ceased")
    told = trim(norm[subject.rest :])
    ended = over.match(told) if over is not None and read["hard_cessation"] and contrast is None else None
    if ended is not None and trim(ended["object"]):
        thing = trim(ended["object"])
        begin = norm.find(thing, subject.rest)
        return (
            Draft(
                subject=subject.key,
                relation="does",
                object=thing,
                start=begin,
                end=begin + len(thing),
                positive=False,
                move="cease",
                confidence=0.75,
                strong=False,
                rule="ceased",
            ),
        )
    if rules.language == "zh" and is_scrap(read, subject, rules):
        return ()
    given_up = rules.parts.get("ended_thing")
    ends = read["hard_cessation"] or (given_up is not None and given_up.match(told) is not None)
    negated = (read["negation"] or ends) and contrast is None
    wrong = ""
    if contrast is not None:
        kept, wrong, cut = contrast
        cut = (start + cut[0], start + cut[1])
        start += value.find(kept)
        value = kept
    else:
        cut = (0, 0)
    return (
        Draft(
            subject=subject.key,
            relation="about" if rules.language == "zh" else _TOPICS.get(topic[0], "about"),
            object=value,
            start=start,
            end=start + len(value),
            positive=not negated,
            wrong=wrong,
            cut=cut,
            confidence=min(_OPEN_CONFIDENCE, topic[1]) if topic[1] else _OPEN_CONFIDENCE / 2,
            strong=False,
            rule="open",
        ),
    )


def is_told_of_oneself(read: Read, subject: Subject) -> bool:
    """Whether a clause names the speaker or his own, or plainly goes on about them."""
    told_on = read["after_fact"] or read["habitual"] or read["lasting"]
    return subject.kind != "dropped" or read["first_person"] or (told_on and not (read["ephemeral"] or read["mood"]))


def is_scrap(read: Read, subject: Subject, rules: Rules) -> bool:
    """Whether a Chinese clause is too little to be kept in its own words: a feeling, a passing state, a remnant
    of a sentence."""
    told = trim(read.clause.norm[subject.start :])
    scrap = rules.parts.get("scrap")
    if scrap is not None and scrap.match(told):
        return True
    content = rules.parts["empty_words"].sub("", told)
    return len(content) < _LEAST_CONTENT


def contrasted(draft: Draft, read: Read, lexicon: Lexicon) -> Draft:
    """A correction whose object still holds both values ("七岁不是六岁") is taken apart."""
    if draft.wrong or not read["correction"]:
        return draft if draft.wrong or draft.rule == "open" else _replacing(draft, read, lexicon)
    halves = _contrast(draft.object, lexicon)
    if halves is None:
        return draft
    kept, wrong, (a, b) = halves
    begin = draft.start + draft.object.find(kept)
    generic = draft.relation in ("is_a", "is", "has", "about")
    return replace(
        draft,
        object=kept,
        start=begin,
        end=begin + len(kept),
        wrong=wrong,
        move="correct",
        cut=(draft.start + a, draft.start + b),
        confidence=0.5 if generic else draft.confidence,
    )


def _replacing(draft: Draft, read: Read, lexicon: Lexicon) -> Draft:
    """What is said to hold now without what it holds instead of ("the Oak Road branch now, not Elm Street")."""
    pattern = lexicon.rules(read.clause.language).parts.get("now_instead")
    m = pattern.match(draft.object) if pattern is not None else None
    if m is None:
        return draft
    kept = trim(m["object"])
    move = draft.move if draft.move not in (None, "state") else "change"
    return replace(draft, object=kept, end=draft.start + len(m["object"].rstrip(" ,")), move=move)


def _contrast(value: str, lexicon: Lexicon) -> tuple[str, str, tuple[int, int]] | None:
    """ "X, not Y" without a known relation: what holds, what does not, and the stretch that denies."""
    m = lexicon.shared["contrast_first"].match(value)
    last = lexicon.shared["contrast_last"].match(value) if m is None or "不是" not in value else None
    if last is not None:
        return trim(last["object"]), trim(last["wrong"]), (last.end("object"), last.end("wrong"))
    if m is None:
        return None
    kept, wrong = m["object"] or m["object2"], m["wrong"] or m["wrong2"]
    at = m.start("object") if m["object"] else m.start("object2")
    return trim(kept), trim(wrong), (0, at)
