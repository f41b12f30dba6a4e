"""What the word knowledge of the write path holds: cues, frames, patterns, relations, kin, classes and the gate's
weights. All of it is data under ``ltm_core/lexicon/write``, which `load` reads."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ltm_core.types import FactKind, Importance, Modality
from ltm_core.write.learned.gate import Gate
from ltm_core.write.plan import Move
from ltm_core.write.words.apostrophes import Contractions
from ltm_core.write.words.expressions import AnyOf, Expression, Index, Lazy
from ltm_core.write.words.topic_words import Topics

_LETTERS = re.compile(r"[A-Za-z]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """What is known of one relation: how many values it holds, and how much its facts matter."""

    name: str
    single: bool = False
    kind: FactKind = "fact"
    importance: Importance = "medium"
    family: str = ""
    """Relations of one family speak of the same things: what ends one ends the others (eats, drinks, likes)."""
    slot: str = "other"
    replaces: bool = False
    """Holds several values, but "now X" or "changed to X" ends the one value known."""


@dataclass(frozen=True, slots=True)
class Opposite:
    """What is read in words, and what cannot be true any more then."""

    name: str
    now: Lazy
    was: Lazy
    anyone: bool = False
    """Whether it may be over for any of the speaker's people: the baby that arrived was expected by "my wife"."""
    denied: bool = False
    """Whether what was not so yet may be over, too ("还没批")."""
    holds: bool = False
    """Whether the words tell what holds instead, and not only an end."""
    ends: bool = False
    """Whether they tell an end and nothing besides, however they are worded."""
    one: bool = False
    """Whether the words name only the sort of the thing: of several that are known none is meant for sure."""
    kind: str = ""
    """Of which kind both tell a value, of which there is one at a time; empty when the expressions catch it."""
    sign: bool = False
    """Whether the words must also say that something changed."""
    shared: bool = False
    """Whether both must name the same thing besides."""

    @property
    def gives_value(self) -> bool:
        """Whether it is of what has one value at a time."""
        return bool(self.kind) or "(?P<v>" in self.now.source


