"""Which known facts words end: what they deny, give up, or name as over."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ltm_core.types import Fact
from ltm_core.write.endings.ends import RULE as ENDS
from ltm_core.write.endings.given_up import does_nothing_of, loosely, worded_so
from ltm_core.write.endings.pursuits import is_activity_of, is_job_at, is_some_of
from ltm_core.write.endings.touching import only_touches, tells_of_another
from ltm_core.write.known.broad import means_another, names_member
from ltm_core.write.known.match import in_classes, related, same_thing, singular
from ltm_core.write.known.mentions import content, mentions, uncounted
from ltm_core.write.plan import Candidate
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.load import default_lexicon
from ltm_core.write.words.norm import fold, normal, script

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
    if candidate.move == "cease" and is_activity_of(fact, candidate, lexicon):
        return True
    if candidate.move == "cease" and _is_just(fact, candidate.object_normalized, lexicon):
        return True
    if candidate.relation == "occupation" and candidate.move == "cease" and fact.relation == "works_at":
        return len(candidate.object_normalized) > 1 and candidate.object_normalized in fold(fact.text)
    if candidate.relation == "works_at" and candidate.move == "cease" and is_job_at(fact, candidate, lexicon):
        return True
    if candidate.relation == "works_at" and candidate.move == "cease" and fact.relation == "occupation":
        return candidate.object_normalized in fold(fact.text)  # "路线规划" told as done there
    if candidate.relation == "employment" and candidate.move == "cease":
        works_there = lexicon.rules("zh").parts["works_there"]
        own = fact.relation in lexicon.sets["own_words"] and works_there.match(normal(fact.text)) is not None
        of_stall = (
            fact.relation == "side_job" and lexicon.rules("zh").parts["stall"].search(candidate.object) is not None
        )
        return own or of_stall or fact.relation in _WORK or fact.relation == "employment"
    if (
        candidate.classes
        and _may_end_class(fact, candidate, lexicon)
        and not _is_outside(fact, candidate.classes, lexicon)
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
    return same_thing(fact, candidate.object_normalized) or is_some_of(fact, candidate)


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


def ends_whole(fact: Fact, candidate: Candidate, lexicon: Lexicon) -> bool:
    """Whether words that end something may end this fact though it is of the sort that lasts: the name of a partner
    from whom one has parted, or of an animal that is there no longer."""
    kind = _kind(fact.subject)
    if fact.relation != "name" or not fact.is_positive or candidate.subject != fact.subject:
        return False
    if kind in lexicon.sets["partners"]:
        return lexicon.shared["parted"].search(candidate.text) is not None
    return is_animal(fact.subject, lexicon) and lexicon.shared["animal_gone"].search(candidate.text) is not None


def is_animal(subject: str, lexicon: Lexicon) -> bool:
    """Whether a subject is an animal ("dog:Max")."""
    return any(_kind(subject) in rules.pets.values() for rules in lexicon.languages.values())


def _kind(subject: str) -> str:
    return subject.rpartition("/")[2].partition(":")[0]


@lru_cache(maxsize=16)
def _things_over(clause: str, patterns: tuple[re.Pattern[str], ...]) -> tuple[str, ...]:
    """What a clause says is over. Asked for one fact after the other."""
    found = [p.search(clause) for p in patterns]
    return tuple(next(t for t in m.groups() if t) for m in found if m is not None)


def _is_over(thing: str, fact: Fact, lexicon: Lexicon) -> bool:
    """Whether a thing that is named as over is what an English fact is about, and no landmark or topic in it."""
    ended, low = content(thing, lexicon), normal(fact.object).lower()
    if _is_done_by_one_of(thing, low, lexicon):
        return True
    if not ended or not all(w in low for w in ended) or not set(ended) <= set(content(fact.object, lexicon)):
        return False
    before = low[: low.find(ended[0])]
    return lexicon.rules("en").parts["thing_beside"].search(before) is None


def _is_done_by_one_of(thing: str, held: str, lexicon: Lexicon) -> bool:
    """Whether what is over is what the one does of whom the fact is ("therapy", "a therapist named Ruth")."""
    parts = lexicon.rules("en").parts
    done = parts["doing_noun"].fullmatch(thing.strip())
    if done is None:
        return False
    root = fold(done["root"])
    return any(m.group().startswith(root) for m in parts["doer_noun"].finditer(held))


def begins_named(c: Candidate, lexicon: Lexicon) -> frozenset[str]:
    """The words of the name with which English words that end something begin ("Little Acorns shut down"): of the
    speaker's people something may be known of it. None for any other candidate."""
    if c.rule != ENDS or c.subject != "user":
        return frozenset()
    begins = lexicon.rules("en").parts["begins_named"].match(c.text)
    if begins is None:
        return frozenset()
    return frozenset(w for w in begins["name"].split() if w.lower() not in lexicon.sets["titles"])


