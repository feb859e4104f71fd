"""The cost of cycle tasks: a day of instances for 10,000 tasks, their edges, and an idle tick beside them.

    generate  the ticks that make a day of all tasks, and the longest of them
    edges     the decisions about instances with one upstream instance each, as many as were made
    idle      a tick without work, with no instance and with all of them finished

The idle tick is beside that of an empty store.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tidegate.domain.model import App, Dependency, Program, Schedule, TaskTimes, TaskTrigger
from tidegate.scheduler.commands.deploy import deploy
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.tick.tick import TickReport, tick

TASKS = 10_000
MINUTE_TASKS = 1_000
EVERY_MINUTES = 5
GENERATED_AT = datetime(2026, 3, 9, 22, tzinfo=UTC)
AIM_GENERATE_SECONDS = 30.0
AIM_LONGEST_SECONDS = 1.0
IDLE_TICKS = 20
ONE_SECOND = timedelta(seconds=1)


def main() -> int:
    """Measure and print.

    Returns:
        0; the figures of a noisy machine decide nothing.
    """
    with tempfile.TemporaryDirectory() as folder:
        empty = _opened(Path(folder) / "empty.db")
        store = _opened(Path(folder) / "tasks.db")
        with store.transaction() as transaction:
            deploy(transaction, {"a": _app()}, GENERATED_AT - ONE_SECOND)
        made, seconds, longest, now = _until_idle(store, GENERATED_AT, lambda report: report.fired > 0)
        with store.reading() as reader:
            refs = [f"a/t{number}" for number in range(TASKS)]
            count = len(reader.instances(refs, GENERATED_AT, now + timedelta(days=2)))
        aim = f"(aim {AIM_GENERATE_SECONDS:.0f} s)"
        print(f"generate  {count:,} instances of {TASKS:,} tasks: {seconds:.1f} s in {made} ticks {aim}")
        print(f"          longest tick {longest:.2f} s (aim {AIM_LONGEST_SECONDS:.0f} s)")
        day = GENERATED_AT + timedelta(hours=3)
        decided, seconds = _decide(store, now, day)
        print(
            f"edges     {decided:,} decisions: {seconds:.1f} s, {decided / max(seconds, 0.001):,.0f} a second"
        )
        before, after = _idle(empty, day), _idle(store, day)
        ratio = after / before
        print(
            f"idle      {after * 1000:.2f} ms with the instances, {before * 1000:.2f} ms without: {ratio:.2f}"
        )
        empty.close()
        store.close()
    return 0


def _opened(path: Path) -> Store:
    return open_sql_store(f"sqlite:///{path}", create=True)


def _app() -> App:
    return App(
        name="a",
        programs={"p": Program(name="p", run="x.p")},
        schedules={f"t{number}": _task(number) for number in range(TASKS)},
    )


def _task(number: int) -> Schedule:
    """Return a task, of which each tenth is upstream of the next nine; gates alone, so no run is needed."""
    cycle = "minute" if number < MINUTE_TASKS else "hour" if number % 100 < 50 else "day"
    upstream = (Dependency(task=f"t{number - number % 10}"),) if number % 10 else ()
    every = EVERY_MINUTES if cycle == "minute" else 1
    trigger = TaskTrigger(type="source", cycle=cycle, times=TaskTimes(every=every), depends_on=upstream)
    return Schedule(name=f"t{number}", program="", status="active", on_suspend="hold", trigger=trigger)


def _until_idle(
    store: Store, now: datetime, goes_on: Callable[[TickReport], bool]
) -> tuple[int, float, float, datetime]:
    """Tick until nothing is to do; return the ticks, their seconds, the longest one and the last instant."""
    ticks, total, longest = 0, 0.0, 0.0
    while True:
        begun = time.perf_counter()
        report = tick(store, now)
        took = time.perf_counter() - begun
        if not goes_on(report):
            return ticks, total, longest, now
        ticks, total, longest = ticks + 1, total + took, max(longest, took)
        now += ONE_SECOND


def _decide(store: Store, now: datetime, until: datetime) -> tuple[int, float]:
    """Play the first hour of the day; return the decisions and the seconds."""
    decided, begun = 0, time.perf_counter()
    while now < until:
        now += timedelta(minutes=10)
        decided += tick(store, now).decided
    return decided, time.perf_counter() - begun


def _idle(store: Store, now: datetime) -> float:
    begun = time.perf_counter()
    for number in range(IDLE_TICKS):
        tick(store, now + number * timedelta(milliseconds=1))
    return (time.perf_counter() - begun) / IDLE_TICKS


if __name__ == "__main__":
    sys.exit(main())
