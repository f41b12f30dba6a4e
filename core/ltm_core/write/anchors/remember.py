"""Explicit requests: "remember that …", "记一下：…". What follows is kept, whoever it is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ltm_core.types import Anchor, Evidence
from ltm_core.write.anchors.asked import Asked
from ltm_core.write.plan import Candidate, Utterance
from ltm_core.write.read.people import lead, opened, speaker_key
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon, Rules
from ltm_core.write.words.norm import fold, normal, trim

_LEAST, _MOST = 4, 400
"""Characters of an earlier turn that "remember that" may point at as a whole."""
_HELD = frozenset(["fiction", "injection", "quotation", "question", "irony"])


_QUOTES = ('"', "'", "“", "‘", "「", "『", "《")


@dataclass(frozen=True, slots=True, kw_only=True)
class Explicit:
    """What the user asked to remember: its anchor, the clauses it spans, and a note of its words."""

    anchor: Anchor
    clauses: tuple[int, ...]
    note: Candidate
    points_back: bool = False
    """Whether the clauses only point at what was said before ("keep that in mind")."""


def explicit_requests(utterance: Utterance, reads: Sequence[Read], lexicon: Lexicon) -> tuple[Explicit, ...]:
    """Every explicit request of the message with the words to keep."""
    found: list[Explicit] = []
    taken: set[int] = set()
    for i, r in enumerate(reads):
        if i in taken or not r["remember"] or (_is_held(r) and not _asks_to_keep(r, lexicon)):
            continue
        if i + 1 < len(reads) and _is_held(reads[i + 1]) and _announces(utterance.content, r, reads[i + 1]):
            continue  # "a note to the AI: <orders>": what it announces is refused, so is the announcement
        start, words = _content(r, lexicon)
        spans = [i]
        for j in range(i + 1, len(reads)):
            if lexicon.shared["request_courtesy"].match(reads[j].clause.norm):
                continue  # "commit this to memory, will you? …"
            same = reads[j].clause.sentence == r.clause.sentence
            opener = not words and len(spans) == 1
            held = _is_held(reads[j]) and not (opener and _only_names_quoted(reads[j]))
            if not (same or opener) or held or (reads[j]["command"] and not opener):
                break
            if not words and reads[j].veto == "smalltalk":
                break  # "记住了，谢谢" gives nothing to keep
            spans.append(j)
        end = reads[spans[-1]].clause.end
        if not words:
            if len(spans) == 1:
                pointed = _said_before(utterance, reads[:i], r) if i or not _is_noted(r, lexicon) else None
                if pointed is not None:
                    taken.add(i)
                    found.append(replace(_explicit(utterance, *pointed, spans), points_back=True))
                continue
            start = reads[spans[1]].clause.start
        start, end = _narrowed(utterance.content, start, end, lexicon.rules(r.clause.language), lexicon)
        tail = lexicon.rules(r.clause.language).parts.get("asked_to_keep_end") if r.veto == "question" else None
        text = trim(utterance.content[start:end])
        if tail is not None:  # "能不能记一下我家猫叫豆豆吗？"
            text = trim(tail.sub("", text))
        if _only_names(text, lexicon.rules(r.clause.language)) and _asks_on(reads, spans):
            continue  # "remember the Titans, is it on Netflix" asks to keep nothing
        never = lexicon.rules(r.clause.language).parts.get("note_never")
        if len(text) < 2 or (never is not None and never.search(text)):
            continue
        taken.update(spans)
        found.append(
            _explicit(utterance, text, Evidence(message_id=utterance.message_id, start=start, end=end), spans)
        )
    return tuple(found)


def learned_request(utterance: Utterance, reads: Sequence[Read], asked: Asked) -> Explicit:
    """The request that the learned model found: what is meant, to the end of the clause in which it ends."""
    last = max(i for i in asked.clauses if reads[i].clause.start < asked.end)
    end = max(asked.end, reads[last].clause.end)
    text = trim(utterance.content[asked.start : end])
    evidence = Evidence(message_id=utterance.message_id, start=asked.start, end=end)
    return _explicit(utterance, text, evidence, range(asked.at, last + 1))


def _narrowed(content: str, start: int, end: int, rules: Rules, lexicon: Lexicon) -> tuple[int, int]:
    """Where the words to keep begin and end, without a second opener ("for next time, store it: …") and without
    what says where to keep them ("… to your notes")."""
    for _ in range(2):
        text = content[start:end]
        skipped = opened(normal(text), rules, lexicon)
        if not 0 < skipped < len(trim(text)) - 1:
            break
        start += skipped
    tail = rules.parts.get("keep_tail")
    closed = tail.search(content[start:end]) if tail is not None else None
    return start, start + closed.start() if closed is not None and closed.start() else end


def _only_names_quoted(r: Read) -> bool:
    """Whether the author's own words go before what he quotes: 'the hymn was "Abide with Me"'."""
    return r.veto == "quotation" and not r.clause.norm.lstrip().startswith(_QUOTES)


