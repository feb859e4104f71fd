"""A tick costs what is due, not what is stored: SQLite's own plan of every hot question.

The plan is asked of the very statements that the store sends, so a query that loses its
index fails here and not in production. An index of many rows can be the wrong one: a run is also
measured beside few and many jobs that have ended, by the steps of SQLite's virtual machine.
"""

from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from tests.crashes.statements import listening
from tests.worlds.samples import NOON, delivery, event, job, record
from tests.worlds.world import World
from tidegate.scheduler.model.event import SUBSCRIPTIONS
from tidegate.scheduler.model.job import UNFINISHED, WAITING, WRITING, JobState
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.launch_order import TURNS
from tidegate.scheduler.model.maintenance import MAINTAINED_TABLES, MAINTENANCE_RECORDS
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.records.expected import EXPECTED_DATA, EXPECTED_PERIODS
from tidegate.scheduler.model.run import GAUGES
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.store.sql.connection.engine import note_written
from tidegate.scheduler.store.sql.metadata import metadata
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.store.sql.store import SqlStore
from tidegate.scheduler.store.wanted import EventsWanted, LateWanted, Outcome
from tidegate.scheduler.tick.repaired import REPLACING

HOT: list[tuple[str, Callable[[EngineTransaction], Any]]] = [
    ("what is due first", lambda tx: tx._first_of_each()),
    ("due schedules", lambda tx: tx.due_schedules(NOON, 100)),
    ("due tasks", lambda tx: tx.due_schedules(NOON, 100, tasks=True)),
    ("schedules by ref", lambda tx: tx.schedules(refs=["a/s"])),
    ("schedules of an app", lambda tx: tx.schedules(app="a")),
    ("schedules with a deadline", lambda tx: tx.schedules(deadline=True)),
    ("subscriptions", lambda tx: tx.records(SUBSCRIPTIONS, event_key=["k"])),
    ("unrouted events", lambda tx: tx.unrouted_events(100)),
    ("mark routed", lambda tx: tx.mark_routed(["e"])),
    ("events by id", lambda tx: tx.events(ids=["e"], limit=None)),
    ("events after an instant", lambda tx: tx.events(after=NOON, limit=None)),
    ("newest events", lambda tx: tx.events(limit=10)),
    ("events of a key", lambda tx: tx.events_page(EventsWanted(key="k", before=(NOON, "e")), 10)),
    ("events of a partition", lambda tx: tx.events_page(EventsWanted(key="k", partition="p"), 10)),
    ("events of keys", lambda tx: tx.events_page(EventsWanted(key_prefix="run:"), 10)),
    ("events of apps", lambda tx: tx.events_page(EventsWanted(apps=["a"]), 10)),
    ("events of a job", lambda tx: tx.events_page(EventsWanted(job="j"), 10)),
    ("events of a schedule", lambda tx: tx.events_page(EventsWanted(schedule="a/s"), 10)),
    (
        "pending events of a schedule",
        lambda tx: tx.events_page(EventsWanted(schedule="a/s", outcome=Outcome.PENDING), 10),
    ),
    (
        "discarded events of a schedule",
        lambda tx: tx.events_page(EventsWanted(schedule="a/s", outcome=Outcome.DISCARDED), 10),
    ),
    ("discarded events", lambda tx: tx.events_page(EventsWanted(reason=Reason.D_SUSPENDED), 10)),
    ("due jobs", lambda tx: tx.due_jobs(NOON, 100)),
    ("due jobs behind a place", lambda tx: tx.due_jobs(NOON, 100, (NOON, "j"))),
    ("first turns", lambda tx: tx.due_records(TURNS, NOON, 100)),
    ("turns of jobs", lambda tx: tx.records(TURNS, job=["j"])),
    ("waiting jobs of schedules", lambda tx: tx.jobs(schedules=["a/s"], states=WAITING)),
    (
        "repairs of a schedule since an instant",
        lambda tx: tx.jobs(schedules=["a/s"], states=REPLACING, repairs=True, since=NOON),
    ),
    (
        "waiting repairs of schedules",
        lambda tx: tx.jobs(schedules=["a/s"], states=WAITING, repairs=True),
    ),
    ("outbox of an app", lambda tx: tx.jobs(apps=["a"], states=[JobState.PENDING_LAUNCH])),
    ("outbox", lambda tx: tx.jobs(states=[JobState.PENDING_LAUNCH])),
    ("newest jobs", lambda tx: tx.jobs(limit=10)),
    ("newest failed jobs", lambda tx: tx.jobs(states=[JobState.FAILED], limit=10)),
    (
        "newest failed jobs of a schedule",
        lambda tx: tx.jobs(schedules=["a/s"], states=[JobState.FAILED], limit=10),
    ),
    (
        "newest failed jobs of an app",
        lambda tx: tx.jobs(apps=["a"], states=[JobState.FAILED], limit=10),
    ),
    ("next page of schedules", lambda tx: tx.schedules(app="a", after="a/s", limit=10)),
    ("next page of all schedules", lambda tx: tx.schedules(after="a/s", limit=10)),
    ("next page of jobs", lambda tx: tx.jobs(before=(NOON, "j"), limit=10)),
    ("newest jobs with a reason", lambda tx: tx.jobs(reason=Reason.W_TRIGGER, limit=10)),
    ("jobs that failed lately", lambda tx: tx.jobs(states=[JobState.FAILED], ended_since=NOON, limit=10)),
    (
        "the newest job of a schedule in a state",
        lambda tx: tx.jobs(schedules=["a/s"], states=[JobState.FAILED], until=NOON, limit=1),
    ),
    ("counts of what failed lately", lambda tx: tx.job_counts([JobState.FAILED], ended_since=NOON)),
    (
        "counts of pipelines that failed lately",
        lambda tx: tx.job_counts([JobState.FAILED], ended_since=NOON, operations=False),
    ),
    ("counts of unfinished jobs", lambda tx: tx.job_counts(UNFINISHED)),
    ("ledger", lambda tx: tx.ledger()),
    ("ledger of an app", lambda tx: tx.ledger(app="a")),
    ("counts", lambda tx: tx.counts()),
    ("deliveries", lambda tx: tx.deliveries(["j"])),
    ("reports", lambda tx: tx.reports("j")),
    ("deliveries of events", lambda tx: tx.deliveries_of_events(["e"])),
    ("new deliveries", lambda tx: tx.add_deliveries([delivery(event("e"), job="j")])),
    ("kept counts", lambda tx: tx.tallies(["j"])),
    ("counted keys", lambda tx: tx.tallied_keys("j", ["k"])),
    ("counted keys of a leaf", lambda tx: tx.counted_keys("j", "0")),
    ("counted events", lambda tx: tx.counted_events("j", "0", NOON, 10)),
    ("the newest counted event", lambda tx: tx.newest_counted("j", "0", NOON)),
    ("remove kept counts", lambda tx: tx.delete_tallies(["j"])),
    ("slots", lambda tx: tx.slots(["r"])),
    ("release", lambda tx: tx.release_slots("j")),
    ("wake", lambda tx: tx.wake(["r"], NOON)),
    ("launches", lambda tx: tx.launches(["a/p"], NOON)),
    ("take a launch back", lambda tx: tx.drop_launches(["j"])),
    ("gauges by name", lambda tx: tx.records(GAUGES, name=["g"])),
    ("removed deliveries", lambda tx: tx.remove_deliveries([delivery(event("e"), job="j")])),
    ("history", lambda tx: tx.history(["a/p"])),
    ("runs of jobs", lambda tx: tx.runs(jobs=["j"])),
    ("active runs", lambda tx: tx.runs(active=True)),
    ("claim", lambda tx: tx.claim("j", 1, "r", NOON)),
    ("instances of tasks", lambda tx: tx.instances(["a/t"], NOON, NOON)),
    ("the instance before", lambda tx: tx.instance_before("a/t", NOON)),
    ("instances of a backfill", lambda tx: tx.instances(backfill=1)),
    (
        "next page of instances",
        lambda tx: tx.instances_page(JobState, schedules=["a/t", "a/u"], after=(NOON, "j"), oldest=10),
    ),
    (
        "instances of a day",
        lambda tx: tx.instances_page(
            JobState, schedules=["a/t"], of_none=True, first=NOON, last=NOON, oldest=10
        ),
    ),
    ("newest instances of a backfill", lambda tx: tx.instances_page(JobState, backfill=1, newest=10)),
    ("counts of backfills", lambda tx: tx.backfill_counts(1, 2)),
    ("blocked jobs", lambda tx: tx.jobs(blocked_on=["r"])),
    ("woken queues", lambda tx: tx.woken(NOON)),
    ("the first woken queue", lambda tx: tx.woken(NOON, 1)),
    ("first jobs of a queue", lambda tx: tx.queued_jobs("q", "", 10)),
    ("first jobs of the outbox", lambda tx: tx.jobs_to_offer(["a"], NOON, 10)),
    ("all jobs of the outbox", lambda tx: tx.jobs_to_offer(["a"])),
    ("queues that were looked at", lambda tx: tx.mark_looked_at(["q"])),
    ("consumers", lambda tx: tx.consumers(["j"])),
    ("new edges", lambda tx: tx.put_edges({"j": ["u"]})),
    ("journal of a schedule", lambda tx: tx.journal(schedule="a/s", limit=10)),
    ("journal of a job", lambda tx: tx.journal(job="j")),
    ("newest deployment", lambda tx: tx.newest_deployment()),
    ("newest deployments", lambda tx: tx.journal_page(kinds=[EntryKind.DEPLOY], limit=10)),
    ("next page of deployments", lambda tx: tx.journal_page(kinds=[EntryKind.DEPLOY], before=10, limit=10)),
    ("newest journal", lambda tx: tx.journal(limit=10)),
    ("ends of the journal", lambda tx: tx.journal_ends()),
    ("next maintenance", lambda tx: tx.next_maintenance()),
    ("due records", lambda tx: tx.due_records(MAINTENANCE_RECORDS, NOON, 100)),
    ("records of tables", lambda tx: tx.records(MAINTENANCE_RECORDS, table=["t"])),
    (
        "remove records",
        lambda tx: tx.drop_records(MAINTENANCE_RECORDS, [record().key]),
    ),
    ("tables by name", lambda tx: tx.records(MAINTAINED_TABLES, name=["t"])),
    ("tables to measure", lambda tx: tx.due_records(MAINTAINED_TABLES, None, 10)),
    ("running operations", lambda tx: tx.operation_runs(running=True)),
    ("runs of operations of jobs", lambda tx: tx.operation_runs(jobs=["j"])),
    ("runs of operations on a table", lambda tx: tx.operation_runs(tables=["t"], started_since=NOON)),
    ("newest runs of operations", lambda tx: tx.operation_runs(limit=10)),
    ("runs of operations before one", lambda tx: tx.operation_runs(before=(NOON, "j"), limit=10)),
    ("bytes of an hour", lambda tx: tx.bytes_rewritten(NOON, NOON)),
    ("keys of a dataset", lambda tx: tx.keys_written("a/d")),
    ("newest events of partitions", lambda tx: tx.partition_states("a/d", ["", "k", "m"])),
    ("what landed last of datasets", lambda tx: tx.landings(["a/d"])),
    ("the newest jobs of schedules", lambda tx: tx.newest_jobs(["a/s"])),
    ("first and last partitions", lambda tx: tx.partition_ends("a/d", ["", "k|"])),
    ("reports of partitions", lambda tx: tx.partition_reports("a/d", ["", "k", "m"], 10)),
    ("due data", lambda tx: tx.due_records(EXPECTED_DATA, NOON, 100)),
    ("the next due data", lambda tx: tx.due_records(EXPECTED_DATA, None, 1)),
    ("data by name", lambda tx: tx.records(EXPECTED_DATA, dataset=["a/d"])),
    ("periods of a dataset", lambda tx: tx.records(EXPECTED_PERIODS, dataset="a/d", period=["k"])),
    ("what was late", lambda tx: tx.late_periods(LateWanted(), 10)),
    ("what is late now", lambda tx: tx.late_periods(LateWanted(now=True), 10)),
    ("what of a dataset was late", lambda tx: tx.late_periods(LateWanted(dataset="a/d"), 10)),
    ("jobs by the first digits of their hashes", lambda tx: tx.jobs(hashes=["1a2b3c4d", "5e6f7a8b"])),
    ("jobs whose id or hash begins so", lambda tx: tx.jobs(begins="1a2b3c4d5e", limit=3)),
    ("late jobs", lambda tx: tx.late_jobs()),
    ("lanes", lambda tx: tx.lane_counts(NOON, NOON)),
    ("jobs of lanes", lambda tx: tx.lane_jobs(["a/s"], NOON, NOON, 10)),
    ("last runs of schedules", lambda tx: tx.last_durations(["a/s", "a/t"], 10)),
    ("last arrivals of datasets", lambda tx: tx.last_arrivals(["a/d", "a/e"], 10)),
    ("unfinished work", lambda tx: tx.open_work(NOON)),
    ("ended work", lambda tx: tx.ended_work(NOON)),
    ("what jobs wait for", lambda tx: tx.awaiting(10)),
    ("jobs that write", lambda tx: tx.jobs(apps=["a"], states=WRITING)),
]

