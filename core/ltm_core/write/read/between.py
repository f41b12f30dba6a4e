"""Somebody who is named between commas, whose life the rest of the sentence tells: "A pupil of mine, Jonas, has
dyslexia"; "Carla, the other developer on my project, codes on Windows". Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ltm_core.write.read.people import is_own_affair, lead
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import trim

_BARE_NAME = "name_between"
_WORD = re.compile(r"[\w-]+")


@dataclass(frozen=True, slots=True)
class Told:
    """Whose life a clause tells, and the words before it that name him; nobody's where it only says who he is."""

    name: str = ""
    words: str = ""
    owned: bool = False
    """Whether he is told by whose he is, of whom the clause does not tell ("Grandma's carer, Lucinda, …")."""


def told_between(reads: Sequence[Read], lexicon: Lexicon) -> dict[int, Told]:
    """The clauses that tell of somebody else, who is named between commas, by their place: nothing is told by what
    he is and by the name alone."""
    found: dict[int, Told] = {}
    for i in range(len(reads) - 1):
        if "other_named" not in lexicon.rules(reads[i].clause.language).parts:
            continue
        name: str | None = _of_two(reads[i : i + 2], lexicon)
        if name:
            others = _is_own_affair(reads[i], lexicon)
            found |= {i: Told(), i + 1: Told("" if others else name, trim(_said(reads[i], lexicon)))}
        name = _of_three(reads[i : i + 3], lexicon) if i + 2 < len(reads) else None
        if name and not reads[i + 2]["first_person"] and _is_own_affair(reads[i], lexicon):
            name = ""
        if name is not None:
            words = f"{trim(_said(reads[i], lexicon))}, {trim(reads[i + 1].clause.text)}"
            owned = _match("owned_alone", reads[i], lexicon) is not None
            found |= {k: Told(owned=owned) for k in (i, i + 1)} | {i + 2: Told(name, words if name else "", owned)}
    return found


def _of_two(reads: Sequence[Read], lexicon: Lexicon) -> str:
    """The name in "my neighbour Mr Poole, has two whippets": what he is, his name, and what he has."""
    one, told = reads
    if one.clause.sentence != told.clause.sentence:
        return ""
    named = _match("other_named", one, lexicon) if _goes_on(told, lexicon) else None
    if not named and _match("own_does", told, lexicon) is not None and not _is_kin(one, lexicon):
        named = _match("own_named", one, lexicon)
    return named or ""


def _of_three(reads: Sequence[Read], lexicon: Lexicon) -> str | None:
    """The name where it stands between what he is and what he does, if he is one of the speaker's own; "" for a
    stranger, of whom nothing is kept ("Ann Moss, the head of the bank, runs daily"; "one of the dads, Saul, fosters
    greyhounds"); None when nobody is named."""
    first, second, told = reads
    if not first.clause.sentence == second.clause.sentence == told.clause.sentence:
        return None
    name = _match(_BARE_NAME, second, lexicon)
    if name and _goes_on(told, lexicon) and _match("other_alone", first, lexicon) is not None:
        return name
    does = name and _match("own_does", told, lexicon) is not None
    if name and does and _match("own_alone", first, lexicon) is not None and not _is_kin(first, lexicon):
        return name
    if name and _match("is_one_of_ours", told, lexicon) is not None:
        return name
    if name and does and _match("phrase_alone", first, lexicon) is not None and not _is_kin(first, lexicon):
        return ""
    name = _match(_BARE_NAME, first, lexicon)
    spoken_of_us = any(r["first_person"] for r in reads)
    if name and not spoken_of_us and _goes_on(told, lexicon) and _match("says_who", second, lexicon) is not None:
        return ""
    return None


def _is_own_affair(r: Read, lexicon: Lexicon) -> bool:
    """Whether the words say of the one named next that his life is his own affair ("the man next door to us")."""
    return is_own_affair(f"{trim(_said(r, lexicon))} has", lexicon.rules(r.clause.language))


def _is_kin(r: Read, lexicon: Lexicon) -> bool:
    """Whether the clause begins with a relative or an animal, who is known by more than the name."""
    rules = lexicon.rules(r.clause.language)
    words = _WORD.findall(r.clause.norm.partition(",")[0])
    last = words[-1] if words else ""
    return last in rules.kin or last in rules.pets


def _goes_on(r: Read, lexicon: Lexicon) -> bool:
    parts = lexicon.rules(r.clause.language).parts
    return any(parts[p].match(r.clause.norm) is not None for p in ("goes_on", "has_trait") if p in parts)


def _match(part: str, r: Read, lexicon: Lexicon) -> str | None:
    """The name that an expression finds in a clause, "" when it has none to find; None when it does not match."""
    rules = lexicon.rules(r.clause.language)
    found = rules.parts[part].match(r.clause.norm[lead(r.clause.norm, rules) :]) if part in rules.parts else None
    if found is None:
        return None
    name = found.groupdict().get("name") or ""
    return "" if name.lower() in lexicon.sets["no_names"] else name


def _said(r: Read, lexicon: Lexicon) -> str:
    """The words of a clause without "and", "by the way"."""
    return r.clause.text[lead(r.clause.norm, lexicon.rules(r.clause.language)) :]
