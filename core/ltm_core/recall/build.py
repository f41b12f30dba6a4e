"""From candidates to entries: the final score, the text that is shown, the labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, tzinfo

from ltm_core.keep.redaction import FILLER
from ltm_core.recall.asking import asking_share
from ltm_core.recall.cues import all_spans, cues
from ltm_core.recall.currency import state
from ltm_core.recall.data import weights
from ltm_core.recall.dates import shown_dates, with_dates
from ltm_core.recall.derived import derived
from ltm_core.recall.entry import Entry
from ltm_core.recall.gather import Found
from ltm_core.recall.hits import Hit
from ltm_core.recall.question import Question, asks_for
from ltm_core.recall.rank import use
from ltm_core.recall.select import SAID_BY_FACT
from ltm_core.recall.succession import after_restatements, below_successors, is_fragment, is_restated
from ltm_core.store.base import MessageRow
from ltm_core.text.normalize import fold
from ltm_core.text.terms import terms
from ltm_core.types import ContextItem, Dropped, Fact, Importance
from ltm_core.when import stored_zone

IMPORTANCE: Mapping[Importance, float] = {"low": 0.0, "medium": 0.5, "high": 1.0}
OVERTAKEN = 0.5
"""What a message keeps of its score when every word of it was later replaced."""
EXCLUDED = 0.5
"""What a user's turn keeps of its score when it names only what the question wants left out."""
ONLY_ASKS = 0.9
"""Share of a turn that stands in questions, from which it only asks."""
SAME_QUESTION = 0.6
"""Share of the question's words from which a stored question counts as the same question."""
SAME_QUESTION_KEEPS = 0.5
"""What such a turn keeps of its score: what the user asked before shows what the talk was about."""
FEW_TERMS = 4
"""Terms of an answer such as "Okay, noted." that say nothing when the question's words are not among them."""
EXCLUDES = 0.75
"""Share of the excluded words that a memory holds to be about them: pairs of characters across a word's border
are never all there."""
HINTED = 0.55
"""Score of a fact that was found by its relation alone."""
BESIDE_ITS_TURN = 0.7
"""What a fact keeps of its score when the question does not ask for its relation: the turn it was told in stands in
the same list and says more. Alone among 1.0, 0.9, 0.8, 0.7 and 0.6 on BEAM-100K: R@10 74.2, 74.2, 74.7, 74.9, 74.9;
nothing changes on LoCoMo and MADial-Bench."""
RESTATED = 0.5
"""What a fact keeps of its score when a later message states another value."""
USE = 0.1
"""Most that frequent recall adds to what is missing to the full score."""


def message_entries(
    found: Found, question: Question, *, now: datetime, keep_replaced: bool = True
) -> tuple[list[Entry], list[Dropped]]:
    """One entry per message, overtaken ones labelled and below what overtook them.

    Without ``keep_replaced`` a message whose every word was replaced is dropped, unless the question asks for
    what was.
    """
    out: list[Entry] = []
    dropped: list[Dropped] = []
    for row, hit in found.messages:
        own = found.terms.get(row.id) or derived(row).terms
        if _says_nothing(row, hit, own):
            continue
        score = hit.score * _kept_of_asking(row.content, hit, weights(question.language).question)
        entry = _message_entry(row, hit, score, own)
        if _is_excluded(entry.terms, row.content, question):
            if row.role != "user":
                dropped.append(entry.dropped("the question wants it left out"))
                continue
            entry = entry.rescored(score * EXCLUDED, "the question wants it left out")
        standing = found.standing.get(row.id)
        if standing is not None and standing.state == "partly":
            entry = entry.labelled("partly", "some of it was replaced later")
        elif standing is not None:
            if not keep_replaced and not _asks_for_then(question) and _adds_nothing(entry.terms, standing.said):
                dropped.append(entry.dropped("all it said was replaced"))
                continue
            mark = "previous" if standing.state == "past" else "corrected"
            entry = entry.marked(mark, "a later statement took its place")  # type: ignore[arg-type]
            said = len(entry.terms & standing.said) / max(1, len(entry.terms))
            entry = entry.rescored(entry.item.score * (1 - (1 - OVERTAKEN) * said))
        elif row.id in found.restated:
            entry = entry.marked("previous", "a later message states another value")
        out.append(entry)
    if not _asks_for_then(question):
        out = after_restatements(out, found.restated)
    return below_successors(out, found.successors), dropped


def _kept_of_asking(text: str, hit: Hit, lost: float) -> float:
    """What a turn keeps of its score for asking instead of telling; ``lost`` is what one loses that only asks."""
    asking = asking_share(text)
    same = asking >= ONLY_ASKS and hit.signals.get("coverage", 0.0) >= SAME_QUESTION
    return SAME_QUESTION_KEEPS if same else 1 - lost * asking


def _says_nothing(row: MessageRow, hit: Hit, own: frozenset[str]) -> bool:
    """Overwritten words, or an answer of a few words that shares none with the question."""
    bare = row.content.replace(FILLER, "").strip()
    if len(bare) < len(row.content.strip()) / 2:
        return True
    short = len(own) <= FEW_TERMS
    return row.role != "user" and short and not hit.signals.get("coverage") and not hit.signals.get("identifier")


def _asks_for_then(question: Question) -> bool:
    return question.asks_past_state or bool(question.times)


def _adds_nothing(own: frozenset[str], said: frozenset[str]) -> bool:
    """Nearly all the words of a message are those of facts that no longer hold."""
    return len(own & said) >= SAID_BY_FACT * len(own)


