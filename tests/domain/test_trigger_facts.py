"""The facts that triggers and constraints state about themselves."""

from datetime import timedelta

import pytest

from tidegate.domain.model import (
    AllTrigger,
    AnyTrigger,
    AtLeastTrigger,
    Calendar,
    ConcurrencyConstraint,
    CronTrigger,
    Dependency,
    ElapsedTrigger,
    LeafTrigger,
    LoadConstraint,
    PartitionsTrigger,
    RunTrigger,
    SequenceTrigger,
    SizeTrigger,
    TaskTrigger,
    Trigger,
)

HOUR = timedelta(hours=1)
DAILY = CronTrigger(cron="@daily")
RAW = PartitionsTrigger(dataset="raw")
ITSELF, UPSTREAM = Dependency(task="own", itself=True), Dependency(task="feeds/raw")


class Plain(LeafTrigger, kw_only=True, tag="plain"):
    """A kind that states nothing."""


def test_a_kind_that_states_nothing_is_a_leaf_of_which_one_event_is_enough() -> None:
    plain = Plain()

    assert plain.one_line() == plain.kind == "plain"
    assert plain.noun == "`plain`"
    assert (plain.least_events, plain.any_event_satisfies) == (1, True)
    assert not (plain.fires_by_clock or plain.has_keys or plain.names_keys or plain.counts_each_write)
    assert (plain.wall_clock, plain.timer, plain.period) == (None, None, None)
    assert (plain.dataset_collected, plain.dataset_heard, plain.program_collected) == (None, None, None)
    assert plain.runs_heard("own") is None


@pytest.mark.parametrize(
    ("trigger", "line"),
    [
        (DAILY, "cron @daily UTC"),
        (
            CronTrigger(cron="@daily", calendar=Calendar(name="nyse")),
            "cron @daily UTC, business days of nyse",
        ),
        (
            CronTrigger(cron="@daily", calendar=Calendar(name="nyse"), nth_business_day=1),
            "cron @daily UTC, business day 1 of the month of nyse",
        ),
        (RAW, "1 partition of raw"),
        (PartitionsTrigger(dataset="raw", count=2), "2 partitions of raw"),
        (PartitionsTrigger(dataset="raw", keys=("a", "b")), "partitions of raw: a, b"),
        (PartitionsTrigger(dataset="raw", complete="day"), "a complete day of raw"),
        (SizeTrigger(dataset="raw", bytes=10**9), "1GB of raw"),
        (SizeTrigger(dataset="raw", rows=5), "5 rows of raw"),
        (RunTrigger(program="clean", count=2), "2 runs of clean succeeded"),
        (ElapsedTrigger(for_=HOUR), "1h since the last run"),
        (ElapsedTrigger(for_=HOUR, program="clean"), "1h since the last run of clean"),
        (ElapsedTrigger(for_=HOUR, since="last_event", dataset="raw"), "1h since the last event of raw"),
        (AllTrigger(of=(DAILY, RAW)), "all (cron @daily UTC; 1 partition of raw)"),
        (AnyTrigger(of=(DAILY,)), "any (cron @daily UTC)"),
        (AtLeastTrigger(n=1, of=(RAW,)), "at least 1 of (1 partition of raw)"),
        (TaskTrigger(cycle="hour"), "each hour"),
        (TaskTrigger(cycle="day", depends_on=(ITSELF, UPSTREAM)), "each day after self, feeds/raw"),
        (SequenceTrigger(of=(RAW, DAILY)), "in sequence (1 partition of raw; cron @daily UTC)"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_trigger_in_one_line(trigger: Trigger, line: str) -> None:
    assert trigger.one_line() == line


@pytest.mark.parametrize(
    ("trigger", "collected", "heard", "runs"),
    [
        (RAW, "raw", "raw", None),
        (SizeTrigger(dataset="raw", rows=1), "raw", "raw", None),
        (RunTrigger(program="clean", status="failed"), "clean", None, ("clean", "failed")),
        (ElapsedTrigger(for_=HOUR), None, None, ("own", "completed")),
        (ElapsedTrigger(for_=HOUR, program="clean"), None, None, ("clean", "completed")),
        (ElapsedTrigger(for_=HOUR, since="last_event", dataset="raw"), None, "raw", None),
        (DAILY, None, None, None),
    ],
)
def test_what_a_leaf_collects_and_hears(
    trigger: LeafTrigger, collected: str | None, heard: str | None, runs: tuple[str, str] | None
) -> None:
    assert (trigger.dataset_collected or trigger.program_collected) == collected
    assert trigger.dataset_heard == heard
    assert trigger.runs_heard("own") == runs


def test_a_task_hears_its_upstream_tasks_and_not_itself() -> None:
    task = TaskTrigger(cycle="day", depends_on=(ITSELF, UPSTREAM))
    assert (task.noun, task.tasks_heard) == ("a task", ("feeds/raw",))


def test_constraints_say_what_they_read() -> None:
    assert ConcurrencyConstraint(max=1, group="nightly").group_taken == "nightly"
    assert LoadConstraint(gauge="cpu", max=80).gauge_limit == ("cpu", 80)
    assert LoadConstraint(max_active_runs=2).gauge_limit is None
    assert LoadConstraint(max_active_runs=2).kind == "load"
