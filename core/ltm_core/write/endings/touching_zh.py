"""Chinese sentences that only touch on what a known fact is about: a part of it ("吉他的一弦崩断了"), what else is
at a place it names ("人民路上的药店搬走了"), somebody else's doing ("师兄换导师了"), another of its sort, one of
several ("死了一条，其他都好"), a lesson of a course, or an event after which all goes on. They end nothing that is
known of it. Pure."""

from __future__ import annotations

import re

from ltm_core.types import Fact
from ltm_core.write.endings.beside_zh import is_told, tells_of_beside
from ltm_core.write.words.expressions import Expression
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold

_LEAST = 2
"""Characters of the name of a whole that is known again without its last one."""


def touches_zh(fact: Fact, text: str, lexicon: Lexicon) -> bool:
    """Whether a Chinese sentence names what the fact is about only to tell of something else."""
    parts = lexicon.rules("zh").parts
    said, told = fold(text), fold(f"{fact.subject} {fact.relation} {fact.text} {fact.object}")
    once, some, lesson = (parts[p].search(said) for p in ("held_once", "some_died", "lesson_done"))
    if once is not None:
        return True
    if some is not None and parts["only_one_told"].search(told) is None:
        return True
    if lesson is not None and _is_not_last(lesson, said, told, lexicon):
        return True
    if tells_of_beside(fact, said, told, lexicon) or _goes_well(said, told, lexicon):
        return True
    there = parts["elsewhere"].match(said)
    if there is not None and there["who"] not in told and not is_told(there["what"], told):
        return True
    if _is_done_by_another(said, told, parts["done_by_another"]):
        return True
    if _goes_on(said, told, parts["goes_on_beside"]) or _is_rival(said, told, parts["rivals"]):
        return True
    moved = parts["group_moved"].match(said)
    if moved is not None and moved["what"] in told and parts["belongs"].search(told) is not None:
        return True
    if parts["awaited"].search(told) is not None:
        return False
    done = fact.relation == "likes" or fact.relation in lexicon.sets["activities"]
    if done and parts["gear_broken"].search(said) is not None:
        return True  # what is done goes on when something used for it breaks
    used = parts["used_up"].match(said)
    if used is not None and done and used["what"] in told:
        return True
    if fact.relation in ("has_pet", "name") and _is_something_of_it(parts["thing_of_one"].match(said), told):
        return True
    return any(_is_something_of_it(parts[p].match(said), told) for p in ("something_of", "part_broken"))


def _is_something_of_it(m: re.Match[str] | None, told: str) -> bool:
    """Whether what is told of is not named in the fact, but that of which or where it is."""
    if m is None:
        return False
    whole, what = m["whole"], m["what"]
    if not (whole in told or (len(whole) > _LEAST and whole[:-1] in told)):
        return False
    return not is_told(what, told)


def _is_not_last(lesson: re.Match[str], said: str, told: str, lexicon: Lexicon) -> bool:
    """Whether a lesson or a session that is done was not the last of those that the fact tells."""
    if lexicon.rules("zh").parts["lesson_last"].search(said) is not None:
        return False
    return (lesson["nth"] or lesson.group()[:1]) not in told


def _goes_well(said: str, told: str, lexicon: Lexicon) -> bool:
    """Whether a sentence ends with nothing being wrong or with a thing mended, or tells the price of something of
    which the fact says no amount."""
    parts = lexicon.rules("zh").parts
    if parts["all_well"].search(said) is not None:
        return True
    if parts["priced_at"].search(said) is not None and parts["amount"].search(told) is None:
        return True
    return parts["cared_for"].search(said) is not None and parts["out_of_order"].search(told) is None


def _is_done_by_another(said: str, told: str, another: Expression) -> bool:
    """Whether the sentence begins with somebody of whom the fact says nothing."""
    m = another.match(said)
    return m is not None and m["who"] not in told


def _goes_on(said: str, told: str, goes_on: Expression) -> bool:
    """Whether the sentence ends with what goes on, or is left ("车贷还清了，只剩房贷"), and the fact is of that."""
    m = goes_on.search(said)
    if m is None:
        return False
    left = (m["left"] or m["left2"]).removesuffix("的")
    return left in told and left not in said[: m.start()]


def _is_rival(said: str, told: str, rivals: Expression) -> bool:
    """Whether the sentence names a debt, a bill or a cover, and the fact another ("车贷还清了", "房贷")."""
    one, two = ({(m.lastgroup, m.group()) for m in rivals.finditer(t)} for t in (said, told))
    sorts = {sort for sort, _ in one} & {sort for sort, _ in two}
    return bool(sorts) and not one & two
