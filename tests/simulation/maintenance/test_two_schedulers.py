"""Two schedulers on one database: in turns with restarts and crashes, and at the very same time."""

import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.databases import SQL_KINDS, new_url
from tests.doubles.quick_sqlite import quick_sqlite
from tests.effort import much
from tests.simulation.maintenance.app import HEAD, PLAIN
from tests.simulation.maintenance.handles import Handles
from tests.simulation.maintenance.limits import judge_hours
from tests.simulation.maintenance.notes import Notes
from tests.simulation.maintenance.oracle import judge, judge_journal, judge_start
from tests.simulation.maintenance.world import START, history
from tests.tally import reach
from tests.worlds.by import CLI
from tidegate.compiler.compile import compile_files
from tidegate.domain.model import App
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.intake.tables import TableFound, report_tables
from tidegate.scheduler.launch.outbox import offer_launches
from tidegate.scheduler.launch.run_report import claim, end_operation
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.maintenance import Ended, Ending
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.tick.tick import tick

pytestmark = pytest.mark.endurance  # histories on databases

POLICIES = """
  each: {program: p, status: active, trigger: {partitions: {dataset: raw}}, for_each: partition}
policies:
  p0: {tables: ['/w[.].*/'], operations: {rewrite_data_files: {interval: 1m, timeout: 10m}, \
expire_snapshots: {interval: 1m, timeout: 3m}}}
maintenance: {budget: {operations_per_poll: 2, bytes_per_hour: 1500}, auto_pools: {spark: 2}}
"""
MINUTES = 40
"""From 11:40 on, so over the turn of an hour."""
LIFE = 7
"""Minutes after which both schedulers end, and others begin on the same database."""


@pytest.mark.parametrize("seed", range(7_000, 7_000 + much(1)))
def test_in_turns_and_started_again(seed: int, tmp_path: Path) -> None:
    handles = Handles(lambda: quick_sqlite(tmp_path))
    history(handles, seed, steps=60)
    assert handles.opened > 2
    handles.close()
    reach("simulated histories of maintenance")


def policies() -> App:
    found = compile_files({"a.yaml": f"{HEAD}{POLICIES}".encode()})
    assert found.ok, found.diagnostics
    return found.apps["a"].app


class Scheduler:
    """A scheduler, and the runs that it starts: all of its own process."""

    def __init__(self, store: Store, number: int) -> None:
        self.store, self.number = store, number
        self.dice = random.Random(number)

    def work(self, now: datetime) -> None:
        """Report ends, tick and launch, all of which the other one does at the same time."""
        with self.store.reading() as reader:
            running = reader.jobs(states=(JobState.LAUNCHED,))
        for job in running:
            if self.dice.random() < 0.5:
                ended = Ended(ending=Ending.SUCCEEDED, changed=True, bytes=300)
                with self.store.transaction() as transaction:
                    end_operation(transaction, job.id, job.attempt, ended, now)
        report = tick(self.store, now)
        assert not report.errors
        with self.store.transaction() as transaction:
            requests = offer_launches(transaction, now, "a")
        for request in requests:
            claim(self.store, request.job, request.attempt, f"run{self.number}-{request.job}", now)


@pytest.mark.parametrize("kind", SQL_KINDS)
def test_at_the_same_time(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    url, app = new_url(kind, request, tmp_path), policies()
    notes, judged = Notes(START, app), set[str]()
    with closing(open_sql_store(url)) as store, store.transaction() as transaction:
        deploy(transaction, {"a": app}, START, by=CLI)
        report_tables(transaction, [TableFound(catalog_name=each) for each in PLAIN], START)
    for first in range(0, MINUTES, LIFE):
        with ExitStack() as stack:
            stores = [stack.enter_context(closing(open_sql_store(url))) for _ in range(2)]
            schedulers = [Scheduler(store, first + number) for number, store in enumerate(stores)]
            threads = stack.enter_context(ThreadPoolExecutor(len(schedulers)))
            for minute in range(first, first + LIFE):
                now = START + timedelta(minutes=minute)
                list(threads.map(lambda one, now=now: one.work(now), schedulers))
                with stores[0].reading() as reader:
                    judge_instant(reader, notes, judged, now)
    with closing(open_sql_store(url)) as store, store.reading() as reader:
        judge_journal(reader.journal(), reader)
        assert judge_hours(reader.operation_runs(), notes) == 2, "both hours have reached their limit"


def judge_instant(reader: EngineReader, notes: Notes, judged: set[str], now: datetime) -> None:
    """Judge what is in the store, and each start that is new."""
    judge(reader, notes, now)
    runs = reader.operation_runs()
    for run in runs:
        if run.job not in judged:
            judged.add(run.job)
            judge_start(run, runs, notes, ())
