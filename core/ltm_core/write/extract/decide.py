"""Which drafts of a clause are kept: the gate's probability against what the clause is read by."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ltm_core.write.extract.draft import ADDED, Draft
from ltm_core.write.extract.extract import drafts
from ltm_core.write.extract.open_words import is_told_of_oneself
from ltm_core.write.extract.pointing import names_nothing
from ltm_core.write.extract.standing import standing_draft
from ltm_core.write.extract.succession import RULE as SUCCESSION
from ltm_core.write.read.earlier import EARLIER
from ltm_core.write.read.neighbours import Neighbourhood
from ltm_core.write.read.people import Subject
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon

_STRONG_FLOOR = 0.3
"""Gate probability from which a clause that a known pattern reads is kept; others need the threshold."""
_SURE_FLOOR = 0.1
"""The same for patterns that hardly ever misread."""
_DIED = ".pet_gone"
"""How the names of the rules end that read of the death of an animal known by name: such news is never passing."""
_EVENT_FLOOR = 0.04
"""The same for events that leave something lasting (bought, moved): such sentences look like passing news."""
_OPEN_FLOOR = 0.55
"""The same for English words that no pattern reads."""
_UNNAMED_FLOOR = 0.65
"""The same when they name neither the speaker nor his own ("Muslims eat no pork"). It takes .02 off what is kept
wrongly of natural messages; from 0.75 on, facts without a subject are lost."""
_PASSING_FLOOR = 0.65
"""The same when they tell of today or of a feeling."""
_CHATTY_FLOOR = 0.8
"""The same when they are of the words friends chat in, or Chinese news of the day. With both floors friends (LoCoMo)
leave about 38 facts in 100 turns."""
_BOUND_FLOOR = 0.25
"""The same for Chinese words about the speaker's home or work that say what he is bound to there."""
_PLACE_FLOOR = 0.55
"""The same for other Chinese words about his home or work."""
_NOT_SETTLED = (
    "plan", "command", "mood", "third_person", "general", "ephemeral", "past", "temporary", "complaint", "correction",
)  # fmt: skip
"""Cues with which a clause about a place does not say how things are there for good."""
_PASSING_TOLD = ("plan", "command", "third_person", "general", "ephemeral", "temporary", "complaint", "correction")
"""Cues with which a clause tells of nothing that is so for good."""
_NEWS_FLOOR = 0.2
"""The same for the new value in a sentence that is very likely news of a change ("现在改坐地铁了")."""
_WITHOUT_VECTOR = 0.1
"""What English words that no pattern reads need more when the n-grams decide alone."""
_LEAST_WORDS = 2
"""Words with a meaning of their own that such a statement needs; one is enough after "I" ("I do salsa")."""
_WORDS = re.compile(r"[^\W\d_]+")
_FIGURES = re.compile(r"\d+")
_TRAIT_FLOOR = 0.4
"""The same for what one of the speaker's own people is, has or does for good ("Grandad Joe keeps racing pigeons")."""
_PEOPLE = ("kin", "pet", "entity", "pronoun", "inherited")
_NOT_LASTING = ("plan", "command", "mood", "ephemeral", "temporary", "complaint", "past", "general")
_EFFECT_FLOOR = 0.08
"""The same for what always has an effect on the speaker, or is true among his own: such sentences look like news."""
_HARDLY = 0.9
"""The same for words that no pattern reads and that point at a moment, at somebody unnamed or at too little."""
_SURE = 0.9
_WEAK = ("plan", "command", "mood", "third_person", "general", "after_command")
"""Cues with which no pattern may outvote the gate."""


def judge(
    r: Read,
    subject: Subject,
    lexicon: Lexicon,
    near: Neighbourhood,
    *,
    explicit: bool,
    threshold: float,
    changes: bool = False,
) -> tuple[tuple[Draft, ...], float]:
    """The drafts to keep of a clause and the gate's probability; none when it states nothing lasting. ``changes``:
    the clause tells the new value of a sentence that is very likely news of a change."""
    standing = standing_draft(r, lexicon)
    if standing is not None:
        return (standing,), 1.0
    if subject.kind == "stranger" or lexicon.shared["one_time_secret"].search(r.clause.norm):
        return (), 0.0
    if not explicit and _is_half(r, lexicon):
        return (), 0.0
    made = drafts(r, subject, lexicon, topic=lexicon.gate.slot(near.vector))
    made = tuple(d for d in made if explicit or not names_nothing(d, lexicon))
    if not made:
        return (), 0.0
    probability = lexicon.gate.probability(
        r.clause.norm, r.clause.language, r.flags, near.vector, before=near.before, after=near.after
    )
    to_assistant = any(not d.about_user and d.subject == "assistant" for d in made)
    status = any(d.relation in ("status", "person_role") for d in made)
    if explicit and made[0].rule == "open":
        return (), 0.0
    if explicit or to_assistant or status:
        return made, max(probability, 0.9)
    if r["temporary"] and not r["lasting"]:
        lasting_words = all(d.rule != "open" for d in made) and not r["plan"] and not r["command"]
        return (made, probability) if lasting_words and subject.kind != "dropped" else ((), probability)
    if r["second_person"] and subject.kind == "dropped":
        return (), probability
    if made[0].rule.endswith(_DIED) and not r["third_person"]:
        return made, max(probability, _EVENT_FLOOR)
    if made[0].move == "cease" and lexicon.shared["request_own_end"].search(r.clause.norm):
        return (made, max(probability, _EVENT_FLOOR)) if not any(r[w] for w in _NOT_LASTING) else ((), probability)
    floor = _floor(r, subject, made, lexicon, threshold)
    floor = min(floor, _NEWS_FLOOR) if changes and floor < _HARDLY else floor
    if near.vector is None and made[0].rule == "open" and r.clause.language == "en":
        floor += _WITHOUT_VECTOR
    return (made, probability) if probability >= floor else ((), probability)


