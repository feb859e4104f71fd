"""Definitions: what is deployed is what Dagster shows, and nothing that could kill the location."""

from dataclasses import replace

import msgspec
import pytest
from dagster import AssetKey, AssetSpec, DefaultScheduleStatus, DefaultSensorStatus
from dagster._core.definitions.repository_definition import RepositoryDefinition

from tests.dagster_defs.instance import repository_of
from tests.dagster_defs.sample import deploy, location_of, sample_app
from tests.doubles.reference.store import ReferenceStore
from tidegate.dagster_defs.definitions.definitions import build_definitions
from tidegate.dagster_defs.deployed.names import DISPATCHER, RECOVERY
from tidegate.domain.model import (
    App,
    CronTrigger,
    Dataset,
    DeclaredColumn,
    Program,
    RowsCheck,
    Schedule,
    UniqueCheck,
)

pytestmark = pytest.mark.dagster


@pytest.fixture
def repository(store: ReferenceStore) -> RepositoryDefinition:
    return repository_of(location_of(store))


def key(name: str, app: str = "flights") -> AssetKey:
    return AssetKey([app, name])


def test_every_dataset_and_every_other_program_is_an_asset(
    repository: RepositoryDefinition,
) -> None:
    assert set(repository.assets_defs_by_key) == {
        key(n) for n in ("raw", "rates", "clean", "report", "notify")
    }
    assert not repository.assets_defs_by_key[key("raw")].is_executable
    assert repository.assets_defs_by_key[key("clean")].op.name == "clean"


def test_an_asset_shows_its_app_its_place_and_its_inputs(repository: RepositoryDefinition) -> None:
    graph = repository.asset_graph
    clean = graph.get(key("clean"))

    assert clean.group_name == "flights"
    assert clean.parent_keys == {key("raw"), key("rates")}
    assert clean.description == "typed columns"
    assert graph.get(key("raw")).metadata["yaml"].value == "s.yaml:3:3"
    assert graph.get(key("report")).parent_keys == {key("clean")}
    assert graph.get(key("notify")).parent_keys == {key("report")}


def test_a_program_has_an_asset_check_for_each_check_of_what_it_writes(store: ReferenceStore) -> None:
    app = sample_app()
    checks = (RowsCheck(name="rows", min=1), UniqueCheck(name="u", columns=("id", "leg"), severity="warn"))
    clean = msgspec.structs.replace(app.datasets["clean"], checks=checks)
    deploy(store, msgspec.structs.replace(app, datasets={**app.datasets, "clean": clean}))

    graph = repository_of(location_of(store)).asset_graph

    shown = {each.name: graph.get(each) for each in graph.asset_check_keys}
    assert {each.asset_key for each in graph.asset_check_keys} == {key("clean")}
    assert {name: check.description for name, check in shown.items()} == {
        "rows": "at least 1 row",
        "u": "id and leg unique",
    }
    assert shown["u"].metadata["severity"].value == "warn"


def test_an_asset_shows_the_declared_columns_of_its_dataset(store: ReferenceStore) -> None:
    columns = (
        DeclaredColumn(name="id", type="bigint", nullable=False, unit="n", description="of the flight"),
        DeclaredColumn(name="tags", type="array<string>"),
    )
    app = sample_app()
    declared = {
        name: msgspec.structs.replace(app.datasets[name], columns=columns) for name in ("raw", "clean")
    }
    deploy(store, msgspec.structs.replace(app, datasets={**app.datasets, **declared}))
    graph = repository_of(location_of(store)).asset_graph
    for name, dimensions in (("raw", ["day", "origin"]), ("clean", ["day"])):
        schema = graph.get(key(name)).metadata["dagster/column_schema"].value
        shown = [(each.name, each.type, each.description) for each in schema.columns]
        assert shown[:2] == [("id", "bigint", "of the flight [n]"), ("tags", "array<string>", None)]
        assert [each[0] for each in shown[2:]] == dimensions, "partition columns come last"
        assert not schema.columns[0].constraints.nullable
        assert schema.columns[0].tags == {"unit": "n"}
    assert "dagster/column_schema" not in graph.get(key("rates")).metadata


