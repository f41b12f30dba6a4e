"""How the user and the assistant are to be called, and how the assistant is to speak, in words that no expression
knows: the learned model (`write.anchors.acts`) says which of them, and in which words. Asked only of messages in
which the rules found nothing of the kind. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ltm_core.types import Evidence
from ltm_core.write.anchors.acts import NamingAct, load_naming
from ltm_core.write.anchors.passages import LEARNED_LANGUAGES, asked_in, passages
from ltm_core.write.extract.build import Context, candidates
from ltm_core.write.extract.draft import Draft
from ltm_core.write.extract.standing import called
from ltm_core.write.known.mentions import content
from ltm_core.write.plan import Candidate, Utterance
from ltm_core.write.read.answers import was_asked
from ltm_core.write.read.found import Found, statement
from ltm_core.write.read.neighbours import Vectors
from ltm_core.write.read.people import Subject, speaker_key, subject_of
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import trim

_RELATIONS: dict[NamingAct, str] = {"call_user": "calls_user", "call_assistant": "name", "manner": "reply_style"}
_NAMES = frozenset(["name", "calls_user", "nickname:called"])
_NOT_MEANT = frozenset(["quotation", "injection", "irony", "fiction", "feedback"])
_OTHERS = frozenset(["kin", "pet", "circle", "stranger"])
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
    if was_asked(utterance.before) or any(r["correction"] or _obeys(r, lexicon) for r in reads):
        return
    best = _likeliest(utterance, reads, vectors)
    if best is None:
        return
    act, probability, start, end, passage = best
    value = trim(utterance.content[start:end])
    at = max(i for i in passage if reads[i].clause.start <= start)
    if act != "manner" and (_is_of_another(reads[at], lexicon) or any(_is_anothers(reads[i]) for i in passage)):
        return
    if not _is_telling(value, lexicon):
        return
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


def _is_telling(value: str, lexicon: Lexicon) -> bool:
    """Whether some of the words mean something by themselves."""
    if not value.isascii():
        said = lexicon.shared["soft_end"].sub("", value)
        return any(c.isalnum() and c not in lexicon.gate.function for c in said)
    return bool(content(value, lexicon))


def _obeys(r: Read, lexicon: Lexicon) -> bool:
    """Whether the speaker says that he will do as he is told ("以后你说的话，我都听")."""
    obeys = lexicon.rules(r.clause.language).parts.get("obeys")
    return obeys is not None and obeys.search(r.clause.norm) is not None


def _is_of_another(r: Read, lexicon: Lexicon) -> bool:
    """Whether the clause has somebody else for its subject, and does not speak to the assistant."""
    other = lexicon.rules(r.clause.language).parts.get("names_other")
    if r["second_person"]:
        return False
    named = other is not None and other.match(r.clause.norm) is not None
    return named or subject_of(r.clause, lexicon, me="user").kind in _OTHERS


def _is_anothers(r: Read) -> bool:
    """Whether a clause tells of somebody else, and says nothing to the assistant."""
    return (r["third_person"] or r["own_kin"] or r["remember"]) and not r["second_person"]


def _likeliest(
    utterance: Utterance, reads: Sequence[Read], vectors: Vectors | None
) -> tuple[NamingAct, float, int, int, range] | None:
    """What the message most likely says, how likely, where the words stand that say it, and in which clauses."""
    model, best = load_naming(), None
    for passage in passages(reads):
        here = [reads[i] for i in passage]
        if {r.veto for r in here} & _NOT_MEANT or here[0].clause.language not in LEARNED_LANGUAGES:
            continue
        asked = asked_in(model, utterance, here, vectors)
        if asked is None or (best is not None and asked[1] <= best[1]):
            continue
        act, probability, words = asked
        begin = here[0].clause.start
        start, end = (begin + n for n in model.meant(words, act))
        best = (act, probability, start, end, passage)
    return best
