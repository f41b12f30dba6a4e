"""A denied fact handed to someone else: "I'm not allergic to nuts, that's my brother"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ltm_core.write.extract.build import head
from ltm_core.write.plan import Candidate, Turn, Utterance
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import trim


def handed_over(
    read: Read, utterance: Utterance, lexicon: Lexicon, *, heard: Callable[[Turn], Sequence[Candidate]]
) -> tuple[Candidate, ...]:
    """What a clause says of a relative instead of the speaker ("过敏的不是我，是我女儿对花生过敏"), with its denial
    for the speaker; nothing when it says no such thing. ``heard`` reads a sentence by itself."""
    rules = lexicon.rules(read.clause.language)
    pattern = rules.parts.get("not_me")
    m = pattern.match(read.clause.norm) if pattern is not None else None
    key = rules.kin.get(m["kin"].lower()) if m is not None else None
    if m is None or key is None or not (m["denied"] or read["correction"]):
        return ()
    claim = trim(m["again"] or "") or trim(m["claim"])
    out: list[Candidate] = []
    for c in heard(Turn(id=utterance.message_id, role="user", content=f"我{claim}")):
        if c.rule == "open" or not c.is_positive or c.subject != "user":
            continue
        told = replace(c, evidence=(read.evidence(utterance.message_id),), rule="transfer")
        whose = trim(read.clause.text[slice(*m.span("whose"))])
        out.append(replace(told, subject=key, is_about_user=False, move="state", text=f"{whose}{claim}"))
        out.append(replace(told, is_positive=False, move="correct", reach="subject", text=trim(read.clause.text)))
    return tuple(out)


def given_to(
    read: Read, told: Callable[[], Sequence[Candidate]], utterance: Utterance, lexicon: Lexicon, *, me: str
) -> Candidate | None:
    """A value that was told of the speaker, said to be a relative's ("A型是我妹"); None when the clause says no such
    thing."""
    rules = lexicon.rules(read.clause.language)
    pattern = rules.parts.get("value_of_kin")
    m = pattern.match(read.clause.norm) if pattern is not None and not read.veto else None
    key = rules.kin.get(m["kin"].lower()) if m is not None else None
    if m is None or key is None:
        return None
    claim = head(trim(m["claim"]), lexicon, read.clause.language)
    old = next(
        (c for c in reversed(told()) if c.subject == me and claim in (c.object_normalized, c.wrong_object)), None
    )
    if old is None or old.rule == "open" or not old.is_positive:
        return None
    whose, value = (trim(read.clause.text[slice(*m.span(n))]) for n in ("whose", "claim"))
    return replace(
        old,
        subject=key,
        is_about_user=False,
        object=value,
        object_normalized=claim,
        text=f"{whose}{value}",
        move="state",
        reach="slot",
        classes=(),
        wrong_object=None,
        evidence=(read.evidence(utterance.message_id),),
        rule="transfer",
    )


def transferred(
    read: Read, denied: Sequence[Candidate], utterance: Utterance, lexicon: Lexicon, *, said: str
) -> Candidate | None:
    """The denied fact as one about the relative that the clause names; None when it names none.

    ``said`` is the denying clause without its subject.
    """
    rules = lexicon.rules(read.clause.language)
    pattern = rules.parts.get("transfer")
    last = next((c for c in reversed(denied) if not c.is_positive), None)
    if pattern is None or last is None:
        return None
    m = pattern.match(read.clause.norm)
    if m is None:
        return None
    word = m["kin"].lower()
    key = rules.kin.get(word)
    if key is None:
        return None
    name = trim(read.clause.text[slice(*m.span("whose"))])
    claim = trim(rules.parts["neg"].sub("", said, count=1))
    claim = lexicon.shared["transfer_lead"].sub("", claim)
    text = f"{name}{claim}" if read.clause.language == "zh" else f"{name}: {claim}"
    return replace(
        last,
        subject=key,
        is_about_user=False,
        is_positive=True,
        move="state",
        reach="slot",
        classes=(),
        wrong_object=None,
        object_normalized=head(last.object, lexicon, read.clause.language),
        text=text,
        evidence=(
            *last.evidence,
            read.evidence(utterance.message_id),
        ),
        rule="transfer",
    )
