"""Confirmed solutions: an anchor that needs what was said before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ltm_core.types import Anchor, Evidence
from ltm_core.write.agreement import load_agreement, reply_cues
from ltm_core.write.ends import thing_ended
from ltm_core.write.lexicon import Lexicon, Rules
from ltm_core.write.neighbours import Vectors
from ltm_core.write.news import Sentence, words
from ltm_core.write.norm import fold, normal, script, trim
from ltm_core.write.overtaken import mean_vector
from ltm_core.write.plan import Candidate, Turn, Utterance
from ltm_core.write.reply_en import LONGEST, reply_of
from ltm_core.write.scopes import Read
from ltm_core.write.undone import NO_REPLY, chooses, denies, drops, fails, leaves, puts_off, undoes, waits

_SENTENCE = re.compile(r"[^。！!?？\n.]+(?:[.](?=\S)[^。！!?？\n.]*)*[。！!?？.\n]?")
_MAX_SOLUTION = 280
_MIN_PROPOSAL = 8
_LOOK_BACK = 3
"""Assistant turns before the confirmation in which the proposal may stand."""
_LEAST_PROBLEM = 3
"""Words of what the user asked, below which the assistant's turn answers no problem."""
_LATER = 0.75
"""Probability that the first words of a session report on what was proposed in the one before."""
_LONGEST_PROPOSAL = 600
"""Characters of a proposal that a reply is compared with."""
_TOPIC = 48
_TECHNICAL = re.compile(r"[A-Z][\w.+-]*[A-Z0-9][\w.+-]*|[A-Z]{2,}[\w-]*|\b[\w]+(?:\.[a-z]{1,4}|_[\w]+)\b")


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
    if said is None and not (learned or spoken) and not denies(reads, lexicon):
        return None
    proposal, problem = _proposal(utterance.before, lexicon)
    if proposal is None and _is_on(utterance, reads):
        # What was proposed last time may have been tried since: the words must name something of it.
        proposal, problem = _proposal(utterance.earlier, lexicon)
        known = load_agreement("zh").function
        if proposal is None or not words(utterance.content, known) & words(f"{problem} {proposal.content}", known):
            return None
    if proposal is None:
        return None
    undone = said is None and (
        undoes(utterance, reads, proposal, problem, lexicon) or chooses(utterance, reads, proposal, lexicon)
    )
    if learned and not undone:
        later = proposal not in utterance.before
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
        if not model.takes_up(reply) or (later and model.probability(reply) < _LATER):
            return None
        said = reads[0]
    elif said is None and not undone and not _takes_up(utterance, reads, proposal, problem, lexicon, vectors):
        return None
    if proposal.from_tool and not from_tools:
        return "confirmation_from_tool"
    start, end = _key_span(proposal.content, lexicon)
    solution = proposal.content[start:end].strip()
    if not solution:
        return None
    topic = _topic(problem)
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
    """The clauses that only put off what was proposed just before, or report that it did not help: nothing that they
    say lasts."""
    last = utterance.before[-1] if utterance.before else None
    dropped = {r.clause.sentence for r in reads if drops(r, lexicon)}
    replies = tuple(
        r
        for r in reads
        if waits(r, lexicon) or fails(r, lexicon) or (r.clause.sentence in dropped and not r["first_person"])
    )
    if not replies or last is None or last.role != "assistant" or not is_proposal(last.content, lexicon):
        return ()
    return replies


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
        or any(parts[p].search(text) for p in ("reply_leaves", "reply_own_day"))
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
    last = next((t for t in reversed(turns) if t.role in ("user", "assistant")), None)
    if not reads or last is not proposal or len(utterance.content) > LONGEST:
        return False
    if reads[0].clause.language not in model.languages or any(r.veto in NO_REPLY for r in reads):
        return False
    if any(r["correction"] for r in reads) or leaves(utterance, reads, problem, proposal, lexicon):
        return False
    if turns is not utterance.before and any(_tells_change(r, lexicon) for r in reads):
        return False  # days later, news of one's own life says nothing of what was proposed
    made = vectors([r.clause.text for r in reads]) if vectors is not None else None
    return model.takes_up(
        Sentence(
            text=utterance.content,
            norm=" ".join(r.clause.norm.strip() for r in reads),
            language=reads[0].clause.language,
            cues=reply_cues([r.flags for r in reads], utterance.content, proposal.content, model.function),
            vector=mean_vector(list(made)) if made is not None else None,
        )
    )


