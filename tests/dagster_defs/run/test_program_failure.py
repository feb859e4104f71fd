"""A program that raises: its first line and its place are Dagster's failure, and are noted at the job."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from dagster import DagsterInstance, ExecuteInProcessResult

from tests.dagster_defs.run.test_program_op import add_job, execute
from tests.dagster_defs.sample import location_of
from tests.doubles.reference.store import ReferenceStore
from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.run import program_op
from tidegate.domain.commits import CheckVerdict
from tidegate.domain.model.check import NotNullCheck
from tidegate.domain.published import PublishedPartition
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.job import JobState
from tidegate.spark_jobs import runner as spark_runner
from tidegate.spark_jobs.errors import PublishWithheld

pytestmark = pytest.mark.dagster


@pytest.fixture
def location(store: ReferenceStore) -> Location:
    return location_of(store)


def failing_program() -> None:
    raise ValueError("no fares of this day\nand a second line")


def test_a_failure_of_the_program_says_its_first_line_and_its_place(
    location: Location, store: ReferenceStore, instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_runner, "run_program", lambda *_, **__: failing_program())
    monkeypatch.chdir(Path(__file__).parent)
    line = failing_program.__code__.co_firstlineno + 1
    said = f"ValueError: no fares of this day (test_program_failure.py:{line})"

    result = execute(location, instance, "clean", partition="2023-03-09", tags=add_job(store, "2023-03-09"))

    (failure,) = result.get_step_failure_events()
    assert failure.step_failure_data.user_failure_data is not None
    assert failure.step_failure_data.user_failure_data.description == said
    with store.reading() as reader:
        (job,) = reader.jobs()
        (*_, entry) = reader.journal(job=job.id)
    assert (job.state, job.detail) == (JobState.LAUNCHED, said)
    assert (entry.kind, entry.run_id) == ("failure", result.run_id)


def test_a_failure_that_cannot_be_noted_is_still_the_failure_of_the_run(
    location: Location, store: ReferenceStore, instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(*_: object) -> bool:
        raise ConnectionError("the store is down")

    monkeypatch.setattr(spark_runner, "run_program", lambda *_, **__: failing_program())
    monkeypatch.setattr(program_op, "note_failure", unreachable)

    result = execute(location, instance, "clean", partition="2023-03-09", tags=add_job(store, "2023-03-09"))

    (failure,) = result.get_step_failure_events()
    assert "ValueError: no fares of this day" in str(failure.step_failure_data.user_failure_data)


def verdict(name: str, *, passed: bool = False, severity: str = "block") -> CheckVerdict:
    """What a check of `clean` has found."""
    return msgspec.convert(
        {
            "dataset": "flights/clean",
            "name": name,
            "kind": "not_null",
            "severity": severity,
            "passed": passed,
            "found": f"{name} of 9 rows",
            "rows": 9,
            "bad": 0 if passed else 1,
            "samples": [] if passed else [{"id": None}],
        },
        CheckVerdict,
    )


def evaluations(result: ExecuteInProcessResult) -> list[tuple[str, bool, str]]:
    found = result.get_asset_check_evaluations()
    return [(each.check_name, each.passed, each.severity.value) for each in found]


def test_a_withheld_publish_fails_the_run_after_an_evaluation_of_each_check(
    location: Location, store: ReferenceStore, instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdicts = (verdict("ids"), verdict("rows", passed=True), verdict("late", severity="warn"))

    def withheld(*_: object, commit: str, **__: object) -> None:
        raise PublishWithheld(commit, verdicts)

    monkeypatch.setattr(spark_runner, "run_program", withheld)

    result = execute(location, instance, "clean", partition="2023-03-09", tags=add_job(store, "2023-03-09"))

    assert evaluations(result) == [("ids", False, "ERROR"), ("rows", True, "ERROR"), ("late", False, "WARN")]
    (failure,) = result.get_step_failure_events()
    said = failure.step_failure_data.user_failure_data
    assert said is not None and "tidegate commits release" in str(said)
    assert not [event for event in result.all_events if event.is_step_materialization]
    with store.reading() as reader:
        (job,) = reader.jobs()
        (*_, entry) = reader.journal(job=job.id)
    assert entry.data["withheld"] == job.id
    assert entry.data["message"].startswith(f"commit {job.id} is withheld, since 1 of 3 checks failed: ")
    assert "tidegate commits release" not in entry.data["message"], "it goes once it is released"


def test_a_published_run_reports_the_results_of_its_checks_after_its_materialisation(
    store: ReferenceStore, instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store.transaction() as transaction:
        (deployed,) = transaction.records(APPS)
        datasets = deployed.app.datasets
        checked = msgspec.structs.replace(
            datasets["clean"], checks=(NotNullCheck(name="ids", columns=("id",)),)
        )
        app = msgspec.structs.replace(deployed.app, datasets={**datasets, "clean": checked})
        transaction.put_records(APPS, [msgspec.structs.replace(deployed, app=app)])
    found = (verdict("ids", passed=True), verdict("late", severity="warn"))

    def published(*_: object, judged: Callable[[object], None], **__: object) -> tuple[PublishedPartition]:
        judged(found)
        return (PublishedPartition(dataset="clean", key="2023-03-09", rows=9, bytes=1, files=1),)

    monkeypatch.setattr(spark_runner, "run_program", published)

    result = execute(location_of(store), instance, "clean", partition="2023-03-09")

    assert result.success
    assert evaluations(result) == [("ids", True, "ERROR"), ("late", False, "WARN")]
    kinds = [event.event_type_value for event in result.all_events]
    assert kinds.index("ASSET_MATERIALIZATION") < kinds.index("ASSET_CHECK_EVALUATION")
