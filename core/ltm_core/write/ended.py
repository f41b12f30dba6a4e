"""Which known facts words end: what they deny, give up, or name as over."""

from __future__ import annotations

import re
from functools import lru_cache

from ltm_core.types import Fact
from ltm_core.write.lexicon import Lexicon, default_lexicon
from ltm_core.write.match import in_classes, related, same_thing, singular
from ltm_core.write.mentions import content, mentions
from ltm_core.write.norm import fold, normal
from ltm_core.write.plan import Candidate

_WORK = frozenset(["works_at", "occupation"])


def ended_by(fact: Fact, candidate: Candidate, lexicon: Lexicon) -> bool:
    """Whether a candidate that ends or denies something ends this fact."""
    if not fact.is_positive or fact.modality in ("past", "temporary"):
        return False
    if fact.relation == candidate.relation and fact.relation in lexicon.sets["unary"]:
        return True
    if candidate.relation == "died":
        return candidate.subject != "user" and fact.relation not in lexicon.sets["timeless"]
    if candidate.relation == "does" and candidate.move == "cease" and same_thing(fact, candidate.object_normalized):
        return lexicon.relation(fact.relation).family in ("preference", "learning", "tools", "project")
    if candidate.move == "cease" and _is_activity_of(fact, candidate, lexicon):
        return True
    if candidate.move == "cease" and _is_just(fact, candidate.object_normalized, lexicon):
        return True
    if candidate.relation == "occupation" and candidate.move == "cease" and fact.relation == "works_at":
        return len(candidate.object_normalized) > 1 and candidate.object_normalized in fold(fact.text)
    if candidate.relation == "works_at" and candidate.move == "cease" and fact.relation == "occupation":
        return candidate.object_normalized in fold(fact.text)  # "路线规划" told as done there
    if candidate.relation == "employment" and candidate.move == "cease":
        return fact.relation in _WORK or fact.relation == "employment"
    if (
        candidate.classes
        and _may_end_class(fact, candidate, lexicon)
        and (in_classes(fact, candidate.classes, lexicon) or _is_dish_of(fact, candidate.classes, lexicon))
    ):
        return True
    if (
        candidate.relation == "owns"
        and not fact.object_normalized.isascii()
        and len(candidate.object_normalized) >= 2
        and lexicon.relation(fact.relation).family in ("possession", "tools")
        and fact.object_normalized.startswith(candidate.object_normalized)
    ):
        return True
    unknown = candidate.relation_confidence < 0.5 and candidate.move in ("cease", "correct")
    if not related(fact, candidate, lexicon) and not unknown:
        return False
    return same_thing(fact, candidate.object_normalized)


def _is_activity_of(fact: Fact, candidate: Candidate, lexicon: Lexicon) -> bool:
    """Whether an English habit is one of what is given up, at whatever times ("do yoga every morning", "stopped doing
    yoga")."""
    if candidate.relation != "does" or fact.relation not in ("habit", "does") or not candidate.object.isascii():
        return False
    times = lexicon.shared["of_time"]
    given_up, held = (set(content(times.sub(" ", v), lexicon)) for v in (candidate.object, fact.object))
    given_up -= lexicon.sets["bare_verbs"]
    return bool(given_up) and given_up <= held


def _is_just(fact: Fact, thing: str, lexicon: Lexicon) -> bool:
    """Whether a Chinese statement in the user's own words says just what is given up ("我戴眼镜", "不戴眼镜了")."""
    if fact.relation not in lexicon.sets["own_words"] or len(thing) < 2 or thing.isascii():
        return False
    return fold(fact.text).removeprefix("我们").removeprefix("我").rstrip("了的") == thing


def may_end(fact: Fact, *, temporary: bool = False) -> bool:
    """Whether words that only name a thing may end the fact: it holds now, and is of the sort that can end.
    ``temporary``: also one that would end by itself ("finished the amoxicillin")."""
    lexicon = default_lexicon()
    base = fact.relation.split(":")[0]
    return (
        fact.is_positive
        and (fact.modality != "past" and (temporary or fact.modality != "temporary"))
        and fact.kind != "solution"
        and not {base, fact.relation} & lexicon.sets["timeless"]
        and base not in lexicon.sets["unending"]
    )


@lru_cache(maxsize=16)
def _thing_over(clause: str, names_over: re.Pattern[str]) -> str:
    """What a clause says is over; empty when it names nothing. Asked for one fact after the other."""
    found = names_over.search(clause)
    return next(t for t in found.groups() if t) if found is not None else ""


