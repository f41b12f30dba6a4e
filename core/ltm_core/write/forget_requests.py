"""The user asks in the chat to forget something, or not to bring it up again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ltm_core.write.lexicon import Lexicon, Rules
from ltm_core.write.norm import fold, trim
from ltm_core.write.plan import ForgetRequest, Utterance
from ltm_core.write.scopes import Read
from ltm_core.write.spread_requests import names_something, orders
from ltm_core.write.topics import bare_topic, topic_of

_WIDER = {
    "lives_in": ("lives_in", "address"),
    "occupation": ("occupation", "works_at", "employment"),
    "works_at": ("works_at", "occupation", "employment"),
    "address": ("address", "address:delivery", "address:work", "lives_in"),
    "phone": ("phone",),
}
"""Relation that a request names -> the relations that tell the same."""


def find_requests(utterance: Utterance, reads: Sequence[Read], lexicon: Lexicon) -> tuple[ForgetRequest, ...]:
    """What the message asks to erase or to keep quiet about; nothing when it tells not to forget.

    Erasing cannot be undone: a question that does not ask politely, a topic that is put aside for now, and a
    change of the topic ask for nothing.
    """
    found = [*_spread(utterance, reads, lexicon)]
    read_already = {r.evidence.start for r in found} | {start for r in found for start in r.beside}
    for i, read in enumerate(reads):
        if read.clause.start in read_already:
            continue
        if read.veto in ("fiction", "quotation", "injection", "conditional"):
            continue
        flags = lexicon.rules(read.clause.language).flags
        norm = read.clause.norm
        if flags["not_forget"].search(norm):
            continue
        for name, mode in (("suppress", "suppress"), ("forget", "erase")):
            m = flags[name].search(norm)
            if m is None:
                continue
            group = next((g for g in ("target", "target2") if m.groupdict().get(g)), "")
            target = _target(read.clause.text[slice(*m.span(group))] if group else "", lexicon)
            if read.clause.language == "zh" and not names_something(target, read, quiet=mode == "suppress"):
                continue
            if not target or lexicon.shared["target_nothing"].match(target) or _replaced(reads[i + 1 :], read):
                continue
            if mode == "erase" and _doubtful(read, reads[i + 1 :], lexicon):
                continue
            found.append(
                ForgetRequest(
                    target=target,
                    mode="suppress" if mode == "suppress" else "erase",
                    relations=_relations(target, read.clause.language, lexicon),
                    topic=topic_of(bare_topic(target), lexicon) if read.clause.language == "zh" else None,
                    evidence=read.evidence(utterance.message_id),
                )
            )
            break
    return tuple(found)


def _spread(utterance: Utterance, reads: Sequence[Read], lexicon: Lexicon) -> Iterator[ForgetRequest]:
    """Chinese requests, which may be spread over clauses."""
    denied = lexicon.rules("zh").flags["not_forget"]
    open_ = [r for r in reads if not denied.search(r.clause.norm)]
    for order in orders(open_):
        if order.mode == "erase" and _replaced(open_[order.at + 1 :], open_[order.at]):
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
    polite = any(shared["request_polite"].search(r.clause.norm) for r in (read, *same))
    if shared["request_for_now"].search(norm):
        return True
    if polite:
        return False
    others = [r for r in same if not shared["request_courtesy"].match(r.clause.norm)]
    if read["question"] or norm.rstrip().endswith(("?", "？")) or any(_leads_away(r, lexicon) for r in others):
        return True
    explicit = shared["request_explicit"].search(norm)
    return not explicit and (bool(others) or any(_leads_away(r, lexicon) for r in rest[:1]))


def _leads_away(read: Read, lexicon: Lexicon) -> bool:
    norm, shared = read.clause.norm, lexicon.shared
    turns = read["question"] or bool(shared["request_turns_away"].match(norm))
    return turns and not shared["request_courtesy"].match(norm)


def _named_at_end(noun: str, rules: Rules, lexicon: Lexicon) -> str | None:
    """The relation of "我现在的住址": a known noun behind a possessive that is the speaker's own."""
    own = lexicon.shared["request_own"].match(noun)
    rest = noun[own.end() :] if own else noun
    return rules.asked.get(rest) or rules.attributes.get(rest)


def _relations(target: str, language: str, lexicon: Lexicon) -> tuple[str, ...]:
    noun = fold(target)
    rules = lexicon.rules(language)
    relation = rules.asked.get(noun) or rules.attributes.get(noun)
    if relation is None and language in ("zh", "ja"):
        relation = _named_at_end(noun, rules, lexicon)
    if relation is None:
        return ()
    return _WIDER.get(relation, (relation,))
