"""What travels with a run: its process builds the same assets and never touches the store."""

import msgspec
import pytest
from dagster import AssetKey
from dagster._core.definitions.repository_definition import RepositoryLoadData

from tests.dagster_defs.sample import location_of, sample_app, sample_store
from tests.dagster_defs.shipped import Unreachable, loading, reconstructing
from tidegate.dagster_defs.definitions import definitions
from tidegate.dagster_defs.definitions.definitions import build_definitions
from tidegate.dagster_defs.deployed.asset_plan import AssetPlan
from tidegate.dagster_defs.deployed.names import DISPATCHER, RECOVERY
from tidegate.dagster_defs.deployed.plan_state import (
    METADATA_KEY,
    LoadedApp,
    Plan,
    decode_plan,
    encode_plan,
)
from tidegate.dagster_defs.internals.load_context import DefinitionsLoadContext, DefinitionsLoadType
from tidegate.domain.model import Program

pytestmark = pytest.mark.dagster


def test_the_plan_survives_the_journey_without_schedules() -> None:
    plan = Plan(apps=(LoadedApp(app=sample_app(), revision=3),))

    arrived = decode_plan(encode_plan(plan))

    assert arrived.apps[0].revision == 3
    assert arrived.apps[0].app.programs == sample_app().programs
    assert arrived.apps[0].app.datasets == sample_app().datasets
    assert arrived.apps[0].app.schedules == {}


def test_a_run_decodes_its_app_and_those_that_it_reads_only() -> None:
    unread = msgspec.structs.replace(sample_app(), name="unread")
    reads = msgspec.structs.replace(
        sample_app(),
        name="sales",
        programs={"revenue": Program(name="revenue", run="p.r", reads=("flights/clean",))},
    )
    apps = tuple(LoadedApp(app=app, revision=1) for app in (sample_app(), reads, unread))
    plan = AssetPlan(Plan(apps=apps[:2], others=apps[2:])).to_ship
    shipped = msgspec.json.decode(encode_plan(plan))
    shipped["others"]["unread"] = "is not decoded"
    needed = msgspec.json.encode(shipped).decode()

    arrived = decode_plan(needed, {"sales"})
    assert [each.app.name for each in arrived.apps] == ["flights", "sales"]
    assert (arrived.others, arrived.own) == ((), {"flights", "sales"})
    assert AssetPlan(arrived).programs == AssetPlan(decode_plan(encode_plan(plan))).programs

    of_one = decode_plan(needed, {"flights"})
    assert [each.app.name for each in of_one.apps] == ["flights"]
    assert of_one.own == {"flights", "sales"}


def test_an_op_keeps_its_name_where_only_its_app_is_decoded() -> None:
    twin = msgspec.structs.replace(sample_app(), name="twin")
    plan = AssetPlan(Plan(apps=tuple(LoadedApp(app=app, revision=1) for app in (sample_app(), twin))))
    expected = {each.ref: each.op for each in plan.programs.values()}
    assert expected["twin/clean"] == "twin__clean"

    arrived = AssetPlan(decode_plan(encode_plan(plan.to_ship), {"twin"}))
    found = {each.ref: each.op for each in arrived.programs.values()}
    assert found == {ref: op for ref, op in expected.items() if ref.startswith("twin/")}


def test_a_runs_process_builds_the_assets_without_the_store(
    initializing: DefinitionsLoadContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_definitions(location_of(sample_store()))
    monkeypatch.setattr(definitions, "_built_here", {})

    with loading(reconstructing(initializing)):
        repository = build_definitions(location_of(Unreachable())).get_repository_def()

    assert AssetKey(["flights", "clean"]) in repository.assets_defs_by_key
    assert (repository.sensor_defs, repository.schedule_defs) == ([], [])


def test_a_code_server_gets_sensors_in_its_second_pass(initializing: DefinitionsLoadContext) -> None:
    first = build_definitions(location_of(sample_store()))

    with loading(reconstructing(initializing)):
        second = build_definitions(location_of(Unreachable()))

    assert second is first, "they are built once"
    repository = second.get_repository_def()
    assert [sensor.name for sensor in repository.sensor_defs] == [DISPATCHER]
    assert {schedule.name for schedule in repository.schedule_defs} == {"report_daily", RECOVERY}


def test_what_travels_is_small(initializing: DefinitionsLoadContext) -> None:
    build_definitions(location_of(sample_store()))

    assert len(initializing.get_pending_reconstruction_metadata()[METADATA_KEY]) < 1000


def test_a_run_that_gets_no_plan_reads_the_store() -> None:
    without = RepositoryLoadData(reconstruction_metadata={})
    context = DefinitionsLoadContext(DefinitionsLoadType.RECONSTRUCTION, repository_load_data=without)

    with loading(context):
        repository = build_definitions(location_of(sample_store())).get_repository_def()

    assert AssetKey(["flights", "clean"]) in repository.assets_defs_by_key
