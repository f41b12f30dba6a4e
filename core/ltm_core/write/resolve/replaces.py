"""Which known value a new one takes the place of, under whatever name it is known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from ltm_core.types import Fact
from ltm_core.write.endings.telling_of import changes_facet
from ltm_core.write.extract.renew import RULE as RENEWED
from ltm_core.write.extract.succession import RULE as SUCCESSION
from ltm_core.write.known.match import singular
from ltm_core.write.known.mentions import content, stem
from ltm_core.write.known.news import words
from ltm_core.write.known.revalued_zh import of_another
from ltm_core.write.known.sorts import are_exclusive
from ltm_core.write.plan import Candidate
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.load import default_lexicon
from ltm_core.write.words.norm import fold, script

_DATED = re.compile(r" \(\d{4}[^)]*\)$")
_HAN = re.compile(r"[一-鿿]")
_NAMED = ("single", "attribute", "schedule", "deadline", "budget")
_WORDS = re.compile(r"[\w'&:.-]+")
_MOST_DIFFERING = 3
"""Words of the value in which two statements of the same frame may differ."""
_LEAST_SHARED = 2
"""Words with a meaning that such statements share."""
_LONG_FRAME = 4
"""Words before the value from which one such word is enough."""


def takes_place(fact: Fact, candidate: Candidate, lexicon: Lexicon) -> bool:
    """Whether a value said to be new stands for the same thing as the fact's, under another name of it: the same
    noun ("coach", "running coach"), or tools of one sort ("switched to Arc")."""
    one, two = fact.relation.partition(":"), candidate.relation.partition(":")
    if candidate.rule == RENEWED and changes_facet(fact, candidate, lexicon):
        return False
    if candidate.rule == RENEWED and _holds_post(fact, two[2], lexicon):
        return True
    if candidate.rule == RENEWED and (
        _gives_value(fact, two[2], lexicon) or (fact.relation == candidate.relation and not two[2])
    ):
        return True
    if switched(fact, candidate, lexicon):
        return True
    if two[0] in _NAMED:
        if one[0] in _NAMED:
            return _same_noun(one[2], two[2]) or (not two[2] and one[0] == two[0])
        return _is_slot_of(fact, two[2], lexicon)
    if same_frame(fact, candidate, lexicon) or recounted(fact, candidate, lexicon):
        return True
    if same_dealing(fact, candidate, lexicon):
        return True
    if two[0] == "dose":
        return bool(lexicon.rules("en").parts["kind_dose"].search(fact.text)) and fact.text.isascii()
    if one[0] == two[0] == "goal" and _last(fact.object_normalized) == _last(candidate.object_normalized):
        return True
    if candidate.rule == "open":
        noun = one[2] if one[0] in ("single", "attribute") else ""
        if noun.isascii() and lexicon.rules("en").parts["new_there"].search(candidate.text) is not None:
            return False
        return len(noun) >= 2 and _holds_noun(candidate.text, noun)
    tools = ("uses", "drives", "device")
    if one[0] not in tools or two[0] not in tools:
        return False
    held, new = fact.object_normalized, candidate.object_normalized
    sort = lexicon.members.get(held, frozenset()) & lexicon.members.get(new, frozenset())
    return bool(sort) or _same_noun(held, new)


def switched(fact: Fact, candidate: Candidate, lexicon: Lexicon) -> bool:
    """Whether the words tell of a switch to a thing of the fact's sort ("moved everything over to Starling" when "I
    bank with Barclays" is known), or to another for the same purpose ("for all my notes", "for notes I use")."""
    base = fact.relation.partition(":")[0]
    if base not in lexicon.sets["switchable"] and base not in _NAMED:
        return False
    switches = lexicon.rules(script(candidate.text)).parts.get("switches")
    if switches is None or switches.search(candidate.text) is None:
        return False
    if are_exclusive(f"{fact.text} {fact.object}", f"{candidate.text} {candidate.object}"):
        return True
    return fact.relation == candidate.relation and bool(
        _purpose(fact.text, lexicon) & _purpose(candidate.text, lexicon)
    )


def done_with(fact: Fact, candidate: Candidate, lexicon: Lexicon) -> bool:
    """Whether the fact says in its own words where or with what the thing is done that the words give a new value
    ("I do my books in Xero", then "changed to FreeAgent for the books")."""
    noun = candidate.relation.partition(":")[2]
    own = fact.relation in lexicon.sets["own_words"] or fact.relation in ("uses", "has")
    if candidate.rule != SUCCESSION or not noun.isascii() or not own:
        return False
    means = lexicon.rules("en").parts["means_behind"]
    told = fold(fact.text)
    return any(means.match(told, m.end()) for m in re.finditer(rf"\b{re.escape(fold(noun))}\b", told))


