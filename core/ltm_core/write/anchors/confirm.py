"""Confirmed solutions: an anchor that needs what was said before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ltm_core.types import Anchor, Evidence
from ltm_core.write.anchors.agreement import Agreement, load_agreement, reply_cues
from ltm_core.write.anchors.proposals import is_proposal, key_span, last_proposal, named_proposal, topic_of
from ltm_core.write.anchors.reply_en import LONGEST, reply_of
from ltm_core.write.anchors.undone import (
    NO_REPLY,
    chooses,
    denies,
    drops,
    fails,
    lacks,
    leaves,
    mends,
    only_thanks,
    puts_off,
    refutes,
    taken,
    takes_one,
    undoes,
    waits,
)
from ltm_core.write.anchors.worked import advice, asks_for_form, elsewhere, follows, points, says
from ltm_core.write.anchors.worked_en import praises, tells_deed, told_worked
from ltm_core.write.endings.ends import thing_ended
from ltm_core.write.known.news import Sentence, said_words
from ltm_core.write.plan import Candidate, Turn, Utterance
from ltm_core.write.read.neighbours import Vectors
from ltm_core.write.read.scopes import Read
from ltm_core.write.read.units import mean_vector
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold, script

_LEAST_PROBLEM = 3
"""Words of what the user asked, below which the assistant's turn answers no problem."""
_LATER = 0.75
"""Probability that the first words of a session report on what was proposed in the one before."""
_LATER_UNNAMED = 0.9
"""The same when they name nothing of the proposal."""
_LONGEST_PROPOSAL = 600
"""Characters of a proposal that a reply is compared with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """A proposal that the user confirmed, ready to be kept."""

    anchor: Anchor
    candidate: Candidate


def find_confirmation(
    utterance: Utterance, reads: Sequence[Read], lexicon: Lexicon, *, from_tools: bool, vectors: Vectors | None
) -> Confirmed | str | None:
    """The confirmed solution; the reason as a word when one was refused; None when nothing was confirmed."""
    refused, said = _confirming(reads, lexicon)
    if refused or (said is None and puts_off(reads, lexicon)):
        return None
    learned = said is None and _may_take_up(utterance, reads, lexicon)
    spoken = bool(reads) and reads[0].clause.language in load_agreement("zh").languages
    plainly = denies(reads, lexicon) or tells_deed(utterance, lexicon) or any(takes_one(r, lexicon) for r in reads)
    if said is None and not (learned or spoken or plainly):
        return None
    praised = next((r for r in reads if praises(r, lexicon)), None) if said is None and utterance.begins else None
    proposal, problem, proven = _answered(utterance, reads, lexicon, said=said or praised)
    if proposal is None or only_thanks(utterance.content, proposal.content, lexicon):
        return None
    if proposal not in utterance.before:
        said = said or praised
        learned = learned and said is None
    undone = said is None and (
        proven
        or undoes(utterance, reads, proposal, problem, lexicon)
        or mends(utterance, reads, proposal, problem, lexicon)
        or chooses(utterance, reads, proposal, lexicon)
        or told_worked(utterance, reads, proposal, problem, lexicon)
    )
    if learned and not undone:
        later = proposal not in utterance.before
        if lacks(utterance.content, proposal, problem, lexicon):
            return None
        if lexicon.rules("en").parts["offers_choice"].search(proposal.content.strip()) is not None:
            return None  # "Tuesday or Wednesday?" is no solution, whichever is taken
        if not (later or proposal is utterance.before[-1]) or len(problem.split()) < _LEAST_PROBLEM:
            return None
        made = vectors([r.clause.text for r in reads]) if vectors is not None else None
        reply = reply_of(
            utterance.content,
            reads,
            None if made is None else list(made),
            lexicon,
            problem=problem,
            proposal=proposal.content[:_LONGEST_PROPOSAL],
        )
        model = load_agreement("en")
        if not model.takes_up(reply) or (later and not _reports(utterance, reads, proposal, model, reply, lexicon)):
            return None
        said = reads[0]
    elif said is None and not undone and not _takes_up(utterance, reads, proposal, problem, lexicon, vectors):
        return None
    if proposal.from_tool and not from_tools:
        return "confirmation_from_tool"
    start, end = taken(reads, proposal.content, lexicon) or key_span(proposal.content, lexicon)
    solution = proposal.content[start:end].strip()
    if not solution:
        return None
    topic = topic_of(problem)
    told = said.evidence(utterance.message_id) if said is not None else _whole(reads, utterance.message_id)
    anchor = Anchor(
        kind="confirmation", text=solution, evidence=told, reason="user confirmed a proposal", importance="high"
    )
    candidate = Candidate(
        subject=f"topic:{topic}" if topic else "topic",
        relation="solution",
        object=solution,
        object_normalized=fold(solution),
        text=f"{topic}: {solution}" if topic else solution,
        kind="solution",
        is_about_user=False,
        asserted_by="assistant_confirmed",
        importance="high",
        valid_from=utterance.at,
        evidence=(told, Evidence(message_id=proposal.id, start=start, end=end)),
        rule="confirmation",
    )
    return Confirmed(anchor=anchor, candidate=candidate)


def only_replies(utterance: Utterance, reads: Sequence[Read], lexicon: Lexicon) -> tuple[Read, ...]:
    """The clauses that only put off what was proposed just before, report that it did not help, or ask for what was
    written in another form: nothing that they say lasts."""
    last = utterance.before[-1] if utterance.before else None
    if last is None or last.role != "assistant":
        return ()
    edits = tuple(r for r in reads if asks_for_form(r, lexicon))
    if not is_proposal(last.content, lexicon):
        return edits
    dropped = {r.clause.sentence for r in reads if drops(r, lexicon)}
    # "重装三遍了，该闪退还闪退": what was tried is over with the report
    short = len(utterance.content) <= LONGEST
    dropped |= {r.clause.sentence for r in reads if r.clause.language == "zh" and short and _failed(r, lexicon)}
    return edits + tuple(
        r
        for r in reads
        if waits(r, lexicon)
        or (fails(r, lexicon) and not (r.clause.language == "zh" and r["first_person"]))
        or (r.clause.sentence in dropped and not r["first_person"] and not r["own_kin"])
    )


def _failed(r: Read, lexicon: Lexicon) -> bool:
    return fails(r, lexicon) or lexicon.rules("zh").flags["not_confirmed"].search(r.clause.norm) is not None


def _may_take_up(utterance: Utterance, reads: Sequence[Read], lexicon: Lexicon) -> bool:
    """Whether the message is a short English reply to a proposal in which nothing speaks against a yes."""
    text = utterance.content
    earlier = [t for t in utterance.earlier if t.role == "assistant"] if utterance.begins else []
    last = utterance.before[-1] if utterance.before else None
    if not reads or len(text) > LONGEST or not (earlier or (last is not None and last.role == "assistant")):
        return False
    if script(text) != "en" or "?" in text or any(r.veto in NO_REPLY for r in reads):
        return False
    parts = lexicon.rules("en").parts
    if (
        any(r["correction"] for r in reads)
        or refutes(text, lexicon)
        or any(parts[p].search(text) for p in ("reply_leaves", "reply_own_day", "reply_supposes"))
    ):
        return False
    return bool(earlier) or (last is not None and is_proposal(last.content, lexicon))


def _confirming(reads: Sequence[Read], lexicon: Lexicon) -> tuple[bool, Read | None]:
    """Whether a clause says that the proposal did not help, and the first that says in known words that it did."""
    said = None
    for read in reads:
        flags = lexicon.rules(read.clause.language).flags
        if read.veto in ("fiction", "quotation", "conditional", "injection", "irony"):
            continue
        if flags["not_confirmed"].search(read.clause.norm) or fails(read, lexicon):
            return True, None
        if flags["confirmed"].search(read.clause.norm) and not read["question"] and said is None:
            said = read
    return False, said


def _is_thanks_for_fix(said: Read, lexicon: Lexicon) -> bool:
    """Whether the words can be of nothing but what was proposed ("that fixed it", "did as you said")."""
    sure = lexicon.rules(said.clause.language).parts.get("reply_sure")
    return sure is not None and sure.search(said.clause.norm) is not None


def _reports(
    utterance: Utterance, reads: Sequence[Read], proposal: Turn, model: Agreement, reply: Sentence, lexicon: Lexicon
) -> bool:
    """Whether the first words of a session, which the model believes to be a reply, report on the proposal of the
    one before: they must name something of it, or else be a cry of joy and no news of the speaker's life."""
    probability = model.probability(reply)
    if said_words(utterance.content, model.function) & said_words(proposal.content, model.function):
        return probability >= _LATER
    glad = lexicon.rules("en").parts["reply_glad"].search(utterance.content) is not None
    return glad and probability >= _LATER_UNNAMED and not any(_tells_end(r, lexicon) for r in reads)


