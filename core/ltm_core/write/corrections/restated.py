"""English corrections that name what was wrong: "It's a Worcester, no idea why I said Vaillant", "Sonographer, she
says, not radiographer", "I wrote Infosys, that's my brother".

What was said wrong is looked for beside the store, whoever it was told of: the words make a candidate that holds only
the right and the wrong value (`restated`), and the fact that names the wrong one is told again with the right one in
its place (`put_right`). Words that name nothing known change nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ltm_core.types import Evidence, Fact
from ltm_core.write.known.mentions import content
from ltm_core.write.plan import Candidate, Utterance
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold, normal, trim

RULE = "restated"
OF_ASSISTANT = "restated.assistant"
"""The rule where the assistant said the wrong value: what is known of the right one is only said again."""
_MOST_WORDS = 5
"""Words of a value that is put right."""
NOT_SAID = ("quotation", "fiction", "code", "role_play", "injection", "conditional", "body")
"""Vetoes of clauses that are not the speaker's plain word, and so put nothing right."""
_ARTICLE = re.compile(r"\b(an?) (?=(\w))", re.I)


@dataclass(frozen=True, slots=True)
class Sentence:
    """The clauses of one sentence that may correct something."""

    text: str
    start: int
    end: int

    def evidence(self, message_id: str) -> Evidence:
        """The sentence as the words that support what it puts right."""
        return Evidence(message_id=message_id, start=self.start, end=self.end)


@dataclass(frozen=True, slots=True)
class Restated:
    """A right value, the wrong one, and the words of both."""

    right: str
    wrong: str
    places: tuple[Evidence, ...]


def restated(utterance: Utterance, reads: Sequence[Read], lexicon: Lexicon) -> Iterator[Restated]:
    """The pairs of a right and a wrong value that the sentences of a message name."""
    parts = lexicon.rules("en").parts
    sentences = [s for s in sentences_of(utterance, reads) if s is not None]
    for i, s in enumerate(sentences):
        text = parts["excuse_tail"].sub("", s.text)
        here, after = s.evidence(utterance.message_id), sentences[i + 1 : i + 3]
        m = parts["right_not_wrong"].match(text) or parts["not_wrong_right"].match(text)
        if m is not None and (pair := _pair(m["right"], m["wrong"], lexicon)):
            yield Restated(*pair, (here,))
            continue
        m = parts["wrong_alone"].match(text)
        for two in after if m is not None else ():
            right = parts["right_alone"].match(two.text)
            if m is not None and right is not None and (pair := _pair(right["right"], m["wrong"], lexicon)):
                yield Restated(*pair, (here, two.evidence(utterance.message_id)))
                break
        cleft = parts["allergy_cleft"].search(s.text)
        if cleft is not None:
            rest = [s.text[cleft.end() :], *(t.text for t in after[:1])]
            freed = [m for t in rest if (m := parts["is_cleared"].match(t.strip(" ,.;!"))) is not None]
            if freed and (pair := _pair(cleft["right"], freed[0]["thing"], lexicon)):
                places = (here, *(t.evidence(utterance.message_id) for t in after[:1] if t.text == rest[-1]))
                yield Restated(*pair, places)
        yield from _slip(sentences, i, utterance, lexicon)


def _slip(sentences: Sequence[Sentence], i: int, utterance: Utterance, lexicon: Lexicon) -> Iterator[Restated]:
    """The pair of a sentence that admits what was said wrongly, with the right value before or behind it."""
    parts = lexicon.rules("en").parts
    s = sentences[i]
    m = parts["said_wrongly"].search(s.text)
    if m is None:
        return
    wrong = trim(next(v for k, v in m.groupdict().items() if v and k.startswith("wrong")))
    beside = [*sentences[i + 1 : i + 2], *sentences[max(0, i - 1) : i]]
    near = [(s.text[: m.start()], s), (s.text[m.end() :], s), *((t.text, t) for t in beside)]
    for text, place in near:
        text = text.strip(" ,.;!-—")
        right = parts["right_alone"].match(text) or parts["name_alone"].match(text)
        if right is not None and (pair := _pair(right["right"], wrong, lexicon)):
            yield Restated(*pair, tuple(x.evidence(utterance.message_id) for x in dict.fromkeys((s, place))))
            return


def sentences_of(utterance: Utterance, reads: Sequence[Read], *, language: str = "en") -> Iterator[Sentence | None]:
    """The sentences of the message in the language, in order; None for one that states nothing."""
    run: list[Read] = []
    for r in [*reads, None]:
        if run and (r is None or r.clause.sentence != run[-1].clause.sentence):
            bad = any(x.veto in NOT_SAID or x.clause.language != language for x in run)
            start, end = run[0].clause.start, run[-1].clause.end
            words = normal(utterance.content[start:end]).strip()
            yield None if bad else Sentence(words, start, end)
            run = []
        if r is not None:
            run.append(r)


