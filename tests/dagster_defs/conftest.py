"""Instances and stores for the tests of the Dagster side."""

import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from dagster import DagsterInstance
from dagster._core.test_utils import instance_for_test

from tests.dagster_defs.sample import sample_store
from tests.dagster_defs.shipped import loading
from tests.databases import POSTGRES
from tests.doubles.reference.store import ReferenceStore
from tests.kept_databases import KeptDatabases
from tidegate.dagster_defs.internals.load_context import DefinitionsLoadContext, DefinitionsLoadType


@pytest.fixture
def instance() -> Iterator[DagsterInstance]:
    """A Dagster instance in memory."""
    with DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


@pytest.fixture
def store() -> ReferenceStore:
    """A store with the sample app deployed."""
    return sample_store()


ONE_FILE, SHARDED = "one file", "a file for each run"
KEPT = {"instance_class": {"module": "tidegate.dagster_defs.sqlite", "class": "SqliteInstance"}}


@pytest.fixture(scope="session")
def empty_homes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A DAGSTER_HOME of each kind of SQLite storage, to copy: to create one takes Dagster a second."""
    homes = {kind: tmp_path_factory.mktemp("home") for kind in (ONE_FILE, SHARDED)}
    for kind, home in homes.items():
        with instance_for_test(overrides=KEPT if kind == ONE_FILE else {}, temp_dir=str(home)):
            pass
    return homes


def in_postgres(url: str) -> dict[str, object]:
    """Settings of an instance that keeps all in PostgreSQL."""
    return {"storage": {"postgres": {"postgres_url": url}}}


@cache
def kept_storage(server: str) -> KeptDatabases:
    """The databases of Dagster on a server that tests use one after the other."""

    def make(url: str) -> None:
        with instance_for_test(overrides=in_postgres(url)):
            pass

    return KeptDatabases(server, make)


@pytest.fixture(params=[ONE_FILE, SHARDED, POSTGRES])
def disk_instance(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[DagsterInstance]:
    """A Dagster instance with a real event log: in SQLite, ours and Dagster's, and in PostgreSQL."""
    overrides: dict[str, object] = {}
    if request.param == "postgres":
        overrides = in_postgres(kept_storage(request.getfixturevalue("postgres_server")).take(request))
    else:
        empty = request.getfixturevalue("empty_homes")[request.param]
        shutil.copytree(empty, tmp_path, dirs_exist_ok=True)
        overrides = dict(KEPT) if request.param == ONE_FILE else {}
    with instance_for_test(overrides=overrides, temp_dir=str(tmp_path)) as instance:
        yield instance


@pytest.fixture
def initializing() -> Iterator[DefinitionsLoadContext]:
    """The context in which a code server loads its definitions, and ships the plan to its runs."""
    context = DefinitionsLoadContext(DefinitionsLoadType.INITIALIZATION)
    with loading(context):
        yield context