def test_there_is_one_running_dispatcher(repository: RepositoryDefinition) -> None:
    (sensor,) = repository.sensor_defs

    assert sensor.name == DISPATCHER
    assert sensor.default_status is DefaultSensorStatus.RUNNING
    assert sensor.minimum_interval_seconds is not None
    assert sensor.minimum_interval_seconds < 5


def test_a_dispatcher_that_ticks_as_often_as_it_can_has_an_interval_that_dagster_takes(
    store: ReferenceStore,
) -> None:
    (sensor,) = repository_of(replace(location_of(store), dispatch_interval_seconds=1)).sensor_defs

    assert sensor.minimum_interval_seconds == 1


def test_a_plain_cron_has_a_schedule_that_runs_if_it_is_active(store: ReferenceStore) -> None:
    app = sample_app()
    off = Schedule(name="off", program="report", trigger=CronTrigger(cron="@daily", timezone="Europe/Berlin"))
    deploy(store, msgspec.structs.replace(app, schedules={**app.schedules, "off": off}))

    repository = repository_of(location_of(store))

    on, stopped = repository.get_schedule_def("report_daily"), repository.get_schedule_def("off")
    ours = {schedule.name for schedule in repository.schedule_defs} - {RECOVERY}
    assert ours == {"report_daily", "off"}, "only schedules whose whole trigger is one cron"
    assert (on.cron_schedule, on.default_status) == ("0 6 1-15 3 *", DefaultScheduleStatus.RUNNING)
    assert stopped.default_status is DefaultScheduleStatus.STOPPED
    assert stopped.execution_timezone == "Europe/Berlin"


def test_schedules_add_no_jobs(repository: RepositoryDefinition) -> None:
    assert sorted(job.name for job in repository.get_all_jobs()) == ["__ASSET_JOB", RECOVERY]


def test_two_apps_may_use_the_same_names(store: ReferenceStore) -> None:
    deploy(store, msgspec.structs.replace(sample_app(), name="trains"))

    repository = repository_of(location_of(store))

    assert {s.name for s in repository.schedule_defs} == {
        "flights__report_daily",
        "trains__report_daily",
        RECOVERY,
    }
    assert repository.assets_defs_by_key[key("clean", "trains")].op.name == "trains__clean"
    assert {s.name for s in repository.sensor_defs} == {DISPATCHER}


def test_several_writers_of_a_dataset_are_shown_with_one_owner(store: ReferenceStore) -> None:
    app = App(
        name="a",
        datasets={"d": Dataset(name="d")},
        programs={
            "daily": Program(name="daily", run="m.f", writes=("d",)),
            "repair": Program(name="repair", run="m.f", writes=("d",)),
        },
    )
    deploy(store, app)

    repository = repository_of(location_of(store))

    assert repository.assets_defs_by_key[key("d", "a")].op.name == "daily"
    assert repository.assets_defs_by_key[key("repair", "a")].op.name == "repair"


def test_programs_that_read_each_others_outputs_still_load(store: ReferenceStore) -> None:
    app = App(
        name="a",
        datasets={"x": Dataset(name="x"), "y": Dataset(name="y")},
        programs={
            "f": Program(name="f", run="m.f", reads=("y", "x"), writes=("x",)),
            "g": Program(name="g", run="m.g", reads=("x",), writes=("y",)),
        },
    )
    deploy(store, app)

    graph = repository_of(location_of(store)).asset_graph

    parents = {
        k.path[-1]: {p.path[-1] for p in graph.get(k).parent_keys} for k in (key("x", "a"), key("y", "a"))
    }
    assert parents in ({"x": {"y"}, "y": set()}, {"x": set(), "y": {"x"}})


def test_an_empty_store_loads() -> None:
    definitions = build_definitions(location_of(ReferenceStore()))

    assert list(definitions.assets or []) == []
    assert not any(isinstance(asset, AssetSpec) for asset in definitions.assets or [])
