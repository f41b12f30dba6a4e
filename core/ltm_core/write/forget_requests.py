"""The user asks in the chat to forget something, or not to bring it up again."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ltm_core.write.lexicon import Lexicon, Rules
from ltm_core.write.norm import fold, trim
from ltm_core.write.plan import ForgetRequest, Utterance
from ltm_core.write.scopes import Read

_WIDER = {
    "lives_in": ("lives_in", "address"),
    "occupation": ("occupation", "works_at", "employment"),
    "works_at": ("works_at", "occupation", "employment"),
    "address": ("address", "address:delivery", "address:work", "lives_in"),
    "phone": ("phone",),
}
# Doubts: "forget coffee for now", "can you forget …?", "forget coffee, what about the train?" erase nothing.
_POLITE = re.compile(r"\b(?:please|pls|kindly)\b|请|請|麻烦|麻煩|拜托|拜託|ください|お願い|ほしい", re.I)
_EXPLICIT = re.compile(
    r"\b(?:my|mine|(?:that|what|everything|anything|things|fact) (?:i|i'm|i've|we)|(?:i|we)(?:'ve| have)? "
    r"(?:said|told|mentioned|gave|shared|wrote)|you (?:know|have|saved|stored|remember)|"
    r"from (?:your )?memory)\b|我|关于|關於|私",
    re.I,
)
_FOR_NOW = re.compile(
    r"\bfor (?:now|today|tonight|the moment|a (?:moment|second|sec|minute|while|bit))\b|\bright now\b|"
    r"^\W*(?:你|您|那|那就|咱们?|我们)?先|暂时|暂且|暫時|とりあえず|ひとまず",
    re.I,
)
_TURNS_AWAY = re.compile(
    r"^\W*(?:so |and |now |but )*(?:let'?s|let us|what about|how about|tell me|back to|talk)\b|"
    r"^\W*(?:我们|咱们|咱|来)?(?:来)?(?:聊|说说|谈谈|讲讲|看看)|^\W*那.*呢",
    re.I,
)
_COURTESY = re.compile(
    r"^\W*(?:ok(?:ay)?|alright|right|please|pls|thanks?(?: you)?(?: (?:so|very) much)?|will you|would you|"
    r"could you|can you|好吗|好嗎|可以吗|行吗|谢谢你?|謝謝|拜托|吧)\W*$",
    re.I,
)


def find_requests(utterance: Utterance, reads: Sequence[Read], lexicon: Lexicon) -> tuple[ForgetRequest, ...]:
    """What the message asks to erase or to keep quiet about; nothing when it tells not to forget.

    Erasing cannot be undone: a question that does not ask politely, a topic that is put aside for now, and a
    change of the topic ask for nothing.
    """
    found: list[ForgetRequest] = []
    for i, read in enumerate(reads):
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
            if not target or lexicon.shared["target_nothing"].match(target) or _replaced(reads[i + 1 :], read):
                continue
            if mode == "erase" and _doubtful(read, reads[i + 1 :]):
                continue
            found.append(
                ForgetRequest(
                    target=target,
                    mode="suppress" if mode == "suppress" else "erase",
                    relations=_relations(target, read.clause.language, lexicon),
                    evidence=read.evidence(utterance.message_id),
                )
            )
            break
    return tuple(found)


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


def _doubtful(read: Read, rest: Sequence[Read]) -> bool:
    """Whether the words may well say something else than a wish to have something erased."""
    norm = read.clause.norm
    same = [r for r in rest if r.clause.sentence == read.clause.sentence]
    polite = any(_POLITE.search(r.clause.norm) for r in (read, *same))
    if _FOR_NOW.search(norm):
        return True
    if polite:
        return False
    others = [r for r in same if not _COURTESY.match(r.clause.norm)]
    if read["question"] or norm.rstrip().endswith(("?", "？")) or any(map(_leads_away, others)):
        return True
    return not _EXPLICIT.search(norm) and (bool(others) or any(map(_leads_away, rest[:1])))


def _leads_away(read: Read) -> bool:
    norm = read.clause.norm
    return (read["question"] or bool(_TURNS_AWAY.match(norm))) and not _COURTESY.match(norm)


def _named_at_end(noun: str, rules: Rules) -> str | None:
    """The relation of "我现在的住址": a known noun behind a possessive that is the speaker's own."""
    own = re.match(r"^(?:我们?家?的?|私の|僕の|俺の)?(?:现在的?|新的?|以前的?|の)?", noun)
    rest = noun[own.end() :] if own else noun
    return rules.asked.get(rest) or rules.attributes.get(rest)


def _relations(target: str, language: str, lexicon: Lexicon) -> tuple[str, ...]:
    noun = fold(target)
    rules = lexicon.rules(language)
    relation = rules.asked.get(noun) or rules.attributes.get(noun)
    if relation is None and language in ("zh", "ja"):
        relation = _named_at_end(noun, rules)
    if relation is None:
        return ()
    return _WIDER.get(relation, (relation,))