def names_fact(candidate: Candidate, fact: Fact, lexicon: Lexicon) -> bool:
    """Whether words that end something name this fact, or the class of things it belongs to."""
    told = {e.message_id for e in candidate.evidence}
    if any(e.message_id in told for e in fact.evidence):
        return False  # what one message says it does not end in the same breath
    if _does_something_else(candidate, fact, lexicon):
        return False
    if fact.subject.partition(":")[0] in lexicon.sets["partners"] and lexicon.shared["parted"].search(candidate.text):
        return candidate.subject == fact.subject
    if fact.relation == "role":
        return candidate.subject == fact.subject and lexicon.shared["still_known"].search(candidate.text) is None
    over = _thing_over(candidate.text, lexicon.rules("en").parts["names_over"])
    if over and fact.text.isascii():
        ended, low = content(over, lexicon), normal(fact.object).lower()
        if ended and all(w in low for w in ended) and set(ended) <= set(content(fact.object, lexicon)):
            return True
    if candidate.wrong_object and _is_given_up(fact, candidate.wrong_object, lexicon):
        return True
    thing = candidate.wrong_object or ""
    held = fact.object_normalized or "-"
    bare = held[1:] if held[:1] in lexicon.sets["classifiers"] and len(held) > 2 else held
    if not thing.endswith("了") and thing.startswith((held, bare)):
        return False  # "吉他弦断了" is not about the guitar
    if mentions(candidate.text, fact, lexicon):
        return True
    if not candidate.classes:
        return False
    chosen = lexicon.relation(fact.relation).family in ("preference", "language") or (
        fact.relation in lexicon.sets["own_words"]
    )
    return chosen and _of_class(fact, candidate.classes, lexicon)


def _does_something_else(candidate: Candidate, fact: Fact, lexicon: Lexicon) -> bool:
    """Whether an English clause tells of the holder of a post what ends no post ("Paulo sold his house")."""
    base, _, post = fact.relation.partition(":")
    if base not in ("single", "attribute") or not post.isascii() or post.split(" ")[-1] not in lexicon.sets["posts"]:
        return False
    named = fold(candidate.text).startswith(fold(fact.object).split(" ")[0])
    return named and lexicon.shared["own_end"].search(candidate.text) is None


def _is_given_up(fact: Fact, thing: str, lexicon: Lexicon) -> bool:
    """Whether a thing that words give up by itself ("外卖我不跑了") is what the fact is about: nothing but function
    words or a verb's object may stand around it."""
    if len(thing) < 2 and thing not in lexicon.class_names:
        return False
    value = fold(fact.text if fact.relation in lexicon.sets["own_words"] else fact.object)
    held = fact.object_normalized or fold(fact.object)
    bare = held[1:] if held[:1] in lexicon.sets["classifiers"] else held
    for said in (held, bare, bare.replace("的", ""), fold(fact.object)):
        if said.endswith(thing) or said.startswith(thing):
            return True
    if len(thing) > 2 and thing[-1] in lexicon.sets["generic_ends"] and bare.startswith(thing[:-1]):
        return True  # "豆瓣号" for "豆瓣账号"
    base, _, noun = fact.relation.partition(":")
    if base in ("attribute", "single") and noun == thing:
        return True
    if fact.relation not in lexicon.sets["own_words"]:
        return False
    return thing in value or (len(thing) > 2 and thing[-1] in lexicon.sets["generic_ends"] and thing[:-1] in value)


def _is_dish_of(fact: Fact, classes: tuple[str, ...], lexicon: Lexicon) -> bool:
    """Whether the object names a member of such a class anywhere ("lamb kebabs")."""
    broad = tuple(c for c in classes if c in lexicon.sets["broad_classes"])
    return bool(broad) and _of_class(fact, broad, lexicon)


def _of_class(fact: Fact, classes: tuple[str, ...], lexicon: Lexicon) -> bool:
    if in_classes(fact, classes, lexicon):
        return True
    said = fold(fact.object)
    if said.isascii():
        words = re.findall(r"[\w'-]+", said)
        parts = {" ".join(words[i : i + n]) for n in (1, 2) for i in range(len(words))}
        parts |= {singular(p) for p in parts}
        return any(c in classes for p in parts for c in lexicon.members.get(p, ()))
    return any(len(m) > 1 and m in said for c in classes for m in lexicon.classes.get(c, ()))


def _may_end_class(fact: Fact, candidate: Candidate, lexicon: Lexicon) -> bool:
    return lexicon.relation(fact.relation).family == lexicon.relation(candidate.relation).family
