"""What a question asks of memory, read from its words alone.

Nothing here knows what is stored: the same question at the same moment always reads the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from ltm_core.recall import aliases
from ltm_core.recall.cues import all_spans, any_of, cues, relation_cues
from ltm_core.recall.data import toml, weights
from ltm_core.recall.hops import asides, hops
from ltm_core.text.language import detect_language
from ltm_core.text.normalize import clean, fold
from ltm_core.text.terms import function_characters, terms
from ltm_core.when import find_times

LONGEST = 6000
"""Characters of a question that are read; a longer one is a pasted document whose start says what it is about."""
FILLER_WEIGHT = 0.25
"""What a word such as "remember" weighs beside a word of the topic."""
SINGLE_SHARE = 0.3
"""What one Han character counts beside a pair."""
SEAM_SHARES = (1.0, 0.4, 0.1)
"""What a pair counts with none, one or two function characters."""
MOST_SPLIT = 24
"""Topic terms up to which a question is split into what it asks for; a longer one is a stretch of dialogue."""
_CLAUSE = re.compile(r"[,;.!?，；。！？]")
NEGATED_CHARACTERS = 24
"""How far after "don't recommend" the excluded thing is looked for."""

_IDENTIFIER = re.compile(r"(?=.*\d)(?:[a-z0-9]+(?:[-_./:@&+#][a-z0-9]+)+|[a-z0-9]{4,})")


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryTerm:
    """One term to look up. Terms of one ``group`` stand for one word of the question and its aliases."""

    term: str
    weight: float
    """How much its BM25 counts."""
    group: int
    share: float = 1.0
    """How much it counts towards the share of the question that a memory covers; 0 for an alias."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeRange:
    """A half-open range ``[since, until)`` that the question names, with its words."""

    since: datetime
    until: datetime
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question, analysed."""

    text: str
    language: str
    terms: tuple[QueryTerm, ...] = ()
    content: tuple[str, ...] = ()
    """The terms that carry the topic."""
    identifiers: tuple[str, ...] = ()
    times: tuple[TimeRange, ...] = ()
    wants_last: bool = False
    """The most recent memory of the topic is meant, not all of them."""
    asks_past_state: bool = False
    """The state before a change is asked for."""
    negated: tuple[str, ...] = ()
    """Terms of what the question wants left out."""
    hops: tuple[tuple[str, ...], ...] = ()
    """The topic terms of each thing, when several are asked for at once."""
    asides: tuple[tuple[str, ...], ...] = ()
    """The topic terms of each question that stands within a request."""
    aliases: tuple[tuple[str, tuple[str, ...]], ...] = ()
    relations: tuple[str, ...] = ()
    """Relations whose facts answer it, whatever their words."""
    of_answers: bool = False
    """It asks for what the assistant said ("what did you recommend")."""
    is_greeting: bool = False
    about_me: bool = False
    """Everything known of the user is asked for."""
    vague: bool = False
    """It names no topic ("上次那个事"): the session has to tell which."""
    asks_outcome: bool = False
    """It asks how something went that lay ahead when it was told."""

    @property
    def is_empty(self) -> bool:
        """True when there is nothing to look for."""
        return not self.terms and not self.times


def analyse_question(
    text: str, *, now: datetime, language: str | None = None, known_aliases: tuple[str, ...] = ()
) -> Question:
    """The question in parts. Never raises for any text; ``now`` is aware, in the user's zone.

    ``known_aliases`` are the deployment's groups, each as ``invoice=bill=发票``.
    """
    text = clean(text)[:LONGEST]
    language = language or detect_language(text)
    folded = fold(text)
    found = terms(text, query=True)
    times = tuple(
        TimeRange(since=t.since, until=t.until, text=t.text)
        for t in find_times(text, now=now, language=language, prefer="past")
        if t.direction != "present" or t.precision != "instant"
    )
    content = _content(found, folded, language, tuple(t.text for t in times))
    expanded = tuple(aliases.expansions(folded, aliases.groups(known_aliases)))
    past = any_of(cues(language, "past"), folded)
    greeting = not content and any_of(cues(language, "greetings"), folded)
    about_me = any_of(cues(language, "about_me"), folded)
    wants_last = any_of(cues(language, "last"), folded)
    return Question(
        text=text,
        language=language,
        terms=_query_terms(found, content, expanded, weights(language).alias),
        content=content,
        identifiers=_identifiers(found, tuple(t.text for t in times)),
        times=times,
        wants_last=wants_last,
        asks_past_state=past and not wants_last and not any_of(cues(language, "now"), folded),
        negated=_negated(folded, language),
        hops=hops(folded, content, language) if len(content) <= MOST_SPLIT else (),
        asides=asides(folded, content, language) if len(content) <= MOST_SPLIT else (),
        aliases=expanded,
        relations=_relations(folded, language),
        of_answers=any_of(cues(language, "answers"), folded),
        is_greeting=greeting,
        about_me=about_me,
        asks_outcome=any_of(cues(language, "outcome"), folded),
        vague=bool(found) and not about_me and not content and not times and not greeting,
    )


def _content(found: list[str], folded: str, language: str, time_words: tuple[str, ...]) -> tuple[str, ...]:
    """The terms that are left when filler and time words are taken out of the text."""
    rest = folded
    for words in time_words:
        rest = rest.replace(fold(words), " ")
    last = len(rest)
    for start, end in sorted(all_spans(_left_out(language), rest), key=lambda s: (-s[1], s[0])):
        # Of overlapping phrases what is left of the one nearer to the end is taken out as well.
        end = min(end, last)
        if start < end:
            rest, last = f"{rest[:start]} {rest[end:]}", start
    left = set(terms(rest))
    return tuple(t for t in found if t in left and t not in _filler_terms(language))


@cache
def _left_out(language: str) -> tuple[str, ...]:
    return tuple(c for c in (*cues(language, "filler"), *cues(language, "vague")) if len(c) > 1)


@cache
def _filler_terms(language: str) -> frozenset[str]:
    return frozenset(t for c in cues(language, "filler") for t in terms(c))


def _query_terms(
    found: list[str],
    content: tuple[str, ...],
    expanded: tuple[tuple[str, tuple[str, ...]], ...],
    alias_weight: float,
) -> tuple[QueryTerm, ...]:
    topic = set(content)
    out = []
    for i, t in enumerate(found):
        weight = 1.0 if t in topic or not topic else FILLER_WEIGHT
        out.append(QueryTerm(term=t, weight=weight, group=i, share=weight * _meaning(t)))
    place = {t: i for i, t in enumerate(found)}
    for name, others in expanded:
        own = [t for t in terms(name) if t in place]
        if not own:
            continue
        group = place[max(own, key=len)]
        for term in dict.fromkeys(t for other in others for t in terms(other, query=True)):
            if term not in place:
                out.append(QueryTerm(term=term, weight=alias_weight, group=group, share=0.0))
    return tuple(out)


def _meaning(term: str) -> float:
    """How much of a word a term is. Of Han text all pairs are terms: 发票 is a word, 票给 and 给谁 are seams."""
    if term[0] < "\u3040":
        return 1.0
    if len(term) == 1:
        return SINGLE_SHARE
    return SEAM_SHARES[sum(ch in function_characters() for ch in term[:2])]


@cache
def _no_identifier() -> re.Pattern[str]:
    """Years, days, times of day and ordinal numbers, which hold digits too."""
    ends = "|".join(toml("values.toml")["number_ends"])
    return re.compile(
        rf"(?:19|20)\d\d|\d{{1,2}}:\d\d(?::\d\d)?|\d{{1,4}}[-/.]\d{{1,2}}(?:[-/.]\d{{1,4}})?|\d+(?:{ends})"
    )


def _identifiers(found: list[str], time_words: tuple[str, ...]) -> tuple[str, ...]:
    dated = {t for words in time_words for t in terms(words)}
    return tuple(
        t for t in found if t not in dated and _IDENTIFIER.fullmatch(t) and not _no_identifier().fullmatch(t)
    )


def _negated(folded: str, language: str) -> tuple[str, ...]:
    """Terms of what stands after "don't recommend", "除了", or before "以外".

    Only of what is named: "without what I am afraid of" asks for the memory that says what it is.
    """
    out: list[str] = []
    ends = cues(language, "negation_ends")
    for start, end in all_spans(cues(language, "negation"), folded):
        if language == "ja":  # the excluded thing stands before its particle
            words = re.split(r"[、。！？\s]", folded[:start])[-1][-NEGATED_CHARACTERS:]
        else:
            words = _CLAUSE.split(folded[end : end + NEGATED_CHARACTERS].lstrip(), maxsplit=1)[0]
            cuts = [i for e in ends if (i := _cut(words, e)) > 0]
            words = words[: min(cuts, default=len(words))]
            if not words.isascii():
                words = words[:8]
        if not any_of(cues(language, "refers"), words):
            out += terms(words, query=True)
    return tuple(dict.fromkeys(out))


def _cut(words: str, mark: str) -> int:
    """Where ``mark`` ends the words; Latin marks count as whole words."""
    if not mark.isalpha() or not mark.isascii():
        return words.find(mark)
    match = re.search(rf"\b{re.escape(mark)}\b", words)
    return match.start() if match else -1


def _relations(folded: str, language: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for names, phrases in relation_cues(language):
        if any_of(phrases, folded):
            found.update(dict.fromkeys(names))
    return tuple(found)


def asks_for(question: Question, relation: str) -> bool:
    """Whether the question asks for facts of this relation."""
    return relation in question.relations or f"{relation.partition(':')[0]}:*" in question.relations


__all__ = ["QueryTerm", "Question", "TimeRange", "analyse_question", "asks_for"]
