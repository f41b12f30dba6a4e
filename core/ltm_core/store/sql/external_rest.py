"""An external index that nobody has open: erasures reach its files, and it does not cost for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltm_core.errors import BusyError
from ltm_core.store.chroma import FOLDER, LocalChroma
from ltm_core.store.sql.base import MIRRORED
from ltm_core.store.sql.external import ExternalVectors

if TYPE_CHECKING:
    from ltm_core.store.external import VectorIndex
    from ltm_core.store.sql.store import SqlStore

UNHEARD = 100_000
"""Changes that may wait for an index that nobody opens; making it again is then as quick as telling it."""


def abandon(store: SqlStore) -> bool:
    """When more changes wait than telling them is worth and nobody keeps the index, there is none any more: it is
    made again when the store is next opened with it. Returns whether it was so."""
    with store.connection() as conn:
        (count,) = conn.execute("SELECT count(*) FROM (SELECT 1 FROM outbox LIMIT ?)", (UNHEARD,)).fetchone()
    if count < UNHEARD:
        return False
    try:
        remove(store)
    except BusyError:
        return False
    return True


def remove(store: SqlStore) -> None:
    """No external index has anything of the store in files of ours, and none is told of changes any more. BusyError
    while another process keeps it."""
    lock = store.index_lock()
    lock.acquire(0.0)
    try:
        with store.connection(write=True) as conn:
            conn.execute(f"UPDATE state SET outbox = outbox & {MIRRORED} WHERE id = 1")
            conn.execute("DELETE FROM outbox")
            conn.execute("DELETE FROM external_vectors")
        local = left_behind(store)
        if local is not None:
            local.sweep()
    finally:
        lock.release()
        lock.close()


def drift(index: VectorIndex, *, repair: bool) -> dict[int, int]:
    """User number -> vectors in which index and store differ, when nothing is left to tell. With ``repair`` such
    collections are gone, and made again by `VectorIndex.step`."""
    while index.step():
        pass
    found = index.differing()
    for no in found if repair else ():
        index.drop(no)
    return found


def left_behind(store: SqlStore) -> ExternalVectors | None:
    """The index whose files another process left beside the store, so that erasures reach them; None without any."""
    if store.directory is None or not (store.directory / FOLDER).is_dir():
        return None
    return ExternalVectors(store, LocalChroma(store.directory), at_least=0, candidates=0)


__all__ = ["UNHEARD", "abandon", "drift", "left_behind", "remove"]
