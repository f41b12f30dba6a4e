"""Is the store healthy? Find what disagrees, and mend what can be made anew from the truth."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING

from ltm_core.errors import CorruptError
from ltm_core.keep.archive.check import damaged, strays
from ltm_core.keep.consolidate.retire import bring_back
from ltm_core.keep.erase import fill_vectors
from ltm_core.store.base import OWNER_CODES
from ltm_core.store.lookup import facts_by_item
from ltm_core.text.normalize import fold
from ltm_core.types import Fact, FactChange, HealthProblem, HealthReport
from ltm_core.write.apply import index_fact
from ltm_core.write.incoming.index import Unit, index_message, index_summary, row_units, summary_units

if TYPE_CHECKING:
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import OwnerKind, Reader, Writer

_PAGE = 500


def examine(runtime: Runtime, *, user_id: str | None, repair: bool, now: datetime) -> HealthReport:
    """What is wrong, per user; with ``repair`` mended, one transaction per user, and looked at again."""
    started = time.perf_counter()
    operations = runtime.store.operations()
    problems: list[HealthProblem] = []
    with _unreadable(problems, None):
        problems += [HealthProblem(kind="file", detail=line) for line in operations.check_file()]
    # A damaged file is not written to: it is replaced by a backup.
    repair = repair and not problems
    problems += _of_the_store(runtime, repair=repair)
    mended = 0
    if user_id is None:
        found, mended = strays(runtime, repair=repair, now=now)
        problems += found
    users = [] if user_id is None else [user_id]
    if user_id is None:
        with _unreadable(problems, None):
            users = _users(runtime)
    for user in users:
        with _unreadable(problems, user):
            found = _of_user(runtime, user, now=now)
            if repair and any(p.kind != "archive" for p in found):
                _mend(runtime, user, found, now=now)
                left = _of_user(runtime, user, now=now)
                mended += len(found) - len(left)
                found = left
            problems += found
    return HealthReport(
        at=now,
        users=len(users),
        problems=tuple(problems),
        repaired=mended,
        seconds=time.perf_counter() - started,
    )


@contextmanager
def _unreadable(problems: list[HealthProblem], user: str | None) -> Iterator[None]:
    """What cannot be read is a problem of the file, and the others are still looked at."""
    try:
        yield
    except CorruptError as e:
        problems.append(HealthProblem(kind="file", user_id=user, detail=str(e)))


def _of_the_store(runtime: Runtime, *, repair: bool) -> list[HealthProblem]:
    """What is not one user's: who is not sealed yet, and an external index that differs."""
    operations = runtime.store.operations()
    problems: list[HealthProblem] = []
    with _unreadable(problems, None):
        if plain := operations.plain_users():
            detail = "users whose memories are not encrypted yet: run ltm encrypt again"
            problems.append(HealthProblem(kind="plain", count=plain, detail=detail))
        for user, count in sorted(operations.external_drift(repair=repair).items()):
            detail = "an external index holds other vectors" + (": it is made again" if repair else "")
            problems.append(HealthProblem(kind="external", user_id=user, count=count, detail=detail))
    return problems


def _users(runtime: Runtime) -> list[str]:
    operations = runtime.store.operations()
    found: list[str] = []
    while page := operations.users(after=found[-1] if found else None, limit=_PAGE):
        found += page
    return found


def _of_user(runtime: Runtime, user: str, *, now: datetime) -> list[HealthProblem]:
    with runtime.store.read(user) as reader:
        faults = reader.index_faults()
        problems = [
            HealthProblem(kind="orphans", user_id=user, count=count, detail=table)
            for table, count in sorted(faults.orphans.items())
        ]
        problems += [HealthProblem(kind="counter", user_id=user, detail=name) for name in faults.counters]
        wrong: dict[OwnerKind, set[int]] = {"message": set(), "fact": set(), "summary": set()}
        for kind, item in faults.owners:
            wrong[kind].add(item)
        unlike = _unlike_their_words(runtime, reader)
        for kind, items in unlike.items():
            wrong[kind] |= items
        alone = len(reader.retired_alone(limit=_PAGE))
        if alone:
            problems.append(HealthProblem(kind="orphans", user_id=user, count=alone, detail="retired turns"))
        problems += [
            HealthProblem(kind="index", user_id=user, count=1, detail=f"{kind} {item}")
            for kind, items in wrong.items()
            for item in sorted(items)
        ]
        problems += damaged(runtime, reader)
        for facts in _several(runtime, reader, now=now):
            ids = " ".join(f.id for f in facts)
            problems.append(HealthProblem(kind="several_current", user_id=user, count=len(facts), detail=ids))
    return problems