def _pair(right: str, wrong: str, lexicon: Lexicon) -> tuple[str, str] | None:
    one, two = trim(right), trim(wrong)
    sound = all(v and len(v.split()) <= _MOST_WORDS for v in (one, two)) and fold(one) != fold(two)
    empty = lexicon.sets["no_correction"]
    whose = lexicon.rules("en").parts["begins_owned"]
    sound = sound and not whose.match(one) and not whose.match(two)
    return (one, two) if sound and fold(one) not in empty and fold(two) not in empty else None


def candidate(found: Restated, utterance: Utterance, *, me: str, speaker: str | None) -> Candidate:
    """The pair as a candidate; it names no subject, since the wrong value does."""
    words = " ".join(utterance.content[e.start : e.end] for e in found.places)
    heard = _whole(found.wrong)
    theirs = any(t.role == "assistant" and heard.search(t.content) for t in (*utterance.before, *utterance.earlier))
    return Candidate(
        subject=me,
        relation="about",
        object=found.right,
        object_normalized=fold(found.right),
        text=words,
        is_about_user=me == "user",
        speaker=speaker,
        relation_confidence=0.0,
        move="correct",
        reach="subject",
        wrong_object=fold(found.wrong),
        valid_from=utterance.at,
        said_at=utterance.at,
        evidence=found.places,
        rule=OF_ASSISTANT if theirs else RULE,
    )


def meant(c: Candidate, facts: Iterable[Fact], lexicon: Lexicon) -> list[tuple[Fact, str, str]]:
    """The facts that hold the wrong value, the newest and those of the same words, each with its object and text put
    right; those that hold the right one already as they are."""
    wrong = c.wrong_object or ""
    able = [f for f in facts if may_be_wrong(f, c)]
    held = [(f, new) for f in reversed(able) if (new := _with_right(f, c.object, wrong, lexicon)) is not None]
    exact = [(f, new) for f, new in held if fold(f.object) == wrong or f.object_normalized == wrong] or held
    if not exact:
        return []
    newest = exact[0][0]
    return [
        (f, *new)
        for f, new in held
        if f.id == newest.id or (f.evidence == newest.evidence and f.subject == newest.subject)
    ]


def may_be_wrong(f: Fact, c: Candidate) -> bool:
    """Whether the fact is one that the speaker told and may have told wrongly."""
    return (
        f.is_positive
        and f.modality not in ("past", "temporary")
        and f.asserted_by == "user"
        and f.kind not in ("solution", "procedure", "status")
        and (f.speaker or None) == (c.speaker or None)
        and f.subject != "assistant"
        and f.text.isascii() == c.text.isascii()
    )


def said_already(c: Candidate, facts: Iterable[Fact]) -> Fact | None:
    """The newest fact that holds the right value, when the wrong one was only the assistant's."""
    if c.rule != OF_ASSISTANT:
        return None
    pattern = _whole(c.object)
    able = [f for f in facts if f.is_positive and f.asserted_by == "user" and f.subject != "assistant"]
    return next((f for f in reversed(able) if pattern.search(f.text)), None)


def _with_right(fact: Fact, right: str, wrong: str, lexicon: Lexicon) -> tuple[str, str] | None:
    """Object and text of the fact with the right value for the wrong one."""
    told, counted = wrong, lexicon.rules("en").parts["kind_number"]
    if counted.fullmatch(wrong):  # "six hens, not four": of the hens
        number = counted.match(right)
        noun = right[number.end() :] if number is not None else right
        if number is None or not set(content(noun, lexicon)) <= set(content(fact.text, lexicon)):
            return None
        right = number.group()
    pattern = _whole(told)
    if pattern.search(fact.object) is None and pattern.search(fact.text) is None:
        return None
    if _whole(right).search(fact.object) is not None and _whole(told).search(fact.object) is None:
        return None
    object_, text = (articled(pattern.sub(lambda _: right, t)) for t in (fact.object, fact.text))
    return object_, text


def _whole(value: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){re.escape(value)}(?![\w-])", re.I)


def articled(text: str) -> str:
    """The text with "a" or "an" as the next word wants it."""
    return _ARTICLE.sub(lambda m: f"{m[1][0]}{'n' if m[2].lower() in 'aeio' else ''} ", text)


def put_right(c: Candidate, fact: Fact, object_: str, text: str) -> Candidate:
    """The fact told again with the right value."""
    return replace(
        c,
        subject=fact.subject,
        relation=fact.relation,
        object=object_,
        object_normalized=fold(object_),
        text=text,
        kind=fact.kind,
        is_about_user=fact.is_about_user,
        modality=fact.modality,
        confidence=fact.confidence,
        relation_confidence=1.0,
        importance=fact.importance,
        reach="slot",
        wrong_object=None,
        tags=fact.tags,
    )


__all__ = [
    "NOT_SAID",
    "OF_ASSISTANT",
    "RULE",
    "Restated",
    "Sentence",
    "candidate",
    "may_be_wrong",
    "meant",
    "put_right",
    "restated",
    "said_already",
    "sentences_of",
]
