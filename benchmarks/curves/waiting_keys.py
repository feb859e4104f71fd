"""The cost of keys that wait: one event beside them, and the end of a run for whose slot they wait.

    one event         a schedule with `for_each`, whose keys wait for another dataset; one gets an event
    the end of a run  a schedule with `for_each` and one slot: the run ends, and the next key is launched

Each number of waiting keys has a SQLite store of its own; the stores take turns.
"""

import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.curves.growth import curve, print_calibration, print_sizes
from benchmarks.held_events import opened
from tidegate.compiler.compile import compile_files
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.intake.observe import RunObservation, observe_runs
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.tick import tick

WAITING, SHORT_WAITING = (100, 1_000, 16_000, 100_000), (100, 1_000, 16_000)
AIM_EVENT_SECONDS, AIM_END_SECONDS = 0.01, 0.02
FILLED_AT_ONCE = 4_000
STEP = timedelta(seconds=1)

START = datetime(2026, 3, 10, tzinfo=UTC)
APP = """\
app: feed
datasets:
  raw: {partitions: {cycle: hour, start: 2000-01-01}}
  other: {partitions: {cycle: hour, start: 2000-01-01}}
  queued: {partitions: {cycle: hour, start: 2000-01-01}}
programs: {clean: {run: jobs.feeds.clean}, load: {run: jobs.feeds.load}}
schedules:
  by_event: {program: clean, status: active, for_each: partition, output_partition: none, timeout: 300d,
    trigger: {all: [{partitions: {dataset: raw}}, {partitions: {dataset: other}}]}}
  by_slot: {program: load, status: active, for_each: partition, output_partition: none, timeout: 300d,
    trigger: {partitions: {dataset: queued}}, constraints: [{concurrency: {max: 1}}]}
"""


class Keys:
    """A store with waiting keys of both schedules."""

    def __init__(self, store: Store, count: int) -> None:
        self._store = store
        self._now = START
        self._events = 0
        compiled = compile_files({"feed.yaml": APP.encode()})
        with store.transaction() as transaction:
            deploy(transaction, {"feed": compiled.apps["feed"].app}, START, by=By(actor="bench"))
        for dataset in ("raw", "queued"):
            # One of those that want a slot gets it.
            self._fill(dataset, count + (dataset == "queued"))

    def one_event(self) -> float:
        """Give one key one event, and return the seconds of the tick."""
        self._now += STEP
        self._add([self._event("raw", self._events % 100)])
        begun = time.process_time()
        report = tick(self._store, self._now)
        seconds = time.process_time() - begun
        assert report.routed == 1, report
        return seconds

    def one_end(self) -> float:
        """End the run, and return the seconds of what sees it and of the tick."""
        self._now += STEP
        with self._store.reading() as reader:
            (job,) = reader.jobs(schedules=["feed/by_slot"], states=[JobState.PENDING_LAUNCH])
        seen = RunObservation(
            run_id=f"run:{job.id}",
            program=job.program,
            job=job.id,
            attempt=job.attempt,
            status=RunStatus.SUCCEEDED,
            at=self._now,
        )
        begun = time.process_time()
        with self._store.transaction() as transaction:
            observe_runs(transaction, [seen], self._now)
        report = tick(self._store, self._now)
        seconds = time.process_time() - begun
        assert len(report.launched) == 1, report
        return seconds

    def _fill(self, dataset: str, count: int) -> None:
        for first in range(0, count, FILLED_AT_ONCE):
            self._now += STEP
            numbers = range(first, min(first + FILLED_AT_ONCE, count))
            self._add([self._event(dataset, number) for number in numbers])
            tick(self._store, self._now)

    def _add(self, events: Sequence[Event]) -> None:
        with self._store.transaction() as transaction:
            transaction.add_events(events)

    def _event(self, dataset: str, number: int) -> Event:
        self._events += 1
        return Event(
            id=f"e{self._events}",
            kind=EventKind.PARTITION,
            key=partition_event_key("feed", dataset),
            time=self._now,
            arrived=self._now,
            partition=(START - timedelta(hours=1 + number)).strftime("%Y-%m-%d-%H:00"),
        )


def main(*, short: bool = False) -> int:
    """Measure and print.

    Returns:
        The number of missed aims.
    """
    sizes = SHORT_WAITING if short else WAITING
    print_calibration()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        stores = [stack.enter_context(opened(Path(folder) / f"{size}.db")) for size in sizes]
        keys = [Keys(store, size) for store, size in zip(stores, sizes, strict=True)]
        print_sizes("waiting keys", sizes)
        missed = curve("one event", sizes, [each.one_event for each in keys], AIM_EVENT_SECONDS)
        missed += curve("the end of a run", sizes, [each.one_end for each in keys], AIM_END_SECONDS)
    return missed


if __name__ == "__main__":
    sys.exit(min(main(), 1))
