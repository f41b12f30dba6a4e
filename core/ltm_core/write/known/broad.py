"""Classes of which people speak as a whole ("I've gone off cheese", "电视剧我一概不看了"), and what belongs to them.

They are those of ``classes.tsv`` and those of ``broad_classes.tsv``. The latter serve broad statements alone: two
novelists take each other's place as little as two cheeses do. Pure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from ltm_core.write.known.match import singular
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.load import class_members, class_rows, default_lexicon
from ltm_core.write.words.norm import fold

_WORD = re.compile(r"[\w+#&.'-]+")
_LONGEST_NAME = 4
"""Words of an English name."""
_LONGEST_HAN = 8
"""Characters of a Chinese name."""
_LEAST_ENDING, _SHARE_ENDING = 3, 0.75
"""Names of a class, and share of all listed names with the same end, from which an end tells the class."""


@dataclass(frozen=True, slots=True)
class Broad:
    """The names of all classes, and their members."""

    names: Mapping[str, frozenset[str]]
    """Folded name of a class -> the classes so called."""
    members: Mapping[str, frozenset[str]]
    """Class -> its folded members."""
    of: Mapping[str, frozenset[str]]
    """Folded member or name -> the classes to which it belongs."""


@lru_cache(maxsize=1)
def broad_classes() -> Broad:
    """The classes of both files, one that stands in both with what either says of it."""
    spoken: dict[str, list[str]] = {}
    rows: dict[str, list[str]] = {}
    for file in ("classes.tsv", "broad_classes.tsv"):
        names_of, rows_of = class_rows(file)
        for cls, words in rows_of.items():
            rows.setdefault(cls, []).extend(w if w.startswith("@") else fold(w) for w in words)
            spoken.setdefault(cls, []).extend(names_of[cls])
    members = {cls: frozenset(class_members(cls, rows)) for cls in rows}
    names: dict[str, set[str]] = {}
    of: dict[str, set[str]] = {}
    for cls, called in spoken.items():
        for n in called:
            names.setdefault(fold(n), set()).add(cls)
        for m in members[cls]:
            of.setdefault(m, set()).add(cls)
    return Broad(
        names={k: frozenset(v) for k, v in names.items()},
        members=members,
        of={k: frozenset(v) for k, v in of.items()},
    )


def names_member(words: str, classes: Collection[str], lexicon: Lexicon | None = None) -> bool:
    """Whether the words name something of the classes, by a member or a class itself: "I love Bach", "追古装剧".

    The longest name counts: "苹果手机" is no fruit, nor is "蓝莓蛋糕", which a name of no list goes on.
    """
    said = fold(words)
    if said.isascii():
        return _names_english(said, classes)
    parts = (lexicon or default_lexicon()).rules("zh").parts
    broad = broad_classes()
    whole = bool(set(classes) & (lexicon or default_lexicon()).sets["broad_classes"])
    for start, end in _chinese(said, classes, broad):
        longer = _covering(said, start, end, broad)
        if longer and said[max(0, start - 1) : start] in (lexicon or default_lexicon()).sets["cooked"]:
            longer = frozenset()  # "烤羊排" is mutton however it is cooked
        if longer and not longer & set(classes):
            continue
        if whole or parts["member_goes_on"].match(said[end:]) is None:
            return True
    return _ends_like_one(said, classes) or _names_english(said, classes)


def _ends_like_one(said: str, classes: Collection[str]) -> bool:
    """Whether a Chinese name that no list knows ends as the names of the classes do and hardly any other name does:
    "宫廷剧" as "古装剧", "桂花酥" as "凤梨酥"."""
    if len(said) <= 1 or said in broad_classes().of:
        return False
    return not _endings().get(said[-1], frozenset()).isdisjoint(classes)


@lru_cache(maxsize=1)
def _endings() -> Mapping[str, frozenset[str]]:
    """Last character of Chinese names -> the classes of which it tells."""
    by_end: dict[str, list[frozenset[str]]] = {}
    for name, classes in broad_classes().of.items():
        if len(name) > 1 and not name[-1].isascii():
            by_end.setdefault(name[-1], []).append(classes)
    told: dict[str, frozenset[str]] = {}
    for end, names in by_end.items():
        counts = Counter(c for classes in names for c in classes)
        least = max(_LEAST_ENDING, _SHARE_ENDING * len(names))
        told[end] = frozenset(c for c, n in counts.items() if n >= least)
    return told


def means_another(words: str, classes: Collection[str], lexicon: Lexicon) -> bool:
    """Whether the end of English words is the name of something else than the classes: a ginger beer is no beer."""
    said = fold(words).split()
    for n in range(min(_LONGEST_NAME, len(said)), 1, -1):
        name = " ".join(said[-n:])
        found = broad_classes().of.get(name) or broad_classes().of.get(singular(name))
        if found and not said[-n].endswith("ing"):  # "watching hockey" is hockey
            made_of = lexicon.sets["ingredients"].intersection(classes)
            rest = said if found <= lexicon.sets["dishes"] else said[:-n]
            return found.isdisjoint(classes) and not _names_english(" ".join(rest), made_of)
    return False


def are_siblings(one: str, two: str) -> bool:
    """Whether two English names are of different things of one class ("viola", "cello")."""
    mine, theirs = (_classes_of(fold(v)) for v in (one, two))
    return fold(one) != fold(two) and not mine.isdisjoint(theirs)


def sibling_in(text: str, name: str) -> str:
    """The one name in an English text of something else in a class of what ``name`` names; "" when there is none, or
    several."""
    meant = _classes_of(fold(name))
    words = list(_WORD.finditer(text)) if meant else []
    found: list[str] = []
    at = 0
    while at < len(words):
        for n in range(min(_LONGEST_NAME, len(words) - at), 0, -1):
            there = text[words[at].start() : words[at + n - 1].end()]
            if not meant.isdisjoint(_classes_of(fold(there))):
                found.append(there)
                at += n - 1
                break
        at += 1
    return found[0] if len(found) == 1 and fold(found[0]) != fold(name) else ""


def names_sibling(said: str, name: str) -> bool:
    """Whether a text names something else in a class of what Chinese words name ("跑步" of "登山")."""
    if name.isascii():
        return bool(sibling_in(said, name))
    broad, text = broad_classes(), fold(said)
    classes = {c for start, end in _named(fold(name), broad) for c in broad.of[fold(name)[start:end]]}
    others = [text[a:b] for a, b in _chinese(text, classes, broad)]
    return any(o not in fold(name) and broad.names.get(o, frozenset()).isdisjoint(classes) for o in others)


def belongs_to(name: str, said: str) -> bool:
    """Whether Chinese words name a class to which something that other words name belongs ("任何茶" of "普洱")."""
    broad, text = broad_classes(), fold(said)
    classes = {c for n, found in broad.names.items() if not n.isascii() and n in text for c in found}
    return bool(classes) and names_member(name, classes)


def _named(said: str, broad: Broad) -> Iterator[tuple[int, int]]:
    """Where a Chinese text names a member of any class."""
    for start in range(len(said)):
        for end in range(min(len(said), start + _LONGEST_HAN), start + 1, -1):
            if said[start:end] in broad.of:
                yield start, end


def _classes_of(name: str) -> frozenset[str]:
    of = broad_classes().of
    return of.get(name) or of.get(singular(name)) or of.get(f"{name}s") or frozenset()


def _chinese(said: str, classes: Collection[str], broad: Broad) -> Iterator[tuple[int, int]]:
    """Where the text names a member of the classes."""
    return ((a, b) for a, b in _named(said, broad) if not broad.of[said[a:b]].isdisjoint(classes))


def _covering(said: str, start: int, end: int, broad: Broad) -> frozenset[str]:
    """The classes of a longer name of which this one is a part; none when there is none."""
    for a in range(max(0, start - 4), start + 1):
        for b in range(min(len(said), end + 4), end - 1, -1):
            found = broad.of.get(said[a:b]) if b - a > end - start else None
            if found:
                return found
    return frozenset()


def _names_english(said: str, classes: Collection[str]) -> bool:
    """Whether English words, or those between Chinese characters, name a member."""
    of, sets = broad_classes().of, default_lexicon().sets
    made_of = sets["ingredients"].intersection(classes)
    words = [w.strip(".'").removesuffix("'s") for w in _WORD.findall(re.sub("[\u2e80-\uffff]", " ", said))]
    held: list[tuple[int, int]] = []
    for n in range(min(_LONGEST_NAME, len(words)), 0, -1):
        for i in range(len(words) - n + 1):
            name = " ".join(words[i : i + n])
            found = of.get(name) or of.get(singular(name)) or of.get(f"{name}s") or frozenset()
            if not found or any(a <= i and i + n <= b for a, b in held):
                continue
            if not found.isdisjoint(classes):
                return True
            if not (made_of and found <= sets["dishes"]):  # "lamb bhuna" is a curry, and lamb
                held.append((i, i + n))
    return False
