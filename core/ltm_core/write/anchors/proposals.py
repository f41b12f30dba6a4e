"""Proposals of the assistant: which turn is one, which of several a reply answers, and what of it is kept. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ltm_core.write.anchors.agreement import load_agreement
from ltm_core.write.anchors.undone import refutes
from ltm_core.write.known.news import said_words
from ltm_core.write.plan import Turn, Utterance
from ltm_core.write.words.lexicon import Lexicon, Rules
from ltm_core.write.words.norm import normal, script, trim

_SENTENCE = re.compile(r"[^。！!?？\n.]+(?:[.](?=\S)[^。！!?？\n.]*)*[。！!?？.\n]?")
_MAX_SOLUTION = 280
"""Characters of a proposal that are kept."""
_MIN_PROPOSAL = 8
"""Characters below which a turn proposes nothing."""
_LOOK_BACK = 3
"""Assistant turns before the confirmation in which the proposal may stand."""
_TOPIC = 48
"""Characters of the problem that name it."""
_TECHNICAL = re.compile(r"[A-Z][\w.+-]*[A-Z0-9][\w.+-]*|[A-Z]{2,}[\w-]*|\b[\w]+(?:\.[a-z]{1,4}|_[\w]+)\b")


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


def last_proposal(before: Sequence[Turn], lexicon: Lexicon, *, reply: str = "") -> tuple[Turn | None, str]:
    """The last assistant turn that proposes something nobody refuted, and the user's words of the problem. Of several
    since the last that was refuted, the one with which ``reply`` shares most words."""
    seen, refuted = 0, False
    found: list[tuple[int, Turn, str]] = []
    known = load_agreement("zh").function
    told = said_words(reply, known) if reply else set()
    for i in range(len(before) - 1, -1, -1):
        turn = before[i]
        if turn.role == "user":
            refuted = refuted or refutes(turn.content, lexicon)
        if turn.role != "assistant":
            continue
        seen += 1
        if seen > _LOOK_BACK or (refuted and found):
            break
        if not is_proposal(turn.content, lexicon):
            continue
        if refuted:
            refuted = False
            continue
        asked = [t.content for t in reversed(before[:i]) if t.role == "user"]
        problem = next((c for c in asked if not refutes(c, lexicon)), asked[-1] if asked else "")
        found.append((len(told & said_words(turn.content, known)), turn, problem))
        if not told:
            break
    if not found:
        return None, ""
    _, turn, problem = max(found, key=lambda x: x[0])
    return turn, problem


def named_proposal(utterance: Utterance, lexicon: Lexicon) -> tuple[Turn | None, str]:
    """The proposal of the session before of which the message names most; the last one if it names none."""
    function = load_agreement("zh").function
    mine = said_words(utterance.content, function)
    best, problem = last_proposal(utterance.earlier, lexicon)
    turns = utterance.earlier
    while best is not None and best in turns:
        turns = turns[: turns.index(best)]
        other, asked = last_proposal(turns, lexicon)
        if other is None:
            break
        named, shared = (len(mine & said_words(t.content, function)) for t in (best, other))
        if shared <= named:
            break
        best, problem = other, asked
    return best, problem


def key_span(content: str, lexicon: Lexicon) -> tuple[int, int]:
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


def topic_of(problem: str) -> str:
    """What the problem was about, in a few of the user's words."""
    text = trim(problem.split("```")[0].strip())
    first = next((trim(s) for s in _SENTENCE.findall(text[:400]) if len(trim(s)) > 3), text)
    if len(first) <= _TOPIC:
        return first
    named = _TECHNICAL.findall(first)
    if named:
        return " ".join(dict.fromkeys(named))[:_TOPIC]
    return first[:_TOPIC].rsplit(" ", 1)[0] if " " in first[:_TOPIC] else first[:_TOPIC]
