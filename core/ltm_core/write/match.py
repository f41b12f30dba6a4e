"""Which known facts a candidate speaks of: same subject, same thing, same family of relations."""

from __future__ import annotations

import re

from ltm_core.types import Fact
from ltm_core.write.lexicon import Lexicon, default_lexicon
from ltm_core.write.mentions import content, mentions
from ltm_core.write.norm import fold
from ltm_core.write.plan import Candidate
from ltm_core.write.renew import RULE as RENEWED

_DIGITS = re.compile(r"\d+")
_NAMED = ("single", "attribute", "schedule")
_WORDS = re.compile(r"[\w'&:.-]+")
_NOW = re.compile(r"\b(?:now|these days|nowadays|currently|instead|from now on|as of .*)\b", re.I)
_MOST_DIFFERING = 3
"""Words of the value in which two statements of the same frame may differ."""
_LEAST_SHARED = 2
"""Words with a meaning that such statements share."""
_LONG_FRAME = 4
"""Words before the value from which one such word is enough."""
_THING = re.compile(
    r"^(?:\w+, |sadly |so |and |but |well,? |finally,? |then )*(?:the|my|our) (?P<thing>(?:[\w-]+ ){0,2}?[\w-]+?)"
    r"(?:'s| is| are| has| have| got| was| were| came| folded| disbanded| ended| didn't| did not)\b"
    r"|\b(?:done|finished|through) with (?:(?:the|my|our) )?(?P<thing2>[\w-]+(?: [\w-]+)?)[.!]?$"
    r"|\b(?:stop(?:ped)?|quit|dropped|gave up|given up|packed in|jacked in) (?:(?:the|my|our) )?"
    r"(?P<thing3>[\w-]+(?: [\w-]+)?)\b"
    r"|^(?:the |my |our )?(?P<thing4>[\w-]+) (?:lasted|was|is|didn't|isn't|had|wasn't)\b[^:]*: ",
    re.I,
)
"""What a clause that ends something says is over."""
_LEAVES_FRIENDS = re.compile(r"\b(?:moved|left|retired|resigned|stopped|sold|dropped)\b", re.I)
_CLASSIFIERS = frozenset("个只条台部套家间份款")
_LONGEST_DETAIL = 10
"""Characters of a statement that can be a mere detail."""
_GENERIC = frozenset("号卡课店班")
"""Chinese last characters that add nothing to the name before them."""
_WORK = frozenset(["works_at", "occupation"])


def _places() -> frozenset[str]:
    return default_lexicon().sets["places"]


def same_subject(fact: Fact, candidate: Candidate) -> bool:
    """Whether both speak of the same one, said by the same speaker."""
    return fold(fact.subject) == fold(candidate.subject) and (fact.speaker or None) == (candidate.speaker or None)


def related(fact: Fact, candidate: Candidate, lexicon: Lexicon) -> bool:
    """Whether the fact's relation is the candidate's or of its family."""
    if fact.relation == candidate.relation:
        return True
    family = lexicon.relation(candidate.relation).family
    return bool(family) and lexicon.relation(fact.relation).family == family


def same_thing(fact: Fact, value: str, *, loose: bool = False) -> bool:
    """Whether the fact's object is the thing that ``value`` (folded head) names.

    ``loose``: a place may be named by a part of itself ("北京" for "北京朝阳区").
    """
    held = fact.object_normalized or fold(fact.object)
    if not held or not value:
        return False
    if value in default_lexicon().sets["anywhere"] and fact.relation in _places():
        return True
    if held == value or singular(held) == singular(value):
        return True
    if fact.relation in default_lexicon().sets["activities"] and _is_part(value, held):
        return True
    if not held.isascii() and len(value) >= 2 and fact.relation == "likes" and held.endswith(value):
        return True
    if fact.relation == "has_pet" and _species(held) & _species(value):
        return True
    if loose or fact.relation in _places():
        short, long = sorted((held, value), key=len)
        return len(short) >= 2 and (long.startswith(short) or long.endswith(short))
    return False


def _is_part(value: str, held: str) -> bool:
    """Whether an activity is the one that ``value`` names: "swim every Tuesday", "swimming"."""
    if not value.isascii():
        return len(value) >= 2 and value in held
    words = {_stem(w) for w in held.split()}
    return all(_stem(w) in words for w in value.split())


