"""The user asks in the chat to forget something, or not to bring it up again."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ltm_core.types import Evidence
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


def find_requests(utterance: Utterance, reads: Sequence[Read], lexicon: Lexicon) -> tuple[ForgetRequest, ...]:
    """What the message asks to erase or to keep quiet about; nothing when it tells not to forget."""
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
            found.append(
                ForgetRequest(
                    target=target,
                    mode="suppress" if mode == "suppress" else "erase",
                    relations=_relations(target, read.clause.language, lexicon),
                    evidence=Evidence(
                        message_id=utterance.message_id, start=read.clause.start, end=read.clause.end
                    ),
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
