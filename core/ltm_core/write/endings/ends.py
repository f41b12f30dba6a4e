"""Clauses that end something without saying of which sort it is: "cancelled PureGym", "鱼缸送人了".

What is meant is only known beside the store: the candidate made here ends the facts that its words name, or the
class of things they name, and is dropped when there are none (`resolve`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ltm_core.write.endings.given_up import UNTOUCHED, GivenUp, given_up, given_up_before, names_of
from ltm_core.write.endings.reversals import reversed_classes
from ltm_core.write.endings.reversals_en import Reversal, leaves_some, reversal_in
from ltm_core.write.endings.touching import goes_on_as_name
from ltm_core.write.known.broad import broad_classes
from ltm_core.write.known.mentions import names
from ltm_core.write.plan import Candidate, Utterance
from ltm_core.write.read.people import Subject
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.expressions import Expression
from ltm_core.write.words.lexicon import Lexicon, Rules
from ltm_core.write.words.norm import fold, trim

RULE = "ends"
_NOT_FINAL = ("plan", "question", "command", "conditional", "temporary", "goal", "one_off")
"""Cues of clauses that end nothing for good."""
_FOLLOWED = "any_sport"
"""The class of all sport, those that one only watches among them."""
_HAN = re.compile(r"[\u4e00-\u9fff]")


def endings(
    read: Read,
    subject: Subject,
    utterance: Utterance,
    lexicon: Lexicon,
    *,
    speaker: str | None,
    before: Read | None = None,
    after: Read | None = None,
) -> Iterator[Candidate]:
    """The candidates that end what the clause names; none when it ends nothing, or not for good.

    ``before``: the clause before, which names what "it" means; ``after``: the next one, which may put it off.
    """
    rules = lexicon.rules(read.clause.language)
    put_off = rules.parts.get("put_off")
    if after is not None and put_off is not None and put_off.match(after.clause.norm):
        return
    two = rules.parts.get("we_two")
    if subject.kind == "stranger" and two is not None and two.match(read.clause.norm):
        subject = replace(subject, key=f"speaker:{speaker}" if speaker else "user", kind="dropped")
    partners = _parted_from(read, subject, utterance, lexicon) if not read.veto else []
    if not read.veto:
        yield from _passing_over(read, subject, utterance, rules, speaker=speaker)
    gone = rules.parts["pet_gone"].match(read.clause.norm) if "pet_gone" in rules.parts else None
    reversal = (
        reversal_in(read, lexicon, (before, after)) if _may_be_final(read, "command", "temporary") else Reversal()
    )
    if read.veto or (subject.kind == "stranger" and not reversal.of_speaker):
        return
    in_chinese = reversed_classes(read, lexicon, before, subject) if _may_be_final(read, "command") else ()
    given_up_whole = in_chinese or _as_done(reversal.classes, read, lexicon)
    final = bool(given_up_whole) or _is_final(read, subject, rules)
    if not final and not ((partners or gone is not None) and _may_be_final(read)):
        return
    words = trim(read.clause.text)
    points = rules.parts.get("points_back_over")
    if before is not None and spoken_before(before, read) and points is not None and points.search(words) is not None:
        words = f"{trim(before.clause.text)}: {words}"
    own = subject.kind in ("self", "dropped")
    over = _over(read, subject, rules) if own else GivenUp()
    renewal = rules.parts.get("ended_renewal")
    renewed = renewal is None or renewal.match(read.clause.norm) is None
    if own and not renewed and not over.thing and before is not None and spoken_before(before, read):
        # "那张卡月初到期，我没有续"
        over = given_up(before.clause.norm.rstrip("，, ") + "，" + read.clause.norm, rules)
    things, nothing = names_of(over), None
    loose: tuple[tuple[str, str], ...] = ((over.verb, over.thing),) if over.thing else ()
    if own and rules.language == "zh":
        bare = rules.parts["ended_bare"].match(read.clause.norm)
        if bare is not None and before is not None and spoken_before(before, read):
            things = given_up_before(before.clause.norm, bare["verb"] or bare["verb2"], lexicon.gate.function)
            loose = tuple((t[0], t[1:]) for t in things)
        none = rules.parts["nothing_done"].match(read.clause.norm)
        nothing = (none["verb"], none["noun"]) if none is not None else None
        needless = rules.parts["needless"].match(read.clause.norm)
        loose = ((needless["verb"], ""),) if needless is not None else loose
        untouched = rules.parts["untouched"].match(read.clause.norm)
        if untouched is not None:
            loose = ((UNTOUCHED, next(v for v in untouched.groups() if v)),)
        loose = (("", "药"),) if rules.parts["doctor_stopped"].match(read.clause.norm) else loose
    keys = [subject.key]
    name = rules.parts.get("named_first") if subject.kind in ("dropped", "entity") else None
    named = name.match(read.clause.text[subject.words :]) if name is not None else None
    if named is not None:
        keys.append(named["name"])
    keys += partners
    if lexicon.shared["animal_gone"].search(read.clause.norm) is not None:
        keys += [p.key for p in utterance.people() if p.name and p.name in read.clause.text]
        keys += [n for n in names(read.clause.text, begins=True) if n.isalpha()]
    keys += _for_whom(read, rules)
    if reversal.of_speaker:
        keys.append(f"speaker:{speaker}" if speaker else "user")
    for key in dict.fromkeys(keys):
        yield replace(
            _ending(key, words, read, utterance, speaker=speaker),
            classes=given_up_whole
            or (
                ()
                if leaves_some(read, lexicon)
                else _as_done(named_classes(read.clause.norm, rules, lexicon), read, lexicon)
            )
            or _sort_of(over.thing, lexicon),
            relation="does" if final or gone is None or partners else "has_pet",  # what died today is gone for good
            wrong_object=over.thing or None,
            things=things,
            loose=loose,
            nothing=nothing,
        )


def _passing_over(
    read: Read, subject: Subject, utterance: Utterance, rules: Rules, *, speaker: str | None
) -> Iterator[Candidate]:
    """The candidate that ends what was only for a while: a visit ("Rex went home on Sunday"), or a state after which
    things are as they were ("home again", "I'm eating normally again")."""
    if any(read[w] for w in ("plan", "question", "conditional", "goal", "one_off", "command")):
        return
    me = f"speaker:{speaker}" if speaker else "user"
    for name in ("ends_stay", "restored_home", "restored", "discharged"):
        cue = rules.flags.get(name)
        if cue is None or cue.search(read.clause.norm) is None:
            continue
        if name != "ends_stay" and (subject.kind == "stranger" or subject.key != me):
            continue
        if name == "discharged" and read["temporary"]:
            continue  # "no more appointments until June"
        words = trim(read.clause.text)
        for key in dict.fromkeys((me, subject.key or me)) if name == "ends_stay" else (me,):
            ended = _ending(key, words, read, utterance, speaker=speaker)
            yield replace(ended, relation="about", tags=(name,))


def _parted_from(read: Read, subject: Subject, utterance: Utterance, lexicon: Lexicon) -> list[str]:
    """The partner whom the clause tells to be one no longer: the one it names, or the only one known when it tells
    of nobody else."""
    plainly = lexicon.shared["parted"].search(read.clause.norm) is not None
    from_whom = lexicon.shared["parted_with"].search(read.clause.norm)
    if not plainly and from_whom is None:
        return []
    within = fold(read.clause.text if plainly or from_whom is None else from_whom["who"])
    ours = read["first_person"] or subject.kind in ("kin", "entity") or not read.clause.norm.isascii()
    known = [p for p in utterance.people() if p.key.partition(":")[0] in lexicon.sets["partners"]]
    named = [p.key for p in known if p.name and fold(p.name) in within]
    every = list(dict.fromkeys(p.key for p in known))
    alone = plainly and ours and len(every) == 1 and subject.kind in ("self", "dropped")
    return named or (every if alone else [])


def ending_of(thing: str, read: Read, utterance: Utterance, *, speaker: str | None) -> Candidate:
    """The end of what ``thing`` names for the speaker, because the next clause tells what came instead of it."""
    key = f"speaker:{speaker}" if speaker else "user"
    return replace(_ending(key, trim(read.clause.text), read, utterance, speaker=speaker), wrong_object=fold(thing))


def _ending(key: str, words: str, read: Read, utterance: Utterance, *, speaker: str | None) -> Candidate:
    return Candidate(
        subject=key,
        relation="does",
        object=words,
        object_normalized=fold(words),
        text=words,
        is_positive=False,
        is_about_user=key == "user",
        speaker=speaker,
        confidence=0.5,
        relation_confidence=0.0,
        move="cease",
        reach="class",
        valid_from=utterance.at,
        said_at=utterance.at,
        evidence=(read.evidence(utterance.message_id),),
        rule=RULE,
    )


def spoken_before(before: Read, read: Read) -> bool:
    """Whether the clause before is the speaker's plain word in the same language."""
    return not before.veto and before.clause.language == read.clause.language


