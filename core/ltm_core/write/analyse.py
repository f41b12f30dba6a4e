"""One utterance in, what it asks of memory out: the rooms of the write path in order.

mask and split -> scopes and vetoes -> gate -> extraction -> candidates, with anchors and requests beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise

from ltm_core.types import Anchor, Evidence, Importance
from ltm_core.write.anchors.confirm import find_confirmation, only_replies
from ltm_core.write.anchors.identifiers import find_identifiers
from ltm_core.write.anchors.marked import marked
from ltm_core.write.anchors.references import find_references
from ltm_core.write.anchors.remember import Explicit, explicit_requests, instructed
from ltm_core.write.corrections.amend import amended, denied_then, excuses, same_again
from ltm_core.write.corrections.putting_right import clears, names_wrong, of_whom, put_corrections
from ltm_core.write.corrections.repairs import is_bare, put_right, repair_of, repaired, turned_out
from ltm_core.write.corrections.slips import put_in_place
from ltm_core.write.corrections.transfer import given_to, handed_over, transferred
from ltm_core.write.endings.ends import ending_of, endings
from ltm_core.write.endings.overtaken import proposed, tells_change, units
from ltm_core.write.endings.returns import returning
from ltm_core.write.endings.stages import stage_anchors, stages_told
from ltm_core.write.extract.attributes import announces_change, changed_attribute
from ltm_core.write.extract.build import Context, candidates
from ltm_core.write.extract.decide import judge
from ltm_core.write.extract.own_things import as_own, as_said, near_own
from ltm_core.write.extract.renew import next_employer, next_holder, successor_of
from ltm_core.write.extract.standing import called, named_assistant, points_back, stand_on
from ltm_core.write.extract.succession import announced, told_by_self
from ltm_core.write.known.news import load_news
from ltm_core.write.plan import Analysis, Candidate, Turn, Utterance
from ltm_core.write.read.acts import act_of
from ltm_core.write.read.answers import answered
from ltm_core.write.read.apposed import named_after
from ltm_core.write.read.clauses import plain_form, split
from ltm_core.write.read.found import Found, inside, is_asked, stated
from ltm_core.write.read.long_ago import carry_past
from ltm_core.write.read.neighbours import Neighbours, Vectors
from ltm_core.write.read.old_stories import of_old
from ltm_core.write.read.one_more import one_more
from ltm_core.write.read.passing import passing
from ltm_core.write.read.people import Subject, speaker_key
from ltm_core.write.read.presupposed import presuppose
from ltm_core.write.read.scopes import Read, read
from ltm_core.write.read.walk import Spoken, walk
from ltm_core.write.requests.forget_requests import find_requests
from ltm_core.write.words.apostrophes import spelled
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import script

_PROMOTED = ".promoted"
"""How the names of the patterns end that read a promotion."""
_REPAIRED_TURNS = 2
"""The user's last turns in which a short correction ("no, 799") looks for what it corrects."""