def _stem(word: str) -> str:
    for ending in ("ming", "ning", "ting", "ing", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _species(value: str) -> frozenset[str]:
    """The kinds of animal that an object names by its last word."""
    lexicon = default_lexicon()
    names = {value, singular(value), value.split(" ")[-1], singular(value.split(" ")[-1])}
    if not value.isascii():
        names |= {value[i:] for i in range(1, len(value))}
    return frozenset(r.pets[n] for r in lexicon.languages.values() for n in names if n in r.pets)


def singular(value: str) -> str:
    if value.isascii() and len(value) > 3 and value.endswith("s") and not value.endswith("ss"):
        return value[:-2] if value.endswith(("ches", "shes", "xes")) else value[:-1]
    return value


def in_classes(fact: Fact, classes: tuple[str, ...], lexicon: Lexicon) -> bool:
    """Whether the fact's object belongs to one of the classes, by its own name or its last word."""
    held = fact.object_normalized or fold(fact.object)
    names = {held, singular(held)}
    if held.isascii():
        words = held.split()
        names |= {" ".join(words[i:]) for i in range(len(words))}
        names |= {singular(n) for n in names}
    else:
        names |= {held[i:] for i in range(1, len(held) - 1)}
    if any(lexicon.class_names.get(n) in classes for n in names):
        return True
    return any(c in classes for n in names for c in lexicon.members.get(n, ()))


def same_statement(fact: Fact, candidate: Candidate, lexicon: Lexicon) -> bool:
    """Whether the fact already says what the candidate says, in the same or other words of the lexicon."""
    if fact.is_positive != candidate.is_positive or (fact.modality == "past") != (candidate.modality == "past"):
        return False
    if (fact.modality == "temporary") != (candidate.modality == "temporary"):
        return False
    if fact.relation == candidate.relation:
        if counts(fact.object, lexicon) != counts(candidate.object, lexicon):
            return False
        return fact.object_normalized == candidate.object_normalized or (
            singular(fact.object_normalized) == singular(candidate.object_normalized)
        )
    if candidate.evidence and set(candidate.evidence) & set(fact.evidence):
        return False  # two things that one clause says ("a cashier at the post office")
    return fold(fact.text) == fold(candidate.text)


def same_activity(fact: Fact, candidate: Candidate, lexicon: Lexicon) -> bool:
    """Whether two habits are the same thing done on other days ("周二打球", "周五打球")."""
    days = lexicon.rules("zh").parts["day_words"]
    one, two = (days.sub("", v).strip() for v in (fact.object_normalized, candidate.object_normalized))
    return bool(one) and one == two


def counts(value: str, lexicon: Lexicon) -> list[str]:
    """The numbers in an object ("three cats", "四只猫"); "a" and "one" are the same."""
    found = [n.lower() for n in lexicon.shared["numerals"].findall(value)]
    return [n for n in found if n not in ("a", "an", "one", "一")]


def same_meaning(fact: Fact, candidate: Candidate, lexicon: Lexicon) -> bool:
    """Whether a high cosine may count as the same statement: nothing names two different things."""
    if fact.relation != candidate.relation or fact.is_positive != candidate.is_positive:
        return False
    if fact.modality != candidate.modality or lexicon.relation(fact.relation).single or fact.kind == "status":
        return False
    if lexicon.relation(fact.relation).slot == "name" or fact.relation in ("identifier", *lexicon.identifier_words):
        return False
    if _DIGITS.findall(fact.text) != _DIGITS.findall(candidate.text):
        return False
    one, two = fact.object_normalized, candidate.object_normalized
    siblings = lexicon.members.get(one, frozenset()) & lexicon.members.get(two, frozenset())
    return not siblings


def contrary(fact: Fact, candidate: Candidate) -> bool:
    """Whether two standing instructions exclude each other: the same order but for one word, said as a change,
    or the same order allowed and forbidden."""
    if fact.relation != "reply_style" or candidate.relation != "reply_style":
        return False
    one, two = _order(fact.object), _order(candidate.object)
    if one == two:
        return fact.is_positive != candidate.is_positive
    differing = sum(a != b for a, b in zip(one, two, strict=False))
    alike = fact.is_positive and candidate.is_positive and len(one) == len(two) > 2
    return alike and candidate.move == "change" and differing == 1


def _order(value: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", default_lexicon().shared["standing_filler"].sub(" ", fold(value))))


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


def may_end(fact: Fact) -> bool:
    """Whether words that only name a thing may end the fact: it holds now, and is of the sort that can end."""
    lexicon = default_lexicon()
    base = fact.relation.split(":")[0]
    return (
        fact.is_positive
        and fact.modality not in ("past", "temporary")
        and fact.kind != "solution"
        and not {base, fact.relation} & lexicon.sets["timeless"]
        and base not in lexicon.sets["unending"]
    )


def names_fact(candidate: Candidate, fact: Fact, lexicon: Lexicon) -> bool:
    """Whether words that end something name this fact, or the class of things it belongs to."""
    told = {e.message_id for e in candidate.evidence}
    if any(e.message_id in told for e in fact.evidence):
        return False  # what one message says it does not end in the same breath
    if fact.relation == "role":
        return candidate.subject == fact.subject and _LEAVES_FRIENDS.search(candidate.text) is None
    over = _THING.search(candidate.text)
    if over is not None and fact.text.isascii():
        ended, held = content(next(t for t in over.groups() if t), lexicon), content(fact.object, lexicon)
        if ended and all(w in held for w in ended):
            return True
    if candidate.wrong_object and _is_given_up(fact, candidate.wrong_object, lexicon):
        return True
    thing = candidate.wrong_object or ""
    if not thing.endswith("了") and thing.startswith(fact.object_normalized or "-"):
        return False  # "吉他弦断了" is not about the guitar
    if mentions(candidate.text, fact, lexicon):
        return True
    chosen = lexicon.relation(fact.relation).family in ("preference", "language") or (
        fact.relation in lexicon.sets["own_words"]
    )
    return chosen and bool(candidate.classes) and _of_class(fact, candidate.classes, lexicon)


def _is_dish_of(fact: Fact, classes: tuple[str, ...], lexicon: Lexicon) -> bool:
    """Whether the object names a member of such a class anywhere ("lamb kebabs")."""
    broad = tuple(c for c in classes if c in lexicon.sets["broad_classes"])
    return bool(broad) and _of_class(fact, broad, lexicon)


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
    one, two = (_WORDS.findall(_NOW.sub("", v).casefold()) for v in (fact.text, candidate.text))
    before = next((i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    rest = list(zip(reversed(one[before:]), reversed(two[before:]), strict=False))
    after = next((i for i, (a, b) in enumerate(rest) if a != b), len(rest))
    left = len(one) - before - after, len(two) - before - after
    shared = content(" ".join(one[:before] + one[len(one) - after :]), lexicon)
    long = len(shared) >= _LEAST_SHARED or (len(shared) > 0 and before >= _LONG_FRAME)
    return before >= 2 and min(left) >= 1 and max(left) <= _MOST_DIFFERING and long


def _is_slot_of(fact: Fact, noun: str, lexicon: Lexicon) -> bool:
    """Whether a fact that names no attribute is about the thing that the noun names: its words hold the noun, or its
    relation is known by it ("my major", "I study biology")."""
    if not noun.isascii() or not noun:
        return False
    if noun in lexicon.slot_nouns.get(fact.relation, ()):
        return True
    if fact.relation not in lexicon.sets["own_words"] and fact.relation not in ("has", "uses"):
        return False
    told = content(fact.text, lexicon)
    return all(w in told for w in content(noun, lexicon))


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


def _is_given_up(fact: Fact, thing: str, lexicon: Lexicon) -> bool:
    """Whether a thing that words give up by itself ("外卖我不跑了") is what the fact is about: nothing but function
    words or a verb's object may stand around it."""
    if len(thing) < 2 and thing not in lexicon.class_names:
        return False
    value = fold(fact.text if fact.relation in lexicon.sets["own_words"] else fact.object)
    held = fact.object_normalized or fold(fact.object)
    bare = held[1:] if held[:1] in _CLASSIFIERS else held
    for said in (held, bare, bare.replace("的", ""), fold(fact.object)):
        if said.endswith(thing) or said.startswith(thing):
            return True
    if len(thing) > 2 and thing[-1] in _GENERIC and bare.startswith(thing[:-1]):
        return True  # "豆瓣号" for "豆瓣账号"
    base, _, noun = fact.relation.partition(":")
    if base in ("attribute", "single") and noun == thing:
        return True
    return fact.relation in lexicon.sets["own_words"] and thing in value


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