def _takes_up(
    utterance: Utterance,
    reads: Sequence[Read],
    proposal: Turn,
    problem: str,
    lexicon: Lexicon,
    vectors: Vectors | None,
) -> bool:
    """Whether a short reply right after the proposal takes it up, in words that no rule knows."""
    model = load_agreement("zh")
    turns = utterance.before if proposal in utterance.before else utterance.earlier
    if not reads or not follows(utterance, proposal, lexicon) or len(utterance.content) > LONGEST:
        return False
    if reads[0].clause.language not in model.languages or any(r.veto in NO_REPLY for r in reads):
        return False
    if any(r["correction"] for r in reads) or leaves(utterance, reads, problem, proposal, lexicon):
        return False
    if elsewhere(reads, problem, proposal, lexicon):
        return False
    if turns is not utterance.before and any(_tells_change(r, lexicon) for r in reads):
        return False  # days later, news of one's own life says nothing of what was proposed
    made = vectors([r.clause.text for r in reads]) if vectors is not None else None
    return model.takes_up(
        Sentence(
            text=utterance.content,
            norm=" ".join(r.clause.norm.strip() for r in reads),
            language=reads[0].clause.language,
            cues=reply_cues(
                [r.flags for r in reads],
                utterance.content,
                proposal.content,
                model.function,
                says(reads, proposal.content, lexicon),
            ),
            vector=mean_vector(list(made)) if made is not None else None,
        )
    )


