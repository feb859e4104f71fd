"""A store with a history: throughput, reads and pruning when a million events have passed.

    events    ingested, joined to jobs of ten, launched, run and ended; the first ten pages and the last ten
    size      of the SQLite file, before and after pruning
    reads     what a command of the command line reads, without the start of its process
    prune     a pass of retention in slices, and the longest transaction of it

It takes 25 minutes; `python -m benchmarks.retention 100000` plays a tenth. The aims: reads under 2 s,
`why --at` under 1 s, and a throughput at the end of at least half of that at the beginning.
"""

import contextlib
import io
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from benchmarks.aims import verdict
from benchmarks.deployed import SCHEDULES_PER_APP, START, databases, deployed, event, opened
from tidegate.cli.main import application
from tidegate.scheduler.explain.past.store_at import store_at
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.intake.observe import RunObservation, observe_runs
from tidegate.scheduler.launch.outbox import offer_launches
from tidegate.scheduler.launch.run_report import claim
from tidegate.scheduler.model.keep import Keep
from tidegate.scheduler.model.retention import Pruned
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.retention.outlook import outlook
from tidegate.scheduler.retention.prune import prune_slice
from tidegate.scheduler.store.upkeep import UpkeepStore
from tidegate.scheduler.tick.tick import tick

EVENTS, SHORT_EVENTS = 1_000_000, 30_000
PAGE = 1_000
SCHEDULES = 1_000
PER_JOB = 10
APPS = frozenset(f"app_{number}" for number in range(SCHEDULES // SCHEDULES_PER_APP))
DAYS = 200
"""The time over which the events arrive."""

KEEP = Keep(journal=timedelta(days=14))
ALL = Keep(journal=None, events=None, finished_jobs=None, launches=None)
COMMANDS = (
    ("why", "app_0/by_data_0"),
    ("jobs", "list"),
    ("jobs", "list", "--failed"),
    ("events", "list"),
    ("ledger",),
    ("schedules", "list"),
    ("apps", "list"),
    ("status",),
    ("store", "size"),
)
"""Of the command line, in a process that has loaded them."""

AIM_READ_SECONDS = 2.0
AIM_WHY_SECONDS = 1.0


def main(events: int | None = None, *, short: bool = False) -> int:
    """Measure and print.

    Returns:
        The number of missed aims.
    """
    events = events or (SHORT_EVENTS if short else EVENTS)
    with databases() as places:
        url = places.new("sqlite")
        with opened(url) as store:
            deployed(store, SCHEDULES, count=PER_JOB)
            rates, now = _live(store, events)
            first, last = (
                statistics.harmonic_mean(rates[:PER_JOB]),
                statistics.harmonic_mean(rates[-PER_JOB:]),
            )
            print(f"{events:,} events: {first:,.0f} a second at the beginning, {last:,.0f} at the end")
            file = Path(url.removeprefix("sqlite:///"))
            size = file.stat().st_size
            print(f"the file has {size / 1e6:,.0f} MB, {size / events / 1e3:.2f} kB an event")
            missed = verdict("throughput at the end against the start", last / first, 0.5, larger=True)
            missed += _reads(store, now) + _commands(url)
            _prune(store, now)
            missed += _reads(store, now)
    return missed


def _commands(url: str) -> int:
    """Print how long the commands take that read; return how many miss the aim."""
    missed = 0
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("tidegate.toml").write_text(f'[store]\nurl = "{url}"\n')
        for command in COMMANDS:
            began = time.perf_counter()
            with contextlib.redirect_stdout(io.StringIO()):
                application(list(command), standalone_mode=False)
            took = time.perf_counter() - began
            missed += verdict(f"tidegate {' '.join(command)}", took, AIM_READ_SECONDS, " s")
    return missed


def _live(store: UpkeepStore, events: int) -> tuple[list[float], datetime]:
    """Play the events, with snapshots as the host takes them; return rates of pages, and the last instant."""
    step, rates, now = timedelta(days=DAYS) * PAGE / events, [], START
    for first in range(0, events, PAGE):
        now += step
        began = time.perf_counter()
        with store.transaction() as transaction:
            transaction.add_events([event(number, now) for number in range(first, first + PAGE)])
        tick(store, now)
        _run_all(store, now)
        rates.append(PAGE / (time.perf_counter() - began))
        while not prune_slice(store, ALL, now).ended:
            pass
    return rates, now


def _run_all(store: UpkeepStore, now: datetime) -> None:
    with store.transaction() as transaction:
        requests = offer_launches(transaction, now, APPS, limit=PAGE)
    for request in requests:
        claim(store, request.job, request.attempt, f"run {request.job}", now)
    seen = [
        RunObservation(
            run_id=f"run {request.job}",
            program=f"{request.app}/{request.launch.program}",
            job=request.job,
            attempt=request.attempt,
            status=status,
            at=now,
        )
        for request in requests
        for status in (RunStatus.STARTED, RunStatus.SUCCEEDED)
    ]
    with store.transaction() as transaction:
        observe_runs(transaction, seen, now)


def _reads(store: UpkeepStore, now: datetime) -> int:
    """Print how long reads take; return how many miss their aim."""
    missed, ref = 0, "app_0/by_data_0"
    with store.reading() as reader:

        def why_at(days: float) -> None:
            instant = now - timedelta(days=days)
            with store_at(reader, instant).reading() as past:
                explain(past, ref, instant)

        reads: list[tuple[str, Callable[[], object], float]] = [
            ("why", lambda: explain(reader, ref, now), AIM_READ_SECONDS),
            ("why --at, an hour ago", lambda: why_at(1 / 24), AIM_WHY_SECONDS),
            ("why --at, ten days ago", lambda: why_at(10), AIM_WHY_SECONDS),
            ("jobs list", lambda: reader.jobs(limit=50), AIM_READ_SECONDS),
            ("events list", lambda: reader.events(limit=50), AIM_READ_SECONDS),
            ("ledger", lambda: reader.ledger(), AIM_READ_SECONDS),
            ("store size, tables", lambda: reader.sizes(), AIM_READ_SECONDS),
        ]
        for name, read, aim in reads:
            began = time.perf_counter()
            read()
            missed += verdict(name, time.perf_counter() - began, aim, " s")
    return missed


def _prune(store: UpkeepStore, now: datetime) -> None:
    with store.reading() as reader:
        began = time.perf_counter()
        outlook(reader, KEEP, now)
        print(f"prune --dry-run: {time.perf_counter() - began:.1f} s")
    pruned, longest, began = Pruned(), 0.0, time.perf_counter()
    while True:
        slice_began = time.perf_counter()
        done = prune_slice(store, KEEP, now, at_once=True)
        longest = max(longest, time.perf_counter() - slice_began)
        pruned = pruned.plus(done.pruned)
        if done.ended:
            break
    took = time.perf_counter() - began
    print(f"prune: {pruned.rows:,} rows in {took:.1f} s, {pruned.rows / took:,.0f} a second")
    print(f"  the longest transaction took {longest * 1000:.0f} ms; {pruned}")


if __name__ == "__main__":
    sys.exit(min(main(int(sys.argv[1]) if len(sys.argv) > 1 else None), 1))
