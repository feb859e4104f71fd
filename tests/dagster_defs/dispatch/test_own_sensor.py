"""`sensor: own`: a schedule has a sensor with its switch and with why its jobs wait."""

import msgspec
import pytest
from dagster import AssetKey, DagsterInstance, DefaultSensorStatus, build_sensor_context
from dagster._core.definitions.repository_definition import RepositoryDefinition

from tests.dagster_defs.instance import evaluate, report, report_day, repository_of
from tests.dagster_defs.sample import NOW, deploy, location_of, sample_app
from tests.doubles.dump import dump
from tests.doubles.reference.store import ReferenceStore
from tests.worlds.by import CLI
from tidegate.dagster_defs.deployed.names import RECOVERY
from tidegate.domain.model import App
from tidegate.scheduler.commands.by_hand.held_apps import hold_app
from tidegate.scheduler.model.deployed import Status

pytestmark = pytest.mark.dagster


def with_own(name: str, status: Status = "active") -> App:
    """The sample app, of which a schedule has a sensor of its own."""
    app = sample_app()
    own = msgspec.structs.replace(app.schedules[name], sensor="own", status=status)
    return msgspec.structs.replace(app, schedules={**app.schedules, name: own})


def said(repository: RepositoryDefinition, name: str) -> str:
    outcome = repository.get_sensor_def(name).evaluate_tick(build_sensor_context(repository_def=repository))
    assert not outcome.run_requests
    return outcome.skip_message or ""


def test_its_sensor_says_why_its_jobs_wait_and_launches_nothing(
    instance: DagsterInstance, store: ReferenceStore
) -> None:
    deploy(store, with_own("clean_as_it_comes"))
    repository = repository_of(location_of(store))
    assert said(repository, "clean_as_it_comes") == "no waiting jobs"
    report(instance, "raw", "2023-03-09|JFK")
    report_day(instance, "2023-03-08")

    assert len(evaluate(instance, repository).run_requests or []) == 1, "the dispatcher launches"

    before = dump(store)
    text = said(repository, "clean_as_it_comes")
    assert "1 waiting: flights/clean_as_it_comes[2023-03-09]: W-TRIGGER" in text
    assert "1 decided, for example 2023-03-08: PENDING_LAUNCH: its run was asked for once" in text
    assert dump(store) == before
    with store.transaction() as transaction:
        hold_app(transaction, "flights", NOW, by=CLI)
    assert said(repository, "clean_as_it_comes").endswith("its app is on hold: see `tidegate apps list`")


@pytest.mark.parametrize(
    ("status", "expected"),
    [("active", DefaultSensorStatus.RUNNING), ("suspended", DefaultSensorStatus.STOPPED)],
)
def test_its_switch_shows_the_status_and_takes_the_place_of_a_cron_s_schedule(
    store: ReferenceStore, status: Status, expected: DefaultSensorStatus
) -> None:
    deploy(store, with_own("report_daily", status))

    repository = repository_of(location_of(store))

    sensor = repository.get_sensor_def("report_daily")
    assert sensor.default_status is expected
    assert sensor.asset_selection is not None
    assert sensor.asset_selection.resolve(repository.asset_graph) == {AssetKey(["flights", "report"])}
    assert [each.name for each in repository.schedule_defs] == [RECOVERY]