GIVEN = "SCAN given VIRTUAL TABLE"
"""The list of names that the statement itself brings along."""

DISCARDED = "SCAN deliveries USING COVERING INDEX ix_deliveries_discarded"
"""The index of what was discarded on arrival, or has left its job, in all schedules."""

FOUND = ("SCAN found", "SCAN looked_at", "SCAN CONSTANT ROW", "SCAN newest", "SCAN last_", "SCAN (subquery-")
"""The rows that a recursive or an inner statement has found so far, or the one of no table."""

BOUNDED_BY_LIMIT = {
    "newest events",
    "newest jobs",
    "newest journal",
    "newest runs of operations",
    "newest deployment",
    "newest deployments",
}
"""They walk an index from its end and stop at their limit."""

COUNTING = {
    "counts of backfills",
    "counts of unfinished jobs",
    "counts of what failed lately",
    "counts of pipelines that failed lately",
    "ledger",
    "ledger of an app",
    "counts",
    "lanes",
    "unfinished work",
    "ended work",
    "what jobs wait for",
}
SORTED = COUNTING | {
    "jobs that failed lately",
    "instances of tasks",
    "the instance before",
    "instances of a backfill",
    "blocked jobs",
    "jobs whose id or hash begins so",
    "consumers",
    "events of keys",
    "events of apps",
    "events of a partition",
    "events of a job",
    "pending events of a schedule",
    "discarded events of a schedule",
    "discarded events",
    "jobs of lanes",
}
"""They sort the few rows that their index has found."""

