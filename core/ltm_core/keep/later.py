"""What reads leave to be written later: the log of who read, and what recall returned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltm_core.keep import audit, uses

if TYPE_CHECKING:
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import Writer


def flush_of(runtime: Runtime, writer: Writer) -> None:
    """The writer's user's reads are logged and uses counted, in this transaction."""
    audit.flush_of(runtime, writer)
    uses.flush_of(runtime, writer)


def flush(runtime: Runtime) -> None:
    """Everybody's reads are logged and uses counted."""
    audit.flush(runtime)
    uses.flush(runtime)


def drop(runtime: Runtime, user_id: str) -> None:
    """Nothing of the user waits any more, and nothing of it is written."""
    runtime.reads.take(user_id)
    runtime.uses.take(user_id)


def close(runtime: Runtime) -> None:
    """What waited is written, or a warning says what was lost."""
    audit.close(runtime)
    uses.close(runtime)


__all__ = ["close", "drop", "flush", "flush_of"]
