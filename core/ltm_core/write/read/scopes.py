"""Which clauses are not the user's plain word: questions, conditions, quotations, fiction, orders, others' lives.

A scope opened by one clause reaches the following ones: a condition to the end of its sentence, an order's
details likewise, a story, a role or a text to be translated to the end of the message. `Read.veto` names the
first reason why a clause must not become a fact; the gate never sees a vetoed clause.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ltm_core.types import Evidence
from ltm_core.write.plan import Turn
from ltm_core.write.read.clauses import Clause
from ltm_core.write.read.quoted import quoted_clauses
from ltm_core.write.words.lexicon import Lexicon

_ROLE_PLAY_TURNS = 4
"""User turns for which an opened role play goes on when nobody closes it."""
_QUOTED = re.compile(r"[\"“「『][^\"”」』]{2,}[\"”」』]")
_UNCLOSED = re.compile(r"(?:^|[\s:,])['‘](?=\w)(?!.*\w[.!]?['’](?:$|[\s.,!?]))")
_TITLE = re.compile(r"《[^》]{1,40}》")
_SHORT = 4


@dataclass(frozen=True, slots=True)
class Read:
    """A clause with its cues and, if there is one, the reason why it states nothing lasting."""

    clause: Clause
    flags: dict[str, bool]
    veto: str = ""

    def __getitem__(self, name: str) -> bool:
        return self.flags.get(name, False)

    def evidence(self, message_id: str) -> Evidence:
        """The clause as the words of a message that support what it states."""
        return Evidence(message_id=message_id, start=self.clause.start, end=self.clause.end)


def read(clauses: Sequence[Clause], lexicon: Lexicon, *, before: Sequence[Turn] = ()) -> tuple[Read, ...]:
    """Every clause with its cues and its veto, in the order of the message."""
    found: list[Read] = []
    fiction = "role_play" if _role_play_open(before, lexicon) else ""
    sentence = -1
    condition = order = quoting = correction = planned = once = passing = False
    for i, clause in enumerate(clauses):
        flags = cues(clause, lexicon)
        telling = lexicon.rules(clause.language).parts.get("tells_by_asking")
        if flags["question"] and telling is not None and telling.match(clause.norm):
            # "Did I mention that I speak Tagalog as well?" tells it.
            clause = replace(clause, norm=f"{clause.norm.rstrip('? ')}.".ljust(len(clause.norm)))
            flags["question"] = False
        previous = found[-1] if found else None
        relative = lexicon.rules(clause.language).parts.get("who_is_it")
        if flags["question"] and relative is not None and previous is not None and not clause.norm.endswith("?"):
            # "my grandson Alfie, who carries two EpiPens" asks nothing.
            within = previous.clause.sentence == clause.sentence and not previous["question"]
            flags["question"] = not (within and relative.match(clause.norm) is not None)
        asks_always = lexicon.rules(clause.language).parts.get("asks_always")
        asked = flags["question"] or flags["conditional"]
        if asked and asks_always is not None and asks_always.match(clause.norm):
            flags["question"] = flags["conditional"] = False  # "could you always answer in French?"
            flags["standing"] = True
        if clause.sentence != sentence:
            sentence = clause.sentence
            condition = order = quoting = planned = once = passing = False
        if flags["scope_close"]:
            fiction = ""
        opened = _opens(clause, flags, clauses[i + 1 :], lexicon)
        if flags["conditional"] and not flags["soft_conditional"]:
            condition = True
        flags["after_command"] = order and not flags["first_subject"]
        flags["after_fact"] = previous is not None and not previous.veto and clause.sentence == sentence
        flags["short"] = len(clause.norm) <= (_SHORT * 3 if clause.language == "en" else _SHORT)
        flags["opener"] = _is_opener(clause, lexicon)
        if correction and not flags["correction"]:
            flags["correction"] = flags["carried_correction"] = True
        if flags["one_off"]:
            once = True
        elif once and not flags["first_subject"]:
            flags["one_off"] = True
        lodges = lexicon.rules(clause.language).parts.get("lodges")
        if flags["temporary"]:
            passing = True
        elif passing and lodges is not None and not flags["first_subject"] and lodges.match(clause.norm):
            flags["temporary"] = True  # "这周在西安出差，住钟楼边上"
        if flags["plan"]:
            planned = True
        elif planned and not flags["first_subject"] and not (clause.language == "zh" and flags["hard_cessation"]):
            flags["plan"] = True
        veto = _veto(clause, flags, fiction=fiction or opened, condition=condition, quoting=quoting)
        found.append(Read(clause, flags, veto))
        fiction = fiction or (opened if opened != "sentence" else "")
        order = order or (flags["command"] and not flags["standing"]) or opened == "sentence"
        quoting = quoting or (flags["quotation"] and _quotes_on(clause, lexicon))
        correction = flags["correction"] and _is_bare(clause, flags, lexicon) and not flags["question"]
    found = [
        Read(r.clause, r.flags, "question") if not r.veto and _is_asked_back(r, after, lexicon) else r
        for r, after in zip(found, [*found[1:], None], strict=False)
    ]
    for r, after in pairwise(found):
        parts = lexicon.rules(r.clause.language).parts
        soon = parts.get("returns_soon") if r.clause.sentence == after.clause.sentence else None
        if soon is not None and parts["stays"].search(r.clause.norm) and soon.match(after.clause.norm):
            r.flags["temporary"] = True
        until = parts.get("until_then") if r.clause.sentence == after.clause.sentence else None
        told = until.match(after.clause.norm) if until is not None else None
        if told is not None and told["verb"] in r.clause.norm:
            r.flags["temporary"] = True  # "让滴左氧氟沙星，滴到周五"
    quoted = quoted_clauses([r.clause for r in found], lexicon)
    found = [Read(r.clause, r.flags, r.veto or "quotation") if i in quoted else r for i, r in enumerate(found)]
    ironic = {r.clause.sentence for r in found if r["irony"]}
    ironic |= {r.clause.sentence - 1 for r in found if r["irony"] and _takes_back(r, lexicon)}
    return tuple(Read(r.clause, r.flags, "irony") if r.clause.sentence in ironic and not r.veto else r for r in found)


def _takes_back(r: Read, lexicon: Lexicon) -> bool:
    """Whether a sentence only says that the one before was not meant ("I'm a huge fan of delays... not")."""
    pattern = lexicon.rules(r.clause.language).parts.get("takes_back")
    return pattern is not None and pattern.match(r.clause.norm) is not None


def _is_asked_back(r: Read, after: Read | None, lexicon: Lexicon) -> bool:
    """Whether the next clause only asks if this one is right ("I'm type O, right?"), or about the things that this
    one lists ("微积分和线性代数，先学哪门？")."""
    if after is None or after.clause.sentence != r.clause.sentence:
        return False
    listed = lexicon.rules(r.clause.language).parts.get("asked_of")
    if listed is not None and after["question"] and listed.match(r.clause.norm):
        return True
    tag = lexicon.rules(after.clause.language).flags.get("tag")
    return tag is not None and tag.search(after.clause.norm.strip()) is not None


def cues(clause: Clause, lexicon: Lexicon) -> dict[str, bool]:
    """The cues of one clause, by name, without its neighbours."""
    rules = lexicon.rules(clause.language)
    found = dict.fromkeys(rules.cue_names, False)
    # What a book is called tells nothing of the speaker's mood.
    norm = _TITLE.sub("《》", clause.norm) if "《" in clause.norm else clause.norm
    for i in rules.cue_index.possible(norm):
        name, expression = rules.cues[i]
        if not found[name] and expression.search(norm) is not None:
            found[name] = True
    return found


def _opens(clause: Clause, flags: dict[str, bool], rest: Sequence[Clause], lexicon: Lexicon) -> str:
    """The scope that a clause opens: to the end of the message, of its sentence, or none."""
    # "写个备忘：" only says that what follows is to be kept.
    if flags["fiction_open"] and not (flags["remember"] and _is_opener(clause, lexicon)):
        return "fiction"
    if flags["body_open"] and not flags["remember"]:
        ends = clause.norm.rstrip()
        if ends.endswith((":", "：")) or (not _QUOTED.search(ends) and _body_follows(clause, rest)):
            return "body"
        return "sentence"
    return ""


def _body_follows(clause: Clause, rest: Sequence[Clause]) -> bool:
    return bool(rest) and not rest[0].norm.rstrip().endswith("?") and rest[0].paragraph - clause.paragraph <= 1


def _veto(clause: Clause, flags: dict[str, bool], *, fiction: str, condition: bool, quoting: bool) -> str:
    """The reason why the clause states nothing lasting about anyone; empty when there is none."""
    if flags["injection"]:
        return "injection"
    if fiction:
        return "fiction" if fiction != "sentence" else "quotation"
    if clause.language == "other":
        return "language"
    if flags["smalltalk"]:
        return "smalltalk"
    if flags["opener"]:
        return "opener"
    if flags["irony"]:
        return "irony"
    if (flags["confirmed"] or flags["feedback"]) and not flags["first_person"]:
        return "feedback"
    if flags.get("complaint", False) or flags.get("trouble", False):
        return "complaint"
    if flags.get("presents", False):
        return "presentation"
    if flags["quotation"] or quoting:
        return "quotation"
    if flags["question"]:
        return "question"
    if condition:
        return "conditional"
    if flags["one_off"]:
        return "one_off"
    return ""


def _quotes_on(clause: Clause, lexicon: Lexicon) -> bool:
    """Whether what follows in the sentence is still somebody else's word."""
    norm = clause.norm.rstrip()
    return (
        norm.endswith((":", "："))
        or _UNCLOSED.search(norm) is not None
        or lexicon.shared["according"].match(norm) is not None
    )


