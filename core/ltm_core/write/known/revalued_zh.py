"""A Chinese statement that gives the one value of a known one another of its kind: another hour, class, price,
length, or another doctor ("肉燕卖十五块一碗", "从今天起肉燕卖十八块一碗"). Pure.

Nothing but the value may differ: what else they say is compared character by character, without the words of time, of
whom they tell, and those that name any thing of a sort.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ltm_core.types import Fact
from ltm_core.write.plan import Candidate
from ltm_core.write.words.lexicon import Lexicon

_FORMS = {
    "grade": "form_grade",
    "person": "form_person",
    "shift": "form_shift",
    "weekday": "right_weekday",
    "clock": "right_clock",
    "measure": "right_measure",
    "money": "right_money",
    "count": "right_count",
}
"""What a value can be, and the part of the rules that reads it; the first counts."""
_BY_EVENT = {"portion": "form_portion", "drug": "form_drug", "colour": "form_colour", "size": "form_size"}
"""Values of which one may have several, so that only an event says that one took the place of another."""
_READ = {**_FORMS, **_BY_EVENT}
_LEAST = 0.6
"""Share of the characters of the shorter statement that both must have besides their values."""


def tells_new_value(text: str, lexicon: Lexicon) -> bool:
    """Whether Chinese words say that a value which they give holds from now on."""
    tells = lexicon.rules("zh").parts["tells_now"].search(text)
    return tells is not None and any(kind in _FORMS for kind, _ in values(text, lexicon))


def revalued(fact: Fact, c: Candidate, lexicon: Lexicon) -> bool:
    """Whether the words give the one value of the fact another, and say that it is so now."""
    if fact.text.isascii() or c.text.isascii() or not c.is_positive or not fact.is_positive:
        return False
    if lexicon.rules("zh").parts["tells_now"].search(c.text) is None:
        return False
    old, new = dict(single_values(fact.text, lexicon)), dict(single_values(c.text, lexicon))
    kinds = [k for k in old if k in new and k in _FORMS]
    if len(kinds) != 1 or old[kinds[0]].group() == new[kinds[0]].group():
        return False
    one, two = old[kinds[0]], new[kinds[0]]
    if "unit" in one.re.groupindex and one["unit"][-1] != two["unit"][-1]:
        return False
    held, said = matter(fact.text, one, lexicon), matter(c.text, two, lexicon)
    few = min(len(set(held)), len(set(said)))
    if not said:
        return lexicon.rules("zh").parts["amount_moved"].search(c.text) is not None
    if few > 1 and not share_words(held, said):
        return False  # "学费" and "校车费"
    return few > 0 and len(set(held) & set(said)) >= _LEAST * few


def of_another(one: re.Match[str], two: re.Match[str], lexicon: Lexicon) -> bool:
    """Whether two values are told of things that have no word in common ("馄饨卖十五块", "肉燕卖十八块")."""
    held, said = matter(one.string, one, lexicon), matter(two.string, two, lexicon)
    return min(len(held), len(said)) > 1 and not share_words(held, said)


def share_words(one: str, two: str) -> bool:
    """Whether two rows of Chinese characters have a pair of them in common."""
    return any(one[i : i + 2] in two for i in range(len(one) - 1))


def in_one_group(one: str, two: str, groups: Iterable[str]) -> bool:
    """Whether both texts have a word of one of the groups, whose words stand between bars ("食堂|便当")."""
    return any(any(w in one for w in g) and any(w in two for w in g) for g in (g.split("|") for g in groups))


def values(text: str, lexicon: Lexicon) -> Iterator[tuple[str, re.Match[str]]]:
    """The values in a text, each with its kind."""
    parts = lexicon.rules("zh").parts
    taken: list[tuple[int, int]] = []
    for kind, form in _READ.items():
        for m in parts[form].finditer(text):
            if not any(a < m.end() and m.start() < b for a, b in taken):
                taken.append(m.span())
                yield kind, m


def single_values(text: str, lexicon: Lexicon) -> Iterator[tuple[str, re.Match[str]]]:
    """The kinds of which the text has one value, with it."""
    found = list(values(text, lexicon))
    for kind, m in found:
        if sum(k == kind for k, _ in found) == 1:
            yield kind, m


def matter(text: str, value: re.Match[str], lexicon: Lexicon) -> str:
    """What the value is of, in a row of characters."""
    parts = lexicon.rules("zh").parts
    rest = parts["beside_value"].sub("", text[: value.start()] + " " + text[value.end() :])
    return "".join(ch for ch in rest if "一" <= ch <= "鿿")


__all__ = [
    "in_one_group",
    "matter",
    "of_another",
    "revalued",
    "share_words",
    "single_values",
    "tells_new_value",
    "values",
]
