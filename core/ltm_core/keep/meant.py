"""Which facts a request in the chat means: those that hold its words, those of a relative, those that tell the topic
in other words. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from ltm_core.keep.matching import facts_named
from ltm_core.text.terms import terms
from ltm_core.types import Fact

if TYPE_CHECKING:
    from ltm_core.write.plan import ForgetRequest, Named, Reading

_NOT_OF_SUBJECT = str.maketrans("_:/", "   ")


def facts_meant(facts: Sequence[Fact], request: ForgetRequest) -> tuple[Fact, ...]:
    """The facts that the request means, each once, in their order.

    Erasing reads the words more freely only when no fact has them as they are; keeping quiet can be undone, so it
    takes the nearest reading as well.
    """
    found = facts_named(facts, request.target, relations=request.relations)
    found = [f for f in found if not _of_another(f, request.person)]
    ids = {f.id for f in found} | {f.id for f in facts if _is_about(f, request)}
    readings = request.readings if not ids else request.readings[:1] if request.mode == "suppress" else ()
    for reading in readings:
        told = {f.id for f in facts if not _of_another(f, request.person) and any(_tells(f, row) for row in reading)}
        told = told or (_of_one_other(facts, reading) if request.anyones else set())
        if told:
            ids |= told
            break
    return tuple(f for f in facts if f.id in ids)


def _is_about(fact: Fact, request: ForgetRequest) -> bool:
    """Whether the request names the one of whom the fact tells, by name or as the relative."""
    if fact.is_about_user:
        return False
    root, _, name = fact.subject.partition(":")
    wanted = set(terms(request.target, query=True))
    if request.person:
        called = wanted - set(terms(request.person.translate(_NOT_OF_SUBJECT)))
        return root == request.person and (not called or not name or called <= set(terms(name)))
    return bool(name and wanted) and wanted <= set(terms(name))


def _of_another(fact: Fact, person: str) -> bool:
    """Whether a relative is named and the fact tells of another one ("husband" stands in "ex-husband")."""
    return bool(person) and not fact.is_about_user and fact.subject.partition(":")[0] != person


def _of_one_other(facts: Sequence[Fact], reading: Reading) -> set[str]:
    """The facts of others that tell it ("the pregnancy"), when it is told of one of them alone."""
    told = [f for f in facts if not f.is_about_user and any(_tells(f, row, anyones=True) for row in reading)]
    return {f.id for f in told} if len({f.subject for f in told}) == 1 else set()


def _tells(fact: Fact, row: Sequence[Named], *, anyones: bool = False) -> bool:
    """Whether the fact tells every word. One word alone ("my health") means the user's own affairs: what others have
    is told only by the word itself, unless the words may be said of anyone."""
    words = f"{fact.subject.translate(_NOT_OF_SUBJECT)} | {fact.text} | {fact.object}"
    there = set(terms(words))
    own = anyones or fact.is_about_user or fact.subject == "user" or len(row) > 1
    return all(
        not named.terms.isdisjoint(there)
        or (own and named.said and of_request(named.said).search(words) is not None)
        or (own and _relates(fact.relation, named.relations))
        for named in row
    )


def _relates(relation: str, relations: frozenset[str]) -> bool:
    return relation in relations or relation.partition(":")[0] in relations


@lru_cache(maxsize=256)
def of_request(expression: str) -> re.Pattern[str]:
    """An expression of the words of a request; only the last ones stay compiled, as users bring ever new ones."""
    return re.compile(expression, re.I)
