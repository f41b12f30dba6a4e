"""The user asks in the chat to forget something, or not to bring it up again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ltm_core.write.anchors.asked import Asked
from ltm_core.write.plan import ForgetRequest, Utterance
from ltm_core.write.read.scopes import Read
from ltm_core.write.requests.spread_requests import Order, names_something, orders
from ltm_core.write.requests.topic_zh import bare_topic, topic_of
from ltm_core.write.requests.topics import person_named, readings
from ltm_core.write.words.lexicon import Lexicon, Rules
from ltm_core.write.words.norm import fold, trim
from ltm_core.write.words.request_words import request_words

_WIDER = {
    "lives_in": ("lives_in", "address"),
    "occupation": ("occupation", "works_at", "employment"),
    "works_at": ("works_at", "occupation", "employment"),
    "address": ("address", "address:delivery", "address:work", "lives_in"),
    "phone": ("phone",),
}
"""Relation that a request names -> the relations that tell the same."""
_FLAGS: dict[Literal["erase", "suppress"], str] = {"suppress": "suppress", "erase": "forget"}
_MODES: tuple[Literal["suppress", "erase"], ...] = ("suppress", "erase")
_NO_WISH = ("fiction", "quotation", "injection", "conditional")
_BACK = 2
"""Clauses back in which "it" may be named."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a message asks to erase or to keep quiet about, and the clauses that only ask it."""

    requests: tuple[ForgetRequest, ...] = ()
    clauses: frozenset[int] = frozenset()
    """Where those clauses begin: they state nothing."""


def find_requests(utterance: Utterance, reads: Sequence[Read], lexicon: Lexicon) -> Wishes:
    """What the message asks to erase or to keep quiet about; nothing when it tells not to forget.

    Erasing cannot be undone: a question that does not ask politely, a topic that is put aside for now, and a
    change of the topic ask for nothing.
    """
    found = [*_spread(utterance, reads, lexicon)]
    clauses = {start for r in found for start in (r.evidence.start, *r.beside)}
    written = _written(reads, lexicon)
    for i, read in enumerate(reads):
        if read.clause.start in clauses and read.clause.language == "zh":
            continue
        if (read.veto in _NO_WISH and not _is_wished(reads, i, lexicon)) or read.clause.sentence in written:
            continue
        flags = lexicon.rules(read.clause.language).flags
        if flags["not_forget"].search(read.clause.norm):
            continue
        for mode in _MODES:
            wish = _named_here(reads, i, mode, lexicon) or _named_before(reads, i, mode, lexicon)
            wish = _pointed_at(reads, i, wish, lexicon)
            if wish is None:
                continue
            words, asking = wish
            target = _target(words, lexicon)
            if read.clause.language == "zh" and not names_something(target, read, quiet=mode == "suppress"):
                continue
            if mode == "erase" and _doubtful(read, reads[i + 1 :], lexicon):
                continue
            if mode == "suppress" and lexicon.shared["request_for_now"].search(read.clause.norm):
                continue
            clauses.update(asking)
            if target and not lexicon.shared["target_nothing"].match(target):
                found.append(_request(target, words, mode, read, utterance, lexicon))
            break
    return Wishes(tuple(found), frozenset(clauses))


