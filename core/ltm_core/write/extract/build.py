"""From drafts to candidates: validity, modality, importance, and a text that reads well by itself."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ltm_core.types import Importance, Modality
from ltm_core.write.endings.opposites import tells_opposite
from ltm_core.write.extract.draft import ADDED, Draft
from ltm_core.write.known.revalued_zh import tells_new_value
from ltm_core.write.plan import Candidate, Move, Reach, Utterance
from ltm_core.write.read.kinship import known_as
from ltm_core.write.read.people import Subject, speaker_key
from ltm_core.write.read.scopes import Read
from ltm_core.write.read.times import Aim, validity
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold, trim

_ENTITY_WORDS = re.compile(r"[A-Za-z\u4e00-\u9fff]+")
_MOST_OPEN = 0.5
"""Confidence of a fact that no pattern reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a clause's candidates take from the message around them."""

    utterance: Utterance
    lexicon: Lexicon
    speaker: str | None = None
    prefix: str = ""
    """Words to put before the text so that it says whose life it tells."""
    probability: float = 1.0
    explicit: bool = False


def candidates(read: Read, subject: Subject, drafts: Iterable[Draft], context: Context) -> tuple[Candidate, ...]:
    """The candidates of one clause, composite relations taken apart."""
    found = [d for draft in drafts for d in _parts(draft, subject, context)]
    return tuple(_candidate(read, subject, d, context) for d in found)


def _parts(draft: Draft, subject: Subject, context: Context) -> list[Draft]:
    r, lexicon = draft.relation, context.lexicon
    if r == "moved":
        firm = lexicon.members.get(fold(draft.object), frozenset()) & lexicon.sets["exclusive_sorts"]
        return [replace(draft, relation="served_by" if firm else "lives_in", move="change")]
    if r == "lived_in":
        return [replace(draft, relation="lives_in", modality="past")]
    if r == "works_in":
        return [replace(draft, relation="located_in")]
    if r == "shift_job":
        begin = draft.role_end - len(draft.role)
        employer = replace(draft, relation="works_at", cut=(begin, draft.role_end + 1), role="", role_end=0)
        hours = replace(draft, relation="single:shift", object=trim(draft.role), start=begin, end=draft.role_end)
        return [employer, replace(hours, cut=(draft.role_end, draft.end))]
    if r == "job":
        title = trim(draft.role)
        city = lexicon.rules("zh").parts["city"].match(trim(draft.object)) is not None
        both = [replace(draft, relation="located_in" if city and title else "works_at")]
        if not title:
            return both
        # The role may outlast the place: its words do without it.
        place = (draft.role_end, draft.end) if 0 < draft.role_end < draft.start else (0, 0)
        return [*both, replace(draft, relation="occupation", object=title, cut=place)]
    if r == "occupation":
        placed = lexicon.shared["job_at"].match(draft.object)
        if placed is not None:
            at = draft.start + placed.start("place")
            employer = replace(draft, relation="works_at", object=placed["place"], start=at, end=draft.end)
            end = draft.start + placed.end("role")
            role = replace(draft, object=placed["role"], end=end, cut=(end, draft.end))
            return [employer, role]
        return [draft]
    if r in lexicon.sets["beginnings"] and fold(subject.key) == fold(
        draft.object
    ):  # "Porto is where I live" tells of the speaker
        return [replace(draft, subject=speaker_key(context.utterance)[0])]
    if r == "works_at" and draft.move != "cease" and _is_pupil(subject, context):
        return [replace(draft, relation="studies_at", move="change")]
    if r in ("studies", "works_at") and _is_school(draft, subject, lexicon):
        return [replace(draft, relation="studies_at")]
    if r == "dose" and len(trim(draft.attr)) > 1:  # "二甲双胍加到一天两片": of which medicine
        named = f"{trim(draft.attr)}{draft.object}"
        return [replace(draft, relation="medication", object=named, wrong=trim(draft.attr))]
    if r == "device":
        noun = fold(draft.attr)
        tables = [lexicon.rules(x).attributes for x in ("en", "zh")]
        known = next((t[noun] for t in tables if noun in t), "")
        return [replace(draft, relation=known or f"device:{noun}", wrong="", cut=(0, 0))]
    if r == "favorite":
        attr = lexicon.shared["favourite"].sub("", fold(draft.attr)) or "thing"
        return [replace(draft, relation=f"favorite:{_class_of(attr, lexicon)}")]
    if r in lexicon.sets["with_attribute"] and trim(draft.attr) and not draft.rule.endswith("attribute"):
        return [replace(draft, relation=f"{r}:{fold(draft.attr)}")]
    if r == "address":
        return [replace(draft, relation=lexicon.rules("en").attributes.get(fold(draft.attr), "address"))]
    if r.startswith("kin_") and draft.name and not draft.attr:  # "we moved Meera to …": whoever is known by that name
        meant = [p.key for p in context.utterance.people() if p.name == draft.name]
        return [replace(draft, relation=r.partition("_")[2], subject=meant[0], about_user=False)] if meant else []
    if r == "pet_name" or r.startswith("kin_"):
        rules = [lexicon.rules(language) for language in ("en", "zh", "ja")]
        key = next((t[fold(draft.attr)] for x in rules for t in (x.pets, x.kin) if fold(draft.attr) in t), "pet")
        owner = "" if subject.key == "user" or "/" not in subject.key else subject.key.split("/")[0] + "/"
        named = f"{owner}{key}:{draft.name}" if r == "pet_name" else f"{owner}{key}"
        if draft.move == "change":  # known by the name that is given up
            named = known_as(f"{owner}{key}", context.utterance.people(), lexicon)
        return [replace(draft, relation=r.partition("_")[2], subject=named, about_user=False)]
    foreign = lexicon.shared["foreign_attribute"].search(draft.object) is not None
    of_child, _, held = subject.key.partition(":")
    if r == "is_a" and of_child in lexicon.sets["young"] and held and not held.isascii() and lexicon.is_post(held):
        return [replace(draft, relation=f"single:{fold(held)}", subject=speaker_key(context.utterance)[0])]
    if r == "person_role" and not foreign and lexicon.is_post(fold(draft.object)):
        post = fold(draft.object)
        holds = fold(subject.key) == fold(draft.name)  # "Anna Kowalska is my dentist" tells of the speaker
        child = of_child in lexicon.sets["young"] and not post.isascii()  # whose teacher is the parent's affair too
        if holds or child:
            draft = replace(draft, subject=speaker_key(context.utterance)[0])
        single = post.split(" ")[-1] in lexicon.rules("en").functional or not post.isascii()
        return [replace(draft, relation=f"{'single' if single else 'attribute'}:{post}", object=draft.name)]
    if r == "person_role":
        return [replace(draft, relation="role", subject=draft.name, about_user=False)]
    if r == "status":
        return [replace(draft, subject=_entity(draft, context), about_user=False)]
    return [draft]


