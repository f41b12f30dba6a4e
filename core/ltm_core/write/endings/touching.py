"""English sentences that only touch on what a known fact is about: a part of it or a thing for it ("sold the piano
stool"), another of its sort ("the car loan is paid off" of a student loan), somebody else's ("my bandmate gave up the
guitar"), or a passing event ("left the choir practice early"). They end nothing that is known of it. Pure."""

from __future__ import annotations

import re

from ltm_core.types import Fact
from ltm_core.write.endings.other_side import is_of_other_side
from ltm_core.write.endings.partly import is_one_item, names_one_of, stays_on, tells_of_part_of
from ltm_core.write.endings.phrases import Held, Word, held_words, words
from ltm_core.write.endings.sayings import acts_itself, is_event, is_passing, tells_of_others, tells_of_two
from ltm_core.write.endings.touching_zh import touches_zh
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold, normal, script

_MOST_BEFORE = 3
"""Words of an English noun phrase before its last one that say of which sort it is."""


def only_touches(fact: Fact, text: str, lexicon: Lexicon, *, whole: bool = True) -> bool:
    """Whether a sentence names what the fact is about only to tell of something else. ``whole``: whether
    a part, a thing for it and a passing event count as well; without, only another of its sort or of another."""
    if not script(text) == script(fact.text) == "en":
        return touches_zh(fact, text, lexicon)
    said = normal(text)
    held = held_words(normal(f"{fact.text} {fact.object}"), lexicon.gate.function, lexicon.sets["light_nouns"])
    spoken = words(said)
    if _is_about_else(said, fact, spoken, held, lexicon):
        return True
    hits = [i for i, w in enumerate(spoken) if w.stem in held.stems and not _is_name_of_another(spoken, i, held)]
    # Of a name of several words the last one tells whether it is meant.
    last = [i for i in hits if i + 1 not in hits or spoken[i].gap != " "]
    whose = set(fold(fact.subject.rpartition(":")[2]).split())
    last = [i for i in last if spoken[i].low not in whose] or last
    if any(_is_named_otherwise(spoken, i, held, lexicon) for i in hits):
        return True
    if whole and (
        tells_of_part_of(said, normal(fact.text), held.stems, lexicon)
        or is_passing(said, fact, held.stems, lexicon)
        or (lexicon.relation(fact.relation).family == "preference" and is_one_item(said, held.text, lexicon))
        or acts_itself(said, [spoken[i].text for i in hits], lexicon)
    ):
        return True
    if not last:
        return any(w.stem in held.stems for w in spoken)
    mine = fact.subject == (fact.speaker or "user")
    works = lexicon.relation(fact.relation).family == "work"
    beside = whole and lexicon.rules("en").parts["of_new_value"].search(said) is None
    return all(
        _is_other_sort(spoken, i, held, lexicon)
        or (mine and _is_owned(spoken, i, held, lexicon))
        or (beside and _is_beside(spoken, i, held, lexicon))
        or (works and _is_of_pastime(spoken, i, held, lexicon))
        for i in last
    )


def tells_of_another(fact: Fact, text: str, lexicon: Lexicon) -> bool:
    """Whether an English sentence tells of somebody or something else, or of a passing event, however well it fits
    the fact."""
    if is_of_other_side(fact, text, lexicon):
        return True
    if not script(text) == script(fact.text) == "en":
        return touches_zh(fact, text, lexicon)
    said = normal(text)
    held = held_words(normal(f"{fact.text} {fact.object}"), lexicon.gate.function, lexicon.sets["light_nouns"])
    spoken = words(said)
    if _is_about_else(said, fact, spoken, held, lexicon):
        return True
    mine = fact.subject == (fact.speaker or "user")
    hits = [i for i, w in enumerate(spoken) if w.stem in held.stems]
    if hits and mine and all(_is_owned(spoken, i, held, lexicon) for i in hits):
        return True
    if names_one_of(said, held.text, lexicon):
        return True
    one_value = fact.relation.partition(":")[0] in ("single", "attribute")
    slot = {w.stem for w in words(fact.relation.partition(":")[2])}
    hits = [i for i in hits if spoken[i].stem in slot] or hits  # "the house insurance" of the car's, with whomever
    if hits and one_value and all(_is_other_sort(spoken, i, held, lexicon) for i in hits):
        return True
    return is_event(said, held.text, lexicon)


def _is_about_else(said: str, fact: Fact, spoken: tuple[Word, ...], held: Held, lexicon: Lexicon) -> bool:
    """Whether a sentence tells of somebody or something else, or names the fact's thing as what stays."""
    return (
        tells_of_others(said, held.text, lexicon)
        or tells_of_two(said, fact, lexicon)
        or stays_on(said, held.stems, lexicon)
        or _is_rival(fact, spoken, held, lexicon)
        or _is_for_it(said, held, lexicon)
        or _is_of_such(said, fact, lexicon)
        or _is_price_of_another(said, fact, held, lexicon)
    )


