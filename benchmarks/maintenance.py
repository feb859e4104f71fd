"""The cost of table maintenance: polls over 10,000 tables under 100 policies, and idle ticks beside them.

    first     the first polls: all 40,000 operations are due, and each gets its job
    blocked   polls at which all of them are due, and a budget lets few of them start
    steady    polls at which a hundred operations are due and start
    ends      the ends that their runs report, each in a transaction of its own
    idle      a tick at which nothing is due, with the operations and in an empty store

Runs of operations are ended in the store, so nothing but the engine is measured.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from benchmarks.alternate import idle_ticks, medians
from tidegate.domain.maintenance.measures import HEALTHY
from tidegate.domain.model import App, Budget, Maintenance, Operation, OperationPlan, Policy
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.intake.tables import TableFound, report_health, report_tables
from tidegate.scheduler.launch.run_report import end_operation
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.model.maintenance import MAINTENANCE_RECORDS, Ended, Ending, Health
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.tick.tick import tick

TABLES = 10_000
POLICIES = 100
BLOCKED_POLLS = 5
BUDGET = 20
"""Operations that may start at each of the first polls, and of those at which all others are blocked."""

STEADY_POLLS = 10
STEADY_TABLES = 100
"""Tables on which an operation is due at each steady poll."""

MEASURED_TABLES = 200
AIM_SECONDS = 1.0
IDLE_TICKS = 20
START = datetime(2026, 3, 10, tzinfo=UTC)
POLL = timedelta(minutes=1)
ONE_SECOND = timedelta(seconds=1)


def main() -> int:
    """Measure and print.

    Returns:
        0; the figures of a noisy machine decide nothing.
    """
    with tempfile.TemporaryDirectory() as folder:
        empty, blocked, steady = (
            _opened(Path(folder) / f"{name}.db") for name in ("empty", "blocked", "steady")
        )
        _blocked(blocked)
        now = _steady(steady)
        before, after = medians(idle_ticks(empty, now), idle_ticks(steady, now), IDLE_TICKS)
        print(
            f"idle      {after * 1000:.2f} ms with the operations, {before * 1000:.2f} ms in an empty store"
        )
        for store in (empty, blocked, steady):
            store.close()
    return 0


def _opened(path: Path) -> Store:
    return open_sql_store(f"sqlite:///{path}", create=True)


def _prepare(store: Store, app: App) -> None:
    with store.transaction() as transaction:
        deploy(transaction, {app.name: app}, START, by=By(actor="bench"))
        report_tables(
            transaction, [TableFound(catalog_name=_table(number)) for number in range(TABLES)], START
        )


def _table(number: int) -> str:
    return f"w.n{number % POLICIES:03}.t{number:05}"


def _app(budget: Budget, plans: Callable[[int], dict[Operation, OperationPlan]]) -> App:
    return App(
        name="a",
        policies={
            f"p{number:03}": Policy(
                name=f"p{number:03}", tables=(f"w.n{number:03}.*",), operations=plans(number)
            )
            for number in range(POLICIES)
        },
        maintenance=Maintenance(poll=POLL, budget=budget),
    )


def _blocked(store: Store) -> None:
    """Let all operations be due, and a budget hold back nearly all of them."""
    plans = {operation: OperationPlan(operation=operation) for operation in Operation}
    _prepare(store, _app(Budget(operations_per_poll=BUDGET), lambda _: plans))
    count = TABLES * len(plans)
    now, first, seconds = START, list[float](), list[float]()
    while _without_reason(store):
        # At the first of them nothing starts: the tables would have to be measured, for the order.
        first.append(_timed(store, now))
        now += POLL
    _show("first", f"{count:,} operations are due, all have a reason after {len(first)} polls", first)
    for _ in range(BLOCKED_POLLS):
        _measure(store, now - ONE_SECOND)
        seconds.append(_timed(store, now, BUDGET))
        now += POLL
    _show("blocked", f"{count:,} operations are due, {BUDGET} may start", seconds)


def _without_reason(store: Store) -> bool:
    """Return whether an operation has neither a reason nor a job yet."""
    with store.reading() as reader:
        return any(record.job is None for record in reader.records(MAINTENANCE_RECORDS))


def _steady(store: Store) -> datetime:
    """Let as many operations be due at each poll, and end before the next one; return the last instant."""
    plans = {Operation.EXPIRE_SNAPSHOTS: OperationPlan(operation=Operation.EXPIRE_SNAPSHOTS)}
    _prepare(store, _app(Budget(operations_per_poll=STEADY_TABLES), lambda _: plans))
    _spread(store)
    now, seconds, ends = START, list[float](), list[float]()
    for _ in range(STEADY_POLLS):
        now += POLL
        seconds.append(_timed(store, now, STEADY_TABLES))
        ends.append(_end_all(store, now + ONE_SECOND))
    _show("steady", f"{STEADY_TABLES} operations start", seconds)
    print(f"ends      {1000 * sum(ends) / len(ends):.1f} ms each")
    return now + 2 * ONE_SECOND


def _spread(store: Store) -> None:
    """Let the next runs be spread over the polls to come."""
    with store.transaction() as transaction:
        due = [START + (1 + number // STEADY_TABLES) * POLL for number in range(TABLES)]
        records = transaction.records(MAINTENANCE_RECORDS)
        transaction.put_records(
            MAINTENANCE_RECORDS,
            [
                msgspec.structs.replace(record, next_run=at, next_look=at)
                for record, at in zip(records, due, strict=True)
            ],
        )


def _end_all(store: Store, now: datetime) -> float:
    """End all runs; return the seconds for each."""
    with store.reading() as reader:
        runs = reader.operation_runs(running=True)
    begun = time.perf_counter()
    for run in runs:
        with store.transaction() as transaction:
            end_operation(transaction, run.job, 1, Ended(ending=Ending.SUCCEEDED, changed=True), now)
    return (time.perf_counter() - begun) / len(runs)


def _measure(store: Store, now: datetime) -> None:
    """Let something be known of some tables."""
    health = Health(measured_at=now, values={**HEALTHY, "snapshots": 120.0})
    with store.transaction() as transaction:
        report_health(transaction, {_table(number): health for number in range(MEASURED_TABLES)}, now)


def _timed(store: Store, now: datetime, started: int | None = None) -> float:
    """Poll, where so many operations start, if that is known; return the seconds."""
    begun = time.perf_counter()
    report = tick(store, now)
    seconds = time.perf_counter() - begun
    assert started in (None, len(report.launched)), report
    return seconds


def _show(name: str, what: str, seconds: list[float]) -> None:
    mean, longest = sum(seconds) / len(seconds), max(seconds)
    print(f"{name:9} {what}: {mean:.2f} s a poll, at most {longest:.2f} s (aim {AIM_SECONDS:.0f} s)")


if __name__ == "__main__":
    sys.exit(main())
