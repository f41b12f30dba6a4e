"""Going back to what was given up: "I went back to my iPhone 13", "又换回原来那家健身房了".

The words name the thing and not the relation. What is meant is known beside the store: a fact of the same subject
that was replaced and whose value the words name holds again, in place of what had replaced it. In the same way a
clause that says that something is so again ("choir practice is in the church hall once more"), read by no rule, is
known by all the words of what was replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from ltm_core.types import Evidence, Fact
from ltm_core.write.endings.again_zh import holds_again, pointed_at, says_again
from ltm_core.write.endings.comebacks import RULE as COMES_BACK
from ltm_core.write.endings.comebacks import TookPlace, again, come_back
from ltm_core.write.known.match import goes_on
from ltm_core.write.known.mentions import content, mentions, stem
from ltm_core.write.known.rows import UNTOUCHED
from ltm_core.write.plan import Candidate, Utterance
from ltm_core.write.read.found import overlap
from ltm_core.write.read.people import Subject
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold, trim

if TYPE_CHECKING:
    from ltm_core.store.base import Reader

RULE = "returns"
_NOT = ("plan", "question", "command", "conditional", "temporary", "goal", "one_off", "wish")
_UNSURE = ("negation", "past", "third_person", "ephemeral", "cessation")
"""Cues of clauses in which "again" restores nothing."""
_WORD = re.compile(r"[a-z0-9]+")
_LEAST = 4
"""Letters of a word that is no mere joint ("at", "for", "my")."""
_LONGEST_CHAIN = 50
"""Successors that are followed to what holds now."""


def returning(
    read: Read,
    subject: Subject,
    utterance: Utterance,
    lexicon: Lexicon,
    *,
    speaker: str | None,
    before: Read | None = None,
    after: Read | None = None,
) -> Iterator[Candidate]:
    """The candidate of a clause that tells of going back to something; none for any other. ``before`` and ``after``:
    the clauses beside it, of which one may name what it only points at."""
    stays = lexicon.shared["returns_to_stay"].search(read.clause.norm) is not None
    if read.veto or any(read[w] for w in _NOT if not (stays and w in ("plan", "goal"))):
        return
    cue = lexicon.shared["returns"].search(read.clause.text)
    rest = trim(read.clause.text[cue.end() :]) if cue is not None else ""
    named = subject.kind in ("self", "dropped") and len(rest) > 1
    if not named and (_is_so_again(read, subject, lexicon) or says_again(read, lexicon)):
        rest = trim(read.clause.text)
    elif not named:
        return
    pointed = pointed_at(read, before, after, lexicon)
    if pointed:
        rest = pointed
    if (
        lexicon.shared["returns_not"].search(rest)
        and not pointed
        and not (read.clause.language == "zh" and rest == trim(read.clause.text))
    ):
        return
    key = subject.key or (f"speaker:{speaker}" if speaker else "user")
    yield Candidate(
        subject=key,
        relation="does",
        object=rest,
        object_normalized=fold(rest),
        text=trim(read.clause.text),
        is_about_user=key == "user",
        speaker=speaker,
        confidence=0.8,
        relation_confidence=0.0,
        move="change",
        valid_from=utterance.at,
        said_at=utterance.at,
        evidence=(read.evidence(utterance.message_id),),
        rule=RULE,
    )


def _is_so_again(read: Read, subject: Subject, lexicon: Lexicon) -> bool:
    """Whether an English clause says that something is so once more, of whomever but somebody unnamed."""
    if read.clause.language != "en" or subject.kind == "pronoun" or any(read[w] for w in _UNSURE):
        return False
    norm = read.clause.norm
    return lexicon.shared["so_again"].search(norm) is not None and lexicon.shared["so_again_not"].search(norm) is None


def settled(
    reader: Reader, candidates: Sequence[Candidate], *, now: datetime, lexicon: Lexicon, took_place: TookPlace
) -> list[Candidate]:
    """The candidates, each return as the fact that holds again, in place of what had replaced it; one that names
    nothing known is gone, and so is what was kept of the same words as mere news. ``took_place``: whether the first
    fact came in the place of the second, where no rule says so."""
    out: list[Candidate] = []
    told: set[Evidence] = set()
    for c in candidates:
        if c.rule == COMES_BACK:
            before = (
                None
                if overlap(c.evidence, tuple(told))
                else come_back(c, reader, now=now, lexicon=lexicon, took_place=took_place)
            )
            if before is not None:
                out.append(again(c, before, lexicon))
                told |= set(c.evidence)
            continue
        if c.rule != RULE and not _is_back(c):
            out.append(c)
            continue
        past = reader.facts(subject=c.subject, past_at=now, newest_first=True)
        meant = [f for f in past if _is_meant(f, c, lexicon) and (c.rule == RULE or _is_same(f, c, lexicon))]
        if not meant:
            found = (
                None if c.text.isascii() else holds_again(reader, c, now=now, lexicon=lexicon, took_place=took_place)
            )
            if found is not None:
                out.append(_restored(c, *found, lexicon))
                told |= set(c.evidence)
            else:
                out += [c] if c.rule != RULE else []
            continue
        # "回原来的动画公司做原画师": the employer and the post that were told in one breath
        held = [f for f in meant if c.rule == RULE and f.relation != meant[0].relation and _is_beside(f, meant[0])]
        for back in (meant[0], *held):
            out.append(_again(c, back, _replaced_it(reader, back, lexicon), lexicon))
        if c.rule == RULE:
            told |= set(c.evidence)
    own = lexicon.sets["own_words"]
    return [
        c for c in out if c.rule in (RULE, COMES_BACK) or not (c.relation in own and overlap(c.evidence, tuple(told)))
    ]


def _restored(c: Candidate, back: Fact, over: Sequence[Fact], lexicon: Lexicon) -> Candidate:
    """The return as the fact that holds again, of whomever it tells."""
    own = c if c.rule == RULE else replace(c, rule=RULE)
    return replace(_again(own, back, over, lexicon), subject=back.subject, reach="circle")


def _again(c: Candidate, back: Fact, over: Sequence[Fact], lexicon: Lexicon) -> Candidate:
    """The return as the fact that holds again, in place of what had replaced it."""
    c = replace(c, instead_of=tuple(f.id for f in over))
    if c.rule not in (RULE, "open"):
        return c
    return replace(
        c,
        relation=back.relation,
        object=back.object,
        object_normalized=back.object_normalized,
        kind=back.kind,
        importance=back.importance,
        single_valued=lexicon.relation(back.relation).single,
        relation_confidence=0.9,
    )


def _replaced_it(reader: Reader, back: Fact, lexicon: Lexicon) -> list[Fact]:
    """What holds in place of a fact: its heir, be it only the news of its end, and what the next clause told of it
    ("头发剪了，现在是个寸头")."""
    heir = _heir(reader, back)
    if heir is None:
        return []
    own = lexicon.sets["own_words"]
    beside = [
        f
        for f in reader.facts(subject=heir.subject)
        if f.id != heir.id and f.is_current and f.is_positive and _is_beside(f, heir)
        and (f.relation in own or f.relation == "is_a" or heir.relation in own)
    ]  # fmt: skip
    return [heir, *beside]


def _is_beside(one: Fact, other: Fact) -> bool:
    """Whether two facts were told in one clause, or one right after the other."""
    return any(
        a.message_id == b.message_id and max(a.start, b.start) - min(a.end, b.end) <= 1
        for a in one.evidence
        for b in other.evidence
    )


def _is_back(c: Candidate) -> bool:
    """Whether the candidate tells that something is so again."""
    return c.is_positive and c.move == "revert" and c.modality not in UNTOUCHED and not c.wrong_object


def _is_same(fact: Fact, c: Candidate, lexicon: Lexicon) -> bool:
    """Whether a statement that something is so again says what the fact said: the same value of the same slot, or
    all of its words."""
    same = fact.object_normalized == c.object_normalized or goes_on(fact.object_normalized, c.object_normalized)
    if fact.relation == c.relation and same:
        return True
    said = fold(c.text)
    if not fact.text.isascii():
        held = fact.object_normalized or fold(fact.object)
        return len(held) > 1 and held in said
    told = set(content(fact.text, lexicon))
    if len(told) == 1:  # one who flew with Delta again does not work there
        told |= {stem(w) for w in _said_words(fact.text)}
        return told <= {*content(c.text, lexicon), *(stem(w) for w in _said_words(c.text))}
    return bool(told) and told <= set(content(c.text, lexicon))


def _said_words(text: str) -> list[str]:
    """The words of an English text that are no mere joints, in small letters."""
    return [w for w in _WORD.findall(fold(text)) if len(w) >= _LEAST]


def _is_meant(fact: Fact, c: Candidate, lexicon: Lexicon) -> bool:
    replaced = fact.superseded_by is not None and fact.retracted_at is None
    if not replaced or not fact.is_positive or fact.modality in UNTOUCHED or fact.speaker != c.speaker:
        return False
    home, stated = (lexicon.relation(r).slot == "residence" for r in (fact.relation, c.relation))
    if home and not stated and not lexicon.shared["returns_home"].search(c.text):
        return False  # one goes back to a town without living there again
    if c.rule == RULE and c.object == c.text:  # that it is so again
        return _is_same(fact, c, lexicon)
    return c.rule != RULE or mentions(c.object, fact, lexicon) or _begins_with(c.object, fact, lexicon)


def _begins_with(words: str, fact: Fact, lexicon: Lexicon) -> bool:
    """Whether the Chinese words that name what one is back at begin with something the fact says: "顺丰送件了" of
    "顺丰的快递员"."""
    named, said = fold(words).rstrip("了啦吧"), fold(fact.text)
    if named.isascii():
        return False
    size = next((n for n in range(min(len(named), len(said)), 1, -1) if named[:n] in said), 0)
    return size > 1 and any(ch not in lexicon.gate.function for ch in named[:size])


def _heir(reader: Reader, fact: Fact) -> Fact | None:
    """What holds now at the end of the chain of successors."""
    at: Fact | None = fact
    for _ in range(_LONGEST_CHAIN):
        if at is None or at.superseded_by is None:
            break
        at = reader.fact(at.superseded_by)
    return at if at is not None and at.id != fact.id and at.is_current else None
