"""States that are over once something else is told, whatever the words have in common: "I'm single" after "I have a
boyfriend now", "we're expecting" after "the little one arrived". Data: ``opposites`` and ``outcomes.toml`` of the
lexicon. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ltm_core.types import Fact
from ltm_core.write.endings.slots import another_value, tells_value, value_of
from ltm_core.write.endings.touching import goes_on_as_name, tells_of_another
from ltm_core.write.known.mentions import stem
from ltm_core.write.known.rows import is_late
from ltm_core.write.plan import Candidate
from ltm_core.write.words.lexicon import Lexicon, Opposite
from ltm_core.write.words.norm import fold, normal

THINGS = ("x", "x2", "x3", "x4", "x5", "x6")
"""Groups of both expressions of which one names what they are about, where there may be several ("owe {x} 500")."""
_INTRODUCES = 8
"""Characters between the words for somebody and his name."""
_END = re.compile(r"[,;，；。.!?！？]")
_WORD = re.compile(r"[^\W_]+")
_NUMBERED = re.compile(r"[\w/.-]*\d[\w/.-]*")
"""What numbers a thing instead of naming it ("ticket TK-3390")."""


@dataclass(frozen=True, slots=True)
class Gone:
    """What some words make over."""

    by: Opposite
    function: frozenset[str]
    heads: frozenset[str]
    """Nouns that stand for the whole of what the word before them names."""
    thing: str = ""
    """What the words are about, folded; empty when they do not say."""
    after: str = ""
    """The noun behind it, if it only says of what that is ("the iPad pencil")."""
    value: str = ""
    """The value that the words give, where there is one at a time."""
    text: str = ""
    """All that was said."""
    said: str = ""
    """The words that tell it."""

    def is_of(self, words: str, said: str) -> bool:
        """Whether some words are, or introduce, him whom the value names ("a lad called Kyle")."""
        at, told = said.find(words), normal(said).find(self.value)
        return bool(self.value) and (words in self.value or 0 <= told - at - len(words) <= _INTRODUCES)

    def ends(self, fact: Fact) -> bool:
        """Whether the fact is of what cannot be true any more."""
        if not (fact.is_positive or self.by.denied):
            return False
        m = self.by.was.search(normal(f"{fact.text}\n{fact.object}"))
        if m is None:
            return False
        held = fold(_named(m))
        if held and self.after and self.after not in fold(fact.text):
            return False
        if held and self.thing and not _same(held, self.thing, self.function, self.heads):
            return False
        return another_value(self.by, m, fact, value=self.value, text=self.text, function=self.function)


def tells_opposite(text: str, lexicon: Lexicon, *, events: bool = False) -> tuple[Gone, ...]:
    """What cannot be true any more when the words are ("I have a boyfriend now": "single"); nothing of what is still
    to come, or stands after a denial in its clause. ``events``: also by what happened."""
    found: list[Gone] = []
    possible = lexicon.opposites.possible(text)
    if events:
        for language, known in lexicon.events.items():
            if language == "en" or not text.isascii():
                possible += known.possible(text)
    for by in possible:
        m = by.now.search(text)
        if m is None or _is_denied(text[: m.start()], lexicon) or not tells_value(by, m, text, lexicon):
            continue
        thing, after = fold(_named(m)), _noun_after(m, text, lexicon)
        heads = lexicon.sets["whole_heads"]
        found.append(Gone(by, lexicon.gate.function, heads, thing, after, value_of(m), text, m.group()))
    return tuple(found) if found and lexicon.shared["ahead"].search(text) is None else ()


def opposed(fact: Fact, gone: Sequence[Gone]) -> bool:
    """Whether the fact is of what cannot be true any more."""
    return any(g.ends(fact) for g in gone)


def over_by(c: Candidate, facts: Iterable[Fact], lexicon: Lexicon) -> tuple[list[Fact], tuple[Opposite, ...]]:
    """The facts, told by the same speaker in an earlier message, that the words make over, and by which knowledge.

    What may be over for any of the speaker's people is so for the one that the words tell of, or else for the
    speaker, his partner, the one other for whom it holds.
    """
    gone = tells_opposite(normal(c.text), lexicon, events=True)
    # "little man is weaned": a child is called so without "my"
    whose = lexicon.rules("en").kin.get(c.subject, c.subject)
    told = {e.message_id for e in c.evidence}
    open_ = [
        f for f in (facts if gone else ()) if _may_be_over(f, c) and not any(e.message_id in told for e in f.evidence)
    ]
    over: list[Fact] = []
    by: dict[Opposite, None] = {}
    for g in gone:
        held = [f for f in open_ if g.ends(f) and not tells_of_another(f, c.text, lexicon)]
        mine = [f for f in held if fold(f.subject) == fold(c.subject)]
        # "my visa" is not the sister's
        others = not g.thing or "'s" in g.thing or f"my {g.thing}" not in fold(c.text)
        if not mine and g.by.anyone and others and (_is_own(c) or whose in lexicon.sets["young"]):
            mine = [f for f in held if _is_own(f)]
            if not mine and (_is_own(c) or not g.by.gives_value):
                mine = _only_one(held, lexicon)
        if not mine and g.by.anyone:  # "公公能自己吃饭了": what one did for him
            mine = [f for f in held if _is_own(f) and _names_kin(f, c.subject, lexicon)]
        if g.by.one and not _told_at_once(mine):
            continue
        over += [f for f in mine if f not in over]
        by.update((g.by, None) for _ in mine[:1])
    return over, tuple(by)


def _only_one(held: Sequence[Fact], lexicon: Lexicon) -> list[Fact]:
    """The facts of the partner, or of the only one of whom there are any."""
    partners = [f for f in held if f.subject in lexicon.sets["partners"]]
    return partners or (list(held) if len({fold(f.subject) for f in held}) == 1 else [])


def _names_kin(f: Fact, key: str, lexicon: Lexicon) -> bool:
    """Whether a Chinese fact names the relative whose key it is."""
    return any(k == key and word in f.text for word, k in lexicon.rules("zh").kin.items())


def _told_at_once(facts: Sequence[Fact]) -> bool:
    """Whether the facts were told in one message: they are of one thing."""
    return len({e.message_id for f in facts for e in f.evidence[:1]}) == 1


def _is_own(row: Fact | Candidate) -> bool:
    """Whether it tells of the speaker himself."""
    return row.subject == (row.speaker or "user")


def _may_be_over(f: Fact, c: Candidate) -> bool:
    return (
        f.modality != "past"
        and f.asserted_by == "user"
        and f.kind not in ("solution", "procedure")
        and (f.speaker or None) == (c.speaker or None)
        and not is_late(c, f)
    )


def _named(m: re.Match[str]) -> str:
    return next((m[g] for g in THINGS if g in m.re.groupindex and m[g]), "")


def _noun_after(m: re.Match[str], text: str, lexicon: Lexicon) -> str:
    """The noun, if one follows the name found with which the match ends."""
    group = next((g for g in THINGS if g in m.re.groupindex and m[g]), None)
    if group is None or m.end(group) != m.end() or not goes_on_as_name(text, m.end(), lexicon):
        return ""
    return str(_WORD.findall(fold(text[m.end() :].removeprefix("'s")))[0])


def _same(one: str, other: str, function: frozenset[str], heads: frozenset[str]) -> bool:
    """Whether two names may be of one thing: one holds the other's words, and no other number. What is said ends in
    a word of the thing that is known (``one``), or in one that stands for it: an iPad's pencil is no iPad."""
    if one == other:
        return True
    if not (one.isascii() and other.isascii()):
        return one in other or other in one
    left, right = ({stem(w) for w in _WORD.findall(v) if w not in function} for v in (one, other))
    numbers = [{w for w in words if any(ch.isdigit() for ch in w)} for words in (left, right)]
    if all(numbers) and numbers[0] != numbers[1]:
        return False
    last = [w for w in _WORD.findall(_NUMBERED.sub("", other)) if w not in function][-1:]
    if right > left and last and stem(last[0]) not in left and last[0] not in heads and "'s" not in other:
        return False
    return bool(left & right) and (left <= right or right <= left or numbers[0] == numbers[1] != set())


def _is_denied(before: str, lexicon: Lexicon) -> bool:
    """Whether a denial stands before in the same clause ("we still haven't got the keys")."""
    clause = _END.split(before)[-1]
    denies = lexicon.rules("en" if clause.isascii() else "zh").flags["negation"]
    if lexicon.rules("en").parts["not_quite"].search(before) is not None:
        return True  # "he nearly became a Catholic"
    return bool(clause.strip()) and denies.search(clause) is not None