def learned_wish(utterance: Utterance, reads: Sequence[Read], asked: Asked, lexicon: Lexicon) -> Wishes:
    """The request that the learned model found, as if an expression had read it."""
    mode: Literal["erase", "suppress"] = "suppress" if asked.act == "suppress" else "erase"
    read, target = reads[asked.at], _target(asked.text, lexicon)
    if not target or lexicon.shared["target_nothing"].match(target) or _replaced(reads[asked.at + 1 :], read):
        return Wishes()
    spared = ("request_for_now", "request_own_end")
    if mode == "suppress" and any(lexicon.shared[p].search(read.clause.norm) for p in spared):
        return Wishes()
    norms = [reads[i].clause.norm for i in asked.clauses]
    words = request_words()
    if any(words["all_but"].search(n) for n in norms) or (mode == "suppress" and words["style_words"].search(target)):
        return Wishes()
    elsewhere = lexicon.rules(read.clause.language).parts.get("elsewhere")
    of_things = mode == "erase" and elsewhere is not None and elsewhere.match(asked.text) is not None
    if of_things and not any(_of_memory(reads[i], lexicon) for i in asked.clauses):
        return Wishes()
    request = _request(target, asked.text, mode, read, utterance, lexicon)
    if mode == "erase" and request.person:
        return Wishes()  # that one is named alone may be all that was found of "what my sister inherited"
    sentence = read.clause.sentence
    clauses = frozenset(
        reads[i].clause.start
        for i in asked.clauses
        if reads[i].clause.sentence == sentence or not reads[i]["first_subject"]
    )
    return Wishes((request,), clauses)


def _only_wonders(order: Order, asked: Read, lexicon: Lexicon) -> bool:
    """Whether a Chinese order is a bare question, which may be about forgetting itself ("能不能忘掉咖啡？"); one that
    stands in its topic asks nothing ("家里存了多少钱你忘掉")."""
    norm = asked.clause.norm
    polite = lexicon.shared["request_polite"].search(norm) is not None
    asks = (
        asked["question"] and lexicon.rules("zh").flags["question"].search(norm.replace(order.topic, "")) is not None
    )
    return asks and not asked["first_person"] and len(order.clauses) < 2 and not polite


def _spread(utterance: Utterance, reads: Sequence[Read], lexicon: Lexicon) -> Iterator[ForgetRequest]:
    """Chinese requests, which may be spread over clauses."""
    denied = lexicon.rules("zh").flags["not_forget"]
    open_ = [r for r in reads if not denied.search(r.clause.norm)]
    for order in orders(open_):
        asked = open_[order.at]
        if order.mode == "erase" and (
            _replaced(open_[order.at + 1 :], asked) or _only_wonders(order, asked, lexicon)
        ):
            continue
        target = _target(order.topic, lexicon)
        yield ForgetRequest(
            target=target,
            mode=order.mode,
            relations=_relations(target, "zh", lexicon),
            topic=topic_of(order.topic, lexicon),
            evidence=open_[order.at].evidence(utterance.message_id),
            beside=tuple(open_[i].clause.start for i in order.clauses),
        )


def _request(
    target: str, words: str, mode: Literal["erase", "suppress"], read: Read, utterance: Utterance, lexicon: Lexicon
) -> ForgetRequest:
    language = read.clause.language
    return ForgetRequest(
        target=target,
        mode=mode,
        relations=_relations(target, language, lexicon),
        readings=readings(target, language, lexicon, quiet=mode == "suppress"),
        person=person_named(target, language, lexicon),
        anyones=_is_anyones(words, language, lexicon),
        topic=topic_of(bare_topic(target), lexicon) if language == "zh" else None,
        evidence=read.evidence(utterance.message_id),
    )


def _is_anyones(words: str, language: str, lexicon: Lexicon) -> bool:
    """Whether the words leave open whose affair it is, or say that it is another's."""
    own = lexicon.rules(language).parts.get("own_affair")
    return own is not None and own.match(words) is None


def _is_wished(reads: Sequence[Read], i: int, lexicon: Lexicon) -> bool:
    """Whether it is the wish itself that has the form of a condition or of a game ("I'd rather you didn't know,
    so delete it"), with none open before it."""
    read = reads[i]
    if read.veto not in ("conditional", "fiction"):
        return False
    if any(r.veto == "fiction" for r in reads[:i]):
        return False
    same = (r for r in reads[:i] if r.clause.sentence == read.clause.sentence)
    first = next((r for r in same if r.veto and r.veto != "opener"), read)
    return _has_form_of_wish(first, lexicon)


def _has_form_of_wish(read: Read, lexicon: Lexicon) -> bool:
    wished = lexicon.rules(read.clause.language).parts.get("wished")
    return wished is not None and wished.match(read.clause.norm) is not None