def thing_ended(norm: str, rules: Rules) -> str:
    """The thing that a clause names first and then gives up ("外卖我不跑了", "饭馆盘出去了"); else ""."""
    return given_up(norm, rules).thing


def _may_be_final(read: Read, *ignored: str) -> bool:
    """Whether nothing around an ending says that it is another's, planned, asked for or for a while."""
    if read["third_person"] and not read["own_kin"]:
        return False
    return not any(read[w] for w in _NOT_FINAL if w not in ignored)


def _is_final(read: Read, subject: Subject, rules: Rules) -> bool:
    norm = read.clause.norm
    named_first = _over(read, subject, rules).thing  # "翻译的活儿推掉了" begins like an order
    if not _may_be_final(read, *(("command",) if named_first else ())):
        return False
    wishes = rules.flags.get("ends_not")
    if wishes is not None and wishes.search(norm):
        return False
    passing = read["ephemeral"] or read["mood"]
    if not passing and (named_first or any(p.match(norm) for p in _without_thing(rules))):
        return True
    return (rules.flags["ends_weak"].search(norm) is not None and not passing) or (
        rules.flags["ends"].search(norm) is not None
    )


def _sort_of(thing: str, lexicon: Lexicon) -> tuple[str, ...]:
    """The sort of providers that a thing given up names ("快递公司也换了")."""
    sort = lexicon.class_names.get(thing, "")
    return (sort,) if sort in lexicon.sets["provider_sorts"] else ()


