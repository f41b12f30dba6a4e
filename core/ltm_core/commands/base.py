"""What every command shares: the options, the opening of the store, errors as one line, exit codes."""

from __future__ import annotations

import functools
import inspect
import logging
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec

import typer

from ltm_core.commands.show import complain
from ltm_core.errors import ErasurePendingError, InvalidScopeError, LTMError, UnavailableError
from ltm_core.locations import Location

if TYPE_CHECKING:
    from ltm_core.memory import LongTermMemory

P = ParamSpec("P")

HERE = Location("ltm-data")
OK, INCOMPLETE, BAD_INPUT, STORE_TROUBLE, STOPPED = 0, 1, 2, 3, 130
"""Exit codes: done; some lines failed or an erasure is pending; wrong use or input; the store; Ctrl-C."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options that every command takes."""

    store: Annotated[
        Location,
        typer.Option(
            "--store",
            metavar="DIR|URL",
            envvar="LTM_STORE",
            parser=Location.of,
            help="Directory of the store, or postgresql://USER@HOST/DATABASE.",
            show_default="ltm-data",
        ),
    ] = HERE
    user: Annotated[str | None, typer.Option("--user", metavar="ID", help="Whose memory.")] = None
    session: Annotated[str | None, typer.Option("--session", metavar="ID", help="One session.")] = None
    embedder: Annotated[
        str | None,
        typer.Option(
            "--embedder",
            metavar="NAME",
            envvar="LTM_EMBEDDER",
            help="none, sentence-transformers:MODEL or openai:URL#MODEL; the built-in one when left out.",
        ),
    ] = None
    vectors: Annotated[
        str,
        typer.Option(
            "--vectors",
            metavar="NAME",
            envvar="LTM_VECTORS",
            help="exact, chroma, chroma://HOST:PORT or pgvector (an index).",
        ),
    ] = "exact"
    config: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", envvar="LTM_CONFIG", help="Settings (TOML).")
    ] = None
    json: Annotated[bool, typer.Option("--json", help="One JSON document instead of a table.")] = False
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False

    def open(
        self, *, create: bool = False, extractor: str | None = None, summarizer: str | None = None
    ) -> LongTermMemory:
        """The store, open; one that does not exist is made only with ``create``. An extractor works when it is
        told to, never in a thread."""
        from ltm_core.config import Config
        from ltm_core.memory import LongTermMemory

        if not create and not self.store.holds_store():
            raise UnavailableError(f"{self.store} holds no store; name one with --store (or LTM_STORE)")
        config = Config.load(self.config)
        if not config.timezone:
            config = config.replaced(timezone="UTC")
        config = config.replaced(extract_in_background=False, maintain_every_seconds=0.0)
        return LongTermMemory.open(
            self.store.text,
            config=config,
            embedder=self.embedder,
            extractor=extractor,
            summarizer=summarizer,
            vectors=self.vectors,
        )

    def user_id(self) -> str:
        """The user of this call; InvalidScopeError when none was named."""
        if self.user is None:
            raise InvalidScopeError("whose memory? name the user with --user ID")
        return self.user


def exit_code(error: BaseException) -> int:
    """What the shell sees of an error."""
    from ltm_core.errors import EmbedderMismatchError, StoreError

    if isinstance(error, ErasurePendingError):
        return INCOMPLETE
    if isinstance(error, StoreError | EmbedderMismatchError):
        return STORE_TROUBLE
    return STOPPED if isinstance(error, KeyboardInterrupt) else BAD_INPUT


def command(function: Callable[Concatenate[Options, P], None]) -> Callable[..., None]:
    """The function as a command: it takes the common options too, and its errors become one line and a code."""
    shared = inspect.signature(Options, eval_str=True).parameters
    own = [p for n, p in inspect.signature(function, eval_str=True).parameters.items() if n != "options"]
    parameters = [*own, *(p for n, p in shared.items() if n not in {o.name for o in own})]

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> None:
        options = Options(**{n: kwargs.pop(n) for n in shared if n in kwargs})
        guarded(functools.partial(function, options, *args, **kwargs), debug=options.debug)

    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
    )
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def guarded(call: Callable[[], None], *, debug: bool) -> None:
    """``call`` was made; an error of the product ends the program with one line on stderr and its code."""
    if not debug:
        logging.getLogger("ltm").addHandler(_line_handler())
    try:
        call()
    except (LTMError, KeyboardInterrupt) as e:
        if debug:
            traceback.print_exc(file=sys.stderr)
        complain("stopped" if isinstance(e, KeyboardInterrupt) else str(e))
        raise typer.Exit(exit_code(e)) from None


@functools.cache
def _line_handler() -> logging.Handler:
    """Warnings of the library, one line each, on the stderr of that moment."""

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            complain(record.getMessage(), kind="warning")

    return Lines(level=logging.WARNING)
