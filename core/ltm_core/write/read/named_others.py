"""Clauses that begin with somebody's name of whom nothing is known, and of nothing that ties him to the speaker.

"Keisha is left-handed" is a fact about the user only if Keisha is one of his own, who was told of before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ltm_core.write.plan import Utterance
from ltm_core.write.read.clauses import Clause
from ltm_core.write.read.people import Subject
from ltm_core.write.words.lexicon import Lexicon

_UNTIED = ("dropped", "entity", "self")
"""Kinds of subjects that may be somebody of whom nothing is known."""
_LATIN = re.compile(r"[A-Za-z]")


def is_unknown(
    clause: Clause, subject: Subject, utterance: Utterance, entities: Mapping[str, str], lexicon: Lexicon
) -> bool:
    """Whether the clause tells of somebody by a name that no fact and no turn before has, and does not name the
    speaker. ``entities``: whom the message introduced as the speaker's own."""
    if subject.kind not in _UNTIED:
        return False
    parts = lexicon.rules(clause.language).parts
    pattern = parts.get("another_named")
    m = pattern.match(clause.norm[subject.start :]) if pattern is not None else None
    if m is None or parts["quote_first"].search(clause.norm[subject.start + m.start("name") :]):
        return False
    if subject.kind == "entity" and parts["quote_first"].search(clause.norm):
        return False  # "跟我一起学画的甜甜" is named with what she is to the speaker
    name = m["name"]
    if (
        _LATIN.match(name)
        and not (m["tie"] or m.groupdict().get("title"))
        and name.lower() not in lexicon.sets["given_names"]
    ):
        return False
    if any(holds_word(entity, name) for entity in entities):
        return False
    return not was_told_of(name, utterance, lexicon, clause.language)


def was_told_of(name: str, utterance: Utterance, lexicon: Lexicon, language: str) -> bool:
    """Whether a fact or a turn before has the name."""
    said = [t.content for t in (*utterance.before, *utterance.earlier) if t.role == "user"]
    family = lexicon.rules(language).parts.get("family_name")
    named = family.match(name) if family is not None else None
    called = (name,) if named is None else (name, f"姓{named['surname']}")  # "我的老师姓周", then "周老师"
    return any(utterance.told_of(n) or any(holds_word(text, n) for text in said) for n in called)


def holds_word(text: str, name: str) -> bool:
    """Whether a text has the name as a word of its own, or in Chinese anywhere."""
    if not name.isascii():
        return name in text
    return re.search(rf"\b{re.escape(name)}\b", text, re.I) is not None
