"""Candidates meet what is known, and nothing else is touched."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from ltm_core.lexicon import default_lexicon
from ltm_core.types import Evidence, Fact
from ltm_core.write.analyse import analyse
from ltm_core.write.known.reach import reach_of
from ltm_core.write.plan import Candidate, Decision, Utterance
from ltm_core.write.resolve.edits import retract_for_edit
from ltm_core.write.resolve.resolve import resolve

LEXICON = default_lexicon()
START = datetime(2026, 6, 1, tzinfo=UTC)


class Mind:
    """What is known after each thing said, a day apart."""

    def __init__(self) -> None:
        self.facts: dict[str, Fact] = {}
        self.now = START
        self.ids = (f"f{i}" for i in itertools.count())
        self.last: tuple[Decision, ...] = ()

    def hear(self, words: str, *, at: datetime | None = None) -> Mind:
        self.now += timedelta(days=1)
        utterance = Utterance(message_id=f"m{self.now:%d%H%M}", role="user", content=words, at=at or self.now)
        self.take(analyse(utterance, lexicon=LEXICON, fact_threshold=0.6).candidates)
        return self

    def take(self, candidates: Sequence[Candidate]) -> None:
        self.now = max([self.now, *(c.valid_from for c in candidates)])
        self.last = resolve(
            candidates, list(self.facts.values()), user_id="ana", now=self.now, new_id=lambda: next(self.ids),
            lexicon=LEXICON,
        )  # fmt: skip
        for d in self.last:
            if d.op != "skip":
                self.facts[d.fact.id] = d.fact
            if d.previous is not None and d.previous.id != d.fact.id:
                self.facts[d.previous.id] = d.previous

    def current(self, *, positive: bool = True) -> list[str]:
        return [f.object for f in self.facts.values() if f.is_current and f.is_positive == positive]

    def past(self) -> list[str]:
        return [f.object for f in self.facts.values() if not f.is_current]


def said(object: str, *, days: int = 0, relation: str = "lives_in", **more: object) -> Candidate:
    made = Candidate(
        subject="user", relation=relation, object=object, object_normalized=object.lower(), text=f"… {object}",
        single_valued=LEXICON.is_single_valued(relation), valid_from=START + timedelta(days=days),
    )  # fmt: skip
    return replace(made, **more)  # type: ignore[arg-type]


def test_move_supersedes_and_names_what_it_replaced() -> None:
    mind = Mind().hear("I live in Leeds.").hear("I moved to Porto last month.")
    assert (mind.current(), mind.past()) == (["Porto"], ["Leeds"])
    leeds, porto = sorted(mind.facts.values(), key=lambda f: f.object)
    assert leeds.superseded_by == porto.id and leeds.valid_to is not None


def test_there_and_back_makes_three_versions() -> None:
    mind = Mind().hear("我住在福州").hear("我搬到厦门了").hear("我又搬回福州了")
    assert (mind.current(), sorted(mind.past())) == (["福州"], ["厦门", "福州"])


def test_said_twice_is_reinforced() -> None:
    mind = Mind().hear("I am vegetarian.").hear("I am vegetarian.")
    (fact,) = mind.facts.values()
    assert (fact.support_count, mind.last[0].op) == (2, "reinforce")
    assert fact.recorded_at == START + timedelta(days=1) and fact.last_seen_at == START + timedelta(days=2)


def test_broad_reversal_ends_the_narrower_and_nothing_else() -> None:
    mind = (
        Mind()
        .hear("我爱吃苹果和草莓。我对坚果过敏。我每周三晚上去游泳。")
        .hear("我不爱吃水果了，以前说的水果偏好作废。")
    )
    assert sorted(mind.past()) == ["苹果", "草莓"]
    assert sorted(mind.current()) == ["坚果", "每周三晚上去游泳"]
    assert mind.current(positive=False) == ["水果"]


def test_correction_retracts_and_hands_over() -> None:
    mind = Mind().hear("I am allergic to walnuts.")
    mind.hear("Correction: I am not allergic to walnuts, that is my brother.")
    wrong = next(f for f in mind.facts.values() if f.id == "f0")
    assert wrong.retracted_at is not None and not wrong.is_current
    assert [(f.subject, f.object) for f in mind.facts.values() if f.is_current and f.is_positive] == [
        ("brother", "walnuts")
    ]


def test_history_told_today_is_history() -> None:
    mind = Mind().hear("I work at Nimbus.").hear("Back in 2019 I worked at Orbis.")
    assert (mind.current(), mind.past()) == (["Nimbus"], ["Orbis"])


def test_change_of_taste() -> None:
    mind = Mind().hear("I love Chinese food").hear("I hate Chinese food")
    assert (mind.current(), mind.current(positive=False), mind.past()) == ([], ["Chinese food"], ["Chinese food"])


def test_cessation_ends_that_thing_only() -> None:
    mind = Mind().hear("我喜欢喝咖啡").hear("我喜欢咖啡馆的氛围").hear("我每天早上都喝美式").hear("我不再喝咖啡了")
    assert "咖啡" in mind.past() and "咖啡馆的氛围" in mind.current()


def test_temporary_state_never_ends_the_lasting_one() -> None:
    mind = Mind().hear("我住在福州").hear("这周我在北京出差")
    assert "福州" in mind.current()


def test_late_arrival_is_stored_closed() -> None:
    mind = Mind()
    mind.take([said("Porto", days=20)])
    mind.take([said("Leeds", days=5)])
    assert (mind.current(), mind.past()) == (["Porto"], ["Leeds"])
    assert mind.facts["f1"].valid_to == START + timedelta(days=20)


def test_equal_times_are_decided_by_importance() -> None:
    mind = Mind()
    mind.take([said("Porto", importance="high")])
    mind.take([said("Leeds", importance="low")])
    assert mind.current() == ["Porto"]


def test_uncertain_relation_never_supersedes() -> None:
    mind = Mind()
    mind.take([said("Porto")])
    mind.take([said("Leeds", days=9, relation_confidence=0.6)])
    assert mind.current() == ["Porto", "Leeds"]


def test_reach_is_the_slot_when_nothing_more_can_change() -> None:
    assert reach_of([said("Leeds")]).slots == (("user", "lives_in"),)
    assert reach_of([said("Leeds", move="cease", is_positive=False)]).subjects == ("user",)


def test_edit_retracts_what_only_the_old_words_supported() -> None:
    mind = Mind().hear("I live in Leeds. I love tea.")
    message = mind.facts["f0"].source_message_ids[0]
    lost = retract_for_edit(mind.facts.values(), message_id=message, now=mind.now, new_content="So, I love tea.")
    assert [(d.op, d.fact.object) for d in lost] == [("retract", "Leeds"), ("reinforce", "tea")]
    assert lost[1].fact.evidence == (Evidence(message_id=message, start=4, end=14),)
    gone = retract_for_edit(mind.facts.values(), message_id=message, now=mind.now, new_content=None)
    assert {d.op for d in gone} == {"erase"}


CANDIDATES = st.builds(
    said,
    st.sampled_from(["Leeds", "Porto", "Rome", "tea", "apple", "fruit"]),
    days=st.integers(0, 9),
    relation=st.sampled_from(["lives_in", "likes", "name", "about", "diet", "works_at"]),
    subject=st.sampled_from(["user", "sister", "assistant"]),
    speaker=st.sampled_from([None, "Ben"]),
    is_positive=st.booleans(),
    move=st.sampled_from(["state", "change", "correct", "cease", "revert"]),
    modality=st.sampled_from(["asserted", "past", "temporary", "habitual"]),
    importance=st.sampled_from(["high", "low"]),
    relation_confidence=st.sampled_from([1.0, 0.5]),
    wrong_object=st.sampled_from([None, "leeds", "tea"]),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(CANDIDATES, max_size=6), CANDIDATES)
def test_nothing_of_another_subject_or_speaker_is_touched(known: list[Candidate], one: Candidate) -> None:
    mind = Mind()
    mind.take(known)
    before = dict(mind.facts)
    mind.take([one])
    for id_, fact in before.items():
        if (fact.subject, fact.speaker) != (one.subject, one.speaker):
            assert mind.facts[id_] == fact
        elif (
            mind.facts[id_].is_current != fact.is_current
            and one.move in ("state", "change", "revert")
            and not one.wrong_object  # what is named as wrong may have any relation
        ):
            same_family = LEXICON.relation(fact.relation).family == LEXICON.relation(one.relation).family
            assert fact.relation == one.relation or (same_family and LEXICON.relation(fact.relation).family)


@settings(max_examples=200, deadline=None)
@given(st.lists(CANDIDATES, max_size=8))
def test_one_current_value_of_a_single_valued_relation(told: list[Candidate]) -> None:
    mind = Mind()
    sure = [replace(c, relation_confidence=1.0, move="state") for c in told]
    for candidate in sure:
        mind.take([candidate])
    slots = [
        (f.subject, f.speaker, f.relation)
        for f in mind.facts.values()
        if f.is_current and f.is_positive and f.modality in ("asserted", "habitual")
        and LEXICON.is_single_valued(f.relation)
    ]  # fmt: skip
    assert len(slots) == len(set(slots))


@settings(max_examples=100, deadline=None)
@given(st.lists(CANDIDATES, max_size=6))
def test_repeating_the_last_word_changes_nothing_but_support(told: list[Candidate]) -> None:
    mind = Mind()
    for candidate in told:
        mind.take([candidate])
    if not told:
        return
    current = {f.id for f in mind.facts.values() if f.is_current}
    mind.take([told[-1]])
    again = {f.id for f in mind.facts.values() if f.is_current}
    assert again == current
