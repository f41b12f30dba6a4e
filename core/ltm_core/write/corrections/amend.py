"""Corrections that only give the right value: "Actually I meant Leicester", "May 15, not May 14".

They take subject and relation from what the user stated just before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from ltm_core.write.corrections.values import is_bare_name, is_typed, put
from ltm_core.write.extract.build import head
from ltm_core.write.extract.draft import Draft
from ltm_core.write.plan import Candidate, Turn, Utterance
from ltm_core.write.read.answers import was_asked
from ltm_core.write.read.people import lead
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon, Rules
from ltm_core.write.words.norm import trim

_CALLED = ("calls_user", "nickname:called")
_SURE = 0.7
_LOOK_BACK = 3
"""User turns in which the wrong statement may stand."""
_NEAR = 200
"""Characters before and after a name in which its spelling is told."""
_BARE_WORDS = 3
"""Words of a value that is blurted out after "sorry" ("sorry, Darlington!")."""
_PHRASE = 6
"""Words of a phrase that is told again before the speaker says that it was a slip."""
_BLURT = 24
"""Characters of a clause that only blurts something out."""
_SPELLED_OUT = re.compile(r"(?:\w-){4,}\w")
"""A whole name letter by letter; fewer letters only begin one ("M-A-C")."""
_CURRENCY = re.compile(r"[$€£¥]")
_DATED = re.compile(r" \(\d{4}-[^)]*\)$")


def amended(
    r: Read,
    utterance: Utterance,
    lexicon: Lexicon,
    *,
    said: Sequence[Candidate],
    heard: Callable[[Turn], Sequence[Candidate]],
    prior: Read | None = None,
    own: bool = True,
) -> Candidate | None:
    """The statement made just before with its value put right; None when the clause corrects nothing.

    ``prior``: the clause before, which may only blurt something out ("Sorry, 21 June"). ``own``: nobody but the
    speaker begins the clause; of others it must say that it corrects ("no wait, he's 8", "my wife says 2012").
    """
    rules = lexicon.rules(r.clause.language)
    pattern = rules.parts.get("amends")
    if pattern is None or r.veto:
        return None
    if prior is not None and _excludes(r, prior, rules):
        return None
    begin = lead(r.clause.norm, rules)
    blurted = rules.parts.get("blurts_lead")
    blurt = blurted.match(r.clause.norm, begin) if blurted is not None else None
    begin = blurt.end() if blurt is not None else begin
    begin += r.clause.norm[begin:].startswith("*")
    told = r.clause.norm[begin:]
    polite = rules.parts.get("politely")
    asked = polite.sub("", told) if polite is not None else told
    if asked != told and is_typed(asked, rules) and not is_bare_name(asked, rules):
        told = asked  # "72 please" puts a number right; "Polish please" orders something
    remark = rules.parts.get("remark_tail")
    told = remark.sub("", told) if remark is not None else told
    m = pattern.match(told)
    value = trim(m["object"]) if m is not None else ""
    bare = lexicon.shared["determiner"].sub("", value, count=1)
    value = bare if is_typed(bare, rules) else value
    value = value.replace("-", "").capitalize() if _SPELLED_OUT.fullmatch(value) else value
    if m is None or not value:
        return None
    sign = _sign(r, begin, value, prior, utterance, rules, calls_nobody=bool(m["meant"]))
    meant = bool(m["meant"]) and (is_typed(value, rules) or not rules.parts["meant_mildly"].match(m["meant"]))
    meant = meant and (own or m["theirs"] is None)
    if not (own or sign or (meant and is_typed(value, rules))):
        return None
    if not (m["wrong"] or meant or sign) and _is_echoed(value, utterance, rules, heard=heard):
        sign = "plain"
    if not (m["wrong"] or meant or sign):
        return None
    wrong = head(trim(m["wrong"] or ""), lexicon, r.clause.language)
    turns = [t for t in utterance.before if t.role == "user"][-_LOOK_BACK:]
    if not turns and (m["wrong"] or m["meant"] or sign == "plain"):
        turns = [t for t in utterance.earlier if t.role == "user"][-_LOOK_BACK:]
    if sign == "weak" and not (m["wrong"] or meant):
        # What follows a question of the assistant answers it.
        turns = [] if was_asked(utterance.before) else turns[-1:]
    found = _meant(said, value, wrong, rules)
    for turn in reversed(turns):
        if found is not None:
            break
        found = _meant(heard(turn), value, wrong, rules)
    if found is None or found[0].object_normalized == head(found[1], lexicon, r.clause.language):
        return None
    before, value = found
    text = _DATED.sub("", before.text)
    return replace(
        before,
        object=value,
        object_normalized=head(value, lexicon, r.clause.language),
        text=text.replace(before.object, value) if before.object in text else trim(r.clause.text),
        move="correct",
        reach="subject",
        classes=(),
        wrong_object=before.object_normalized,
        relation_confidence=max(before.relation_confidence, 0.8),
        valid_from=utterance.at,
        said_at=utterance.at,
        evidence=(r.evidence(utterance.message_id),),
        rule="amended",
    )


def same_again(made: tuple[Draft, ...], told: Callable[[], Sequence[Candidate]]) -> tuple[Draft, ...]:
    """A statement behind words of correction, as the right value of what was told last in the same relation of the
    same one ("Typo: I studied at Leeds Trinity")."""
    first = made[0]
    if (
        len(made) > 1
        or first.rule == "open"
        or first.wrong
        or not first.positive
        or first.move in ("cease", "change")
    ):
        return made
    old = next((c for c in reversed(told()) if c.relation == first.relation and c.subject == first.subject), None)
    if old is None or not old.is_positive or old.rule == "open" or old.object_normalized == first.object.casefold():
        return made
    return (replace(first, wrong=old.object_normalized, move="correct"),)


def _excludes(r: Read, prior: Read, rules: Rules) -> bool:
    """Whether the clause only repeats what "only" left out before it ("in English only, no Hindi")."""
    exclusive = rules.parts.get("exclusive")
    joined = prior.clause.sentence == r.clause.sentence and r.clause.norm.lower().startswith("no ")
    return joined and exclusive is not None and exclusive.search(prior.clause.norm) is not None


def _sign(
    r: Read, begin: int, value: str, prior: Read | None, utterance: Utterance, rules: Rules, *, calls_nobody: bool
) -> str:
    """How the words around a bare value say that it puts another right: "plain", "weak" ("sorry, …"), or "".
    ``calls_nobody``: words in front of a name make it no call ("it's the F-350")."""

    def says(part: str, text: str) -> bool:
        return part in rules.parts and rules.parts[part].search(text) is not None

    slip = utterance.content[r.clause.end : r.clause.end + _NEAR]
    if not is_typed(value, rules) and 1 < len(value.split()) <= _PHRASE and says("blurts_after", slip):
        return "plain"
    if len(value.split()) > _BARE_WORDS or not is_typed(value, rules):
        return ""
    # Beside the clause only: a long message has many clauses.
    near = utterance.content[max(0, r.clause.start - _NEAR) : r.clause.end + _NEAR]
    behind = utterance.content[r.clause.end : r.clause.end + _NEAR]
    spelled = says("spelled", near) and not says("spelled", value)
    blurted = r.clause.norm[:begin]
    if prior is not None and prior.clause.end <= r.clause.start and len(prior.clause.norm) <= _BLURT:
        blurted = f"{prior.clause.norm}, {blurted}"
    if r["carried_correction"] or spelled or says("blurts_after", behind):
        return "plain"
    called = is_bare_name(value, rules) and not calls_nobody and not says("blurts_before", behind)
    if not says("blurts", blurted) or called:
        return ""
    return "weak" if says("blurts_weak", trim(blurted)) else "plain"


def excuses(r: Read, lexicon: Lexicon) -> bool:
    """Whether the clause only says how a wrong value came to be told ("Got my digits swapped")."""
    told = lexicon.rules(r.clause.language).parts.get("blurts_after")
    return told is not None and told.search(r.clause.norm) is not None


def denied_then(r: Read, denied: Sequence[Candidate], utterance: Utterance, lexicon: Lexicon) -> Candidate | None:
    """ "My name isn't Karen, it's Kieran": the value that holds in the place of the one just denied."""
    known = [c for c in denied if c.single_valued and c.relation_confidence >= _SURE and c.move != "cease"]
    if r["first_subject"]:  # "别叫我先生，我是女的" gives the reason, no other name
        known = [c for c in known if c.relation not in _CALLED]
    pattern = lexicon.rules(r.clause.language).parts.get("instead")
    if pattern is None or r.veto or not known:
        return None
    m = pattern.match(r.clause.norm)
    value = trim(m["object"]) if m is not None else ""
    if m is None or not value:
        return None
    start = m.start("object") + m["object"].find(value)
    last = known[-1]
    return replace(
        last,
        object=r.clause.text[start : start + len(value)],
        object_normalized=head(value, lexicon, r.clause.language),
        text=trim(r.clause.text),
        is_positive=True,
        move="correct",
        reach="subject",
        classes=(),
        wrong_object=last.object_normalized,
        valid_from=utterance.at,
        said_at=utterance.at,
        evidence=(*last.evidence, r.evidence(utterance.message_id)),
        rule="instead",
    )


def _meant(said: Sequence[Candidate], value: str, wrong: str, rules: Rules) -> tuple[Candidate, str] | None:
    """The statement whose value is put right, with the right one: the statement that names the wrong value, else the
    last that holds one of its kind."""
    able = [c for c in said if c.is_positive and c.modality in ("asserted", "habitual")]
    for c in reversed(able):
        if wrong:
            if c.rule != "open" and _names(c.object_normalized, wrong) and _counts_same(c, value, wrong, rules):
                return c, value
            continue
        right = put(c.object, value, rules) or _told_again(c.object, value, rules)
        if right:
            return c, right
    return None


def _counts_same(c: Candidate, value: str, wrong: str, rules: Rules) -> bool:
    """Whether a value that stands against a bare number counts what the statement counts ("six hens, not four")."""
    number = rules.parts["kind_number"]
    if number.fullmatch(wrong) is None or number.fullmatch(value) is not None:
        return True
    noun = number.sub("", value).strip().casefold()
    return bool(noun) and noun in c.object.casefold()


def _told_again(held: str, value: str, rules: Rules) -> str:
    """A phrase that differs from the value held in a word or two ("Two sisters and a brother"); else ""."""
    one, two = (re.findall(r"[a-z]{3,}", v.casefold()) for v in (held, value))
    shared = {w.rstrip("s") for w in one} & {w.rstrip("s") for w in two}
    alike = len(value.split()) > 1 and abs(len(held.split()) - len(value.split())) <= 1
    return value if alike and len(shared) >= max(1, len(two) // 2) and held.casefold() != value.casefold() else ""


def _is_echoed(
    value: str, utterance: Utterance, rules: Rules, *, heard: Callable[[Turn], Sequence[Candidate]]
) -> bool:
    """Whether the whole message is a bare value, and the assistant has just repeated another of its kind that the
    user had told ("I've put 74.", "72 please")."""
    last = utterance.before[-1] if utterance.before else None
    bare = rules.parts["bare_value"].match(utterance.content)
    if last is None or last.role != "assistant" or "?" in last.content or bare is None:
        return False
    told = [t for t in utterance.before if t.role == "user"][-1:]
    for c in (c for t in told for c in heard(t) if c.is_positive):
        right = put(c.object, value, rules)
        left = [w for w in re.findall(r"[\w.'-]+", c.object) if w not in right]
        if right and any(re.search(rf"(?<!\w){re.escape(w)}(?!\w)", last.content) for w in left):
            return True
    return False


def _names(held: str, wrong: str) -> bool:
    held, wrong = (_CURRENCY.sub("", v) for v in (held, wrong))
    return held == wrong or f" {wrong} " in f" {held} " or f" {held} " in f" {wrong} "
