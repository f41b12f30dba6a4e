"""Chinese corrections that say that something told before was wrong and give the right value without the wrong one:
"年龄说多了，它才三岁", "不对，他的单位是边防检查站", "哦打错了，是在万科".

What was wrong is found beside the store, as in `righted`: the value of its kind (a date, a count of the same unit, a
version), or else the object of what is meant. What is meant shares words with the correction, is of the relation
whose noun it names ("血型", "单位"), or was told last. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ltm_core.types import Fact
from ltm_core.write.corrections.restated import Sentence, may_be_wrong, sentences_of
from ltm_core.write.corrections.righted import to_put_right
from ltm_core.write.corrections.values_zh import is_typed, put, typed_in
from ltm_core.write.known.news import words
from ltm_core.write.plan import Candidate, Utterance
from ltm_core.write.read.found import is_asked
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.expressions import Expression
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import normal, trim

RULE = "righted.zh"
_MOST_VALUES = 6
"""Values of one message that are tried."""
_LONGEST = 16
"""Characters of a value that is put right."""
_CLAUSE = re.compile(r"[，,；;：:。!]+")
_DATED = re.compile(r" \(\d{4}-[^)]*\)$")
_DONE = "过"
"""With what words end that tell of looking again, and not what was seen ("在商场重新数过")."""
_OF_KIND = 2
"""How much it counts that the words name what a fact tells by its noun ("单位" of where one works)."""


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
    if not (utterance.before or utterance.earlier or utterance.said_earlier is not None):
        return None
    if any(c.move == "correct" and c.wrong_object for c in made) or any(r["question"] for r in reads):
        return None
    parts = lexicon.rules("zh").parts
    if parts["of_a_text"].search(normal(utterance.content)) is not None:
        return None
    told = [s for s in sentences_of(utterance, reads, language="zh") if s is not None]
    at = next((i for i, s in enumerate(told) if _admits(s.text, parts)), None)
    if at is None or any(is_asked(s.evidence(utterance.message_id), set(asked)) for s in told):
        return None
    near = [*told[at : at + 3], *told[max(0, at - 1) : at]]
    found = [(v, c, s) for s in near for v, c in _values(s.text, parts)][:_MOST_VALUES]
    if not found:
        return None
    loose = tuple((_spoken(v, s, utterance), clause) for v, clause, s in found)
    places = dict.fromkeys((told[at], *(s for _, _, s in found)))
    return to_put_right(loose, "。".join(s.text for s in near), places, utterance, me=me, speaker=speaker, rule=RULE)


def _spoken(value: str, sentence: Sentence, utterance: Utterance) -> str:
    """The value in the speaker's own script."""
    raw = utterance.content[sentence.start : sentence.end].strip()
    at = sentence.text.find(value)
    return raw[at : at + len(value)] if at >= 0 and normal(raw) == sentence.text else value


def only_admits(text: str, lexicon: Lexicon) -> bool:
    """Whether a clause says nothing but that something was told wrongly ("身高量错了")."""
    parts = lexicon.rules("zh").parts
    text = _CLAUSE.sub("，", normal(text)).strip("，")
    m = parts["told_wrongly"].search(text)
    told = m is not None and m.end() == len(text) and "，" not in text and parts["right_ends"].search(text) is None
    return told and parts["wrong_of_others"].search(text[: m.start() if m is not None else 0]) is None


def _admits(text: str, parts: Mapping[str, Expression]) -> bool:
    """Whether the speaker says that he told something wrongly; what others got wrong is no slip of his."""
    for clause in _CLAUSE.split(text):
        m = parts["told_wrongly"].search(clause)
        if m is not None and parts["wrong_of_others"].search(clause[: m.start()]) is None:
            return True
    return parts["looked_again"].search(text) is not None


def _values(text: str, parts: Mapping[str, Expression]) -> Iterator[tuple[str, str]]:
    """What may be the right value, with its clause: what stands behind "是" and its like at the end of a clause, and
    what has a form of its own."""
    for clause in _CLAUSE.split(text):
        slip = parts["told_wrongly"].search(clause)
        said = clause[slip.end() :] if slip is not None and not parts["right_ends"].search(clause) else clause
        m = parts["right_value"].search(said)
        value = trim(m["value"] or m["before"]) if m is not None else ""
        bare = parts["right_lead"].sub("", value)
        value = bare if is_typed(bare, parts) else value  # "每天一整片" puts the dose right, not the drug
        if value and len(value) <= _LONGEST and not value.endswith(_DONE):
            yield value, said
        for _, typed in typed_in(said, parts):
            once = parts["right_event"].search(said[: typed.start()]) is not None
            if trim(typed.group()) != value and not once:
                yield trim(typed.group()), said


