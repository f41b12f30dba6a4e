"""How an order, a ticket, a contract stands, told right after its number ("工单 88213 处理完了")."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from ltm_core.write.anchors.identifiers import Identifier
from ltm_core.write.plan import Candidate, Utterance
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold, trim

_LONGEST = 60
_NOT = ("question", "command", "conditional", "plan", "goal")


def status_told(
    r: Read, identifier: Identifier, utterance: Utterance, lexicon: Lexicon, *, after: Read | None = None
) -> Candidate | None:
    """What the clause says behind an identifier, as its status; None when it says nothing of the kind. ``after``: the
    next clause of the sentence, which may go on ("总算动了，到武汉了")."""
    # "T-8 解决了" says how the ticket stands; without a name the same words only answer the assistant.
    if r.veto not in ("", "feedback") or any(r[w] for w in _NOT):
        return None
    language = r.clause.language
    rest = r.clause.text[identifier.end - r.clause.start :]
    state = state_of(rest, language, lexicon) or _stands(r, identifier, lexicon) or _done_to(r, identifier, lexicon)
    more = goes_on(after, lexicon) if after is not None and after.clause.language == language else None
    if (
        more and not state and trim(rest)
    ):  # "清关放行，正在派送": what goes on tells that the words before are a state
        state = _told(rest, language, lexicon)
    of_it = more and _rules(lexicon)[language].get("of_it")  # "is the cot for the baby, and it's on back order"
    if not (state or (more and (not trim(rest) or (of_it and of_it.match(more))))):
        return None
    comma = "，" if language == "zh" else ", "
    state = comma.join(s for s in (state, more) if s)
    spoken = trim(after.clause.text) if more and after is not None and language == "zh" else more
    text = comma.join(s for s in (trim(r.clause.text), spoken) if s)
    return Candidate(
        subject=f"{identifier.kind}:{identifier.text}",
        relation="status",
        object=state,
        object_normalized=fold(state),
        text=text,
        kind="status",
        is_about_user=False,
        confidence=0.8,
        relation_confidence=0.8,
        importance="high",
        single_valued=True,
        valid_from=utterance.at,
        said_at=utterance.at,
        evidence=(r.evidence(utterance.message_id),),
        rule="progress",
    )


def goes_on(after: Read, lexicon: Lexicon) -> str | None:
    """How the thing stands by the next clause, when that goes on about it and not about the speaker."""
    near = _rules(lexicon).get(after.clause.language, {}).get("near")
    own = after["first_person"] and not (near is not None and near.search(after.clause.norm))
    if after.veto not in ("", "feedback") or own or any(after[w] for w in _NOT):
        return None
    if after.clause.language != "zh":
        told = _rules(lexicon).get(after.clause.language, {}).get("goes_on")
        m = told.match(trim(after.clause.text)) if told is not None else None
        return m["state"].strip() if m is not None else None
    others = lexicon.rules(after.clause.language).parts["stands_with_others"].match(after.clause.norm)
    said = trim(after.clause.text[slice(*others.span("object"))]) if others is not None else None
    return state_of(after.clause.text, after.clause.language, lexicon) or said


def _stands(r: Read, identifier: Identifier, lexicon: Lexicon) -> str | None:
    """What the words behind an identifier say in another form, or, of others' doings, in the user's words."""
    parts = lexicon.rules(r.clause.language).parts
    at = identifier.end - r.clause.start
    for name in ("stands", "stands_with_others"):
        m = parts[name].match(r.clause.norm[at:]) if name in parts else None
        if m is not None:
            return trim(r.clause.text[at + m.start("object") : at + m.end("object")])
    return None


def _done_to(r: Read, identifier: Identifier, lexicon: Lexicon) -> str | None:
    """What somebody else did to the thing, told before its number ("the client signed Q-5518")."""
    told = _rules(lexicon).get(r.clause.language, {}).get("before")
    m = told.match(r.clause.text[: identifier.start - r.clause.start]) if told is not None else None
    return m["state"].strip() if m is not None else None


def state_of(rest: str, language: str, lexicon: Lexicon) -> str | None:
    """The state that ``rest`` tells, in its words; None when it tells none.

    ``rest`` is what follows an identifier in its clause, whose question, condition or quotation were ruled out
    before. What equates ("is for my sister"), asks for something or speaks of a person's deeds is no state.
    """
    rules, state = _rules(lexicon).get(language), _told(rest, language, lexicon)
    if rules is None or state is None:
        return None
    ended = "ended" in rules and rules["ended"].search(rest.rstrip(" .。!！~"))
    if not ended and not rules["holds"].search(state):
        return None
    state = rules["trim"].sub("", state).strip()
    return state if 1 < len(state) <= _LONGEST or (state and language != "en") else None


def _told(rest: str, language: str, lexicon: Lexicon) -> str | None:
    """What is said behind an identifier, whether it is a state or not."""
    rules = _rules(lexicon).get(language)
    told = rules["says"].search(rest.rstrip(" .。!！~")) if rules is not None and rest.strip(" .。!！") else None
    return told["state"].strip() if told is not None else None


def _rules(lexicon: Lexicon) -> Mapping[str, Mapping[str, re.Pattern[str]]]:
    rows = tuple((lang, tuple(rules.items())) for lang, rules in lexicon.progress.items())
    return _compiled(rows, _alternatives(tuple(lexicon.identifier_words.values())))


@cache
def _alternatives(spoken: tuple[str, ...]) -> str:
    words = sorted({w for s in spoken for w in s.split("|")}, key=len, reverse=True)
    return "|".join(re.escape(w) for w in words if not w.isascii())


@cache
def _compiled(
    rows: tuple[tuple[str, tuple[tuple[str, str], ...]], ...], words: str
) -> Mapping[str, Mapping[str, re.Pattern[str]]]:
    return {
        language: {name: re.compile(match.replace("{words}", words), re.I) for name, match in named}
        for language, named in rows
    }
