"""The tables of pgvector beside those of a store, as data. They are no part of its schema: made when somebody opens
the store with ``vectors="pgvector"``, filled from its own vectors, and made again whenever those are of another size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psycopg.sql import SQL, Identifier

from ltm_core.errors import ConfigError
from ltm_core.store.postgres.schema import Roles, Table, create, create_split, secure

if TYPE_CHECKING:
    import psycopg

    from ltm_core.store.sql.engine import Connection

USERS, VECTORS, GRAPH = "pgvector_users", "pgvector_vectors", "pgvector_graph"
LOCK = "pgvector"
"""Names the lock of who fills the tables and builds the graph."""
MOST_DIMENSIONS = 4000
"""pgvector's own limit for a graph of half-precision vectors."""
_OLDEST = (0, 8)
"""The first version that goes on searching a graph until enough rows of one user are found."""


@dataclass(frozen=True, slots=True)
class Extension:
    """pgvector in a database."""

    schema: str

    def name(self, what: str) -> str:
        return f'"{self.schema}".{what}'

    @property
    def distance(self) -> str:
        """The operator that gives the cosine distance."""
        return f'OPERATOR("{self.schema}".<=>)'


def extension(conn: psycopg.Connection[Any], where: str) -> Extension:
    """ConfigError when the database has none, or one too old."""
    row = conn.execute(
        "SELECT n.nspname, e.extversion FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace "
        "WHERE e.extname = 'vector'"
    ).fetchone()
    if row is None:
        raise ConfigError(
            f'{where}: vectors="pgvector" needs the extension pgvector in this database. Have an administrator run: '
            "CREATE EXTENSION vector"
        )
    if tuple(int(part) for part in row[1].split(".")[:2]) < _OLDEST:
        raise ConfigError(
            f"{where}: pgvector {row[1]} is too old, {_OLDEST[0]}.{_OLDEST[1]} is needed. Have an administrator run: "
            "ALTER EXTENSION vector UPDATE"
        )
    return Extension(row[0])


def users_table() -> Table:
    """Whose vectors are there: all of them when ``filled``, and found by the graph when ``graph``."""
    return Table(
        USERS,
        "user_no bigint, embedder bigint NOT NULL, generation bigint NOT NULL, filled smallint NOT NULL DEFAULT 0, "
        "graph smallint NOT NULL DEFAULT 0",
        "user_no",
    )


def vectors_table(pgvector: Extension, dimension: int) -> Table:
    # In the row itself: one that is stored beside it is fetched once more for every comparison.
    return Table(VECTORS, f"id bigint, near {pgvector.name(f'halfvec({dimension})')} STORAGE PLAIN NOT NULL", "id")


def tables(pgvector: Extension, dimension: int, partitions: int, roles: Roles) -> list[str]:
    """The statements after which both tables are there, empty."""
    users, vectors = users_table(), vectors_table(pgvector, dimension)
    return [
        f"DROP TABLE IF EXISTS {VECTORS}, {USERS}",
        *create(users),
        *secure(users, roles),
        *create_split(vectors, partitions),
        *secure(vectors, roles, partitions),
        _searched_by_graph(pgvector),
    ]


def exactly(pgvector: Extension) -> str:
    """The nearest rows of a user, by comparing all of them: no index gives the order of a sum."""
    return (
        f"SELECT id FROM {VECTORS} WHERE user_no = ? "
        f"ORDER BY (near {pgvector.distance} ?::{pgvector.name('halfvec')}) + 0 LIMIT ?"
    )


def by_graph(pgvector: Extension) -> str:
    """Nearly the nearest rows of a user, found by following the graph of the user's part of the table."""
    return f"SELECT pgvector_near(?, ?::{pgvector.name('halfvec')}, ?::integer)"


def _searched_by_graph(pgvector: Extension) -> str:
    """A function, because settings of a function end with it: with them the plan of any other statement would be
    another one too. Without sorting only the graph gives the order, whatever the planner thinks of one user."""
    return (
        f"CREATE OR REPLACE FUNCTION pgvector_near(of_user bigint, target {pgvector.name('halfvec')}, most integer) "
        "RETURNS SETOF bigint LANGUAGE plpgsql STABLE SET enable_sort = off "
        "SET hnsw.iterative_scan = relaxed_order SET hnsw.ef_search = 40 AS $body$ BEGIN "
        "PERFORM set_config('hnsw.ef_search', least(greatest(most, 40), 1000)::text, true); "
        f"RETURN QUERY SELECT v.id FROM {VECTORS} v WHERE v.user_no = of_user "
        f"ORDER BY v.near {pgvector.distance} target LIMIT most; END $body$"
    )


def dimension_of(conn: Connection) -> int:
    """Of the vectors that the table takes; 0 when there is no table."""
    row = conn.execute(
        "SELECT atttypmod FROM pg_attribute WHERE attrelid = to_regclass(?) AND attname = 'near'", (VECTORS,)
    ).fetchone()
    return 0 if row is None else int(row[0])


def build_graph(conn: psycopg.Connection[Any], pgvector: Extension, partitions: int) -> None:
    """Every part has a graph, made while others write. Outside of a transaction; what a dead process began is begun
    again."""
    by = f"USING hnsw (near {pgvector.name('halfvec_cosine_ops')})"
    conn.execute(f"CREATE INDEX IF NOT EXISTS {GRAPH} ON ONLY {VECTORS} {by}".encode())
    for part in range(partitions):
        name = f"{GRAPH}_p{part}"
        row = conn.execute(
            "SELECT i.indisvalid, c.relispartition FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
            "WHERE i.indexrelid = to_regclass(%s)",
            (name,),
        ).fetchone()
        if row is not None and row[0] and row[1]:
            continue
        if row is None or not row[0]:
            conn.execute(SQL("DROP INDEX IF EXISTS {}").format(Identifier(name)))
            conn.execute(f"CREATE INDEX CONCURRENTLY {name} ON {VECTORS}_p{part} {by}".encode())
        conn.execute(f"ALTER INDEX {GRAPH} ATTACH PARTITION {name}".encode())


__all__ = [
    "LOCK",
    "MOST_DIMENSIONS",
    "USERS",
    "VECTORS",
    "Extension",
    "build_graph",
    "by_graph",
    "dimension_of",
    "exactly",
    "extension",
    "tables",
]