def _is_bare(clause: Clause, flags: dict[str, bool], lexicon: Lexicon) -> bool:
    """Whether a clause only announces a correction ("no, wait", "说错了")."""
    limit = 30 if clause.language == "en" else 9
    if clause.language == "en" and flags["first_subject"]:
        own = lexicon.rules("en").parts["admits"].search(clause.norm)
        return own is not None and len(clause.norm) <= limit
    return len(clause.norm) <= limit


def _is_opener(clause: Clause, lexicon: Lexicon) -> bool:
    """Whether the clause is nothing but "correction:", "by the way", "记住": it announces the next one."""
    rules = lexicon.rules(clause.language)
    bare = clause.norm.rstrip(" :：,，.。!！")
    found = rules.parts["lead"].match(bare + ", ")
    if found is not None and found.end() >= len(bare):
        return True
    remembered = rules.flags["remember"].match(bare)
    return remembered is not None and remembered.end() >= len(bare) - 2


def _role_play_open(before: Sequence[Turn], lexicon: Lexicon) -> bool:
    """Whether a game of roles that the user opened a few turns ago is still on."""
    users = [t for t in before if t.role == "user"][-_ROLE_PLAY_TURNS:]
    for turn in reversed(users):
        text = turn.content[:300]
        for language in ("en", "zh", "ja"):
            flags = lexicon.rules(language).flags
            if flags["scope_close"].search(text):
                return False
            if flags["role_play"].search(text):
                return True
    return False
