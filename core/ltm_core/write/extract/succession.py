"""Values that take the place of another in so many words: "they moved my appointment to Friday", "upgraded to the
Growth tier", "a new teacher, Mr Lind", "Octopus is my supplier now".

The noun names the attribute, whatever it is; the verb or "new" or "now" says that its value changed.
"""

from __future__ import annotations

from dataclasses import replace

from ltm_core.write.extract.attributes import made_attribute
from ltm_core.write.extract.draft import Draft
from ltm_core.write.known.match import singular
from ltm_core.write.read.people import Subject, lead
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon, Rules
from ltm_core.write.words.norm import fold, trim

RULE = "en.succession"
_SURE_SHAPES = ("succeeds_to", "succeeds_tier", "succeeds_now", "succeeds_back", "on_tier", "succeeds_swapped")
_SHAPES = ("succeeds_moved", "succeeds_slid", "succeeds_new", "succeeds_raised")
"""Shapes that patterns of known relations may read better ("the deadline moved to Friday")."""
_CONFIDENCE = 0.9


def succession(read: Read, subject: Subject, lexicon: Lexicon, *, sure: bool) -> Draft | None:
    """The attribute that the clause gives a new value, and that value; ``sure``: by the shapes that mean nothing
    else, not by the others."""
    rules = lexicon.rules(read.clause.language)
    if _SHAPES[0] not in rules.parts or subject.kind not in ("self", "dropped") or subject.owns:
        return None
    norm = read.clause.norm
    begin = lead(norm, rules)
    tail = rules.parts["tail"].search(norm, begin)
    text = norm[begin : tail.start() if tail else len(norm)]
    for shape in _SURE_SHAPES if sure else _SHAPES:
        m = rules.parts[shape].match(text)
        if m is None:
            continue
        made = _made(m["attr"], m["object"], begin + m.start("object"), rules, subject, lexicon)
        if made is not None:
            return replace(made, move=None if shape == "on_tier" else "change")
    return None


def told_by_self(read: Read, subject: Subject, me: str, lexicon: Lexicon) -> Subject:
    """The user, when others or a name begin a clause that gives a thing of the user's a new value ("they moved my
    appointment to Friday", "Octopus is my supplier now"); else the subject as it is."""
    parts = lexicon.rules(read.clause.language).parts
    if subject.kind not in ("entity", "stranger") or subject.owns or _SHAPES[0] not in parts:
        return subject
    text = trim(read.clause.norm[lead(read.clause.norm, lexicon.rules(read.clause.language)) :])
    shapes = ["succeeds_moved", "succeeds_now"] if read["first_person"] else []
    if subject.kind == "stranger" and not read["third_person"] and text[:1].islower():
        shapes += ["succeeds_slid", "succeeds_back"]
    done = parts.get("done_to_speaker") if read["first_person"] else None
    if any(parts[shape].match(text) for shape in shapes) or (done is not None and done.match(text)):
        return replace(subject, key=me, kind="dropped")
    return subject


def announced(before: Read, read: Read, subject: Subject, lexicon: Lexicon) -> Draft | None:
    """The value that follows the news that something is new: "I've got a new teacher", "her name is Odile"."""
    rules = lexicon.rules(read.clause.language)
    if "announces_new" not in rules.parts or before.clause.language != read.clause.language or before.veto:
        return None
    earlier, norm = before.clause.norm, read.clause.norm
    name = rules.parts["renamed_to"].match(norm)
    if name is not None and subject.kind in ("self", "dropped") and rules.parts["renames"].search(earlier):
        noun = "name" if " " in name["object"] else "surname"
        made = made_attribute(rules, subject, noun, name["object"], name.start("object"), False, lexicon)
        return None if made is None else replace(made, move="change", confidence=_CONFIDENCE, strong=True)
    news = rules.parts["announces_new"].match(earlier[lead(earlier, rules) :])
    value = rules.parts["announced"].match(norm)
    if news is None or value is None:
        return None
    noun = news["attr"] or singular(
        news["attrs"].removesuffix("ies") + "y" if news["attrs"].endswith("ies") else news["attrs"]
    )
    made = _made(noun, value["object"], value.start("object"), rules, subject, lexicon)
    return None if made is None else replace(made, move="change")


def _made(attr: str, value: str, start: int, rules: Rules, subject: Subject, lexicon: Lexicon) -> Draft | None:
    noun = fold(attr)
    if (
        not noun
        or lexicon.shared["foreign_attribute"].search(noun)
        or noun.split()[-1] in lexicon.sets["no_attributes"]
        or noun in rules.kin
    ):
        return None
    made = made_attribute(rules, subject, noun, trim(value), start, False, lexicon)
    return (
        None if made is None else replace(made, rule=RULE, confidence=max(made.confidence, _CONFIDENCE), strong=True)
    )
