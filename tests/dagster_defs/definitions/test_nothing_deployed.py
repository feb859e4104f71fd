"""A code location without apps: it loads, says what to do, and asks for a reload once there is something."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from dagster import DagsterInstance, build_schedule_context, build_sensor_context
from dagster._core.test_utils import instance_for_test

from tests.dagster_defs.instance import repository_of
from tests.dagster_defs.sample import deploy, location_of, sample_app
from tests.doubles.reference.store import ReferenceStore
from tidegate.dagster_defs.definitions.definitions import RELOAD_TEXT
from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.deployed.names import DISPATCHER, NOTHING_DEPLOYED, RECOVERY
from tidegate.dagster_defs.deployed.plan_state import NOTHING_DEPLOYED_TEXT
from tidegate.scheduler.store.sql.open import open_sql_store

pytestmark = pytest.mark.dagster


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[DagsterInstance]:
    with instance_for_test(temp_dir=str(tmp_path)) as found:
        yield found


@pytest.fixture
def url(tmp_path: Path) -> str:
    """The address of a store that does not exist."""
    return f"sqlite:///{tmp_path}/store.db"


@pytest.fixture
def location(url: str) -> Location:
    """A code location whose store does not exist yet."""
    return replace(location_of(ReferenceStore()), open_store=lambda: open_sql_store(url, create=False))


def skip_text(location: Location) -> str | None:
    """The skip reason of the only sensor that a code server loads."""
    (sensor,) = repository_of(location).sensor_defs
    assert sensor.name == NOTHING_DEPLOYED
    return sensor.evaluate_tick(build_sensor_context()).skip_message


def test_a_store_that_does_not_exist_loads_and_is_not_made(location: Location, tmp_path: Path) -> None:
    assert skip_text(location) == NOTHING_DEPLOYED_TEXT
    assert list(tmp_path.iterdir()) == []


def test_an_empty_store_loads_too() -> None:
    assert skip_text(location_of(ReferenceStore())) == NOTHING_DEPLOYED_TEXT


def test_after_a_deployment_its_ticks_ask_for_a_reload(location: Location, url: str) -> None:
    (sensor,) = repository_of(location).sensor_defs
    store = open_sql_store(url)
    deploy(store, sample_app(), at=datetime(2023, 3, 1, tzinfo=UTC))
    store.close()

    assert sensor.evaluate_tick(build_sensor_context()).skip_message == RELOAD_TEXT
    assert [sensor.name for sensor in repository_of(location).sensor_defs] == [DISPATCHER]


def test_the_recovery_schedule_waits_for_the_first_deployment(
    location: Location, disk: DagsterInstance
) -> None:
    schedule = repository_of(location).get_schedule_def(RECOVERY)

    found = schedule.evaluate_tick(build_schedule_context(disk, datetime(2023, 3, 10, tzinfo=UTC)))

    assert (found.run_requests, found.skip_message) == ([], NOTHING_DEPLOYED_TEXT)