def _written(reads: Sequence[Read], lexicon: Lexicon) -> frozenset[int]:
    """The sentences that say what a letter must not say, or what someone else must not hear."""
    found = set()
    for r in reads:
        flag = lexicon.rules(r.clause.language).flags.get("not_suppress")
        if flag is not None and r.clause.sentence not in found and flag.search(r.clause.norm):
            found.add(r.clause.sentence)
    return frozenset(found)


def _named_here(
    reads: Sequence[Read], i: int, mode: Literal["erase", "suppress"], lexicon: Lexicon
) -> tuple[str, set[int]] | None:
    """The words for what is to go that the clause itself gives; None when it asks nothing."""
    read = reads[i]
    rules = lexicon.rules(read.clause.language)
    m = rules.flags[_FLAGS[mode]].search(read.clause.norm)
    if m is None:
        return None
    group = next((g for g in ("target", "target2") if m.groupdict().get(g)), "")
    words = trim(read.clause.text[slice(*m.span(group))]) if group else ""
    if not words or lexicon.shared["target_nothing"].match(_target(words, lexicon)):
        return None
    elsewhere = rules.parts.get("elsewhere")
    told = [r for r in reads[i:] if r.clause.sentence == read.clause.sentence]
    of_memory = any(_of_memory(r, lexicon) for r in told)
    if mode == "erase" and elsewhere is not None and elsewhere.match(words) and not of_memory:
        return None
    return None if _replaced(reads[i + 1 :], read) else (words, {read.clause.start})


def _pointed_at(
    reads: Sequence[Read], i: int, wish: tuple[str, set[int]] | None, lexicon: Lexicon
) -> tuple[str, set[int]] | None:
    """The wish with what the clause before names, where its own words only point at that ("ZT-31 can go, delete that
    order number")."""
    rules = lexicon.rules(reads[i].clause.language)
    points = rules.parts.get("points_back")
    if wish is None or not i or points is None or points.search(reads[i].clause.norm) is None:
        return wish
    m = rules.flags["antecedent"].search(reads[i - 1].clause.norm)
    if m is None or reads[i - 1].veto in _NO_WISH or not m.groupdict().get("target"):
        return wish
    return trim(reads[i - 1].clause.text[slice(*m.span("target"))]), {reads[i - 1].clause.start, *wish[1]}


def _named_before(
    reads: Sequence[Read], i: int, mode: Literal["erase", "suppress"], lexicon: Lexicon
) -> tuple[str, set[int]] | None:
    """What "delete it" or "don't mention that again" means: the topic of a clause shortly before it in the message.

    When nothing there can be meant, the clause still states nothing.
    """
    flags = lexicon.rules(reads[i].clause.language).flags
    points = flags.get(f"{_FLAGS[mode]}_it")
    asked = points.search(reads[i].clause.norm) if points is not None else None
    if asked is None:
        return None
    raised = lexicon.rules(reads[i].clause.language).parts.get("kept_raising")
    for read in reversed(reads[max(0, i - _BACK) : i]):
        if raised is not None and any(asked.groupdict().values()) and raised.match(read.clause.norm) is None:
            continue  # "don't do that again" is asked of anything
        m = flags["antecedent"].search(read.clause.norm)
        if m is not None and (read.veto not in _NO_WISH or _has_form_of_wish(read, lexicon)):
            group = "target2" if m.groupdict().get("target2") else "target"
            return trim(read.clause.text[slice(*m.span(group))]), {read.clause.start, reads[i].clause.start}
    return None if any(asked.groupdict().values()) else ("", {reads[i].clause.start})


def _of_memory(read: Read, lexicon: Lexicon) -> bool:
    told = lexicon.rules(read.clause.language).parts.get("of_memory")
    return told is not None and told.search(read.clause.norm) is not None


def _names_memory(read: Read, lexicon: Lexicon) -> bool:
    """Whether something is to go out of memory or its records, in so many words."""
    told = lexicon.rules(read.clause.language).parts.get("of_records")
    return told is not None and told.search(read.clause.norm) is not None