def analyse(
    utterance: Utterance,
    *,
    lexicon: Lexicon,
    fact_threshold: float,
    identifier_patterns: Sequence[str] = (),
    confirmations_from_tools: bool = False,
    clause_vectors: Vectors | None = None,
) -> Analysis:
    """What the utterance asks of memory. Only a user's own words propose facts; no text makes it raise."""

    def seen(said: Utterance) -> Analysis:
        return _analysed(said, lexicon, fact_threshold, identifier_patterns, confirmations_from_tools, clause_vectors)

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
) -> Analysis:
    content = utterance.content
    plain = plain_form(content)
    clauses = split(content, lexicon, plain=plain)
    reads = read(clauses, lexicon, before=utterance.before if utterance.role == "user" else ())
    reads = of_old(carry_past(reads, lexicon), lexicon)
    stand_on(reads, lexicon)
    language = script(content)
    if utterance.role != "user":
        return Analysis(act=act_of(reads, has_facts=False), language=language)
    found = Found()
    told_of = (*utterance.known_entities, *utterance.known_kinds)
    identifiers = find_identifiers(plain, lexicon, identifier_patterns, known=told_of, kinds=utterance.known_kinds)
    wishes = find_requests(utterance, reads, lexicon)
    asked = set(wishes.clauses)
    explicit = explicit_requests(utterance, reads, lexicon)
    held = {i for e in explicit if not e.points_back for i in e.clauses}
    asked |= {reads[i].clause.start for e in explicit if e.points_back for i in e.clauses}
    # What only announces orders to the model states nothing.
    asked |= {r.clause.start for r, then in pairwise(reads) if r["remember"] and then.veto == "injection"}
    confirmation = find_confirmation(
        utterance, reads, lexicon, from_tools=confirmations_from_tools, vectors=clause_vectors
    )
    references = find_references(utterance, reads, lexicon, asked=frozenset(asked))
    found.anchors += [r.anchor for r in references]
    _facts(utterance, reads, lexicon, found, asked=asked, held=held, threshold=fact_threshold, vectors=clause_vectors)
    # Who is promoted stays where he works: what the role was ends by itself.
    promoted = [c for c in found.candidates if c.rule.endswith(_PROMOTED)]
    found.news = [n for n in found.news if not any(inside(c, n.evidence[0]) for c in promoted)]
    if not explicit:
        found.anchors += instructed(utterance, reads, found.candidates, lexicon)
    for told in (e for r in references for e in r.clauses):
        _without_open(found, only=told)
    for over in (*only_replies(utterance, reads, lexicon), *passing(reads, lexicon)):
        if not over["correction"]:
            found.leave_out(over.evidence(utterance.message_id))
    if not references and confirmation is None:
        presuppose(utterance, reads, found, lexicon)
    if confirmation is not None or any(r.veto == "feedback" for r in reads):
        _without_open(found)
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
        news=_unique(found.news),
        requests=wishes.requests,
        skipped=tuple(found.skipped),
        importance=_importance(kept, found.anchors),
    )


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


