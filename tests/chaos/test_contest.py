"""Two processes race for the last slots of a group: no limit is ever exceeded, and no firing is lost.

Hundreds of jobs wait for ten slots. Whenever runs end, as many are due as slots are free, and whichever
process comes first decides about them; what both have decided is counted.
"""

import json
import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.chaos.child import Child, Say
from tests.simulation.oracle.oracle import Oracle
from tests.tally import PROMISED, reach
from tests.worlds.by import CLI
from tidegate.compiler.compile import compile_files
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.intake.observe import RunObservation, observe_runs
from tidegate.scheduler.launch.outbox import offer_launches
from tidegate.scheduler.launch.run_report import claim
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.tick import tick

pytestmark = pytest.mark.endurance  # tens of thousands of decisions in a database

START = datetime(2026, 3, 10, 6, tzinfo=UTC)
SLOTS = 10
FIRINGS = PROMISED["contested firings"] // 2
"""For each of the two databases."""
JOBS = round(0.6 * FIRINGS)
"""Each is decided when it comes and once or twice more: a free slot has one waiting job decided."""

GO, PAUSE_SECONDS = "go", 0.05

APP = {
    "app": "a",
    "datasets": {"raw": {"partitions": {"cycle": "hour", "start": "2020-01-01-00:00"}}},
    "programs": {"p": {"run": "programs.p"}},
    "schedules": {
        "s": {
            "program": "p",
            "trigger": {"partitions": {"dataset": "raw"}},
            "for_each": "partition",
            "status": "active",
            "constraints": [{"concurrency": {"max": SLOTS, "group": "last"}}],
        }
    },
}


def arrivals() -> list[Event]:
    first = datetime(2020, 1, 1, tzinfo=UTC)
    keys = [f"{first + number * timedelta(hours=1):%Y-%m-%d-%H:00}" for number in range(JOBS)]
    return [
        Event(
            id=f"e{number}",
            kind=EventKind.PARTITION,
            key=partition_event_key("a", "raw"),
            time=START,
            arrived=START,
            partition=key,
        )
        for number, key in enumerate(keys)
    ]


def prepare(url: str) -> None:
    compilation = compile_files({"a.yaml": json.dumps(APP).encode()})
    assert compilation.ok, compilation.diagnostics
    store = open_store(url)
    with store.transaction() as transaction:
        deploy(transaction, {"a": compilation.apps["a"].app}, START, by=CLI)
        transaction.add_events(arrivals())
    store.close()


def race(url: str, counts: Path, say: Say) -> None:
    """Tick, launch and end runs until no job is left; writes down how many were decided.

    It begins when the other one is ready too, and pauses between two ticks, as a scheduler does: the lock of
    SQLite is not fair, and who takes it again at once may keep it from the other one all the time.
    """
    store, now, decided = open_store(url), START, 0
    say()
    while not (counts / GO).exists():
        time.sleep(PAUSE_SECONDS)
    while unfinished(store):
        time.sleep(PAUSE_SECONDS)
        now += timedelta(seconds=1)
        decided += tick(store, now).decided
        with store.transaction() as transaction:
            requests = offer_launches(transaction, now, "a")
        runs = {f"{request.run_key}:{os.getpid()}": request for request in requests}
        ended = [
            RunObservation(
                run_id=run,
                program="a/p",
                job=request.job,
                attempt=request.attempt,
                status=RunStatus.SUCCEEDED,
                at=now,
            )
            for run, request in runs.items()
            if claim(store, request.job, request.attempt, run, now).won
        ]
        with store.transaction() as transaction:
            observe_runs(transaction, ended, now)
    (counts / str(os.getpid())).write_text(str(decided))
    store.close()


def unfinished(store: Store) -> bool:
    with store.reading() as reader:
        jobs = reader.jobs(limit=JOBS)
    return len(jobs) < JOBS or any(job.ended_at is None for job in jobs)


def test_two_processes_race_for_the_last_slots(sql_url: str, tmp_path: Path) -> None:
    prepare(sql_url)
    counts = tmp_path / "counts"
    counts.mkdir()

    racers = [Child(lambda say: race(sql_url, counts, say)) for _ in range(2)]
    assert all(racer.heard(1) for racer in racers)
    (counts / GO).touch()

    assert [racer.wait() for racer in racers] == [0, 0]
    decided = [int(each.read_text()) for each in counts.iterdir() if each.name != GO]
    assert min(decided) > 0, f"only one of them ever decided: {decided}"
    assert sum(decided) >= FIRINGS
    reach("contested firings", sum(decided))
    store = open_store(sql_url)
    with store.reading() as reader:
        entries = reader.journal()
        jobs = reader.jobs()
    store.close()
    oracle = Oracle()
    oracle.read_all(entries)
    assert [str(job.state) for job in jobs] == ["SUCCEEDED"] * JOBS