def _tells_change(r: Read, lexicon: Lexicon) -> bool:
    """Whether a clause says that something is over or new."""
    rules = lexicon.rules(r.clause.language)
    ends = rules.flags.get("ends")
    over = ends is not None and ends.search(r.clause.norm) is not None
    return over or r["hard_cessation"] or r["change"] or bool(thing_ended(r.clause.norm, rules))


def _is_on(utterance: Utterance, reads: Sequence[Read]) -> bool:
    """Whether a message may answer what was proposed in the session before."""
    return bool(reads and utterance.earlier)


def _whole(reads: Sequence[Read], message_id: str) -> Evidence:
    return Evidence(message_id=message_id, start=reads[0].clause.start, end=reads[-1].clause.end)


def _proposal(before: Sequence[Turn], lexicon: Lexicon) -> tuple[Turn | None, str]:
    """The last assistant turn that proposes something nobody refuted, and the user's words of the problem."""
    seen, refuted = 0, False
    for i in range(len(before) - 1, -1, -1):
        turn = before[i]
        if turn.role == "user":
            refuted = refuted or refutes(turn.content, lexicon)
        if turn.role != "assistant":
            continue
        seen += 1
        if seen > _LOOK_BACK:
            break
        if not is_proposal(turn.content, lexicon):
            continue
        if refuted:
            refuted = False
            continue
        asked = [t.content for t in reversed(before[:i]) if t.role == "user"]
        problem = next((c for c in asked if not refutes(c, lexicon)), asked[-1] if asked else "")
        return turn, problem
    return None, ""


def refutes(content: str, lexicon: Lexicon) -> bool:
    """Whether a user's turn tells that the last proposal did not help."""
    text = normal(content).strip()
    rules = lexicon.rules(script(text))
    if any(rules.parts[n].search(text) for n in ("refutes", "reply_fails") if n in rules.parts):
        return True
    return bool(rules.flags["not_confirmed"].search(text[:200]))


def is_proposal(content: str, lexicon: Lexicon) -> bool:
    """Whether an assistant's turn tells what to do rather than chats or only asks."""
    text = normal(content)
    if len(text) < _MIN_PROPOSAL:
        return False
    rules = lexicon.rules(script(text))
    pattern = rules.flags["proposal"]
    own = rules.parts.get("own_act")
    return any(
        pattern.search(s) and not _only_asks(s, rules) and (own is None or own.match(s.strip()) is None)
        for s in _SENTENCE.findall(text[:4000])
    )


def _only_asks(sentence: str, rules: Rules) -> bool:
    """Whether a sentence is a question and no proposal that ends in "您看行吗?"."""
    text = sentence.rstrip()
    agreed = rules.parts.get("asks_agreement")
    return text.endswith("?") and (agreed is None or agreed.search(text) is None)


def _key_span(content: str, lexicon: Lexicon) -> tuple[int, int]:
    """The span of the proposal's key sentences: from the first that proposes, up to a bound."""
    text = normal(content)
    rules = lexicon.rules(script(text))
    pattern = rules.flags["proposal"]
    start = end = -1
    for m in _SENTENCE.finditer(text[:4000]):
        proposes = pattern.search(m.group()) is not None and not _only_asks(m.group(), rules)
        if start < 0 and not proposes:
            continue
        if _only_asks(m.group(), rules):
            break
        if start < 0:
            start, end = m.start(), min(m.end(), m.start() + _MAX_SOLUTION)
        elif m.end() - start <= _MAX_SOLUTION:
            end = m.end()
        else:
            break
    if start < 0:
        return 0, min(len(content), _MAX_SOLUTION)
    while start < end and content[start].isspace():
        start += 1
    while end > start and content[end - 1].isspace():
        end -= 1
    return start, end


def _topic(problem: str) -> str:
    """What the problem was about, in a few of the user's words."""
    text = trim(problem.split("```")[0].strip())
    first = next((trim(s) for s in _SENTENCE.findall(text[:400]) if len(trim(s)) > 3), text)
    if len(first) <= _TOPIC:
        return first
    named = _TECHNICAL.findall(first)
    if named:
        return " ".join(dict.fromkeys(named))[:_TOPIC]
    return first[:_TOPIC].rsplit(" ", 1)[0] if " " in first[:_TOPIC] else first[:_TOPIC]
