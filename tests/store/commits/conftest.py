"""`store` is each kind of commit step store in turn, always new and empty."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from tests.databases import MEMORY
from tests.doubles.commit_store import MemoryCommitStepStore
from tests.store.conftest import open_empty
from tidegate.domain.commit_store import CommitStepStore
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.store import SqlStore


@pytest.fixture
def engine(sql_store: SqlStore) -> Engine:
    """The engine of a new schedule store, in each kind of database."""
    return sql_store.engine


@pytest.fixture
def store(url: str, request: pytest.FixtureRequest) -> Iterator[CommitStepStore]:
    """A commit step store of every kind."""
    if url == MEMORY:
        yield MemoryCommitStepStore()
        return
    opened = open_empty(url, request)
    assert isinstance(opened, SqlStore)
    yield SqlCommitStepStore(opened.engine)
    opened.close()
