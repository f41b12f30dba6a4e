"""Clauses that end something without saying of which sort it is: "cancelled PureGym", "鱼缸送人了".

What is meant is only known beside the store: the candidate made here ends the facts that its words name, or the
class of things they name, and is dropped when there are none (`resolve`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ltm_core.write.lexicon import Lexicon, Rules
from ltm_core.write.norm import fold, trim
from ltm_core.write.people import Subject
from ltm_core.write.plan import Candidate, Utterance
from ltm_core.write.scopes import Read

RULE = "ends"
_HAN = re.compile(r"[\u4e00-\u9fff]")


def endings(
    read: Read,
    subject: Subject,
    utterance: Utterance,
    lexicon: Lexicon,
    *,
    speaker: str | None,
    before: Read | None = None,
) -> Iterator[Candidate]:
    """The candidates that end what the clause names; none when it ends nothing, or not for good.

    ``before``: the clause before, which names what "it" means.
    """
    rules = lexicon.rules(read.clause.language)
    two = rules.parts.get("we_two")
    if subject.kind == "stranger" and two is not None and two.match(read.clause.norm):
        subject = replace(subject, key=f"speaker:{speaker}" if speaker else "user", kind="dropped")
    if read.veto or subject.kind == "stranger" or not _is_final(read, rules):
        return
    words = trim(read.clause.text)
    points = rules.parts.get("points_back_over")
    spoken = before is not None and not before.veto and before.clause.language == read.clause.language
    if before is not None and spoken and points is not None and points.search(words) is not None:
        words = f"{trim(before.clause.text)}: {words}"
    thing = thing_ended(read.clause.norm[subject.start :], rules) if subject.kind in ("self", "dropped") else ""
    keys = [subject.key]
    name = rules.parts.get("named_first") if subject.kind in ("dropped", "entity") else None
    named = name.match(read.clause.text[subject.words :]) if name is not None else None
    if named is not None:
        keys.append(named["name"])
    keys += _parted_from(read, subject, utterance, lexicon)
    for key in dict.fromkeys(keys):
        yield replace(
            _ending(key, words, read, utterance, speaker=speaker),
            classes=named_classes(read.clause.norm, rules, lexicon),
            wrong_object=thing or None,
        )


def _parted_from(read: Read, subject: Subject, utterance: Utterance, lexicon: Lexicon) -> list[str]:
    """The partner whom the clause tells to be one no longer: the one it names, or the only one known when it tells
    of nobody else."""
    if lexicon.shared["parted"].search(read.clause.norm) is None:
        return []
    known = [p for p in utterance.people() if p.key.partition(":")[0] in lexicon.sets["partners"]]
    named = [p.key for p in known if p.name and p.name in read.clause.text]
    every = list(dict.fromkeys(p.key for p in known))
    return named or (every if len(every) == 1 and subject.kind in ("self", "dropped") else [])


def ending_of(thing: str, read: Read, utterance: Utterance, *, speaker: str | None) -> Candidate:
    """The end of what ``thing`` names for the speaker, because the next clause tells what came instead of it."""
    key = f"speaker:{speaker}" if speaker else "user"
    return replace(_ending(key, trim(read.clause.text), read, utterance, speaker=speaker), wrong_object=fold(thing))


def _ending(key: str, words: str, read: Read, utterance: Utterance, *, speaker: str | None) -> Candidate:
    return Candidate(
        subject=key,
        relation="does",
        object=words,
        object_normalized=fold(words),
        text=words,
        is_positive=False,
        is_about_user=key == "user",
        speaker=speaker,
        confidence=0.5,
        relation_confidence=0.0,
        move="cease",
        reach="class",
        valid_from=utterance.at,
        said_at=utterance.at,
        evidence=(read.evidence(utterance.message_id),),
        rule=RULE,
    )


def thing_ended(norm: str, rules: Rules) -> str:
    """The thing that a clause names first and then gives up ("外卖我不跑了", "饭馆盘出去了"); else ""."""
    for part in ("left_place", "ended_thing"):
        pattern = rules.parts.get(part)
        m = pattern.match(norm) if pattern is not None else None
        if m is not None:
            return fold(trim(next((v for k, v in m.groupdict().items() if v and k.startswith("thing")), "")))
    return ""


def _is_final(read: Read, rules: Rules) -> bool:
    norm = read.clause.norm
    if read["third_person"] and not read["own_kin"]:
        return False
    if any(read[w] for w in ("plan", "question", "command", "conditional", "temporary", "goal", "one_off")):
        return False
    wishes = rules.flags.get("ends_not")
    if wishes is not None and wishes.search(norm):
        return False
    passing = read["ephemeral"] or read["mood"]
    if not passing and thing_ended(norm, rules):
        return True
    return (rules.flags["ends_weak"].search(norm) is not None and not passing) or (
        rules.flags["ends"].search(norm) is not None
    )


def named_classes(norm: str, rules: Rules, lexicon: Lexicon) -> tuple[str, ...]:
    """The classes of things that a clause names as a whole: "any sports", and not "racket sports" or "吵的音乐"."""
    text = fold(norm)
    english, chinese = lexicon.rules("en").parts, lexicon.rules("zh").parts
    found: dict[str, None] = {}
    function = lexicon.gate.function
    for name, cls in lexicon.class_names.items():
        at = text.find(name)
        if at < 0:
            continue
        before, after = text[:at], text[at + len(name) :]
        if _HAN.match(name):
            last = before[-1:]
            whole = not last or last in function or chinese["class_led"].search(before) is not None
            whole = whole and (last != "的" or chinese["all_of"].search(before) is not None)
            if len(name) == 1:
                whole = whole and chinese["class_goes_on"].match(after) is not None
            if whole:
                found[cls] = None
        else:
            words = re.findall(r"[\w'+-]+", before)
            bare = (not before or not before[-1].isalnum()) and (not after or not after[0].isalnum())
            if bare and english["diet_class"].search(name) and english["stands_alone"].match(after):
                found[cls] = None
            if bare and (not words or words[-1] in function or words[-1].endswith("ing")):
                found[cls] = None
    return tuple(found)
