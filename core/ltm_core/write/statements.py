"""The facts that the clauses of an utterance state, read one clause after another, each with its anchor.

A clause is first read by what the clauses and turns before it said; then it may end something; then it is judged by
the gate and the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ltm_core.types import Evidence
from ltm_core.write.corrections.amend import amended, denied_then, excuses, same_again
from ltm_core.write.corrections.putting_right import clears, names_wrong, of_whom, put_corrections
from ltm_core.write.corrections.repairs import is_bare, put_right, repair_of, repaired, turned_out
from ltm_core.write.corrections.slips import put_in_place
from ltm_core.write.corrections.slips_en import put_in_place_en
from ltm_core.write.corrections.transfer import given_to, handed_over, transferred
from ltm_core.write.endings.comebacks import comebacks
from ltm_core.write.endings.ends import ending_of, endings
from ltm_core.write.endings.likely_news import proposed, tells_change
from ltm_core.write.endings.returns import returning
from ltm_core.write.endings.stages import stages_told
from ltm_core.write.endings.weighed import sentences
from ltm_core.write.extract.attributes import announces_change, changed_attribute
from ltm_core.write.extract.build import Context, candidates
from ltm_core.write.extract.decide import judge
from ltm_core.write.extract.draft import Draft
from ltm_core.write.extract.own_things import as_own, as_said, near_own
from ltm_core.write.extract.renew import next_employer, next_holder, successor_of
from ltm_core.write.extract.standing import called, named_assistant, points_back
from ltm_core.write.extract.succession import announced, told_by_self
from ltm_core.write.extract.wanted_name import wanted_name
from ltm_core.write.extract.what_is_left import only_says_how_much, what_is_left
from ltm_core.write.known.news import load_news
from ltm_core.write.learned.layers import Cut
from ltm_core.write.plan import Candidate, Turn, Utterance
from ltm_core.write.read.answers import answered
from ltm_core.write.read.apposed import named_after
from ltm_core.write.read.found import Found, is_asked, stated
from ltm_core.write.read.neighbours import Neighbours, Vectors
from ltm_core.write.read.one_more import one_more
from ltm_core.write.read.overheard import Overheard
from ltm_core.write.read.people import Subject, speaker_key
from ltm_core.write.read.scopes import Read
from ltm_core.write.read.units import Unit, units
from ltm_core.write.read.walk import Spoken, walk
from ltm_core.write.words.lexicon import Lexicon

_REPAIRED_TURNS = 2
"""The user's last turns in which a short correction ("no, 799") looks for what it corrects."""
_RENAMED = 0.9
"""How sure a value is that takes the place of another in so many words."""

Heard = Callable[[Turn], Sequence[Candidate]]
"""What the user stated in an earlier turn, read by itself."""


def read_statements(
    utterance: Utterance,
    reads: Sequence[Read],
    lexicon: Lexicon,
    found: Found,
    *,
    heard: Heard,
    asked: set[int],
    held: set[int],
    threshold: float,
    vectors: Vectors | None,
    cut: Cut | None = None,
) -> None:
    """The facts that the clauses state, each with its anchor, and the news they tell, added to what was found.

    ``asked``: starts of clauses that ask to forget or point back, which state nothing. ``held``: places of those that
    the user asks to remember. ``cut``: what cuts a text into pieces; without it only rules tell whose life it is.
    """
    slipped = put_in_place(utterance, lexicon, heard=heard) if utterance.before or utterance.earlier else None
    if slipped is None and utterance.before:
        slipped = answered(reads, utterance, lexicon, heard=heard)
    if slipped is not None:
        found.candidates += slipped[0]
        found.anchors += slipped[1]
        return
    me, speaker = speaker_key(utterance)
    open_ = [i for i, r in enumerate(reads) if not r.veto or (i in held and r.veto in ("one_off", "smalltalk"))]
    opened = set(open_)
    spokens = walk(utterance, reads, lexicon)  # which sets cues that the neighbours' gate reads
    reader = _Reader(
        utterance=utterance, reads=reads, lexicon=lexicon, found=found, heard=heard, held=held, threshold=threshold,
        vectors=vectors, me=me, speaker=speaker,
        sides=Neighbours(reads, open_, vectors), teller=Subject(key=me, rest=0),
        overheard=Overheard(utterance, reads, lexicon, cut) if cut is not None else None,
    )  # fmt: skip
    told = [u for u in units(spokens, utterance.content, utterance.message_id) if not is_asked(u.evidence, asked)]
    reader.news(told, spokens)
    for i, spoken in enumerate(spokens):
        r = spoken.read
        if (r.veto and i not in opened) or r.clause.start in asked:
            if r.veto:
                reader.skip(r, r.veto)
            continue
        reader.read(i, spoken, told_by_self(r, spoken.subject, me, lexicon))
    found.endings += comebacks(told, utterance, lexicon, me=me, speaker=speaker)
    if reader.overheard is not None:
        for i in found.clauses_read(reads, utterance.message_id):
            is_open = i in opened and i not in held and reads[i].clause.start not in asked
            if is_open and reader.overheard.is_quoted(reads[i]):
                found.leave_out(reads[i].evidence(utterance.message_id))
    put_corrections(utterance, reads, lexicon, found, asked=asked, heard=heard, me=me, speaker=speaker)
    known = (c for c in (*found.candidates, *found.news) if c.relation not in lexicon.sets["own_words"])
    if not asked and not any(c.move == "correct" for c in known):
        _put_slip_right(utterance, reads, lexicon, found, heard)


