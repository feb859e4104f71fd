"""The jobs of maintenance in Dagster: which code locations have them, and which sensors start them."""

import pytest
from dagster import AssetKey, DagsterInstance
from dagster._core.remote_representation.external_data import SensorSnap

from tests.dagster_defs.instance import repository_of
from tests.dagster_defs.maintenance.shop import Shop, shop_app
from tests.dagster_defs.sample import location_of, sample_store
from tests.dagster_defs.shipped import Unreachable, loading, reconstructing
from tidegate.dagster_defs.definitions import definitions
from tidegate.dagster_defs.deployed.names import (
    ALL_ASSETS_JOB,
    DISPATCHER,
    MAINTENANCE,
    MEASURING,
    RECOVERY,
    table_key,
)
from tidegate.dagster_defs.internals.load_context import DefinitionsLoadContext

pytestmark = pytest.mark.dagster

POLICIES_ONLY = """
app: platform
policies:
  all: {tables: "*.*.*", operations: {expire_snapshots: {}}}
"""


def targets(shop: Shop) -> set[str]:
    """The jobs that the dispatcher may start, as the daemon sees it."""
    sensor = shop.repository.get_sensor_def(DISPATCHER)
    return set(SensorSnap.from_def(sensor, shop.repository).target_dict)


def test_a_project_without_policies_sees_nothing_new() -> None:
    repository = repository_of(location_of(sample_store()))

    assert set(repository.job_names) == {ALL_ASSETS_JOB, RECOVERY}
    (sensor,) = repository.sensor_defs
    assert sensor.asset_selection is not None


def test_a_project_with_policies_has_a_job_for_operations_and_one_for_measuring(shop: Shop) -> None:
    assert set(shop.repository.job_names) == {ALL_ASSETS_JOB, RECOVERY, MAINTENANCE, MEASURING}
    assert targets(shop) == {ALL_ASSETS_JOB, MAINTENANCE, MEASURING}


def test_a_project_of_policies_alone_has_a_dispatcher(instance: DagsterInstance) -> None:
    shop = Shop(instance, shop_app(yaml=POLICIES_ONLY))

    assert targets(shop) == {MAINTENANCE, MEASURING}
    assert [each.job_name for each in shop.requests()] == [MEASURING], "tables are listed first"


def test_the_policies_of_another_project_are_not_its_own(instance: DagsterInstance) -> None:
    shop = Shop(instance)
    shop.deploy(shop_app(), project="theirs")

    assert MAINTENANCE not in shop.repository.job_names


def test_a_process_that_only_runs_a_step_has_the_jobs_too(
    initializing: DefinitionsLoadContext, instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    Shop(instance, shop_app())
    monkeypatch.setattr(definitions, "_built_here", {})

    with loading(reconstructing(initializing)):
        repository = repository_of(location_of(Unreachable()))

    assert {MAINTENANCE, MEASURING} <= set(repository.job_names)


@pytest.mark.parametrize(
    ("table", "path"),
    [
        ("shop/sales", ["shop", "sales"]),
        ("lake.raw.events", ["maintenance", "lake", "raw", "events"]),
        ("lake.raw.deep.events", ["maintenance", "lake", "raw", "deep.events"]),
    ],
)
def test_maintenance_is_shown_on_an_asset(table: str, path: list[str]) -> None:
    assert table_key(table) == AssetKey(path)
