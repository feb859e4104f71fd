"""The cost of one more event for a job that holds many: from 10 events to a day with one each second.

Each waiting job is alone in a SQLite store of its own. Its events have arrived one each second, and one tick
takes them in; then single events follow, each with a tick, and the median of these ticks counts. The stores
of a row take turns, so that other load affects them alike.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.aims import verdict
from tidegate.compiler.compile import compile_files
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.tick import tick

HELD, SHORT_HELD = (10, 1_000, 20_000, 86_400), (10, 1_000, 20_000)
ROUNDS = 15
RATIO_LIMIT = 2.0
"""A tick with one event at the end of the day, compared with one at its beginning."""

START = datetime(2026, 3, 10, tzinfo=UTC)
APP = """\
app: feed
datasets: {raw: {partitions: {cycle: hour, start: 2000-01-01}}}
programs: {clean: {run: jobs.feeds.clean}}
schedules:
  s: {program: clean, status: active, output_partition: none, SCHEDULE}
"""
SCHEDULES = {
    # HELD is the number of events: each further event drops the oldest one.
    "distinct partitions": "trigger: {partitions: {dataset: raw, count: 100000}}",
    "a complete month": "trigger: {partitions: {dataset: raw, complete: month}}",
    "bytes": "trigger: {size: {dataset: raw, bytes: 900TB}}",
    "quiet": "trigger: {partitions: {dataset: raw, count: 5}, quiet: 20h}",
    "a constraint": "trigger: {partitions: {dataset: raw}}, constraints: [delay: 20h]",
    "a sequence": (
        "trigger: {sequence: [{partitions: {dataset: raw}}, {partitions: {dataset: raw, count: 100000}}]}"
    ),
    "collect_within": "trigger: {partitions: {dataset: raw, count: 100000}, collect_within: HELDs}",
    "a sequence within": (
        "trigger: {sequence: [{partitions: {dataset: raw}}, {partitions: {dataset: raw, count: 100000}}],"
        " collect_within: HELDs}"
    ),
    "quiet within": "trigger: {partitions: {dataset: raw, count: 5}, collect_within: HELDs, quiet: 5s}",
    "max_batch": "trigger: {partitions: {dataset: raw}}, max_batch: 100000, constraints: [delay: 20h]",
}


class Feed:
    """A store with one waiting job that holds events."""

    def __init__(self, store: Store, schedule: str, held: int) -> None:
        self._store = store
        self._now = START
        self._events = 0
        text = APP.replace("SCHEDULE", schedule.replace("HELD", str(held)))
        compiled = compile_files({"feed.yaml": text.encode()})
        with store.transaction() as transaction:
            deploy(transaction, {"feed": compiled.apps["feed"].app}, START, by=By(actor="bench"))
        self.land(held)
        self.land(1)

    def land(self, count: int) -> float:
        """Land events, one each second, tick, and return the seconds of the tick."""
        events: list[Event] = []
        for _ in range(count):
            self._now += timedelta(seconds=1)
            events.append(self._event(self._events))
            self._events += 1
        with self._store.transaction() as transaction:
            transaction.add_events(events)
        begun = time.perf_counter()
        report = tick(self._store, self._now)
        seconds = time.perf_counter() - begun
        assert report.routed == count, report
        return seconds

    def why(self) -> float:
        """Explain the schedule, and return the seconds."""
        begun = time.perf_counter()
        with self._store.reading() as reader:
            (explanation,) = explain(reader, "feed/s", self._now)
        assert explanation.trigger is not None
        return time.perf_counter() - begun

    def _event(self, number: int) -> Event:
        # An hour of each month never comes, so no month is complete.
        hour = START - timedelta(hours=1 + number + number // 500)
        return Event(
            id=f"e{number}",
            kind=EventKind.PARTITION,
            key=partition_event_key("feed", "raw"),
            time=self._now,
            arrived=self._now,
            partition=hour.strftime("%Y-%m-%d-%H:00"),
            bytes=1_000,
        )


@contextmanager
def opened(file: Path) -> Generator[Store]:
    """Open a new store, and close it at the end."""
    store = open_store(f"sqlite:///{file}", create=True)
    try:
        yield store
    finally:
        store.close()


def main(*, short: bool = False) -> int:
    """Measure and print.

    Returns:
        The number of broken promises.
    """
    broken, sizes = 0, SHORT_HELD if short else HELD
    print(f"{'one more event, ms':24}", *(f"{held:>8,}" for held in sizes), "   ratio")
    for name, schedule in SCHEDULES.items():
        with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
            stores = [stack.enter_context(opened(Path(folder) / f"{held}.db")) for held in sizes]
            feeds = [Feed(store, schedule, held) for store, held in zip(stores, sizes, strict=True)]
            seconds = [[feed.land(1) for feed in feeds] for _ in range(ROUNDS)]
            medians = [1000 * statistics.median(each) for each in zip(*seconds, strict=True)]
            ratio = medians[-1] / medians[1]
            print(f"{name:24}", *(f"{each:8.2f}" for each in medians), f"{ratio:8.2f}")
            broken += verdict(f"one more event beside {sizes[1]:,} events, {name}", ratio, RATIO_LIMIT)
            if name == "distinct partitions":
                print(f"{'  why, ms':24}", *(f"{1000 * feed.why():8.1f}" for feed in feeds))
    return broken


if __name__ == "__main__":
    sys.exit(min(main(), 1))
