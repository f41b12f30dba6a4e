"""Chinese sentences that tell of an event by which something has another value now, naming only that one: "老师涨
到三百了", "我被分到华东区了", "厨房里换成了橄榄油", "舞队的场子挪到了小公园". Pure.

Which known fact is of that something is found beside the store. What the event gave must be a value of the fact's own
kind: a number of the same unit, another thing of the same head ("菜籽油", "橄榄油"), of the same sort by its name, or
another place of what the fact says to be somewhere. And both must have a word for the same matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ltm_core.types import Fact
from ltm_core.write.endings.touching_zh import touches_zh
from ltm_core.write.known.news import words
from ltm_core.write.known.revalued_zh import in_one_group, matter, share_words, single_values, values
from ltm_core.write.known.rows import is_late, told_before
from ltm_core.write.known.sorts import are_exclusive
from ltm_core.write.plan import Candidate
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold, normal

_CLAUSE = re.compile(r"[^，,。；;!?！？]+")
_DATED = re.compile(r" \(\d{4}[^)]*\)$")
_AMOUNTS = ("money", "count", "measure", "portion")
_HELD_ONCE = ("clock", "weekday")
"""Kinds of values of which a day may have another for once ("今天睡到八点")."""


def tells_anew(text: str, lexicon: Lexicon) -> bool:
    """Whether Chinese words tell of an event that gave something another value."""
    parts = lexicon.rules("zh").parts
    if text.isascii() or parts["anew"].search(text) is None or parts["anew_more"].search(text) is not None:
        return False
    if any(parts[p].search(text) for p in ("anew_bare", "anew_moved", "anew_switch", "anew_verb")):
        return True
    if any(parts["anew_head"].search(m["object"]) for m in parts["anew_thing"].finditer(text)):
        return True
    return any(True for kind in {k for k, _ in values(text, lexicon)} for _ in _new_values(kind, text, lexicon))


def told_anew(c: Candidate, facts: Iterable[Fact], lexicon: Lexicon) -> list[Fact]:
    """The facts, told in one earlier message, of which the sentence tells another value; none if it is not clear."""
    text = normal(c.text)
    if not tells_anew(text, lexicon):
        return []
    found = [f for f in facts if _may_be_over(f, c) and _has_other_value(f, text, lexicon)]
    found = [f for f in found if _is_whose(f, c, text, lexicon) and not touches_zh(f, text, lexicon)]
    mine = [f for f in found if fold(f.subject) == fold(c.subject)] or found
    return mine if len({e.message_id for f in mine for e in f.evidence[:1]}) == 1 else []


def _may_be_over(f: Fact, c: Candidate) -> bool:
    same = (f.speaker or None) == (c.speaker or None)
    return same and not f.text.isascii() and told_before(f, c) and not is_late(c, f)


def _is_whose(f: Fact, c: Candidate, text: str, lexicon: Lexicon) -> bool:
    """Whether what the sentence tells may have happened to the one whom the fact is about: a clause without a subject
    may be anybody's of whom the message tells, but what is done for a relative is his."""
    rules = lexicon.rules("zh")
    me = f.speaker or "user"
    if f.subject == me:
        return rules.parts["anew_to_kin"].search(text) is None or rules.parts["anew_to_me"].search(text) is not None
    if fold(f.subject) == fold(c.subject):
        return True
    named = {key for word, key in rules.kin.items() if word in text} - {"child"}
    mine = rules.parts["anew_mine"].search(text) is not None
    return c.subject == me and not mine and (not named or f.subject in named)


def _has_other_value(f: Fact, text: str, lexicon: Lexicon) -> bool:
    held = _DATED.sub("", normal(f.text))
    if _other_number(held, text, lexicon):
        return True
    if f.relation.partition(":")[0] in lexicon.sets["anew_not"]:
        return False
    return any(other(held, text, lexicon) for other in (_other_of_head, _other_place, _other_sort, _other_way))


def _other_number(held: str, text: str, lexicon: Lexicon) -> bool:
    """Whether the sentence gives what the fact counts, measures or dates another number, or another of its kind."""
    parts = lexicon.rules("zh").parts
    if parts["anew_never"].search(held) is not None:
        return False
    once = lexicon.shared["this_once"].search(text) is not None
    bare = parts["held_bare"].search(held)
    for kind, old in [*single_values(held, lexicon), *([("money", bare)] if bare is not None else [])]:
        if (once and kind in _HELD_ONCE) or (kind == "drug" and parts["anew_swaps"].search(text) is None):
            continue
        for new, before in _new_values(kind, text, lexicon):
            if new.group() == old.group() or not _same_unit(old, new) or _is_of_else(held, before, lexicon):
                continue
            rest = text[: new.start()] + " " + text[new.end() :]
            sized = "unit" in new.re.groupindex and new["unit"] in lexicon.sets["sizes"]
            if sized or _of_one_matter(matter(held, old, lexicon), matter(text, new, lexicon), held, rest, lexicon):
                return True
    return False


