"""The throughput of the engine with 1,000 to 100,000 deployed schedules, on SQLite and PostgreSQL.

    events    ingested, matched, joined to waiting jobs and persisted, in pages as the dispatcher reads them
    launches  the same, where every event opens a job that is decided and put into the outbox
    idle      a tick without work
    latency   from an event's commit to the commit of its PENDING_LAUNCH job, at 100 events a second
    start     a new process with all schedules deployed: open the store, read the plan, tick once

The aims are 5,000 events a second on SQLite and 2,000 on PostgreSQL, a flat curve over the number
of schedules that do not match, and a start under 8 s. Commits are flushed to disk, as in production.
"""

import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from benchmarks.deployed import HOT, START, Databases, databases, deployed, event, opened
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.tick import tick

KINDS = ("sqlite", "postgres")
SIZES = (1_000, 10_000, 100_000)
AIM_EVENTS = {"sqlite": 5_000, "postgres": 2_000}
AIM_START_SECONDS = 8.0
AIM_FLAT = 2.0
"""The maximum slowdown of events with a hundred times as many schedules."""

PAGE = 1_000
"""Events of one page and tick; the dispatcher reads the log in pages of this size."""
EVENTS = 10_000
LAUNCHES = 4 * HOT
IDLE_TICKS = 50
LATENCY_SECONDS = 10
EVENTS_PER_SECOND = 100
NEVER = 1_000_000
"""A count of partitions that is never reached."""

_COLD = """\
import sys
from datetime import datetime, timedelta
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.commands.deployment.deployed_rows import deployed_apps
from tidegate.scheduler.tick.tick import tick
store = open_store(sys.argv[1])
with store.reading() as reader:
    assert sum(len(app.schedules) for app in deployed_apps(reader).values()) == int(sys.argv[2])
tick(store, datetime.fromisoformat(sys.argv[3]))
store.close()
"""


def main() -> int:
    """Measure and print.

    Returns:
        The number of missed aims.
    """
    missed = 0
    with databases() as places:
        for kind in KINDS:
            rates = {size: _throughput(places, kind, size) for size in SIZES}
            fast = rates[SIZES[0]] / rates[SIZES[-1]]
            missed += _aim(f"{kind}: events a second", min(rates.values()), AIM_EVENTS[kind], larger=True)
            missed += _aim(f"{kind}: {SIZES[0]:,} against {SIZES[-1]:,} schedules", fast, AIM_FLAT)
            _latency(places, kind)
    return missed


def _throughput(places: Databases, kind: str, size: int) -> float:
    """Print all figures of a store and return its events per second."""
    url = places.new(kind)
    with opened(url) as store:
        begun = time.perf_counter()
        deployed(store, size, count=NEVER)
        deploying = time.perf_counter() - begun
        rate = _rate(store, EVENTS)
        idle = _idle(store)
    cold = _cold_start(url, size)
    with opened(places.new(kind)) as store:
        deployed(store, min(size, 10_000), count=1)
        launches = _rate(store, LAUNCHES)
    print(
        f"{kind:<9} {size:>7,} schedules: {rate:7,.0f} events/s, {launches:6,.0f} launches/s,"
        f" idle tick {idle * 1000:6.2f} ms, deployed in {deploying:5.1f} s, cold start {cold:5.2f} s",
        flush=True,
    )
    _aim(f"{kind}: cold start, seconds", cold, AIM_START_SECONDS)
    return rate


def _pages(total: int) -> Iterator[range]:
    return (range(first, min(first + PAGE, total)) for first in range(0, total, PAGE))


def _rate(store: Store, total: int) -> float:
    """Return the events per second; their arrival times are 10 ms apart."""
    step = timedelta(milliseconds=10)
    tick(store, START)
    begun = time.perf_counter()
    for page in _pages(total):
        events = [event(number, START + step * (number + 1)) for number in page]
        with store.transaction() as transaction:
            transaction.add_events(events)
        report = tick(store, events[-1].arrived)
        assert report.routed == len(events) == report.decided, report
    return total / (time.perf_counter() - begun)


def _idle(store: Store) -> float:
    """Return the median duration of idle ticks, in seconds."""
    with store.reading() as reader:
        clock = datetime.fromisoformat(reader.cursor("clock"))
    times: list[float] = []
    for number in range(IDLE_TICKS):
        begun = time.perf_counter()
        report = tick(store, clock + timedelta(seconds=number))
        times.append(time.perf_counter() - begun)
        assert report.routed == report.decided == 0, report
    return statistics.median(times)


def _cold_start(url: str, size: int) -> float:
    begun = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", _COLD, url, str(size), (START + timedelta(days=1)).isoformat()], check=True
    )
    return time.perf_counter() - begun


def _latency(places: Databases, kind: str) -> None:
    """Feed a store from one thread while another ticks it, and compare the two commits of each event."""
    total = LATENCY_SECONDS * EVENTS_PER_SECOND
    url = places.new(kind)
    durable: dict[str, float] = {}
    decided: dict[str, float] = {}
    with opened(url) as store:
        deployed(store, SIZES[1], count=1)
        tick(store, datetime.now(UTC))
        feeder = threading.Thread(target=_feed, args=(url, total, durable))
        feeder.start()
        deadline = time.monotonic() + 6 * LATENCY_SECONDS
        while len(decided) < total and time.monotonic() < deadline:
            report = tick(store, datetime.now(UTC))
            now = time.perf_counter()
            decided.update(dict.fromkeys(report.launched, now))
            if not report.launched:
                time.sleep(0.002)
        feeder.join()
        with store.reading() as reader:
            jobs = reader.jobs(states=(JobState.PENDING_LAUNCH,))
            found = reader.deliveries([job.id for job in jobs])
    waits = sorted(
        decided[job.id] - durable[each.event.id]
        for job in jobs
        for each in found[job.id]
        if job.id in decided
    )
    assert len(waits) == total, f"{len(waits)} of {total} events were decided in time"
    shown = ", ".join(
        f"{share} % within {waits[min(len(waits) - 1, len(waits) * share // 100)] * 1000:.0f} ms"
        for share in (50, 95, 99)
    )
    print(f"{kind:<9} latency at {EVENTS_PER_SECOND} events/s, {SIZES[1]:,} schedules: {shown}", flush=True)


def _feed(url: str, total: int, durable: dict[str, float]) -> None:
    with opened(url) as store:
        begun = time.perf_counter()
        for number in range(total):
            time.sleep(max(0.0, begun + number / EVENTS_PER_SECOND - time.perf_counter()))
            one = event(number, datetime.now(UTC))
            with store.transaction() as transaction:
                transaction.add_events([one])
            durable[one.id] = time.perf_counter()


def _aim(what: str, value: float, aim: float, *, larger: bool = False) -> int:
    kept = value >= aim if larger else value <= aim
    words = "at least" if larger else "at most"
    print(f"  {what}: {value:,.2f} (aim: {words} {aim:,.0f}){'' if kept else '   MISSED'}", flush=True)
    return int(not kept)


if __name__ == "__main__":
    sys.exit(main())
