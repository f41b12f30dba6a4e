"""What is looked for after an erasure, and the receipt that says whether it is gone."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

from ltm_core.errors import ErasurePendingError
from ltm_core.keep.redaction import overwritten, patterns_of
from ltm_core.spans import stage
from ltm_core.store.base import SCRUB_JOB, Job
from ltm_core.types import Fact, Receipt

if TYPE_CHECKING:
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import DocumentRow, MessageRow, Reader, Writer

NEEDLES = 24
"""Texts and phrases that are compared with each of the user's own rows after an erasure."""
READ = 5000
"""Facts and documents of an erased user whose words are looked for in the files; of the turns it is all."""
_PIECES = 10_000
"""Pieces of text looked for in the files at most; many cost hardly more than one."""
_CHARACTERS = 60
_SHORTEST_TEXT = 12
_SHORTEST_PHRASE = 5
"""Bytes: shorter strings stand in any file by chance."""
_PAGE = 1000
_ESCAPED = re.compile(r'[\x00-\x1f"\\]+')
"""What JSON writes in other characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Needles:
    """Whole texts that were erased, and the phrases that were to be forgotten."""

    texts: tuple[str, ...]
    phrases: tuple[str, ...]
    keys: tuple[bytes, ...] = ()
    """Wrapped data keys that were destroyed."""
    pieces: tuple[str, ...] = ()
    """All that was said, cut up: whatever part of a row was left, most of a piece is in it."""

    @property
    def bytes(self) -> list[bytes]:
        """What the files must not hold."""
        wanted = [(t, _SHORTEST_TEXT) for t in self.pieces] + [(p, _SHORTEST_PHRASE) for p in self.phrases]
        data = ((t.encode("utf-8", "ignore"), least) for t, least in wanted)
        return list(dict.fromkeys([*(k for k in self.keys if k), *(d for d, least in data if len(d) >= least)]))


def needles_of(
    facts: Iterable[Fact],
    rows: Iterable[MessageRow],
    phrases: Iterable[str],
    documents: Iterable[DocumentRow] = (),
) -> Needles:
    """What these facts, turns and documents said, up to a bounded number, and the phrases."""
    texts = [t for f in facts for t in (f.id, f.text)] + [m.content for m in rows]
    begins = list(dict.fromkeys(t.replace("\n", " ").strip()[:_CHARACTERS] for t in texts))[: 2 * NEEDLES]
    said = [t for d in documents for t in (d.key, *_texts(d.value))]
    pieces = dict.fromkeys(piece for text in (*texts, *said) for piece in _pieces(text))
    return Needles(
        texts=tuple(begins),
        phrases=tuple(dict.fromkeys(p.strip()[:_CHARACTERS] for p in phrases if p.strip()))[:NEEDLES],
        pieces=tuple(islice(pieces, _PIECES)),
    )


def _pieces(text: str) -> Iterator[str]:
    for run in _ESCAPED.split(text):
        yield from (run[i : i + _CHARACTERS] for i in range(0, len(run), _CHARACTERS))


def owe(writer: Writer, *, now: datetime, receipt: str | None = None) -> None:
    """A row of the erasing transaction: should this process die before the freed bytes are overwritten,
    ``maintain`` does it."""
    payload = {} if receipt is None else {"receipt": receipt}
    writer.add_job(Job(kind=SCRUB_JOB, payload=payload, run_after=now))


def pay(runtime: Runtime, *, wait_seconds: float, needles: Sequence[bytes] = ()) -> tuple[bool, int]:
    """The lists beside backups know of the erasure, and the freed bytes are overwritten, which ends every
    job that waited for that. (whether they are gone and no needle is left, files read for the needles). Where that
    takes long, the jobs are left to ``maintain``."""
    operations, now = runtime.store.operations(), runtime.now()
    operations.list_erasures(now=now)
    # Of the jobs that come meanwhile nothing is known.
    if not operations.erases_at_once:
        return False, 0
    waiting = operations.due_jobs(now=now, kinds=(SCRUB_JOB,), limit=_PAGE)
    with stage("scrub", needles=len(needles)):
        gone, files = operations.scrub(needles=needles, wait_seconds=wait_seconds)
    for job in waiting if gone else ():
        operations.finish_job(job.id)
    return gone, files


def prove(
    runtime: Runtime,
    user_id: str,
    receipt_id: str,
    *,
    what: str,
    counts: Mapping[str, int],
    needles: Needles,
    started: float,
    now: datetime,
) -> Receipt:
    """The receipt of an erasure, recorded. ``bytes_clean`` says that no file holds what was erased, except in
    what other users said themselves; what the same user's memories still hold is not excused. In a store whose files
    are a server's it is False: ``maintain`` writes the tables anew.

    Raises ErasurePendingError, with the receipt, when readers kept old pages of the files alive past the wait;
    ``maintain`` then overwrites them.
    """
    runtime.forget_recent(user_id)
    gone, files = pay(runtime, wait_seconds=runtime.config.erase_wait_seconds, needles=needles.bytes)
    with stage("prove"), runtime.store.read(user_id) as reader:
        said_elsewhere = _still_says(reader, needles) or _in_files(runtime, reader, needles)
    receipt = Receipt(
        id=receipt_id,
        user_id_hmac=runtime.store.mac(user_id),
        what=what,
        at=now,
        counts=dict(counts),
        bytes_clean=gone and not said_elsewhere,
        files_scanned=files,
        seconds=time.perf_counter() - started,
    )
    runtime.store.operations().record_receipt(receipt)
    if not gone and runtime.store.operations().erases_at_once:
        raise ErasurePendingError(
            f"receipt {receipt.id}: hidden at once, but other readers keep old pages of the file alive; "
            "maintain() overwrites them when they are done",
            receipt,
        )
    return receipt


def _in_files(runtime: Runtime, reader: Reader, needles: Needles) -> bool:
    """Whether the user's files outside the store hold what was erased."""
    if not reader.cold_files():
        return False
    from ltm_core.keep.archive.place import place_of

    return place_of(runtime).holds(runtime.store.mac(reader.user_id), needles.bytes)


def _still_says(reader: Reader, needles: Needles) -> bool:
    patterns = patterns_of(needles.phrases)
    texts = [t for t in needles.texts if len(t.encode("utf-8", "ignore")) >= _SHORTEST_TEXT]
    return any(any(t in said for t in texts) or overwritten(said, patterns) != said for said in _everything(reader))


def _everything(reader: Reader) -> Iterator[str]:
    """All the words that the user's rows hold."""
    seen = 0
    while page := reader.messages(after_item=seen, limit=_PAGE):
        for row in page:
            yield row.content
            if row.name:
                yield row.name
            yield from _texts(row.metadata)
        seen = page[-1].item
    for fact in reader.facts():
        yield fact.text
        yield fact.object
        yield from fact.tags
        yield from _texts(fact.metadata)
    yield from (a.text for a in reader.anchors())
    for summary in reader.summaries():
        yield summary.text
        yield summary.topic
    seen = 0
    while documents := reader.documents(after_item=seen, limit=_PAGE):
        for document in documents:
            yield document.key
            yield from _texts(document.value)
        seen = documents[-1].item


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for k, v in value.items():
            yield str(k)
            yield from _texts(v)
    elif isinstance(value, Sequence):
        for v in value:
            yield from _texts(v)
