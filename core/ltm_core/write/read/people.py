"""Whose life a clause speaks of: the speaker's, his own people's or animals', the assistant's, a stranger's.

Relatives and animals keep their own subject under a canonical key (``sister``, ``cat:Mimi``), so that their
facts never meet the user's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from ltm_core.write.plan import Utterance
from ltm_core.write.read.clauses import Clause
from ltm_core.write.words.lexicon import Lexicon, Rules
from ltm_core.write.words.load import default_lexicon
from ltm_core.write.words.norm import trim

_OF_THE_HOUSE = ("wife", "husband", "children", "baby", "twins", "elder_child", "younger_child")
"""Whom "the" can name as one's own."""
_NEVER_OTHERS = ("kin", "pet", "pronoun", "assistant")
"""Kinds of subjects that are the speaker's own, or known already."""
_OWN_NAME = re.compile(r"^(?P<name>[A-Z][a-zé'-]+(?: [A-Z][a-zé'-]+)?)(?='s | |$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The subject of a clause and where what is said of it begins."""

    key: str
    """``user``, ``speaker:<name>``, ``assistant``, a relative or animal, or "" for a stranger."""
    rest: int
    """Offset in the clause after the subject."""
    start: int = 0
    """Offset in the clause after leading connectives and adverbials."""
    words: int = 0
    """Offset after leading connectives only: the statement's own words begin here."""
    kind: str = "self"
    """self, dropped, kin, pet, entity, circle, pronoun, assistant or stranger."""
    owns: bool = False
    """Possessive: what follows is something of the subject ("my sister's birthday")."""


def speaker_key(utterance: Utterance) -> tuple[str, str | None]:
    """Subject of the first person and the speaker's name to store: the user, or another of a group chat."""
    if utterance.name and utterance.me and utterance.name != utterance.me:
        return f"speaker:{utterance.name}", utterance.name
    return "user", None


def lead(norm: str, rules: Rules) -> int:
    """Where a clause begins after "and", "by the way", "remember that", …"""
    return _lead(norm, rules.language)


@lru_cache(maxsize=64)
def _lead(norm: str, language: str) -> int:
    """Asked by many readers of the same clause; by language, as the hash of an expression reads its whole code."""
    lexicon = default_lexicon()
    rules = lexicon.rules(language)
    found = rules.parts["lead"].match(norm)
    plain = found.end() if found and found.end() < len(norm) else 0
    asked = opened(norm, rules, lexicon) if language == "en" else 0
    return asked if plain < asked < len(norm) else plain


def opened(norm: str, rules: Rules, lexicon: Lexicon) -> int:
    """Characters of the words that ask to remember, with what stands between them and the words to keep."""
    request = rules.flags["remember"].match(norm)
    if request is None:
        return 0
    rest = norm[request.end() :].lstrip(" ,，:：")
    filler = lexicon.shared["remember_filler"].match(rest)
    return len(norm) - len(rest) + (filler.end() if filler else 0)


def subject_of(
    clause: Clause, lexicon: Lexicon, *, me: str, inherited: str = "", entities: Mapping[str, str] = {}
) -> Subject:
    """The subject of the clause; ``inherited`` is the relative or animal that the last clause spoke of."""
    rules = lexicon.rules(clause.language)
    words = lead(clause.norm, rules)
    adverbial = rules.parts["adverbial"].match(clause.norm[words:])
    start = words + (adverbial.end() if adverbial else 0)
    text = clause.norm[start:]
    the_kin = rules.parts.get("the_kin")
    if not clause.start and the_kin is not None and the_kin.match(text):
        text = f"our{text[3:]}"  # "The brother has bought a farm": so a message begins of one's own
    subject = _subject(text, start, rules, lexicon, me=me, inherited=inherited, entities=entities)
    others = rules.parts.get("anothers_life")
    if (subject.kind not in _NEVER_OTHERS and is_own_affair(text, rules)) or (
        others is not None and others.match(text) is not None
    ):
        subject = Subject(key="", rest=subject.rest, start=start, kind="stranger")
    return replace(subject, words=words)


def is_own_affair(text: str, rules: Rules) -> bool:
    """Whether a clause tells of a colleague, a neighbour, a friend among others, somebody met or somebody who serves
    the speaker, and of nothing that ties it to him: their lives are none of his facts."""
    parts = (rules.parts.get(name) for name in ("others_life", "served_life"))
    return any(part is not None and part.match(text) is not None for part in parts)


def _subject(
    text: str,
    start: int,
    rules: Rules,
    lexicon: Lexicon,
    *,
    me: str,
    inherited: str,
    entities: Mapping[str, str],
) -> Subject:
    first = rules.parts["subject"].match(text)
    if first is not None and rules.language == "zh" and _named_own(text, rules, lexicon, start) is not None:
        first = None  # "我们主管老孟…" begins with the speaker, and tells of another
    theirs = _of_known(text, start, entities) if first is None else None
    if theirs is not None:
        return theirs
    own = _own(text, rules, lexicon, start, me=me) if first is None else None
    if own is not None:
        return own
    if first:
        return Subject(key=me, rest=start + first.end(), start=start)
    pronoun = lexicon.shared["pronoun"].match(text)
    if pronoun and not inherited and pronoun["p"].lower() in ("it", "它", "它们"):
        return Subject(key=me, rest=start, start=start, kind="dropped")
    if pronoun:
        kind = "pronoun" if inherited else "stranger"
        return Subject(key=inherited, rest=start + pronoun.end("p"), start=start, kind=kind)  # "'s" is the verb
    for entity, key in entities.items():
        if (text.startswith(entity) and not text[len(entity) : len(entity) + 1].isascii()) or text.startswith(
            (f"{entity} ", f"{entity}'s ")
        ):
            after = text[len(entity) :]
            owns = after.startswith(("'s ", "的"))
            return Subject(key=key, rest=start + len(entity), start=start, kind="entity", owns=owns)
    circle = _of_circle(text, rules, start)
    if circle is not None:
        return circle
    other = _acquaintance(text, rules, start) or _someone_else(text, rules, start)
    if other is not None:
        return other
    named = _OWN_NAME.match(text)
    if (
        named
        and lexicon.shared["named_of_ours"].search(text[named.end() :])
        and not _is_thing(text[named.end() :], lexicon)
        and named["name"].split()[0].lower() not in lexicon.sets["no_names"]
    ):
        return Subject(key=named["name"], rest=start + named.end(), start=start, kind="entity")
    return Subject(key=me, rest=start, start=start, kind="dropped")


def _of_known(text: str, start: int, entities: Mapping[str, str]) -> Subject | None:
    """Somebody known by name, of whose own something is told ("Gethin's wife is called Nerys")."""
    for name, key in entities.items():
        if text.startswith(f"{name}'s ") and not default_lexicon().shared["contracted"].match(text[len(name) + 2 :]):
            return Subject(key=key, rest=start + len(name) + 2, start=start, kind="entity", owns=True)
    return None


def _named_own(text: str, rules: Rules, lexicon: Lexicon, start: int) -> Subject | None:
    """Somebody whom the speaker names with what he is to him ("my best mate Davo moved", "our kelpie Jess is …")."""
    pattern = rules.parts.get("named_own")
    found = pattern.match(text) if pattern is not None else None
    if found is None:
        return None
    groups = found.groupdict()
    name = groups["name"] or groups["name2"] or groups.get("name3") or ""
    if name.lower() in lexicon.sets["no_names"] or (not name.isascii() and lexicon.is_post(name)):
        return None
    told = text[found.end() :].lstrip()
    if found["other"] and not any(rules.parts[p].match(told) for p in ("goes_on", "has_trait")):
        return Subject(key="", rest=start + found.end(), start=start, kind="stranger")
    owns, end = _owns(text, found, next((g for g in ("own", "own2") if found[g]), ""), lexicon)
    return Subject(key=name, rest=start + end, start=start, kind="entity", owns=owns)


def _of_circle(text: str, rules: Rules, start: int) -> Subject | None:
    """A friend, boss or neighbour without a name, of whom something lasting is told ("my boss has been diagnosed
    with …"); what he says of himself is told of him ("boss just told us he has …")."""
    pattern = rules.parts.get("circle")
    found = pattern.match(text) if pattern is not None else None
    if found is None:
        return None
    key = (found["role"] or f"neighbour's {found['young']}").lower()
    says = rules.parts["told_of_self"].match(text[found.end() :])
    end = found.end() + (says.end() if says is not None else 0)
    return Subject(key=key, rest=start + end, start=start, kind="circle")


def _someone_else(text: str, rules: Rules, start: int) -> Subject | None:
    """Somebody else in words of any kind ("spotter at my gym just went keto"), by his name if it is told."""
    pattern = rules.parts.get("someone_else")
    found = pattern.match(text) if pattern is not None else None
    if found is None:
        return None
    name = found["name"] or found["name2"]
    if name:
        return Subject(key=name, rest=start + found.end(), start=start, kind="entity")
    known = rules.flags["third_person"].search(text) is not None
    role = "" if known else trim(default_lexicon().shared["any_determiner"].sub("", found["role"].lower()))
    return Subject(key=role, rest=start + found.end(), start=start, kind="entity" if role else "stranger")


def _acquaintance(text: str, rules: Rules, start: int) -> Subject | None:
    """Somebody of whom the words say what ties him to the speaker, and what he is or does for good ("the woman we
    share an allotment with keeps bees"), by his name if it is told."""
    pattern = rules.parts.get("acquaintance")
    found = pattern.match(text) if pattern is not None else None
    if found is None:
        return None
    name = found["name"] or found["name2"]
    if name and name.lower() not in default_lexicon().sets["no_names"]:
        return Subject(key=name, rest=start + found.end(), start=start, kind="entity")
    role = trim(default_lexicon().shared["any_determiner"].sub("", (found["role"] or found["role2"]).lower()))
    return Subject(key=role, rest=start + found.end(), start=start, kind="circle")


def _chief(text: str, rules: Rules, start: int, *, me: str) -> Subject | None:
    """The speaker's chief where the words tell what he must not be given ("我们老板对海鲜过敏")."""
    pattern = rules.parts.get("bound_other")
    found = pattern.match(text) if pattern is not None else None
    if found is None:
        return None
    return Subject(key="boss" if me == "user" else f"{me}/boss", rest=start + found.end(), start=start, kind="kin")


def _owns(text: str, found: re.Match[str], own: str, lexicon: Lexicon) -> tuple[bool, int]:
    """Whether what follows is something of the one found, and where it begins; ``own`` is the group of "'s", if there
    is one. In "my wife's a nurse" it is no possessive."""
    if not own or lexicon.shared["contracted"].match(text[found.end() :]) is None:
        return bool(own), found.end()
    return False, found.start(own)


def _is_thing(rest: str, lexicon: Lexicon) -> bool:
    """Whether what is said of a name makes it a thing of ours ("Oolong is my daytime drink")."""
    shared = lexicon.shared
    return shared["is_ours"].match(rest) is not None and shared["person_of_ours"].match(rest) is None


def _own(text: str, rules: Rules, lexicon: Lexicon, start: int, *, me: str) -> Subject | None:
    """A relative or an animal of the speaker at the start of the clause; a stranger's is nobody of ours."""
    found = rules.parts["possessive"].match(text)
    if found is None and "bare_kin" in rules.parts:
        found = rules.parts["bare_kin"].match(text)
    if found is None:
        return _named_own(text, rules, lexicon, start) or _chief(text, rules, start, me=me)
    groups = found.groupdict()
    word = groups["kin"].lower()
    word = word if word in rules.kin else word.replace(" in ", "-in-").replace("-in law", "-in-law")
    key = rules.kin.get(word) or rules.pets.get(word) or ""
    owner = groups.get("owner") or ""
    is_pet = word in rules.pets and word not in rules.kin
    if rules.language == "zh" and not owner and is_pet:
        return None
    if owner and not lexicon.shared["ours"].match(owner):
        return Subject(key="", rest=start + found.end(), start=start, kind="stranger")
    if rules.language == "en" and owner.lower() == "the" and not (is_pet or key in _OF_THE_HOUSE):
        return _acquaintance(text, rules, start) or Subject(
            key="", rest=start + found.end(), start=start, kind="stranger"
        )
    if groups.get("name"):
        key = f"{key}:{groups['name']}"
    if me != "user":
        key = f"{me}/{key}"
    owns, end = _owns(text, found, "own" if groups.get("own") else "", lexicon)
    rest = start + end
    if not owns and rules.language in ("zh", "ja") and text[found.end() : found.end() + 1] in ("的", "の"):
        owns, rest = True, rest + 1
    return Subject(key=key, rest=rest, start=start, kind="pet" if is_pet else "kin", owns=owns)
