"""The word knowledge, read and compiled: `default_lexicon` once per process, all other data by name."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Any, cast

from ltm_core.types import Modality
from ltm_core.write.learned.gate import load_gate
from ltm_core.write.plan import Move
from ltm_core.write.words.apostrophes import contractions
from ltm_core.write.words.expressions import AnyOf, Expression, Index, Lazy
from ltm_core.write.words.lexicon import Lexicon, Opposite, Opposites, Pattern, Question, Relation, Rules
from ltm_core.write.words.norm import fold, normal
from ltm_core.write.words.topic_words import topics_from

LANGUAGES = ("en", "zh", "ja")
WITH_REQUESTS = frozenset(["en"])
"""Languages whose ways to ask for silence or erasure fill a file of their own."""
WITH_EVENTS = MappingProxyType({"en": ("outcomes.toml", "slots.toml"), "zh": ("outcomes.toml",)})
"""Languages that have files of what happens, and what is over then."""
NO_EVENTS = ("numbers", "kinds")
"""Tables of those files that tell of no event."""
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
    parts = {k: Expression(_expand(v, macros)) for k, v in worded.items()}
    cued = cues["flags"] | requests.get("flags", {})
    flags = {k: AnyOf([_expand(e, macros) for e in v] if k in EXPANDED else v) for k, v in cued.items()}
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


def _events(language: str) -> list[Opposite]:
    """Those of a language, which may use the macros of their file."""
    made = []
    for file in WITH_EVENTS[language]:
        rows = _toml(language, file)
        macros = rows.pop("macros", {})
        for name, o in rows.items():
            if name in NO_EVENTS:
                continue
            now, was = (_expand(o[k], macros) for k in ("now", "was"))
            told = {k: o[k] for k in ("anyone", "denied", "holds", "ends", "one", "kind", "sign", "shared") if k in o}
            made.append(Opposite(f"{language}.{name}", Lazy.of(now), Lazy(was), **told))
    return made


def _given_names() -> frozenset[str]:
    """Given names of people in lower case, without those that are words, places or brands as well."""
    file = files("ltm_core.lexicon").joinpath("write").joinpath("given_names.txt")
    return frozenset(file.read_text(encoding="utf-8").lower().split())


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
    slots = _toml("en", "slots.toml")
    opposites = tuple(Opposite(name, Lazy.of(o["now"]), Lazy(o["was"])) for name, o in shared["opposites"].items())
    return Lexicon(
        languages=MappingProxyType({language: _rules(language) for language in LANGUAGES}),
        relations=MappingProxyType(relations),
        classes=MappingProxyType(by_class),
        members=MappingProxyType(members),
        class_names=MappingProxyType(names),
        gate=load_gate(),
        shared=MappingProxyType({k: Expression(v) for k, v in shared["patterns"].items()}),
        masks=tuple(re.compile(m) for m in _toml("masks.toml")["masks"]),
        sets=MappingProxyType({k: frozenset(v) for k, v in shared["sets"].items()} | {"given_names": _given_names()}),
        identifiers=tuple(
            {**r, "match": _expand(r["match"], ids.get("macros", {}))} for r in ids.get("identifier", [])
        ),
        identifier_words=MappingProxyType(ids.get("words", {})),
        identifier_codes=MappingProxyType(
            {k: Expression(_expand(v, ids["macros"])) for k, v in ids["coded"].items()}
        ),
        identifier_prefixes=MappingProxyType(ids.get("prefixes", {})),
        identifier_neighbours=MappingProxyType(ids.get("beside", {})),
        slot_nouns=MappingProxyType({k: frozenset(v) for k, v in shared["slots"].items()}),
        narrower=MappingProxyType({k: frozenset(v) for k, v in shared["narrower"].items()}),
        opposites=Opposites(opposites),
        events=MappingProxyType({language: Opposites(_events(language)) for language in WITH_EVENTS}),
        contractions=contractions(short["forms"], short["before"], short["first"], short["foreign"], short["begun"]),
        progress=MappingProxyType(ids.get("progress", {})),
        kinds=MappingProxyType(
            {k: {v: Lazy(e) for v, e in row.items()} for k, row in slots.get("kinds", {}).items()}
        ),
        numbers=MappingProxyType(slots.get("numbers", {})),
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
    for told in (known.opposites, *known.events.values()):
        found.update((o.now.source, None) for o in told.members)
    return tuple(found)


def named_expressions() -> tuple[str, ...]:
    """Every expression that is looked up by its name, once each."""
    known = default_lexicon()
    parts = [p for rules in known.languages.values() for p in rules.parts.values()]
    return tuple(dict.fromkeys(p.pattern for p in (*parts, *known.shared.values())))