def _target(words: str, lexicon: Lexicon) -> str:
    text = trim(lexicon.shared["target_tail"].sub("", trim(words)))
    named = trim(lexicon.shared["target_lead"].sub("", text, count=1)) or text
    kin = lexicon.rules("zh").parts["of_kin"].match(named)
    return f"{kin['kin']} {kin['rest']}" if kin is not None else named


def _replaced(rest: Sequence[Read], read: Read) -> bool:
    """ "Forget the budget I gave you, it's 3000 now" is a change, no wish to forget."""
    return any(
        r.clause.sentence == read.clause.sentence and (r["change"] or r["correction"]) and not r["question"]
        for r in rest[:1]
    )


def _doubtful(read: Read, rest: Sequence[Read], lexicon: Lexicon) -> bool:
    """Whether the words may well say something else than a wish to have something erased."""
    norm, shared = read.clause.norm, lexicon.shared
    same = [r for r in rest if r.clause.sentence == read.clause.sentence]
    polite = any(shared["request_polite"].search(r.clause.norm) for r in (read, *same)) or _asks_kindly(read, lexicon)
    if shared["request_for_now"].search(norm):
        return True
    if polite:
        return False
    others = [r for r in same if not (_is_why(r, read, lexicon) or _says_nothing_else(r, lexicon))]
    if read["question"] or norm.rstrip().endswith(("?", "？")) or any(_leads_away(r, lexicon) for r in others):
        return True
    explicit = shared["request_explicit"].search(norm) or _names_memory(read, lexicon)
    return not explicit and (bool(others) or any(_leads_away(r, lexicon) for r in rest[:1]))


def _says_nothing_else(read: Read, lexicon: Lexicon) -> bool:
    """Whether a clause is a courtesy, or asks once more: "pretend I never said that, forget it"."""
    again = lexicon.rules("en").flags["forget_it"]
    return any(p.search(read.clause.norm) for p in (lexicon.shared["request_courtesy"], again))


def _is_why(reason: Read, wish: Read, lexicon: Lexicon) -> bool:
    """Whether a clause only says why something is to be deleted: "delete that nickname, it's embarrassing"."""
    parts = lexicon.rules(wish.clause.language).parts
    why, strong = parts.get("gives_reason"), parts.get("strong_wish")
    if why is None or strong is None or not strong.search(wish.clause.norm):
        return False
    return why.match(reason.clause.norm) is not None and not reason["question"]


def _asks_kindly(read: Read, lexicon: Lexicon) -> bool:
    """Whether a question asks for it: "could you wipe my salary from your notes?"."""
    kindly = lexicon.rules(read.clause.language).parts.get("asks_to_erase")
    return kindly is not None and kindly.search(read.clause.norm) is not None


def _leads_away(read: Read, lexicon: Lexicon) -> bool:
    norm, shared = read.clause.norm, lexicon.shared
    turns = read["question"] or bool(shared["request_turns_away"].match(norm))
    return turns and not shared["request_courtesy"].match(norm)


def _named_at_end(noun: str, rules: Rules, lexicon: Lexicon) -> str | None:
    """The relation of "我现在的住址" and "公司名": a known noun behind a possessive that is the speaker's own, before
    what asks for its value."""
    own = lexicon.shared["request_own"].match(noun)
    rest = noun[own.end() :] if own else noun
    words = (rest, request_words()["asks_value"].sub("", rest))
    return next((r for w in words if (r := rules.asked.get(w) or rules.attributes.get(w))), None)


def _relations(target: str, language: str, lexicon: Lexicon) -> tuple[str, ...]:
    noun = fold(target)
    rules = lexicon.rules(language)
    relation = rules.asked.get(noun) or rules.attributes.get(noun)
    if relation is None and language in ("zh", "ja"):
        relation = _named_at_end(noun, rules, lexicon)
    if relation is None:
        return ()
    return _WIDER.get(relation, (relation,))