def only_provider(facts: Sequence[Fact], candidate: Candidate, lexicon: Lexicon) -> list[Fact]:
    """The one provider known ("I'm with Zinnia for electric") when the words tell of a switch to a name of no other
    sort ("switched to Bluebird"); none when several are known."""
    served = [f for f in facts if f.relation == "served_by"]
    switches = lexicon.rules(script(candidate.text)).parts.get("switches")
    if len(served) != 1 or switches is None or switches.search(candidate.text) is None:
        return []
    new = candidate.object.strip()
    sorts = [lexicon.members.get(fold(v), frozenset()) for v in (new, served[0].object.partition(" for ")[0])]
    if not new[:1].isupper() or (sorts[0] and not sorts[0] & sorts[1]):
        return []
    return served


def recounted(fact: Fact, candidate: Candidate, lexicon: Lexicon) -> bool:
    """Whether the words give the one number of a statement another value ("my car insurance went up to 720" of "…
    costs 600 a year"): the unit is the same, and so is something that is counted besides days."""
    shared = lexicon.shared
    base = fact.relation.partition(":")[0]
    if base not in lexicon.sets["switchable"] and base not in (*_NAMED, *lexicon.sets["frames"]):
        return False
    if script(fact.text) != script(candidate.text) or shared["recounts"].search(candidate.text) is None:
        return False
    chinese = script(fact.text) == "zh"
    counted = shared["counted_zh" if chinese else "counted"]
    old, new = (_DATED.sub("", t) for t in (fact.text, candidate.text))
    one, two = list(counted.finditer(old)), list(counted.finditer(new))
    if len(one) != 1 or len(two) != 1 or one[0]["n"] == two[0]["n"]:
        return False
    units = [(m["unit"] or "").strip().rstrip("s") for m in (one[0], two[0])]
    if all(units) and (units[0][:1] != units[1][:1] if chinese else units[0] != units[1]):
        return False
    function = lexicon.gate.function
    rest = [words(shared["of_time"].sub(" ", counted.sub(" ", t)), function) for t in (old, new)]
    verbs = [t[m.start() - 1 : m.start()] for t, m in ((old, one[0]), (new, two[0]))]
    alike = chinese and bool(units[0]) and verbs[0] == verbs[1] and bool(_HAN.match(verbs[0]))
    alike = alike and not of_another(one[0], two[0], lexicon)
    named = not chinese and all(units) and shared["counted_units"].match(units[0]) is None and len(units[0]) > 1
    rates = [shared["rate"].match(t[m.end() :]) for t, m in ((old, one[0]), (new, two[0]))]
    often = not chinese and all(units) and all(rates) and len({m.group() for m in rates if m is not None}) == 1
    return bool(rest[0] & rest[1]) or alike or named or often


def _purpose(text: str, lexicon: Lexicon) -> frozenset[str]:
    m = lexicon.shared["purpose"].search(text)
    return frozenset(content(next(g for g in m.groups() if g), lexicon)) if m is not None else frozenset()


def keeps_employer(fact: Fact, news: Candidate, lexicon: Lexicon) -> bool:
    """Whether news leaves an employer as he is, since it is of another role and who was promoted works where he did;
    or the holder of a post, since he only did something else ("Priya moved house", "周敏搬家了")."""
    shared = lexicon.shared
    base, _, post = fact.relation.partition(":")
    if base in ("single", "attribute") and news.text.startswith(fact.object):
        return lexicon.is_post(post) and shared["holder_left"].search(news.text) is None
    if fact.relation != "works_at":
        return False
    return shared["role_told"].search(news.text) is not None and shared["work_left"].search(news.text) is None


