"""The cost of cycle tasks: a day of instances for 10,000 tasks, their edges, and an idle tick beside them.

    generate  the ticks that make a day of all tasks, and the longest of them
    return    the same, where the scheduler comes back at noon: half of the instances are due at once
    pause     the same for tasks of every minute after three hours: all that is due is one instant, which a
              tick decides in many transactions; other processes wait for the longest of them
    first     the decisions of the first hour of the day, in which upstream instances open the gates of others
    edges     the upstream instances of 100,000 instances looked up, before and after a million others come
    idle      a tick without work: in an empty store, and beside a million finished instances

Seconds of the CPU are printed beside those of the clock, since they say more on a machine with other work.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import text

from benchmarks.alternate import idle_ticks, medians
from tidegate.domain.model import App, Dependency, Program, Schedule, TaskTimes, TaskTrigger
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.explain.instances.awaited import upstream_of
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.store.sql.columns import microseconds
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.store.sql.store import SqlStore
from tidegate.scheduler.tick.instant import TickReport
from tidegate.scheduler.tick.tick import tick

TASKS = 10_000
FEW_TASKS = 1_000
MINUTE_PART = 10
"""Of so many tasks one is a minute task, of the others as many each hour as each day."""

EVERY_MINUTES = 5
DAY = date(2026, 3, 10)
MIDNIGHT = datetime(2026, 3, 10, tzinfo=UTC)
GENERATED_AT = MIDNIGHT - timedelta(hours=2)
AIM_GENERATE_SECONDS = 30.0
AIM_LONGEST_SECONDS = 1.0
MINUTE_TASKS = 700
PAUSE = timedelta(hours=3)
AIM_PART_SECONDS = 0.5
EDGES = 100_000
EDGES_AT_ONCE = 1_000
FINISHED = 1_000_000
IDLE_ROUNDS = 200
ONE_SECOND = timedelta(seconds=1)


class Took(NamedTuple):
    """What ticks took: their number, seconds of the clock and of the CPU, and those of the longest one."""

    ticks: int
    seconds: float
    cpu: float
    longest: float
    longest_cpu: float
    decided: int


def main() -> int:
    """Measure and print.

    Returns:
        0; the figures of a noisy machine decide nothing.
    """
    with tempfile.TemporaryDirectory() as folder:
        empty, store = opened(Path(folder) / "empty.db"), opened(Path(folder) / "tasks.db")
        deploy_tasks(store, TASKS)
        took = play_ticks(store, GENERATED_AT, goes_on=lambda report: report.fired > 0)
        count = _instances(store)
        what = f"{count:,} instances of {TASKS:,} tasks"
        _print("generate", what, took, f"aim {AIM_GENERATE_SECONDS:.0f} s")
        print(
            f"          longest tick {took.longest:.2f} s, {took.longest_cpu:.2f} s of the CPU"
            f" (aim {AIM_LONGEST_SECONDS:.0f} s)"
        )
        _return_at_noon(Path(folder) / "late.db")
        _pause(Path(folder) / "pause.db")
        jobs = _some(store)
        before = _resolve(store, jobs)
        took = _first_hour(store)
        rate = took.decided / took.cpu
        _print("first", f"{took.decided:,} decisions", took, f"{rate:,.0f} a second of the CPU")
        added = add_finished(store)
        after = _resolve(store, jobs)
        print(
            f"edges     {len(jobs):,} instances: {len(jobs) / before:,.0f} a second of the CPU;"
            f" with {added:,} others beside them {len(jobs) / after:,.0f}, ratio {after / before:.2f}"
        )
        _idle(empty, store, added)
        empty.close()
        store.close()
    return 0


def _print(name: str, what: str, took: Took, note: str) -> None:
    seconds = f"{took.seconds:.1f} s, {took.cpu:.1f} s of the CPU"
    print(f"{name:<9} {what}: {seconds}, in {took.ticks} ticks ({note})", flush=True)


# --- tasks ------------------------------------------------------------------------------


def opened(path: Path) -> SqlStore:
    return open_sql_store(f"sqlite:///{path}", create=True)


def deploy_tasks(store: SqlStore, tasks: int, *, minutes: bool = False) -> None:
    schedules = {f"t{number}": _task(number, tasks, minutes=minutes) for number in range(tasks)}
    app = App(name="a", programs={"p": Program(name="p", run="x.p")}, schedules=schedules)
    with store.transaction() as transaction:
        deploy(transaction, {"a": app}, GENERATED_AT - ONE_SECOND, by=By(actor="bench"))


def _task(number: int, tasks: int, *, minutes: bool = False) -> Schedule:
    """Return a task, of which each tenth is upstream of the next nine; gates alone, so no run is needed.

    Args:
        minutes: it has an instance each minute.
    """
    cycle = "minute" if minutes or number < tasks // MINUTE_PART else "hour" if number % 100 < 50 else "day"
    upstream = (Dependency(task=f"t{number - number % 10}"),) if number % 10 else ()
    every = EVERY_MINUTES if cycle == "minute" and not minutes else 1
    trigger = TaskTrigger(
        type="source", cycle=cycle, times=TaskTimes(every=every), depends_on=upstream, valid_from=DAY
    )
    return Schedule(name=f"t{number}", program="", status="active", on_suspend="hold", trigger=trigger)


def _instances(store: SqlStore) -> int:
    with store.engine.connect() as connection:
        return connection.execute(text("SELECT count(*) FROM jobs")).scalar_one()


# --- ticks ------------------------------------------------------------------------------


def play_ticks(
    store: SqlStore,
    now: datetime,
    *,
    goes_on: Callable[[TickReport], bool] = lambda report: True,
    step: timedelta = ONE_SECOND,
    until: datetime | None = None,
) -> Took:
    """Tick until a tick finds nothing that goes on, or until an instant."""
    seconds: list[float] = []
    cpu: list[float] = []
    decided = 0
    while until is None or now <= until:
        begun, begun_cpu = time.perf_counter(), time.process_time()
        report = tick(store, now)
        if not goes_on(report):
            break
        seconds.append(time.perf_counter() - begun)
        cpu.append(time.process_time() - begun_cpu)
        decided += report.decided
        now += step
    return Took(len(seconds), sum(seconds), sum(cpu), max(seconds), max(cpu), decided)


def _return_at_noon(path: Path) -> None:
    """Let the scheduler be down from before the day was made until its noon."""
    store = opened(path)
    deploy_tasks(store, FEW_TASKS)
    took = play_ticks(
        store, MIDNIGHT + timedelta(hours=12), goes_on=lambda report: report.fired + report.decided > 0
    )
    what = f"{_instances(store):,} instances of {FEW_TASKS:,} tasks, {took.decided:,} decisions"
    _print("return", what, took, f"longest {took.longest:.2f} s, {took.longest_cpu:.2f} s of the CPU")
    store.close()


def _pause(path: Path) -> None:
    """Let the scheduler be down for three hours, in which tasks of every minute become due."""
    store = opened(path)
    deploy_tasks(store, MINUTE_TASKS, minutes=True)
    play_ticks(store, GENERATED_AT, goes_on=lambda report: report.fired > 0)
    tick(store, MIDNIGHT)
    parts = [time.process_time()]

    def note(transaction: EngineTransaction) -> bool:
        parts.append(time.process_time())
        return True

    report = tick(store, MIDNIGHT + PAUSE, note)
    seconds = [after - before for before, after in pairwise(parts)]
    print(
        f"pause     {report.decided:,} decisions of {MINUTE_TASKS:,} tasks: {sum(seconds):.1f} s of the CPU"
        f" in {len(seconds)} transactions, the longest {max(seconds):.2f} s (aim {AIM_PART_SECONDS} s)",
        flush=True,
    )
    store.close()


def _first_hour(store: SqlStore) -> Took:
    """Play the first hour of the day; midnight itself, when all tasks are due at once, is left out."""
    now = GENERATED_AT + timedelta(minutes=4)
    while now <= MIDNIGHT:
        tick(store, now)
        now += timedelta(minutes=4)
    return play_ticks(store, now, step=timedelta(minutes=5), until=MIDNIGHT + timedelta(hours=1))


# --- edges ------------------------------------------------------------------------------


def _some(store: SqlStore) -> Sequence[Job]:
    """Return instances that are Not Run, of the second half of the day, each with an upstream task."""
    with store.reading() as reader:
        refs = [f"a/t{number}" for number in range(TASKS) if number % 10]
        found = reader.instances(refs, MIDNIGHT + timedelta(hours=12), MIDNIGHT + timedelta(days=1))
    return found[:EDGES]


def _resolve(store: SqlStore, jobs: Sequence[Job]) -> float:
    """Look the upstream instances of instances up; return the seconds of the CPU."""
    begun = time.process_time()
    with store.reading() as reader:
        for start in range(0, len(jobs), EDGES_AT_ONCE):
            part = jobs[start : start + EDGES_AT_ONCE]
            found = upstream_of(reader, part)
            assert all(each.picked for one in found.values() for each in one)
    return time.process_time() - begun


# --- idle -------------------------------------------------------------------------------


def add_finished(store: SqlStore, finished: int = FINISHED) -> int:
    """Add finished instances of the days before: copies of the rows, without a decision about each."""
    with store.engine.connect() as connection:
        names = [row[1] for row in connection.execute(text("PRAGMA table_info(jobs)"))]
    added, days = 0, 0
    while added < finished:
        days += 1
        earlier = days * 24 * 3600 * 1_000_000
        changed = {
            "id": f"id || '-{days}'",
            "state": "'SUCCEEDED'",
            "reason": "NULL",
            "next_check_at": "NULL",
            "due_at": "NULL",
            "blocked_on": "NULL",
            "instance": f"replace(instance, '{DAY}', '{DAY - timedelta(days=days)}')",
            **{name: f"{name} - {earlier}" for name in ("opened_at", "scheduled_at", "real_at")},
            "ended_at": f"scheduled_at - {earlier}",
        }
        values = ", ".join(changed.get(name, f'"{name}"') for name in names)
        columns = ", ".join(f'"{name}"' for name in names)
        # Only those of the day itself, so that no copy is copied again.
        copied = f"SELECT {values} FROM jobs WHERE opened_at >= {microseconds(GENERATED_AT)}"
        with store.engine.begin() as connection:
            added += connection.execute(text(f"INSERT INTO jobs ({columns}) {copied}")).rowcount
    return added


def _idle(empty: SqlStore, full: SqlStore, finished: int) -> None:
    """Tick both stores in turns where nothing is due, and compare the medians."""
    now = MIDNIGHT + timedelta(hours=1, minutes=1)
    small, large = medians(idle_ticks(empty, now), idle_ticks(full, now), IDLE_ROUNDS)
    print(
        f"idle      {large * 1000:.2f} ms beside {finished:,} finished instances,"
        f" {small * 1000:.2f} ms in an empty store: ratio {large / small:.2f}"
    )


if __name__ == "__main__":
    sys.exit(main())
