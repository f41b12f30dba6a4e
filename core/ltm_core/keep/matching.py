"""Which memories a few words name. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ltm_core.keep.redaction import patterns_of, repeats, spans_of
from ltm_core.text.normalize import fold
from ltm_core.text.terms import terms
from ltm_core.types import Fact

if TYPE_CHECKING:
    from ltm_core.store.base import MessageRow


def facts_named(facts: Iterable[Fact], text: str, *, relations: Sequence[str] = ()) -> list[Fact]:
    """Facts of one of the relations about the user, else facts that hold all the words of ``text``.

    Words are whole words, except in scripts that write without spaces. Words without content ("my", "的")
    name nothing.
    """
    if relations:
        wanted_relations = frozenset(relations)
        return [f for f in facts if f.relation in wanted_relations and f.is_about_user]
    wanted = set(terms(text, query=True))
    phrase = fold(text)
    patterns = patterns_of([text])
    if not wanted or not phrase:
        return []
    return [
        f
        for f in facts
        if phrase == fold(f.object)
        or spans_of(patterns, f"{f.object} | {f.text}")
        or wanted <= set(terms(f"{f.text} {f.object}"))
    ]


def turns_with(rows: Iterable[MessageRow], text: str) -> list[MessageRow]:
    """The turns in which the words stand."""
    return [m for m in rows if repeats(m.content, text)]