def _facts(
    utterance: Utterance,
    reads: Sequence[Read],
    lexicon: Lexicon,
    found: Found,
    *,
    asked: set[int],
    held: set[int],
    threshold: float,
    vectors: Vectors | None,
) -> None:
    """The facts that the clauses state, each with its anchor."""
    me, speaker = speaker_key(utterance)

    @cache
    def heard(turn: Turn) -> Sequence[Candidate]:
        return _earlier(utterance, turn, lexicon, threshold, vectors)

    def told() -> list[Candidate]:
        return _told(utterance, found, heard)

    slipped = put_in_place(utterance, lexicon, heard=heard) if utterance.before or utterance.earlier else None
    if slipped is None and utterance.before:
        slipped = answered(reads, utterance, lexicon, heard=heard)
    if slipped is not None:
        found.candidates += slipped[0]
        found.anchors += slipped[1]
        return
    open_ = [i for i, r in enumerate(reads) if not r.veto or (i in held and r.veto in ("one_off", "smalltalk"))]
    sides = Neighbours(reads, open_, vectors)
    denied: tuple[Sequence[Candidate], str] = ((), "")
    previous: Read | None = None
    told_of = teller = Subject(key=me, rest=0)
    spokens = walk(utterance, reads, lexicon)  # which sets cues that the neighbours' gate reads
    found.news += _news(spokens, sides, utterance, lexicon, asked=asked)
    for i, spoken in enumerate(spokens):
        r, subject = spoken.read, told_by_self(spoken.read, spoken.subject, me, lexicon)
        span = f"{r.clause.start}-{r.clause.end}"
        if (r.veto and i not in open_) or r.clause.start in asked:
            if r.veto and (r["first_person"] or r["own_kin"]):
                found.skipped.append(f"{span}:{r.veto}")
            continue
        handed = transferred(r, denied[0], utterance, lexicon, said=denied[1]) if denied[0] else None
        if handed is not None:
            found.candidates.append(handed)
            continue
        others = handed_over(r, utterance, lexicon, heard=heard) if not r.veto else ()
        if others:
            found.candidates += others
            found.anchors.append(stated(r, others, utterance, start=subject.words))
            continue
        christened_after = named_after(r, found.candidates, utterance, lexicon)
        if christened_after is not None:
            found.candidates[-1] = christened_after
            found.anchors.append(stated(r, [christened_after], utterance, start=0))
            continue
        added = one_more(reads, i, told, utterance, lexicon)
        if added is not None:
            found.candidates.append(added)
            found.anchors.append(stated(r, [added], utterance, start=subject.words))
            continue
        theirs = given_to(r, told, utterance, lexicon, me=me)
        if theirs is not None:
            found.candidates.append(theirs)
            found.anchors.append(stated(r, [theirs], utterance, start=subject.words))
            continue
        instead = denied_then(r, denied[0], utterance, lexicon) if denied[0] else None
        if instead is not None:
            found.candidates.append(instead)
            found.anchors.append(stated(r, [instead], utterance, start=subject.words))
            continue
        fine = lexicon.rules(r.clause.language).parts.get("is_fine")
        if (
            fine is not None
            and fine.search(r.clause.norm)
            and (names_wrong(r, found.candidates) or clears(r, found, lexicon))
        ):
            continue
        prior, previous = previous, r
        told_of, teller = teller, subject
        renamed = changed_attribute(prior, r, me, lexicon) if prior is not None else None
        if renamed is None and prior is not None and prior.clause.sentence == r.clause.sentence:
            renamed = announced(prior, r, told_of, lexicon) or next_holder(prior, r, me, lexicon)
        if renamed is not None and not r.veto:
            named = Context(
                utterance=utterance, lexicon=lexicon, speaker=speaker, probability=0.9, prefix=renamed.attr
            )
            new = candidates(r, subject, (renamed,), named)
            found.candidates += new
            found.anchors.append(stated(r, new, utterance, start=subject.words))
            continue
        if announces_change(r, lexicon) or (prior is not None and prior["amends"] and excuses(r, lexicon)):
            continue
        corrected = (
            amended(
                r,
                utterance,
                lexicon,
                said=found.candidates,
                heard=heard,
                prior=reads[i - 1] if i else None,
                own=subject.key == me,
            )
            if r.clause.language != "zh"
            else None
        )
        if corrected is not None:
            r.flags["amends"] = True
            found.candidates.append(corrected)
            found.anchors.append(stated(r, [corrected], utterance, start=subject.words))
            continue
        repair = repair_of(r, lexicon) if not r.veto and r.clause.language == "zh" else None
        if repair is not None:
            fixed = repaired(repair, r, told(), utterance, lexicon)
            if fixed is not None:
                found.candidates.append(fixed)
                found.anchors.append(stated(r, [fixed], utterance, start=subject.words))
                continue
            if subject.kind == "dropped" and is_bare(repair, lexicon):
                found.skipped.append(f"{span}:repair")
                continue
        if not r.veto:
            after = reads[i + 1] if i + 1 < len(reads) else None
            found.endings += endings(r, subject, utterance, lexicon, speaker=speaker, before=prior, after=after)
            found.endings += returning(r, subject, utterance, lexicon, speaker=speaker)
            left = successor_of(prior, r, lexicon)
            if left and prior is not None:
                found.endings.append(ending_of(left, prior, utterance, speaker=speaker))
                _without_open(found, only=prior.evidence(utterance.message_id))
        if r["of_other"]:
            continue  # it may end what he was to the speaker; what he does now is his own affair
        joined = prior is not None and prior.clause.sentence == r.clause.sentence
        place = lexicon.rules(r.clause.language).parts.get("own_place")
        r.flags["of_own_place"] = (
            joined
            and prior is not None
            and place is not None
            and (prior["of_own_place"] or place.match(prior.clause.norm) is not None)
        )
        over = lexicon.rules(r.clause.language).flags["hard_cessation"]
        r.flags["after_end"] = joined and prior is not None and over.search(prior.clause.norm) is not None
        r.flags["continues"] = joined and prior is not None and not (prior["command"] or prior["standing"])
        changes = tells_change(r, found.news, lexicon)
        owned = as_own(r, subject, utterance.things, lexicon)
        near = sides.of(i) if owned is None else near_own(owned, sides.of(i), vectors)
        made, probability = judge(
            owned or r, subject, lexicon, near, explicit=i in held, changes=changes, threshold=threshold
        )
        made = as_said(made, r) if owned is not None else made
        employer = next_employer(prior, r, subject, lexicon) if not made and not r.veto else None
        if employer is not None:
            made, probability = (employer,), 0.9
        christened = named_assistant(reads[i - 1] if i else None, r, lexicon)
        if christened is not None:
            made, probability = (christened,), 1.0
            if prior is not None:  # "let me give you a name" says no more than the name does
                _without_open(found, only=prior.evidence(utterance.message_id))
        if not made:
            if r["first_person"] or r["own_kin"]:
                found.skipped.append(f"{span}:{'third_party' if not subject.key else 'gate'}")
            continue
        made = of_whom(made, r, subject, me, told, lexicon)
        if r.clause.language == "zh" and (r["correction"] or turned_out(r, lexicon)):
            made = put_right(made, told, lexicon)
        elif r.clause.language == "en" and r["correction"] and not r["additive"]:
            made = same_again(made, told)
        told_before = ""
        if made[0].subject == "assistant":
            told_before = points_back(r, reads[i - 1] if i else None, lexicon)
        if told_before:
            made = tuple(replace(d, object=f"{told_before}，{d.object}") for d in made)
        context = Context(
            utterance=utterance,
            lexicon=lexicon,
            speaker=speaker,
            prefix=f"{told_before}，" if told_before else spoken.prefix,
            probability=probability,
            explicit=i in held,
        )
        new = candidates(r, subject, made, context)
        new = (*new, *(c for n in new for c in called(n, r, me)))
        found.candidates += new
        denied = ([c for c in new if not c.is_positive], r.clause.text[subject.rest :])
        if i not in held and any(c.modality != "temporary" for c in new):
            anchor = stated(r, new, utterance, start=subject.words)
            found.anchors.append(replace(anchor, text=f"{told_before}，{anchor.text}") if told_before else anchor)
    put_corrections(utterance, reads, lexicon, found, asked=asked, heard=heard, me=me, speaker=speaker)


