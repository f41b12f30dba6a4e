"""What takes the place of a fact that news ends, in the words of the news: under its relation, without the old
value."""

from __future__ import annotations

import re
from dataclasses import replace

from ltm_core.types import Fact
from ltm_core.write.plan import Candidate
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.load import default_lexicon
from ltm_core.write.words.norm import fold, normal, trim

_CLAUSE = re.compile(r"(?<=[,，;；])\s*")
_SPACES = re.compile(r"\s+")
_LEAST = 3
"""Characters that must be left of a sentence without the old value."""
_TELLING = re.compile(r"\d[\d:.,]*\d|\d|(?<=[ (])[A-Z][\w'-]+(?<!')")
"""Numbers and names: what tells one value from another."""
_GONE = "\ufffc"
"""Stands for a word that goes, until those that belong to it are gone too."""
_GIVES_UP = re.compile(r"^[^，,]{0,4}不(?!过)[^，,]{1,6}了")
_SHORT = 8
"""Characters of a clause that may stand before the one that words a change, whatever it tells."""


def worded(c: Candidate, old: Fact, lexicon: Lexicon) -> Candidate:
    """The sentence as what takes the place of a fact: under its relation, and without the words of the old value."""
    relation = lexicon.relation(old.relation)
    text = without(_from_change(c.text, lexicon), old) if c.is_positive else c.text
    if c.move == "correct" and c.is_positive:
        put_right = _put_right(text, old, lexicon)
        if put_right is not None:
            text, value = put_right
            return replace(
                c, relation=old.relation, object=value, object_normalized=fold(value), text=text, kind=old.kind,
                importance=old.importance, single_valued=relation.single, confidence=min(c.confidence, 0.6),
            )  # fmt: skip
    return replace(
        c,
        relation=old.relation,
        object=text,
        object_normalized=fold(text),
        text=text,
        kind=old.kind,
        importance=old.importance,
        single_valued=relation.single,
        confidence=min(c.confidence, 0.6),
    )


def _put_right(text: str, old: Fact, lexicon: Lexicon) -> tuple[str, str] | None:
    """A Chinese fact with the value that a correction gives ("说错了，是黎医生") in the place of the wrong one, and
    that value; None when the words give no bare value, or nothing in the fact looks like it."""
    rules = lexicon.rules("zh")
    for part in reversed(_CLAUSE.split(text)):
        m = rules.parts["instead"].match(part)
        if m is None:
            continue
        value = trim(m["object"])
        if old.object and old.object != old.text and old.object in old.text:
            return old.text.replace(old.object, value), value
        at = _alike(value, old.text)
        if at is None:
            return None
        told = old.text[:at] + value + old.text[at + len(value) :]
        return told, told if old.object == old.text else value
    return None


def _alike(value: str, text: str) -> int | None:
    """Where in the text a stretch as long as the value differs from it in a part only ("黎医生" for "李医生")."""
    size = len(value)
    if size < 2:
        return None
    shared = {
        i: sum(a == b for a, b in zip(value, text[i : i + size], strict=True)) for i in range(len(text) - size + 1)
    }
    best = max(shared, key=lambda i: shared[i], default=None)
    return best if best is not None and 2 * shared[best] >= size and shared[best] < size else None


def _from_change(text: str, lexicon: Lexicon) -> str:
    """A Chinese sentence from the clause on that words what holds now, if an earlier one takes leave of what was."""
    parts = _CLAUSE.split(text)
    leaves, changed = (lexicon.rules("zh").parts[n] for n in ("leaves", "changed_to"))
    said = [normal(p) for p in parts]
    at = next((i for i, p in enumerate(said) if changed.match(p) and not _GIVES_UP.match(p)), 0)
    return "".join(parts[at:]) if at and all(leaves.match(trim(p)) or len(p) < _SHORT for p in said[:at]) else text


def without(text: str, old: Fact) -> str:
    """The words without the old value: whole clauses that name it go first, if another is left, then its words; and
    clauses that only name the same one or the same number ("They've cut the 7:42, so I'm on the 8:05 now")."""
    value = old.object.strip().casefold()
    held = text.casefold()
    parts = _CLAUSE.split(text)
    joint = " " if text.isascii() else ""
    if not value or value not in held:
        told = {w.casefold() for w in _TELLING.findall(old.object)} & {w.casefold() for w in _TELLING.findall(text)}
        if not told or not text.isascii():
            return text
        kept = [p for p in parts if not any(w in p.casefold() for w in told)]
        if kept and any(_TELLING.search(p) for p in kept):
            return trim(joint.join(kept))
        named = "|".join(map(re.escape, told))
        bare = re.sub(rf"\b(?:{named})\b(?:['’]s)?", _GONE, text, flags=re.I)
        bare = default_lexicon().shared["determined_gone"].sub("", bare).replace(_GONE, "")
        return trim(_SPACES.sub(" ", bare)) if _TELLING.search(bare) else text
    left = trim(joint.join(p for p in parts if value not in p.casefold()))
    if len(left) >= _LEAST and (not left.isascii() or " " in left):
        return left
    left = trim(_SPACES.sub(" ", re.sub(re.escape(value) + "(?:['’]s)?", "", text, flags=re.I)))
    return left if len(left) >= _LEAST and any(ch.isalnum() for ch in left) else text
