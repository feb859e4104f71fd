"""A project in a code location of others: its names, and what of theirs stays as it is."""

from dataclasses import replace

import pytest
from dagster import (
    AssetKey,
    Definitions,
    InMemoryIOManager,
    IOManagerDefinition,
    JobDefinition,
    RepositoryDefinition,
    ScheduleDefinition,
    asset,
    define_asset_job,
    job,
    multiprocess_executor,
    op,
    sensor,
)

from tests.dagster_defs.sample import deploy, location_of, sample_app
from tests.dagster_defs.shipped import Unreachable, loading, reconstructing
from tests.doubles.reference.store import ReferenceStore
from tidegate.compiler.compile import compile_files
from tidegate.dagster_defs.definitions.definitions import build_definitions
from tidegate.dagster_defs.definitions.run_scope import run_scope, scope_of
from tidegate.dagster_defs.deployed.names import ALL_ASSETS_JOB, DISPATCHER, NOTHING_DEPLOYED
from tidegate.dagster_defs.internals.load_context import DefinitionsLoadContext
from tidegate.domain.model import App
from tidegate.scheduler.store.error import StoreAway

pytestmark = pytest.mark.dagster


@asset(group_name="flights")
def clean() -> None:
    """An asset of theirs in a group and with an op that have names of ours."""


@op
def report() -> None:
    """An op of theirs that has the name of a program of ours."""


@job
def nightly() -> None:
    report()


@sensor(job=nightly)
def notify() -> None:
    """A sensor of theirs."""


THEIR_IO_MANAGER = IOManagerDefinition.hardcoded_io_manager(InMemoryIOManager())


def theirs() -> Definitions:
    return Definitions(
        assets=[clean],
        jobs=[
            nightly,
            define_asset_job("of_both", selection=[AssetKey("clean"), AssetKey(["flights", "report"])]),
        ],
        schedules=[ScheduleDefinition(name="report_daily", job=nightly, cron_schedule="0 5 * * *")],
        sensors=[notify],
        resources={"io_manager": THEIR_IO_MANAGER},
        executor=multiprocess_executor,
    )


def ours(store: ReferenceStore) -> Definitions:
    return build_definitions(replace(location_of(store), merged=True))


def together(store: ReferenceStore) -> RepositoryDefinition:
    return Definitions.merge(theirs(), ours(store)).get_repository_def()


def test_every_name_begins_with_ours_and_there_is_no_executor_logger_or_resource(
    store: ReferenceStore, initializing: DefinitionsLoadContext
) -> None:
    found = ours(store)

    jobs = [each for each in found.jobs or () if isinstance(each, JobDefinition)]
    names = [each.name for each in (*jobs, *(found.schedules or ()), *(found.sensors or ()))]
    ops = [each.op.name for each in found.resolve_asset_graph().assets_defs if each.is_executable]
    assert sorted(ops) == ["tidegate_clean", "tidegate_notify", "tidegate_report"]
    assert "tidegate_report_daily" in names
    assert [name for name in (*names, *ops) if not name.startswith("tidegate_")] == []
    assert (found.executor, dict(found.loggers or {}), dict(found.resources or {})) == (None, {}, {})
    assert {each.executor_def.name for each in jobs} == {"in_process"}


def test_what_is_theirs_keeps_its_name_its_executor_and_its_resources(
    store: ReferenceStore, initializing: DefinitionsLoadContext
) -> None:
    found = together(store)

    assert {"nightly", "of_both", "tidegate_recover_commits"} <= set(found.job_names)
    assert {each.name for each in found.schedule_defs} == {
        "report_daily",
        "tidegate_report_daily",
        "tidegate_recover_commits",
    }
    assert {each.name for each in found.sensor_defs} == {"notify", DISPATCHER}
    assert found.get_job("nightly").executor_def is multiprocess_executor
    assert found.get_job(ALL_ASSETS_JOB).executor_def is multiprocess_executor
    assert found.get_top_level_resources()["io_manager"] is THEIR_IO_MANAGER


def test_the_dispatcher_materialises_no_asset_of_theirs(
    store: ReferenceStore, initializing: DefinitionsLoadContext
) -> None:
    found = together(store)

    selection = found.get_sensor_def(DISPATCHER).asset_selection

    assert selection is not None
    assert selection.resolve(found.asset_graph) == {
        AssetKey(["flights", name]) for name in ("clean", "report", "notify")
    }


def test_a_run_of_one_program_has_all_that_jobs_of_theirs_select(
    store: ReferenceStore, initializing: DefinitionsLoadContext
) -> None:
    together(store)

    with (
        loading(reconstructing(initializing)),
        run_scope(scope_of(ALL_ASSETS_JOB, {AssetKey(["flights", "clean"])})),
    ):
        found = together(Unreachable())

    assert found.assets_defs_by_key[AssetKey(["flights", "report"])].op.name == "tidegate_report"
    assert found.get_job("of_both").nodes


def test_two_apps_with_a_program_of_one_name_keep_their_prefix(
    store: ReferenceStore, initializing: DefinitionsLoadContext
) -> None:

    app = sample_app()
    deploy(store, App(name="trains", datasets=app.datasets, programs=app.programs))

    ops = {each.op.name for each in ours(store).resolve_asset_graph().assets_defs if each.is_executable}

    assert {"tidegate_flights__clean", "tidegate_trains__clean"} <= ops


ONLY_A_JOB = """
app: core
programs: {nightly: {job: nightly}}
schedules:
  nightly: {program: nightly, trigger: {cron: "0 6 * * *"}, status: active}
"""


@pytest.mark.parametrize("merged", [False, True])
def test_a_cron_over_a_job_of_theirs_loads_where_no_program_is_ours(
    merged: bool, initializing: DefinitionsLoadContext
) -> None:
    (app,) = compile_files({"core.yaml": ONLY_A_JOB.encode()}).models().values()
    store = ReferenceStore()
    deploy(store, app)

    found = build_definitions(replace(location_of(store), merged=merged)).get_repository_def()

    found.load_all_definitions()
    names = {"tidegate_nightly" if merged else "nightly", "tidegate_recover_commits"}
    assert {each.name for each in found.schedule_defs} == names


def test_a_store_that_is_away_takes_nothing_of_theirs_with_it(
    store: ReferenceStore, initializing: DefinitionsLoadContext
) -> None:
    class Away(ReferenceStore):
        def reading(self):
            raise StoreAway("the store is away")

    found = together_without_selection(Away())

    assert "nightly" in found.job_names
    assert {each.name for each in found.sensor_defs} == {"notify", NOTHING_DEPLOYED}
    with pytest.raises(StoreAway):
        build_definitions(location_of(Away()))


def together_without_selection(store: ReferenceStore) -> RepositoryDefinition:
    mine = Definitions(assets=[clean], jobs=[nightly], sensors=[notify])
    return Definitions.merge(mine, ours(store)).get_repository_def()
