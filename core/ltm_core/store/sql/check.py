"""Does the index of one user agree with the truth? What is found is named by item and table, never by content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ltm_core.store.base import OWNER_CODES, IndexFaults, OwnerKind
from ltm_core.store.keyed import TERM_BITS
from ltm_core.store.sql.layout import key_range
from ltm_core.store.sql.readable import readable
from ltm_core.store.sql.records import ITEM_MASK, OWNERS
from ltm_core.store.sql.tables import ID_RANGE_TABLES

if TYPE_CHECKING:
    from ltm_core.store.sql.base import View

_TERM_BYTES = TERM_BITS // 8
_TABLES: Mapping[OwnerKind, str] = {"message": "messages", "fact": "facts", "summary": "summaries"}


@readable
def index_faults(view: View) -> IndexFaults:
    """Everything in which the derived rows of the user differ from what they are derived from, except the words
    themselves: whether the terms are those of the text, only who knows the text can say."""
    orphans: dict[str, int] = {}
    owners: set[tuple[int, int]] = set()
    inside = (view.low, view.high)
    rows = view._rows("SELECT id, owner, kind, length, embedded, terms FROM chunks WHERE id > ? AND id < ?", inside)
    alive = {
        OWNER_CODES[kind]: {r[0] for r in view._rows(f"SELECT id FROM {table} WHERE id > ? AND id < ?", inside)}
        for kind, table in _TABLES.items()
    }
    lost = {r[0] for r in rows if r[1] not in alive.get(r[2], ())}
    kept = [r for r in rows if r[0] not in lost]
    expected: dict[int, set[int]] = {
        id & ITEM_MASK: {int.from_bytes(terms[i : i + _TERM_BYTES], "big") for i in range(0, len(terms), _TERM_BYTES)}
        for id, _, _, _, _, terms in kept
    }
    found: dict[int, dict[int, int]] = {}
    stray = 0
    first, end = key_range(view.no)
    for key, item, tf in view._rows("SELECT key, item, tf FROM postings WHERE key >= ? AND key < ?", (first, end)):
        term = key - first
        if term in expected.get(item, ()):
            found.setdefault(item, {})[term] = tf
        else:
            stray += 1
    vectors = dict(view._rows("SELECT id, embedder FROM vectors WHERE id > ? AND id < ?", inside))
    unreadable = _unreadable(view) if view.sealed else ()
    for id, owner, kind, length, embedded, _ in kept:
        item = id & ITEM_MASK
        terms = found.get(item, {})
        whole = len(terms) == len(expected[item]) and sum(terms.values()) == length
        if not whole or (embedded or None) != vectors.get(id) or id in unreadable:
            owners.add((kind, owner & ITEM_MASK))
    known = {r[0] for r in kept}
    orphans["chunks"] = len(lost)
    orphans["postings"] = stray
    orphans["vectors"] = sum(1 for id in vectors if id not in known)
    second = view._rows("SELECT id FROM second_vectors WHERE id > ? AND id < ?", inside)
    orphans["second_vectors"] = sum(1 for (id,) in second if id not in known)
    for table in ("evidence", "fact_versions"):
        orphans[table] = sum(
            1
            for r in view._rows(f"SELECT fact FROM {table} WHERE fact > ? AND fact < ?", inside)
            if r[0] not in alive[OWNER_CODES["fact"]]
        )
    units = "document_units"
    row = view._one(
        f"SELECT count(*) FROM {units} WHERE id > ? AND id < ? AND document NOT IN "
        "(SELECT id FROM documents WHERE id > ? AND id < ?)",
        (*inside, *inside),
    )
    orphans[units] = row[0] if row else 0
    links = "summary_sources"
    row = view._one(
        f"SELECT count(*) FROM {links} WHERE summary > ? AND summary < ? AND (summary NOT IN "
        "(SELECT id FROM summaries WHERE id > ? AND id < ?) OR source NOT IN "
        "(SELECT id FROM messages WHERE id > ? AND id < ?))",
        (*inside, *inside, *inside),
    )
    orphans[links] = row[0] if row else 0
    return IndexFaults(
        orphans={name: count for name, count in orphans.items() if count},
        owners=tuple((OWNERS[kind], item) for kind, item in sorted(owners)),
        counters=tuple(_counters(view, chunks=len(rows), terms=sum(r[3] for r in rows))),
    )


def _unreadable(view: View) -> set[int]:
    """Rows of sealed vectors that do not open."""
    cursor = view.conn.execute("SELECT id, codec, vector FROM vectors WHERE id > ? AND id < ?", (view.low, view.high))
    return {row[0] for row in cursor if not view.opened_vector(*row)}


def _counters(view: View, *, chunks: int, terms: int) -> list[str]:
    """The stored numbers that are not what they count."""
    wrong = []
    if view._chunk_count != chunks:
        wrong.append("users.chunk_count")
    if view._term_total != terms:
        wrong.append("users.term_total")
    highest = [
        view._one(f"SELECT max(id) FROM {table} WHERE id > ? AND id < ?", (view.low, view.high))
        for table in ID_RANGE_TABLES
    ]
    if any(r is not None and r[0] is not None and r[0] & ITEM_MASK >= view.next_n for r in highest):
        wrong.append("users.next_n")
    mismatched = view._rows(
        "SELECT s.id FROM sessions s WHERE s.id > ? AND s.id < ? AND s.message_count != "
        "(SELECT count(*) FROM messages m WHERE m.user_no = s.user_no AND m.session = s.session)",
        (view.low, view.high),
    )
    return wrong + (["sessions.message_count"] if mismatched else [])
