"""Standing instructions to the assistant: how to answer from now on. One-off orders are none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from ltm_core.write.extract.draft import Draft
from ltm_core.write.plan import Candidate
from ltm_core.write.read.people import lead
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon, Rules
from ltm_core.write.words.norm import trim


def stand_on(reads: Sequence[Read], lexicon: Lexicon) -> None:
    """An order that "…, always" or "…, permanently please" follows is a standing one, and so is one that "from now
    on, …" opens: marks it so."""
    for r, after in pairwise(reads):
        if r.clause.sentence != after.clause.sentence:
            continue
        bare = lexicon.rules(after.clause.language).parts.get("standing_after")
        if bare is not None and bare.match(after.clause.norm):
            r.flags["standing"] = True
        if _says_only_when(r, lexicon):
            goes_on = lexicon.rules(after.clause.language).parts.get("standing_goes_on")
            if goes_on is not None and goes_on.match(after.clause.norm):
                after.flags["standing"] = True


def _says_only_when(read: Read, lexicon: Lexicon) -> bool:
    """Whether a clause says from when on, or on what occasion, an order holds that the next one gives
    ("往后给我讲题，要像讲故事那样讲")."""
    parts = lexicon.rules(read.clause.language).parts
    patterns = [p for name in ("bare_from_now", "standing_topic") if (p := parts.get(name)) is not None]
    return any(p.match(read.clause.norm) for p in patterns)


def standing_draft(read: Read, lexicon: Lexicon) -> Draft | None:
    """The instruction as a preference about the assistant, or None when the clause gives none."""
    if read["one_off"] or read["question"] or not (read["standing"] or read["second_person"] or read["first_person"]):
        return None
    rules = lexicon.rules(read.clause.language)
    norm = read.clause.norm
    start = lead(norm, rules)
    text = norm[start:]
    named = _naming(text, start, rules)
    if named is not None:
        return named
    own = rules.parts.get("own_from_now")
    if own is not None and own.match(text):
        return None
    alone = rules.parts.get("bare_from_now")
    if alone is not None and alone.match(text):
        return None  # "打今天开始，": the next clause says what
    joined = rules.parts.get("joined")
    if joined is not None and read["continues"] and joined.match(norm):
        return None
    instruction = rules.parts.get("instruction")
    if not read["standing"] or instruction is None:
        return None
    if not instruction.match(text):
        if not start or not instruction.match(norm):
            return None
        start, text = 0, norm  # "no emojis": here "no" is no answer
    for p in rules.standing:
        m = p.regex.search(text)
        if m is None:
            continue
        value = m.groupdict().get("object") or m.group()
        a, _b = m.span("object") if m.groupdict().get("object") else (0, len(text))
        trimmed = trim(value)
        if not trimmed:
            continue
        a += value.find(trimmed)
        return Draft(
            subject="assistant",
            relation=p.relation,
            object=trimmed,
            start=start + a,
            end=start + a + len(trimmed),
            positive=p.positive,
            confidence=p.confidence,
            rule=p.name,
            about_user=False,
        )
    value = trim(text)
    begin = start + text.find(value)
    return Draft(
        subject="assistant",
        relation="reply_style",
        object=value,
        start=begin,
        end=begin + len(value),
        positive=lexicon.shared["forbids"].match(value) is None,
        confidence=0.9,
        rule=f"{rules.language}.standing",
        about_user=False,
    )


def points_back(read: Read, before: Read | None, lexicon: Lexicon) -> str:
    """The words before an instruction that only points at them ("今后就保持这个调调"); else ""."""
    parts = lexicon.rules(read.clause.language).parts
    back, manner = parts.get("refers_back"), parts.get("manner")
    if before is None or back is None or manner is None or before.clause.sentence != read.clause.sentence:
        return ""
    if before.veto not in ("", "question") or not back.search(read.clause.norm):
        return ""
    return trim(before.clause.text) if manner.search(before.clause.norm) else ""


def named_assistant(before: Read | None, read: Read, lexicon: Lexicon) -> Draft | None:
    """The name that the clause gives the assistant, if the one before announces it ("给你起个名，叫小铁")."""
    parts = lexicon.rules(read.clause.language).parts
    if before is None or "names_assistant" not in parts or before.clause.sentence != read.clause.sentence:
        return None
    if before.veto not in ("", "question") or parts["names_assistant"].match(before.clause.norm) is None:
        return None
    m = parts["named_so"].match(read.clause.norm)
    if m is None:
        return None
    value = trim(m["object"])
    begin = m.start("object") + m["object"].find(value)
    return Draft(
        subject="assistant",
        relation="name",
        object=value,
        start=begin,
        end=begin + len(value),
        confidence=0.9,
        rule=f"{read.clause.language}.named_assistant",
        about_user=False,
    )


def called(said: Candidate, read: Read, me: str) -> Iterator[Candidate]:
    """What the assistant is to call the speaker in Chinese, as a name of the speaker's: "以后叫我老友"."""
    if said.relation == "calls_user" and read.clause.language == "zh":
        yield replace(said, subject=me, relation="nickname:called", is_about_user=me == "user", kind="fact")


def _naming(text: str, start: int, rules: Rules) -> Draft | None:
    """What the assistant is called, or calls the user."""
    for i in rules.pattern_index.possible(text):
        p = rules.patterns[i]
        if p.subject != "assistant":
            continue
        m = p.regex.match(text)
        value = trim(m["object"]) if m is not None else ""
        if m is None or not value:
            continue
        begin = start + m.start("object") + m["object"].find(value)
        return Draft(
            subject="assistant",
            relation=p.relation,
            object=value,
            start=begin,
            end=begin + len(value),
            positive=p.positive,
            confidence=p.confidence,
            rule=p.name,
            about_user=False,
        )
    return None
