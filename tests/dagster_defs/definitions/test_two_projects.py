"""Two projects on one store: each code location loads and launches its own apps only."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from dagster import AssetKey, AssetMaterialization, DagsterInstance, build_sensor_context

from tests.dagster_defs.instance import evaluate, repository_of
from tests.dagster_defs.sample import DAILY, NOW, deploy, location_of, sample_app
from tests.doubles.reference.store import ReferenceStore
from tidegate.dagster_defs.deployed import asset_plan
from tidegate.dagster_defs.deployed.asset_plan import AssetPlan
from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.deployed.names import DISPATCHER
from tidegate.dagster_defs.deployed.plan_state import (
    NOTHING_DEPLOYED_TEXT,
    Plan,
    decode_plan,
    deployed_plan,
    encode_plan,
)
from tidegate.domain.model import App, Dataset, PartitionsTrigger, Program, Schedule
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.event import partition_event_key
from tidegate.spark_jobs.datasets.dataset_ref import dataset_ref

pytestmark = pytest.mark.dagster

CLEAN = AssetKey(["flights", "clean"])
SALES = App(
    name="sales",
    datasets={"revenue": Dataset(name="revenue", partitions=DAILY)},
    programs={
        "revenue": Program(name="revenue", run="s.revenue", reads=("flights/clean",), writes=("revenue",))
    },
    schedules={
        "daily": Schedule(
            name="daily",
            program="revenue",
            trigger=PartitionsTrigger(dataset="flights/clean"),
            for_each="day",
            output_partition="key",
            status="active",
        )
    },
)


def two_projects() -> ReferenceStore:
    store = ReferenceStore()
    for app in (sample_app(), SALES):
        deploy(store, app)
        with store.transaction() as transaction:
            (row,) = transaction.records(APPS, name=[app.name])
            transaction.put_records(APPS, [msgspec.structs.replace(row, project=app.name)])
    return store


def location(store: ReferenceStore, project: str) -> Location:
    return replace(location_of(store), project=project)


def test_a_location_loads_the_apps_of_its_project_only() -> None:
    store = two_projects()
    for project, names in (
        ("flights", {"raw", "rates", "clean", "report", "notify"}),
        ("sales", {"revenue"}),
        ("third", set[str]()),
    ):
        repository = repository_of(location(store, project))
        executable = {key for key, each in repository.assets_defs_by_key.items() if key.path[0] == project}
        assert executable == {AssetKey([project, name]) for name in names}
        sensors = {sensor.name for sensor in repository.sensor_defs}
        assert sensors == ({DISPATCHER} if names else {"tidegate_nothing_deployed"})
        assert {each.name for each in repository.schedule_defs} <= {
            "report_daily",
            "tidegate_recover_commits",
        }
        assert ("report_daily" in {each.name for each in repository.schedule_defs}) is (project == "flights")


def test_a_project_without_apps_does_not_ask_for_a_reload_because_of_others() -> None:
    (sensor,) = repository_of(location(two_projects(), "third")).sensor_defs
    assert sensor.evaluate_tick(build_sensor_context()).skip_message == NOTHING_DEPLOYED_TEXT


def test_what_is_read_of_another_project_is_an_external_asset_with_its_partitions() -> None:
    graph = repository_of(location(two_projects(), "sales")).asset_graph
    assert graph.get(AssetKey(["sales", "revenue"])).parent_keys == {CLEAN}
    assert not graph.get(CLEAN).is_executable
    assert graph.get(CLEAN).partitions_def is not None


def test_a_dispatcher_takes_in_the_other_project_s_events_and_launches_its_own_jobs(
    instance: DagsterInstance,
) -> None:
    store = two_projects()
    for app, day in (("flights", "2023-03-08"), ("sales", "2023-03-09")):
        # Whichever dispatcher reads the log first reads it for both.
        instance.report_runless_asset_event(AssetMaterialization(CLEAN, partition=day))
        repository = repository_of(location(store, app))
        evaluate(instance, repository)
    with store.reading() as reader:
        events = reader.events(key_prefix=partition_event_key("flights", "clean"))
        assert sorted(event.partition or "" for event in events) == ["2023-03-08", "2023-03-09"]
        assert {job.schedule for job in reader.jobs()} == {"sales/daily"}
    later = repository_of(replace(location(store, "flights"), clock=lambda: NOW + timedelta(minutes=1)))
    assert not evaluate(instance, later).run_requests
    later = repository_of(replace(location(store, "sales"), clock=lambda: NOW + timedelta(minutes=1)))
    requests = evaluate(instance, later).run_requests or []
    assert sorted(str(request.partition_key) for request in requests) == ["2023-03-08", "2023-03-09"]


def test_a_wrong_report_for_another_project_is_listed_whoever_reads_it(instance: DagsterInstance) -> None:
    store = two_projects()
    instance.report_runless_asset_event(AssetMaterialization(AssetKey(["flights", "clean"])))
    instance.report_runless_asset_event(AssetMaterialization(AssetKey(["flights", "notify"])))
    evaluate(instance, repository_of(location(store, "sales")))
    with store.reading() as reader:
        refused = str(reader.cursor("refused-reports"))
    assert "flights/clean has partitions, but the report has none" in refused
    assert "notify" not in refused


def test_a_run_reads_the_other_app_s_table_from_the_plan_that_came_with_it() -> None:
    with two_projects().reading() as reader:
        plan = deployed_plan(reader, "sales")
    shipped = decode_plan(encode_plan(plan))
    assert shipped.revisions == plan.revisions == {"flights": 1, "sales": 1}
    assets = AssetPlan(shipped).programs["sales", "revenue"]
    ref = dataset_ref("sales", assets.datasets["flights/clean"])
    assert (ref.id, ref.scheme) == ("flights/clean", DAILY)
    assert assets.elsewhere == {"flights/clean"}
    with two_projects().reading() as reader:
        everything = deployed_plan(reader, "sales").everything
    assert AssetPlan(everything).programs["sales", "revenue"].elsewhere == frozenset()


def apps_that_read_each_other() -> Plan:
    flights = sample_app()
    programs = {
        **flights.programs,
        "report": msgspec.structs.replace(flights.programs["report"], reads=("clean", "sales/revenue")),
        "clean": msgspec.structs.replace(flights.programs["clean"], reads=("raw", "sales/revenue")),
    }
    store = ReferenceStore()
    for app in (msgspec.structs.replace(flights, programs=programs), SALES):
        deploy(store, app)
    with store.reading() as reader:
        return deployed_plan(reader, "")


def test_apps_that_read_each_other_hide_the_same_read_in_both_locations() -> None:
    plan = apps_that_read_each_other()
    assets = AssetPlan(plan)
    reads = {ref: set(each.reads) for ref, each in assets.programs.items()}
    revenue = AssetKey(["sales", "revenue"])
    assert (CLEAN in reads["sales", "revenue"]) is not (revenue in reads["flights", "clean"])
    for apps, others in (((0,), (1,)), ((1,), (0,))):
        part = Plan(apps=tuple(plan.apps[i] for i in apps), others=tuple(plan.apps[i] for i in others))
        for ref, each in AssetPlan(part).programs.items():
            assert set(each.reads) == reads[ref]


def test_a_run_hides_what_its_code_server_hid_and_looks_at_its_own_app_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = apps_that_read_each_other()
    expected = AssetPlan(plan).program_of[CLEAN]
    shipped = decode_plan(encode_plan(AssetPlan(plan).to_ship))
    seen: list[str] = []

    def of_app(app: App, *rest: Any) -> Any:
        seen.append(app.name)
        return original(app, *rest)

    original = asset_plan._programs_of
    monkeypatch.setattr(asset_plan, "_programs_of", of_app)
    monkeypatch.setattr(asset_plan, "_closing_reads", None)
    (found,) = AssetPlan(shipped).programs_of({CLEAN})
    assert (found.ref, set(found.reads), found.op) == (expected.ref, set(expected.reads), expected.op)
    assert shipped.hidden_reads
    assert seen == ["flights"]