def _is_name_of_another(spoken: tuple[Word, ...], i: int, held: Held) -> bool:
    """Whether a word is a name although the fact knows it as a common noun: "my Visa card" and a visa."""
    text = spoken[i].text
    return i > 0 and text[:1].isupper() and text.lower() in held.text and text not in held.text


def _is_beside(spoken: tuple[Word, ...], i: int, held: Held, lexicon: Lexicon) -> bool:
    """Whether a word only says of what or for what another thing is: "the TV stand", "the choir's pianist"."""
    word = spoken[i]
    if i + 1 >= len(spoken) or word.gap != " ":
        return False
    after = spoken[i + 1]
    if word.owns:
        while after.low in lexicon.sets["describing"] and after.gap == " ":  # "the tortoise's old heat lamp"
            i += 1
            after = spoken[i + 1]
            if after.low.endswith("ing") and _is_noun(spoken, i + 2, lexicon):
                return True  # "the boat's old launching trolley"
        timed = lexicon.shared["of_time"].fullmatch(after.low) is not None and after.gap == " "
        if timed and _is_noun(spoken, i + 2, lexicon):
            return True  # "the hospital's night canteen"
        return after.low in lexicon.rules("en").kin or not _goes_on(after, lexicon)
    if after.low in lexicon.sets["one_meeting"] and after.stem not in held.stems:
        return bool(held.words & lexicon.sets["goes_on_there"])  # "cancelled my gym class" of a gym membership
    if after.low in lexicon.sets["outlets"] and after.stem not in held.stems and word.text[:1].isupper():
        # "the O2 shop" of a contract with O2; not of what one buys or does at O2
        there = lexicon.rules("en").parts["place_held"].finditer(held.text)
        return all(m["place"].lower() != word.low for m in there)
    if after.low in lexicon.sets["whole_heads"] and not after.owns and not _is_sold_case(spoken, i, lexicon):
        if i > 0 and spoken[i - 1].low in ("a", "an", "another") and after.stem not in held.stems:
            return True  # "left a Strava group"
        return _is_noun(spoken, i + 2, lexicon) and after.gap == " "  # "the Lidl car park"
    if after.low in lexicon.sets["exam_heads"]:
        return lexicon.rules("en").parts["prepares_for"].search(held.text) is None
    return _is_noun(spoken, i + 1, lexicon) and not (word.text[:1].isupper() and after.text[:1].isupper())


def _is_sold_case(spoken: tuple[Word, ...], i: int, lexicon: Lexicon) -> bool:
    """Whether a word says for what a thing was that is got rid of: "sold my accordion case"."""
    sets = lexicon.sets
    return spoken[i + 1].low in sets["thing_for_it"] and any(w.low in sets["disposes"] for w in spoken[:i])


def _is_of_pastime(spoken: tuple[Word, ...], i: int, held: Held, lexicon: Lexicon) -> bool:
    """Whether a word only says where people do something together beside the work that is known ("the Met Office
    choir" of a job at the Met Office)."""
    after = spoken[i + 1].low if i + 1 < len(spoken) and spoken[i].gap == " " else ""
    return after in lexicon.sets["pastime_heads"] and after not in held.words


def _is_noun(spoken: tuple[Word, ...], i: int, lexicon: Lexicon) -> bool:
    return i < len(spoken) and not spoken[i].low[:1].isdigit() and not _goes_on(spoken[i], lexicon)


def _goes_on(after: Word, lexicon: Lexicon) -> bool:
    """Whether a word behind a noun is a verb or an adverb, and no noun with it."""
    low = after.low
    if low in lexicon.sets["noun_heads"] or low in lexicon.sets["light_nouns"]:
        return False
    return (
        low in lexicon.gate.function
        or low in lexicon.sets["after_nouns"]
        or "color" in lexicon.members.get(low, ())
        or low.endswith(("ed", "ly", "ing"))
        or lexicon.shared["of_time"].fullmatch(low) is not None
    )


def _is_other_sort(spoken: tuple[Word, ...], i: int, held: Held, lexicon: Lexicon) -> bool:
    """Whether the words before a noun say that another of its sort is meant: "the window cleaner"."""
    kinds = lexicon.sets["kind_words"]
    for before in reversed(spoken[max(0, i - _MOST_BEFORE) : i]):
        if before.gap != " " or before.low in lexicon.sets["determiners"]:
            break
        if before.low in kinds and before.low not in held.words and before.stem not in held.stems:
            return True
    return False


def _is_named_otherwise(spoken: tuple[Word, ...], i: int, held: Held, lexicon: Lexicon) -> bool:
    """Whether a name behind a noun says that another of its sort is meant: "the course in Excel" of one in Python."""
    said = " ".join(w.text for w in spoken)
    one, other = (_name_behind(spoken[i].low, text, lexicon) for text in (said, held.text))
    if not (one[:1].isupper() and other[:1].isupper()):
        return False
    return fold(one) not in fold(held.text) and lexicon.rules("en").parts["of_another_now"].search(said) is None