def _unlike_their_words(runtime: Runtime, reader: Reader) -> dict[OwnerKind, set[int]]:
    """Messages and summaries whose units are not those that their words make."""
    rows = reader.snapshot().rows
    spans: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for owner, kind, start, end, length in zip(
        rows.owner.tolist(), rows.kind.tolist(), rows.start.tolist(), rows.end.tolist(), rows.length.tolist()
    ):
        if kind != OWNER_CODES["fact"]:
            spans[owner].append((start, end, int(length)))
    wrong: dict[OwnerKind, set[int]] = {"message": set(), "summary": set()}
    after = 0
    while page := reader.messages(after_item=after, limit=_PAGE):
        after = page[-1].item
        for row in page:
            if sorted(spans.get(row.item, [])) != _spans(row_units(row, config=runtime.config)):
                wrong["message"].add(row.item)
    for told in reader.summaries():
        if sorted(spans.get(told.item, [])) != _spans(summary_units(told, config=runtime.config)):
            wrong["summary"].add(told.item)
    return wrong


def _spans(units: Sequence[Unit]) -> list[tuple[int, int, int]]:
    return sorted((u.start, u.end, sum(u.terms.values())) for u in units)


def _several(runtime: Runtime, reader: Reader, *, now: datetime) -> list[list[Fact]]:
    """Groups of facts that hold together although their relation takes one value at a time."""
    groups: dict[tuple[object, ...], list[Fact]] = defaultdict(list)
    for fact in reader.facts(current_at=now):
        if fact.is_positive and fact.expires_at is None and runtime.lexicon.is_single_valued(fact.relation):
            labels = (fact.agent_id, fact.task_id, fact.app_id)
            groups[(fold(fact.subject), fact.speaker, fold(fact.relation), labels)].append(fact)
    return [g for g in groups.values() if len(g) > 1]


def _mend(runtime: Runtime, user: str, problems: Sequence[HealthProblem], *, now: datetime) -> None:
    with runtime.store.write(user) as writer:
        writer.drop_orphans()
        bring_back(writer, config=runtime.config)
        for problem in problems:
            if problem.kind == "index":
                kind, _, item = problem.detail.partition(" ")
                _index(runtime, writer, kind, int(item))
        # Orphans and owners change the counts; they are taken last.
        writer.drop_orphans()
        for facts in _several(runtime, writer, now=now):
            _keep_newest(writer, facts, now=now)
        writer.audit("doctor", now=now, actor=None, counts={"problems": len(problems)})
    while fill_vectors(runtime, user):
        pass


def _index(runtime: Runtime, writer: Writer, kind: str, item: int) -> None:
    if kind == "message":
        for row in writer.messages(items=[item]):
            index_message(writer, row, row_units(row, config=runtime.config), {})
    elif kind == "summary":
        for told in writer.summaries(items=[item]):
            index_summary(writer, told, summary_units(told, config=runtime.config), {})
    else:
        for fact in facts_by_item(writer, [item]).values():
            index_fact(writer, fact, item, vectors={})


def _keep_newest(writer: Writer, facts: Sequence[Fact], *, now: datetime) -> None:
    """The latest value holds; the others end where the next begins and point to it."""
    ordered = sorted(facts, key=lambda f: (f.valid_from, f.recorded_at, f.id))
    for old, new in pairwise(ordered):
        after = replace(old, valid_to=new.valid_from, superseded_by=new.id, is_current=False)
        writer.update_fact(after, now=now)
        writer.log_change(
            FactChange(op="supersede", fact=new, previous=after, reason="doctor: one value at a time", at=now)
        )
