"""Taking in an export: line by line checked, batch by batch written, and nothing twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ltm_core.errors import InvalidInputError
from ltm_core.keep.audit import note
from ltm_core.keep.consolidate.retire import bring_back
from ltm_core.keep.intake import Taker
from ltm_core.keep.line_values import Limits
from ltm_core.keep.lines import FORMAT, VERSION, Line, read_line
from ltm_core.keep.ready import Ready
from ltm_core.types import ImportResult, RefusedLine
from ltm_core.write.incoming.index import embed_texts
from ltm_core.write.incoming.pause import not_paused

if TYPE_CHECKING:
    from ltm_core.runtime import Runtime

_LINES = 200
_CHARACTERS = 1_000_000
"""Lines, and characters of them, that one transaction takes in."""
_MOST_REFUSED = 1000


@dataclass(slots=True, kw_only=True)
class Tally:
    """What became of the lines so far."""

    imported: Counter[str] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    lines: list[RefusedLine] = field(default_factory=list)

    def refuse(self, number: int, kind: str, reason: str) -> None:
        """One line is not taken."""
        self.refused[reason] += 1
        if len(self.lines) < _MOST_REFUSED:
            self.lines.append(RefusedLine(line=number, kind=kind, reason=reason))


def import_user(
    runtime: Runtime,
    user_id: str,
    lines: Iterable[str | bytes],
    *,
    after_erasure: Literal["refuse", "allow"],
    trust: bool,
) -> ImportResult:
    """The lines belong to the user, as far as they were taken."""
    if isinstance(lines, str | bytes) or not isinstance(lines, Iterable):
        raise InvalidInputError(f"lines must be a list, file or iterator of lines, not {type(lines).__name__}")
    config = runtime.config
    limits = Limits(
        id=config.max_id_characters,
        text=config.max_message_characters,
        metadata=config.max_metadata_bytes,
        document=config.max_document_bytes,
        line=config.max_import_line_bytes,
    )
    tally = Tally()
    taker = Taker(runtime, user_id, trust=trust, allow_erased=after_erasure == "allow")
    complete = begun = False
    batch: list[tuple[int, Line]] = []
    size = 0
    for number, raw in _numbered(lines, limits.line):
        try:
            line = read_line(raw, limits)
        except InvalidInputError as e:
            if not begun:
                raise InvalidInputError(f"line {number} is no header of an export: {e}") from None
            tally.refuse(number, "unknown", str(e))
            continue
        if not begun:
            _check_header(line)
            begun = True
        elif line.kind == "header":
            tally.refuse(number, "header", "a second header")
        elif line.kind == "end":
            complete = True
        else:
            batch.append((number, line))
            size += len(raw)
        if len(batch) >= _LINES or size >= _CHARACTERS:
            _take(runtime, user_id, taker, batch, tally)
            batch, size = [], 0
    if not begun:
        raise InvalidInputError("the file is empty: an export begins with a header")
    _take(runtime, user_id, taker, batch, tally)
    _finish(runtime, user_id, taker, tally, complete=complete)
    return ImportResult(
        imported=dict(tally.imported),
        known=dict(tally.known),
        refused=dict(tally.refused),
        lines=tuple(tally.lines),
        complete=complete,
    )


def _check_header(line: Line) -> None:
    if line.kind != "header" or line.values["format"] != FORMAT:
        raise InvalidInputError("line 1 is no header of an export")
    if line.values["version"] != VERSION:
        raise InvalidInputError(f"the export has version {line.values['version']}, this version reads {VERSION}")


def _take(runtime: Runtime, user_id: str, taker: Taker, batch: list[tuple[int, Line]], tally: Tally) -> None:
    """The batch is written in one transaction. Vectors are made before it, for what seems new."""
    if not batch:
        return
    with runtime.store.read(user_id) as reader:
        early = taker.choose(reader, batch, Tally())
    vectors = embed_texts(runtime, [t for r in early for t in r.texts])
    mine = Tally()
    with runtime.store.write(user_id) as writer:
        # Others may have written or erased since: what counts is decided here.
        chosen: list[Ready] = taker.choose(writer, batch, mine)
        if chosen:
            not_paused(writer.user())
            for ready in chosen:
                ready.write(writer, vectors)
                mine.imported[ready.kind] += 1
        if mine.imported["message"]:
            # They came now, whatever their rows say: no policy takes them before somebody looked for summaries.
            writer.set_consolidated(None)
        state = writer.user()
        revision = 0 if state is None else state.revision + bool(chosen)
    taker.commit(chosen, revision=revision)
    for total, part in ((tally.imported, mine.imported), (tally.known, mine.known), (tally.refused, mine.refused)):
        total.update(part)
    tally.lines += mine.lines[: _MOST_REFUSED - len(tally.lines)]


def _finish(runtime: Runtime, user_id: str, taker: Taker, tally: Tally, *, complete: bool) -> None:
    counts = {
        **tally.imported,
        "known": tally.known.total(),
        "refused": tally.refused.total(),
    }
    with runtime.store.write(user_id) as writer:
        if writer.user() is None:
            return
        # A file that was cut off, or whose summaries were refused, leaves turns that nothing stands for.
        bring_back(writer, config=runtime.config)
        if complete and taker.paused_at is not None and tally.imported["user"]:
            writer.set_user(paused_at=taker.paused_at)
        note(writer, "import", now=runtime.now(), counts={k: n for k, n in counts.items() if n})


def _numbered(lines: Iterable[str | bytes], most: int) -> Iterator[tuple[int, str | bytes]]:
    """Lines with their numbers, blank ones left out. Of a file, an endless line is not read into memory."""
    number = 0
    readline: Any = getattr(lines, "readline", None)
    source: Iterable[str | bytes] = _bounded(readline, most) if callable(readline) else lines
    for number, raw in enumerate(source, 1):
        if not isinstance(raw, str | bytes):
            raise InvalidInputError(f"line {number} is {type(raw).__name__}, not text")
        if raw.strip():
            yield number, raw


def _bounded(readline: Any, most: int) -> Iterator[str | bytes]:
    while piece := readline(most + 2):
        rest = piece
        while len(rest) == most + 2 and rest[-1:] not in ("\n", b"\n"):
            rest = readline(most + 2)
        yield piece
