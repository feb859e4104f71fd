"""A night of cycle tasks, alive: an instance fails, is run again with downstream, is paused, is backfilled.

The tests go through the night in order; the host drives the engine, as under `tidegate dev`. The tables must
equal what pandas makes of the same files. By its name this is the last file of the folder: where a host is
active, no dispatcher works.
"""

import os

import pandas as pd
import pytest
from dagster import DagsterRunStatus, RunsFilter

from tests.dagster_defs.live.night import Night
from tests.dagster_defs.live.yard import Yard
from tests.tally import reach
from tidegate.scheduler.decision.instances.actions import Action
from tidegate.scheduler.model.instance import Status
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.store import SqlStore

pytestmark = [pytest.mark.dagster, pytest.mark.spark]

ORDERS = (("apple", 3, 4), ("pear", 0, 9), ("plum", 2, 5))
LATE = (("quince", 1, 7),)
BEFORE = (("apple", 10, 4), ("fig", 1, 1))


@pytest.fixture(scope="module")
def night(live_apps: tuple[Night, Yard]) -> Night:
    night, _ = live_apps
    night.land(night.yesterday, *ORDERS)
    night.start()
    return night


def assert_tables(night: Night, first: str, last: str) -> None:
    for name, expected in zip(("clean", "revenue"), night.expected(first, last), strict=True):
        found = night.table(name).reindex(columns=expected.columns)
        pd.testing.assert_frame_equal(found, expected, check_dtype=False, obj=name)


def test_an_upstream_instance_that_fails_holds_up_its_consumers(night: Night) -> None:
    (night.folder / f"broken-{night.yesterday}").touch()

    night.report()
    night.until_status(Status.FAILED, "clean")

    job = night.job("clean")
    assert "are broken" in job.detail
    assert night.status("revenue") is Status.NOT_RUN
    run = night.instance.get_run_by_id(job.run_id or "")
    assert run is not None
    assert {
        name: run.tags.get(f"tidegate/{name}") for name in ("task", "scheduled", "business_date", "kind")
    } == {
        "task": "night/clean",
        "scheduled": night.today,
        "business_date": night.yesterday,
        "kind": "periodic",
    }


def test_it_is_run_again_and_its_consumers_run_after_it(night: Night) -> None:
    (night.folder / f"broken-{night.yesterday}").unlink()

    night.act("clean", Action.RERUN, downstream=True)
    night.until_status(Status.SUCCESSFUL, "clean", "revenue")

    assert_tables(night, night.yesterday, night.yesterday)
    clean, revenue = night.job("clean"), night.job("revenue")
    assert (clean.attempt, clean.commit, revenue.attempt) == (2, 2, 1)
    assert commits(night).result(f"{clean.id}.r2") is not None
    assert commits(night).result(clean.id) is None


def test_a_run_that_is_paused_is_cancelled_and_publishes_nothing(night: Night) -> None:
    """The feed reports late orders, for which all of the night is run again; a person stops that for now."""
    slow, working = night.folder / f"slow-{night.yesterday}", night.folder / "working"
    slow.touch()
    before = night.table("clean")
    night.land(night.yesterday, *LATE)
    night.report()
    night.until("the run", lambda: night.status("clean") is Status.RUNNING and working.exists())
    run_id = night.job("clean").run_id or ""

    night.act("clean", Action.PAUSE)
    night.until("its end in Dagster", lambda: is_cancelled(night, run_id))

    night.until("the end of its process", lambda: not _lives(int(working.read_text())))
    slow.unlink()
    job = night.job("clean")
    assert (job.state, job.attempt, job.commit) == (JobState.PAUSED, 4, 4)
    assert night.status("revenue") is Status.NOT_RUN
    pd.testing.assert_frame_equal(night.table("clean"), before)
    with night.store.reading() as reader:
        assert reader.slots(["runs"]) == {"runs": 0}


@pytest.mark.soak  # run again: above; resumed: test_instances.py
def test_after_a_resume_the_tables_have_the_late_orders(night: Night) -> None:
    night.act("clean", Action.RESUME)
    night.until_status(Status.SUCCESSFUL, "clean", "revenue")

    assert_tables(night, night.yesterday, night.yesterday)
    assert night.job("revenue").commit == 2


@pytest.mark.soak  # demo/test_demo.py backfills two days on a real Dagster
def test_a_backfill_across_the_night_computes_both_days(night: Night) -> None:
    first = night.day_before(night.yesterday)
    night.land(first, *BEFORE)

    night.backfill(first, night.yesterday)
    scheduled = (night.yesterday, night.today)

    def done() -> bool:
        jobs = [night.job("revenue", each, 1) for each in scheduled]
        assert not any(job.state is JobState.FAILED for job in jobs), [job.detail for job in jobs]
        return all(job.state is JobState.SUCCEEDED for job in jobs)

    night.until("the backfill", done)

    assert_tables(night, first, night.yesterday)
    of_backfill = night.instance.get_runs(filters=RunsFilter(tags={"tidegate/backfill": "1"}))
    assert len(of_backfill) == 4
    plan = night.job("revenue", night.today, 1).launch
    assert plan is not None
    assert plan.manifest == {"clean": (night.yesterday,), "revenue": (first,)}
    assert commits(night).list_unfinished() == ()
    reach("runs of instances on a real daemon", len(night.instance.get_runs()))


def commits(night: Night) -> SqlCommitStepStore:
    assert isinstance(night.store, SqlStore)
    return SqlCommitStepStore(night.store.engine)


def is_cancelled(night: Night, run_id: str) -> bool:
    run = night.instance.get_run_by_id(run_id)
    return run is not None and run.status is DagsterRunStatus.CANCELED


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
