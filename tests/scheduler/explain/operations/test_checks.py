"""Checks: the first one that does not hold is the reason that a poll gives, whatever else holds."""

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from itertools import product
from typing import Any

import pytest

from tidegate.domain.maintenance.measures import HEALTHY
from tidegate.domain.model import Conditions, Maintenance, Operation, OperationPlan, Threshold
from tidegate.domain.model.constraint import WindowConstraint
from tidegate.domain.model.maintenance import Budget
from tidegate.scheduler.decision.maintenance.judge import Asked, judge
from tidegate.scheduler.decision.maintenance.poll import FREE, Busy, Spent, decide_poll
from tidegate.scheduler.explain.operations.checks import Around, checks, due
from tidegate.scheduler.model.maintenance import (
    Health,
    OperationHistory,
    OperationRun,
    Record,
    TableHistory,
    TableState,
)

NOW = datetime(2026, 3, 10, 12, 30, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
NAME = "shop/report"
OPERATION = Operation.REWRITE_DATA_FILES

RUNNING = OperationRun(
    job="j", table=NAME, operation=OPERATION, policy="shop/p", started_at=NOW, closes_at=NOW + HOUR
)
THRESHOLDS = (Threshold(measure="small_files", at_least=100), Threshold(measure="snapshots", at_least=1))

RUNS = (None, RUNNING)
WINDOWS = (None, (time(12), time(13)), (time(2), time(6)))
HISTORIES = (
    OperationHistory(),
    OperationHistory(failures=3, failed_start=NOW - HOUR),
    OperationHistory(zero_changes=5, zero_start=NOW - HOUR),
    OperationHistory(succeeded_at=NOW - HOUR / 2),
)
HEALTHS = (
    None,
    Health(measured_at=NOW - MINUTE, values={**HEALTHY, "small_files": 100}),
    Health(measured_at=NOW - MINUTE, values=HEALTHY),
    Health(measured_at=NOW - HOUR, values=HEALTHY),
    Health(measured_at=NOW, failure="no"),
)
WHENS = (
    None,
    Conditions(mode="all", thresholds=THRESHOLDS),
    Conditions(mode="any", thresholds=THRESHOLDS, min_interval=HOUR),
    Conditions(mode="all", thresholds=THRESHOLDS[:1], min_interval=HOUR, at_latest=2 * DAY),
    Conditions(mode="all", thresholds=THRESHOLDS[:1], min_interval=HOUR, at_latest=HOUR / 4),
)
BUSY = (FREE, Busy(keys=("a",), jobs=("w",)), Busy(keys=("a",), free=False, jobs=("w",)))
SPENT = (
    Spent(),
    Spent(tables=frozenset({"x"}), operations=1),
    Spent(tables=frozenset({NAME}), operations=1),
    Spent(tables=frozenset({NAME}), operations=2),
    Spent(bytes=100),
)
SLOTS = (1, 0)


def worlds() -> Iterator[tuple[Asked, Around]]:
    budget = Budget(tables_per_poll=1, operations_per_poll=2, bytes_per_hour=100)
    settings = Maintenance(budget=budget, auto_pools={"spark": 1})
    record = Record(policy="shop/p", operation=OPERATION, table=NAME, seen_at=NOW - HOUR)
    for run, hours, own, health, when, busy, spent, free in product(
        RUNS, WINDOWS, HISTORIES, HEALTHS, WHENS, BUSY, SPENT, SLOTS
    ):
        window = None if hours is None else WindowConstraint(from_=hours[0], to=hours[1])
        table = TableState(
            name=NAME, dataset=NAME, health=health, history=TableHistory(operations={OPERATION: own})
        )
        yield (
            Asked(
                record=record,
                plan=OperationPlan(operation=OPERATION, window=window, when=when),
                table=table,
                settings=settings,
                running=run is not None,
                next_poll=NOW + MINUTE,
            ),
            Around(run=run, busy=busy, spent=spent, slots={"spark": free}),
        )


@pytest.mark.slow
def test_the_first_unmet_check_is_the_reason_of_the_poll() -> None:
    seen: set[str | None] = set()
    for asked, around in worlds():
        verdicts = checks(asked, around, NOW)
        first = next((each.reason for each in verdicts if not each.met), None)
        (polled,) = decide_poll(
            [judge(asked, NOW)],
            {},
            {NAME: around.busy},
            around.spent,
            around.slots,
            asked.settings,
            NOW,
            start=False,
        )
        assert first == polled.judged.reason, (asked, around)
        seen.add(first)
    assert {str(each) for each in seen} == {
        "None",
        "M-TABLE",
        "M-WINDOW",
        "M-BACKOFF",
        "M-THROTTLE",
        "M-HEALTH",
        "M-INTERVAL",
        "M-CONDITION",
        "M-BUSY",
        "M-BUDGET",
        "W-CONCURRENCY",
    }


@pytest.mark.parametrize("spent", SPENT)
def test_the_budget_that_is_reached_is_that_of_the_poll(spent: Spent) -> None:
    """A poll waits until the same instant as the check says."""
    asked, around = next(worlds())
    around = Around(spent=spent, slots=around.slots)
    (verdict,) = [each for each in checks(asked, around, NOW) if each.kind == "budget"]
    (polled,) = decide_poll([judge(asked, NOW)], {}, {}, spent, around.slots, asked.settings, NOW)
    assert verdict.met is polled.starts
    if not verdict.met:
        assert (verdict.reason, verdict.next_check) == (polled.judged.reason, polled.judged.next)


def asked_with(**changes: Any) -> Asked:
    record = Record(policy="shop/p", operation=OPERATION, table=NAME, seen_at=NOW - HOUR, **changes)
    plan = OperationPlan(operation=OPERATION, interval=6 * HOUR)
    return Asked(
        record=record,
        plan=plan,
        table=TableState(name=NAME),
        settings=Maintenance(),
        running=False,
        next_poll=NOW + MINUTE,
    )


@pytest.mark.parametrize(
    ("next_run", "met", "summary"),
    [
        (None, True, "it has never run, so it is due at once"),
        (NOW, True, "every 6h"),
        (NOW + MINUTE, False, "every 6h"),
    ],
)
def test_due_is_at_the_very_instant_of_the_next_run(
    next_run: datetime | None, met: bool, summary: str
) -> None:
    verdict = due(asked_with(next_run=next_run), NOW)
    assert (verdict.met, verdict.summary) == (met, summary)
    assert verdict.next_check == (None if met else next_run)


def test_of_a_table_that_is_not_a_dataset_nothing_is_said_of_pipelines() -> None:
    kinds = [verdict.kind for verdict in checks(asked_with(), Around(), NOW)]
    assert kinds == ["table", "backoff", "throttle"]
