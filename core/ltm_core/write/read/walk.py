"""The clauses of a message with their subjects: who each speaks of, carried from clause to clause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ltm_core.write.plan import Turn, Utterance
from ltm_core.write.read.between import told_between
from ltm_core.write.read.clauses import plain_form, split
from ltm_core.write.read.kinship import known_as, spoken_of_before
from ltm_core.write.read.named_others import is_unknown
from ltm_core.write.read.people import Subject, speaker_key, subject_of
from ltm_core.write.read.scopes import Read, read
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import normal, trim

_LOOK_BACK = 3
"""The user's last turns in which the one a pronoun means may have been spoken of."""
_OWN = ("kin", "pet", "entity", "circle")
_OTHER = ("dropped", "stranger", "circle", "entity")
"""Subjects of clauses that may tell of somebody who is named between commas."""
_MOST_READ = 2000
_NOBODY = "-"
"""A thing just bought: what is said of it is nobody's age or colour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """A clause, whose life it tells, and the words that say so when they stand in an earlier clause."""

    read: Read
    subject: Subject
    prefix: str = ""


def walk(utterance: Utterance, reads: Sequence[Read], lexicon: Lexicon) -> tuple[Spoken, ...]:
    """Every clause with its subject. Vetoed ones too: they may still carry a subject on."""
    me, _ = speaker_key(utterance)
    entities = _relatives(utterance.known_entities, lexicon) | _introduced(utterance.before, lexicon)
    if any(lexicon.shared["may_be_name"].match(r.clause.norm) for r in reads):
        entities = {p.name: p.key for p in utterance.people() if p.name} | entities
    found: list[Spoken] = []
    inherited, words, sentence, stranger = "", "", -1, False
    kept = ""
    between = told_between(reads, lexicon)
    for i, r in enumerate(reads):
        if r.clause.sentence != sentence and not r["third_person"]:
            inherited, words, stranger = "", "", False
        sentence = r.clause.sentence
        subject = subject_of(r.clause, lexicon, me=me, inherited=inherited, entities=entities)
        if subject.kind == "stranger" and not inherited and _names_nobody(found):
            key, words = _mentioned(found, r, subject, lexicon)
            if not key:
                key, words = _meant_before(r, subject, utterance, lexicon)
            if key:
                subject = replace(subject, key=key, kind="pronoun")
                inherited = key
        subject = _named_in_front(reads, i, subject, lexicon)
        key, told = _relative(found, r, lexicon)
        if key:
            start = len("who")
            subject = Subject(
                key=key, rest=start, start=start, kind="pronoun", words=start if r.clause.norm[start] == " " else 0
            )
            inherited, words = key, told
        may_be = (*_OTHER, "kin", "inherited") if i in between and between[i].owned else _OTHER
        if i in between and (between[i].owned or not inherited) and subject.kind in may_be:
            name = between[i].name
            subject = replace(subject, key=name, kind="entity" if name else "stranger")
        subject = _as_known(subject, utterance, lexicon)
        if subject.kind == "dropped" and inherited and not r["first_person"]:
            subject = replace(subject, key=inherited, kind="inherited")
        if kept and subject.kind in ("dropped", "inherited", "stranger") and _is_detail(r, lexicon):
            subject = replace(subject, key=kept, kind="inherited" if kept != _NOBODY else "stranger")
            if kept == _NOBODY:
                subject = replace(subject, key="")
        if (
            is_unknown(r.clause, subject, utterance, entities, lexicon)
            or _is_strangers(r, subject, lexicon, stranger=stranger)
            or _is_reported(r, subject, lexicon)
        ):
            subject = replace(subject, key="", kind="stranger")
        other = lexicon.rules(r.clause.language).parts.get("named_other")
        r.flags["of_other"] = (
            other is not None
            and subject.kind == "dropped"
            and other.match(r.clause.norm[subject.start :]) is not None
        )
        stranger = subject.kind == "stranger" or r["of_other"]
        kept = _thing(r, subject, lexicon) or (kept if subject.kind != "self" else "")
        carried = subject.kind in ("inherited", "pronoun")
        named = between[i].words if i in between and subject.kind == "entity" else ""
        if subject.kind in ("kin", "pet") and ":" in subject.key and _bare_name(reads, i, lexicon):
            named = _bare_name(reads, i, lexicon)
        found.append(Spoken(read=r, subject=subject, prefix=words if carried else named))
        if subject.kind in _OWN:
            inherited, words = subject.key, trim(r.clause.text[subject.start : subject.rest].removesuffix("的"))
        elif subject.kind == "pronoun" and not any(s.subject.kind in _OWN for s in found):
            inherited = subject.key
        elif subject.kind in ("self", "stranger") or (subject.kind == "dropped" and not r["first_subject"]):
            inherited, words = _introduces(r, subject, lexicon)
        r.flags["own_kin"] = subject.kind in ("kin", "pet", "pronoun", "inherited", "entity", "circle")
        if r["own_kin"]:
            r.flags["third_person"] = False
        if subject.kind in _OWN:
            r.flags["after_command"] = False  # who is named anew is no detail of the order before
        entities |= _introduced([Turn(id="", role="user", content=r.clause.text)], lexicon)
    return tuple(found)


def _bare_name(reads: Sequence[Read], i: int, lexicon: Lexicon) -> str:
    """The name that stands by itself before a clause of its sentence ("Rolo, our labrador, sleeps ..."); else ""."""
    part = lexicon.rules(reads[i].clause.language).parts.get("name_between")
    if i == 0 or part is None or reads[i - 1].clause.sentence != reads[i].clause.sentence:
        return ""
    m = part.match(trim(reads[i - 1].clause.norm))
    return m["name"] if m is not None and m["name"].lower() not in lexicon.sets["no_names"] else ""


def _named_in_front(reads: Sequence[Read], i: int, subject: Subject, lexicon: Lexicon) -> Subject:
    """The subject with the name that stands in front of it, if the clause goes on behind a comma."""
    name = _bare_name(reads, i, lexicon) if subject.kind in ("kin", "pet") and ":" not in subject.key else ""
    after = reads[i].clause.norm[subject.rest :]
    if not name or not after.lstrip().startswith(","):
        return subject
    skip = len(after) - len(after.lstrip(" ,"))
    return replace(subject, key=f"{subject.key}:{name}", rest=subject.rest + skip)


def _names_nobody(found: Sequence[Spoken]) -> bool:
    """Whether the clauses so far tell of nobody but the speaker."""
    return all(s.subject.kind in ("self", "dropped", "assistant") for s in found)


def _mentioned(found: Sequence[Spoken], r: Read, subject: Subject, lexicon: Lexicon) -> tuple[str, str]:
    """Whom the pronoun that begins the clause means, if the clause before names one relative or animal of the speaker
    in passing ("a party for my son Harvey, he turns 7")."""
    before = found[-1].read if found else None
    rules = lexicon.rules(r.clause.language)
    pattern, pronoun = rules.parts.get("mentioned"), lexicon.shared["pronoun"].match(r.clause.norm[subject.start :])
    if before is None or pattern is None or pronoun is None or before.veto in ("fiction", "quotation", "injection"):
        return "", ""
    named = list(pattern.finditer(before.clause.norm))
    if len(named) != 1 or named[0]["own"]:
        return "", ""
    word, name = named[0]["kin"].lower(), (named[0]["name"] or "").lstrip(", ")
    key = rules.kin.get(word) or rules.pets.get(word) or ""
    key = f"{key}:{name}" if key and name else key
    told = [("kin", key, before.clause.text[named[0].start() : named[0].end()])]
    return spoken_of_before(pronoun["p"].lower(), told, lexicon)


def _relative(found: Sequence[Spoken], r: Read, lexicon: Lexicon) -> tuple[str, str]:
    """Whom "who" goes on about: the relative, the animal or the one called so with whom the clause before ends."""
    before = found[-1].read if found else None
    rules = lexicon.rules(r.clause.language)
    relative, pattern = rules.parts.get("who_is_it"), rules.parts.get("mentioned")
    if before is None or relative is None or pattern is None or relative.match(r.clause.norm) is None:
        return "", ""
    if before.clause.sentence != r.clause.sentence or before.veto in ("fiction", "quotation", "injection"):
        return "", ""
    said = before.clause.norm.rstrip(" ,")
    for m in pattern.finditer(said):
        if m.end() == len(said) and not m["own"]:
            word, name = m["kin"].lower(), (m["name"] or "").lstrip(", ")
            key = rules.kin.get(word) or rules.pets.get(word) or ""
            return (f"{key}:{name}" if key and name else key), before.clause.text[m.start() : m.end()]
    called = rules.parts["name_is_told"].search(said)
    return (called["name"], called["name"]) if called is not None else ("", "")


def _meant_before(r: Read, subject: Subject, utterance: Utterance, lexicon: Lexicon) -> tuple[str, str]:
    """Whom the pronoun that begins the clause means, of those told of in the user's last turns, and the words that
    named him or her."""
    pronoun = lexicon.shared["pronoun"].match(r.clause.norm[subject.start :])
    if pronoun is None:
        return "", ""
    turns = [t for t in utterance.before if t.role == "user"] or [t for t in utterance.earlier if t.role == "user"]
    return spoken_of_before(pronoun["p"].lower(), _told_before(turns[-_LOOK_BACK:], utterance, lexicon), lexicon)


def _told_before(turns: Sequence[Turn], utterance: Utterance, lexicon: Lexicon) -> Iterator[tuple[str, str, str]]:
    """Whom the clauses of earlier turns tell of, the last first: kind of subject, key, and the words."""
    for turn in reversed(turns):
        text = turn.content[:_MOST_READ]
        said = replace(utterance, message_id=turn.id, content=text, before=(), earlier=())
        for s in reversed(walk(said, read(split(text, lexicon, plain=plain_form(text)), lexicon), lexicon)):
            words = s.prefix or s.read.clause.text[s.subject.start : s.subject.rest]
            yield s.subject.kind, s.subject.key, trim(words.removesuffix("的"))


def _as_known(subject: Subject, utterance: Utterance, lexicon: Lexicon) -> Subject:
    """The subject under the key by which the relative or the animal is known already."""
    if subject.kind not in ("kin", "pet") or not subject.key:
        return subject
    if "/" in subject.key:
        return subject
    return replace(subject, key=known_as(subject.key, utterance.people(), lexicon))


def _introduces(r: Read, subject: Subject, lexicon: Lexicon) -> tuple[str, str]:
    """ "I have a brother who …": the relative that the next clause goes on about."""
    pattern = lexicon.rules(r.clause.language).parts.get("introduces")
    m = pattern.match(r.clause.norm[subject.rest :]) if pattern is not None else None
    if m is None or r.veto or subject.kind == "stranger":
        return "", ""
    word = m["kin"]
    owner = "" if subject.key == "user" else f"{subject.key}/"
    mine = {"en": "my ", "zh": "我", "ja": ""}[r.clause.language]
    return owner + lexicon.rules(r.clause.language).kin[word.lower()], f"{mine}{word}"


def _thing(r: Read, subject: Subject, lexicon: Lexicon) -> str:
    """The animal or thing that a clause brings in ("养了只猫", "买了辆车"), which the next ones may describe."""
    parts = lexicon.rules(r.clause.language).parts
    if "keeps_pet" not in parts or subject.kind not in ("self", "dropped") or r.veto == "question":
        return ""
    told = r.clause.norm[subject.rest :]
    pet = parts["keeps_pet"].match(told)
    if pet is not None:
        owner = "" if subject.key == "user" else f"{subject.key}/"
        return owner + lexicon.rules(r.clause.language).pets[pet["pet"].lower()]
    return _NOBODY if parts["thing"].match(told) else ""


def _is_detail(r: Read, lexicon: Lexicon) -> bool:
    pattern = lexicon.rules(r.clause.language).parts.get("detail")
    return pattern is not None and not r["first_person"] and pattern.match(r.clause.norm) is not None


def _is_reported(r: Read, subject: Subject, lexicon: Lexicon) -> bool:
    """Whether a relative only says something of his own: that is hearsay."""
    pattern = lexicon.rules(r.clause.language).parts.get("reported")
    if pattern is None or subject.kind not in ("kin", "pet", "entity"):
        return False
    rest = r.clause.norm[subject.rest :]
    first = lexicon.rules(r.clause.language).flags["first_person"]
    return pattern.match(rest) is not None and not first.search(rest)


def _behind_opener(r: Read, lexicon: Lexicon) -> str:
    """The clause without "my colleague", "I heard": the words that make it a stranger's."""
    m = lexicon.rules(r.clause.language).flags["third_person"].search(r.clause.norm)
    return r.clause.norm if m is None else r.clause.norm[: m.start()] + r.clause.norm[m.end() :]


