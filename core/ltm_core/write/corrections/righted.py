"""English corrections that say that something told before was wrong and give the right value without the wrong one:
"I mixed up the dates. It leaves on the 16th", "I had it wrong: our boiler is a Worcester".

Which value was wrong is known beside the store: it stands in what is known where the right one stands in the
correction, and is of its kind. What is meant shares words with the correction, or was told last in this session.
Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from ltm_core.types import Fact
from ltm_core.write.corrections.restated import Sentence, articled, may_be_wrong, sentences_of
from ltm_core.write.corrections.values import KINDS, is_name, is_typed, put
from ltm_core.write.known.broad import are_siblings, sibling_in
from ltm_core.write.known.mentions import content
from ltm_core.write.plan import Candidate, Utterance
from ltm_core.write.read.found import is_asked
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold, trim

RULE = "righted"
_MOST_WORDS = 4
"""Words of a value that is put right."""
_MOST_VALUES = 6
"""Values of one message that are tried."""
_ALIKE = 0.6
"""Share of characters from which one code is the wrongly told other."""
_CLAUSE = re.compile(r"[,;:] ")
_WORD = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)*")
_DATED = re.compile(r" \(\d{4}-[^)]*\)$")
_CODE = re.compile(r"(?<![\w.-])(?:(?=[\w.-]*\d)(?=[\w.-]*[A-Za-z])\w[\w.-]*\w|\d+(?:\.\d+)+)(?![\w-])")
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_NAME = re.compile(r"(?<=[\w,'] )(?!I\b|I')[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*")


def righting(
    utterance: Utterance,
    reads: Sequence[Read],
    made: Sequence[Candidate],
    lexicon: Lexicon,
    *,
    asked: Iterable[int],
    me: str,
    speaker: str | None,
) -> Candidate | None:
    """The values of a message that admits that something was told wrongly, as a candidate that names no fact; None
    when it admits nothing, or when what was wrong has been read already."""
    if any(c.move == "correct" and c.wrong_object for c in made):
        return None
    admits = lexicon.rules("en").parts["told_wrongly"]
    told = [s for s in sentences_of(utterance, reads) if s is not None]
    at = next((i for i, s in enumerate(told) if admits.search(s.text)), None)
    if at is None or any(is_asked(s.evidence(utterance.message_id), set(asked)) for s in told):
        return None
    near = [*told[at : at + 3], *told[max(0, at - 1) : at]]
    # "finger slipped on the six": the key is no right value
    key = lexicon.rules("en").parts["key_named"]
    found = [(v, s) for s in near for v in _values(key.sub(" ", s.text), lexicon)][:_MOST_VALUES]
    if not found:
        return None
    places = dict.fromkeys((told[at], *(s for _, s in found)))
    said = [(v, s.text) for v, s in found]
    return to_put_right(said, " ".join(s.text for s in near), places, utterance, me=me, speaker=speaker, rule=RULE)


def to_put_right(
    said: Sequence[tuple[str, str]],
    text: str,
    places: Iterable[Sentence],
    utterance: Utterance,
    *,
    me: str,
    speaker: str | None,
    rule: str,
) -> Candidate:
    """The candidate of what may be right values, each with the words in which it stands; which fact holds the wrong
    one is found beside the store."""
    values = tuple(dict.fromkeys(v for v, _ in said))
    return Candidate(
        subject=me,
        relation="about",
        object=values[0],
        object_normalized=fold(values[0]),
        text=text,
        is_about_user=me == "user",
        speaker=speaker,
        relation_confidence=0.0,
        move="correct",
        reach="circle",
        things=values,
        loose=tuple(said),
        valid_from=utterance.at,
        said_at=utterance.at,
        evidence=tuple(s.evidence(utterance.message_id) for s in places),
        rule=rule,
    )


def _values(text: str, lexicon: Lexicon) -> Iterator[str]:
    """What may be the right value: what stands behind "is" and its like, and every date, number, sum and code."""
    parts = lexicon.rules("en").parts
    blurted = parts["blurted_name"].match(text)
    if blurted is not None:
        yield trim(blurted["value"])
    for m in parts["right_value"].finditer(text):
        value = trim(m["value"])
        if value and len(value.split()) <= _MOST_WORDS:
            yield value
    taken: list[tuple[int, int]] = []
    for kind in KINDS:
        for m in parts[kind].finditer(text):
            if not any(a < m.end() and m.start() < b for a, b in taken):
                taken.append(m.span())
                yield trim(m.group())
    yield from _CODE.findall(text)


@dataclass(frozen=True, slots=True)
class _Righted:
    fact: Fact
    object: str
    text: str
    shared: int
    last: bool


def meant(c: Candidate, facts: Sequence[Fact], lexicon: Lexicon) -> list[tuple[Fact, str, str]]:
    """The fact that holds a wrong value, with its object and text put right; nothing when none is meant clearly."""
    able = [f for f in reversed(facts) if may_be_wrong(f, c)]
    told = {e.message_id for e in c.evidence}
    able = [f for f in able if not any(e.message_id in told for e in f.evidence)]
    if not able:
        return []
    last = {e.message_id for e in max(able, key=lambda f: f.last_seen_at).evidence}
    said = set(content(lexicon.rules("en").parts["reporter"].sub(" ", c.text), lexicon))
    bare = {v for v, sentence in c.loose if _is_bare(sentence, v, lexicon)}
    kin = {v: _kin_told_of(sentence, lexicon) for v, sentence in c.loose}
    of_noun = [r for v, words in c.loose for f in able if (r := _by_noun(f, v, words, lexicon)) is not None]
    found = [
        r
        for v in c.things
        for f in able
        if (r := _righted(f, v, said | kin[v], last if v in bare else set(), lexicon)) is not None
    ]
    if not found:
        found = [r for v, words in c.loose for f in able if (r := _of_other_kind(f, v, words, c, last, lexicon))]
    best = max(found or of_noun, key=lambda r: (r.shared, r.last), default=None)
    return [] if best is None else [(best.fact, best.object, best.text)]


def _by_noun(f: Fact, value: str, sentence: str, lexicon: Lexicon) -> _Righted | None:
    """The fact with the value in the place of the word before the noun of which it is said ("an induction hob", "the
    hob is ceramic")."""
    at = sentence.find(value)
    said = lexicon.rules("en").parts["noun_is"].search(sentence[:at]) if at > 0 and " " not in value else None
    if said is None or not value.islower() or is_typed(value, lexicon.rules("en")):
        return None
    text = _DATED.sub("", f.text)
    held = list(re.finditer(rf"(?<![\w-])(?P<wrong>[a-z-]+) {re.escape(said['noun'])}\b", text))
    wrong = held[0]["wrong"] if len(held) == 1 else ""
    if not wrong or wrong == value or not content(wrong, lexicon):
        return None
    phrase = (f"{wrong} {said['noun']}", f"{value} {said['noun']}")
    new = articled(text.replace(*phrase))
    return _Righted(f, articled(f.object.replace(*phrase)) if phrase[0] in f.object else new, new, 1, False)


def _kin_told_of(sentence: str, lexicon: Lexicon) -> set[str]:
    """The relatives of whom the sentence tells, by whatever word ("Grandad came from Kerry")."""
    rules = lexicon.rules("en")
    told = (w.lower() for w in _WORD.findall(rules.parts["reporter"].sub(" ", sentence)))
    return {rules.kin[w] for w in told if w in rules.kin}


def _of_other_kind(
    f: Fact, value: str, sentence: str, c: Candidate, last: set[str], lexicon: Lexicon
) -> _Righted | None:
    """The fact told last with another kind of thing, where somebody who knows says what it is ("a maple", "the man
    laughed at us: it's a sycamore and always was")."""
    rules = lexicon.rules("en")
    said = rules.parts["is_of_kind"].search(sentence[: sentence.find(value)])
    another = is_typed(value, rules) or rules.parts["no_kind"].search(value)
    if said is None or another or not any(e.message_id in last for e in f.evidence):
        return None
    text = _DATED.sub("", f.text)
    tail = list(rules.parts["right_value"].finditer(text))
    wrong = trim(tail[-1]["value"]) if tail and rules.parts["knows_better"].search(c.text) else ""
    same = wrong and text.endswith(
        (f" is {said['kind']} {wrong}", f" is an {wrong}") if said["kind"] else f" is {wrong}"
    )
    if not same or len(wrong.split()) > _MOST_WORDS or fold(wrong) == fold(value) or is_typed(wrong, rules):
        return None
    new = articled(text.removesuffix(wrong) + value)
    return _Righted(f, f.object.replace(wrong, value) if wrong in f.object else new, new, 0, True)


def _is_bare(sentence: str, value: str, lexicon: Lexicon) -> bool:
    """Whether the clause of the value says nothing else that means something, nor tells of the speaker ("it leaves on
    the 16th")."""
    parts = lexicon.rules("en").parts
    clause = next((c for c in _CLAUSE.split(sentence) if value in c), sentence)
    rest = parts["told_wrongly"].sub(" ", clause).replace(value, " ")
    return len(content(rest, lexicon)) <= 1 and parts["tells_of_self"].match(clause.strip()) is None


def _righted(f: Fact, value: str, said: set[str], last: set[str], lexicon: Lexicon) -> _Righted | None:
    """The fact with the value in the place of its own one of that kind."""
    rules = lexicon.rules("en")
    text = _DATED.sub("", f.text)
    wrong, new = _instead(text, value, lexicon)
    if not new:
        return None
    kinds = _kinds(value, lexicon)
    typed = (
        is_typed(value, rules)
        or _CODE.fullmatch(value) is not None
        or (kinds and kinds == _kinds(wrong, lexicon))
        or are_siblings(wrong, value)
        or bool(set(content(wrong, lexicon)) & set(content(value, lexicon)))
    )
    held = {*content(text.replace(wrong, " "), lexicon), f.subject}
    shared = held & (said - set(content(value, lexicon)))
    nouns = lexicon.slot_nouns.get(f.relation, frozenset())
    count = len(shared) + len(nouns & said)
    told_last = any(e.message_id in last for e in f.evidence)
    if not count and not (typed and told_last):
        return None
    object_ = f.object.replace(wrong, value) if wrong in f.object else new if f.object == f.text else f.object
    return _Righted(f, object_, new, count, told_last)


def _instead(text: str, value: str, lexicon: Lexicon) -> tuple[str, str]:
    """The part of a text in whose place the value goes, and the text with it; two empty ones when there is none."""
    rules = lexicon.rules("en")
    if not is_name(value) and not _VERSION.fullmatch(value) and (new := put(text, value, rules)):
        return _differing(text, new, value), new
    codes = [c for c in _CODE.findall(text) if _are_alike(c, value)] if _CODE.fullmatch(value) else []
    if len(codes) == 1:
        return codes[0], text.replace(codes[0], value)
    if _CODE.fullmatch(value) is None and is_typed(value, rules) and not is_name(value):
        return "", ""
    if is_name(value):
        held = _NAME.findall(text)
        alike = [n for n in held if _are_alike(n, value)]
        one = alike if len(alike) == 1 else held
        if len(one) == 1 and one[0] != value:
            return one[0], text.replace(one[0], value)
    if (other := sibling_in(text, value)) and not is_typed(other, rules):
        return other, text.replace(other, value)
    if is_name(value):
        return "", ""
    if wrong := _of_same_head(text, value, lexicon):
        return wrong, articled(text.replace(wrong, value))
    tail = list(rules.parts["right_value"].finditer(text))
    wrong = trim(tail[-1]["value"]) if tail else ""
    sound = wrong and len(wrong.split()) <= _MOST_WORDS and fold(wrong) != fold(value) and not is_typed(wrong, rules)
    return (wrong, text[: tail[-1].start("value")] + value) if sound else ("", "")


def _of_same_head(text: str, value: str, lexicon: Lexicon) -> str:
    """What another word than that of the value says of the same noun ("aged care", of "child care"); "" when the noun
    stands there without one, or several times."""
    first, _, head = value.rpartition(" ")
    if not first or " " in first or not content(first, lexicon):
        return ""
    held = re.findall(rf"(?<![\w-])([\w-]+) {re.escape(head)}\b", text, re.I)
    wrong = held[0] if len(held) == 1 else ""
    return f"{wrong} {head}" if wrong and fold(wrong) != fold(first) and content(wrong, lexicon) else ""


def _kinds(value: str, lexicon: Lexicon) -> set[str]:
    """The kinds of what stands in a value ("Tuesday and Friday")."""
    parts = lexicon.rules("en").parts
    return {k for k in KINDS if parts[k].search(value)}


def _differing(old: str, new: str, value: str) -> str:
    """The part of the old text that the value replaced."""
    start = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), 0)
    start = min(start, max(new.find(value), 0)) if value in new else start
    at = new.find(value)
    return old[at : len(old) - (len(new) - at - len(value))] if at >= 0 else old[start:]


def _are_alike(one: str, two: str) -> bool:
    one, two = one.casefold(), two.casefold()
    if _VERSION.fullmatch(one) and _VERSION.fullmatch(two):
        return one != two
    return one != two and SequenceMatcher(None, one, two).ratio() >= _ALIKE


__all__ = ["RULE", "meant", "righting", "to_put_right"]