def _floor(r: Read, subject: Subject, made: Sequence[Draft], lexicon: Lexicon, threshold: float) -> float:
    """The probability from which the drafts are kept: what a pattern reads needs less, what only the gate
    believes needs more when it is told in passing."""
    first = made[0]
    if _may_be_order(r, subject, lexicon):
        return max(threshold, _HARDLY if first.rule == "open" else threshold)
    if first.rule == "open" and first.wrong and r["correction"] and r.clause.language == "en":
        return threshold
    if first.rule == "open" and subject.kind == "circle":
        # what a friend or a boss does is kept only where a pattern knows it to last
        return _UNNAMED_FLOOR if _is_trait(r, subject, lexicon) else _HARDLY
    if first.rule == "open" and (not _may_be_open(r, subject, lexicon) or _only_happened(r, lexicon)):
        return _HARDLY
    if first.rule == "open" and r.clause.language == "zh" and r["plan"] and not r["lasting"]:
        return _HARDLY  # what one means to do is no fact yet
    if first.rule == "open" and r.clause.language == "en":
        chatty = lexicon.rules("en").parts["chatty"].search(r.clause.norm) is not None
        passing = (r["ephemeral"] or r["mood"]) and not r["habitual"]
        if subject.kind in _PEOPLE and _is_trait(r, subject, lexicon):
            return _TRAIT_FLOOR
        if r["after_end"] and _turns(r, lexicon):
            return _STRONG_FLOOR  # what came instead of what the clause before gives up
        if (chatty or passing) and _turns(r, lexicon):
            return _OPEN_FLOOR
        settles = None if passing else _settled_floor(r, lexicon)
        if settles is not None:
            return settles
        if chatty or passing or r["command"]:
            return _PASSING_FLOOR if passing else _CHATTY_FLOOR
        return _OPEN_FLOOR if is_told_of_oneself(r, subject) else _UNNAMED_FLOOR
    if first.rule == "open":
        if subject.kind in _PEOPLE and _is_trait(r, subject, lexicon) and not r["past"]:
            return _TRAIT_FLOOR
        settled = _is_of_own_place(r, lexicon) or _is_settled(r, lexicon)
        if settled:
            return settled
        if lexicon.shared["subordinate"].match(r.clause.norm) or (
            r["past"] and not (r["habitual"] or r[EARLIER]) and not lexicon.shared["used_to"].search(r.clause.norm)
        ):
            return _HARDLY
        news = lexicon.rules(r.clause.language).parts.get("news")
        if (
            news is not None
            and news.search(r.clause.norm)
            and not (r["habitual"] or r["lasting"] or _turns(r, lexicon))
        ):
            return _CHATTY_FLOOR
        passing = (r["ephemeral"] or r["mood"]) and not (r["habitual"] or _turns(r, lexicon))
        if passing or not is_told_of_oneself(r, subject):
            return max(threshold, _PASSING_FLOOR)
        return threshold
    event = first.relation in lexicon.sets["lasting_events"] or first.rule == SUCCESSION
    added = first.rule.endswith(ADDED)
    ends = _ends_known(first, lexicon)
    # "Everyone calls me Kit": whoever calls, the name is the speaker's.
    done = lexicon.rules(r.clause.language).parts.get("done_to_speaker")
    own = first.rule == SUCCESSION or first.relation in ("name", "nickname")
    own = own or (r["first_person"] and done is not None and done.match(r.clause.norm) is not None)
    weak = [w for w in _WEAK if r[w] and not (w == "third_person" and own)]
    if first.relation in lexicon.sets["unplanned"]:
        weak = [w for w in weak if w != "plan"]
    if r["habitual"] and r.clause.language == "zh":  # "我一紧张就结巴" tells no mood of today
        weak = [w for w in weak if w != "mood"]
    if weak or (r["ephemeral"] and not (event or added)):
        return threshold
    if added:
        return 0.0
    if event or ends:
        return min(threshold, _EVENT_FLOOR)
    if all(d.strong for d in made):
        return min(threshold, _SURE_FLOOR if first.confidence >= _SURE else _STRONG_FLOOR)
    if subject.kind in _PEOPLE and _is_trait(r, subject, lexicon):
        return min(threshold, _TRAIT_FLOOR)
    return threshold


