"""A Chinese message that does nothing but put a slip of the turn before right: "2011。按错键了。",
"解放路，不是人民路，说顺嘴了", "看了眼登记证 2015年的，不是2017".

The turn is read again with the right value in the place of the wrong one: what it states then, and did not state
before, is what was meant. So a slip keeps subject, relation and words, whatever they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from ltm_core.types import Anchor, Evidence
from ltm_core.write.corrections.slip_words import NUMBER as _NUMBER
from ltm_core.write.corrections.slip_words import Slip, slip_of
from ltm_core.write.plan import Candidate, Turn, Utterance
from ltm_core.write.read.found import statement
from ltm_core.write.read.people import speaker_key
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold, normal, trim

RULE = "zh.slip"
_TURNS = 2
"""The user's last turns in which the slip is looked for."""
_MODEL = re.compile(r"[A-Za-z]+[ -]?\d[\w]*")
_DATED = re.compile(r" \(\d{4}-[^)]*\)$")
_MOST_APART = 2
"""Characters by which the right word may be longer or shorter than the wrong one."""


def put_in_place(
    utterance: Utterance, lexicon: Lexicon, *, heard: Callable[[Turn], Sequence[Candidate]]
) -> tuple[list[Candidate], list[Anchor]] | None:
    """What the message puts right, with its anchor; None when it puts nothing right that was said."""
    slip = slip_of(utterance.content, lexicon)
    if slip is None:
        return None
    evidence = Evidence(message_id=utterance.message_id, start=slip.start, end=slip.end)
    turns = utterance.before or utterance.earlier
    for turn in told_last(turns):
        said = heard(turn)
        place = _place(slip, normal(turn.content), said, lexicon)
        if place is None:
            continue
        a, b, value = place
        if (
            slip.part
            and (daily := lexicon.rules("zh").parts["slip_daily"].search(normal(turn.content)[:a])) is not None
        ):
            a, value = daily.start(), slip.part + value
        spoken = utterance.content[slip.start : slip.end] if value == slip.value else value
        written = turn.content[:a] + spoken + turn.content[b:]
        again = heard(replace(turn, content=written))
        right, gone = apart(again, said)
        made = [corrected(c, gone or said, utterance, evidence) for c in right]
        if not made:
            made = _in_own_words(a, written, utterance, evidence, lexicon, instead=_reworded(again, said))
        if made:
            return made, [_anchor(made, replace(evidence, start=slip.begins, end=slip.ends), utterance)]
    return _upheld(slip, turns, utterance, evidence, heard)


def told_last(turns: Sequence[Turn]) -> Sequence[Turn]:
    """The user's turns in which a slip is looked for, the last one first."""
    return [t for t in reversed(turns) if t.role == "user"][:_TURNS]


def apart(again: Sequence[Candidate], said: Sequence[Candidate]) -> tuple[list[Candidate], list[Candidate]]:
    """What a turn states when it is read again and did not state before, and what it states no more: what the right
    value leaves as it was is not wrong."""
    return [c for c in again if not _among(c, said)], [c for c in said if not _among(c, again)]


def _among(c: Candidate, said: Sequence[Candidate]) -> bool:
    key = (c.subject, c.relation, c.object_normalized, c.is_positive)
    return any((o.subject, o.relation, o.object_normalized, o.is_positive) == key for o in said)


def _reworded(again: Sequence[Candidate], said: Sequence[Candidate]) -> str | None:
    """The thing of which other words hold now, although they give it the same name ("两片降压药", "一片降压药")."""
    texts = {c.text for c in said}
    return next((c.object_normalized for c in again if c.is_positive and c.text not in texts), None)


def corrected(c: Candidate, said: Sequence[Candidate], utterance: Utterance, evidence: Evidence) -> Candidate:
    """The statement as it was meant, in the place of what was said instead."""
    was = next((o for o in said if (o.subject, o.relation, o.rule) == (c.subject, c.relation, c.rule)), None)
    was = was or next((o for o in said if _bears_the_name(o, c)), None)
    return replace(
        c,
        subject=was.subject if was is not None else c.subject,
        text=_DATED.sub("", c.text),
        move="correct",
        reach="subject",
        classes=(),
        wrong_object=was.object_normalized if was is not None else None,
        valid_from=utterance.at,
        said_at=utterance.at,
        evidence=(evidence,),
    )


