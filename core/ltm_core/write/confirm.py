"""Confirmed solutions and references to earlier conversations: two anchors that need what was said before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ltm_core.types import Anchor, Evidence
from ltm_core.write.agreed import LONGEST, load_agreed, reply_of
from ltm_core.write.agreement import load_agreement, reply_cues
from ltm_core.write.lexicon import Lexicon, Rules
from ltm_core.write.neighbours import Vectors
from ltm_core.write.news import Sentence, words
from ltm_core.write.norm import fold, normal, script, trim
from ltm_core.write.overtaken import mean_vector
from ltm_core.write.plan import Candidate, Turn, Utterance
from ltm_core.write.scopes import Read

_SENTENCE = re.compile(r"[^。！!?？\n.]+(?:[.](?=\S)[^。！!?？\n.]*)*[。！!?？.\n]?")
_MAX_SOLUTION = 280
_MIN_PROPOSAL = 8
_LOOK_BACK = 3
"""Assistant turns before the confirmation in which the proposal may stand."""
_LEAST_PROBLEM = 3
"""Words of what the user asked, below which the assistant's turn answers no problem."""
_LONGEST_PROPOSAL = 600
"""Characters of a proposal that a reply is compared with."""
_NO_REPLY = ("fiction", "quotation", "conditional", "injection", "irony", "question", "command")
"""What no clause of a reply that confirms may be."""
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
    if refused:
        return None
    learned = said is None and _may_take_up(utterance, reads, lexicon)
    spoken = bool(reads) and reads[0].clause.language in load_agreement().languages
    if said is None and not (learned or spoken):
        return None
    proposal, problem = _proposal(utterance.before, lexicon)
    if proposal is None and _is_on(utterance, reads):
        # What was proposed last time may have been tried since: the words must name something of it.
        proposal, problem = _proposal(utterance.earlier, lexicon)
        known = load_agreement().function
        if proposal is None or not words(utterance.content, known) & words(f"{problem} {proposal.content}", known):
            return None
    if proposal is None:
        return None
    if learned:
        if proposal is not utterance.before[-1] or len(problem.split()) < _LEAST_PROBLEM:
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
        if not load_agreed().takes_up(reply, lexicon.gate.function):
            return None
        said = reads[0]
    elif said is None and not _takes_up(utterance, reads, proposal, vectors):
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


def _may_take_up(utterance: Utterance, reads: Sequence[Read], lexicon: Lexicon) -> bool:
    """Whether the message is a short English reply to a proposal in which nothing speaks against a yes."""
    text = utterance.content
    if not reads or len(text) > LONGEST or not utterance.before or utterance.before[-1].role != "assistant":
        return False
    if script(text) != "en" or "?" in text or any(r.veto in _NO_REPLY for r in reads):
        return False
    parts = lexicon.rules("en").parts
    if refutes(text, lexicon) or any(parts[p].search(text) for p in ("reply_leaves", "reply_own_day")):
        return False
    return is_proposal(utterance.before[-1].content, lexicon)


def _confirming(reads: Sequence[Read], lexicon: Lexicon) -> tuple[bool, Read | None]:
    """Whether a clause says that the proposal did not help, and the first that says in known words that it did."""
    said = None
    for read in reads:
        flags = lexicon.rules(read.clause.language).flags
        if read.veto in ("fiction", "quotation", "conditional", "injection", "irony"):
            continue
        if flags["not_confirmed"].search(read.clause.norm):
            return True, None
        if flags["confirmed"].search(read.clause.norm) and not read["question"] and said is None:
            said = read
    return False, said


def _takes_up(utterance: Utterance, reads: Sequence[Read], proposal: Turn, vectors: Vectors | None) -> bool:
    """Whether a short reply right after the proposal takes it up, in words that no rule knows."""
    model = load_agreement()
    turns = utterance.before if proposal in utterance.before else utterance.earlier
    last = next((t for t in reversed(turns) if t.role in ("user", "assistant")), None)
    if not reads or last is not proposal or len(utterance.content) > LONGEST:
        return False
    if reads[0].clause.language not in model.languages or any(r.veto in _NO_REPLY for r in reads):
        return False
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


def _is_on(utterance: Utterance, reads: Sequence[Read]) -> bool:
    """Whether a message may answer what was proposed in the session before."""
    return bool(reads and utterance.earlier) and reads[0].clause.language in load_agreement().languages


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
    told = rules.parts.get("refutes")
    if told is not None and told.search(text):
        return True
    return bool(rules.flags["not_confirmed"].search(text[:200]))


def is_proposal(content: str, lexicon: Lexicon) -> bool:
    """Whether an assistant's turn tells what to do rather than chats or only asks."""
    text = normal(content)
    if len(text) < _MIN_PROPOSAL:
        return False
    rules = lexicon.rules(script(text))
    pattern = rules.flags["proposal"]
    return any(pattern.search(s) and not _only_asks(s, rules) for s in _SENTENCE.findall(text[:4000]))


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


def find_references(
    utterance: Utterance, reads: Sequence[Read], lexicon: Lexicon, *, asked: frozenset[int] = frozenset()
) -> tuple[Anchor, ...]:
    """References to something of an earlier conversation, with the entity they name when one is known."""
    anchors: list[Anchor] = []
    for read in reads:
        if read.veto in ("fiction", "quotation", "injection"):
            continue
        m = lexicon.rules(read.clause.language).flags["reference"].search(read.clause.norm)
        if m is None:
            continue
        what = next(((k, v) for k, v in m.groupdict().items() if v and trim(v)), None)
        text = trim(read.clause.text[slice(*m.span(what[0]))]) if what else trim(read.clause.text)
        if read.clause.start in asked:
            continue
        entity = _resolve(read.clause.norm, text, utterance.known_entities, lexicon)
        if not entity and lexicon.shared["empty_reference"].match(fold(text)):
            continue
        anchors.append(
            Anchor(
                kind="cross_session_reference",
                text=entity or text,
                evidence=Evidence(
                    message_id=utterance.message_id,
                    start=read.clause.start + m.start(),
                    end=read.clause.start + m.end(),
                ),
                reason="names a known entity" if entity else "refers to an earlier conversation",
            )
        )
    return tuple(anchors)


def _resolve(clause: str, what: str, known: Sequence[str], lexicon: Lexicon) -> str:
    """The newest known entity that the words name: by its own name, or by its sort ("the contract")."""
    folded, clause = fold(what), fold(clause)
    for entity in reversed(known):
        name = fold(entity)
        if name and (name in clause or (len(folded) > 1 and folded in name)):
            return entity
    for sort, spoken in lexicon.identifier_words.items():
        if not any(w in folded for w in spoken.split("|")):
            continue
        for entity in reversed(known):
            named = fold(entity).startswith(sort) or any(w in fold(entity) for w in spoken.split("|"))
            if named or lexicon.kind_of_prefix(entity) == sort:
                return entity
    return ""
