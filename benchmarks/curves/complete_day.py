"""A `complete: day` of many parts: the tick with its last part, which launches the job, and `why` before it.

Each number of parts has a SQLite store of its own. The job reads all that it has collected once, at its
launch, for the manifest: the aim is of a day of 86,400 parts, and not flat.
"""

import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.aims import verdict
from benchmarks.curves.growth import print_calibration
from benchmarks.held_events import opened
from tidegate.compiler.compile import compile_files
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.tick import tick

SITES, SHORT_SITES = (1, 10, 60), (1, 10)
"""So many sites send a part each minute: 86,400 parts a day."""

AIM_SECONDS = 0.5
START = datetime(2026, 3, 10, tzinfo=UTC)
STEP = timedelta(seconds=1)
MINUTES = 24 * 60
APP = """\
app: feed
datasets:
  raw: {partitions: {minute: {cycle: minute, start: 2026-01-01}, site: [SITES]}}
programs: {clean: {run: jobs.feeds.clean}}
schedules:
  daily: {program: clean, status: active, for_each: day, output_partition: none, timeout: 300d,
    trigger: {partitions: {dataset: raw, complete: day}}}
"""


class Day:
    """A store with a job that lacks the last part of its day."""

    def __init__(self, store: Store, sites: int) -> None:
        self._store = store
        self._now = START + timedelta(days=2)
        names = [f"s{number}" for number in range(sites)]
        compiled = compile_files({"feed.yaml": APP.replace("SITES", ", ".join(names)).encode()})
        with store.transaction() as transaction:
            deploy(transaction, {"feed": compiled.apps["feed"].app}, START, by=By(actor="bench"))
        times = [START + timedelta(minutes=minute) for minute in range(MINUTES)]
        parts = [f"{minute:%Y-%m-%d-%H:%M}|{name}" for minute in times for name in names]
        for first in range(0, len(parts) - 1, MINUTES * 4):
            self._land(parts[:-1][first : first + MINUTES * 4])
        self._last = parts[-1]

    def why(self) -> float:
        """Explain the schedule, and return the seconds."""
        begun = time.process_time()
        with self._store.reading() as reader:
            (explanation,) = explain(reader, "feed/daily", self._now)
        assert explanation.trigger is not None
        return time.process_time() - begun

    def complete(self) -> float:
        """Land the last part, and return the seconds of the tick."""
        return self._land([self._last], launched=1)

    def _land(self, parts: list[str], launched: int = 0) -> float:
        self._now += STEP
        with self._store.transaction() as transaction:
            transaction.add_events([self._event(part) for part in parts])
        begun = time.process_time()
        report = tick(self._store, self._now)
        seconds = time.process_time() - begun
        assert len(report.launched) == launched, report
        return seconds

    def _event(self, part: str) -> Event:
        return Event(
            id=f"e:{part}",
            kind=EventKind.PARTITION,
            key=partition_event_key("feed", "raw"),
            time=self._now,
            arrived=self._now,
            partition=part,
            rows=1,
        )


def main(*, short: bool = False) -> int:
    """Measure and print.

    Returns:
        The number of missed aims.
    """
    sites, missed = SHORT_SITES if short else SITES, 0
    print_calibration()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        stores = [stack.enter_context(opened(Path(folder) / f"{each}.db")) for each in sites]
        days = [Day(store, each) for store, each in zip(stores, sites, strict=True)]
        print(f"{'parts, s of the CPU':20}", *(f"{each * MINUTES:>9,}" for each in sites))
        for what, measured in (("why", [d.why() for d in days]), ("complete", [d.complete() for d in days])):
            print(f"{what:20}", *(f"{each:9.3f}" for each in measured), flush=True)
            parts = f"{sites[-1] * MINUTES:,} parts"
            missed += verdict(f"{what} of a day of {parts}", measured[-1], AIM_SECONDS, " s")
    return missed


if __name__ == "__main__":
    sys.exit(min(main(), 1))
