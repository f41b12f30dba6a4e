"""Which known value a new one takes the place of, under whatever name it is known."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ltm_core.types import Fact
from ltm_core.write.lexicon import Lexicon
from ltm_core.write.match import singular
from ltm_core.write.mentions import content
from ltm_core.write.norm import fold
from ltm_core.write.plan import Candidate
from ltm_core.write.renew import RULE as RENEWED

_DIGITS = re.compile(r"\d+")
_NAMED = ("single", "attribute", "schedule", "deadline", "budget")
_WORDS = re.compile(r"[\w'&:.-]+")
_MOST_DIFFERING = 3
"""Words of the value in which two statements of the same frame may differ."""
_LEAST_SHARED = 2
"""Words with a meaning that such statements share."""
_LONG_FRAME = 4
"""Words before the value from which one such word is enough."""
_LONGEST_DETAIL = 10
"""Characters of a statement that can be a mere detail."""


def takes_place(fact: Fact, candidate: Candidate, lexicon: Lexicon) -> bool:
    """Whether a value said to be new stands for the same thing as the fact's, under another name of it: the same
    noun ("coach", "running coach"), or tools of one sort ("switched to Arc")."""
    one, two = fact.relation.partition(":"), candidate.relation.partition(":")
    if candidate.rule == RENEWED and _gives_value(fact, two[2], lexicon):
        return True
    if two[0] in _NAMED:
        if one[0] in _NAMED:
            return _same_noun(one[2], two[2])
        return _is_slot_of(fact, two[2], lexicon)
    if same_frame(fact, candidate, lexicon):
        return True
    if candidate.rule == "open":
        noun = one[2] if one[0] in ("single", "attribute") else ""
        return len(noun) >= 2 and _holds_noun(candidate.text, noun)
    tools = ("uses", "drives", "device")
    if one[0] not in tools or two[0] not in tools:
        return False
    held, new = fact.object_normalized, candidate.object_normalized
    sort = lexicon.members.get(held, frozenset()) & lexicon.members.get(new, frozenset())
    return bool(sort) or _same_noun(held, new)


def same_frame(fact: Fact, candidate: Candidate, lexicon: Lexicon) -> bool:
    """Whether two English statements in the user's own words differ by one value alone ("I get my groceries from
    Tesco", "I get my groceries from Lidl now"): what they share must say more than that something is liked."""
    own = lexicon.sets["own_words"]
    if fact.relation not in own or candidate.relation not in own or not fact.text.isascii():
        return False
    now = lexicon.rules("en").parts["of_now"]
    one, two = (_WORDS.findall(now.sub("", v).casefold()) for v in (fact.text, candidate.text))
    before = next((i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    rest = list(zip(reversed(one[before:]), reversed(two[before:]), strict=False))
    after = next((i for i, (a, b) in enumerate(rest) if a != b), len(rest))
    left = len(one) - before - after, len(two) - before - after
    shared = content(" ".join(one[:before] + one[len(one) - after :]), lexicon)
    long = len(shared) >= _LEAST_SHARED or (len(shared) > 0 and before >= _LONG_FRAME)
    return before >= 2 and min(left) >= 1 and max(left) <= _MOST_DIFFERING and long


def same_verb(facts: Sequence[Fact], candidate: Candidate, lexicon: Lexicon) -> list[Fact]:
    """The facts whose verb a Chinese change of what is done ("改喝美式了") names ("早上喝拿铁"); what is counted
    ("每天喝两升水") is another matter."""
    parts, own = lexicon.rules("zh").parts, lexicon.sets["own_words"]
    changed = parts["changed_verb"].search(candidate.text)
    if changed is None:
        return []
    return [
        f
        for f in facts
        if changed["verb"] in f.text
        and not parts["is_counted"].search(f.text)
        and (f.relation == candidate.relation or f.relation in own)
    ]


def _is_slot_of(fact: Fact, noun: str, lexicon: Lexicon) -> bool:
    """Whether a fact that names no attribute is about the thing that the noun names: its words hold the noun, or its
    relation is known by it ("my major", "I study biology")."""
    if not noun.isascii() or not noun:
        return False
    if noun in lexicon.slot_nouns.get(fact.relation, ()):
        return True
    if fact.relation not in lexicon.sets["own_words"] and fact.relation not in ("has", "uses"):
        return False
    told, named = content(fact.text, lexicon), content(noun, lexicon)
    # A noun of function words alone ("my will") names nothing that could be looked for.
    return bool(named) and all(w in told for w in named)


def _gives_value(fact: Fact, noun: str, lexicon: Lexicon) -> bool:
    """Whether the fact says, in whatever words, what the value of a Chinese noun is: "我的工位在B区" for "工位",
    "还款用的是招行" for "还款卡"."""
    if len(noun) < 2 or noun.isascii():
        return False
    base, _, held = fact.relation.partition(":")
    if base in ("single", "attribute"):
        stands_for = held.endswith("的") and held.startswith((noun, noun[:2]))
        return stands_for or (held.startswith(noun) and len(held) == len(noun) + 1)
    if base not in lexicon.sets["own_words"] and base not in ("uses", "plays", "learns", "drives"):
        return False
    parts = lexicon.rules("zh").parts
    for name in (noun, noun[:-1]) if len(noun) > 2 else (noun,):
        for text in (fold(fact.text), fold(fact.object)):
            at = text.find(name)
            if at >= 0 and (
                parts["value_after"].match(text, at + len(name))
                or (at + len(name) == len(text) and parts["place_before"].search(text[:at]))
            ):
                return True
    return False


def is_detail_of(fact: Fact, other: Fact) -> bool:
    """Whether a Chinese statement only adds a figure to a value told just before it ("大王卡，39块那档")."""
    if fact.rule != "open" or not fact.is_positive or not _DIGITS.search(fact.object) or "我" in fact.object:
        return False
    return len(fact.object) <= _LONGEST_DETAIL and any(
        a.message_id == b.message_id and 0 <= a.start - b.end <= 1 for a in fact.evidence for b in other.evidence
    )


def _same_noun(one: str, two: str) -> bool:
    if one.isascii() and two.isascii():
        few, more = sorted(([singular(w) for w in v.split()] for v in (one, two)), key=len)
        return bool(few) and few[-1] == more[-1] and set(few) <= set(more)
    short, long = sorted((one, two), key=len)
    if len(short) >= 2 and long.endswith(short):
        return True
    tail = 0
    while tail < len(short) and short[-1 - tail] == long[-1 - tail]:
        tail += 1
    return tail >= 3 or (tail >= 2 and len(short) <= 5)


def _holds_noun(text: str, noun: str) -> bool:
    if noun.isascii():
        return re.search(rf"\b{re.escape(noun)}\b", text, re.I) is not None
    told = fold(text)
    return any(noun[i:] in told for i in range(len(noun) - 1))
