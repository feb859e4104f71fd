"""`why --at` and operations on tables: read from the journal later, their jobs and slots are as they were."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from tests.scheduler.explain.witness import BOOKS
from tidegate.domain.model import App, Maintenance, Operation, OperationPlan, Policy
from tidegate.scheduler.commands.deploy import deploy
from tidegate.scheduler.commands.instances import By
from tidegate.scheduler.commands.maintain import run_by_hand
from tidegate.scheduler.commands.manual import cancel
from tidegate.scheduler.explain.past import store_at
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.intake.observe import RunObservation, observe_runs
from tidegate.scheduler.intake.tables import TableFound, report_tables
from tidegate.scheduler.launch.claim import claim
from tidegate.scheduler.launch.operation_end import end_operation
from tidegate.scheduler.launch.outbox import offer_launches, reject
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.maintenance import Ended, Ending
from tidegate.scheduler.model.run import ALL_RUNS, RunStatus, group_resource
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.tick.tick import tick

START = datetime(2026, 3, 10, tzinfo=UTC)
TABLES = ("w.a.x", "w.a.y", "w.a.z")
RESOURCES = (ALL_RUNS, group_resource("spark"), *(f"table:{name}" for name in TABLES))

POLICY = Policy(
    name="p",
    tables=("w.a.*",),
    operations={
        operation: OperationPlan(
            operation=operation, interval=timedelta(hours=1), timeout=timedelta(minutes=30)
        )
        for operation in (Operation.REWRITE_DATA_FILES, Operation.EXPIRE_SNAPSHOTS)
    },
)


class Observed:
    """A store, and what was seen of it at each instant."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.now = START
        self.seen: list[tuple[datetime, Any]] = []
        self.deploy(POLICY)
        with self.store.transaction() as transaction:
            report_tables(transaction, [TableFound(catalog_name=name) for name in TABLES], self.now)

    def deploy(self, policy: Policy) -> None:
        app = App(name="a", policies={"p": policy}, maintenance=Maintenance(auto_pools={"spark": 2}))
        with self.store.transaction() as transaction:
            deploy(transaction, {"a": app}, self.now)

    def at(self, minutes: float) -> datetime:
        """The clock goes to an instant, and everything until then happens."""
        self.look()
        self.now = START + timedelta(minutes=minutes)
        tick(self.store, self.now)
        self.look()
        return self.now

    def look(self) -> None:
        with self.store.reading() as reader:
            self.seen.append((self.now, shown(reader.jobs(), reader.slots(RESOURCES))))

    def launch(self, *, claimed: bool = True) -> list[Job]:
        """All decided launches get their run, or are only offered."""
        with self.store.transaction() as transaction:
            offered = [request.job for request in offer_launches(transaction, self.now, "a")]
        for job in offered if claimed else ():
            assert claim(self.store, job, 1, f"run-{job}", self.now).won
        self.look()
        with self.store.reading() as reader:
            return list(reader.jobs(ids=offered))

    def end(self, job: Job, ending: Ending) -> None:
        with self.store.transaction() as transaction:
            assert end_operation(transaction, job.id, 1, Ended(ending=ending, detail="so it was"), self.now)
        self.look()

    def observe(self, job: Job, status: RunStatus) -> None:
        seen = RunObservation(
            run_id=f"run-{job.id}", program=job.program, job=job.id, attempt=1, status=status, at=self.now
        )
        with self.store.transaction() as transaction:
            observe_runs(transaction, [seen], self.now)
        self.look()


def shown(jobs: tuple[Job, ...], slots: dict[str, int]) -> Any:
    found: Any = msgspec.to_builtins(jobs)
    for job in found:
        for name in BOOKS:
            del job[name]
    return found, slots


def assert_recalled(observed: Observed) -> None:
    last = dict(observed.seen)
    assert len(last) > 5
    for instant, seen in last.items():
        with observed.store.reading() as reader:
            past = store_at(reader, instant)
        with past.reading() as reader:
            assert shown(reader.jobs(), reader.slots(RESOURCES)) == seen, instant
            for job in reader.jobs():
                (explained,) = explain(reader, job.id, instant)
                assert explained.work == job.maintenance


def test_every_way_in_which_an_operation_ends() -> None:
    observed = Observed()
    observed.at(0)
    observed.at(1)
    first, second = observed.launch()
    observed.observe(first, RunStatus.STARTED)
    observed.at(2)
    observed.end(first, Ending.SUCCEEDED)
    observed.at(3)
    observed.observe(first, RunStatus.SUCCEEDED)
    observed.end(second, Ending.CONFLICT)
    observed.at(4)
    third, fourth = observed.launch()
    observed.observe(third, RunStatus.FAILED)
    observed.at(5)
    observed.observe(fourth, RunStatus.SUCCEEDED)
    observed.at(6)
    fifth, sixth = observed.launch()
    observed.end(fifth, Ending.STOPPED)
    observed.at(7)
    observed.at(40)
    with observed.store.reading() as reader:
        ended = {job.id: (str(job.state), str(job.reason)) for job in reader.jobs()}
    assert [ended[job.id] for job in (first, second, third, fourth, fifth, sixth)] == [
        ("SUCCEEDED", "None"),
        ("FAILED", "F-CONFLICT"),
        ("FAILED", "F-RUN"),
        ("FAILED", "F-RUN"),
        ("FAILED", "F-YIELDED"),
        ("FAILED", "F-TIMEOUT"),
    ]
    assert_recalled(observed)


def test_by_hand_rejected_discarded_and_cancelled() -> None:
    observed = Observed()
    observed.at(0)
    observed.at(1)
    first, second = observed.launch(claimed=False)
    with observed.store.transaction() as transaction:
        reject(transaction, first.id, 1, "not yet", observed.now)
        reject(transaction, second.id, 1, "never", observed.now, final=True)
    observed.at(2)
    with observed.store.transaction() as transaction:
        (by_hand,) = run_by_hand(transaction, "w.a.z", observed.now, by=By())
    observed.at(3)
    with observed.store.transaction() as transaction:
        if by_hand.waiting:
            cancel(transaction, by_hand.id, observed.now)
    observed.at(4)
    observed.deploy(msgspec.structs.replace(POLICY, enabled=False))
    observed.at(5)
    observed.at(6)
    with observed.store.reading() as reader:
        reasons = {str(job.reason) for job in reader.jobs()}
    assert {"F-LAUNCH", "D-DELETED"} <= reasons
    assert_recalled(observed)


def test_operations_before_the_journal_begins_are_left_out() -> None:
    observed = Observed()
    observed.at(0)
    observed.at(1)
    observed.launch()
    with observed.store.reading() as reader:
        later = [entry for entry in reader.journal() if entry.kind != "job-opened"]
    begins = MemoryStore()
    with begins.transaction() as transaction:
        transaction.add_journal(later)
    with begins.reading() as reader:
        past = store_at(reader, observed.now)
    with past.reading() as reader:
        assert reader.jobs() == ()
        assert reader.slots((ALL_RUNS,)) == {ALL_RUNS: 0}