def _for_whom(read: Read, rules: Rules) -> list[str]:
    """The relative for whom the clause gives something up ("轮滑班给儿子停了")."""
    pattern = rules.parts.get("ended_for")
    m = pattern.search(read.clause.norm) if pattern is not None else None
    return [rules.kin[m["kin"]]] if m is not None else []


def _over(read: Read, subject: Subject, rules: Rules) -> GivenUp:
    """What the clause gives up, with or without its subject in front ("我把摊子撤了")."""
    over = given_up(read.clause.norm[subject.start :], rules)
    return over if over.thing or subject.kind != "self" else given_up(read.clause.norm[subject.rest :], rules)


def _without_thing(rules: Rules) -> Iterator[Expression]:
    """The forms of ending that name no thing."""
    yield from (
        rules.parts[p]
        for p in ("ended_bare", "nothing_done", "needless", "doctor_stopped", "untouched", "ended_renewal")
        if p in rules.parts
    )


def named_classes(norm: str, rules: Rules, lexicon: Lexicon) -> tuple[str, ...]:
    """The classes of things that a clause names as a whole: "any sports", and not "racket sports" or "吵的音乐"."""
    text = fold(norm)
    english, chinese = lexicon.rules("en").parts, lexicon.rules("zh").parts
    found: dict[str, None] = {}
    function = lexicon.gate.function
    for name, classes in broad_classes().names.items():
        at = text.find(name)
        if at < 0:
            continue
        before, after = text[:at], text[at + len(name) :]
        if english["diet_class"].search(name) and english["diet_denied"].search(before):
            continue  # who is no longer vegan eats more, not less
        if _HAN.match(name):
            if name not in lexicon.class_names:
                continue  # `reversals`
            last = before[-1:]
            whole = not last or last in function or chinese["class_led"].search(before) is not None
            whole = whole and (last != "的" or chinese["all_of"].search(before) is not None)
            if len(name) == 1:
                whole = whole and chinese["class_goes_on"].match(after) is not None
            whole = whole and chinese["member_goes_on"].match(after) is None
            if whole:
                found[lexicon.class_names[name]] = None
        else:
            words = re.findall(r"[\w'+-]+", before)
            bare = (not before or not before[-1].isalnum()) and (not after or not after[0].isalnum())
            bare = bare and not (name.endswith("ing") and english["has_object"].match(after))
            if bare and english["diet_class"].search(name) and english["stands_alone"].match(after):
                found |= dict.fromkeys(sorted(classes))
            led = not goes_on_as_name(norm, at + len(name), lexicon)  # "the coffee pot" is no coffee
            led = led and (not words or words[-1] in function or words[-1].endswith(("ing", "ed")))
            if bare and led and (name in lexicon.class_names or _is_all_of(before, after, lexicon)):
                found |= dict.fromkeys(sorted(classes))
    return tuple(found)


def _as_done(classes: tuple[str, ...], read: Read, lexicon: Lexicon) -> tuple[str, ...]:
    """The classes without what one only watches, where a clause tells of what one does: "I no longer play sport"."""
    if _FOLLOWED not in classes or lexicon.rules("en").parts["plays_it"].search(read.clause.norm) is None:
        return classes
    return tuple(c for c in classes if c != _FOLLOWED)


def _is_all_of(before: str, after: str, lexicon: Lexicon) -> bool:
    """Whether English words around the name of a class leave it whole: "given up cheese", not "the cheese order"."""
    parts = lexicon.rules("en").parts
    return parts["stands_alone"].match(after) is not None and parts["one_of_class"].search(before) is None
