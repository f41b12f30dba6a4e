"""How the user and the assistant are to be called, and how the assistant is to speak, in words that no expression
knows: the learned model (`write.anchors.acts`) says which of them, and in which words. Asked only of messages in
which the rules found nothing of the kind. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ltm_core.types import Evidence
from ltm_core.write.anchors.acts import NamingAct, load_naming, passage_vector
from ltm_core.write.anchors.passages import LEARNED_LANGUAGES, passage_sentence, passages
from ltm_core.write.extract.build import Context, candidates
from ltm_core.write.extract.draft import Draft
from ltm_core.write.extract.standing import called
from ltm_core.write.plan import Candidate, Utterance
from ltm_core.write.read.found import Found, statement
from ltm_core.write.read.neighbours import Vectors
from ltm_core.write.read.people import Subject, speaker_key
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import trim

_RELATIONS: dict[NamingAct, str] = {"call_user": "calls_user", "call_assistant": "name", "manner": "reply_style"}
_NAMES = frozenset(["name", "calls_user", "nickname:called"])
_NOT_MEANT = frozenset(["quotation", "injection", "irony", "fiction", "feedback"])
RULE = "learned_naming"


def is_naming(c: Candidate) -> bool:
    """Whether it says how somebody is called, or how the assistant is to speak."""
    return c.subject == "assistant" or c.relation in _NAMES


def learned_naming(
    utterance: Utterance, reads: Sequence[Read], found: Found, lexicon: Lexicon, vectors: Vectors | None
) -> None:
    """The likeliest name or manner of speaking that the message gives is found, with its anchor; what its words were
    taken for otherwise is found no more. Nothing changes when the rules found one."""
    if any(is_naming(c) or c.move == "correct" for c in found.candidates):
        return
    best = _likeliest(utterance, reads, vectors)
    if best is None:
        return
    act, probability, start, end, passage = best
    value = trim(utterance.content[start:end])
    if not any(c.isalnum() for c in value):
        return
    at = max(i for i in passage if reads[i].clause.start <= start)
    begin = max(0, start - reads[at].clause.start)
    draft = Draft(
        subject="assistant",
        relation=_RELATIONS[act],
        object=value,
        start=begin,
        end=begin + len(value),
        positive=act != "manner" or lexicon.shared["forbids"].match(value) is None,
        confidence=round(probability, 3),
        rule=RULE,
        about_user=False,
    )
    me, speaker = speaker_key(utterance)
    context = Context(utterance=utterance, lexicon=lexicon, speaker=speaker, probability=probability)
    evidence = Evidence(
        message_id=utterance.message_id, start=reads[passage[0]].clause.start, end=reads[passage[-1]].clause.end
    )
    words = trim(utterance.content[evidence.start : evidence.end])
    new = candidates(reads[at], Subject(key=me, rest=0), (draft,), context)
    new = (*new, *(c for n in new for c in called(n, reads[at], me)))
    for i in passage:
        found.leave_out(reads[i].evidence(utterance.message_id))
    found.candidates += [replace(c, text=words, evidence=(evidence,)) for c in new]
    found.anchors.append(statement(new, words, evidence, reason=RULE))


def _likeliest(
    utterance: Utterance, reads: Sequence[Read], vectors: Vectors | None
) -> tuple[NamingAct, float, int, int, range] | None:
    """What the message most likely says, how likely, where the words stand that say it, and in which clauses."""
    model, best = load_naming(), None
    for passage in passages(reads):
        here = [reads[i] for i in passage]
        if {r.veto for r in here} & _NOT_MEANT or here[0].clause.language not in LEARNED_LANGUAGES:
            continue
        seen = passage_sentence(utterance, here)
        if model.is_unlikely(seen):
            continue
        made = vectors([r.clause.text for r in here]) if vectors is not None else None
        if made is not None:
            seen = replace(seen, vector=passage_vector(list(made)))
        asked = model.asked(seen)
        if asked is None or (best is not None and asked[1] <= best[1]):
            continue
        begin = here[0].clause.start
        start, end = (begin + n for n in model.meant(seen.text, asked[0]))
        best = (*asked, start, end, passage)
    return best