def _name_behind(noun: str, text: str, lexicon: Lexicon) -> str:
    """What stands behind a noun and its preposition; empty when there is none."""
    behind = lexicon.rules("en").parts["name_behind"]
    for at in re.finditer(rf"\b{re.escape(noun)}\b", text, re.I):
        m = behind.match(text, at.end())
        if m is not None and m["name"].split(" ")[0].casefold() not in lexicon.sets["titles"]:  # "in June" names none
            return m["name"]
    return ""


def _is_of_such(said: str, fact: Fact, lexicon: Lexicon) -> bool:
    """Whether a way of eating or a language is named only to say what some thing is like ("the vegan café", "the
    Welsh programme")."""
    if fact.relation not in ("diet", "speaks"):
        return False
    text = fold(said)
    for way in lexicon.topics["en"].joints.split(fold(fact.object)):
        at = text.find(f"{way} ") if way else -1
        after = words(said[at + len(way) :]) if at >= 0 else ()
        if after and _is_noun(after, 0, lexicon) and after[0].low not in lexicon.sets["diet_heads"]:
            return True
    return False


def _is_price_of_another(said: str, fact: Fact, held: Held, lexicon: Lexicon) -> bool:
    """Whether a sentence tells what something else costs ("electricity has gone up to 90 a month" of the rent)."""
    m = lexicon.shared["priced"].search(said)
    if m is None or fact.relation.partition(":")[0] not in ("single", "attribute"):
        return False
    noun = {w.stem for w in words(fact.relation.partition(":")[2])}
    return not {w.stem for w in words(m["what"])} & (held.stems | noun) and any(ch.isdigit() for ch in held.text)


def _is_for_it(said: str, held: Held, lexicon: Lexicon) -> bool:
    """Whether the words tell of a thing that is only for what the fact is about ("the awning for the caravan")."""
    parts = lexicon.rules("en").parts
    m = parts["thing_for"].search(said) or parts["does_for"].match(said)
    heads = lexicon.sets["whole_heads"] | (lexicon.sets["tie_nouns"] - {"ones"})
    if m is None or m["thing"].rpartition(" ")[2] in heads:
        return False
    thing, whole = ({w.stem for w in words(m[g])} for g in ("thing", "whole"))
    return bool(held.stems & whole) and not held.stems & thing


def _is_owned(spoken: tuple[Word, ...], i: int, held: Held, lexicon: Lexicon) -> bool:
    """Whether somebody else's thing is meant: "the neighbour's rabbit", "her rent"."""
    for n, before in enumerate(reversed(spoken[max(0, i - _MOST_BEFORE) : i])):
        if before.gap != " ":
            break
        if before.owns and before.low not in held.words and before.low not in lexicon.sets["owners_not"]:
            return n < _MOST_BEFORE - 1
        if before.low in lexicon.sets["their"]:
            return not held.words & lexicon.sets["their"]
        if before.low in lexicon.gate.function or before.low.endswith(("ed", "ing")):
            break
    return False


def goes_on_as_name(text: str, at: int, lexicon: Lexicon) -> bool:
    """Whether another noun follows what ends at ``at``, and is what the words are about ("the iPad pencil")."""
    if not text.isascii() or text[at : at + 1] not in (" ", "'"):
        return False
    owner = text.startswith("'s ", at)
    spoken = words(text[at:].removeprefix("'s"))
    if not owner and not text[at + 1 : at + 2].isalpha():
        return False
    heads = lexicon.sets["whole_heads"]
    named = text[at + 1 : at + 2].isupper()
    return _is_noun(spoken, 0, lexicon) and not named and (owner or spoken[0].low not in heads)


def _is_rival(fact: Fact, spoken: tuple[Word, ...], held: Held, lexicon: Lexicon) -> bool:
    """Whether the sentence tells of a vehicle, and the fact of one of another sort."""
    groups = [frozenset(g.split("|")) for g in sorted(lexicon.sets["rival_nouns"])]
    said = {n for n, g in enumerate(groups) if any(w.low in g for w in spoken)}
    known = {n for n, g in enumerate(groups) if held.words & g}
    if not known and fact.relation == "drives":
        known = {n for n, g in enumerate(groups) if "car" in g}
    return bool(said) and bool(known) and not said & known


def is_other_slot(fact: Fact, relation: str, lexicon: Lexicon) -> bool:
    """Whether what is called by its sort is another than the fact's: "my work phone" of a phone, "gas" of
    "electricity"."""
    noun, held = relation.partition(":")[2].split(), fact.relation.partition(":")[2].split()
    if not noun or not fact.text.isascii():
        return False
    told = set(re.findall(r"\w+", fold(f"{fact.text} {fact.object}")))
    if len(noun) > 1 and noun[0] in lexicon.sets["of_work"] and noun[0] not in told:
        return True
    kinds = lexicon.sets["kind_words"]
    return bool(held) and not set(noun) & set(held) and noun[-1] in kinds and held[-1] in kinds