def _may_be_order(r: Read, subject: Subject, lexicon: Lexicon) -> bool:
    """Whether a clause that names nobody tells somebody what to do ("use short paragraphs", "下午别喝咖啡"), for all
    that its form says."""
    pattern = lexicon.rules(r.clause.language).parts.get("imperative")
    if pattern is None or subject.kind != "dropped" or r["first_person"] or r["habitual"] or r["change"]:
        return False
    return pattern.match(r.clause.norm) is not None


def _is_of_own_place(r: Read, lexicon: Lexicon) -> float:
    """The floor for a Chinese statement of how things are where the speaker lives or works, which names no person:
    low when it says what he is bound to there ("只能走楼梯"); 0.0 for any other clause."""
    parts = lexicon.rules(r.clause.language).parts
    place, bound = parts.get("own_place"), parts.get("bound")
    if place is None or bound is None or any(r[w] for w in _NOT_SETTLED):
        return 0.0
    here = place.match(r.clause.norm) is not None
    if bound.search(r.clause.norm) is not None and (here or r["of_own_place"]):
        return _BOUND_FLOOR
    return _PLACE_FLOOR if here else 0.0


def _is_settled(r: Read, lexicon: Lexicon) -> float:
    """The floor for a Chinese statement of what is so for good, in whatever words (a rule of the house, a collection,
    a mark of the body); 0.0 for any other clause."""
    told = lexicon.rules(r.clause.language).parts.get("settled_told")
    if told is None or any(r[w] for w in _PASSING_TOLD) or told.search(r.clause.norm) is None:
        return 0.0
    return _BOUND_FLOOR


def _may_be_open(r: Read, subject: Subject, lexicon: Lexicon) -> bool:
    """Whether words that no pattern reads may be a fact at all: enough of them, and of no stranger or passing
    moment. The gate decides the rest."""
    if r.clause.language != "en":
        return True
    if any(r[w] for w in ("second_person", "correction")) or (r["temporary"] and not r["habitual"]):
        return False
    if subject.kind == "dropped" and lexicon.rules("en").parts["headless"].search(r.clause.norm):
        return False
    words = {w for w in _WORDS.findall(r.clause.norm.lower()) if w not in lexicon.gate.function}
    if r["own_kin"]:  # "my son is in Year 5": the figure is what it says
        words |= set(_FIGURES.findall(r.clause.norm))
    return len(words) >= (1 if r["first_subject"] or subject.kind == "entity" else _LEAST_WORDS)


def _is_half(r: Read, lexicon: Lexicon) -> bool:
    """Whether an English clause only says when something is so: "whenever the bus is late" is half a statement."""
    return r.clause.language == "en" and lexicon.rules("en").parts["each_time_alone"].match(r.clause.norm) is not None


def _is_trait(r: Read, subject: Subject, lexicon: Lexicon) -> bool:
    """Whether English words tell what one of the speaker's people is, has or does for good, not today."""
    pattern = lexicon.rules(r.clause.language).parts.get("has_trait")
    if pattern is None or any(r[w] for w in _NOT_LASTING):
        return False
    return pattern.match(r.clause.norm[subject.rest :]) is not None


def _settled_floor(r: Read, lexicon: Lexicon) -> float | None:
    """The floor for English words that tell how things are for good with the speaker ("thunder sends me under the
    covers"); None for others."""
    parts = lexicon.rules(r.clause.language).parts
    passing = any(r[w] and not (w == "temporary" and r["habitual"]) for w in _NOT_LASTING)
    if "settled" not in parts or passing or parts["how_now"].search(r.clause.norm):
        return None
    if parts["settled_surely"].search(r.clause.norm):
        return _EFFECT_FLOOR
    return _STRONG_FLOOR if parts["settled"].search(r.clause.norm) else None


def _turns(r: Read, lexicon: Lexicon) -> bool:
    """Whether the clause tells of a lasting change ("upgraded to", "升成"), whenever it happened."""
    turns = lexicon.rules(r.clause.language).parts.get("turns")
    return turns is not None and turns.search(r.clause.norm) is not None


def _ends_known(draft: Draft, lexicon: Lexicon) -> bool:
    """Whether the clause gives up a thing that the lexicon knows ("no more sports")."""
    return draft.rule == "ceased" and (
        draft.object.lower() in lexicon.class_names or draft.object.lower() in lexicon.members
    )


def _only_happened(r: Read, lexicon: Lexicon) -> bool:
    """Whether the clause tells what happened once, or where the speaker is just now."""
    rules = lexicon.rules(r.clause.language)
    once = rules.parts.get("happened")
    lasts = r["habitual"] or r["lasting"] or _turns(r, lexicon)
    return once is not None and not lasts and once.search(r.clause.norm) is not None