def names_fact(candidate: Candidate, fact: Fact, lexicon: Lexicon) -> bool:
    """Whether words that end something name this fact, or the class of things it belongs to."""
    told = {e.message_id for e in candidate.evidence}
    if any(e.message_id in told for e in fact.evidence):
        return False  # what one message says it does not end in the same breath
    # What is named is asked first: of thousands of facts few are, and the guards against a misreading are dear.
    return _is_named(candidate, fact, lexicon) and not (
        tells_of_another(fact, candidate.text, lexicon)
        or (not candidate.classes and only_touches(fact, candidate.text, lexicon))
        or _does_something_else(candidate, fact, lexicon)
        or is_of_another(candidate, fact, lexicon)
    )


def _is_named(candidate: Candidate, fact: Fact, lexicon: Lexicon) -> bool:
    """Whether the words hold a name of the fact's thing, or of its class."""
    if candidate.relation == "has_pet" and fact.relation != "has_pet":
        return False
    if parts_with(candidate, fact, lexicon):
        return True
    gone = candidate.subject == fact.subject != "user" and is_animal(fact.subject, lexicon)
    if gone and lexicon.shared["animal_gone"].search(candidate.text):
        return True
    if fact.relation == "role":
        return candidate.subject == fact.subject and lexicon.shared["still_known"].search(candidate.text) is None
    parts = lexicon.rules("en").parts
    several = parts["several_of"].match(fact.object.partition(",")[0])
    if several is not None and parts["all_of_them"].search(candidate.text):  # "both cats died" of "two cats, A and B"
        return singular(several["noun"]) in {singular(w) for w in content(candidate.text, lexicon)}
    over = _things_over(candidate.text, (parts["names_over"], parts["names_given_up"], parts["names_ended"]))
    if fact.text.isascii() and any(_is_over(thing, fact, lexicon) for thing in over):
        return True
    if candidate.wrong_object and _is_given_up(fact, candidate.wrong_object, lexicon):
        return True
    thing = candidate.wrong_object or ""
    held = fact.object_normalized or "-"
    bare = uncounted(held, lexicon) if len(held) > 2 else held
    if not thing.endswith("了") and thing.startswith((held, bare)):
        return False  # "吉他弦断了" is not about the guitar
    if mentions(candidate.text, fact, lexicon) or worded_so(fact, candidate.things, lexicon):
        return True
    if candidate.nothing is not None and does_nothing_of(fact, *candidate.nothing, lexicon):
        return True
    if not candidate.classes:
        return False
    own = fact.relation in lexicon.sets["own_words"]
    classes = tuple(c for c in candidate.classes if c not in lexicon.sets["provider_sorts"])
    if len(classes) < len(candidate.classes):  # "gyms" are those one belongs to, and what one does there
        serves = own or fact.relation in ("uses", "served_by")
        if not classes or serves:
            return serves and _of_class(fact, candidate.classes, lexicon)
    family = lexicon.relation(fact.relation).family
    used = family in ("tools", "possession") and not lexicon.sets["used_classes"].isdisjoint(classes)
    liked = own or used or family in ("preference", "language") or _is_liking(fact, lexicon)
    if not liked or _is_no_liking(fact, lexicon):
        return False
    return _of_class(fact, classes, lexicon)


def _is_no_liking(fact: Fact, lexicon: Lexicon) -> bool:
    """Whether a statement tells of work with a thing, or that one cannot have it, and not that one likes it:
    "在海鲜市场卖虾", "I sell flowers", "对花生过敏"."""
    text = normal(fact.text)
    if not fact.text.isascii():
        parts = lexicon.rules("zh").parts
        whose = None if fact.is_about_user else parts["whose_first"].match(text)
        return parts["no_liking"].search(text, whose.end() if whose is not None else 0) is not None
    own = fact.relation in lexicon.sets["own_words"]
    return own and lexicon.rules("en").parts["tells_no_liking"].search(text) is not None


