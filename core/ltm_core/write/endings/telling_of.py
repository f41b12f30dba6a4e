"""Whether a sentence that sounds like the end of something known only tells of another, or of a part of it. Pure."""

from __future__ import annotations

import re

from ltm_core.types import Fact
from ltm_core.write.known.mentions import uncounted
from ltm_core.write.plan import Candidate
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold, script

_TELLING_FIRST = re.compile(r"[A-Z][\w-]+")


def moves_another(fact: Fact, c: Candidate, lexicon: Lexicon) -> bool:
    """Whether an English sentence begins with what somebody named did, and the fact is another's place ("Sam moved
    out in May" and where the speaker lives with Sam)."""
    first = c.text.partition(",")[0]
    name = _TELLING_FIRST.match(first)
    if name is None or script(c.text) != "en" or fact.relation not in lexicon.sets["places"]:
        return False
    if fact.subject == c.subject != (fact.speaker or "user"):
        return False  # it is his own place that he left
    spoken = lexicon.rules("en").flags["first_person"].search(first) or lexicon.shared["speaks_of_us"].search(first)
    begins = name.group().casefold().removesuffix("'s")
    known = fold(f"{fact.object} {fact.subject.replace(':', ' ')}").split()
    owned = begins in lexicon.gate.function or begins in known
    return spoken is None and not owned


def only_tells_of(fact: Fact, c: Candidate, lexicon: Lexicon) -> bool:
    """Whether an English sentence tells what the one or the thing that the fact names did ("Boeing changed its
    CEO"), and nothing that ends it for the speaker."""
    text = c.text
    if script(text) != "en" or lexicon.shared["speaks_of_us"].search(text):
        return False
    begins = lexicon.shared["determiner"].sub("", text).casefold()
    named = [w.casefold() for w in _TELLING_FIRST.findall(fact.object)]
    return any(begins.startswith(w) for w in named) and lexicon.shared["own_end"].search(text) is None


def moves_house(fact: Fact, c: Candidate, lexicon: Lexicon) -> bool:
    """Whether an English sentence tells only of another flat or room, and the fact of work or study; or a Chinese one
    of the sort of the dwelling, and the fact of its place."""
    family = lexicon.relation(fact.relation).family
    if fact.relation in lexicon.sets["places"] and lexicon.rules("zh").parts["dwelling_only"].search(c.text):
        return True
    if script(c.text) != "en" or not (family in ("work", "learning") or fact.relation == "studies_at"):
        return False
    parts = lexicon.rules("en").parts
    return parts["moves_house"].search(c.text) is not None and parts["moves_work"].search(c.text) is None


def tells_of_part(fact: Fact, c: Candidate, lexicon: Lexicon) -> bool:
    """Whether a Chinese sentence begins with something of the thing that the fact names ("MacBook的壳卖了"), with
    what the place that it names handed out, or tells of a school, and the fact of what is learned elsewhere."""
    said, held = fold(c.text), fact.object_normalized or fold(fact.object)
    bare = uncounted(held, lexicon)
    parts = lexicon.rules("zh").parts
    part = parts["part_of"]
    if fact.relation in lexicon.sets["activities"] and parts["moves_school"].search(said) is not None:
        return True
    thing = parts["thing_first"].match(said)
    if thing is not None and fact.relation.partition(":")[0] in (*lexicon.sets["own_words"], "attribute", "single"):
        name, rest = thing["what"], said[thing.end("what") :]
        told = fold(f"{fact.relation} {fact.text}")
        if name in told and part.match(rest) is not None and rest[1:3] not in told:
            return True
    return any(h and said.startswith(h) and part.match(said[len(h) :]) is not None for h in (held, bare))


def tells_of_facet(fact: Fact, c: Candidate, lexicon: Lexicon) -> bool:
    """Whether a Chinese sentence tells only of a facet of what the fact says is still awaited ("房贷利率调下来了",
    and a loan that the bank has not approved)."""
    parts = lexicon.rules("zh").parts
    facet = parts["facet"].search(c.text)
    return facet is not None and facet.group() not in fact.text and parts["awaited"].search(fact.text) is not None


def does_another(fact: Fact, c: Candidate, lexicon: Lexicon) -> bool:
    """Whether a Chinese sentence tells how much is done of something else ("骑八公里" of "跑五公里")."""
    amount = lexicon.rules("zh").parts["does_amount"]
    mine, theirs = amount.search(fact.text), amount.search(c.text)
    return mine is not None and theirs is not None and mine["verb"] != theirs["verb"]


def changes_facet(fact: Fact, c: Candidate, lexicon: Lexicon) -> bool:
    """Whether a Chinese sentence names as new only the room, the time or the head of what one belongs to or does
    ("素描班换教室了" of "我是素描班的学员"), and the fact is of no such value."""
    if fact.relation.partition(":")[0] in ("single", "attribute"):
        return False
    return lexicon.rules("zh").parts["facet_value"].fullmatch(c.object) is not None