def _put_slip_right(
    utterance: Utterance, reads: Sequence[Read], lexicon: Lexicon, found: Found, heard: Heard
) -> None:
    """What an English message only puts right, in the place of what its first clause says by itself."""
    if not reads or reads[0].clause.language != "en" or not (utterance.before or utterance.earlier):
        return
    slip = put_in_place_en(utterance, lexicon, heard=heard)
    if slip is None:
        return
    for r in reads:
        if r.clause.start < slip[0][0].evidence[0].end:
            found.leave_out(r.evidence(utterance.message_id))
    found.candidates += slip[0]
    found.anchors += slip[1]


@dataclass(slots=True, kw_only=True)
class _Reader:
    """What is known while the clauses of an utterance are read in their order."""

    utterance: Utterance
    reads: Sequence[Read]
    lexicon: Lexicon
    found: Found
    heard: Heard
    held: set[int]
    threshold: float
    vectors: Vectors | None
    me: str
    speaker: str | None
    sides: Neighbours
    teller: Subject
    """Whom the clause before spoke of."""
    overheard: Overheard | None
    """None when only rules tell whose life it is."""
    previous: Read | None = None
    denied: tuple[Sequence[Candidate], str] = ((), "")
    """What the clause read last denied, and in which words."""

    def news(self, told: Sequence[Unit], spokens: Sequence[Spoken]) -> None:
        """The sentences that are likely to tell of something changed or over."""
        place_of = {id(s): i for i, s in enumerate(spokens)}
        self.found.news += stages_told(told, self.utterance, self.lexicon, me=self.me, speaker=self.speaker)
        for likely in (proposed, sentences):
            self.found.news += likely(
                told,
                lambda s: self.sides.of(place_of[id(s)]).vector,
                load_news(),
                self.utterance,
                self.lexicon,
                me=self.me,
                speaker=self.speaker,
            )

    def skip(self, r: Read, why: str) -> None:
        """A clause of the user's or of his people is not kept, with the reason."""
        if r["first_person"] or r["own_kin"]:
            self.found.skipped.append(f"{r.clause.start}-{r.clause.end}:{why}")

    def read(self, i: int, spoken: Spoken, subject: Subject) -> None:
        """One clause: what it states is added to what was found."""
        r = spoken.read
        if self._by_what_was_said(i, r, subject) or self._only_clears(r):
            return
        prior, self.previous = self.previous, r
        told_of, self.teller = self.teller, subject
        if self._renamed(r, subject, prior, told_of):
            return
        if announces_change(r, self.lexicon) or (prior is not None and prior["amends"] and excuses(r, self.lexicon)):
            return
        if self._amended(i, r, subject) or self._repaired(r, subject):
            return
        if not r.veto:
            self._ended(i, r, subject, prior)
        if r["of_other"]:
            return  # it may end what he was to the speaker; what he does now is his own affair
        self._follow(r, prior)
        self._judged(i, spoken, subject, prior)

    # what was said before -----------------------------------------------------------------------------
    def _by_what_was_said(self, i: int, r: Read, subject: Subject) -> bool:
        """A clause that only makes sense with what was said before it."""
        u, lexicon, said = self.utterance, self.lexicon, self.found.candidates
        denied, words = self.denied
        handed = transferred(r, denied, u, lexicon, said=words) if denied else None
        if handed is not None:
            said.append(handed)
            return True
        others = handed_over(r, u, lexicon, heard=self.heard) if not r.veto else ()
        if others:
            return self._state(r, others, subject.words)
        christened_after = named_after(r, said, u, lexicon)
        if christened_after is not None:
            said.pop()
            return self._state(r, [christened_after], 0)
        one = one_more(self.reads, i, self._told, u, lexicon)
        one = one or given_to(r, self._told, u, lexicon, me=self.me)
        one = one or (denied_then(r, denied, u, lexicon) if denied else None)
        return one is not None and self._state(r, [one], subject.words)

    def _only_clears(self, r: Read) -> bool:
        """ "The password is fine": what was named as wrong, and is not."""
        fine = self.lexicon.rules(r.clause.language).parts.get("is_fine")
        if fine is None or not fine.search(r.clause.norm):
            return False
        return names_wrong(r, self.found.candidates) or clears(r, self.found, self.lexicon)

    def _renamed(self, r: Read, subject: Subject, prior: Read | None, told_of: Subject) -> bool:
        """The new value of what the clause before announced as changed."""
        if prior is None:
            return False
        renamed = changed_attribute(prior, r, self.me, self.lexicon)
        if renamed is None and prior.clause.sentence == r.clause.sentence:
            renamed = announced(prior, r, told_of, self.lexicon) or next_holder(prior, r, self.me, self.lexicon)
        if renamed is None or r.veto:
            return False
        return self._state(
            r, candidates(r, subject, (renamed,), self._context(_RENAMED, renamed.attr)), subject.words
        )

    def _amended(self, i: int, r: Read, subject: Subject) -> bool:
        """The right value of what was told wrongly; Chinese says it in a clause of its own (`_repaired`)."""
        if r.clause.language == "zh":
            return False
        corrected = amended(
            r,
            self.utterance,
            self.lexicon,
            said=self.found.candidates,
            heard=self.heard,
            prior=self.reads[i - 1] if i else None,
            own=subject.key == self.me,
        )
        if corrected is None:
            return False
        r.flags["amends"] = True
        return self._state(r, [corrected], subject.words)

    def _repaired(self, r: Read, subject: Subject) -> bool:
        repair = repair_of(r, self.lexicon) if not r.veto and r.clause.language == "zh" else None
        if repair is None:
            return False
        fixed = repaired(repair, r, self._told(), self.utterance, self.lexicon)
        if fixed is not None:
            return self._state(r, [fixed], subject.words)
        if subject.kind == "dropped" and is_bare(repair, self.lexicon):
            self.found.skipped.append(f"{r.clause.start}-{r.clause.end}:repair")
            return True
        return False

    # what is over, and what holds ---------------------------------------------------------------------
    def _ended(self, i: int, r: Read, subject: Subject, prior: Read | None) -> None:
        """What the clause makes over, by its name or by its class."""
        u, found = self.utterance, self.found
        after = self.reads[i + 1] if i + 1 < len(self.reads) else None
        found.endings += endings(r, subject, u, self.lexicon, speaker=self.speaker, before=prior, after=after)
        found.endings += returning(r, subject, u, self.lexicon, speaker=self.speaker, before=prior, after=after)
        left = successor_of(prior, r, self.lexicon)
        if left and prior is not None:
            found.endings.append(ending_of(left, prior, u, speaker=self.speaker))
            without_open(found, only=prior.evidence(u.message_id))

    def _follow(self, r: Read, prior: Read | None) -> None:
        """Cues that a clause has from the one before it in its sentence."""
        rules = self.lexicon.rules(r.clause.language)
        joined = prior is not None and prior.clause.sentence == r.clause.sentence
        before = prior if joined else None
        place = rules.parts.get("own_place")
        r.flags["of_own_place"] = (
            before is not None
            and place is not None
            and (before["of_own_place"] or place.match(before.clause.norm) is not None)
        )
        over = rules.flags["hard_cessation"]
        r.flags["after_end"] = before is not None and over.search(before.clause.norm) is not None
        r.flags["continues"] = before is not None and not (before["command"] or before["standing"])

    def _judged(self, i: int, spoken: Spoken, subject: Subject, prior: Read | None) -> None:
        """What the gate and the rules make of the clause."""
        r, lexicon = spoken.read, self.lexicon
        before = self.reads[i - 1] if i else None
        made, probability = self._drafted(i, r, subject)
        employer = next_employer(prior, r, subject, lexicon) if not made and not r.veto else None
        if employer is not None:
            made, probability = (employer,), _RENAMED
        if only_says_how_much(r, made, lexicon):
            made = ()
        left = what_is_left(r, subject, self.found.endings, lexicon) if not made else None
        if left is not None:
            made, probability = (left,), _RENAMED
        christened = named_assistant(before, r, lexicon)
        wanted = wanted_name(self.reads, i, lexicon)
        if wanted is not None:
            made, probability = (wanted,), 1.0
        if christened is not None:
            made, probability = (christened,), 1.0
            if prior is not None:  # "let me give you a name" says no more than the name does
                without_open(self.found, only=prior.evidence(self.utterance.message_id))
        overheard = self.overheard
        if made and overheard is not None and i not in self.held and overheard.is_others(r, subject):
            made = ()
        if not made:
            self.skip(r, "gate" if subject.key else "third_party")
            return
        made = of_whom(made, r, subject, self.me, self._told, lexicon)
        if r.clause.language == "zh" and (r["correction"] or turned_out(r, lexicon)):
            made = put_right(made, self._told, lexicon)
        elif r.clause.language == "en" and r["correction"] and not r["additive"]:
            made = same_again(made, self._told)
        told_before = points_back(r, before, lexicon) if made[0].subject == "assistant" else ""
        if told_before:
            made = tuple(replace(d, object=f"{told_before}，{d.object}") for d in made)
        prefix = f"{told_before}，" if told_before else spoken.prefix
        new = candidates(r, subject, made, self._context(probability, prefix, explicit=i in self.held))
        new = (*new, *(c for n in new for c in called(n, r, self.me)))
        self.found.candidates += new
        self.denied = ([c for c in new if not c.is_positive], r.clause.text[subject.rest :])
        if i not in self.held and any(c.modality != "temporary" for c in new):
            anchor = stated(r, new, self.utterance, start=subject.words)
            self.found.anchors.append(
                replace(anchor, text=f"{told_before}，{anchor.text}") if told_before else anchor
            )

    def _drafted(self, i: int, r: Read, subject: Subject) -> tuple[tuple[Draft, ...], float]:
        """The drafts of the clause that are kept, and how likely it states something lasting."""
        owned = as_own(r, subject, self.utterance.things, self.lexicon)
        near = self.sides.of(i) if owned is None else near_own(owned, self.sides.of(i), self.vectors)
        changes = tells_change(r, self.found.news, self.lexicon)
        made, probability = judge(
            owned or r,
            subject,
            self.lexicon,
            near,
            explicit=i in self.held,
            changes=changes,
            threshold=self.threshold,
        )
        return (as_said(made, r) if owned is not None else made), probability

    # what all of them need ----------------------------------------------------------------------------
    def _context(self, probability: float, prefix: str, *, explicit: bool = False) -> Context:
        return Context(
            utterance=self.utterance, lexicon=self.lexicon, speaker=self.speaker, probability=probability,
            prefix=prefix, explicit=explicit,
        )  # fmt: skip

    def _state(self, r: Read, new: Sequence[Candidate], start: int) -> bool:
        """The candidates are found, with the anchor of the clause that states them."""
        self.found.candidates += new
        self.found.anchors.append(stated(r, new, self.utterance, start=start))
        return True

    def _told(self) -> list[Candidate]:
        """What the user stated in his last turns and in this message so far, oldest first."""
        u = self.utterance
        told: list[Candidate] = []
        turns = [t for t in u.before if t.role == "user"] or [t for t in u.earlier if t.role == "user"]
        for turn in turns[-_REPAIRED_TURNS:]:
            told += self.heard(turn)
        return told + self.found.candidates


def without_open(found: Found, *, only: Evidence | None = None) -> None:
    """Only statements that a pattern knows are facts, in a message that reports how a proposal went, or in the one
    clause that tells why something was replaced."""
    gone = {e for c in found.candidates if c.rule == "open" for e in c.evidence if only is None or e == only}
    found.candidates = [c for c in found.candidates if c.rule != "open" or not gone.intersection(c.evidence)]
    found.anchors = [a for a in found.anchors if a.kind != "stated_fact" or a.evidence not in gone]