def _is_school(draft: Draft, subject: Subject, lexicon: Lexicon) -> bool:
    """Whether a school is named: what somebody is said to study there is the school, and a child works at none."""
    if lexicon.shared["school"].search(draft.object) is None:
        return False
    base = subject.key.split("/")[-1].partition(":")[0]
    return draft.relation == "studies" or base in lexicon.sets["young"]


def _is_pupil(subject: Subject, context: Context) -> bool:
    """Whether a child of the speaker's is told of, who goes to school for all that is said in the last turns ("My
    daughter goes to St Mary's", "She started at Oakwood")."""
    lexicon = context.lexicon
    base = subject.key.split("/")[-1].partition(":")[0]
    if base not in lexicon.sets["young"] or subject.kind != "pronoun":
        return False
    told = [t.content for t in (*context.utterance.earlier, *context.utterance.before) if t.role == "user"]
    return any(lexicon.shared["school"].search(t) or lexicon.shared["school_age"].search(t) for t in told[-3:])


def _class_of(attr: str, lexicon: Lexicon) -> str:
    return lexicon.class_names.get(attr) or lexicon.class_names.get(f"{attr}s") or attr


def _entity(draft: Draft, context: Context) -> str:
    lexicon = context.lexicon
    words = [w.casefold() for w in _ENTITY_WORDS.findall(draft.attr)]
    for kind, spoken in lexicon.identifier_words.items():
        if any(w in words for w in spoken.split("|")) or any(
            s in draft.attr for s in spoken.split("|") if not s.isascii()
        ):
            return f"{kind}:{draft.name}"
    known = context.utterance.known_kinds.get(draft.name)
    return f"{known or lexicon.kind_of_prefix(draft.name) or 'item'}:{draft.name}"


