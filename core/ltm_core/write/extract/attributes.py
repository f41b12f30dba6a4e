"""Named attributes: "my X is Y", "我的X是Y", "鞋码41", and "my X has changed, it's now Y"."""

from __future__ import annotations

import re

from ltm_core.write.extract.draft import Draft, finish
from ltm_core.write.read.people import Subject, lead
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon, Rules
from ltm_core.write.words.norm import fold, trim

_TELLING = re.compile(r"\d|\b[A-Z]")
"""What a value needs when only "the" stands before its noun: a number or a name."""


def named_attribute(read: Read, subject: Subject, lexicon: Lexicon) -> Draft | None:
    """The attribute that the clause gives a value; single-valued when its noun says so."""
    rules = lexicon.rules(read.clause.language)
    if not (subject.owns or subject.kind in ("self", "dropped")):
        return None
    norm = read.clause.norm
    bare = rules.parts.get("attribute_bare")
    if bare is not None and not subject.owns:
        m = bare.match(trim(norm[subject.start :]))
        if m is not None:
            offset = norm.find(m.group(), subject.start)
            return made_attribute(
                rules, subject, fold(m["attr"]), m["object"], offset + m.start("object"), False, lexicon
            )
    tail = rules.parts["tail"].search(norm, subject.rest)
    begin = subject.rest if subject.owns else subject.start
    rest = norm[begin : tail.start() if tail else len(norm)]
    skip = len(rest) - len(rest.lstrip())
    if not subject.owns and "own_attribute" in rules.parts:
        own = rules.parts["own_attribute"].match(rest[skip:])
        if own is None:
            return None
        skip += own.end()
        owned = bool(own.group())
        loose = own.group().lower().startswith("the") and not (read["change"] or read["remember"])
    else:
        owned, loose = subject.owns or subject.kind == "self", False
    m = rules.parts["attribute"].match(rest[skip:])
    if m is None:
        return None
    attr = fold(m["attr"])
    if attr not in rules.attributes:
        attr = lexicon.shared["new_value"].sub("", attr) or attr
    if lexicon.shared["foreign_attribute"].search(attr) or lexicon.shared["gone"].match(fold(m["object"])):
        return None
    if loose and not _TELLING.search(m["object"]):
        return None  # "the washing is in the hall"
    if not owned and not any(n in rules.attributes or n in rules.functional for n in _suffixes(attr, rules.language)):
        return None
    negated = bool(rules.parts["neg"].search(m["pre"] or ""))
    return made_attribute(rules, subject, attr, m["object"], begin + skip + m.start("object"), negated, lexicon)


def changed_attribute(before: Read, read: Read, me: str, lexicon: Lexicon) -> Draft | None:
    """The new value when the clause before said that an attribute changed or was wrong."""
    rules = lexicon.rules(read.clause.language)
    if "attribute_changed" not in rules.parts or before.clause.language != read.clause.language:
        return None
    norm, earlier = read.clause.norm, before.clause.norm
    named = rules.parts["attribute_changed"].match(earlier[lead(earlier, rules) :])
    value = rules.parts["attribute_now"].match(norm)
    if named is None or value is None:
        return None
    attr = _renamed(named)
    draft = made_attribute(
        rules,
        Subject(key=me, rest=0),
        fold(attr),
        value["object"],
        value.start("object"),
        False,
        lexicon,
        wrong=value["wrong"] or "",
    )
    return draft if draft is not None and draft.strong else None


def announces_change(read: Read, lexicon: Lexicon) -> bool:
    """Whether the clause only says that a known attribute changed; its value comes next."""
    rules = lexicon.rules(read.clause.language)
    if "attribute_changed" not in rules.parts:
        return False
    norm = read.clause.norm
    named = rules.parts["attribute_changed"].match(norm[lead(norm, rules) :])
    if named is None:
        return False
    attr = fold(_renamed(named))
    return attr in rules.attributes or any(n in rules.functional for n in _suffixes(attr, rules.language))


def _renamed(named: re.Match[str]) -> str:
    """The noun of what is said to have changed or to be wrong."""
    return next((v for k, v in named.groupdict().items() if v and k.startswith("attr")), "")


def made_attribute(
    rules: Rules,
    subject: Subject,
    attr: str,
    value: str,
    start: int,
    negated: bool,
    lexicon: Lexicon,
    *,
    wrong: str = "",
) -> Draft | None:
    """The attribute as a draft; single-valued when its noun is one of which a person has one."""
    if attr not in rules.attributes:
        attr = lexicon.shared["new_value"].sub("", attr) or attr
    relation = rules.attributes.get(attr)
    if relation is None:
        relation = _specified(attr, rules, lexicon)
    if not relation:
        noun = next((n for n in _suffixes(attr, rules.language) if n in rules.functional), "")
        relation = f"single:{attr}" if noun else f"attribute:{attr}"
    known = not relation.startswith("attribute:")
    return finish(
        Draft(
            subject=subject.key,
            relation=relation,
            object=value,
            start=start,
            end=start + len(value),
            positive=not negated,
            move="correct" if wrong else None,
            wrong=trim(wrong),
            confidence=0.9 if known else 0.75,
            strong=known,
            rule=f"{rules.language}.attribute",
            attr=attr,
        ),
        lexicon,
    )


def _specified(attr: str, rules: Rules, lexicon: Lexicon) -> str:
    """The relation of an English attribute whose noun is known and is of something ("wedding budget")."""
    words = attr.split()
    for i in range(1, len(words)) if rules.language == "en" else ():
        known = rules.attributes.get(" ".join(words[i:]), "")
        if known in lexicon.sets["with_attribute"]:
            return f"{known}:{' '.join(words[:i])}"
    return ""


def _suffixes(attr: str, language: str) -> list[str]:
    if language == "en":
        words = attr.split()
        return [" ".join(words[i:]) for i in range(len(words))]
    return [attr[i:] for i in range(len(attr))]