def same_frame(fact: Fact, candidate: Candidate, lexicon: Lexicon) -> bool:
    """Whether two English statements in the user's own words differ by one value alone ("I get my groceries from
    Tesco", "I get my groceries from Lidl now"): what they share must say more than that something is liked."""
    own = lexicon.sets["own_words"]
    same = fact.relation == candidate.relation and fact.relation in lexicon.sets["frames"]
    if not (same or (fact.relation in own and candidate.relation in own)) or not fact.text.isascii():
        return False
    now = lexicon.rules("en").parts["of_now"]
    one, two = (_WORDS.findall(now.sub("", v).casefold()) for v in (fact.text, candidate.text))
    before = next((i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    rest = list(zip(reversed(one[before:]), reversed(two[before:]), strict=False))
    after = next((i for i, (a, b) in enumerate(rest) if a != b), len(rest))
    left = len(one) - before - after, len(two) - before - after
    shared = content(" ".join(one[:before] + one[len(one) - after :]), lexicon)
    long = len(shared) >= _LEAST_SHARED or (len(shared) > 0 and before >= _LONG_FRAME)
    return before >= 2 and min(left) >= 1 and max(left) <= _MOST_DIFFERING and long


def same_dealing(fact: Fact, candidate: Candidate, lexicon: Lexicon) -> bool:
    """Whether two English statements say that the same is done elsewhere or with another ("I shop at Aldi", "I've
    started shopping at Lidl instead"), of what is done at one place or with one."""
    own = lexicon.sets["own_words"]
    if fact.relation not in own or candidate.relation not in own or not fact.text.isascii():
        return False
    one, two = (lexicon.shared["dealing"].search(t) for t in (fact.text, candidate.text))
    if one is None or two is None or one["how"] != two["how"] or one["name"] == two["name"]:
        return False
    verb = stem(one["verb"])
    return verb == stem(two["verb"]) and verb not in lexicon.sets["many_dealings"]


def same_verb(facts: Sequence[Fact], candidate: Candidate, lexicon: Lexicon) -> list[Fact]:
    """The facts whose verb a Chinese change of what is done ("改喝美式了") names ("早上喝拿铁"); what is counted
    ("每天喝两升水") is another matter."""
    parts, own = lexicon.rules("zh").parts, lexicon.sets["own_words"]
    changed = parts["changed_verb"].search(candidate.text)
    if changed is None:
        return []
    vague = changed["verb"] in lexicon.sets["vague_verbs"]
    return [
        f
        for f in facts
        if changed["verb"] in f.text
        and not (vague and parts["usual"].search(f.text) is None)
        and not parts["is_counted"].search(f.text)
        and (f.relation == candidate.relation or f.relation in own)
    ]


def _last(value: str) -> str:
    return singular(value.rpartition(" ")[2])


def _is_slot_of(fact: Fact, noun: str, lexicon: Lexicon) -> bool:
    """Whether a fact that names no attribute is about the thing that the noun names: its words hold the noun, or its
    relation is known by it ("my major", "I study biology")."""
    if not noun.isascii() or not noun:
        return False
    if noun in lexicon.slot_nouns.get(fact.relation, ()):
        return True
    if fact.relation not in lexicon.sets["own_words"] and fact.relation not in ("has", "uses"):
        return False
    told, named = content(fact.text, lexicon), content(noun, lexicon)
    # A noun of function words alone ("my will") names nothing that could be looked for.
    return bool(named) and all(w in told for w in named)


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


def _holds_post(fact: Fact, post: str, lexicon: Lexicon) -> bool:
    """Whether the fact says that the speaker, or somebody in so many words, holds the post that is another's now."""
    if len(post) < 2 or post.isascii():
        return False
    if fact.relation in lexicon.sets["held_posts"]:
        return fact.object.endswith(post)
    return (
        fact.relation in lexicon.sets["own_words"]
        and re.search(rf"{re.escape(post)}(?:是|叫|由|归)", fact.text) is not None
    )


def _same_noun(one: str, two: str) -> bool:
    joints = default_lexicon().sets["joints"]
    if any(one in names and two in names for names in _post_names()):
        return True
    if one.isascii() and two.isascii():
        few, more = sorted(([singular(w) for w in v.split()] for v in (one, two)), key=len)
        bare = [{w for w in v if w not in joints} for v in (few, more)]
        return bool(few) and (
            (few[-1] == more[-1] and set(few) <= set(more)) or (len(bare[0]) > 1 and bare[0] == bare[1])
        )
    short, long = sorted((one, two), key=len)
    if len(short) >= 2 and long.endswith(short):
        return True
    tail = 0
    while tail < len(short) and short[-1 - tail] == long[-1 - tail]:
        tail += 1
    return tail >= 3 or (tail >= 2 and len(short) <= 5)


@cache
def _post_names() -> tuple[frozenset[str], ...]:
    """Names of one post ("boss", "line manager")."""
    return tuple(frozenset(names.split("|")) for names in sorted(default_lexicon().sets["same_posts"]))


def _holds_noun(text: str, noun: str) -> bool:
    if noun.isascii():
        return re.search(rf"\b{re.escape(noun)}\b", text, re.I) is not None
    told = fold(text)
    return any(noun[i:] in told for i in range(len(noun) - 1))
