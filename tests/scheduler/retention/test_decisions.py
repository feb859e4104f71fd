"""What may be pruned: a row of each table, and each thing that may still need it."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from tests.worlds.samples import NOON, at, event, job, run
from tests.worlds.world import app_of
from tidegate.domain.model import Schedule
from tidegate.scheduler.decision.retention import (
    entry_may_go,
    event_may_go,
    instance_may_go,
    job_may_go,
    launches_before,
    run_may_go,
)
from tidegate.scheduler.model.instance import Instance
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.retention import OldEvent, OldJob, OldRun, OpenInstance
from tidegate.scheduler.model.run import ProgramHistory, RunStatus

BEFORE = at(60)
DAY = 24 * 60


def instance(minutes: float = 0, *, number: int = 0, empty: bool = False) -> Instance:
    when = at(minutes)
    return Instance(
        key="k", scheduled=when, start=when, business=when, business_date="", number=number, empty=empty
    )


def of_task(minutes: float = 0, **fields: Any) -> Job:
    return job(
        "i", "a/t", state=JobState.SUCCEEDED, ended_at=at(minutes), instance=instance(minutes, **fields)
    )


@pytest.mark.parametrize(
    ("fields", "facts", "goes"),
    [
        ({"state": JobState.SUCCEEDED}, {}, True),
        ({"state": JobState.FAILED, "reason": Reason.F_RUN}, {}, True),
        ({"state": JobState.DISCARDED, "ended_at": None}, {}, True),
        ({"state": JobState.PENDING_TRIGGER}, {}, False),
        ({"state": JobState.PAUSED}, {}, False),
        ({"state": JobState.FAILED, "reason": Reason.F_LAUNCH}, {}, False),
        ({"state": JobState.SUCCEEDED, "ended_at": BEFORE}, {}, False),
        ({"state": JobState.SUCCEEDED, "instance": instance(90)}, {}, False),
        ({"state": JobState.SUCCEEDED, "instance": instance(0)}, {}, True),
        ({"state": JobState.SUCCEEDED}, {"at_work": True}, False),
        ({"state": JobState.SUCCEEDED}, {"waited_for": True}, False),
    ],
)
def test_a_job_goes_when_it_is_over_and_nothing_waits_for_it(
    fields: dict[str, Any], facts: dict[str, bool], goes: bool
) -> None:
    old = OldJob(job=job("j", **{"ended_at": at(1), **fields}), **facts)

    assert job_may_go(old, BEFORE, frozenset()) is goes


def test_a_job_stays_while_its_publish_is_not_finished() -> None:
    old = OldJob(job=job("j", state=JobState.SUCCEEDED, ended_at=at(1)))

    assert not job_may_go(old, BEFORE, {"j"})


@pytest.mark.parametrize(
    ("made", "next_real", "unfinished", "goes"),
    [
        (of_task(), at(5 * DAY), [], True),
        (of_task(), None, [], False),
        (of_task(empty=True), None, [], True),
        (of_task(), at(5 * DAY), [("a/t", 0, 5 * DAY)], False),
        (of_task(), at(5 * DAY), [("a/t", 0, 6 * DAY)], True),
        (of_task(), at(5 * DAY), [("a/t", 0, -6 * DAY)], True),
        (of_task(), at(5 * DAY), [("a/u", 0, DAY)], False),
        (of_task(), at(5 * DAY), [("a/x", 0, DAY)], True),
        (of_task(), at(5 * DAY), [("a/u", 0, 3 * DAY)], True),
        (of_task(), at(5 * DAY), [("a/u", 1, DAY)], True),
        (of_task(empty=True), None, [("a/t", 0, DAY)], False),
        (of_task(number=1), at(DAY), [("a/x", 1, 9 * DAY)], False),
        (of_task(number=1), at(DAY), [], True),
    ],
)
def test_an_instance_goes_when_no_unfinished_one_may_ask_for_it(
    made: Job, next_real: Any, unfinished: list[tuple[str, int, float]], goes: bool
) -> None:
    found = [OpenInstance(task=task, number=number, scheduled=at(m)) for task, number, m in unfinished]

    assert instance_may_go(made, next_real, found, {"a/t": ("a/u",)}) is goes


@pytest.mark.parametrize(
    ("facts", "goes"),
    [
        ({}, True),
        ({"unrouted": True}, False),
        ({"has_job": True}, False),
        ({"superseded": False}, False),
        ({"original_held": True}, False),
    ],
)
def test_an_event_goes_when_no_job_has_it_and_its_partition_has_a_newer_one(
    facts: dict[str, bool], goes: bool
) -> None:
    assert event_may_go(OldEvent(event=event("e"), **facts)) is goes


HISTORY = ProgramHistory(last_success_started=at(2), last_success_ended=at(3), last_ended=at(9))


@pytest.mark.parametrize(
    ("fields", "has_job", "goes"),
    [
        ({}, False, True),
        ({"started_at": None}, False, True),
        ({"status": RunStatus.STARTED}, False, False),
        ({"ended_at": None}, False, False),
        ({"ended_at": BEFORE}, False, False),
        ({}, True, False),
        ({"ended_at": at(3)}, False, False),
        ({"ended_at": at(9)}, False, False),
        ({"started_at": at(2)}, False, False),
    ],
)
def test_a_run_goes_with_its_job_unless_it_is_the_last_of_its_program(
    fields: dict[str, Any], has_job: bool, goes: bool
) -> None:
    ended = run("r", RunStatus.SUCCEEDED, started_at=at(0), ended_at=at(1))
    old = OldRun(run=msgspec.structs.replace(ended, **fields), has_job=has_job)

    assert run_may_go(old, HISTORY, BEFORE) is goes


def test_launches_stay_for_the_longest_rate() -> None:
    schedule: Schedule = app_of(
        """
s:
  program: p
  trigger: {cron: "0 6 * * *"}
  constraints:
    - rate: {max: 3, per: 2d}
    - delay: {for: 1h}
"""
    ).schedules["s"]
    hour, day = timedelta(hours=1), timedelta(days=1)

    rates = [("a/s", each) for each in schedule.constraints]
    assert launches_before(rates, hour, hour, NOON) == NOON - 2 * day - hour
    assert launches_before(rates, 9 * day, hour, NOON) == NOON - 9 * day
    assert launches_before((), hour, timedelta(0), NOON) == NOON - hour


def test_entries_stay_with_a_job_that_may_go_on() -> None:
    assert entry_may_go(None)
    assert entry_may_go(job("j", state=JobState.SUCCEEDED))
    assert entry_may_go(job("j", state=JobState.DISCARDED))
    assert not entry_may_go(job("j", state=JobState.FAILED))
    assert not entry_may_go(job("j", state=JobState.LAUNCHED))
    assert not entry_may_go(of_task())