def _bears_the_name(one: Candidate, other: Candidate) -> bool:
    """Whether both give a name to one of a kind, which is known by it ("cat:Mio")."""
    kinds = {c.subject.removesuffix(f":{c.object}") for c in (one, other) if c.subject.endswith(f":{c.object}")}
    return one.relation == other.relation == "name" and len(kinds) == 1


def _anchor(made: Sequence[Candidate], evidence: Evidence, utterance: Utterance) -> Anchor:
    return statement(made, utterance.content[evidence.start : evidence.end], evidence, reason=RULE)


# where the wrong value stands -------------------------------------------------------------------------
def _place(slip: Slip, text: str, said: Sequence[Candidate], lexicon: Lexicon) -> tuple[int, int, str] | None:
    """The stretch of the earlier turn that is wrong, and what belongs there."""
    number = _NUMBER.match(slip.value)
    # "尾号说错了，是86" names what the number is of
    if slip.wrong and (number is None or _NUMBER.search(slip.wrong) is not None):
        return _named(slip, text)
    if _MODEL.fullmatch(slip.value):
        return _like_model(slip.value, text)
    if number is not None:
        found = _like_number(slip.value, number, text, lexicon)
        if found is not None or not slip.says_slip or len(slip.value) <= number.end() + 1:
            return found  # but "五道口" is a name
    return _like_word(slip, text, said, lexicon)


def _named(slip: Slip, text: str) -> tuple[int, int, str] | None:
    at = text.rfind(slip.wrong)
    if at < 0:  # "尾号3是旧车的" after "尾号是3"
        figure = _NUMBER.search(slip.wrong)
        return _named(replace(slip, wrong=figure.group()), text) if figure and figure.group() != slip.wrong else None
    end, value = at + len(slip.wrong), slip.value
    one, two = _NUMBER.match(slip.wrong), _NUMBER.match(value)
    if one is not None and two is not None:  # "2016年的，不是2018": the unit stands once
        if value[two.end() :] and not slip.wrong[one.end() :]:
            value = value[: two.end()]
        elif slip.wrong[one.end() :] and not value[two.end() :]:
            value += slip.wrong[one.end() :]
    return (at, end, value) if value != slip.wrong else None


def _like_model(value: str, text: str) -> tuple[int, int, str] | None:
    letters = re.match(r"[A-Za-z]+", value)
    found = [m for m in _MODEL.finditer(text) if letters and m.group().startswith(letters.group())]
    return (*found[-1].span(), value) if found and found[-1].group() != value else None


def _like_number(value: str, number: re.Match[str], text: str, lexicon: Lexicon) -> tuple[int, int, str] | None:
    """The number of the same unit, or of as many figures when the right one has no unit."""
    unit = value[number.end() :][:1]
    figure = number.group()
    arabic = figure[0].isdigit()
    found = [m for m in _NUMBER.finditer(text) if m.group()[0].isdigit() == arabic and m.group() != figure]
    if unit:
        written = found or [m for m in _NUMBER.finditer(text) if m.group() != figure]
        found = [m for m in written if text[m.end() : m.end() + 1] == unit]
        # "一片半": the rest stands behind the unit
        if found and lexicon.rules("zh").parts["slip_rest"].match(value[number.end() + 1 :]):
            return found[-1].start(), found[-1].end() + 1, value
    elif any(len(m.group()) == len(figure) for m in found):
        found = [m for m in found if len(m.group()) == len(figure)]
    elif len(found) != 1:
        return None
    if not found:
        return None
    best = max(found, key=lambda m: (_shared(m.group(), figure), m.start()))
    return (*best.span(), figure)


def _shared(one: str, two: str) -> int:
    return sum(a == b for a, b in zip(one, two, strict=False))