def _is_strangers(r: Read, subject: Subject, lexicon: Lexicon, *, stranger: bool) -> bool:
    """Whether a clause without the speaker tells of someone who is not his: named so, or carried on."""
    if r["first_person"] and lexicon.rules(r.clause.language).flags["first_person"].search(
        _behind_opener(r, lexicon)
    ):
        return False
    if subject.kind in ("dropped", "self"):
        shared = lexicon.rules(r.clause.language).parts.get("shared_event")
        common = shared is not None and shared.match(r.clause.norm) is not None
        return r["third_person"] or (stranger and subject.kind == "dropped" and not common)
    return stranger and subject.kind in ("kin", "pet", "pronoun", "inherited")


def _relatives(known: Sequence[str], lexicon: Lexicon) -> dict[str, str]:
    """Names of relatives and animals among the remembered entities ("sister:Helen"), with their subject."""
    kinds = {k for rules in lexicon.languages.values() for k in (*rules.kin.values(), *rules.pets.values())}
    pairs = ((entity.partition(":"), entity) for entity in known)
    return {name: entity for (kind, _, name), entity in pairs if name and kind in kinds}


def _introduced(turns: Sequence[Turn], lexicon: Lexicon) -> dict[str, str]:
    """Names of people and animals whom the user introduced as his own, with their subject."""
    names: dict[str, str] = {}
    for turn in turns:
        if turn.role != "user":
            continue
        text = normal(turn.content[:_MOST_READ])
        english = lexicon.rules("en")
        for language in ("en", "zh"):
            for m in lexicon.rules(language).parts["introduced"].finditer(text):
                name = next(g for g in m.groups() if g)
                if name.lower() not in lexicon.sets["no_names"]:
                    names[name] = name
        for m in english.parts["named_kin"].finditer(text):
            names[m["name"]] = f"{english.kin[m['kin'].lower()]}:{m['name']}"
        for language in ("en", "zh"):
            rules = lexicon.rules(language)
            for m in rules.parts["named_pet"].finditer(text):
                names[m["name"]] = f"{rules.pets[m['pet'].lower()]}:{m['name']}"
    return names