@dataclass(frozen=True, slots=True)
class _Righted:
    fact: Fact
    wrong: str
    value: str
    object: str
    text: str
    shared: int
    last: bool


def meant(c: Candidate, facts: Sequence[Fact], lexicon: Lexicon) -> list[tuple[Fact, str, str]]:
    """The fact that holds a wrong value, with its object and text put right; nothing when none is meant clearly."""
    told = {e.message_id for e in c.evidence}
    able = [f for f in reversed(facts) if may_be_wrong(f, c) and not any(e.message_id in told for e in f.evidence)]
    if not able:
        return []
    last = {e.message_id for e in max(able, key=lambda f: f.last_seen_at).evidence}
    found = []
    for spoken, clause in c.loose:
        value = normal(spoken)
        rest = _rest(c.text, value, lexicon)
        bare = not words(_rest(clause, value, lexicon), lexicon.gate.function)
        if any(value in normal(f.text) and _shared(f, value, c.text, rest, lexicon) for f in able):
            continue  # it is known already: somebody else was wrong
        near = [f for f in able if any(e.message_id in last for e in f.evidence)]
        for f in able:
            r = _righted(f, spoken, c.text, lexicon, last=f in near, alone=bare and len(near) == 1)
            found += [r] if r is not None else []
    best = max(found, key=lambda r: (r.shared, r.last), default=None)
    if best is None:
        return []
    # "我老婆在人民医院当护士": what else was told in the same words holds the wrong value in its text
    beside = [
        f
        for f in able
        if f.id != best.fact.id
        and f.evidence == best.fact.evidence
        and best.wrong in f.text
        and best.wrong not in f.object
    ]
    return [
        (best.fact, best.object, best.text),
        *((f, f.object, f.text.replace(best.wrong, best.value)) for f in beside),
    ]


def _rest(text: str, value: str, lexicon: Lexicon) -> str:
    """What is said beside the value and the slip."""
    return lexicon.rules("zh").parts["wrong_only"].sub("，", text.replace(value, "，"))


def _righted(f: Fact, spoken: str, said: str, lexicon: Lexicon, *, last: bool, alone: bool) -> _Righted | None:
    """The fact with the value in the place of its own one; None when it is not meant or has no such place."""
    told = _DATED.sub("", f.text)
    text, value = normal(told), normal(spoken)
    parts, rest = lexicon.rules("zh").parts, _rest(said, value, lexicon)
    wrong, new = put(text, normal(f.object), value, parts)
    if not new or value in text or _is_of_another(f, rest, lexicon):
        return None
    shared = _shared(f, wrong, said, rest, lexicon)
    if not shared and not (last and (is_typed(value, parts) or alone)):
        return None
    at = next(i for i in range(len(text)) if text[:i] + value + text[i + len(wrong) :] == new)
    new = told[:at] + spoken + told[at + len(wrong) :]
    held = normal(f.object)
    object_ = f.object
    if f.object == f.text:
        object_ = new
    elif wrong in held:
        first = held.rfind(wrong)
        object_ = f.object[:first] + spoken + f.object[first + len(wrong) :]
    return _Righted(f, told[at : at + len(wrong)], spoken, object_, new, shared, last)


def _shared(f: Fact, wrong: str, said: str, rest: str, lexicon: Lexicon) -> int:
    """How much of what the correction says is of the fact: words in common, and the noun by which its value is
    called."""
    function, parts = lexicon.gate.function, lexicon.rules("zh").parts
    common = words(normal(f.text).replace(wrong, "，"), function) & words(rest, function)
    base = f.relation.partition(":")[0]
    nouns = lexicon.slot_nouns.get(base, frozenset())
    attributes = (n for n, r in lexicon.rules("zh").attributes.items() if r == base)
    slip = "，".join(c for c in _CLAUSE.split(said) if parts["told_wrongly"].search(c) is not None)
    called = [n for n in (*nouns, *attributes) if not n.isascii()]
    named = _OF_KIND * any(n in slip for n in called) or any(n in rest for n in called)
    of_kin = f.subject != "user" and any(k in rest for k, key in lexicon.rules("zh").kin.items() if key == f.subject)
    return len(common) + int(named) + of_kin


def _is_of_another(f: Fact, rest: str, lexicon: Lexicon) -> bool:
    """Whether the words name a relative, of whom the fact does not tell."""
    kin = lexicon.rules("zh").kin
    named = {key for word, key in kin.items() if (word if len(word) > 1 else f"我{word}") in rest}
    named |= {n for key in named for n in lexicon.narrower.get(key, ())}
    if not named or f.subject in named or f.subject.partition(":")[0] in named:
        return False
    return not any(word in f.text for word, key in kin.items() if key in named)


__all__ = ["RULE", "meant", "only_admits", "righting"]
