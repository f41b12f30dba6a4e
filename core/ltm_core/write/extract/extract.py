"""From a clause to drafts of facts: relation, object, polarity and what the words do to what was known.

Patterns read the whole clause, frames what follows the subject; the first that fits wins. A clause that none
fits still has a draft in its own words, with a guessed topic as its relation and little confidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ltm_core.write.extract.attributes import named_attribute
from ltm_core.write.extract.coordinated import told_apart
from ltm_core.write.extract.draft import Draft, finish
from ltm_core.write.extract.open_words import contrasted, open_draft
from ltm_core.write.extract.renew import renewed
from ltm_core.write.extract.succession import succession
from ltm_core.write.read.people import Subject
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.expressions import Expression
from ltm_core.write.words.lexicon import Lexicon, Pattern, Rules
from ltm_core.write.words.norm import trim

_MOST_LISTED = 8
_SPANS = ("start", "end", "cut", "whole", "role_end")
"""What a draft says of places in its clause."""
LOOSE = ("owns", "has", "likes", "is_a", "current_location", "habit")
"""Relations whose patterns fit much else: a value said to be new is read first."""
_LONGEST_GREETING = 20
"""Characters before which a speaker may still be saying who it is ("Good afternoon, this is Dana")."""


def drafts(read: Read, subject: Subject, lexicon: Lexicon, *, topic: tuple[str, float]) -> tuple[Draft, ...]:
    """Every fact the clause words, best first; the open-vocabulary draft when nothing fits."""
    rules = lexicon.rules(read.clause.language)
    bare = rules.parts.get("bare_contraction")
    m = bare.match(read.clause.norm[subject.start :]) if bare is not None and subject.kind == "self" else None
    if m is None:
        return told_apart(_drafts(read, subject, lexicon, topic=topic), read, subject, lexicon)
    at = subject.start + m.end()  # "weve got two cats" is read with its mark, which the spans leave out again
    norm = f"{read.clause.norm[:at]}'{read.clause.norm[at:]}"
    marked = Read(replace(read.clause, norm=norm), read.flags, read.veto)
    made = _drafts(marked, subject, lexicon, topic=topic)
    return tuple(replace(d, **{k: _before_mark(getattr(d, k), at) for k in _SPANS}) for d in made)


def _before_mark(span: Any, at: int) -> Any:
    """A place, or two, in a text without the one character that was put in at ``at``."""
    if isinstance(span, int):
        return span - (span > at)
    return tuple(place - (place > at) for place in span)


def _drafts(read: Read, subject: Subject, lexicon: Lexicon, *, topic: tuple[str, float]) -> tuple[Draft, ...]:
    rules = lexicon.rules(read.clause.language)
    succeeding = succession(read, subject, lexicon, sure=True)
    if succeeding is not None:
        return (succeeding,)
    succeeding = succession(read, subject, lexicon, sure=False)
    given_up = _given_up(read, subject, rules)
    for draft in _known(read, subject, rules, lexicon):
        made = finish(draft, lexicon)
        if made is not None and made.positive and given_up and trim(made.object) in given_up:
            made = replace(made, positive=False, move="cease")
        if succeeding is not None and draft.relation in LOOSE:
            continue
        if made is not None and (made.relation not in lexicon.sets["only_temporary"] or read["temporary"]):
            return tuple(_listed(contrasted(made, read, lexicon), rules, lexicon))
    if succeeding is not None:
        return (succeeding,)
    attribute = renewed(read, subject, lexicon) or named_attribute(read, subject, lexicon)
    if attribute is not None:
        return tuple(_listed(attribute, rules, lexicon))
    return open_draft(read, subject, lexicon, topic)


def _given_up(read: Read, subject: Subject, rules: Rules) -> str:
    """The thing that the clause names first and then gives up ("生酮坚持不下来"); else ""."""
    pattern = rules.parts.get("ended_thing")
    m = pattern.match(read.clause.norm[subject.start :]) if pattern is not None else None
    return m["thing"] if m is not None else ""


def _known(read: Read, subject: Subject, rules: Rules, lexicon: Lexicon) -> Iterator[Draft]:
    norm = read.clause.norm
    soft = lexicon.shared["soft_end"].search(norm, subject.start)
    end = soft.start() if soft else len(norm)
    hard = rules.parts["tail"].search(norm, subject.start)
    bare_end = min(end, hard.start()) if hard else end
    whole_end, bare_end = (end, bare_end) if rules.language != "en" else (bare_end, end)
    gone = rules.parts.get("pet_gone")
    species = _species(subject, rules)
    if species and gone is not None and gone.match(norm[subject.rest : end]):
        yield _pet_gone(norm, subject, rules)
    named = rules.parts.get("pet_named") if species and ":" not in subject.key else None
    m = named.match(norm[subject.rest : end]) if named is not None else None
    if m is not None:
        at = subject.rest + m.start("name")
        yield Draft(
            subject=subject.key, relation="pet_name", object=m["name"], start=at, end=at + len(m["name"]),
            rule=f"{rules.language}.pet_named", attr=_word_for(species, rules), name=m["name"], about_user=False,
        )  # fmt: skip
    names = rules.parts.get("names_speaker")
    if names is not None and read.clause.start > _LONGEST_GREETING and names.match(norm[subject.start :]):
        return
    if not subject.owns:
        denied = rules.parts["denied_last"].search(norm[:whole_end]) if rules.language == "en" else None
        stops = (whole_end, bare_end) if denied is None or not read["correction"] else (denied.start(), whole_end)
        for stop in dict.fromkeys(stops):
            text = norm[subject.start : stop]
            yield from _matches(rules.patterns, text, subject.start, subject, rules, lexicon)
        timed = rules.parts.get("time_lead")
        m = timed.match(norm, subject.start) if timed is not None and subject.kind in ("self", "dropped") else None
        if m is not None and m.end() < whole_end:  # "上周一入职京东": when it happened is no part of what happened
            yield from _matches(rules.patterns, norm[m.end() : whole_end], m.end(), subject, rules, lexicon)
        topical = rules.parts.get("topic")
        if topical is not None and subject.kind in ("dropped", "stranger"):
            yield from _topical(topical, norm[subject.start : end], subject, rules, lexicon)
        least = min(whole_end, bare_end)
        if subject.kind not in ("self", "dropped"):
            for stop in dict.fromkeys((whole_end, least) if rules.language == "zh" else (least,)):
                yield from _as_self(norm, stop, subject, rules, lexicon)
        yield from _matches(rules.frames, norm[subject.rest : least], subject.rest, subject, rules, lexicon)


def _species(subject: Subject, rules: Rules) -> str:
    """The kind of animal that the subject is; empty for anybody else."""
    species = subject.key.split("/")[-1].split(":")[0]
    named = subject.kind in ("pet", "inherited") or (subject.kind == "entity" and ":" in subject.key)
    return species if named and species in rules.pets.values() else ""


def _word_for(species: str, rules: Rules, norm: str = "") -> str:
    """A word for a kind of animal, one of the clause if it names any."""
    words = [w for w, k in rules.pets.items() if k == species]
    return next((w for w in words if w in norm), words[-1] if words else species)


def _pet_gone(norm: str, subject: Subject, rules: Rules) -> Draft:
    """An animal that died or was given away is no longer kept."""
    word = _word_for(subject.key.split("/")[-1].split(":")[0], rules, norm.lower())
    owner = subject.key.split("/")[0] if "/" in subject.key else "user"
    return Draft(
        subject=owner,
        relation="has_pet",
        object=word,
        start=max(0, norm.lower().find(word)),
        end=max(0, norm.lower().find(word)) + len(word),
        positive=False,
        move="cease",
        rule=f"{rules.language}.pet_gone",
    )


def _as_self(norm: str, end: int, subject: Subject, rules: Rules, lexicon: Lexicon) -> Iterator[Draft]:
    """Patterns written for the first person, read of a relative: his verb forms are made ours in place."""
    rest = norm[subject.rest : end]
    if rules.language == "en":
        rest = re.sub(r"^'s ", "'m ", re.sub(r"^ is ", " am ", rest))
        yield from _matches(rules.patterns, "i" + rest, subject.rest - 1, subject, rules, lexicon)
    else:
        bare = rest.lstrip()
        offset = subject.rest + len(rest) - len(bare)
        yield from _matches(rules.patterns, bare, offset, subject, rules, lexicon)


def _matches(
    patterns: tuple[Pattern, ...], text: str, offset: int, subject: Subject, rules: Rules, lexicon: Lexicon
) -> Iterator[Draft]:
    own_start = subject.kind in ("kin", "pet") and offset == subject.start < subject.rest
    gerund = lexicon.rules("en").parts["gerund_first"]
    index = rules.frame_index if patterns is rules.frames else rules.pattern_index
    for i in index.possible(text):
        p = patterns[i]
        m = p.regex.match(text)
        if m is None or (subject.kind == "dropped" and gerund.match(text)):
            continue
        if subject.kind == "inherited" and m.groupdict().get("kin"):
            continue  # "我室友跟他女朋友散了，现在的对象叫孟瑶": the relative's own
        if own_start and not ("kin" in m.groupdict() or "pet" in m.groupdict()):
            continue
        g = m.groupdict()
        key = "object2" if g.get("object") is None and g.get("object2") else "object"
        value = g.get(key) or ""
        start, end = m.span(key) if value else (0, len(text))
        day = lexicon.shared["on_day"].search(value) if p.relation in lexicon.sets["places"] else None
        if day is not None and day.start():
            value, end = value[: day.start()], start + day.start()
        pre = (g.get("pre") or "") + (g.get("pre2") or "")
        negated = bool(pre and rules.parts["neg"].search(pre))
        once = rules.parts.get("past_denied")
        if negated and p.relation == "habit" and once is not None and once.search(pre):
            continue  # "I didn't go to the gym on Tuesday" gives up nothing
        wrong = trim(g.get("wrong") or "")
        yield Draft(
            subject=p.subject or subject.key,
            relation=p.relation,
            object=value or text,
            start=offset + start,
            end=offset + end,
            positive=p.positive != negated,
            move=p.move,
            modality=p.modality,
            wrong=wrong,
            cut=_cut(text, m, offset, lexicon) if wrong else _aside(m, offset),
            confidence=p.confidence,
            strong=p.strong,
            rule=p.name,
            attr=g.get("attr") or g.get("pet") or g.get("kin") or g.get("entity") or "",
            name=g.get("name") or g.get("named") or g.get("id") or "",
            role=g.get("role") or g.get("degree") or "",
            role_end=offset + m.end("role") if g.get("role") else 0,
            about_user=not p.subject,
        )


def _aside(m: re.Match[str], offset: int) -> tuple[int, int]:
    """Where a pattern finds what only names the thing that is left ("handed in my notice at Royal Mail")."""
    if "aside" not in m.groupdict() or m["aside"] is None:
        return (0, 0)
    return offset + m.start("aside"), offset + m.end("aside")


def _cut(text: str, m: re.Match[str], offset: int, lexicon: Lexicon) -> tuple[int, int]:
    a, b = m.span("wrong")
    left = lexicon.shared["cut_left"].search(text[:a])
    right = lexicon.shared["cut_right"].search(text[b:])
    if left is None:
        return (0, 0)
    if text[:a].endswith(("把", "将")):
        return offset + left.start(), offset + b
    if text[:a].endswith("从") and right is not None:
        return offset + left.start(), offset + b + right.end() - len(right.group())
    return offset + left.start(), offset + b + (right.end() if right else 0)


def _topical(pattern: Expression, text: str, subject: Subject, rules: Rules, lexicon: Lexicon) -> Iterator[Draft]:
    """An object put first ("羽毛球我不打了"): the verb after it says the relation."""
    m = pattern.match(text)
    if m is None:
        return
    verb, pre = m["verb"], m["pre"] or ""
    relation = rules.topic_verbs.get(verb, "does")
    negated = bool(rules.parts["neg"].search(pre)) or verb in lexicon.sets["ending_verbs"]
    yield Draft(
        subject=subject.key,
        relation=relation,
        object=m["object"],
        start=subject.start + m.start("object"),
        end=subject.start + m.end("object"),
        positive=not negated,
        confidence=0.85,
        rule=f"{rules.language}.topic",
    )


def _listed(draft: Draft, rules: Rules, lexicon: Lexicon) -> Iterator[Draft]:
    """One draft per item of a short list, else the draft as it is."""
    marks = rules.parts["list_mark"]
    items = [(m.start(), m.end()) for m in marks.finditer(draft.object)]
    if draft.relation not in lexicon.sets["listed"] or not items or draft.wrong:
        yield draft
        return
    edges = [0, *(e for pair in items for e in pair), len(draft.object)]
    spans = [(edges[i], edges[i + 1]) for i in range(0, len(edges), 2)]
    if draft.relation == "has_pet" and rules.language == "en":
        spans = _with_names(draft.object, spans, rules)
        if len(spans) == 1:
            yield draft
            return
    parts = [draft.object[a:b].strip() for a, b in spans]
    longest = 4 if rules.language == "en" else 8
    sizes = [len(p.split()) if rules.language == "en" else len(p) for p in parts]
    if not 1 < len(parts) <= _MOST_LISTED or min(sizes) < 1 or max(sizes) > longest:
        yield draft
        return
    bare = rules.parts.get(f"list_item_{draft.relation}")
    for (a, _), part in zip(spans, parts, strict=True):
        begin = draft.start + a + (len(draft.object[a:]) - len(draft.object[a:].lstrip()))
        m = bare.match(part) if bare is not None else None
        if m is not None:  # "a dairy allergy and a nut allergy"
            begin, part = begin + m.start("item"), m["item"]
        yield replace(draft, object=part, start=begin, end=begin + len(part), whole=(draft.start, draft.end))


def _with_names(listed: str, spans: Sequence[tuple[int, int]], rules: Rules) -> list[tuple[int, int]]:
    """The items of a list in which an animal and its name are one: "a dog, Rex, and a cat, Mia"."""
    out: list[tuple[int, int]] = []
    for a, b in spans:
        if out and rules.parts["one_named"].match(listed[out[-1][0] : b].strip()):
            out[-1] = (out[-1][0], b)
        else:
            out.append((a, b))
    return out
