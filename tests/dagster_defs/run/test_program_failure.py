"""A program that raises: its first line and its place are Dagster's failure, and are noted at the job."""

from pathlib import Path

import pytest
from dagster import DagsterInstance

from tests.dagster_defs.run.test_program_op import add_job, execute
from tests.dagster_defs.sample import location_of
from tests.doubles.reference.store import ReferenceStore
from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.run import program_op
from tidegate.scheduler.model.job import JobState

pytestmark = pytest.mark.dagster


@pytest.fixture
def location(store: ReferenceStore) -> Location:
    return location_of(store)


def failing_program() -> None:
    raise ValueError("no fares of this day\nand a second line")


def test_a_failure_of_the_program_says_its_first_line_and_its_place(
    location: Location, store: ReferenceStore, instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program_op, "run_program", lambda *_, **__: failing_program())
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

    monkeypatch.setattr(program_op, "run_program", lambda *_, **__: failing_program())
    monkeypatch.setattr(program_op, "note_failure", unreachable)

    result = execute(location, instance, "clean", partition="2023-03-09", tags=add_job(store, "2023-03-09"))

    (failure,) = result.get_step_failure_events()
    assert "ValueError: no fares of this day" in str(failure.step_failure_data.user_failure_data)