def _only_names(text: str, rules: Rules) -> bool:
    """Whether the words to keep name a thing and state nothing."""
    named = rules.parts.get("only_names")
    return named is not None and named.match(text) is not None


def _asks_on(reads: Sequence[Read], spans: Sequence[int]) -> bool:
    """Whether the sentence goes on with a question."""
    after = reads[spans[-1] + 1] if spans[-1] + 1 < len(reads) else None
    return after is not None and after["question"] and after.clause.sentence == reads[spans[-1]].clause.sentence


def _is_noted(r: Read, lexicon: Lexicon) -> bool:
    """Whether the speaker only says that he has it in mind himself ("记住了")."""
    noted = lexicon.rules(r.clause.language).parts.get("noted")
    return noted is not None and noted.match(r.clause.norm) is not None


def _is_held(r: Read) -> bool:
    """Whether a clause is nothing that its author wants to be kept. What quotes a name in words of his own is: "we
    always write 'Acme'"."""
    return r.veto in _HELD and not (r.veto == "quotation" and r["first_person"])


def instructed(
    utterance: Utterance, reads: Sequence[Read], made: Sequence[Candidate], lexicon: Lexicon
) -> tuple[Anchor, ...]:
    """What the assistant is told to do from now on: to say so is to ask that it is remembered."""
    found: list[Anchor] = []
    for r in reads:
        parts = lexicon.rules(r.clause.language).parts
        from_now, to_assistant = parts.get("from_now"), parts.get("to_assistant")
        if from_now is None or from_now.search(r.clause.norm) is None:
            continue
        if to_assistant is not None and to_assistant.search(r.clause.norm) is None:
            continue  # "以后就靠地铁和腿" asks nothing of the assistant
        evidence = r.evidence(utterance.message_id)
        if any(evidence in c.evidence and _is_instruction(c) for c in made):
            found.append(_explicit(utterance, trim(r.clause.text), evidence, ()).anchor)
    return tuple(found)


def _is_instruction(c: Candidate) -> bool:
    return c.subject == "assistant" or c.relation == "calls_user"


def _asks_to_keep(r: Read, lexicon: Lexicon) -> bool:
    """Whether a question is a polite request ("could you note that I'm deaf?")."""
    polite = lexicon.rules(r.clause.language).parts.get("asks_to_keep")
    return r.veto == "question" and polite is not None and polite.match(r.clause.norm) is not None


def _announces(content: str, r: Read, following: Read) -> bool:
    """Whether a colon stands between the clause and the next one."""
    return content[r.clause.start : following.clause.start].rstrip(" \t\n\"'“「").endswith((":", "："))


def _explicit(utterance: Utterance, text: str, evidence: Evidence, spans: Sequence[int]) -> Explicit:
    anchor = Anchor(
        kind="explicit_request",
        text=text,
        evidence=evidence,
        reason="the user asked to remember",
        importance="high",
    )
    me, speaker = speaker_key(utterance)
    note = Candidate(
        subject=me,
        relation="note",
        object=text,
        object_normalized=fold(text),
        text=text,
        is_about_user=False,
        speaker=speaker,
        relation_confidence=0.0,
        importance="high",
        valid_from=utterance.at,
        said_at=utterance.at,
        evidence=(evidence,),
        rule="explicit_request",
    )
    return Explicit(anchor=anchor, clauses=tuple(spans), note=note)


def _said_before(utterance: Utterance, earlier: Sequence[Read], r: Read) -> tuple[str, Evidence] | None:
    """What "keep that in mind" points at: the statement before it, in this message or in the user's last turn."""
    said = [e for e in earlier if e.veto in ("", "conditional", "feedback")]
    if said:
        last = [e for e in said if e.clause.sentence == said[-1].clause.sentence]
        start, end = last[0].clause.start, last[-1].clause.end
        return trim(utterance.content[start:end]), Evidence(message_id=utterance.message_id, start=start, end=end)
    turn = next((t for t in reversed(utterance.before) if t.role == "user"), None)
    if (
        turn is None
        or earlier
        or not _LEAST <= len(turn.content) <= _MOST
        or turn.content.rstrip().endswith(("?", "？"))
    ):
        return None
    return trim(turn.content), Evidence(message_id=turn.id, start=0, end=len(turn.content))


def _content(r: Read, lexicon: Lexicon) -> tuple[int, str]:
    """Where the words to keep begin in the message, and the words of the clause themselves."""
    rules = lexicon.rules(r.clause.language)
    norm = r.clause.norm
    begin = opened(norm, rules, lexicon)
    if begin and begin < lead(norm, rules):
        rest = norm[lead(norm, rules) :].lstrip(" ,，:：")
        filler = lexicon.shared["remember_filler"].match(rest)
        begin = len(norm) - len(rest) + (filler.end() if filler else 0)
    return r.clause.start + begin, trim(r.clause.text[begin:])
