"""The word knowledge of the write path: cues, frames, patterns, relations, kin, classes and the gate's weights.

All of it is data under ``ltm_core/lexicon/write``; this module only compiles it. `default_lexicon` reads it once.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Any, cast

from ltm_core.types import FactKind, Importance, Modality
from ltm_core.write.learned.gate import Gate, load_gate
from ltm_core.write.plan import Move
from ltm_core.write.words.apostrophes import Contractions, contractions
from ltm_core.write.words.expressions import AnyOf, Index, Lazy
from ltm_core.write.words.norm import fold, normal
from ltm_core.write.words.topic_words import Topics, topics_from

LANGUAGES = ("en", "zh", "ja")
WITH_REQUESTS = frozenset(["en"])
"""Languages whose ways to ask for silence or erasure fill a file of their own."""
_LETTERS = re.compile(r"[A-Za-z]+")
NOT_CUES = frozenset(
    [
        "proposal",
        "reference",
        "forget",
        "suppress",
        "not_forget",
        "not_suppress",
        "forget_it",
        "suppress_it",
        "antecedent",
        "role_play",
        "ends",
        "ends_weak",
        "ends_not",
        "tag",
        "ends_stay",
        "restored",
        "restored_home",
        "discharged",
    ]
)
"""Flags that are read where they are needed, not for every clause."""
REQUESTS = frozenset(["forget", "suppress", "not_forget", "not_suppress", "forget_it", "suppress_it", "antecedent"])
"""Flags that a language may have in a file of its own, ``requests.toml``."""
EXPANDED = frozenset(["reference", "remember", "past", "long_ago"]) | REQUESTS
"""Flags whose expressions use macros."""


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
    one: bool = False
    """Whether the words name only the sort of the thing: of several that are known none is meant for sure."""


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
    parts: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
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
    def joint(self) -> re.Pattern[str]:
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
    shared: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    """Expressions that serve all languages, by name."""
    masks: tuple[re.Pattern[str], ...] = ()
    """What stands in a message without being its author's word, in the order in which it is blanked."""
    sets: Mapping[str, frozenset[str]] = field(default_factory=dict)
    identifiers: tuple[Mapping[str, str], ...] = ()
    identifier_words: Mapping[str, str] = field(default_factory=dict)
    identifier_prefixes: Mapping[str, str] = field(default_factory=dict)
    identifier_neighbours: Mapping[str, str] = field(default_factory=dict)
    """What must be said beside an identifier of a shape that others share, by name."""
    slot_nouns: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Per relation, the nouns by which its value is called ("my major" of what one studies)."""
    narrower: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Per loose word for a relative, those that it may mean ("child": "son")."""
    opposites: tuple[Opposite, ...] = ()
    """What is read in words, and what of the same subject cannot be true any more then."""
    opposite_index: Index = field(default_factory=lambda: Index(()))
    events: tuple[Opposite, ...] = ()
    """What happened, and what is over then."""
    event_index: Index = field(default_factory=lambda: Index(()))
    contractions: Contractions
    """Short forms that are typed without their apostrophe."""
    progress: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Per language, how the state of what an identifier names is told after it; see `progress`."""
    topics: Mapping[str, Topics] = field(default_factory=dict)
    """Per language, by what words a topic is named and told."""

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


def _root() -> Traversable:
    return files("ltm_core.lexicon").joinpath("write")


def _toml(*path: str) -> dict[str, Any]:
    file = _root().joinpath(*path)
    text = file.read_text(encoding="utf-8")
    if path[0] == "ja":  # clauses are read in their normal form, so the expressions are too
        text = "\n".join(normal(line) for line in text.split("\n"))
    return tomllib.loads(text)


@cache
def redaction_words(name: str) -> Mapping[str, list[str]]:
    """Words beside personal data of a sort, per language, as regular expressions."""
    return cast("Mapping[str, list[str]]", _toml("redaction.toml")[name])


def _expand(text: str, macros: Mapping[str, str]) -> str:
    for _ in range(4):
        text, changed = re.subn(r"\{([a-z_]+)\}", lambda m: macros.get(m[1], m[0]), text)
        if not changed:
            break
    return _named_once(text)


def _named_once(text: str) -> str:
    """A macro may be used twice in one expression; its group keeps its name only once."""
    first, *more = text.split("(?P<pre>")
    if len(more) > 1:
        text = first + "(?P<pre>" + more[0] + ("(?P<pre2>" if "(?P<pre2>" not in text else "(?:").join(["", more[1]])
        text += "".join("(?:" + m for m in more[2:])
    return text


def _patterns(rows: list[dict[str, Any]], macros: Mapping[str, str], *, prefix: str) -> tuple[Pattern, ...]:
    made = []
    for n, row in enumerate(rows):
        made.append(
            Pattern(
                name=str(row.get("name") or f"{prefix}.{row['relation']}.{n}"),
                regex=Lazy.of(_expand(row["match"], macros)),
                relation=row["relation"],
                positive=row.get("positive", row.get("move") != "cease"),
                move=cast("Move | None", row.get("move")),
                modality=cast("Modality | None", row.get("modality")),
                subject=row.get("subject", ""),
                confidence=row.get("confidence", 0.95),
                strong=row.get("strong", True),
            )
        )
    return tuple(made)


def _rules(language: str) -> Rules:
    cues, words, extraction = (_toml(language, f"{name}.toml") for name in ("rules", "words", "patterns"))
    requests = _toml(language, "requests.toml") if language in WITH_REQUESTS else {}
    macros: dict[str, str] = dict(extraction.get("macros", {})) | requests.get("macros", {})
    kin = dict(words.get("kin", {}).items())
    pets = dict(words.get("pets", {}).items())
    for name, table in (("kin", kin), ("pet", pets)):
        macros[name] = "(?:" + "|".join(sorted(map(re.escape, table), key=len, reverse=True)) + ")"
    worded = extraction.get("parts", {}) | requests.get("parts", {})
    parts = {k: re.compile(_expand(v, macros), re.I) for k, v in worded.items()}
    cued = cues["flags"] | requests.get("flags", {})
    flags = {k: AnyOf.of([_expand(e, macros) for e in v] if k in EXPANDED else v) for k, v in cued.items()}
    patterns = _patterns(extraction.get("pattern", []), macros, prefix=language)
    frames = _patterns(extraction.get("frame", []), macros, prefix=f"{language}.frame")
    named = tuple((k, m) for k, v in flags.items() if k not in NOT_CUES for m in v.members)
    return Rules(
        language=language,
        flags=MappingProxyType(flags),
        patterns=patterns,
        frames=frames,
        pattern_index=Index([p.regex for p in patterns]),
        frame_index=Index([p.regex for p in frames]),
        cues=named,
        cue_names=tuple(name for name in flags if name not in NOT_CUES),
        cue_index=Index([m for _, m in named]),
        standing=_patterns(extraction.get("standing", []), macros, prefix=f"{language}.standing"),
        questions=tuple(
            Question(
                regex=re.compile(_expand(q["match"], macros), re.I), **{k: v for k, v in q.items() if k != "match"}
            )
            for q in extraction.get("question", [])
        ),
        parts=MappingProxyType(parts),
        kin=MappingProxyType(kin),
        pets=MappingProxyType(pets),
        functional=frozenset(words.get("functional", [])),
        asked=MappingProxyType(words.get("asked", {})),
        topic_verbs=MappingProxyType(words.get("topic_verbs", {})),
        attributes=MappingProxyType({k.casefold(): v for k, v in words.get("attributes", {}).items()}),
    )


def class_members(
    name: str, rows: Mapping[str, Collection[str]], within: frozenset[str] = frozenset()
) -> Iterator[str]:
    """The members of a class, and those of the classes of which it says that they are part of it (``@seafood``)."""
    for word in rows[name]:
        if not word.startswith("@"):
            yield word
        elif word[1:] not in within:
            yield from class_members(word[1:], rows, within | {name})


def class_rows(file: str) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """What people call each class of a file, and its members as they stand there."""
    names: dict[str, list[str]] = {}
    rows: dict[str, list[str]] = {}
    for line in _root().joinpath(file).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            name, spoken, words = line.split("\t")
            names[name], rows[name] = spoken.split("|"), words.split("|")
    return names, rows


def _classes() -> tuple[dict[str, dict[str, str]], dict[str, frozenset[str]], dict[str, str]]:
    called, rows = class_rows("classes.tsv")
    names = {fold(s): name for name, spoken in called.items() for s in spoken}
    by_class: dict[str, dict[str, str]] = {}
    members: dict[str, set[str]] = {}
    for name in rows:
        for w in class_members(name, rows):
            by_class.setdefault(name, {})[fold(w)] = name
            members.setdefault(fold(w), set()).add(name)
    return by_class, {k: frozenset(v) for k, v in members.items()}, names


def _events() -> tuple[Opposite, ...]:
    """Those of each language, which may use the macros of their file."""
    made = []
    for language in ("en", "zh"):
        rows = _toml(language, "outcomes.toml")
        macros = rows.pop("macros", {})
        for name, o in rows.items():
            now, was = (_expand(o[k], macros) for k in ("now", "was"))
            told = [bool(o.get(k)) for k in ("anyone", "denied", "holds", "one")]
            made.append(Opposite(f"{language}.{name}", Lazy.of(now), Lazy(was), *told))
    return tuple(made)


@cache
def default_lexicon() -> Lexicon:
    """The bundled lexicon, compiled once per process."""
    relations = {
        name: Relation(name=name, **row) for name, row in _toml("relations.toml").get("relation", {}).items()
    }
    by_class, members, names = _classes()
    ids = _toml("identifiers.toml")
    shared = _toml("shared.toml")
    short = _toml("en", "words.toml")["contractions"]
    opposites = tuple(Opposite(name, Lazy.of(o["now"]), Lazy(o["was"])) for name, o in shared["opposites"].items())
    events = _events()
    return Lexicon(
        languages=MappingProxyType({language: _rules(language) for language in LANGUAGES}),
        relations=MappingProxyType(relations),
        classes=MappingProxyType(by_class),
        members=MappingProxyType(members),
        class_names=MappingProxyType(names),
        gate=load_gate(),
        shared=MappingProxyType({k: re.compile(v, re.I) for k, v in shared["patterns"].items()}),
        masks=tuple(re.compile(m) for m in _toml("masks.toml")["masks"]),
        sets=MappingProxyType({k: frozenset(v) for k, v in shared["sets"].items()}),
        identifiers=tuple(ids.get("identifier", [])),
        identifier_words=MappingProxyType(ids.get("words", {})),
        identifier_prefixes=MappingProxyType(ids.get("prefixes", {})),
        identifier_neighbours=MappingProxyType(ids.get("beside", {})),
        slot_nouns=MappingProxyType({k: frozenset(v) for k, v in shared["slots"].items()}),
        narrower=MappingProxyType({k: frozenset(v) for k, v in shared["narrower"].items()}),
        opposites=opposites,
        opposite_index=Index([o.now for o in opposites]),
        events=events,
        event_index=Index([o.now for o in events]),
        contractions=contractions(short["forms"], short["before"], short["first"], short["foreign"]),
        progress=MappingProxyType(ids.get("progress", {})),
        topics=MappingProxyType({name: topics_from(_toml(name, "topics.toml")) for name in WITH_REQUESTS}),
    )


def expressions() -> tuple[str, ...]:
    """Every lazily compiled expression of the lexicon, once each."""
    found: dict[str, None] = {}
    for rules in default_lexicon().languages.values():
        for p in (*rules.patterns, *rules.frames, *rules.standing):
            found[p.regex.source] = None
        for flag in rules.flags.values():
            found.update((m.source, None) for m in flag.members)
    known = default_lexicon()
    found.update((o.now.source, None) for o in (*known.opposites, *known.events))
    return tuple(found)