def _like_word(slip: Slip, text: str, said: Sequence[Candidate], lexicon: Lexicon) -> tuple[int, int, str] | None:
    """The value told last that the right one resembles: in its characters, as a place or a thing of its class, or as
    the only short one."""
    value = slip.value
    values = [normal(c.object) for c in said if c.is_positive and c.modality != "past"]
    values = [v for v in dict.fromkeys(values) if v in text and v != value]
    alike = [v for v in values if _resembles(v, value, lexicon)]
    if not alike and slip.says_slip:
        short = [v for v in values if not _NUMBER.search(v) and abs(len(v) - len(value)) <= _MOST_APART]
        alike = short if len(short) == 1 else []
    if alike:
        at = text.rfind(alike[-1])
        return at, at + len(alike[-1]), _without_frame(value, text[:at], text[at + len(alike[-1]) :])
    surname = lexicon.rules("zh").parts["slip_surname"].search(text)
    if len(value) == 1 and surname is not None and surname["surname"] != value:
        return *surname.span("surname"), value
    size = len(value)
    windows = [text[i : i + size] for i in range(len(text) - size + 1)]
    best = max(windows, key=lambda w: _shared(w, value), default="")
    if size < 2 or best == value or _shared(best, value) * 2 < size or not slip.says_slip:
        return None
    at = text.find(best)
    written, ends = text[:at] + value + text[at + size :], (at, at + size)
    joined = any(m.start() < e < m.end() for t in (text, written) for m in _NUMBER.finditer(t) for e in ends)
    return None if joined else (at, at + size, value)


def _without_frame(value: str, before: str, behind: str) -> str:
    """The value without the words that stand around its place already ("不对，对虾过敏" after "我对芒果过敏")."""
    first = max((n for n in range(1, len(value)) if before.endswith(value[:n])), default=0)
    last = max((n for n in range(1, len(value) - first) if behind.startswith(value[-n:])), default=0)
    return value[first : len(value) - last] if first and last else value


def _resembles(held: str, value: str, lexicon: Lexicon) -> bool:
    if abs(len(held) - len(value)) > _MOST_APART:
        return False
    city = lexicon.rules("zh").parts["city"]
    if city.match(held) and city.match(value):
        return True
    one, two = fold(held), fold(value)
    if lexicon.members.get(one, frozenset()) & lexicon.members.get(two, frozenset()):
        return True
    return _shared(held, value) > 0 or held[-1:] == value[-1:]


# what no rule reads, and what the assistant got wrong -------------------------------------------------
def _in_own_words(
    a: int, written: str, utterance: Utterance, evidence: Evidence, lexicon: Lexicon, *, instead: str | None
) -> list[Candidate]:
    """The sentence around the value in the user's own words, when it is one about himself that nothing else reads;
    ``instead``: the known thing of which it is said."""
    parts = lexicon.rules("zh").parts
    me, speaker = speaker_key(utterance)
    norm = normal(written)
    begin = max((norm.rfind(stop, 0, a) + 1 for stop in "。!?\n"), default=0)
    ends = [i for i in (norm.find(stop, a) for stop in "。!?\n") if i >= 0]
    words = trim(written[begin : min(ends, default=len(written))])
    if parts["slip_own"].search(normal(words)) is None or parts["slip_foreign"].search(normal(words)) is not None:
        return []
    return [
        Candidate(
            subject=me,
            relation="about",
            object=words,
            object_normalized=fold(words),
            text=words,
            confidence=0.4,
            relation_confidence=0.3,
            is_about_user=me == "user",
            speaker=speaker,
            move="correct" if instead else "state",
            reach="subject" if instead else "slot",
            wrong_object=instead,
            valid_from=utterance.at,
            said_at=utterance.at,
            evidence=(evidence,),
            rule="open",
        )
    ]


def _upheld(
    slip: Slip,
    turns: Sequence[Turn],
    utterance: Utterance,
    evidence: Evidence,
    heard: Callable[[Turn], Sequence[Candidate]],
) -> tuple[list[Candidate], list[Anchor]] | None:
    """What the user had said rightly and the assistant got wrong, said again ("不是青岛，是烟台")."""
    last = next((t for t in reversed(turns) if t.role == "assistant"), None)
    if last is None or (slip.wrong and slip.wrong not in normal(last.content)):
        return None
    for turn in told_last(turns):
        if slip.value not in normal(turn.content):
            continue
        again = [
            replace(c, move="state", valid_from=utterance.at, said_at=utterance.at, evidence=(evidence,))
            for c in heard(turn)
            if c.is_positive and slip.value in normal(f"{c.object} {c.text}")
        ]
        return again, [_anchor(again, evidence, utterance)] if again else []
    return None


__all__ = ["RULE", "Slip", "apart", "corrected", "put_in_place", "slip_of", "told_last"]
