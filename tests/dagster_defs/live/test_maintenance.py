"""Policies at work on a real Dagster, with Spark and Iceberg; one run is killed in the middle of its work.

The tests follow each other.
"""

import os
import signal

import pytest

from tests.dagster_defs.live.night import Night
from tests.dagster_defs.live.yard import APPENDS, DAYS, EVENTS, INSERTS, SALES, Yard
from tests.tally import reach
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.maintenance import Ending, table_resource
from tidegate.scheduler.model.reason import Reason

pytestmark = [pytest.mark.dagster, pytest.mark.spark, pytest.mark.iceberg]


@pytest.fixture(scope="module")
def yard(live_apps: tuple[Night, Yard]) -> Yard:
    _, yard = live_apps
    yard.start()
    return yard


def events(inserts: int) -> list[list[str | int]]:
    """The rows of the table after so many inserts."""
    return sorted([f"d{day}", day + number] for day in range(DAYS) for number in range(inserts))


def test_a_run_that_is_killed_while_it_writes_files_frees_the_table(yard: Yard) -> None:
    """A listing has found the table, which is not a dataset."""
    made = yard.data_files()
    yard.until("a file of the operation", lambda: yard.data_files() > made)
    (run,) = yard.runs(EVENTS)

    os.kill(yard.process_of(run), signal.SIGKILL)
    ended = yard.ended(EVENTS, 0)

    assert (ended.ending, ended.changed) == (Ending.FAILED, False)
    assert "was ended by SIGKILL" in ended.detail or "without a" in ended.detail, ended.detail
    record = yard.record(EVENTS)
    assert record.next_run is not None
    assert (record.next_run - run.started_at).total_seconds() == 3600
    with yard.store.reading() as reader:
        assert reader.slots([table_resource(EVENTS)]) == {table_resource(EVENTS): 0}


def test_a_dataset_is_measured_started_by_a_poll_and_compacted(yard: Yard) -> None:
    run = yard.ended(SALES, 0)

    assert (run.ending, run.policy, run.by_hand) == (Ending.SUCCEEDED, "shop/own", False), run.detail
    assert run.changed
    assert (run.before["files"], run.after["files"]) == (APPENDS, 1)
    job, record = yard.job(run.job), yard.record(SALES)
    assert (job.state, record.job) == (JobState.SUCCEEDED, None)
    assert record.next_run is not None
    assert (record.next_run - run.started_at).total_seconds() == 3600


def test_dagster_shows_the_numbers_on_the_asset_of_the_dataset(yard: Yard) -> None:
    (seen,) = yard.until("the observation", lambda: yard.observations("shop", "sales"))

    numbers = {name: seen.metadata[name].value for name in ("files", "files_before", "snapshots_before")}
    assert numbers == {"files": 1, "files_before": APPENDS, "snapshots_before": APPENDS}
    assert seen.metadata["rewritten_bytes"].value == yard.runs(SALES)[0].bytes > 0


def test_the_table_is_whole_and_the_next_run_compacts_it(yard: Yard) -> None:
    yard.maintain(EVENTS)
    run = yard.ended(EVENTS, 1)

    assert run.ending is Ending.SUCCEEDED, run.detail
    assert (run.before["files"], run.after["files"]) == (INSERTS * DAYS, DAYS)
    (seen,) = yard.until("the observation", lambda: yard.observations("maintenance", *EVENTS.split(".")))
    assert seen.metadata["files"].value == DAYS


def test_no_row_has_changed(yard: Yard) -> None:
    found = yard.look()

    assert {name: each["files"] for name, each in found.items()} == {SALES: 1, EVENTS: DAYS}
    assert found[SALES]["rows"] == [[number, item] for number in range(APPENDS) for item in range(10)]
    assert found[EVENTS]["rows"] == events(INSERTS)


@pytest.mark.soak  # spark_jobs/maintenance/test_rewrite.py
def test_an_operation_makes_room_for_a_pipeline_and_goes_on_after_it(yard: Yard) -> None:
    yard.more()
    yard.maintain(EVENTS)
    # The operation has its slot, and its run has yet to begin: so it is asked in time.
    urgent = yard.trigger("shop/urgent")

    first = yard.ended(EVENTS, 2)
    assert (first.ending, yard.job(first.job).reason) == (Ending.STOPPED, Reason.F_YIELDED), first.detail
    done = yard.until("the pipeline", lambda: (job := yard.job(urgent.id)).ended_at and job)
    again = yard.ended(EVENTS, 3)
    assert (done.state, again.ending, again.by_hand) == (JobState.SUCCEEDED, Ending.SUCCEEDED, True), (
        again.detail
    )
    assert done.ended_at is not None
    assert first.ended_at < done.ended_at <= again.started_at
    found = yard.look()
    assert (found[EVENTS]["files"], found[EVENTS]["rows"]) == (DAYS, events(2 * INSERTS))
    reach("operations on a real daemon", sum(len(yard.runs(table)) for table in (SALES, EVENTS)))