def _tells_change(r: Read, lexicon: Lexicon) -> bool:
    """Whether a clause says that something is over or new."""
    return r["change"] or _tells_end(r, lexicon)


def _tells_end(r: Read, lexicon: Lexicon) -> bool:
    rules = lexicon.rules(r.clause.language)
    ends = rules.flags.get("ends")
    over = ends is not None and ends.search(r.clause.norm) is not None
    return over or r["hard_cessation"] or bool(thing_ended(r.clause.norm, rules))


def _answered(
    utterance: Utterance, reads: Sequence[Read], lexicon: Lexicon, *, said: Read | None
) -> tuple[Turn | None, str, bool]:
    """The proposal that the reply may answer and the user's words of the problem; and whether the reply tells so
    plainly what came of it that the turn need not sound like a proposal. ``said``: the clause that confirms in known
    words."""
    chinese = bool(reads) and reads[0].clause.language == "zh"
    reply = utterance.content if chinese else ""
    proposal, problem = last_proposal(utterance.before, lexicon, reply=reply)
    if proposal is not None:
        return proposal, problem, False
    if _is_on(utterance, reads):
        # What was proposed last time may have been tried since: the words must name something of it.
        proposal, problem = (
            last_proposal(utterance.earlier, lexicon, reply=reply) if chinese else named_proposal(utterance, lexicon)
        )
        if proposal is not None:
            known = load_agreement("zh").function
            shared = said_words(utterance.content, known) & said_words(f"{problem} {proposal.content}", known)
            sure = said is not None and utterance.begins and _is_thanks_for_fix(said, lexicon)
            if shared or sure or points(reads, lexicon) or told_worked(utterance, reads, proposal, problem, lexicon):
                return proposal, problem, False
            return None, "", False
    for turns in (utterance.before, utterance.earlier):
        turn, problem = advice(turns, lexicon)
        if turn is not None:
            plain = told_worked(utterance, reads, turn, problem, lexicon)
            return (turn, problem, True) if plain else (None, "", False)
    return None, "", False


def _is_on(utterance: Utterance, reads: Sequence[Read]) -> bool:
    """Whether a message may answer what was proposed in the session before."""
    return bool(reads and utterance.earlier)


def _whole(reads: Sequence[Read], message_id: str) -> Evidence:
    return Evidence(message_id=message_id, start=reads[0].clause.start, end=reads[-1].clause.end)
