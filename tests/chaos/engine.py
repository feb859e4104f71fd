"""A whole engine at work in one process: inputs, ticks, requests, runs and their ends, round after round.

What is outside of the store, as Dagster and the cluster do, is a log of lines that are each
written at once: a run exists from the line that says so, and a process that begins again finds it
there. Each round can be done twice, and by two processes at once.
"""

import os
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from tests.simulation.oracle.oracle import Oracle
from tests.worlds.by import CLI
from tidegate.compiler.compile import compile_files
from tidegate.domain.model import App
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.intake.observe import RunObservation, observe_runs
from tidegate.scheduler.launch.outbox import offer_launches
from tidegate.scheduler.launch.run_report import claim
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.error import StoreError
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.tick import tick

START = datetime(2026, 3, 10, 6, tzinfo=UTC)
ROUND = timedelta(seconds=20)
ROUND_CURSOR = "chaos-round"
OLDEST_JOB = timedelta(hours=2)

APP = """
app: a
datasets:
  raw: {partitions: {cycle: day, start: 2026-01-01}}
  plain: {}
  out: {partitions: {cycle: day, start: 2026-01-01}}
programs:
  p: {run: programs.p, writes: [out]}
  q: {run: programs.q}
schedules:
  each_day:
    {program: p, trigger: {partitions: {dataset: raw}}, for_each: day, status: active,
     constraints: [{concurrency: {max: 2}}, {concurrency: {max: 2, group: g}}]}
  three:
    {program: q, trigger: {partitions: {dataset: raw, count: 3}}, status: active,
     constraints: [{delay: 30s}, {rate: {max: 3, per: 2m}}, {concurrency: {max: 2, group: g}}]}
  every_minute: {program: q, trigger: {cron: "* * * * *", catch_up: all}, status: active}
  after:
    {program: p, trigger: {run: {program: q, count: 2}}, status: active, batching: each,
     constraints: [{concurrency: {max: 2, group: g}}]}
"""


def app() -> App:
    """The app that is played."""
    compilation = compile_files({"a.yaml": APP.encode()})
    assert compilation.ok, compilation.diagnostics
    return compilation.apps["a"].app


def prepare(url: str) -> None:
    """A new store with the app deployed."""
    store = open_store(url)
    with store.transaction() as transaction:
        deploy(transaction, {"a": app()}, START, by=CLI)
    store.close()


class Engine:
    """One process of the engine.

    Args:
        log: the file that plays the world outside.
        say: called after each step.
    """

    def __init__(self, url: str, log: Path, say: Callable[[], None], *, patient: bool = False) -> None:
        self._store: Store = open_store(url)
        self._log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._path = log
        self._say = say
        self._patient = patient
        self._made = 0

    def play(self, rounds: int) -> None:
        """Go on until so many rounds have been done by all processes together."""
        while (number := self._do(self._next_round)) < rounds:
            now = START + number * ROUND
            for step in (self._arrive, self._tick, self._launch, self._end_runs):
                self._do(partial(step, number, now))
                self._say()
            self._do(partial(self._done, number))
        self._store.close()

    def _do(self, step: Callable[[], int | None]) -> int:
        while True:
            try:
                return step() or 0
            except StoreError:
                if not self._patient:
                    raise
                self._say()

    def _next_round(self) -> int:
        with self._store.reading() as reader:
            return reader.cursor(ROUND_CURSOR) or 0

    def _done(self, number: int) -> None:
        with self._store.transaction() as transaction:
            transaction.set_cursor(ROUND_CURSOR, max(number + 1, transaction.cursor(ROUND_CURSOR) or 0))

    def _arrive(self, number: int, now: datetime) -> None:
        with self._store.transaction() as transaction:
            transaction.add_events(arrivals(number, now))

    def _tick(self, number: int, now: datetime) -> None:
        report = tick(self._store, now)
        assert not report.errors, report.errors

    def _launch(self, number: int, now: datetime) -> None:
        with self._store.transaction() as transaction:
            requests = offer_launches(transaction, now, "a")
        for request in requests:
            self._made += 1
            run = f"{request.run_key}:{os.getpid()}:{self._made}"
            self._write(f"run {run} {request.job} {request.attempt} a/{request.launch.program}")
            if claim(self._store, request.job, request.attempt, run, now).won:
                self._write(f"won {run} {request.job} {request.attempt}")
            self._say()

    def _end_runs(self, number: int, now: datetime) -> None:
        lines = read_log(self._path)
        ended = {line[1] for line in lines if line[0] == "ended"}
        for line in lines:
            if line[0] != "run" or line[1] in ended:
                continue
            seen = RunObservation(
                run_id=line[1],
                program=line[4],
                job=line[2],
                attempt=int(line[3]),
                status=RunStatus.SUCCEEDED,
                at=now,
            )
            with self._store.transaction() as transaction:
                observe_runs(transaction, [seen], now)
            self._write(f"ended {line[1]}")
            self._say()

    def _write(self, line: str) -> None:
        os.write(self._log, f"{line}\n".encode())


def arrivals(number: int, now: datetime) -> list[Event]:
    """The partitions of a round."""
    return [
        Event(
            id=f"e{number}.{member}",
            kind=EventKind.PARTITION,
            key=partition_event_key("a", "raw"),
            time=now,
            arrived=now,
            partition=f"2026-02-{(number * 3 + member) % 28 + 1:02}",
        )
        for member in range(2)
    ]


def read_log(path: Path) -> list[list[str]]:
    """Its whole lines, in words."""
    return [line.split() for line in path.read_text().splitlines()] if path.exists() else []


def judge(url: str, log: Path, rounds: int) -> Oracle:
    """What the journal and the world outside say when all is over."""
    store, now = open_store(url), START + rounds * ROUND
    tick(store, now)
    with store.reading() as reader:
        entries = reader.journal()
        assert not reader.unrouted_events(1), "no loss: an event was never routed"
    store.close()
    oracle = Oracle()
    oracle.read_all(entries)
    inputs = {
        event.id: (event.key, len(entries))
        for number in range(rounds)
        for event in arrivals(number, START + number * ROUND)
    }
    oracle.heeded_all(inputs, now)
    oracle.stuck(now)
    oracle.settled(now, OLDEST_JOB)
    winners = Counter((line[2], line[3]) for line in read_log(log) if line[0] == "won")
    assert winners and max(winners.values()) == 1, f"no duplicates: {winners.most_common(1)}"
    return oracle