COUNTED = ("SCAN schedules USING COVERING INDEX", "SCAN anon_1", "SCAN pragma_")
"""Of counts: the schedules, what has been found so far, and facts of the database."""

TIES = ("RIGHT PART OF ORDER BY", "LAST TERM OF ORDER BY")
"""An index gives the order, and rows of one instant are sorted by their ids."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Generator[SqlStore, None, None]:
    """A store that holds one event."""
    opened = open_sql_store(f"sqlite:///{tmp_path_factory.mktemp('store')}/store.db")
    with opened.transaction() as transaction:
        transaction.add_events([event("e")])
    yield opened
    opened.close()


@pytest.mark.parametrize(("name", "ask"), HOT, ids=[name for name, _ in HOT])
def test_no_question_of_a_tick_scans_a_table(
    store: SqlStore, name: str, ask: Callable[[EngineTransaction], Any]
) -> None:
    plans: list[str] = []

    def explain(connection: Any, cursor: Any, statement: str, parameters: Any, *rest: Any) -> None:
        if statement.startswith(("SELECT", "UPDATE", "DELETE", "WITH")):
            given = parameters[0] if parameters and isinstance(parameters, list) else parameters
            plan = cursor.connection.execute(f"EXPLAIN QUERY PLAN {statement}", given)
            plans.extend(row[3] for row in plan)

    with listening(store.engine, explain), store.transaction() as transaction:
        # A transaction asks for what is due only where something may be.
        connection = cast(Any, transaction)._connection
        for table in metadata.tables:
            note_written(connection, table)
        ask(transaction)
    assert plans
    scans = [
        line
        for line in plans
        if (line.startswith("SCAN") and not line.startswith((GIVEN, *FOUND)))
        or ("TEMP B-TREE" in line and not line.endswith(TIES))
    ]
    if name in COUNTING:
        scans = [line for line in scans if not line.startswith(COUNTED)]
    if name == "discarded events":
        scans = [line for line in scans if line != DISCARDED]
    if name in SORTED:
        scans = [line for line in scans if "TEMP B-TREE" not in line]
    if name in BOUNDED_BY_LIMIT:
        scans = [line for line in scans if "USING INDEX" not in line and line != "SCAN journal"]
    assert scans == []


STEP = 10
"""SQLite reports every so many steps."""

FEW, MANY = 10, 2_000


def steps_of_a_run(store: SqlStore, ended: int) -> int:
    """Return what the way from a partition to the end of its run costs beside jobs that have ended."""
    world = World(
        "s: {program: p, trigger: {partitions: {dataset: raw, count: 1}}, status: active}", store=store
    )
    with store.transaction() as transaction:
        states = (JobState.SUCCEEDED, JobState.FAILED, JobState.DISCARDED)
        transaction.put_jobs(
            [job(f"old {number}", state=state) for number in range(ended) for state in states]
        )
    steps = list[int]()

    def count(connection: Any, *_: Any) -> None:
        connection.connection.dbapi_connection.set_progress_handler(lambda: steps.append(STEP), STEP)

    with listening(store.engine, count):
        world.arrive("01:00", "raw", "2026-03-01")
        world.tick("01:10")
        (launched,) = world.launch_all("01:10")
        world.end("01:20", launched)
        world.tick("01:30")
    return sum(steps)


def test_a_run_costs_the_same_however_many_jobs_have_ended(tmp_path: Path) -> None:
    found = list[int]()
    for ended in (FEW, MANY):
        with closing(open_sql_store(f"sqlite:///{tmp_path}/{ended}.db")) as store:
            found.append(steps_of_a_run(store, ended))
    few, many = found
    assert 0 < many < few * 1.2
