"""One utterance in, what it asks of memory out: the rooms of the write path in order.

mask and split -> scopes and vetoes -> gate -> extraction -> candidates, with anchors and requests beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise

from ltm_core.types import Anchor, Evidence, Importance
from ltm_core.write.anchors.asked import asked_of_memory
from ltm_core.write.anchors.came_back import came_of_it
from ltm_core.write.anchors.confirm import find_confirmation, only_replies
from ltm_core.write.anchors.identifiers import find_identifiers
from ltm_core.write.anchors.marked import marked
from ltm_core.write.anchors.naming import learned_naming
from ltm_core.write.anchors.references import find_references, learned_reference
from ltm_core.write.anchors.remember import Explicit, explicit_requests, instructed, learned_request
from ltm_core.write.endings.stages import stage_anchors
from ltm_core.write.endings.weighed import RULE as WEIGHED
from ltm_core.write.extract.standing import stand_on
from ltm_core.write.learned.layers import Cut
from ltm_core.write.plan import Analysis, Candidate, Turn, Utterance
from ltm_core.write.read.acts import act_of
from ltm_core.write.read.clauses import plain_form, split
from ltm_core.write.read.earlier import of_earlier
from ltm_core.write.read.found import Found, inside
from ltm_core.write.read.long_ago import carry_past
from ltm_core.write.read.neighbours import Vectors
from ltm_core.write.read.old_stories import of_old
from ltm_core.write.read.passing import passing
from ltm_core.write.read.presupposed import presuppose
from ltm_core.write.read.scopes import Read, read
from ltm_core.write.requests.forget_requests import find_requests, learned_wish
from ltm_core.write.statements import read_statements, without_open
from ltm_core.write.words.apostrophes import spelled
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import script

_PROMOTED = ".promoted"
"""How the names of the patterns end that read a promotion."""


def analyse(
    utterance: Utterance,
    *,
    lexicon: Lexicon,
    fact_threshold: float,
    identifier_patterns: Sequence[str] = (),
    confirmations_from_tools: bool = False,
    clause_vectors: Vectors | None = None,
    pieces: Cut | None = None,
) -> Analysis:
    """What the utterance asks of memory. Only a user's own words propose facts; no text makes it raise.

    ``clause_vectors`` and ``pieces``: what the learned models read beside the words.
    """

    def seen(said: Utterance) -> Analysis:
        return _analysed(
            said, lexicon, fact_threshold, identifier_patterns, confirmations_from_tools, clause_vectors, pieces
        )

    as_meant = spelled(utterance.content, lexicon.contractions) if utterance.role == "user" else None
    if as_meant is None:
        return seen(utterance)
    return as_meant.back(seen(replace(utterance, content=as_meant.text)), utterance.message_id)


def _analysed(
    utterance: Utterance,
    lexicon: Lexicon,
    fact_threshold: float,
    identifier_patterns: Sequence[str],
    confirmations_from_tools: bool,
    clause_vectors: Vectors | None,
    pieces: Cut | None,
) -> Analysis:
    content = utterance.content
    plain = plain_form(content)
    clauses = split(content, lexicon, plain=plain)
    reads = read(clauses, lexicon, before=utterance.before if utterance.role == "user" else ())
    reads = of_earlier(of_old(carry_past(reads, lexicon), lexicon), lexicon)
    stand_on(reads, lexicon)
    language = script(content)
    if utterance.role != "user":
        return Analysis(act=act_of(reads, has_facts=False), language=language)
    found = Found()
    told_of = (*utterance.known_entities, *utterance.known_kinds)
    identifiers = find_identifiers(plain, lexicon, identifier_patterns, known=told_of, kinds=utterance.known_kinds)
    wishes = find_requests(utterance, reads, lexicon)
    explicit = explicit_requests(utterance, reads, lexicon)
    references = find_references(utterance, reads, lexicon, asked=_asked(wishes.clauses, explicit, reads))
    if not (wishes.requests or explicit or references):
        meant = asked_of_memory(utterance, reads, lexicon, clause_vectors)
        if meant is not None and meant.act in ("erase", "suppress"):
            wishes = learned_wish(utterance, reads, meant, lexicon)
        elif meant is not None and meant.act == "remember":
            explicit = (learned_request(utterance, reads, meant),)
        elif meant is not None:
            references = tuple(r for r in [learned_reference(utterance, reads, meant, lexicon)] if r is not None)
    held = {i for e in explicit if not e.points_back for i in e.clauses}
    asked = set(_asked(wishes.clauses, explicit, reads))
    # What only announces orders to the model states nothing.
    asked |= {r.clause.start for r, then in pairwise(reads) if r["remember"] and then.veto == "injection"}
    confirmation = find_confirmation(
        utterance, reads, lexicon, from_tools=confirmations_from_tools, vectors=clause_vectors
    )
    found.anchors += [r.anchor for r in references]

    @cache
    def heard(turn: Turn) -> Sequence[Candidate]:
        """What the user stated in an earlier turn, read by itself."""
        said = replace(utterance, message_id=turn.id, content=turn.content, before=(), earlier=())
        told = analyse(said, lexicon=lexicon, fact_threshold=fact_threshold, clause_vectors=clause_vectors)
        return told.candidates

    read_statements(
        utterance, reads, lexicon, found, heard=heard, asked=asked, held=held, threshold=fact_threshold,
        vectors=clause_vectors, cut=pieces,
    )  # fmt: skip
    if not (wishes.requests or explicit or references or confirmation):
        learned_naming(utterance, reads, found, lexicon, clause_vectors)
    # Who is promoted stays where he works: what the role was ends by itself.
    promoted = [c for c in found.candidates if c.rule.endswith(_PROMOTED)]
    found.news = [n for n in found.news if not any(inside(c, n.evidence[0]) for c in promoted)]
    if not explicit:
        found.anchors += instructed(utterance, reads, found.candidates, lexicon)
    for told in (e for r in references for e in r.clauses):
        without_open(found, only=told)
    for over in (*only_replies(utterance, reads, lexicon), *passing(reads, lexicon)):
        if not over["correction"]:
            found.leave_out(over.evidence(utterance.message_id))
    pointed = [
        e for r in references if r.clauses for e in (r.anchor.evidence, *r.clauses)
    ]  # not by the learned model
    if pointed:
        came_of_it(utterance, reads, pointed, found)
    if not references and confirmation is None:
        presuppose(utterance, reads, found, lexicon)
    if confirmation is not None or any(r.veto == "feedback" for r in reads):
        without_open(found)
    for request in explicit:
        found.anchors.append(request.anchor)
        if not _is_read(request, reads, found.candidates, utterance):
            found.candidates.append(request.note)
    marked(utterance, reads, identifiers, found, lexicon, asked=asked)
    if isinstance(confirmation, str):
        found.skipped.append(f"0-0:{confirmation}")
    elif confirmation is not None:
        found.anchors.append(confirmation.anchor)
        found.news = [c for c in found.news if not inside(c, confirmation.anchor.evidence)]
        found.candidates.append(confirmation.candidate)
    found.anchors += stage_anchors(found.news, found.anchors)
    kept = _unique(found.candidates)
    candidates_ = (*kept, *_unique(found.endings))
    return Analysis(
        act=act_of(reads, has_facts=bool(kept)),
        language=language,
        anchors=tuple(found.anchors),
        candidates=candidates_,
        news=(
            *_unique(n for n in found.news if n.rule != WEIGHED),
            *_unique(n for n in found.news if n.rule == WEIGHED),
        ),
        requests=wishes.requests,
        skipped=tuple(found.skipped),
        importance=_importance(kept, found.anchors),
    )


def _asked(wishes: frozenset[int], explicit: Sequence[Explicit], reads: Sequence[Read]) -> frozenset[int]:
    """Where the clauses begin that only ask something of the memory."""
    return wishes | {reads[i].clause.start for e in explicit if e.points_back for i in e.clauses}


def _is_read(request: Explicit, reads: Sequence[Read], made: Sequence[Candidate], utterance: Utterance) -> bool:
    """Whether every clause that is to be remembered was read as a fact."""
    said = request.anchor.evidence
    if request.points_back:  # "她吃芒果嘴也肿，这个也记上": what the clause before says, of whomever it says it
        meant = [r for r in reads if said.start <= r.clause.start < said.end] if _here(said, utterance) else []
    else:
        meant = [reads[i] for i in request.clauses if reads[i].clause.end > said.start]
    told = [r.evidence(utterance.message_id) for r in meant]
    return bool(told) and all(any(inside(c, e) for c in made) for e in told)


def _here(evidence: Evidence, utterance: Utterance) -> bool:
    return evidence.message_id == utterance.message_id


def _unique(found: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Each statement once: a message that repeats itself proposes it once."""
    seen: dict[tuple[object, ...], Candidate] = {}
    for c in found:
        seen.setdefault((c.subject, c.speaker, c.relation, c.object_normalized, c.is_positive, c.modality), c)
    return tuple(seen.values())


def _importance(kept: Sequence[Candidate], anchors: Sequence[Anchor]) -> Importance:
    if any(c.importance == "high" for c in kept) or any(a.importance == "high" for a in anchors):
        return "high"
    return "medium" if kept or anchors else "low"
