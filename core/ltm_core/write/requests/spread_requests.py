"""Chinese requests to forget or to be silent, read over the clauses of a message.

The topic may stand in one clause, the order in the next, the reason behind them: "我弟弟的事，请全忘掉，看着难受。"
All of them belong to the request, and none of them states anything. Erasing cannot be undone: an order that names
nothing is fulfilled only where the clause before it is a mere topic.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ltm_core.write.read.scopes import Read
from ltm_core.write.requests.topic_zh import bare_topic
from ltm_core.write.words.norm import trim
from ltm_core.write.words.request_words import RequestWords, request_words

Mode = Literal["erase", "suppress"]
_MUTE = (
    "mute_ahead", "mute_alone", "mute_front", "mute_close", "mute_close_named",
    "mute_not", "mute_towards", "mute_silent", "mute_wish", "mute_taken", "mute_around", "mute_threat", "mute_let",
    "mute_past",
    "mute_behind",
)  # fmt: skip
_ERASE = ("erase_ahead", "erase_passive", "erase_alone", "erase_kept", "erase_behind", "erase_front")
"""Ways of saying an order, in the order in which they are tried."""
_BEFORE = (
    "private", "carped", "pained", "unwished", "unneeded", "set_aside", "fed_up", "told_wrongly",
    "told_before", "carped_about", "pained_after", "still_kept", "commented", "unwanted",
)  # fmt: skip
"""Clauses before an order that say what it is about."""
_BESIDE = ("beside", "carped", "pained", "erase_alone", "mute_alone", "private", "beside_loose")
_FOREIGN = frozenset(["fiction", "quotation", "injection", "conditional"])
_BACK = 3
"""Clauses before an order among which its topic is looked for."""
_SHORT = 12
"""Characters of a clause between the topic and the order, whatever it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One order of a message: what it is about, and the clauses that make it."""

    mode: Mode
    topic: str
    at: int
    """The clause in which the order stands."""
    clauses: tuple[int, ...]


def orders(reads: Sequence[Read]) -> tuple[Order, ...]:
    """Every order of the message that names something, in the order in which they stand."""
    words = request_words()
    found: list[Order] = []
    for i in range(len(reads)):
        made = _order(reads, i, found, words)
        if made is not None:
            # The same order once more belongs to the first.
            found = [*(o for o in found if (o.at, o.mode) != (made.at, made.mode)), made]
    return tuple(_with_neighbours(found, reads, words))


def names_something(target: str, read: Read, *, quiet: bool) -> bool:
    """Whether the target is a topic, and the clause no order for the moment, nor one about how answers are worded."""
    words, topic = request_words(), bare_topic(target)
    if not topic or any(words[n].search(read.clause.norm) for n in ("only_now", "of_others")):
        return False
    return not (quiet and words["style_words"].search(topic))


def _readable(reads: Sequence[Read], i: int) -> bool:
    """Whether the clause is the speaker's own word; a condition that only courts or names a topic is its own."""
    read = reads[i]
    if read.clause.language != "zh":
        return False
    if read.veto == "fiction":  # "就当我没说过" is no game
        opener = next(r for r in reads[: i + 1] if r.veto == "fiction" and r.clause.sentence == read.clause.sentence)
        return request_words()["erase_alone"].match(trim(opener.clause.norm)) is not None
    if read.veto not in ("conditional", "quotation"):
        return read.veto not in _FOREIGN
    first = next(r for r in reads[: i + 1] if r.clause.sentence == read.clause.sentence)
    return request_words()["no_frame"].match(trim(first.clause.norm)) is not None


