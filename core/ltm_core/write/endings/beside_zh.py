"""Chinese sentences that begin with somebody or something beside what a known fact is about: one member of the
group who left it ("我们社的副社长辞了"), another thing at the place ("救助站那条小黑被领养走了"), a part that has a
name of its own ("表带断了"), the service of another provider. They end nothing that is known. Pure."""

from __future__ import annotations

import re

from ltm_core.types import Fact
from ltm_core.write.words.lexicon import Lexicon

_LEAST = 2
"""Characters by which a Chinese thing is known again."""


def tells_of_beside(fact: Fact, said: str, told: str, lexicon: Lexicon) -> bool:
    """Whether the sentence (folded) begins with somebody or something else than the fact (``told``, folded)."""
    parts = lexicon.rules("zh").parts
    if parts["no_concern"].search(said) is not None:
        return True
    another, theirs = parts["another_one"].match(said), parts["neighbours_own"].match(said)
    if (another is not None and "另" not in told) or (theirs is not None and theirs["who"] not in told):
        return True
    return (
        _is_one_of_them(said, told, lexicon)
        or (fact.subject == (fact.speaker or "user") and _is_their_try(said, told, lexicon))
        or _is_other_there(said, told, lexicon)
        or _is_part_alone(said, told, lexicon)
        or _is_service_of_another(said, told, lexicon)
        or _is_facet_in_charge(said, told, lexicon)
    )


def is_told(what: str, told: str) -> bool:
    """Whether the fact holds any of what a noun is made of."""
    return any(what[i : i + _LEAST] in told for i in range(max(1, len(what) - 1)))


def _is_one_of_them(said: str, told: str, lexicon: Lexicon) -> bool:
    """Whether somebody of the place or the group went of whom the fact says nothing, and it goes on without him."""
    parts = lexicon.rules("zh").parts
    m = parts["one_of_them"].match(said)
    if m is None or parts["all_over"].search(said, m.end()) is not None:
        return False
    return bool(m["some"]) or not (m["who"] in told or f"姓{m['who'][:1]}" in told)


def _is_their_try(said: str, told: str, lexicon: Lexicon) -> bool:
    """Whether one of the family gave up what he was taught ("教侄女打字，她学了两天就放弃了"), and the fact is not of
    him."""
    rules = lexicon.rules("zh")
    m = rules.parts["their_try"].search(said)
    if m is None or "我" in said[: m.start()]:
        return False
    return any(len(k) > 1 and k in said[: m.start()] and k not in told for k in rules.kin)


def _is_other_there(said: str, told: str, lexicon: Lexicon) -> bool:
    """Whether another thing went that was at the place which the fact names, or in a public one."""
    parts = lexicon.rules("zh").parts
    m = parts["other_there"].match(said)
    if m is None:
        return False
    whole, what = m["whole"], m["what"].rpartition("的")[2]
    if whole not in told and parts["public_place"].search(whole) is None:
        return False
    return not is_told(what, told) and what[-1:] not in told


def _is_part_alone(said: str, told: str, lexicon: Lexicon) -> bool:
    """Whether a part or an accessory went, and the fact is not of it."""
    m = lexicon.rules("zh").parts["part_alone"].match(said)
    return m is not None and m["part"] not in told


def _is_service_of_another(said: str, told: str, lexicon: Lexicon) -> bool:
    """Whether what was given up is the service of a provider, and the fact is of another of its sort; not when
    something is taken up for it ("换成联通了")."""
    parts = lexicon.rules("zh").parts
    if parts["left_for_good"].search(said) is None or parts["takes_up"].search(said) is not None:
        return False
    one, two = ({(m.lastgroup, m.group()) for m in parts["service_left"].finditer(t)} for t in (said, told))
    sorts = {sort for sort, _ in one} & {sort for sort, _ in two}
    return bool(sorts) and not one & two


def _is_facet_in_charge(said: str, told: str, lexicon: Lexicon) -> bool:
    """Whether only who is in charge of what the fact tells changed, and the fact does not name him."""
    m: re.Match[str] | None = lexicon.rules("zh").parts["in_charge_changed"].match(said)
    return m is not None and m["facet"] not in told and is_told(m["what"], told)
