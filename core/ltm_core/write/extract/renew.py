"""A thing whose value changed, said of the thing itself: "宽带换联通了", "工位挪到C区", "现在带我的是丽莎".

The noun in front is either the name of the thing ("宽带") or its old value ("朗逸置换成宋PLUS了"); which of them
is only known beside the store (`match.takes_place`).
"""

from __future__ import annotations

from ltm_core.write.extract.draft import Draft, finish
from ltm_core.write.read.people import Subject
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold, trim

RULE = "renewed"
_UNSURE = 0.65
"""Relation confidence of a change whose noun no list knows: it ends only what its noun names."""


def renewed(read: Read, subject: Subject, lexicon: Lexicon) -> Draft | None:
    """The new value that the clause gives a thing it names, or None."""
    rules = lexicon.rules(read.clause.language)
    pattern = rules.parts.get("renewed")
    if pattern is None or subject.kind not in ("self", "dropped", "kin", "inherited") or read["plan"]:
        return None
    given = _post_given(read, subject, lexicon)
    if given is not None:
        return given
    begin = subject.rest if subject.kind == "self" or subject.owns else subject.start
    if subject.kind == "kin":
        begin = subject.rest
    norm = read.clause.norm
    m = rules.parts["renewed_for"].match(norm[begin:]) or rules.parts["renewed_kind"].match(norm[begin:])
    m = m or pattern.match(norm[begin:])
    if m is None:
        return None
    value = m["object"]
    noun = fold(trim(m["attr"]))
    if not noun or lexicon.shared["time_noun"].match(noun):
        return None
    person = rules.parts["person_noun"].search(noun) if not m["object"].endswith(noun[-1:]) else None
    if (
        person is not None
        and noun not in rules.attributes
        and not any(noun[i:] in rules.functional for i in range(len(noun)))
    ):
        return None  # where somebody went
    relation = rules.attributes.get(noun)
    known = relation is not None or any(noun[i:] in rules.functional for i in range(len(noun)))
    if relation is None:
        relation = f"single:{noun}" if known else f"attribute:{noun}"
    start = begin + m.start("object")
    return finish(
        Draft(
            subject=subject.key,
            relation=relation,
            object=value,
            start=start,
            end=start + len(value),
            move="change",
            wrong="" if known else noun,
            confidence=0.9 if known else _UNSURE,
            rule=RULE,
            attr=noun,
        ),
        lexicon,
    )


def _post_given(read: Read, subject: Subject, lexicon: Lexicon) -> Draft | None:
    """Who holds a post from now on ("推选秦阿姨接了队长", "今天起总经理是林悦")."""
    parts = lexicon.rules(read.clause.language).parts
    named = parts["post_word"].search(read.clause.norm) if "post_given" in parts else None
    m = parts["post_given"].match(read.clause.norm) if named is not None else None
    if m is None:
        return None
    held = next(n for n in ("", "2", "3") if m[f"object{n}"])
    value, post = m[f"object{held}"], fold(m[f"attr{held}"])
    start = m.start(f"object{held}")
    draft = Draft(
        subject=subject.key, relation=f"single:{post}", object=value, start=start, end=start + len(value),
        move="change", confidence=0.9, rule=RULE, attr=post, strong=True,
    )  # fmt: skip
    return finish(draft, lexicon)


def next_employer(before: Read | None, read: Read, subject: Subject, lexicon: Lexicon) -> Draft | None:
    """Where somebody works after leaving the place that the clause before names ("从百度离职了，现在在腾讯")."""
    parts = lexicon.rules(read.clause.language).parts
    if before is None or "now_at" not in parts or before.veto or before.clause.language != read.clause.language:
        return None
    if before.clause.sentence != read.clause.sentence or parts["left_work"].search(before.clause.norm) is None:
        return None
    m = parts["now_at"].match(read.clause.norm)
    if m is None or subject.kind not in ("self", "dropped", "inherited"):
        return None
    draft = Draft(
        subject=subject.key,
        relation="works_at",
        object=m["object"],
        start=m.start("object"),
        end=m.end("object"),
        move="change",
        confidence=0.8,
        rule="zh.next_employer",
    )
    return finish(draft, lexicon)


def next_holder(before: Read | None, read: Read, me: str, lexicon: Lexicon) -> Draft | None:
    """Who holds a post of which the clause before says that it is another's now ("换了班主任，姓欧阳")."""
    parts = lexicon.rules(read.clause.language).parts
    if before is None or "post_changed" not in parts or before.veto or read.veto:
        return None
    if before.clause.language != read.clause.language or before.clause.sentence != read.clause.sentence:
        return None
    changed, now = parts["post_changed"].match(before.clause.norm), parts["post_now"].match(read.clause.norm)
    if changed is None or now is None:
        return None
    post = fold(changed["attr"] or changed["attr2"])
    return finish(
        Draft(
            subject=me,
            relation=f"single:{post}",
            object=now["object"],
            start=now.start("object"),
            end=now.end("object"),
            move="change",
            confidence=0.9,
            rule="zh.next_holder",
            attr=post,
        ),
        lexicon,
    )


def successor_of(before: Read | None, read: Read, lexicon: Lexicon) -> str:
    """Whom or what the clause before takes leave of when this one names who or what came instead; else ""."""
    rules = lexicon.rules(read.clause.language)
    follows, leaves = rules.parts.get("succeeds"), rules.parts.get("leaves")
    if before is None or follows is None or leaves is None or before.veto or before["third_person"]:
        return ""
    if before.clause.language != read.clause.language or follows.match(read.clause.norm) is None:
        return ""
    m = leaves.match(before.clause.norm)
    if m is not None:
        return trim(m["thing"])
    serves = rules.parts["serves"].match(read.clause.norm) is not None
    return trim(before.clause.text) if serves and "我" not in before.clause.norm else ""