def _candidate(read: Read, subject: Subject, draft: Draft, context: Context) -> Candidate:
    lexicon, utterance = context.lexicon, context.utterance
    relation = lexicon.relation(draft.relation)
    modality = _modality(read, draft, relation.name, lexicon)
    move = _move(read, draft, modality, lexicon)
    valid = validity(
        read,
        utterance,
        lexicon,
        past=modality == "past",
        temporary=modality == "temporary",
        event=move in ("change", "cease") or draft.relation in ("owns", "has_pet", "employment", "marital_status"),
        aim=_aim(read, draft, move, lexicon),
    )
    said = read.clause.text[draft.start : draft.end]
    value = (
        said if len(said) == len(draft.object) and read.clause.norm[draft.start : draft.end] == draft.object else ""
    )
    normalized = head(draft.object, lexicon, read.clause.language)
    broad = lexicon.class_names.get(normalized, "")
    ends = move in ("cease", "correct") or not draft.positive
    classes = (broad,) if broad and ends and relation.family in ("preference", "pet", "language") else ()
    if move == "change" and draft.relation.startswith("device:"):
        changed = lexicon.class_names.get(draft.relation.removeprefix("device:"), "")
        classes = (changed,) if changed else ()
    reordered = relation.name == "reply_style" and move == "change"
    far = ends or draft.wrong or move == "revert" or reordered
    reach: Reach = "class" if classes else "subject" if far else "slot"
    # "房子也换到中关村了": moved as well, and not to one more home.
    one_more = read["additive"] and not (draft.move == "change" and read.clause.language == "zh")
    single = relation.single and modality in ("asserted", "habitual") and not one_more
    if read.clause.language == "zh" and (
        draft.relation in lexicon.sets["recurring"] or (modality == "habitual" and relation.family != "work")
    ):
        valid = replace(valid, dated="", valid_from=utterance.at if modality != "past" else valid.valid_from)
    text = _text(read, subject, draft, context, dated=valid.dated)
    importance: Importance = "high" if context.explicit else relation.importance
    me = draft.subject
    return Candidate(
        subject=me,
        relation=draft.relation,
        object=value or draft.object,
        object_normalized=normalized,
        text=text,
        kind=relation.kind,
        is_positive=draft.positive,
        is_about_user=me == "user",
        modality=modality,
        speaker=context.speaker,
        confidence=round(min(context.probability, _MOST_OPEN if draft.rule == "open" else 1.0), 3),
        relation_confidence=draft.confidence,
        importance=importance,
        single_valued=single,
        move=move,
        reach=reach,
        classes=classes,
        wrong_object=head(draft.wrong, lexicon, read.clause.language) if draft.wrong else None,
        valid_from=valid.valid_from,
        valid_to=valid.valid_to,
        expires_at=valid.expires_at,
        said_at=utterance.at,
        evidence=(read.evidence(utterance.message_id),),
        rule=draft.rule,
    )


def _aim(read: Read, draft: Draft, move: Move, lexicon: Lexicon) -> Aim:
    """How the times in the words of a draft are meant."""
    base = draft.relation.split(":")[0]
    if read.clause.language == "zh":
        begins = move == "change" and base == "works_at"
        return "ahead" if base in lexicon.sets["ahead"] else "begins" if begins else "none"
    if read.clause.language != "en":
        return "none"
    if base in lexicon.sets["recurring"]:
        return "recurring"
    if base in lexicon.sets["ahead"]:
        return "ahead"
    return "begins" if base in lexicon.sets["beginnings"] and move == "change" else "none"


def head(value: str, lexicon: Lexicon, language: str) -> str:
    """What two objects are compared by: folded, without articles, counters and an inner verb."""
    text = fold(value)
    article = lexicon.rules(language).parts.get("article")
    for _ in range(2):
        shorter = article.sub("", text, count=1) if article is not None else text
        shorter = lexicon.shared["inner_verb"].sub("", shorter, count=1).strip()
        if not shorter or shorter == text:
            break
        text = shorter
    return text


def _modality(read: Read, draft: Draft, relation: str, lexicon: Lexicon) -> Modality:
    if draft.modality is not None:
        return draft.modality
    if read["temporary"] and not read["lasting"]:
        return "temporary"
    if read["past"] and relation not in lexicon.sets["timeless"] and not read["change_now"]:
        return "past"
    if relation == "goal":
        return "planned"
    return "habitual" if read["habitual"] else "asserted"


def _move(read: Read, draft: Draft, modality: Modality, lexicon: Lexicon) -> Move:
    if modality == "past":
        return "cease" if lexicon.shared["used_to"].search(read.clause.norm) else "state"
    if draft.rule.endswith(ADDED):
        return "state"
    if draft.move is not None:
        more = draft.move == "change" and read["additive"] and read.clause.language == "en"
        return "state" if more else draft.move  # "put me on ramipril too" ends no other medicine
    if draft.rule == "open" and read["plan"]:
        return "state"  # "我打算换回华为": nothing has changed yet
    if read["correction"]:
        return "correct"
    if not draft.positive and read["hard_cessation"]:
        return "cease"
    if draft.positive and tells_opposite(read.clause.norm, lexicon):
        return "change"
    if read["revert"]:
        return "revert"
    turned = read["change"] and not (read["additive"] and read.clause.language == "en")
    if not turned and read.clause.language == "zh" and draft.positive and not read["additive"]:
        turned = tells_new_value(read.clause.norm, lexicon)
    return "change" if turned else "state"


def _text(read: Read, subject: Subject, draft: Draft, context: Context, *, dated: str) -> str:
    words = read.clause.text
    begin, end = subject.words, len(words)
    a, b = draft.cut
    if draft.whole != (0, 0):
        words = words[begin : draft.whole[0]] + words[draft.start : draft.end] + words[draft.whole[1] : end]
    elif b > a >= begin:
        words = words[begin:a] + words[b:end]
    else:
        words = read.clause.told or words[begin:end]
    text = trim(words.replace("\ufffc", " "))
    if context.prefix and not text.startswith(context.prefix):
        between = {"inherited": " ", "entity": ", "}.get(subject.kind, ": ")
        joint = "" if read.clause.language in ("zh", "ja") else between
        text = f"{context.prefix}{joint}{text}"
    text = re.sub(r"\s+", " ", text)
    return f"{text} ({dated})" if dated else text