def _message_entry(row: MessageRow, hit: Hit, score: float, own: frozenset[str]) -> Entry:
    local = row.at.astimezone(stored_zone(row.timezone))
    item = ContextItem(
        text=row.content,
        tier="episodic",
        at=row.at,
        score=score,
        similarity=hit.similarity,
        signals=hit.signals,
        source_id=row.id,
        source_message_ids=(row.id,),
        session_id=row.session_id,
        role=row.role,
        speaker=row.name,
        reasons=_reasons(hit),
    )
    return Entry(
        item=item,
        unit=f"message:{row.item}",
        date=local.date().isoformat(),
        focus=(hit.start, hit.end),
        terms=own,
        said_at=local,
        derived=derived(row),
        language=row.language,
    )


def dated(entry: Entry) -> Entry:
    """The entry with a date beside each relative time word of its text."""
    if entry.said_at is None:
        return entry
    text, own = entry.item.text, entry.derived
    whole = own is not None and own.content is text
    dates = own.dates(entry.said_at, entry.language) if own and whole else None
    if dates is None:
        dates = shown_dates(text, entry.said_at, entry.language)
    if not dates:
        return entry
    text, focus = with_dates(text, dates, focus=entry.focus)
    return replace(entry, item=replace(entry.item, text=text), focus=focus, said_at=None)


def fact_entries(
    found: Found, question: Question, *, now: datetime, keep_fragments: bool = True
) -> tuple[list[Entry], list[Dropped]]:
    """One entry per fact that may be shown: current ones, and past ones when the question asks for them.

    Without ``keep_fragments`` a fact is dropped that states no value of the kind asked for and rests only on
    messages whose value a later one took the place of: they are shown labelled, it would be shown as if it held.
    """
    out: list[Entry] = []
    dropped: list[Dropped] = []
    gain = weights(question.language).relation
    for fact, hit in found.facts.values():
        asked = asks_for(question, fact.relation)
        score = hit.score if hit else (HINTED if asked else 0.0)
        if hit:
            score = score * (1 - gain) + gain if asked else score * BESIDE_ITS_TURN
        score += (1 - score) * USE * use(fact.access_count) * score
        entry = _fact_entry(fact, hit, score, asked=asked, zone=now.tzinfo)
        standing = state(fact, now)
        if standing == "gone":
            continue
        if standing == "past" and not _asks_for_then(question):
            dropped.append(entry.dropped(f"superseded by {fact.superseded_by}" if fact.superseded_by else "ended"))
            continue
        if _is_excluded(entry.terms, fact.text, question) and fact.is_positive and not asked:
            dropped.append(entry.dropped("the question wants it left out"))
            continue
        if standing == "current" and is_restated(fact, found.restated):
            entry = entry.marked("previous", "a later message states another value")
            if not _asks_for_then(question):
                entry = entry.rescored(entry.item.score * RESTATED)
        elif not keep_fragments and not asked and is_fragment(fact, found.restated):
            dropped.append(entry.dropped("what its message stated was restated"))
            continue
        if standing == "past":
            until = fact.valid_to.astimezone(now.tzinfo).date().isoformat() if fact.valid_to else ""
            entry = replace(entry.marked("previous", "held before"), until=until)
        out.append(entry)
    return out, dropped


def _fact_entry(fact: Fact, hit: Hit | None, score: float, *, asked: bool, zone: tzinfo | None) -> Entry:
    about_assistant = fact.subject == "assistant"
    reasons = list(_reasons(hit)) if hit else []
    if asked:
        reasons.append(f"the question asks for {fact.relation}")
    if about_assistant:
        reasons.append("said about the assistant: always shown")
    item = ContextItem(
        text=fact.text,
        tier="semantic",
        at=fact.valid_from,
        score=score,
        similarity=hit.similarity if hit else None,
        signals={**(hit.signals if hit else {}), "importance": IMPORTANCE[fact.importance]},
        source_id=fact.id,
        source_message_ids=fact.source_message_ids,
        session_id=fact.session_id,
        role="user",
        speaker=_voice(fact),
        reasons=tuple(reasons),
    )
    return Entry(
        item=item,
        unit=f"fact:{fact.id}",
        topic=f"{fact.subject}|{fact.relation}",
        keep=about_assistant,
        date=fact.valid_from.astimezone(zone).date().isoformat(),
        mark="assistant" if about_assistant else "",
        focus=(0, len(fact.text)),
        terms=frozenset(terms(f"{fact.text} {fact.object}")),
    )


def _voice(fact: Fact) -> str | None:
    """Whose "I" the words of a fact are, when it is not the user's."""
    if fact.subject.startswith("speaker:"):
        return fact.subject.partition(":")[2]
    return fact.speaker.removeprefix("speaker:") if fact.speaker else None


def _reasons(hit: Hit) -> tuple[str, ...]:
    out = []
    if hit.signals.get("identifier"):
        out.append("holds the identifier of the question")
    if hit.signals.get("coverage", 0) > 0:
        out.append(f"holds {round(100 * hit.signals['coverage'])} % of the question's words")
    if hit.similarity is not None:
        out.append(f"similarity {hit.similarity:.2f}")
    return tuple(out)


def _is_excluded(own: frozenset[str], text: str, question: Question) -> bool:
    """The memory is about what the question wants left out, and does not itself record a dislike of it."""
    negated = set(question.negated)
    if not negated or len(negated & own) < EXCLUDES * len(negated):
        return False
    folded = fold(text)
    return not any(all_spans(cues(lang, "negation"), folded) for lang in {question.language, "zh", "en"})


__all__ = ["dated", "fact_entries", "message_entries"]