def _news(
    spokens: Sequence[Spoken], sides: Neighbours, utterance: Utterance, lexicon: Lexicon, *, asked: set[int]
) -> Iterator[Candidate]:
    """The sentences that are likely to tell of something changed or over."""
    me, speaker = speaker_key(utterance)
    place_of = {id(s): i for i, s in enumerate(spokens)}
    told = [u for u in units(spokens, utterance.content, utterance.message_id) if not is_asked(u.evidence, asked)]
    yield from stages_told(told, utterance, lexicon, me=me, speaker=speaker)
    yield from proposed(
        told,
        lambda s: sides.of(place_of[id(s)]).vector,
        load_news(),
        utterance,
        lexicon,
        me=me,
        speaker=speaker,
    )


def _told(utterance: Utterance, found: Found, heard: Callable[[Turn], Sequence[Candidate]]) -> list[Candidate]:
    """What the user stated in his last turns and in this message so far, oldest first."""
    told: list[Candidate] = []
    turns = [t for t in utterance.before if t.role == "user"] or [t for t in utterance.earlier if t.role == "user"]
    for turn in turns[-_REPAIRED_TURNS:]:
        told += heard(turn)
    return told + found.candidates


def _earlier(
    utterance: Utterance, turn: Turn, lexicon: Lexicon, threshold: float, vectors: Vectors | None
) -> tuple[Candidate, ...]:
    """What the user stated in an earlier turn, read by itself."""
    said = replace(utterance, message_id=turn.id, content=turn.content, before=(), earlier=())
    return analyse(said, lexicon=lexicon, fact_threshold=threshold, clause_vectors=vectors).candidates


def _without_open(found: Found, *, only: Evidence | None = None) -> None:
    """Only statements that a pattern knows are facts, in a message that reports how a proposal went, or in the one
    clause that tells why something was replaced."""
    gone = {e for c in found.candidates if c.rule == "open" for e in c.evidence if only is None or e == only}
    found.candidates = [c for c in found.candidates if c.rule != "open" or not gone.intersection(c.evidence)]
    found.anchors = [a for a in found.anchors if a.kind != "stated_fact" or a.evidence not in gone]


def _unique(found: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Each statement once: a message that repeats itself proposes it once."""
    seen: dict[tuple[object, ...], Candidate] = {}
    for c in found:
        seen.setdefault((c.subject, c.speaker, c.relation, c.object_normalized, c.is_positive, c.modality), c)
    return tuple(seen.values())


def _importance(kept: Sequence[Candidate], anchors: Sequence[Anchor]) -> Importance:
    if any(c.importance == "high" for c in kept) or any(a.importance == "high" for a in anchors):
        return "high"
    return "medium" if kept or anchors else "low"