def _new_values(kind: str, text: str, lexicon: Lexicon) -> Iterator[tuple[re.Match[str], str]]:
    """The values of a kind that an event gave in the sentence, each with what its clause says before the event; of
    amounts also without a unit ("涨到三百了")."""
    parts = lexicon.rules("zh").parts
    found = [new for k, new in values(text, lexicon) if k == kind]
    for m in _CLAUSE.finditer(text):
        for new in found:
            if not m.start() <= new.start() < m.end():
                continue
            before = text[m.start() : new.start()]
            given = parts["anew_before"].search(before)
            if given is not None:
                yield new, before[: given.start()]
            elif parts["anew_after"].match(text[new.end() : m.end()]):
                yield new, before
        for bare in parts["anew_bare"].finditer(text) if kind in _AMOUNTS else ():
            if m.start() <= bare.start() < m.end():
                yield bare, text[m.start() : bare.start()]


def _is_of_else(held: str, before: str, lexicon: Lexicon) -> bool:
    """Whether what stands before the event names something of which the fact does not tell ("电费" of the gas bill,
    "小红书的粉丝" of those elsewhere)."""
    parts = lexicon.rules("zh").parts
    of = parts["anew_of"].match(before)
    if of is None:
        return parts["anew_other"].match(before) is not None
    what = parts["beside_value"].sub("", of["what"])
    whose = of["whose"] or ""
    if len(whose) > 1 and not _shares(held, whose, lexicon):
        return True
    return len(what) > 1 and not (_shares(held, what, lexicon) or _is_matter(of["what"], held, lexicon))


def _same_unit(old: re.Match[str], new: re.Match[str]) -> bool:
    if "unit" not in old.re.groupindex or "unit" not in new.re.groupindex:
        return True
    return _UNITS.get(old["unit"][-1], old["unit"][-1]) == _UNITS.get(new["unit"][-1], new["unit"][-1])


_UNITS = {"楼": "层"}
"""Units that count the same."""


def _other_of_head(held: str, text: str, lexicon: Lexicon) -> bool:
    """Whether something came of the same head as what the fact names: another oil, class, lock."""
    parts = lexicon.rules("zh").parts
    for m in parts["anew_thing"].finditer(text):
        thing = m["object"]
        head = parts["anew_head"].search(thing)
        if head is None or thing in held:
            continue
        kind, last = thing[: head.start()][-2:], head.group()
        if _is_of_else(held, _clause_before(text, m.start()), lexicon):
            continue
        for known in re.finditer(rf"[一-鿿A-Za-z\d]{{1,2}}{last}", held):
            if not (kind and known.group().startswith(kind)):
                return True
        if last in lexicon.sets["lesson_heads"] and parts["learns_it"].search(held) is not None:
            return True  # "芭蕾", "街舞班"
    return False


def _other_place(held: str, text: str, lexicon: Lexicon) -> bool:
    """Whether the sentence moves what the fact says to be, or to be done, somewhere."""
    parts = lexicon.rules("zh").parts
    if parts["anew_placed"].search(held) is None:
        return False
    for m in parts["anew_moved"].finditer(text):
        what = m["what"].rpartition("的")[2] or m["what"]  # "医院的挂号窗口" is no hospital
        if m["place"] not in held and _shares(held, what, lexicon):
            return True
    return False


def _other_sort(held: str, text: str, lexicon: Lexicon) -> bool:
    """Whether the sentence tells of a switch to a name of the sort of the one in the fact ("电信", "移动")."""
    parts = lexicon.rules("zh").parts
    m = parts["anew_switch"].search(text)
    if m is None or not are_exclusive(held, text):
        return False
    return not _is_of_else(held, _clause_before(text, m.start()), lexicon)


def _other_way(held: str, text: str, lexicon: Lexicon) -> bool:
    """Whether the sentence gives the one verb of the fact another object or way ("打字用五笔", "改用双拼了"; "早上去
    江边跑步", "改成晚上跑了")."""
    parts = lexicon.rules("zh").parts
    verbs = {m.group() for m in parts["own_verb"].finditer(held)}
    return any(
        next(v for v in m.group("verb", "verb2", "verb3") if v) in verbs
        and next(v for v in m.group("object", "object2", "object3") if v) not in held
        and not _is_of_else(held, _clause_before(text, m.start()), lexicon)
        for m in parts["anew_verb"].finditer(text)
    )


def _of_one_matter(one: str, two: str, held: str, text: str, lexicon: Lexicon) -> bool:
    """Whether two values are of one thing by what stands beside them, or both texts have a word for one thing of
    everyday life, if not the same ("睡觉", "躺下")."""
    return share_words(one, two) or in_one_group(held, text, lexicon.sets["matters_zh"])


def _is_matter(what: str, held: str, lexicon: Lexicon) -> bool:
    """Whether a noun is itself a word for the matter of which the fact tells ("厨房里", "炒菜")."""
    name = what.removesuffix("里").removesuffix("上")
    return any(name in g.split("|") and any(w in held for w in g.split("|")) for g in lexicon.sets["matters_zh"])


def _clause_before(text: str, at: int) -> str:
    """What its clause says before a place in the text."""
    return text[:at].rpartition("，")[2]


def _shares(held: str, text: str, lexicon: Lexicon) -> bool:
    function = lexicon.gate.function
    return bool(words(held, function) & words(text, function))


__all__ = ["tells_anew", "told_anew"]
