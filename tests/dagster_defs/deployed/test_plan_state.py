"""What travels with a run: its process builds the same assets and never touches the store."""

import pytest
from dagster import AssetKey
from dagster._core.definitions.definitions_load_context import DefinitionsLoadContext

from tests.dagster_defs.sample import location_of, sample_app, sample_store
from tests.dagster_defs.shipped import Unreachable, reconstructing
from tidegate.dagster_defs.definitions import definitions
from tidegate.dagster_defs.definitions.definitions import build_definitions
from tidegate.dagster_defs.deployed.names import DISPATCHER, RECOVERY
from tidegate.dagster_defs.deployed.plan_state import (
    METADATA_KEY,
    LoadedApp,
    Plan,
    decode_plan,
    encode_plan,
)

pytestmark = pytest.mark.dagster


def test_the_plan_survives_the_journey_without_schedules() -> None:
    plan = Plan(apps=(LoadedApp(app=sample_app(), revision=3),))

    arrived = decode_plan(encode_plan(plan))

    assert arrived.apps[0].revision == 3
    assert arrived.apps[0].app.programs == sample_app().programs
    assert arrived.apps[0].app.datasets == sample_app().datasets
    assert arrived.apps[0].app.schedules == {}


def test_a_runs_process_builds_the_assets_without_the_store(
    initializing: DefinitionsLoadContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_definitions(location_of(sample_store()))
    monkeypatch.setattr(definitions, "_built_here", {})

    with DefinitionsLoadContext.scoped(reconstructing(initializing)):
        repository = build_definitions(location_of(Unreachable())).get_repository_def()

    assert AssetKey(["flights", "clean"]) in repository.assets_defs_by_key
    assert (repository.sensor_defs, repository.schedule_defs) == ([], [])


def test_a_code_server_gets_sensors_in_its_second_pass(initializing: DefinitionsLoadContext) -> None:
    first = build_definitions(location_of(sample_store()))

    with DefinitionsLoadContext.scoped(reconstructing(initializing)):
        second = build_definitions(location_of(Unreachable()))

    assert second is first, "they are built once"
    repository = second.get_repository_def()
    assert [sensor.name for sensor in repository.sensor_defs] == [DISPATCHER]
    assert {schedule.name for schedule in repository.schedule_defs} == {"report_daily", RECOVERY}


def test_what_travels_is_small(initializing: DefinitionsLoadContext) -> None:
    build_definitions(location_of(sample_store()))

    assert len(initializing.get_pending_reconstruction_metadata()[METADATA_KEY]) < 1000
