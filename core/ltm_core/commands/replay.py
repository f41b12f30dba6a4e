"""``ltm replay``: a chat log becomes memory, once, however often it is replayed."""

from __future__ import annotations

import dataclasses
import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from ltm_core.commands.base import INCOMPLETE, Options, command
from ltm_core.commands.show import complain, console, counted, plain, print_json, table
from ltm_core.commands.transcripts import Entry, Format, Unreadable, read_transcript
from ltm_core.errors import InvalidInputError, InvalidScopeError, LTMError, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltm_core.memory import LongTermMemory
    from ltm_core.types import Observation


@dataclass(slots=True, kw_only=True)
class Tally:
    """What one replay did."""

    file: str
    turns: int = 0
    stored: int = 0
    duplicate: int = 0
    edited: int = 0
    erased: int = 0
    """Turns that were forgotten before, and are refused."""
    queued: int = 0
    failed: int = 0
    """Lines that could not be taken; they are in ``failed_file``."""
    facts_added: int = 0
    facts_replaced: int = 0
    users: int = 0
    sessions: int = 0
    seconds: float = 0.0
    failed_file: str | None = None


@dataclass(slots=True, kw_only=True)
class _Aside:
    """The file of failed lines, made when the first one comes: the line as it was, with ``_place`` and
    ``_error``. Repaired, it can be replayed itself."""

    path: Path
    _file: IO[str] | None = None

    def write(self, entry: Entry | Unreadable, reason: str) -> None:
        if self._file is None:
            fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            self._file = os.fdopen(fd, "w", encoding="utf-8", errors="surrogateescape")
        raw = {k: v for k, v in entry.raw.items() if k not in ("_place", "_error")}
        json.dump({"_place": entry.place, "_error": reason, **raw}, self._file, ensure_ascii=True)
        self._file.write("\n")

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


@dataclass(slots=True, kw_only=True)
class _Replay:
    memory: LongTermMemory
    options: Options
    default_session: str
    tally: Tally
    aside: _Aside
    users: set[str] = field(default_factory=set)
    sessions: set[tuple[str, str]] = field(default_factory=set)
    asked: dict[tuple[str, str], str] = field(default_factory=dict)
    """The last turn of the user, by session: an answer without ``reply_to`` answers it."""

    def take(self, entry: Entry | Unreadable) -> None:
        """The entry is stored, or stands aside with its reason."""
        if isinstance(entry, Unreadable):
            self._fail(entry, entry.reason)
            return
        try:
            user_id, session_id = self._scope(entry)
            seen = self._observe(entry, user_id, session_id)
        except StoreError:
            raise
        except LTMError as e:
            self._fail(entry, str(e))
            return
        self._count(seen, str(user_id), str(session_id))

    def _scope(self, entry: Entry) -> tuple[Any, Any]:
        user_id, given = entry.user_id, self.options.user
        if user_id is None:
            user_id = given
        elif given is not None and str(user_id) != given:
            raise InvalidScopeError("the line is of another user than --user")
        if user_id is None:
            raise InvalidScopeError("the line names no user_id; give --user ID")
        return user_id, entry.session_id or self.default_session

    def _observe(self, entry: Entry, user_id: Any, session_id: Any) -> Observation:
        only = entry.messages[0] if len(entry.messages) == 1 else None
        arguments: dict[str, Any] = {"user_id": user_id, "session_id": session_id, **entry.options}
        if only is None or only.name is not None or only.role not in ("user", "assistant"):
            arguments.pop("reply_to", None)
            return self.memory.observe(messages=entry.messages, **arguments)
        place = (str(user_id), str(session_id))
        if only.role == "assistant":
            arguments.setdefault("reply_to", self.asked.get(place))
        else:
            self.asked[place] = str(only.id)
        if only.content is None:
            raise InvalidInputError("the line has no content")
        arguments[only.role] = only.content
        return self.memory.observe(message_id=only.id, at=only.at, **arguments)

    def _count(self, seen: Observation, user_id: str, session_id: str) -> None:
        tally = self.tally
        states = Counter(m.status for m in seen.messages)
        tally.turns += sum(states.values())
        for status, count in states.items():
            setattr(tally, status, getattr(tally, status) + count)
        tally.facts_added += sum(c.op in ("add", "supersede") for c in seen.changes)
        tally.facts_replaced += sum(c.op in ("supersede", "close", "retract") for c in seen.changes)
        self.users.add(user_id)
        self.sessions.add((user_id, session_id))
        tally.users, tally.sessions = len(self.users), len(self.sessions)

    def _fail(self, entry: Entry | Unreadable, reason: str) -> None:
        self.tally.failed += 1
        self.tally.failed_file = str(self.aside.path)
        self.aside.write(entry, reason)


@command
def replay(
    options: Options,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON lines, or a LoCoMo file.", dir_okay=False)],
    format: Annotated[
        str, typer.Option("--format", metavar="auto|messages|locomo", help="What the file holds.")
    ] = "auto",
    failed: Annotated[
        Path | None,
        typer.Option("--failed", metavar="FILE", help="Where failed lines go (FILE.failed.jsonl beside the input)."),
    ] = None,
) -> None:
    """Store every turn of a chat log; a turn that is stored already changes nothing.

    A line is {"role", "content"}, {"user", "assistant"} or {"messages": […]}, with user_id, session_id, at and
    id as far as they are known. Without user_id the line is of --user, without session_id of --session, else of
    the file's name. Exit code 1 when some lines failed.
    """
    source = read_transcript(file, format=_format(format))
    aside = _Aside(path=failed or file.with_name(f"{file.stem}.failed.jsonl"))
    if aside.path.resolve() == file.resolve():
        raise InvalidInputError(f"{file} is the input; name another file with --failed")
    tally = Tally(file=str(file))
    started = time.perf_counter()
    with options.open(create=True) as memory:
        run = _Replay(
            memory=memory,
            options=options,
            default_session=options.session or file.stem,
            tally=tally,
            aside=aside,
        )
        try:
            with _bar(source.total, file.name) as advance:
                for entry in source.entries:
                    if not tally.turns and isinstance(entry, Entry) and entry.user_id is None:
                        options.user_id()
                    run.take(entry)
                    advance(entry.size)
        except OSError as e:
            raise InvalidInputError(f"{e.filename or aside.path}: {e.strerror}") from e
        finally:
            aside.close()
            tally.seconds = round(time.perf_counter() - started, 3)
            _report(tally, as_json=options.json)
    if tally.failed:
        lines = counted(tally.failed, "line")
        complain(f"{lines} failed: see {aside.path}, which has the reason of each", kind="warning")
        raise typer.Exit(INCOMPLETE)


def _format(given: str) -> Format:
    known: tuple[Format, ...] = ("auto", "messages", "locomo")
    for name in known:
        if name == given:
            return name
    raise InvalidInputError(f"--format is one of {', '.join(known)}")


def _report(tally: Tally, *, as_json: bool) -> None:
    if as_json:
        print_json(tally)
        return
    rows = [(f.name.replace("_", " "), plain(getattr(tally, f.name))) for f in dataclasses.fields(tally)]
    shown = [(name, value) for name, value in rows if value not in (0, None)]
    console().print(table("Replay", ("what", "value"), shown, numbers=("value",)))


@contextmanager
def _bar(total: int, name: str) -> Iterator[Callable[[int], None]]:
    """A progress bar on stderr while a person looks on; nothing otherwise."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    err = console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, disable=not err.is_terminal, transient=True) as progress:
        task = progress.add_task(name, total=total)
        yield lambda size: progress.advance(task, size)