class Opposites:
    """Many of them, of which few may be told by a text."""

    __slots__ = ("_index", "members")

    def __init__(self, members: Sequence[Opposite]) -> None:
        self.members = tuple(members)
        self._index = Index([o.now for o in self.members])

    def possible(self, text: str) -> list[Opposite]:
        return [self.members[i] for i in self._index.possible(text)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """One way of saying a relation, as a regular expression with a group ``object``."""

    name: str
    regex: Lazy
    relation: str
    positive: bool = True
    move: Move | None = None
    modality: Modality | None = None
    subject: str = ""
    """A fixed subject, such as ``assistant``."""
    confidence: float = 0.95
    strong: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question of the assistant's about the user, and the sentence that a bare answer to it stands for."""

    regex: re.Pattern[str]
    says: str
    """With ``{v}`` for the answer, ``{who}`` for the relative asked about, ``{attr}`` for the thing asked for."""
    unit: str = ""
    """What a bare number counts."""
    place: str = ""
    """The sentence that a place told behind the answer stands for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Everything compiled for one language."""

    language: str
    flags: Mapping[str, AnyOf]
    patterns: tuple[Pattern, ...] = ()
    frames: tuple[Pattern, ...] = ()
    standing: tuple[Pattern, ...] = ()
    questions: tuple[Question, ...] = ()
    """What the assistant asks of the user, most particular first."""
    pattern_index: Index = field(default_factory=lambda: Index(()))
    frame_index: Index = field(default_factory=lambda: Index(()))
    cues: tuple[tuple[str, Lazy], ...] = ()
    """Every expression of every clause cue, with the cue's name."""
    cue_names: tuple[str, ...] = ()
    cue_index: Index = field(default_factory=lambda: Index(()))
    parts: Mapping[str, Expression] = field(default_factory=dict)
    kin: Mapping[str, str] = field(default_factory=dict)
    pets: Mapping[str, str] = field(default_factory=dict)
    functional: frozenset[str] = frozenset()
    """Nouns of which a person has one value ("blood type", "车牌号")."""
    asked: Mapping[str, str] = field(default_factory=dict)
    """Ways of naming an attribute in a request to forget it -> relation."""
    topic_verbs: Mapping[str, str] = field(default_factory=dict)
    """Verb after an object put first -> relation."""
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Folded noun of a person's attribute -> relation."""

    @property
    def joint(self) -> Expression:
        return self.parts["joint"]

    def opens(self, text: str) -> bool:
        """Whether what stands before a colon introduces something rather than naming its left half."""
        names = ("body_open", "fiction_open", "command", "remember", "correction", "injection", "quotation")
        return any(self.flags[n].search(text) for n in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """The compiled word knowledge of all languages."""

    languages: Mapping[str, Rules]
    relations: Mapping[str, Relation]
    classes: Mapping[str, Mapping[str, str]]
    """Folded member -> class, per class name; see ``classes.tsv``."""
    members: Mapping[str, frozenset[str]]
    """Folded word -> the classes it belongs to."""
    class_names: Mapping[str, str]
    """Folded name of a class, as people say it ("fruit", "水果") -> class."""
    gate: Gate
    shared: Mapping[str, Expression] = field(default_factory=dict)
    """Expressions that serve all languages, by name."""
    masks: tuple[re.Pattern[str], ...] = ()
    """What stands in a message without being its author's word, in the order in which it is blanked."""
    sets: Mapping[str, frozenset[str]] = field(default_factory=dict)
    identifiers: tuple[Mapping[str, str], ...] = ()
    identifier_words: Mapping[str, str] = field(default_factory=dict)
    identifier_codes: Mapping[str, Expression] = field(default_factory=dict)
    """What is said around a code that numbers something; see `coded`."""
    identifier_prefixes: Mapping[str, str] = field(default_factory=dict)
    identifier_neighbours: Mapping[str, str] = field(default_factory=dict)
    """What must be said beside an identifier of a shape that others share, by name."""
    slot_nouns: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Per relation, the nouns by which its value is called ("my major" of what one studies)."""
    narrower: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Per loose word for a relative, those that it may mean ("child": "son")."""
    opposites: Opposites
    """What is read in words, and what of the same subject cannot be true any more then."""
    events: Mapping[str, Opposites] = field(default_factory=dict)
    """Per language, what happened, and what is over then."""
    contractions: Contractions
    """Short forms that are typed without their apostrophe."""
    progress: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Per language, how the state of what an identifier names is told after it; see `progress`."""
    topics: Mapping[str, Topics] = field(default_factory=dict)
    """Per language, by what words a topic is named and told."""
    kinds: Mapping[str, Mapping[str, Lazy]] = field(default_factory=dict)
    """Per kind of English values, the words of each ("mode": "bike", by "cycle" or "pedal")."""
    numbers: Mapping[str, int] = field(default_factory=dict)
    """English words for numbers."""

    def rules(self, language: str) -> Rules:
        """The rules of a language; of English when there are none."""
        return self.languages.get(language) or self.languages["en"]

    def kind_of_prefix(self, value: str) -> str | None:
        """What an identifier names by the letters it begins with ("ORD-1" is an order); None when unknown."""
        letters = _LETTERS.match(value)
        return self.identifier_prefixes.get(letters.group().upper()) if letters else None

    def is_single_valued(self, relation: str) -> bool:
        """Whether a subject has one value of the relation at a time; False for an unknown one."""
        return self.relation(relation).single

    def family_of(self, name: str) -> tuple[str, ...]:
        """The relation and those that speak of the same things."""
        family = self.relation(name).family
        kin = [r.name for r in self.relations.values() if family and r.family == family and "*" not in r.name]
        return tuple(dict.fromkeys([name, *kin]))

    def relation(self, name: str) -> Relation:
        """What is known of a relation; an unknown one is multi-valued."""
        known = self.relations.get(name)
        if known is not None:
            return known
        base, _, _rest = name.partition(":")
        known = self.relations.get(base + ":*")
        if known is None:
            return Relation(name=name)
        return replace(known, name=name)

    def is_post(self, noun: str) -> bool:
        """Whether one person holds the post for the speaker at a time."""
        posts = self.sets["posts"]
        return noun.split(" ")[-1] in posts or (
            not noun.isascii() and any(noun[i:] in posts for i in range(len(noun)))
        )
