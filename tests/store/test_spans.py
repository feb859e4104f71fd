"""SQL stores say what a span of time has: lanes, their jobs, what is usual, and the work in numbers."""

from datetime import timedelta
from typing import Any

import pytest

from tests.worlds.samples import at, event, job, run, schedule
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.answers import LaneCount
from tidegate.scheduler.store.protocol import Store

FAILED, LAUNCHED, SUCCEEDED = JobState.FAILED, JobState.LAUNCHED, JobState.SUCCEEDED
READY = JobState.PENDING_CONSTRAINT
HOUR = 60


@pytest.fixture
def filled(sql_store: Store) -> Any:
    """A store with jobs of two apps, some of which ended before the span that begins at noon."""
    held = {"state": READY, "reason": Reason.W_HELD}
    queued = {"state": READY, "reason": Reason.W_CONCURRENCY}
    after = {"state": READY, "reason": Reason.W_UPSTREAM}
    with sql_store.transaction() as transaction:
        transaction.put_schedules(
            [schedule("a/s", next_fire_at=at(HOUR)), schedule("a/late", next_fire_at=at(99 * HOUR))]
        )
        transaction.put_jobs(
            [
                job("old", state=SUCCEEDED, opened_at=at(-90), ended_at=at(-30)),
                job("long", state=SUCCEEDED, opened_at=at(-90), ended_at=at(5), run_id="r1"),
                job("new", state=FAILED, opened_at=at(1), launched_at=at(2), ended_at=at(9)),
                job("gone", state=JobState.DISCARDED, opened_at=at(2), ended_at=at(9)),
                job("runs", state=LAUNCHED, opened_at=at(3), launched_at=at(4), run_id="r2"),
                job("begins", state=LAUNCHED, opened_at=at(4), launched_at=at(5), run_id="r3", late_at=at(6)),
                job("held", opened_at=at(5), **held),
                *(job(f"q{n}", "b/s", opened_at=at(n), blocked_on="group:spark", **queued) for n in range(3)),
                job("up", "b/t", opened_at=at(7), blocked_on="instance:a.up-00000000000f", **after),
                job("up2", "b/t", opened_at=at(8), blocked_on="instance:a.up-00000000001f", **after),
            ]
        )
        transaction.put_runs(
            [
                run("r1", RunStatus.SUCCEEDED, job="long", started_at=at(-10), ended_at=at(5)),
                run("r2", job="runs", started_at=at(4)),
                run("r3", RunStatus.QUEUED, job="begins"),
            ]
        )
        transaction.add_events([event("e1", 1, key="partition:a/d"), event("e2", 2, key="partition:a/d")])
    with sql_store.reading() as reader:
        yield reader


def test_lanes_are_counted_by_state_with_coming_fires(filled: Any) -> None:
    found = filled.lane_counts(at(0), at(24 * HOUR))
    assert sorted(found, key=lambda each: (each.schedule, each.state or "")) == [
        LaneCount(schedule="a/s"),
        LaneCount(schedule="a/s", state=JobState.DISCARDED, jobs=1),
        LaneCount(schedule="a/s", state=FAILED, jobs=1),
        LaneCount(schedule="a/s", state=LAUNCHED, jobs=2, late=1, queued=1),
        LaneCount(schedule="a/s", state=READY, jobs=1, held=1),
        LaneCount(schedule="a/s", state=SUCCEEDED, jobs=1),
        LaneCount(schedule="b/s", state=READY, jobs=3),
        LaneCount(schedule="b/t", state=READY, jobs=2),
    ]
    assert {each.schedule for each in filled.lane_counts(at(0), at(24 * HOUR), ["b"])} == {"b/s", "b/t"}
    assert filled.lane_counts(at(0), at(24 * HOUR), []) == ()


def test_the_newest_jobs_of_each_lane_are_read_those_that_ended_apart(filled: Any) -> None:
    def ids(most: int) -> list[str]:
        return [each.id for each in filled.lane_jobs(["a/s", "b/s"], at(0), at(24 * HOUR), most)]

    assert ids(10) == ["long", "q0", "new", "q1", "gone", "q2", "runs", "begins", "held"]
    assert ids(1) == ["new", "q2", "held"]
    (long,) = [each for each in filled.lane_jobs(["a/s"], at(0), at(HOUR), 9) if each.id == "long"]
    (whole,) = filled.jobs(ids=["long"])
    assert long == whole


def test_the_last_runs_and_arrivals_of_each_are_found(filled: Any) -> None:
    assert filled.last_durations(["a/s", "b/s"], 14) == {"a/s": (timedelta(minutes=15),), "b/s": ()}
    assert filled.last_durations([], 14) == {}
    assert filled.last_arrivals(["a/d", "a/e"], 1) == {"a/d": (at(2),), "a/e": ()}


def test_work_is_counted_by_state_and_hour(filled: Any) -> None:
    now = at(HOUR + 8)
    (runs,) = [each for each in filled.open_work(now) if each.run is RunStatus.STARTED]
    assert (runs.jobs, runs.begun, runs.begun_hours, runs.opened_hours) == (1, at(4), 1, 1)
    assert {each.app: each.jobs for each in filled.open_work(now, ["b"]) if each.opened_hours} == {"b": 2}
    ended = {(each.state, each.ended_hours, each.begun_hours): each.jobs for each in filled.ended_work(now)}
    assert ended == {
        (SUCCEEDED, 1, None): 2,
        (FAILED, 0, 1): 1,
        (JobState.DISCARDED, 0, None): 1,
    }
    assert filled.ended_work(at(48 * HOUR)) == ()


def test_what_waits_is_grouped_by_what_it_waits_for(filled: Any) -> None:
    found = filled.awaiting(10)
    assert [(each.reason, each.blocked_on, each.schedule, each.jobs) for each in found] == [
        (Reason.W_CONCURRENCY, "group:spark", "", 3),
        (Reason.W_UPSTREAM, "instance:a.up", "", 2),
        (Reason.W_HELD, None, "a/s", 1),
    ]
    assert (found[0].oldest, found[0].first_job, found[0].last_job) == (at(0), "q0", "q2")
    assert found[1].first_blocked == "instance:a.up-00000000000f"
    assert [each.jobs for each in filled.awaiting(1)] == [3]
    assert filled.awaiting(10, ["c"]) == ()
