"""The stores that the suite runs against: `store` is each of them in turn, always new and empty."""

import shutil
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.databases import KINDS, MEMORY, new_url
from tests.doubles.reference.store import ReferenceStore
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.store.sql.store import SqlStore


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a new store, of every kind."""
    return new_url(request.param, request, tmp_path)


@pytest.fixture(scope="session")
def sqlite_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite store with nothing in it: to copy one is quicker than to migrate a new one."""
    file = tmp_path_factory.mktemp("empty") / "store.db"
    open_store(f"sqlite:///{file}").close()
    return file


def open_empty(url: str, request: pytest.FixtureRequest) -> Store:
    """The store at a URL that was never opened."""
    if url == MEMORY:
        return ReferenceStore()
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
def postgres(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[SqlStore]:
    """A new store in PostgreSQL."""
    opened = open_sql_store(new_url("postgres", request, tmp_path))
    yield opened
    opened.close()


@pytest.fixture
def sql_store(sql_url: str, request: pytest.FixtureRequest) -> Generator[Store, None, None]:
    """A new store of every kind that several processes can open."""
    opened = open_empty(sql_url, request)
    yield opened
    opened.close()
