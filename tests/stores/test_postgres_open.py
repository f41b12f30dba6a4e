"""Opening a store in PostgreSQL: what is refused, in which words, and that a password stays where it was given."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ltm_core import LongTermMemory
from ltm_core.config import Config
from ltm_core.errors import (
    ConfigError,
    CorruptError,
    LTMError,
    MasterKeyError,
    MissingExtraError,
    SchemaTooNewError,
    UnavailableError,
)
from ltm_core.store.base import Store
from ltm_core.store.keys import LocalKeys
from ltm_core.store.postgres import open_store
from ltm_core.store.postgres.location import is_postgres, place_of
from ltm_core.testing.builders import DIMENSION, T0
from ltm_core.testing.contract_life import fill

CONFIG = Config.make(busy_timeout_seconds=2)
SECRET = "p4ss-Kestrel"


# the URL ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (f"postgresql://ana:{SECRET}@db.example:5433/app", "postgresql://ana@db.example:5433/app"),
        (f"postgres://ana:{SECRET}@db/app?schema=two", "postgresql://ana@db/app?schema=two"),
        (f"postgresql://db/app?user=ana&password={SECRET}", "postgresql://db/app"),
        (f"postgresql://{SECRET}%3A%40x@db/app", "postgresql://db/app"),
        (f"postgresql:///app?host=/run&sslpassword={SECRET}&partitions=4&key_file=/k", "postgresql:///app"),
    ],
)
def test_a_place_is_shown_without_secrets(url: str, shown: str) -> None:
    place = place_of(url)
    assert place.shown == shown
    assert SECRET not in f"{place!r} {place}"
    assert "schema=" not in place.conninfo and "key_file" not in place.conninfo and "partitions" not in place.conninfo


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://ana:{SECRET}@db/app?schema=No",
        f"postgresql://ana:{SECRET}@db/app?schema=x;drop",
        f"postgresql://ana:{SECRET}@db/app?schema=pg_x",
        f"postgresql://ana:{SECRET}@db/app?partitions=0",
        f"postgresql://ana:{SECRET}@db/app#x",
        f"postgresql://ana:{SECRET}@[db/app",
    ],
)
def test_a_url_that_cannot_be_meant_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(ConfigError) as e:
        place_of(url)
    assert SECRET not in str(e.value)


def test_what_is_a_location_in_postgresql() -> None:
    assert is_postgres("postgresql://h/d") and is_postgres("postgres://h/d")
    assert not is_postgres("./ltm-data") and not is_postgres(Path("postgresql:")) and not is_postgres("mysql://h/d")


def test_without_the_package_the_extra_is_named() -> None:
    code = (
        "import sys, importlib.util as u\n"
        "real = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name.startswith('psycopg') else real(name, *a)\n"
        "from ltm_core import LongTermMemory\n"
        f"LongTermMemory.open('postgresql://ana:{SECRET}@db/app', embedder='none')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert MissingExtraError.__name__ in done.stderr and 'pip install "ltm-core[postgres]"' in done.stderr


def test_a_store_in_a_directory_loads_no_driver(tmp_path: Path) -> None:
    code = (
        "import sys, ltm_core\n"
        f"ltm_core.LongTermMemory.open({str(tmp_path / 's')!r}, embedder='none', timezone='UTC').close()\n"
        "print([m for m in sys.modules if m.startswith('psycopg')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# a server ---------------------------------------------------------------------------------------------
@pytest.fixture
def url(postgres_url: str, tmp_path: Path) -> str:
    return f"{postgres_url}?partitions=2&key_file={tmp_path / 'keys' / 'store.key'}"


def filled(store: Store) -> None:
    """The store has one user, with one row of every kind."""
    store.operations().set_embedder_identity("test-embedder", dimension=DIMENSION, now=T0)
    fill(store, "ana", "x")


def opened(url: str, **options: Any) -> Store:
    return open_store(url, config=CONFIG, **options)


@pytest.mark.servers
def test_no_text_of_an_open_store_holds_the_password(
    postgres_server: Any, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    password = postgres_server._password
    assert password in url
    with LongTermMemory.open(url, embedder="none", timezone="UTC") as memory:
        memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
        store = memory._runtime.store
        texts = [
            repr(memory),
            str(memory.location),
            repr(memory.stats()),
            repr(store),
            caplog.text,
        ]
        texts.append(repr(vars(store)))
        with pytest.raises(LTMError) as e:
            memory.backup("/nowhere/at/all")
        texts.append(str(e.value))
    with pytest.raises(UnavailableError, match="closed") as closed:
        memory.facts(user_id="ana")
    assert [t for t in (*texts, str(closed.value)) if password in t] == []


@pytest.mark.servers
def test_refusals_name_the_place_and_not_the_password(postgres_server: Any, url: str) -> None:
    password = postgres_server._password
    for wrong, why in (
        (url.replace(password, SECRET), "refused the password"),
        (url.replace("/test_", "/no_test_"), "no such database"),
        (url.replace(f":{postgres_server.port}/", ":1/"), "cannot be reached"),
    ):
        with pytest.raises(UnavailableError, match=why) as e:
            opened(wrong)
        chain = "".join(str(x) for x in (e.value, e.value.__cause__, repr(e.value)))
        assert password not in chain and SECRET not in chain


@pytest.mark.servers
def test_the_key_is_a_file_of_ours_and_never_made_twice(url: str, tmp_path: Path) -> None:
    key = tmp_path / "keys" / "store.key"
    with closing(opened(url)) as store:
        filled(store)
    assert key.stat().st_mode & 0o777 == 0o600 and len(key.read_bytes()) == 32
    kept = key.read_bytes()
    key.unlink()
    with pytest.raises(CorruptError, match="is not at"):
        opened(url)
    assert not key.exists()
    key.write_bytes(b"\x01" * 32)
    with pytest.raises(CorruptError, match="does not belong"):
        opened(url)
    key.write_bytes(b"\x01" * 5)  # a cut key that begins with "{" would be read as a sealed one
    with pytest.raises(CorruptError, match="5 bytes"):
        opened(url)
    key.write_bytes(kept)
    with closing(opened(url, read_only=True)) as store, store.read("ana") as reader:
        assert [f.object for f in reader.facts()] == ["x"]


@pytest.mark.servers
def test_the_key_may_come_from_the_environment(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with closing(opened(f"{postgres_url}?partitions=2")) as store:
        filled(store)
    (key,) = (tmp_path / "ltm-core" / "keys").glob("*.key")
    monkeypatch.setenv("LTM_STORE_KEY", key.read_bytes().hex())
    key.unlink()
    with closing(opened(postgres_url)) as store, store.read("ana") as reader:
        assert [f.object for f in reader.facts()] == ["x"]
    monkeypatch.setenv("LTM_STORE_KEY", "no key")
    with pytest.raises(ConfigError, match="LTM_STORE_KEY") as e:
        opened(postgres_url)
    assert "no key" not in str(e.value)


@pytest.mark.servers
def test_an_encrypted_store_asks_for_its_master_key(url: str) -> None:
    keys = LocalKeys(b"\x07" * 32)
    with closing(opened(url, keys=keys)) as store:
        filled(store)
    with pytest.raises(MasterKeyError):
        opened(url)
    with pytest.raises(MasterKeyError):
        opened(url, keys=LocalKeys(b"\x08" * 32))
    with closing(opened(url, keys=keys)) as store, store.read("ana") as reader:
        assert [f.object for f in reader.facts()] == ["x"]


@pytest.mark.servers
def test_a_plain_store_is_not_opened_with_a_master_key(url: str) -> None:
    opened(url).close()
    with pytest.raises(ConfigError, match="not encrypted"):
        opened(url, keys=LocalKeys(b"\x07" * 32))


@pytest.mark.servers
def test_a_newer_schema_and_tables_of_others_stay(postgres_server: Any, postgres_url: str, url: str) -> None:
    name = postgres_url.rpartition("/")[2]
    opened(url).close()
    postgres_server.run("UPDATE ltm.layout SET version = 999", database=name)
    with pytest.raises(SchemaTooNewError, match="999"):
        opened(url)
    postgres_server.run("CREATE SCHEMA other AUTHORIZATION ltm; CREATE TABLE other.t (a int)", database=name)
    with pytest.raises(CorruptError, match="another program"):
        opened(f"{url}&schema=other")
    with pytest.raises(UnavailableError, match="no store to read"):
        opened(f"{url}&schema=empty", read_only=True)


@pytest.mark.servers
def test_a_store_of_version_5_is_migrated_when_it_is_opened(
    postgres_server: Any, postgres_url: str, url: str
) -> None:
    name = postgres_url.rpartition("/")[2]
    with closing(opened(url)) as store:
        filled(store)
    postgres_server.run(
        "SET search_path = ltm; UPDATE layout SET version = 5; "
        "CREATE INDEX messages_window ON messages (user_no, session, at, sequence) WHERE in_window = 1",
        database=name,
    )
    with pytest.raises(UnavailableError, match="open it once for writing"):
        opened(url, read_only=True)
    for _ in range(2):
        with closing(opened(url)) as store, store.read("ana") as reader:
            assert [f.object for f in reader.facts()] == ["x"]
            gone = reader.conn.execute("SELECT to_regclass('messages_window') IS NULL").fetchone()  # type: ignore[attr-defined]
            assert gone == (True,)
    opened(url, read_only=True).close()


@pytest.mark.servers
def test_what_opened_a_store_serves_its_first_call(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from ltm_core.store.postgres.pool import Pool

    made, connect = [], Pool.connect

    def counted(self: Pool) -> Any:
        made.append(connect(self))
        return made[-1]

    LongTermMemory.open(url, embedder="none").close()
    monkeypatch.setattr(Pool, "connect", counted)
    with LongTermMemory.open(url, embedder="none", timezone="UTC") as memory:
        memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
        assert "Porto" in memory.context("Where do I live?", user_id="ana").text
        (line,) = made
        assert not line.closed
    assert line.closed


def test_two_schemas_are_two_stores(url: str, tmp_path: Path) -> None:
    with closing(opened(url)) as one, closing(opened(f"{url}&schema=two")) as two:
        filled(one)
        assert two.operations().users() == []
        assert one.operations().users() == ["ana"]


@pytest.mark.servers
def test_a_dump_of_the_server_and_the_key_are_a_backup(
    postgres_server: Any, postgres_url: str, url: str, tmp_path: Path
) -> None:
    with closing(opened(url)) as store:
        filled(store)
    other = postgres_server.new_database()
    dump = [postgres_server._programs / "pg_dump", "--schema=ltm", "-Fc", "-f", tmp_path / "dump"]
    subprocess.run([*dump, postgres_server.admin_url(postgres_url.rpartition("/")[2])], check=True)
    back = [postgres_server._programs / "pg_restore", "-d", postgres_server.admin_url(other.rpartition("/")[2])]
    subprocess.run([*back, tmp_path / "dump"], check=True)
    with closing(opened(f"{other}?{url.partition('?')[2]}")) as store, store.write("ana") as writer:
        assert [f.object for f in writer.facts()] == ["x"]
        writer.ensure_user(now=T0, timezone="Europe/Lisbon")
    postgres_server.drop_database(other)


@pytest.mark.servers
def test_an_administrator_may_prepare_the_roles(postgres_server: Any, tmp_path: Path) -> None:
    place = postgres_server.new_database(pgvector=False)
    name = place.rpartition("/")[2]
    postgres_server.run(f"CREATE ROLE app_{name} LOGIN PASSWORD 'x'; GRANT CREATE ON DATABASE {name} TO app_{name}")
    url = place.replace(f"ltm:{postgres_server._password}", f"app_{name}:x") + f"?key_file={tmp_path / 'k'}"
    url += f"&schema=s{name}&partitions=2"
    with pytest.raises(ConfigError, match=f"CREATE ROLE s{name}_user NOLOGIN"):
        opened(url)
    postgres_server.run(
        f"CREATE ROLE s{name}_user NOLOGIN; CREATE ROLE s{name}_across NOLOGIN; "
        f"GRANT s{name}_user, s{name}_across TO app_{name} WITH INHERIT FALSE, SET TRUE"
    )
    with closing(opened(url)) as store:
        filled(store)
        assert store.operations().users() == ["ana"]
    postgres_server.drop_database(place)


@pytest.mark.servers
def test_processes_that_create_one_store_at_once_agree(url: str, reopen_in: Callable[[str, int], list[str]]) -> None:
    said = reopen_in(url, 4)
    assert said == ["ok"] * 4
    with closing(opened(url)) as store:
        assert sorted(store.operations().users()) == [f"user{i}" for i in range(4)]


@pytest.fixture
def reopen_in() -> Callable[[str, int], list[str]]:
    """Opens the store in so many processes at once, each writing a user; what each said."""

    def run(url: str, count: int) -> list[str]:
        code = (
            "import sys\nfrom ltm_core.config import Config\nfrom ltm_core.store.postgres import open_store\n"
            "from ltm_core.testing.builders import T0\n"
            "store = open_store(sys.argv[1], config=Config.make(busy_timeout_seconds=60))\n"
            "with store.write(sys.argv[2]) as w:\n    w.ensure_user(now=T0)\n"
            "store.close()\nprint('ok')"
        )
        working = [
            subprocess.Popen(
                [sys.executable, "-c", code, url, f"user{i}"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=dict(os.environ),
            )
            for i in range(count)
        ]
        return [(out.strip() or err) for out, err in (p.communicate(timeout=110) for p in working)]

    return run
