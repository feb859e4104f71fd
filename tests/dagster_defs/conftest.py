"""Instances and stores for the tests of the Dagster side."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from dagster import DagsterInstance
from dagster._core.definitions.definitions_load_context import DefinitionsLoadContext, DefinitionsLoadType
from dagster._core.test_utils import instance_for_test

from tests.dagster_defs.sample import sample_store
from tests.databases import SQL_KINDS
from tidegate.scheduler.store.memory.store import MemoryStore


@pytest.fixture
def instance() -> Iterator[DagsterInstance]:
    """A Dagster instance in memory."""
    with DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


@pytest.fixture
def store() -> MemoryStore:
    """A store with the sample app deployed."""
    return sample_store()


@pytest.fixture(params=SQL_KINDS)
def disk_instance(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[DagsterInstance]:
    """A Dagster instance with a real event log, in SQLite and in PostgreSQL."""
    overrides: dict[str, object] = {}
    if request.param == "postgres":
        url = request.getfixturevalue("postgres_url")
        overrides = {"storage": {"postgres": {"postgres_url": url}}}
    with instance_for_test(overrides=overrides, temp_dir=str(tmp_path)) as instance:
        yield instance


@pytest.fixture
def initializing() -> Iterator[DefinitionsLoadContext]:
    """The context in which a code server loads its definitions, and ships the plan to its runs."""
    context = DefinitionsLoadContext(DefinitionsLoadType.INITIALIZATION)
    with DefinitionsLoadContext.scoped(context):
        yield context
