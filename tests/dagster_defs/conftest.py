"""Instances and stores for the tests of the Dagster side."""

from collections.abc import Iterator

import pytest
from dagster import DagsterInstance

from scheduler.store.memory import MemoryStore
from tests.dagster_defs.sample import sample_store


@pytest.fixture
def instance() -> Iterator[DagsterInstance]:
    """A Dagster instance in memory."""
    with DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


@pytest.fixture
def store() -> MemoryStore:
    """A store with the sample app deployed."""
    return sample_store()