def _order(reads: Sequence[Read], i: int, before: Sequence[Order], words: RequestWords) -> Order | None:
    read = reads[i]
    norm = read.clause.norm
    if not _readable(reads, i) or words["only_now"].search(norm):
        return None
    for mode, said in _said(read, words):
        if said is None:  # an order without a topic
            known = next((o for o in before if i - max(o.clauses) <= 1 and o.mode == mode), None)
            if known is not None:
                return Order(mode=mode, topic=known.topic, at=known.at, clauses=(*known.clauses, i))
            back = _topic_before(reads, i, words)
            if back is None or (mode == "erase" and not _is_meant(reads, (back[0], i), words)):
                continue
            return Order(mode=mode, topic=back[1], at=i, clauses=tuple(range(back[0], i + 1)))
        topic = bare_topic(said)
        if topic and (words["of_others"].search(norm) or (mode == "suppress" and words["style_words"].search(topic))):
            return None
        if mode == "erase" and not _is_meant(reads, (i,), words):
            continue
        if topic:
            if _points(said, words):
                back = _topic_before(reads, i, words)
                if back is not None:
                    return Order(mode=mode, topic=back[1], at=i, clauses=tuple(range(back[0], i + 1)))
            return Order(mode=mode, topic=topic, at=i, clauses=(i,))
        back = _topic_before(reads, i, words)
        if back is not None:
            return Order(mode=mode, topic=back[1], at=i, clauses=tuple(range(back[0], i + 1)))
    return None


def _said(read: Read, words: RequestWords) -> Iterator[tuple[Mode, str | None]]:
    """What the clause orders, and the words of its topic; None for an order that stands alone."""
    norm = read.clause.norm
    ways: tuple[tuple[Mode, tuple[str, ...]], ...] = (
        ("suppress", _MUTE),
        ("erase", _ERASE),
    )
    for mode, names in ways:
        for name in names:
            m = words[name].match(norm)
            if m is None:
                continue
            yield mode, read.clause.text[slice(*m.span("topic"))] if "topic" in m.groupdict() else None
            break


def _is_meant(reads: Sequence[Read], clauses: Sequence[int], words: RequestWords) -> bool:
    """Whether the assistant's memory is meant, and an order is given.

    "把牛奶去掉", "我的生日你忘了", "怎么删掉记录" and "我把他忘了" are none.
    """
    told = "，".join(reads[i].clause.norm for i in clauses)
    if words["not_asked"].search(told):
        return False
    if told.rstrip().endswith("?") and not words["asked_politely"].search(told):
        return False
    remembered = words["memory"].search(told) is not None
    asked = words["ask_polite"].search(told) is not None
    if words["weak_order"].search(told):
        return words["vault"].search(told) is not None
    return remembered or asked


def _points(said: str, words: RequestWords) -> bool:
    """Whether the words only point at what another clause names ("那个数字", "这条")."""
    return words["points"].match(trim(said)) is not None


def _topic_before(reads: Sequence[Read], i: int, words: RequestWords) -> tuple[int, str] | None:
    """The clause before an order that is a mere topic, and its words."""
    for j in range(i - 1, max(-1, i - 1 - _BACK), -1):
        read = reads[j]
        if not _readable(reads, j) or reads[i].clause.sentence - read.clause.sentence > 1:
            return None
        norm = read.clause.norm
        if words["all_but"].search(norm):
            return None
        for name in _BEFORE:
            m = words[name].match(norm)
            if m is not None and (topic := bare_topic(read.clause.text[slice(*m.span("topic"))])):
                return j, topic
        if words["heading"].search(norm) and (topic := bare_topic(read.clause.text)):
            return j, topic
        if len(norm) > _SHORT and not any(words[name].match(norm) for name in _BESIDE):
            return None
    return None


def _with_neighbours(found: Sequence[Order], reads: Sequence[Read], words: RequestWords) -> Iterator[Order]:
    """The orders with the clauses beside them that state nothing: the reason, a courtesy, the order once more."""
    taken = {i for o in found for i in o.clauses}
    for order in found:
        mine = set(order.clauses)
        for step in (1, -1):
            j = (max if step == 1 else min)(mine) + step
            while 0 <= j < len(reads) and j not in taken and _stands_beside(reads[j], words):
                mine.add(j)
                taken.add(j)
                j += step
        yield Order(mode=order.mode, topic=order.topic, at=order.at, clauses=tuple(sorted(mine)))


def _stands_beside(read: Read, words: RequestWords) -> bool:
    norm = read.clause.norm
    return any(words[n].match(norm) for n in _BESIDE)