def _is_liking(fact: Fact, lexicon: Lexicon) -> bool:
    """Whether an English fact says that a thing is liked, whatever it is told as ("my tipple is Rioja", "a lover of
    red wine")."""
    words = normal(f"{fact.relation.partition(':')[2]} {fact.text}")
    return words.isascii() and lexicon.rules("en").parts["tells_liking"].search(words) is not None


def is_of_another(candidate: Candidate, fact: Fact, lexicon: Lexicon) -> bool:
    """Whether English words tell what the thing that the fact names ended of its own ("the Guardian stopped doing the
    crossword"), or what somebody else left ("the chair stood down from the council")."""
    if script(fact.text) != "en":
        return False
    parts = lexicon.rules("en").parts
    acts, leaves = parts["acts_on"].match(candidate.text), parts["leaves_it"].match(candidate.text)
    if acts is not None and not mentions(acts["what"], fact, lexicon) and mentions(acts["who"], fact, lexicon):
        return True
    if _stops_one(candidate.text, fact, lexicon):
        return True
    if leaves is None:
        return False
    if parts["some_others"].match(leaves["who"]) is not None and fact.subject == (fact.speaker or "user"):
        noun = leaves["who"].rpartition(" ")[2].lower()  # "two altos have left" of one who sings alto
        return noun not in normal(fact.text).lower() or noun == singular(noun)
    if set(content(leaves["who"], lexicon)) & set(content(fact.text, lexicon)):
        return False
    return not mentions(leaves["who"], fact, lexicon)


def _stops_one(text: str, fact: Fact, lexicon: Lexicon) -> bool:
    """Whether what the fact names does one thing no longer of which the fact says nothing ("the food bank has stopped
    taking clothes")."""
    m = lexicon.rules("en").parts["stops_one"].match(text)
    if m is None or fact.subject != (fact.speaker or "user"):
        return False  # "Nan no longer has food brought to her" is about Nan
    who, held = set(content(m["who"], lexicon)), set(content(fact.text, lexicon))
    does = content(f"{m['does'] or m['does2'] or m['does3']} {m['what']}", lexicon)
    return bool(who) and who <= held and not held & set(does)


def named_by(candidate: Candidate) -> tuple[str, ...]:
    """The things that words that end something name."""
    return tuple(t for t in (candidate.wrong_object or "", *candidate.things) if t)


def parts_with(candidate: Candidate, fact: Fact, lexicon: Lexicon) -> bool:
    """Whether the words tell that the partner whom the fact is about is one no longer: nothing of him stays."""
    if candidate.subject != fact.subject or fact.subject.partition(":")[0] not in lexicon.sets["partners"]:
        return False
    return any(lexicon.shared[p].search(normal(candidate.text)) is not None for p in ("parted", "parted_with"))


def only_one_meant(candidate: Candidate, facts: Sequence[Fact], lexicon: Lexicon) -> list[Fact]:
    """The one fact that words that end something name loosely; none when several may be meant."""
    told = {e.message_id for e in candidate.evidence}
    free = [f for f in facts if may_end(f) and not any(e.message_id in told for e in f.evidence)]
    found = [f for f in free if loosely(f, candidate.loose, lexicon)]
    return found if len({e for f in found for e in f.evidence}) == 1 else []


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
    bare = uncounted(held, lexicon)
    for said in (held, bare, bare.replace("的", ""), fold(fact.object)):
        if said.endswith(thing) or (len(thing) > 1 and said.startswith(thing)):
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
    if _is_outside(fact, classes, lexicon):
        return False
    if in_classes(fact, classes, lexicon) or names_member(fact.object, classes, lexicon):
        return True
    before = fact.text[: max(fact.text.find(fact.object), 0)].split()[-1:] if fact.text.isascii() else []
    return bool(before) and names_member(f"{before[0]} {fact.object}", classes, lexicon)  # "Big Mac", "Bake Off"


def _is_outside(fact: Fact, classes: tuple[str, ...], lexicon: Lexicon) -> bool:
    """Whether the object is the name of something else, or of those who do without: a vegetarian who eats no meat is
    a vegetarian still."""
    return (
        means_another(fact.object, classes, lexicon) or lexicon.shared["does_without"].search(fact.object) is not None
    )


def _may_end_class(fact: Fact, candidate: Candidate, lexicon: Lexicon) -> bool:
    return lexicon.relation(fact.relation).family == lexicon.relation(candidate.relation).family
